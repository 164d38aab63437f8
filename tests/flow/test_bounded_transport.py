"""Transport within bounds: the kernels equal their NumPy reference, and no step leaves the bounds."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from taskflow.flow import Fixed, Flux, Quantity, Transport
from taskflow.flow.bodies import flags
from taskflow.flow.boundaries.box_side import BoxSide
from taskflow.flow.scalars import transport as bounded
from taskflow.runtime.regions import Box
from tests import reference
from tests.flow.byhand import DT, ByHand, scalar_with
from tests.reference import turbulence as by_numpy

TRANSPORT = Transport(0.07, 0.6)
EULER, HEUN = scalar_with(bounded.bounded_euler), scalar_with(bounded.bounded_heun)
VELOCITY, NEW = ("u", "v", "w"), ("u_new", "v_new", "w_new")
CELLS = [(7, 5, 6), (1, 4, 3), (4, 1, 2), (1, 1, 1), (2, 2, 4), (37, 3, 4)]
WALLS = [(False, False, False), (True, True, True), (True, False, True)]


def mean_velocity(hand: ByHand) -> list[reference.Shifted]:
    pairs = zip(VELOCITY, NEW, strict=True)
    means = {name: (hand.fields[name].astype("f8") + hand.fields[new].astype("f8")) / 2 for name, new in pairs}
    return [reference.Shifted(mean, hand.box, hand.memory.lo) for mean in means.values()]


@pytest.mark.fast("cpu-f8-*")
@pytest.mark.parametrize("cells", CELLS)
@pytest.mark.parametrize("walls", WALLS)
@pytest.mark.parametrize("real", ["f4", "f8"])
def test_both_stages(cells, walls, real, device):
    constants = {"transport": TRANSPORT}
    hand = ByHand(cells, walls, real, ghost=2, **device).fill(["q", "q_euler", "q_new", *VELOCITY, *NEW])
    constants["grid"] = hand.staggered.constants
    h, velocity, (q, euler) = hand.staggered.spacing, mean_velocity(hand), hand.shifted("q", "q_euler")

    def tendency(of: reference.Shifted) -> np.ndarray:
        return reference.bounded_tendency(of, velocity, h, cells, walls, TRANSPORT.diffusivity) + TRANSPORT.source

    hand.run(hand.launch(EULER, constants))
    hand.assert_agrees("q_new", q() + DT * tendency(q))
    hand.run(hand.launch(HEUN, constants))
    hand.assert_agrees("q", (q() + euler() + DT * tendency(euler)) / 2)


@pytest.mark.slow
def test_both_stages_with_eddies(device):
    """What nu_t / prandtl conducts comes to what they do without it."""
    hand = ByHand((7, 5, 6), ghost=2, **device).fill(["q", "q_euler", "q_new", *VELOCITY, *NEW, "nu_t"])
    constants = {"transport": TRANSPORT, "grid": hand.staggered.constants}
    laminar = ByHand(hand.cells, ghost=2, fields=dict(hand.fields), **device)
    (q, euler, nu_t), h = hand.shifted("q", "q_euler", "nu_t"), hand.staggered.spacing
    for task, of, share, result in ((bounded.bounded_euler, q, 1.0, "q_new"), (bounded.bounded_heun, euler, 0.5, "q")):
        laminar.run(laminar.launch(scalar_with(task), constants))
        hand.run(hand.launch(scalar_with(task, eddies=True), {**constants, "prandtl": 0.7}))
        more = share * DT * by_numpy.conduction(of, nu_t, h, 0.0, 0.7)
        hand.assert_agrees(result, laminar.values(result) + more)


@pytest.mark.slow
def test_eddies_conduct_nothing_into_bodies(device):
    """Between cells of the fluid one nu_t everywhere is more diffusivity; through faces of bodies it is not."""
    numbers = np.zeros((8, 7, 9), bool)
    numbers[3:5, 2:5, 4:6] = True
    hand = ByHand((7, 5, 6), ghost=2, **device).fill(["q", "q_euler", "q_new", *VELOCITY, *NEW, "nu_t"])
    hand.fields["q_faces"] = np.zeros(hand.memory.shape[::-1], np.uint16)
    hand.fields["q_faces"][hand.box.slices(hand.memory.lo)] = flags.heat_bits(numbers, numbers)
    hand.fields["nu_t"][...] = 0.3
    one = ByHand(hand.cells, ghost=2, fields=dict(hand.fields), **device)
    grid, h = hand.staggered, hand.staggered.spacing
    (q, euler), inside = hand.shifted("q", "q_euler"), numbers[1:-1, 1:-1, 1:-1]
    diffusive = Transport(TRANSPORT.diffusivity + 0.3 / 0.5, TRANSPORT.source)
    for task, of, share, result in ((bounded.bounded_euler, q, 1.0, "q_new"), (bounded.bounded_heun, euler, 0.5, "q")):
        constants, eddies = {"grid": grid.constants}, {"transport": TRANSPORT, "prandtl": 0.5}
        one.run(one.launch(scalar_with(task, bodies=True), {**constants, "transport": diffusive}))
        hand.run(hand.launch(scalar_with(task, eddies=True, bodies=True), {**constants, **eddies}))
        less = np.zeros_like(of())
        for axis, side in product(range(3), (-1, 1)):
            body = np.roll(numbers, -side, 2 - axis)[1:-1, 1:-1, 1:-1] & ~inside
            less += np.where(body, 2 * 0.6 * (of(side, axis) - of()) / h[axis] ** 2, 0)
        assert abs(less).max() > 1
        hand.assert_agrees(result, one.values(result) - share * DT * less)


@pytest.mark.parametrize("task", [EULER, HEUN], ids=lambda task: task.name)
@pytest.mark.parametrize("forward", [False, True])
def test_nothing_is_read_that_is_not_declared(task, forward):
    """Everything else is NaN, one cell's result is not."""
    hand = ByHand((5, 5, 5), ghost=2).fill(task.fields)
    for name in (*VELOCITY, *NEW):
        hand.fields[name] = abs(hand.fields[name]) * (1 if forward else -1)
    cell = Box((2, 2, 2), (3, 3, 3))
    for name, privilege in task.fields.items():
        kept = np.full_like(hand.fields[name], np.nan)
        for box in privilege.stencil.around(cell) if privilege.reads else []:
            kept[box.slices(hand.memory.lo)] = hand.fields[name][box.slices(hand.memory.lo)]
        hand.fields[name] = kept
    hand.run(hand.launch(task, {"grid": hand.staggered.constants, "transport": TRANSPORT}, over=cell))
    written = next(name for name, privilege in task.fields.items() if privilege.writes)
    assert np.isfinite(hand.values(written, cell)).all()


