"""Sweeps of a volume of fluid and of its momentum: kernels equal their NumPy reference, and bounds hold."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from taskflow.flow.models.two_phase import sweeps
from taskflow.flow.models.two_phase.momentum import accelerate
from taskflow.flow.models.two_phase.volume_of_fluid import fall_to_plane
from taskflow.flow.operators.phases import Phases
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.machine.threads import run_threads
from taskflow.runtime.machine.trace.mapper import Mapper
from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region
from tests.flow.byhand import DT, RATIO, ByHand, variant
from tests.flow.phases import CUTS, assert_the_same_bits, box_of_a_droplet, two_phase
from tests.reference import two_phase as reference_two_phase
from tests.reference import volume_of_fluid as reference

PHASES = Phases(3.0, 0.7, 0.05, 0.002, 0.3, (0.3, -9.8, 0.2))
AXES = pytest.mark.parametrize("axis", [0, pytest.param(1, marks=pytest.mark.slow), 2])
WALLS = pytest.mark.parametrize("walls", [(False,) * 3, (True,) * 3])
CELLS = (9, 6, 7)


def by_hand(walls, real, device, *names) -> ByHand:
    """Random fields, of which shares are from 0 to 1 and often at the ends."""
    hand = ByHand(CELLS, walls, real, ghost=3, **device).fill(names, seed=4)
    for name in names:
        if name.startswith("f"):
            hand.fields[name] = (0.5 + 0.8 * hand.fields[name]).clip(0, 1).astype(real)
        elif name == "mass":
            hand.fields[name] = (2 + hand.fields[name]).astype(real)
    if not walls[0]:
        for name in names:
            hand.fields[name] = reference_two_phase.surrounded(hand.values(name).copy(), walls)
    return hand


def spacing(axis: int) -> float:
    return (1.1, 0.7, 1.7)[axis] / CELLS[axis]


@AXES
@WALLS
def test_shares_that_pass_faces(axis, walls, real, device):
    hand = by_hand(walls, real, device, "f", "w", "flux")
    hand.fields["w"] *= hand.fields["w"].dtype.type(0.9 * spacing(axis) / DT)
    speed = hand.values("w").astype("f8") * DT / spacing(axis)
    expected = reference.share_flux(hand.fields["f"].astype("f8"), speed, axis, CELLS[axis], walls[axis])
    hand.run(hand.launch(variant(sweeps.share_flux, turned="xyz"[axis]), {"grid": hand.staggered.constants}))
    np.testing.assert_allclose(hand.values("flux"), expected, rtol=0, atol=1e-13 if real == "f8" else 2e-5)


@AXES
@pytest.mark.parametrize("last", [0, 1])
def test_shares_and_mass_after_a_sweep(axis, last, real, device):
    hand = by_hand((False,) * 3, real, device, "f", "f_begun", "f_new", "flux", "w", "w_r", "w_s", "mass")
    own, others = "xyz"[axis], [n for n in range(3) if n != axis]
    f, begun, flux, mass = (hand.fields[name].astype("f8") for name in ("f", "f_begun", "flux", "mass"))
    at = reference_two_phase.at
    widening = {}
    for a, name in zip((axis, *others), ("w", "w_r", "w_s"), strict=True):
        w = hand.fields[name].astype("f8")
        widening[a] = (at(w, (1, a)) - at(w)) * DT / spacing(a)
    left, s = at(flux, (1, axis)) - at(flux), at(begun) > 0.5
    added = -sum(widening[a] for a in others) if last else widening[axis]
    constants = {"grid": hand.staggered.constants, "phases": PHASES, "last": last}
    task = variant(sweeps.move_shares, "" if last else "w_r w_s", turned=own)
    hand.run(hand.launch(task, constants))
    hand.assert_agrees("f_new", at(f) - left + s * added)
    hand.assert_agrees("mass", at(mass) - 0.7 * widening[axis] - 2.3 * left)


@AXES
@WALLS
def test_momentum_that_moves(axis, walls, real, device):
    hand = by_hand(walls, real, device, "q", "r", "s", "mass", "flux", "w", "q_new", "r_new", "s_new")
    hand.fields["flux"] *= hand.fields["flux"].dtype.type(0.1)
    hand.fields["w"] *= hand.fields["w"].dtype.type(0.1)
    through = 0.7 * DT / spacing(axis) * hand.fields["w"].astype("f8") + 2.3 * hand.fields["flux"].astype("f8")
    components = zip("qrs", (axis, *(n for n in range(3) if n != axis)), strict=True)
    expected = {}
    for name, along in components:
        q, mass = hand.fields[name].astype("f8"), hand.fields["mass"].astype("f8")
        values = reference.moved(q, mass, through, axis, along, CELLS[axis], walls[axis])
        index = np.arange(CELLS[along]).reshape([-1 if n == 2 - along else 1 for n in range(3)])
        expected[name] = np.where(walls[along] & (index == 0), hand.values(name), values)
    around = hand.box.expand((1, 1, 1), (1, 1, 1)) if walls[0] else hand.box
    task = variant(sweeps.move_momentum, "faces", turned="xyz"[axis])
    hand.run(hand.launch(task, {"grid": hand.staggered.constants, "phases": PHASES}, around))
    for name, values in expected.items():
        hand.assert_agrees(f"{name}_new", values)
        ghost = np.ones(around.shape[::-1], bool)
        ghost[hand.box.slices(around.lo)] = False
        np.testing.assert_array_equal(hand.values(f"{name}_new", around)[ghost], hand.values(name, around)[ghost])


@AXES
def test_friction_tension_and_weight_are_added(axis, real, device):
    hand = by_hand((True,) * 3, real, device, "q", "r", "s", "f", "f_new", "kappa", "fall", "h", "q_new")
    hand.fields["fall"][hand.fields["fall"] > 0.5] = np.inf  # cells without a place
    hand.fields["f"] = np.abs(hand.fields["f"])
    hand.fields["f_new"] = np.clip(hand.fields["f_new"], 0, 1)
    h, others = [spacing(a) for a in range(3)], [n for n in range(3) if n != axis]
    shifted = dict(zip(hand.fields, hand.shifted(*hand.fields), strict=True))
    velocity = [shifted["qrs"[0 if a == axis else 1 + others.index(a)]] for a in range(3)]
    stress = reference_two_phase.friction(velocity, shifted["f"], axis, h, PHASES)
    new = shifted["f_new"]
    rho = (reference_two_phase.density(new(-1, axis), PHASES) + reference_two_phase.density(new(), PHASES)) / 2
    force = (1 + RATIO / 2) * stress - RATIO / 2 * shifted["h"]()
    force = force + reference_two_phase.tension_of_planes(shifted["kappa"], new, axis, h, PHASES)
    force = force + reference_two_phase.weight_jump(shifted["fall"], new, axis, h, PHASES)
    expected = hand.values("q_new") + DT * (force / rho + PHASES.gravity[axis])
    on_wall = np.arange(CELLS[axis]).reshape([-1 if n == 2 - axis else 1 for n in range(3)]) == 0
    expected = np.where(on_wall, hand.values("q_new"), expected)
    task = variant(accelerate, "faces", turned="xyz"[axis])
    hand.run(hand.launch(task, {"grid": hand.staggered.constants, "phases": PHASES}))
    hand.assert_agrees("h", np.where(on_wall, 0.0, stress))
    hand.assert_agrees("q_new", expected)


@WALLS
def test_the_fall_to_planes(walls, real, device):
    hand = by_hand(walls, real, device, "f", "fall")
    f = reference_two_phase.surrounded(hand.values("f").astype("f8"), walls)
    h, cut = [spacing(a) for a in range(3)], (hand.values("f") > 0) & (hand.values("f") < 1)
    expected = reference.fall(f, cut, h, PHASES.gravity)
    hand.run(hand.launch(fall_to_plane, {"grid": hand.staggered.constants, "phases": PHASES}))
    found, known = hand.values("fall"), np.isfinite(expected)
    assert (found[~known] > 1e30).all()
    np.testing.assert_allclose(found[known], expected[known], rtol=0, atol=1e-13 if real == "f8" else 2e-5)


def divergence_free(random, cells) -> list[np.ndarray]:
    """The curl of random numbers, along x, y and z, per cell; without y where there is one cell."""
    potential = [random.uniform(-1, 1, cells[::-1]) for _ in range(3)]

    def change(q, axis):
        return np.roll(q, -1, 2 - axis) - q

    return [
        change(potential[(a + 2) % 3], (a + 1) % 3) - change(potential[(a + 1) % 3], (a + 2) % 3) for a in range(3)
    ]


def around(q: np.ndarray, pick) -> np.ndarray:
    """The least or the largest of each cell and its neighbours."""
    for axis in range(3):
        q = pick.reduce([np.roll(q, n, axis) for n in (-1, 0, 1)])
    return q


def momentum_of(q: np.ndarray, f: np.ndarray, axis: int, ratio: float) -> float:
    rho = 1 + (ratio - 1) * f
    return float((0.5 * (rho + np.roll(rho, 1, 2 - axis)) * q).sum())


@pytest.mark.parametrize(("cells", "ratio", "steps"), [
    ((16, 1, 16), 1e3, 20), ((8, 8, 8), 1e5, 10), *(
        pytest.param(cells, ratio, 100, marks=pytest.mark.slow)
        for cells, ratio in product([(32, 1, 32), (12, 12, 12)], [1.0, 1e3, 1e5, 1e-3])
    ),
])  # fmt: skip
def test_velocities_stay_within_their_neighbours(cells, ratio, steps):
    """Random shares and velocities in [-1, 1], in a stream without divergence that changes, at a Courant number of 0.5:
    each velocity between those around it, shares between 0 and 1, phase 1 and momentum kept.
    """
    model = two_phase(cells, tuple(map(float, cells)), Phases(ratio, 1.0, 0.0, 0.0), periodic=(True,) * 3, vof=True)
    fields = FieldSpace([Field(name, "f8", place) for name, place in model.fields.items()])
    main = Partition(Region(Box.of(cells), fields, model.staggered.periodic, model.ghost), (1, 1, 1))
    partition = Partition(main.region, (1, 1, 1), beside=model.partitions(main))
    random = np.random.default_rng(8)

    def advance(f):
        yield from model.interface.advance(f)
        for name in ("u", "v", "w", "f"):
            f.swap(name, f"{name}_new")

    def job(shard):
        shape = cells[::-1]
        shard.write({"f": random.uniform(-0.5, 1.5, shape).clip(0, 1)})
        shard.write({name: random.uniform(-1, 1, shape) for name in "uvw"})
        shard.write({f"{name}_old": np.zeros(shape) for name in "uvw"})
        after = [shard.read(name) for name in "fuvw"]
        for _ in range(steps):
            w, before = divergence_free(random, cells), after
            rate = sum(np.maximum(abs(q), abs(np.roll(q, -1, 2 - a))) for a, q in enumerate(w)).max()
            shard.write({f"{name}_old": 0.5 / rate * q for name, q in zip("uvw", w, strict=True)})
            shard.run(advance, dt=1.0, ratio=-40.0)  # w = u - (u - u_old)
            after = [shard.read(name) for name in "fuvw"]
            assert -1e-12 <= after[0].min() <= after[0].max() <= 1 + 1e-12
            assert after[0].sum() == pytest.approx(before[0].sum(), rel=1e-13)
            for axis, (q, q_new) in enumerate(zip(before[1:], after[1:], strict=True)):
                assert (q_new - around(q, np.maximum)).max() <= 1e-12
                assert (around(q, np.minimum) - q_new).max() <= 1e-12
                scale = momentum_of(abs(q), before[0], axis, ratio)
                kept = momentum_of(q, before[0], axis, ratio)
                assert momentum_of(q_new, after[0], axis, ratio) == pytest.approx(kept, abs=1e-12 * scale)

    run_threads(partition, job, cpu(1), Mapper("auto"))


@pytest.mark.fast("options1", "options2")
@CUTS
def test_blocks_threads_and_overlap_do_not_change_a_bit(options):
    phases = Phases(50.0, 1.0, 0.1, 0.01, 1.0, (0.0, 0.0, -1.0))
    assert_the_same_bits(box_of_a_droplet(phases, vof=True), "f8", options)
