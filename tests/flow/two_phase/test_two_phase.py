"""Two phases: every kernel equals its NumPy reference; properties that hold to rounding; invariance."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from taskflow.flow.measures.phases import PhaseIntegrals, energy_of_phases
from taskflow.flow.models.two_phase import level_set as ls
from taskflow.flow.models.two_phase import momentum as mo
from taskflow.flow.models.two_phase.convection import MassFluxes
from taskflow.flow.models.two_phase.curvature import curvature_at_foot, fall_to_foot
from taskflow.flow.models.two_phase.level_set import STAGES
from taskflow.flow.models.two_phase.openings import Band, LeaningBand
from taskflow.flow.models.two_phase.volume import kept_shift, volume_fraction
from taskflow.flow.operators.phases import Phases
from taskflow.runtime.tasks import reduced
from tests.flow.byhand import DT, LENGTHS, RATIO, ByHand
from tests.flow.phases import CUTS, assert_the_same_bits, box_of_a_droplet, compute, momentum_along, two_phase
from tests.reference import two_phase as reference

CELLS = [(7, 5, 6), (1, 4, 3), (4, 1, 2), (19, 3, 4)]
PHASES = Phases(3.0, 0.7, 0.05, 0.002, 0.3, (0.3, -9.8, 0.2))
VELOCITY, OLD, MASS = ("u", "v", "w"), ("u_old", "v_old", "w_old"), ("m_x", "m_y", "m_z")
RANDOM = pytest.mark.parametrize(
    ("cells", "walls"),
    [*product(CELLS, ((False,) * 3, (True,) * 3)), (CELLS[0], (True, False, False)), (CELLS[0], (False, True, True))],
)


def by_hand(cells, walls, real, device, names, *, mirrored=("phi", "d", "kappa"), leaning=False) -> ByHand:
    """Fields of random values, with three layers around them, `mirrored` or `leaning` beyond walls."""
    hand = ByHand(cells, walls, real, ghost=3, **device).fill(names, seed=7)
    for name in mirrored:
        if name in hand.fields:
            inside = hand.values(name).copy()
            hand.fields[name][...] = reference.surrounded(inside, walls, leaning=leaning)
    return hand


def spacing(cells) -> list[float]:
    return [length / n for length, n in zip(LENGTHS, cells, strict=True)]


def centred(hand: ByHand) -> list[np.ndarray]:
    """The velocity that carries the interface, in the centres of cells."""
    velocities = []
    for axis, (name, old) in enumerate(zip(VELOCITY, OLD, strict=True)):
        u, before = hand.shifted(name, old)
        both = [u(n, axis) + 0.1 * RATIO * (u(n, axis) - before(n, axis)) for n in (0, 1)]
        velocities.append(sum(both) / 2)
    return velocities


def blind(hand: ByHand, *names: str) -> None:
    """Make what lies beyond walls nan: kernels mirror it themselves."""
    for name in names:
        inside = np.zeros(hand.memory.shape[::-1], bool)
        known = zip(hand.cells[::-1], hand.walls[::-1], strict=True)
        inside[tuple(slice(3, n + 3) if wall else slice(None) for n, wall in known)] = True
        hand.fields[name] = np.where(inside, hand.fields[name], np.nan).astype(hand.real)


SIDES = [pytest.param(False, id="mirrored"), pytest.param(True, id="leaning")]
LEANS = pytest.mark.parametrize("leaning", SIDES)


def lengths_of_a_band(leaning, *numbers) -> Band:
    return (LeaningBand if leaning else Band)(*numbers, 63 if leaning else 0)


@LEANS
@RANDOM
def test_a_stage_of_transport(cells, walls, real, device, leaning):
    names = ("phi", "phi_begun", "phi_new", *VELOCITY, *OLD)
    hand = by_hand(cells, walls, real, device, names, leaning=leaning)
    grid, h = hand.staggered.constants, spacing(cells)
    band, stage = lengths_of_a_band(leaning, 0.5, 0.6, 1.0, 1.0, 10.0, 0.02, 1.0), STAGES[1]
    phi = hand.fields["phi"].astype("f8")
    euler = reference.advected(phi.astype(real), centred(hand), h, DT, band.weno)
    expected = stage.begun * hand.values("phi_begun") + stage.now * euler
    blind(hand, "phi")
    hand.run(hand.launch(ls.advect_level_set, {"grid": grid, "band": band, "stage": stage}))
    hand.assert_agrees("phi_new", expected)


@LEANS
@RANDOM
def test_a_stage_of_reinitialisation(cells, walls, real, device, leaning):
    hand = by_hand(cells, walls, real, device, ("d", "phi", "d_new"), leaning=leaning)
    grid, h = hand.staggered.constants, spacing(cells)
    band, stage = lengths_of_a_band(leaning, 0.5, 0.6, 1.0, 1.0, 10.0, 0.02, 1.0), STAGES[2]
    d, phi = hand.fields["d"], hand.fields["phi"]
    euler = reference.nearer_to_distance(d, phi, h, band.tau, band.weno)
    expected = stage.begun * hand.values("phi") + stage.now * euler
    blind(hand, "d", "phi")
    hand.run(hand.launch(ls.reinitialise, {"grid": grid, "band": band, "stage": stage}))
    hand.assert_agrees("d_new", expected)


@LEANS
@RANDOM
def test_a_first_distance(cells, walls, real, device, leaning):
    hand = by_hand(cells, walls, real, device, ("phi", "d"), mirrored=("phi",), leaning=leaning)
    distance = reference.nearly_distance(hand.fields["phi"].astype("f8"), spacing(cells))
    blind(hand, "phi")
    band = lengths_of_a_band(leaning, 0.5, 0.6, 1.0, 1.0, 10.0, 0.02, 1.0)
    hand.run(hand.launch(ls.nearly_distance, {"grid": hand.staggered.constants, "band": band}))
    hand.assert_agrees("d", distance)


def test_shares_and_their_slope(real, device):
    hand = ByHand((5, 4, 3), real=real, **device).fill(("phi", "f"))
    band = Band(0.4, 1, 1, 1, 1, 1, 1)
    hand.run(hand.launch(volume_fraction, {"band": band}))
    hand.assert_agrees("f", reference.step(hand.values("phi").astype("f8") / band.width))


def test_the_shift_that_keeps_a_volume_is_of_the_sixth_order():
    """Of a ball, whose volume is a cubic of the shift: two steps of Newton's method would leave the fourth power."""
    rests = []
    for grown in (0.1, 0.05):
        begun = 1 + grown  # the radius, to become 1
        moved = begun - (begun**3 - 1) / 3 / begun**2
        first, second = ((r**3 / 3, r**2) for r in (begun, moved))
        rests.append(abs(kept_shift(first, second, 1 / 3) + grown))
    assert rests[1] < 1e-7
    assert np.log2(rests[0] / rests[1]) > 5.5
    assert kept_shift((2.0, 1.0), (2.0, 1.0), 2.0) == 0.0
    assert kept_shift((2.0, 0.0), (2.0, 0.0), 3.0) == 0.0


