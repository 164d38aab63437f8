"""Two phases among bodies, and where they enter and leave: every kernel equals its NumPy reference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taskflow.flow.bodies.forces import ForceTarget
from taskflow.flow.boundaries.box_side import BoxSide
from taskflow.flow.boundaries.inflow import Beyond, enter_level_set
from taskflow.flow.boundaries.opening import correct_outlet, opening
from taskflow.flow.grid import on_face
from taskflow.flow.measures.phases import energy_of_phases, phase_end, phase_sums
from taskflow.flow.measures.surfaces import isosurface_area
from taskflow.flow.models.two_phase import level_set as ls
from taskflow.flow.models.two_phase import momentum as mo
from taskflow.flow.models.two_phase.bodies import extend_into_bodies
from taskflow.flow.models.two_phase.curvature import feet_missed
from taskflow.flow.models.two_phase.momentum import force_of_phases
from taskflow.flow.models.two_phase.openings import pass_volume
from taskflow.flow.models.two_phase.volume import (
    kept_shift,
    settle_volume,
    shift_level_set,
    volume_of,
    volume_of_shifted,
)
from taskflow.flow.operators.rates import exact_total
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Task, frame, reduced
from tests.flow.byhand import DT, FORCES, RATIO, ByHand, variant
from tests.flow.byhand import surrounded as in_one_layer
from tests.flow.phases import momentum_along
from tests.flow.test_obstacles import FLAGS, WALLS, closed, near, on_wall, solid_face
from tests.flow.two_phase.test_two_phase import MASS, OLD, PHASES, VELOCITY, blind, spacing
from tests.reference import two_phase as reference
from tests.reference.isosurface import area
from tests.reference.shifted import Shifted

CELLS = (7, 5, 6)
BAND = ls.Band(0.4, 0.6, 1.0, 1.0, 10.0, 0.02, 0.9)
FACES = [f"{axis}_{end}" for axis in "xyz" for end in ("min", "max")]
BODIES = pytest.mark.parametrize("bodies", [False, True])


def by_hand(names, walls, real, device, *, mirrored=(), bodies=True) -> tuple[ByHand, np.ndarray]:
    """Random fields with three layers around them, those that walls mirror nan beyond; shares from 0 to 1; the flags of
    random bodies 1 and 2, and velocities and mass fluxes of 0 on their faces; the numbers of bodies with a layer more.
    """
    hand = ByHand(CELLS, walls, real, ghost=3, **device).fill([name for name in names if name not in FLAGS], seed=7)
    inner = np.random.default_rng(3).choice([0, 1, 2], size=CELLS[::-1], p=[0.6, 0.25, 0.15]) * bodies
    numbers = in_one_layer(inner, walls)
    for name in ("f", "f_new"):
        if name in names:
            hand.fields[name] = ((hand.fields[name] + 1) / 2).astype(real)
    for axis in range(3):
        for name in {VELOCITY[axis], OLD[axis], MASS[axis]} & {*names}:
            still = np.where(closed(numbers > 0, axis), 0, hand.values(name))
            hand.values(name)[...] = still.astype(real)
    for name in mirrored:
        hand.fields[name] = reference.surrounded(hand.values(name).copy(), walls).astype(real)
    for name in FLAGS.keys() & {*names}:
        values = FLAGS[name](numbers)
        hand.fields[name] = np.pad(values, 3, mode="wrap")
    return hand, numbers


def task_with(task: Task, *, bodies: bool) -> Task:
    return task if bodies else variant(task, "solid")


def flagged(*names: str, bodies: bool) -> tuple[str, ...]:
    return (*names, "solid") if bodies else names


@pytest.mark.parametrize("walls", WALLS)
def test_a_level_set_goes_on_into_bodies(walls, real, device):
    hand, _ = by_hand(("phi", "phi_new", "solid"), walls, real, device, mirrored=("phi",))
    phi, solid = hand.shifted("phi", "solid")
    solid = type(solid)(solid.array & 64, solid.box, solid.origin)
    expected = reference.extended(phi, solid, CELLS, walls)
    blind(hand, "phi")
    hand.run(hand.launch(extend_into_bodies, {"grid": hand.staggered.constants}))
    hand.assert_agrees("phi_new", expected)
    fluid = solid() == 0
    np.testing.assert_array_equal(hand.values("phi_new")[fluid], hand.values("phi")[fluid])


def layer(hand: ByHand, name: str, face: str, outward: int) -> np.ndarray:
    """The cells of the domain in the layer beside a face, which is layer 0 outward, or in those beyond, from 1 on."""
    axis, high = frame(face)
    at = (CELLS[axis] - 1 + outward if high else -outward) + hand.ghost
    known = [slice(hand.ghost, -hand.ghost)] * 3
    known[2 - axis] = slice(at, at + 1)
    return hand.fields[name][tuple(known)]


@pytest.mark.parametrize("face", FACES)
def test_the_share_that_enters_is_a_distance(face, real, device):
    hand, _ = by_hand(("phi", "share"), (True,) * 3, real, device)
    share = layer(hand, "share", face, int(frame(face)[1])).copy()  # that of a face, which a high one has beyond
    beyond = Box.of(CELLS).layer(*frame(face), -1, 0)
    hand.run(hand.launch(variant(enter_level_set, turned=face), {"far": Beyond(0.9)}, beyond))
    np.testing.assert_allclose(layer(hand, "phi", face, 1), (2 * share - 1) * 0.9, rtol=0, atol=hand.tolerance)


def keep(hand: ByHand, kept: float) -> None:
    hand.scalars |= {"kept.0.total": kept, "kept.0.rest": 0.0, "kept.0.last": 0.0}


@pytest.mark.parametrize("face", FACES)
def test_the_volume_that_passes_a_side(face, real, device):
    hand, _ = by_hand(("f", "q", "q_old"), (True,) * 3, real, device)
    keep(hand, 41.5)
    axis, high = frame(face)
    about = opening(BoxSide(face, hand.staggered.constants))
    task = variant(pass_volume, turned=face)
    hand.run(hand.launch(task, {"opening": about, "bound": 5.0, "leaving": 1}, on_face(face, hand.staggered.constants)))
    q, before = (layer(hand, name, face, int(high)).astype("f8") for name in ("q", "q_old"))
    out = (1 if high else -1) * (q + 0.1 * RATIO * (q - before))
    inside, beyond = (layer(hand, "f", face, outward).astype("f8") for outward in (0, 1))
    passed = (out * np.where(out > 0, inside, (inside + beyond) / 2)).sum()
    (volume,) = reduced(hand.scalars, "volume")
    assert volume == pytest.approx(41.5 - DT / spacing(CELLS)[axis] * passed, rel=hand.tolerance)


@BODIES
def test_the_volume_and_the_shift_that_keeps_it(bodies, real, device):
    hand, numbers = by_hand(flagged("phi", "f", bodies=bodies), (True,) * 3, real, device, bodies=bodies)
    fluid, phi = near(numbers) == 0, hand.values("phi").astype("f8")
    keep(hand, 0.6 * fluid.sum())
    width, shift, sums = float(np.dtype(real).type(BAND.width)), 0.0, []
    for task, name in ((volume_of, "first"), (volume_of_shifted, "second")):
        moved = (phi + shift)[fluid] / width
        share, slope = reference.step(moved).sum(), reference.step_slope(moved).sum() / width
        sums.append((share, slope))
        shift += (0.6 * fluid.sum() - share) / slope
        limits = {"most": 1e3} if name == "second" else {}
        hand.run(hand.launch(task_with(task, bodies=bodies), {"band": BAND, "volume": name, **limits}))
        assert reduced(hand.scalars, name) == pytest.approx(sums[-1], rel=1e-12)
    shift = kept_shift(*sums, 0.6 * fluid.sum())
    hand.run(hand.launch(shift_level_set, {"band": BAND, "most": 1e3}))
    hand.assert_agrees("phi", phi + shift)
    hand.assert_agrees("f", reference.step(hand.values("phi").astype("f8") / BAND.width))
    for most, settled in ((1e3, 0.6 * fluid.sum()), (1e-6, hand.values("f").astype("f8")[fluid].sum())):
        about = {"grid": hand.staggered.constants, "most": most}
        hand.run(hand.launch(task_with(settle_volume, bodies=bodies), about))
        assert reduced(hand.scalars, "volume")[0] == pytest.approx(settled, rel=1e-12)


@BODIES
@pytest.mark.parametrize("walls", WALLS)
@pytest.mark.parametrize(("width", "foot"), [(0.5, 1.0), (0.5, 0.4)])
def test_the_number_of_cells_without_a_curvature(bodies, walls, width, foot, real, device):
    hand, numbers = by_hand(flagged("phi", bodies=bodies), walls, real, device, mirrored=("phi",), bodies=bodies)
    hand.fields["phi"] = (0.3 + 0.3 * hand.fields["phi"]).astype(real)  # so that feet are a cell or some cells away
    missed = reference.feet_missed(hand.fields["phi"].astype("f8"), spacing(CELLS), width, foot)
    blind(hand, "phi")
    band, grid = replace(BAND, width=width, foot=foot), hand.staggered.constants
    hand.run(hand.launch(task_with(feet_missed, bodies=bodies), {"band": band, "grid": grid}))
    assert hand.scalars["failed"] == (missed & (near(numbers) == 0)).sum()
    assert 0 < hand.scalars["failed"] < (hand.values("phi") < width).sum() / 2


@BODIES
def test_sums_over_the_fluid(bodies, real, device):
    names = flagged("q", "f", *VELOCITY, *OLD, bodies=bodies)
    hand, numbers = by_hand(names, (True, False, True), real, device, bodies=bodies)
    fluid, grid = near(numbers) == 0, hand.staggered
    hand.run(hand.launch(task_with(exact_total, bodies=bodies), {"bound": 1.0}))
    assert reduced(hand.scalars, "total")[0] == pytest.approx(hand.values("q")[fluid].sum(dtype="f8"), abs=1e-12)

    velocity = hand.shifted(*VELOCITY)
    x = [place + np.zeros(CELLS[::-1]) for place in grid.points("c", grid.box)]
    f = hand.values("f").astype("f8")
    half_square = sum(q() ** 2 + q(1, a) ** 2 for a, q in enumerate(velocity)) / 4
    before = [Shifted(0.6 * q.array + 0.4 * old.array, q.box, q.origin) for q, old in zip(
        velocity, hand.shifted(*OLD), strict=True)]  # fmt: skip
    lagging = sum(q() ** 2 + q(1, a) ** 2 for a, q in enumerate(before)) / 4
    rho, height = reference.density(f, PHASES), -sum(g * place for g, place in zip(PHASES.gravity, x, strict=True))
    hand.run(hand.launch(task_with(energy_of_phases, bodies=bodies), {"grid": grid.constants, "phases": PHASES}))
    expected = [(rho * number)[fluid].sum() for number in (lagging, height)]
    assert reduced(hand.scalars, "energy") == pytest.approx(expected, rel=hand.tolerance)

    hand.scalars["speed"] = 2.0
    means = [(q() + q(1, a)) / 2 for a, q in enumerate(velocity)]
    for phase, share in ((1, f), (2, 1 - f)):
        constants = {"grid": grid.constants, "phase": phase}
        hand.run(hand.launch(task_with(phase_sums, bodies=bodies), constants))
        expected = [(share * number)[fluid].sum() for number in (1.0, *x, *means, half_square)]
        assert reduced(hand.scalars, "sums") == pytest.approx(expected, abs=20 * hand.tolerance)


@BODIES
@pytest.mark.parametrize(("axis", "sign", "phase"), [(0, 1.0, 1), (1, -1.0, 2), (2, 1.0, 2), (2, -1.0, 1)])
def test_where_a_phase_ends(bodies, axis, sign, phase, real, device):
    hand, numbers = by_hand(flagged("f", bodies=bodies), (True,) * 3, real, device, bodies=bodies)
    task = variant(phase_end, "" if bodies else "solid", "xyz"[axis])
    h, n, by = spacing(CELLS)[axis], CELLS[axis], int(sign)
    last = n // 2 if phase == 1 else n - 1 if by > 0 else 0
    f = hand.fields["f"].astype("f8")
    share = type(hand.shifted("f")[0])(f if phase == 1 else 1 - f, hand.box, hand.memory.lo)
    index = np.arange(n).reshape([-1 if d == 2 - axis else 1 for d in range(3)]) + np.zeros(CELLS[::-1])
    stops = (index == (n - 1 if by > 0 else 0)) | (near(numbers, axis, by) > 0)
    here, present = share(), share(by, axis)
    part = np.where(present <= 0.5, (here - 0.5) / (here - present), np.where(index == last, 0.5, 0.0))
    part = np.where(stops, 0.5, np.where(index == last, np.minimum(part, 0.5), part))
    ends = np.where((here > 0.5) & (near(numbers) == 0), sign * h * (index + 0.5) + h * part, -np.inf)
    hand.run(hand.launch(task, {"grid": hand.staggered.constants, "phase": phase, "sign": sign, "last": last}))
    assert hand.scalars["end"] == pytest.approx(ends.max(), abs=hand.tolerance)


@BODIES
def test_the_area_of_the_interface_in_the_fluid(bodies, real, device):
    hand, numbers = by_hand(flagged("q", bodies=bodies), (False,) * 3, real, device, bodies=bodies)
    hand.fields["q"] = reference.surrounded(hand.values("q").copy(), hand.walls)
    grid, h = hand.staggered.constants, spacing(CELLS)
    hand.run(hand.launch(task_with(isosurface_area, bodies=bodies), {"grid": grid, "value": 0.1, "bound": max(h) ** 2}))
    q, fluid = hand.fields["q"][3:-2, 3:-2, 3:-2].astype("f8"), (numbers == 0)[1:, 1:, 1:]
    assert reduced(hand.scalars, "total")[0] == pytest.approx(area(q, fluid, h, 0.1), rel=hand.tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("walls", WALLS)
def test_momentum_beside_bodies(walls, real, device):
    """A face with a neighbour between two solid cells sees a wall half a cell away; closed ones keep their velocity."""
    names = (*VELOCITY, *OLD, *MASS, "f", "f_new", "kappa", "fall", "h_u", "h_v", "h_w", "u_new", "v_new", "w_new")
    names = (*names, "faces")
    hand, numbers = by_hand(names, walls, real, device)
    for name in MASS:
        hand.fields[name] *= hand.fields[name].dtype.type(0.1)  # less leaves than there is
    solid, shifted = numbers > 0, {name: hand.shifted(name)[0] for name in names}
    steep = [
        {(b, n): solid_face(solid, a, b, by) for b in range(3) if b != a for n, by in enumerate((-1, 1))}
        for a in range(3)
    ]
    velocities, frictions = reference.momentum(
        *([shifted[name] for name in group] for group in (VELOCITY, OLD, MASS)), shifted["f"], shifted["f_new"],
        shifted["kappa"], shifted["fall"], [shifted[f"h_{name}"] for name in VELOCITY], spacing(CELLS), DT, RATIO,
        CELLS, walls, PHASES, steep,
    )  # fmt: skip
    for axis, name in enumerate(VELOCITY):
        hand.run(momentum_along(axis, "faces", over=hand.box, grid=hand.staggered.constants, phases=PHASES))
        still = closed(solid, axis) | on_wall(hand, axis)
        hand.assert_agrees(f"h_{name}", np.where(still, 0.0, frictions[axis]))
        hand.assert_agrees(f"{name}_new", np.where(still, shifted[name](), velocities[axis]))


@BODIES
def test_coefficients_of_the_pressure(bodies, real, device):
    hand, numbers = by_hand(flagged("f", "b_x", "b_y", "b_z", bodies=bodies), (False,) * 3, real, device, bodies=bodies)
    hand.run(hand.launch(task_with(mo.inverse_density, bodies=bodies), {"phases": PHASES, "less": 0.25}))
    (f,) = hand.shifted("f")
    for axis, name in enumerate("xyz"):
        rho = (reference.density(f(-1, axis), PHASES) + reference.density(f(), PHASES)) / 2
        hand.assert_agrees(f"b_{name}", np.where(closed(numbers > 0, axis), 0, 1 / rho - 0.25))


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("varies", [False, True])
def test_the_correction_where_the_pressure_is_zero(face, varies, real, device):
    hand, _ = by_hand(("q", "p", "b"), (True,) * 3, real, device)
    axis, high = frame(face)
    q, p, b = layer(hand, "q", face, high).copy(), layer(hand, "p", face, 0), layer(hand, "b", face, high)
    expected = q + (1 if high else -1) * DT * (b if varies else 1) * p / (spacing(CELLS)[axis] / 2)
    about, over = opening(BoxSide(face, hand.staggered.constants)), on_face(face, hand.staggered.constants)
    hand.run(hand.launch(variant(correct_outlet, "" if varies else "b", face), {"opening": about}, over))
    np.testing.assert_allclose(layer(hand, "q", face, high), expected, rtol=0, atol=10 * hand.tolerance)


@pytest.mark.parametrize("walls", WALLS)
def test_the_force_on_bodies(walls, real, device):
    """It is what the scheme brings to their faces; all of it is what the fluid of a periodic flow loses."""
    owners = ("owner_x", "owner_y", "owner_z")
    hand, numbers = by_hand((*VELOCITY, *MASS, "f", "p", "solid", *owners), walls, real, device)
    for name in (*VELOCITY, *MASS, "f", "p"):
        if not any(walls):
            hand.fields[name] = reference.surrounded(hand.values(name).copy(), walls)
    about = np.array((0.1, 0.2, 0.3))
    grid, solid, volume, h = hand.staggered, numbers > 0, hand.staggered.volume, spacing(CELLS)
    shifted = {name: hand.shifted(name)[0] for name in hand.fields}
    flags = type(shifted["solid"])(shifted["solid"].array & 64, hand.box, hand.memory.lo)
    velocity, mass = ([shifted[name] for name in group] for group in (VELOCITY, MASS))
    pushes = [
        reference.force(velocity, mass, shifted["f"], shifted["p"], flags, a, h, CELLS, walls, PHASES) for a in range(3)
    ]
    middle = [place + np.zeros(CELLS[::-1]) - about[a] for a, place in enumerate(grid.points("c", grid.box))]
    total, tolerance = np.zeros(3), 50 * hand.tolerance
    for number in (1, 2):
        target = ForceTarget(number, tuple(about.tolist()))
        constants = {"grid": grid.constants, "phases": PHASES, "target": target}
        hand.run(hand.launch(force_of_phases, constants))
        forces = []
        for a, name in enumerate("xyz"):
            owner = np.where(near(numbers) > 0, near(numbers), near(numbers, a, -1))
            mine = closed(solid, a) & ~on_wall(hand, a) & (owner == number)
            pressure, friction = (volume * np.where(mine, part, 0) for part in pushes[a])
            forces.append(pressure + friction)
            for sort, part in (("pressure", pressure), ("friction", friction)):
                assert hand.scalars[FORCES[f"{sort}_{name}"]] == pytest.approx(part.sum(), abs=20 * hand.tolerance)
            total[a] += hand.scalars[FORCES[f"friction_{name}"]]
        for a, name in enumerate("xyz"):
            b, c = (a + 1) % 3, (a + 2) % 3
            moment = (middle[b] * forces[c] - middle[c] * forces[b]).sum()
            assert hand.scalars[FORCES[f"moment_{name}"]] == pytest.approx(moment, abs=tolerance)
    if not any(walls):
        for a in range(3):
            steep = {(b, n): solid_face(solid, a, b, by) for b in range(3) if b != a for n, by in enumerate((-1, 1))}
            stress = reference.friction(velocity, shifted["f"], a, h, PHASES, steep)
            gained = stress - reference.outflow(velocity[a], mass, a, h, CELLS, walls)[1]
            lost = -volume * gained[~closed(solid, a)].sum()
            assert total[a] == pytest.approx(lost, abs=tolerance)