def test_the_second_layer_beyond_walls_is_not_used():
    hand = ByHand((3, 2, 4), ghost=2).fill(["q", "q_new", *VELOCITY, *NEW])
    near = Box.of(hand.cells).grow(1).slices(hand.memory.lo)
    kept = np.full_like(hand.fields["q"], np.nan)
    kept[near] = hand.fields["q"][near]
    hand.fields["q"] = kept
    hand.run(hand.launch(EULER, {"grid": hand.staggered.constants, "transport": TRANSPORT}))
    assert np.isfinite(hand.values("q_new")).all()


def whirled(cells: tuple[int, int, int], walls: tuple[bool, bool, bool], real: str, seed: int) -> ByHand:
    """q is 0 or 1, or between; the velocity is the curl of a random field, free of divergence, and passes no wall."""
    hand = ByHand(cells, walls, real, ghost=2).fill(["q", "q_new"], seed)
    random = np.random.default_rng(seed)
    q = random.choice([0.0, 1.0, 1.0, 0.3, 0.7], hand.memory.shape[::-1])
    mode = ["edge" if wall else "wrap" for wall in walls]
    inner = q[tuple(slice(2, -2) for _ in range(3))]
    for d, kind in enumerate(mode):
        inner = np.pad(inner, [(2, 2) if n == 2 - d else (0, 0) for n in range(3)], mode=kind)
    hand.fields["q"] = inner.astype(real)
    h, potentials = hand.staggered.spacing, []
    for a in range(3):  # on the edges along a; 0 on walls beside it
        potential = random.normal(size=cells[::-1])
        for d in range(3):
            if d != a and walls[d]:
                potential[tuple(0 if n == 2 - d else slice(None) for n in range(3))] = 0.0
        for d in range(3):
            width = [(2, 2) if n == 2 - d else (0, 0) for n in range(3)]
            potential = np.pad(potential, width, **({"mode": "constant"} if walls[d] else {"mode": "wrap"}))
        potentials.append(potential)
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        up = [np.roll(potentials[c], -1, 2 - b), np.roll(potentials[b], -1, 2 - c)]
        curl = (up[0] - potentials[c]) / h[b] - (up[1] - potentials[b]) / h[c]
        hand.fields[VELOCITY[a]] = hand.fields[NEW[a]] = curl.astype(real)
    return hand


@pytest.mark.parametrize("real", ["f4", "f8"])
@pytest.mark.parametrize(("walls", "share"), [*product(WALLS, (0.0, 0.3, 0.95))])
def test_a_step_of_eulers_of_the_stated_length_stays_within_bounds(walls, share, real):
    """For flows and values as wild as they can be: carried alone, carried and spread; on walls values 0 and 1."""
    tiny = 20 * float(np.finfo(real).eps)
    for seed in range(8):
        hand = whirled((6, 5, 4), walls, real, seed)
        grid, h = hand.staggered.constants, hand.staggered.spacing
        velocity, once = hand.shifted(*VELOCITY), sum(1 / d**2 for d in h)
        assert abs(reference.divergence(velocity, h)).max() < 1e3 * tiny
        rate = reference.advective_rate(velocity, h).max()
        dt = (1 - share) / (bounded.CROSSINGS * rate)
        kappa = share / (bounded.SPREADINGS * once * dt)
        hand.scalars["dt"] = dt
        faces = {face: Fixed(n % 2) if n < 4 else Flux(0.0) for n, face in enumerate(hand.faces())}
        sides, carried = [BoxSide(face, grid) for face in faces], Quantity("q", Transport(kappa), True, faces=faces)
        hand.run(*carried.ghosts("q", sides, ("u", "v", "w")))
        before = hand.values("q").copy()
        hand.run(hand.launch(EULER, {"grid": grid, "transport": Transport(kappa)}))
        after = hand.values("q_new")
        assert after.min() >= -tiny
        assert after.max() <= 1 + tiny
        if not faces or share == 0:
            assert after.sum(dtype="f8") == pytest.approx(before.sum(dtype="f8"), rel=100 * tiny)