@RANDOM
def test_curvature(cells, walls, real, device):
    hand = by_hand(cells, walls, real, device, ("phi", "kappa"), mirrored=("phi",))
    h, band = spacing(cells), Band(0.5, 0.6, 0.7, 0.8, 10.0, 0.02, 1.0)
    phi = hand.fields["phi"].astype("f8")
    bent = reference.surrounded(reference.curvature(phi, h, band.curvature, band.most), walls)
    at_foot = reference.curvature_at_foot(bent, phi, h, band.foot)
    blind(hand, "phi")
    hand.run(hand.launch(curvature_at_foot, {"grid": hand.staggered.constants, "band": band}))
    scale = max(1.0, float(abs(bent).max()))
    np.testing.assert_allclose(hand.values("kappa"), at_foot, rtol=0, atol=50 * hand.tolerance * scale)


@LEANS
@RANDOM
def test_the_fall_to_the_interface(cells, walls, real, device, leaning):
    hand = by_hand(cells, walls, real, device, ("phi", "fall"), mirrored=("phi",), leaning=leaning)
    h, band = spacing(cells), lengths_of_a_band(leaning, 0.5, 0.6, 0.7, 0.8, 10.0, 0.02, 1.0)
    phi = hand.fields["phi"].astype("f8")
    expected = reference.fall_to_foot(phi, h, band.foot, PHASES.gravity, walls)
    blind(hand, "phi")
    hand.run(hand.launch(fall_to_foot, {"grid": hand.staggered.constants, "band": band, "phases": PHASES}))
    found, known = hand.values("fall"), np.isfinite(expected)
    np.testing.assert_array_equal(np.isfinite(found), known)
    scale = max(1.0, float(abs(expected[known]).max()))
    np.testing.assert_allclose(found[known], expected[known], rtol=0, atol=50 * hand.tolerance * scale)


@RANDOM
def test_mass_fluxes(cells, walls, real, device):
    hand = by_hand(cells, walls, real, device, ("f", *VELOCITY, *OLD, *MASS))
    hand.run(hand.launch(mo.mass_flux, {"grid": hand.staggered.constants, "phases": PHASES}))
    (f,) = hand.shifted("f")
    for axis, (name, old, mass) in enumerate(zip(VELOCITY, OLD, MASS, strict=True)):
        u, before = hand.shifted(name, old)
        speed = u() + 0.1 * RATIO * (u() - before())
        expected = reference.mass_flux(f, speed, axis, (PHASES.density_1, PHASES.density_2), cells[axis], walls[axis])
        hand.assert_agrees(mass, expected)


@pytest.mark.parametrize(("cells", "walls"), [*RANDOM.args[1], ((70, 9, 9), (True,) * 3)])  # a warp is far from walls
@pytest.mark.parametrize("arithmetic", [False, True])
def test_momentum(cells, walls, real, device, arithmetic):
    names = (*VELOCITY, *OLD, *MASS, "f", "f_new", "kappa", "fall", "h_u", "h_v", "h_w", "u_new", "v_new", "w_new")
    phases = Phases(3.0, 0.7, 0.05, 0.002, 0.3, (0.3, -9.8, 0.2), arithmetic)
    hand = by_hand(cells, walls, real, device, names, mirrored=())
    for name in ("f", "f_new"):
        hand.fields[name] = (hand.fields[name] / 2 + hand.fields[name].dtype.type(0.5)).astype(real)
    for name in MASS:
        hand.fields[name] *= hand.fields[name].dtype.type(0.1)  # less leaves than there is
    hand.fields["fall"][hand.fields["fall"] > 0.5] = np.inf  # cells without a place
    shifted = {name: hand.shifted(name)[0] for name in names}
    velocities, frictions = reference.momentum(
        *([shifted[name] for name in group] for group in (VELOCITY, OLD, MASS)), shifted["f"], shifted["f_new"],
        shifted["kappa"], shifted["fall"], [shifted[f"h_{name}"] for name in VELOCITY], spacing(cells), DT, RATIO,
        cells, walls, phases,
    )  # fmt: skip
    for axis, name in enumerate(VELOCITY):
        hand.run(momentum_along(axis, over=hand.box, grid=hand.staggered.constants, phases=phases))
        index = np.arange(cells[axis]).reshape([-1 if n == 2 - axis else 1 for n in range(3)])
        on_wall = walls[axis] & (index == 0)
        hand.assert_agrees(f"h_{name}", np.where(on_wall, 0.0, frictions[axis]))
        hand.assert_agrees(f"{name}_new", np.where(on_wall, shifted[name](), velocities[axis]))


@pytest.mark.parametrize("place", [-100.0, 0.4, 100.0])
def test_the_bound_of_friction(place, real, device):
    """Where the interface is near, and where one phase is everywhere; the other one enters at the low end of z."""
    walls = (False, True, True)
    hand = ByHand((9, 8, 7), walls, real, ghost=3, **device).fill(("f",), seed=3)
    z, y, x = np.indices(hand.memory.shape[::-1])
    hand.fields["f"] = np.clip(place + 0.3 * (x + 0.5 * y - 2 * z), 0, 1).astype(real)
    hand.fields["f"][2] = 2.0 * (place < 0) - hand.fields["f"][3]
    hand.run(hand.launch(mo.friction_rate, {"grid": hand.staggered.constants, "phases": PHASES}))
    expected = reference.friction_rate(hand.shifted("f")[0], spacing(hand.cells), walls, PHASES)
    assert hand.scalars["friction"] == pytest.approx(expected, rel=hand.tolerance)


def circle(x0, z0, radius):
    return lambda x, y, z: radius - np.sqrt((x - x0) ** 2 + (z - z0) ** 2) + 0 * y


@pytest.mark.slow
@pytest.mark.parametrize("ratio", [pytest.param(1e3, marks=pytest.mark.slow), 1e6])
def test_a_droplet_is_carried_by_a_uniform_stream(ratio):
    """V6: a uniform velocity stays uniform for any densities."""
    n = 24
    model = two_phase((n, 1, n), (1.0, 1 / n, 1.0), Phases(ratio, 1.0, 0.0, 0.0), periodic=(True,) * 3, tolerance=1e-12)
    flow = compute(model, circle(0.5, 0.5, 0.25), velocity=(1.0, 0.0, 0.5), steps=20)
    assert max(abs(flow.fields["u"] - 1.0).max(), abs(flow.fields["w"] - 0.5).max()) <= 1e-12
    (kept,) = reduced(flow.scalars, "kept")
    assert flow.fields["f"].sum() == pytest.approx(kept, rel=1e-12)


@pytest.mark.parametrize("steps", [50, pytest.param(1000, marks=pytest.mark.slow)])
def test_layers_at_rest_stay_at_rest(steps):
    """V17: 1000 : 1, flat, amid cells."""
    n = 24
    phases = Phases(1000.0, 1.0, 1.0, 1e-3, 0.0, (0.0, 0.0, -1.0))
    model = two_phase((n // 2, 1, n), (0.5, 1 / n, 1.0), phases, periodic=(False, True, False), tolerance=1e-12)
    flow = compute(model, lambda x, y, z: 0.513 - z + 0 * x, steps=steps)
    assert max(abs(flow.fields[name]).max() for name in "uvw") <= 1e-9


@pytest.mark.parametrize("depth", [0.7, 1.2, 2.1])
def test_a_layer_of_few_cells_has_its_weight(depth):
    """With surface tension walls mirror phi, but the way to the interface is that to its foot."""
    phases = Phases(1000.0, 1.0, 1.0, 1e-3, 1.0, (0.0, 0.0, -1.0))
    model = two_phase((4, 1, 8), (0.5, 0.125, 1.0), phases, periodic=(False, True, False), tolerance=1e-12)
    flow = compute(model, lambda x, y, z: depth / 8 - z + 0 * x, steps=2)
    p, f, z = flow.fields["p"][:, 0, 0], flow.fields["f"][:, 0, 0], (np.arange(8) + 0.5) / 8
    weight = -z - 999 * f * (z - depth / 8)
    np.testing.assert_allclose(p - p[-1], weight - weight[-1], atol=0.05 * 1000 / 8)


@pytest.mark.parametrize(("n", "degrees"), [(16, 20), pytest.param(32, 20, marks=pytest.mark.slow),
                                            pytest.param(32, 45, marks=pytest.mark.slow)])  # fmt: skip
def test_layers_at_rest_stay_at_rest_in_a_tilted_tank(n, degrees):
    """V17: 1000 : 1, gravity oblique to the grid."""
    s, c = np.sin(np.radians(degrees)), np.cos(np.radians(degrees))
    phases = Phases(1000.0, 1.0, 1e-3, 1.8e-5, 0.0, (-s, 0.0, -c))
    model = two_phase((n, 1, n), (1.0, 1 / n, 1.0), phases, periodic=(False, True, False), leans=True)
    flow = compute(model, lambda x, y, z: (0.5 - x) * s + (0.5 - z) * c, steps=30 if n < 32 else 1000)
    assert max(abs(flow.fields[name]).max() for name in "uw") <= 1e-10


@pytest.mark.fast("options1-*", "options2-*")
@pytest.mark.parametrize("dtype", [pytest.param("f4", marks=pytest.mark.slow), "f8"])
@CUTS
def test_blocks_threads_and_overlap_do_not_change_a_bit(dtype, options):
    phases = Phases(50.0, 1.0, 0.1, 0.01, 1.0, (0.0, 0.0, -1.0))
    assert_the_same_bits(box_of_a_droplet(phases), dtype, options)


@pytest.mark.parametrize(("damping", "grows"), [(2.0, False), pytest.param(None, True, marks=pytest.mark.slow)])
def test_carrying_and_friction_together_make_no_wave_grow(damping, grows, monkeypatch):
    """Vortices in an oblique stream, with a CFL and a diffusion number that are each as large as they may be."""
    monkeypatch.setattr(MassFluxes, "damping", damping)
    n, turn, speed = 16, 2 * np.pi, 3.5
    viscosity = 0.2 * speed / (0.3 * 3 * n)
    model = two_phase((n,) * 3, (1.0,) * 3, Phases(1.0, 1.0, viscosity, viscosity), periodic=(True,) * 3)
    flow = compute(model, circle(0.5, 0.5, 0.25), velocity=(
        lambda x, y, z: 1 + np.sin(turn * x) * np.cos(turn * z) + 0 * y, 0.5,
        lambda x, y, z: 0.5 - np.cos(turn * x) * np.sin(turn * z) + 0 * y,
    ), steps=100)  # fmt: skip
    departure = abs(flow.fields["v"] - 0.5).max()
    assert not departure <= 1e-3 if grows else departure <= 1e-8


def measured(program, shape, cells, lengths, velocity=(0.0, 0.0, 0.0), phases=PHASES):
    model = two_phase(cells, lengths, phases)
    return compute(model, shape, velocity=velocity, steps=0, after=program(model))


def integrals_of(phase, shape, cells, lengths):
    """The numbers of a phase by name, and its f."""
    def integrals(model):
        return PhaseIntegrals(model.staggered, "own", phase, model.staggered.box)

    flow, program = measured(integrals, shape, cells, lengths), integrals(two_phase(cells, lengths, PHASES))
    return dict(zip(program.names, program.numbers(flow.scalars), strict=True)), flow.fields["f"]


def test_integrals_over_a_phase():
    cells, lengths, at, radius = (32, 24, 40), (1.6, 1.2, 2.0), (0.7, 0.65, 1.1), 0.3

    def drop(x, y, z):
        return radius - np.sqrt((x - at[0]) ** 2 + (y - at[1]) ** 2 + (z - at[2]) ** 2)

    numbers, f = integrals_of(1, drop, cells, lengths)
    assert numbers["volume"] == pytest.approx(f.sum() * np.prod(lengths) / np.prod(cells), rel=1e-12)
    assert numbers["area"] == pytest.approx(4 * np.pi * radius**2, rel=0.02)
    assert numbers["circularity"] == pytest.approx(1.0, abs=0.05)  # the volume of a smoothed step is larger
    for axis, place in zip("xyz", at, strict=True):
        assert numbers[f"centre_{axis}"] == pytest.approx(place, abs=1e-3)
        assert numbers[f"extent_{axis}_min"] == pytest.approx(place - radius, abs=5e-3)
        assert numbers[f"extent_{axis}_max"] == pytest.approx(place + radius, abs=5e-3)


@pytest.mark.parametrize("phase", [1, 2])
def test_both_phases_end_where_the_share_of_a_cell_is_a_half(phase):
    numbers, _ = integrals_of(phase, lambda x, y, z: 0.75 - z + 0 * x, (4, 1, 15), (0.4, 0.1, 1.5))
    ends = (numbers["extent_z_min"], numbers["extent_z_max"])
    assert ends == pytest.approx((0.0, 0.75) if phase == 1 else (0.75, 1.5), abs=1e-12)


def test_energies_of_two_phases():
    phases, cells, lengths = Phases(3.0, 0.5, 0.1, 0.1, 0.0, (0.0, 0.0, -2.0)), (6, 5, 16), (0.6, 0.5, 1.6)

    def energy(model):
        def program(f):
            over, grid = model.staggered.box, model.grid
            now, before = (f.u, f.v, f.w), (f.u_old, f.v_old, f.w_old)
            yield energy_of_phases(f.f, now, before, None, over=over, energy="energy", grid=grid, phases=phases)
        return program

    flow = measured(energy, lambda x, y, z: 0.8 - z + 0 * x, cells, lengths, phases=phases)
    kinetic, potential = reduced(flow.scalars, "energy")
    f, heights = flow.fields["f"], (np.arange(cells[2]) + 0.5)[:, None, None] * lengths[2] / cells[2]
    exact = ((0.5 + 2.5 * f) * 2.0 * heights).sum()
    assert kinetic == pytest.approx(0.0, abs=1e-20)
    assert potential == pytest.approx(exact, rel=1e-12)


@pytest.mark.fast("100.0")
@pytest.mark.parametrize("ratio", [1.0, 100.0])
def test_what_nothing_holds_does_not_fall_as_a_whole(ratio):
    """Between periodic and slip sides the mean weight is taken off: equal fluids stay at rest, and others gain no
    momentum.
    """
    phases = Phases(ratio, 1.0, 0.01, 0.01, 0.0, (0.0, 0.0, -1.0))
    model = two_phase((16, 1, 24), (1.0, 1 / 16, 1.5), phases, periodic=(False, True, True), tolerance=1e-12)
    flow = compute(model, circle(0.5, 0.7, 0.2), steps=10)
    w, rho = flow.fields["w"], phases.density_2 + (phases.density_1 - phases.density_2) * flow.fields["f"]
    momentum = (0.5 * (rho + np.roll(rho, 1, axis=0)) * w).sum()
    if ratio == 1:
        assert abs(w).max() <= 1e-14
    else:
        assert abs(w).max() > 0.01
        assert abs(momentum) <= 0.02 * (rho * abs(w)).sum()
