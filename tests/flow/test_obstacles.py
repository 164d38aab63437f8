"""Bodies: flags against their definition, kernels beside bodies against loops over faces, flows around bodies."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from taskflow.flow import Buoyancy, Fluid, Transport
from taskflow.flow.bodies import flags, forces, obstacles
from taskflow.flow.operators.projection import correct
from taskflow.flow.poisson import relaxation
from taskflow.flow.poisson.operator import residual_square
from taskflow.flow.scalars.transport import transport
from taskflow.flow.time.schemes import StagePart
from taskflow.runtime.regions import Box
from tests import reference
from tests.flow.byhand import DT, FORCES, MEAN, RATIO, ByHand, momentum_with, scalar_with, surrounded, variant
from tests.reference import Shifted

FLUID = Fluid(0.03, (0.3, -0.2, 0.1))
BUOYANCY = Buoyancy(1.3, 0.4, (0.5, -9.81, 2.0))
HEAT = Transport(0.07, 0.6)
CELLS = (7, 5, 6)
WALLS = [(True, True, True), (False, False, False), (True, False, True)]
VELOCITY = ("u", "v", "w")
STEPS = [(axis, side) for axis in range(3) for side in (-1, 1)]


def bodies(walls: tuple[bool, bool, bool], seed: int = 3) -> np.ndarray:
    """Cells [z, y, x] with one layer around them, some of them solid, of the bodies 1 and 2."""
    random = np.random.default_rng(seed)
    inner = random.choice([0, 1, 2], size=CELLS[::-1], p=[0.6, 0.25, 0.15])
    return surrounded(inner, walls)


def near(values: np.ndarray, *steps: int) -> np.ndarray:
    """The values of cells some steps (an axis, how far, perhaps another axis, how far) away."""
    for axis, by in zip(steps[::2], steps[1::2], strict=True):
        values = np.roll(values, -by, axis=2 - axis)
    return values[1:-1, 1:-1, 1:-1]


def closed(solid: np.ndarray, axis: int) -> np.ndarray:
    """The low faces of solid cells, and of those behind one."""
    return near(solid) | near(solid, axis, -1)


def solid_face(solid: np.ndarray, axis: int, along: int, by: int) -> np.ndarray:
    """Whether the low face across an axis, one step along another one, lies between two solid cells."""
    return near(solid, along, by) & near(solid, along, by, axis, -1)


def touched(solid: np.ndarray, axis: int, along: int, by: int) -> np.ndarray:
    """Whether one of the four cells around an edge of the low face across an axis is solid."""
    return near(solid) | near(solid, axis, -1) | near(solid, along, by) | near(solid, along, by, axis, -1)


def prepared(walls: tuple, real: str, names: list[str], **device: object) -> tuple[ByHand, np.ndarray]:
    """Random fields with velocities of 0 on closed faces, and the flags; the bodies."""
    hand = ByHand(CELLS, walls, real, **device).fill([name for name in names if name not in FLAGS])
    numbers = bodies(walls)
    solid, inside = numbers > 0, hand.box.slices(hand.memory.lo)
    for name, find in FLAGS.items():
        if name in names:
            values = find(numbers)
            hand.fields[name] = np.zeros(hand.memory.shape[::-1], values.dtype)
            hand.fields[name][inside] = values
    for axis, name in enumerate(VELOCITY):
        if name in hand.fields:
            hand.fields[name][inside][closed(solid, axis)] = 0
            exchange(hand, name)
    for name in ("p", "T", "q"):
        if name in hand.fields:
            exchange(hand, name)
    return hand, numbers


def exchange(hand: ByHand, name: str) -> None:
    """Ghost cells across periodic faces."""
    inside = hand.fields[name][hand.box.slices(hand.memory.lo)]
    for axis, wall in enumerate(hand.walls):
        width = [(0, 0)] * 3
        width[2 - axis] = (1, 1)
        if wall:
            grown = np.zeros([n + 2 * (d == 2 - axis) for d, n in enumerate(inside.shape)], inside.dtype)
            grown[tuple(slice(1, -1) if d == 2 - axis else slice(None) for d in range(3))] = inside
            inside = grown
        else:
            inside = np.pad(inside, width, mode="wrap")
    hand.fields[name] = np.ascontiguousarray(inside)


TENDENCY, PUSH = ("h_u", "h_v", "h_w"), ("push_x", "push_y", "push_z")
OWNERS = ("owner_x", "owner_y", "owner_z")


def push_on_faces(hand: ByHand, now: float, viscosity: float, before: float = 0.0, without: str = "nu_t T buoyancy"):
    """What a stage with these shares of it and of the one before takes on closed faces, in its first step."""
    hand.scalars["ratio"] = 0.0
    known = {"grid": hand.staggered.constants, "fluid": Fluid(viscosity), "stage": StagePart(now, before)}
    hand.run(hand.launch(variant(forces.push_closed_faces, without), known))


FLAGS = {
    "solid": lambda numbers: flags.solid_bits(numbers > 0),
    "faces": lambda numbers: flags.face_bits(numbers > 0),
    "edges": lambda numbers: flags.edge_bits(numbers > 0),
    "q_faces": lambda numbers: flags.heat_bits(numbers > 0, numbers == 2),
    "T_faces": lambda numbers: flags.heat_bits(numbers > 0, numbers == 2),
    "owner_x": lambda numbers: flags.owners(numbers.astype("u1"), 0),
    "owner_y": lambda numbers: flags.owners(numbers.astype("u1"), 1),
    "owner_z": lambda numbers: flags.owners(numbers.astype("u1"), 2),
}


# ------------------------------------------------------------------------------------------------------------- flags


@pytest.mark.parametrize("walls", WALLS)
def test_flags(walls):
    numbers = bodies(walls)
    solid = numbers > 0
    bits, faces, edges = flags.solid_bits(solid), flags.face_bits(solid), flags.edge_bits(solid)
    assert ((bits & 64 > 0) == near(solid)).all()
    for n, (axis, side) in enumerate(STEPS):
        assert ((bits >> n & 1 > 0) == near(solid, axis, side)).all()
    for axis in range(3):
        assert ((faces >> (12 + axis) & 1 > 0) == closed(solid, axis)).all()
        for place, along in enumerate(a for a in range(3) if a != axis):
            for high, by in enumerate((-1, 1)):
                seen = solid_face(solid, axis, along, by) & ~closed(solid, axis)
                assert ((faces >> (4 * axis + 2 * place + high) & 1 > 0) == seen).all()
                assert ((edges >> (4 * axis + 2 * place + high) & 1 > 0) == touched(solid, axis, along, by)).all()


# ----------------------------------------------------------------------------------------------------------- kernels


def on_wall(hand: ByHand, axis: int) -> np.ndarray:
    """Which faces across an axis lie on a low wall."""
    index = np.arange(hand.cells[axis]).reshape([-1 if n == 2 - axis else 1 for n in range(3)])
    return np.broadcast_to(hand.walls[axis] & (index == 0), hand.cells[::-1])


@pytest.mark.parametrize("walls", WALLS)
@pytest.mark.parametrize("warm", [False, True])
def test_momentum(walls, warm, real, device):
    """A face beside one between two solid cells sees there minus its own velocity; closed ones stay as they are."""
    task = momentum_with(warm=warm, bodies=True)
    hand, numbers = prepared(walls, real, list(task.fields), **device)
    solid, grid = numbers > 0, hand.staggered
    shifted = hand.shifted(*VELOCITY)
    old, T = hand.shifted("h_u", "h_v", "h_w"), hand.shifted("T")[0] if warm else None
    expected = []
    for axis, q in enumerate(shifted):
        H = reference.momentum_tendency(shifted, axis, grid.spacing, FLUID.viscosity) + FLUID.force[axis]
        for along in (a for a in range(3) if a != axis):
            for by in (-1, 1):  # 0 is stored where minus the own velocity is meant
                H = H - FLUID.viscosity * solid_face(solid, axis, along, by) * q() / grid.spacing[along] ** 2
        if T is not None:
            H = H + reference.buoyancy(T, axis, BUOYANCY.expansion, BUOYANCY.reference, BUOYANCY.gravity)
        shut, wall = closed(solid, axis), on_wall(hand, axis)
        moved = np.where(shut | wall, q(), reference.step(q, H, old[axis], DT, RATIO))
        expected.append((np.where(wall, 0, np.where(shut, old[axis](), H)), moved))
    constants = {"grid": grid.constants, "fluid": FLUID, **({"buoyancy": BUOYANCY} if warm else {})}
    hand.run(hand.launch(task, constants))
    for name, (H, velocity) in zip(VELOCITY, expected, strict=True):
        hand.assert_agrees(f"h_{name}", H)
        hand.assert_agrees(f"{name}_new", velocity)


@pytest.mark.parametrize("walls", WALLS)
def test_heat(walls, real, device):
    """Nothing enters insulated bodies; the others have their temperature half a cell away."""
    task = scalar_with(transport, bodies=True)
    hand, numbers = prepared(walls, real, list(task.fields), **device)
    T, *velocity = hand.shifted("q", *VELOCITY)
    h, old = hand.staggered.spacing, hand.shifted("h_q")[0]
    H = reference.transport_tendency(T, velocity, h, HEAT.diffusivity) + HEAT.source
    for axis, side in STEPS:
        behind, flux = near(numbers, axis, side), HEAT.diffusivity * (T(side, axis) - T()) / h[axis] ** 2
        H = H + flux * np.where(behind == 1, -1, np.where(behind == 2, 1, 0))
    expected = np.where(near(numbers) > 0, T(), reference.step(T, H, old, DT, RATIO))
    hand.run(hand.launch(task, {"grid": hand.staggered.constants, "transport": HEAT}))
    hand.assert_agrees("q_new", expected)


@pytest.mark.parametrize("walls", WALLS)
def test_projection(walls, real, device):
    """Closed faces keep their velocity, are stopped, or get what the gradient will take from them."""
    names = [*VELOCITY, "p", "solid"]
    for task in (correct, obstacles.stop, obstacles.force):
        hand, numbers = prepared(walls, real, names, **device)
        hand.fill(VELOCITY, seed=1)
        p, grid, expected = hand.shifted("p")[0], hand.staggered, {}
        for axis, name in enumerate(VELOCITY):
            u, shut, wall = hand.values(name).copy(), closed(numbers > 0, axis), on_wall(hand, axis)
            gradient = DT * (p() - p(-1, axis)) / grid.spacing[axis]
            expected[name] = {
                "correct": np.where(shut | wall, u, u - gradient),
                "stop": np.where(shut, 0, u),
                "force": np.where(shut & ~wall, gradient, u),
            }[task.name]
        hand.run(hand.launch(task, {"grid": grid.constants} if "grid" in task.constants else {}))
        for name, values in expected.items():
            hand.assert_agrees(name, values)


def laplacian(p: Shifted, numbers: np.ndarray, hand: ByHand) -> np.ndarray:
    """Over faces that are neither closed nor on walls."""
    total = np.zeros_like(p())
    for axis, side in STEPS:
        index = np.arange(hand.cells[axis]).reshape([-1 if n == 2 - axis else 1 for n in range(3)])
        wall = hand.walls[axis] & (index == (0 if side < 0 else hand.cells[axis] - 1))
        shut = (near(numbers) > 0) | (near(numbers, axis, side) > 0) | wall
        total += np.where(shut, 0, (p(side, axis) - p()) / hand.staggered.spacing[axis] ** 2)
    return total


@pytest.mark.parametrize("walls", WALLS)
def test_jacobi(walls, real, device):
    names = ["p", "rhs", "solid", "p_new"]
    hand, numbers = prepared(walls, real, names, **device)
    p, grid = hand.shifted("p")[0], hand.staggered.constants
    hand.fields["rhs"][hand.box.slices(hand.memory.lo)][near(numbers) > 0] = 0
    change = grid.relaxation * (laplacian(p, numbers, hand) - hand.values("rhs"))
    for task, share in ((relaxation.jacobi, 1.0), (relaxation.jacobi_half, 0.5)):
        hand.run(hand.launch(task, {"grid": grid}))
        hand.assert_agrees("p_new", p() + share * change)
    expected = ((hand.values("rhs") - MEAN - laplacian(p, numbers, hand))[near(numbers) == 0].astype("f8") ** 2).sum()
    hand.run(hand.launch(variant(residual_square, "b screen mesh"), {"grid": grid}))
    assert hand.scalars["residual"] == pytest.approx(expected, rel=hand.tolerance)


def few_bodies(cells: tuple[int, int, int], near: Box) -> np.ndarray:
    """`solid` in the cells around which there is one layer more: bodies in the inner cells of `near` only."""
    memory, numbers = Box.of(cells).grow(2), np.random.default_rng(5).random(Box.of(cells).grow(3).shape[::-1])
    solid = np.zeros(numbers.shape, bool)
    inside = near.grow(-1).slices(memory.grow(1).lo)
    solid[inside] = numbers[inside] < 0.3
    return flags.solid_bits(solid)


@pytest.mark.slow
@pytest.mark.parametrize(("cells", "near"), [
    (CELLS, Box.of(CELLS)),
    ((1, 1, 1), Box.of((1, 1, 1)).grow(2)),
    ((130, 30, 67), Box((0, 0, 0), (130, 30, 67))),  # many tiles
    ((130, 30, 67), Box((60, 12, 30), (65, 17, 35))),  # on a corner of eight
    ((130, 30, 67), Box((-2, 5, 60), (40, 9, 68))),
])  # fmt: skip
@pytest.mark.parametrize("walls", WALLS)
@pytest.mark.parametrize(("both", "second"), [
    (relaxation.jacobi_twice, relaxation.jacobi),
    (relaxation.jacobi_twice_half, relaxation.jacobi_half),
])  # fmt: skip
def test_two_sweeps_in_one_pass_are_two_to_the_bit(both, second, cells, near, walls, real, device):
    once = ByHand(cells, walls, real, ghost=2, **device).fill(["p", "rhs", "p_new"])
    once.fields["solid"] = few_bodies(cells, near)
    assert (once.fields["solid"] > 0).any()
    twice = ByHand(cells, walls, real, ghost=2, fields=dict(once.fields), **device)
    grid = {"grid": once.staggered.constants}
    once.run(once.launch(both, {**grid, "near": near}))
    twice.run(twice.launch(relaxation.jacobi, grid, over=twice.box.grow(1)))
    twice.fields["p"] = twice.fields["p_new"]
    twice.run(twice.launch(second, grid))
    np.testing.assert_array_equal(once.values("p_new"), twice.values("p_new"))


@pytest.mark.parametrize("walls", WALLS)
def test_the_force_on_bodies_is_what_the_fluid_loses(walls, real, device):
    """The momentum that the scheme takes from a periodic flow goes to the bodies, and to no one else: with walls the
    bodies' share of it is found from the faces of theirs.
    """
    hand, numbers = prepared(walls, real, [*VELOCITY, "p", "solid", *TENDENCY, *PUSH, *OWNERS], **device)
    push_on_faces(hand, 1.0, FLUID.viscosity)
    solid, grid, volume = numbers > 0, hand.staggered, hand.staggered.volume
    velocity, p = hand.shifted(*VELOCITY), hand.shifted("p")[0]
    result = {}
    for number in (1, 2):
        target = forces.ForceTarget(number, (0.1, 0.2, 0.3), stairs=1)
        hand.run(hand.launch(forces.force_on_body, {"grid": grid.constants, "target": target}))
        result[number] = dict(hand.scalars)
    for axis, name in enumerate("xyz"):
        q = velocity[axis]
        H = reference.momentum_tendency(velocity, axis, grid.spacing, FLUID.viscosity)
        for along, by in product((a for a in range(3) if a != axis), (-1, 1)):
            shown = np.where(solid_face(solid, axis, along, 0), q(by, along), 0)  # of a solid face half as far away
            H = H + FLUID.viscosity * shown / grid.spacing[along] ** 2
        shut, before, behind = closed(solid, axis) & ~on_wall(hand, axis), near(solid, axis, -1), near(solid)
        push = (np.where(before, 0, p(-1, axis)) - np.where(behind, 0, p())) / grid.spacing[axis]
        owner = np.where(near(numbers) > 0, near(numbers), near(numbers, axis, -1))
        for number in (1, 2):
            mine = shut & (owner == number)
            for kind, values in (("friction", H), ("pressure", push)):
                expected = volume * values[mine].sum(dtype="f8")
                assert result[number][FORCES[f"{kind}_{name}"]] == pytest.approx(expected, abs=hand.tolerance)
        if not any(walls):
            slowed = reference.momentum_tendency(velocity, axis, grid.spacing, FLUID.viscosity)
            for along, by in product((a for a in range(3) if a != axis), (-1, 1)):
                slowed = slowed - FLUID.viscosity * solid_face(solid, axis, along, by) * q() / grid.spacing[along] ** 2
            lost = -volume * slowed[~closed(solid, axis)].sum(dtype="f8")
            inputs = sum(result[number][FORCES[f"friction_{name}"]] for number in (1, 2))
            assert inputs == pytest.approx(lost, abs=hand.tolerance)


@pytest.mark.parametrize("walls", WALLS)
def test_stages_add_up_on_closed_faces(walls, real, device):
    """Two stages of a step: of each what it takes, by its share, and of the first its pressure."""
    hand, numbers = prepared(walls, real, [*VELOCITY, "p", "solid", *TENDENCY, *PUSH], **device)
    for name in PUSH:
        hand.fields[name][...] = 7.0
    push_on_faces(hand, 1.0, FLUID.viscosity)
    whole, p, taken = [hand.values(name).astype("f8") for name in PUSH], hand.shifted("p")[0], hand.values
    push_on_faces(hand, 0.25, FLUID.viscosity)
    push_on_faces(hand, 0.75, FLUID.viscosity, before=0.25)
    hand.fill(VELOCITY, seed=4)
    brought = [hand.values(name).copy() for name in VELOCITY]
    hand.run(hand.launch(obstacles.stop_and_push, {"stage": StagePart(0.75, 0.25)}))
    for axis, name in enumerate(PUSH):
        shut, wall = closed(numbers > 0, axis), on_wall(hand, axis)
        before, behind = near(numbers > 0, axis, -1), near(numbers > 0)
        pressure = (np.where(before, 0, p(-1, axis)) - np.where(behind, 0, p())) / hand.staggered.spacing[axis]
        own = np.where(shut & ~wall, whole[axis] + 0.25 * pressure, 7.0)
        expected = own + np.where(shut, 0.75 / DT * brought[axis], 0)
        np.testing.assert_allclose(taken(name), expected, rtol=0, atol=hand.tolerance * 100)
        assert not taken(VELOCITY[axis])[shut].any()


def test_the_moment_of_a_pressure():
    """Of p = x on a box: the force is minus the volume, through the box's middle."""
    hand = ByHand(CELLS, (True, True, True)).fill([])
    numbers = np.zeros([n + 2 for n in CELLS[::-1]], "u1")
    numbers[3:5, 2:5, 3:6] = 1
    grid, names = hand.staggered, [*PUSH, "p", "solid", "owner_x", "owner_y", "owner_z"]
    hand.fields = {name: np.zeros(hand.memory.shape[::-1]) for name in names}
    for name in names[4:]:
        hand.fields[name] = np.zeros(hand.memory.shape[::-1], "u1")
        hand.fields[name][hand.box.slices(hand.memory.lo)] = FLAGS[name](numbers)
    hand.fields["p"][hand.box.slices(hand.memory.lo)] = grid.points("c", hand.box)[0]
    about = np.array([0.2, 0.1, 0.4])
    target = forces.ForceTarget(1, tuple(about.tolist()), stairs=1)
    hand.run(hand.launch(forces.force_on_body, {"grid": grid.constants, "target": target}))
    middle = np.array(grid.spacing) * [3.5, 2.5, 3.0]
    # the pressures beside the box are those of cells half a cell away: their difference is that over a cell more
    force = np.array([-(3 + 1) * 3 * 2 * grid.volume, 0.0, 0.0])
    moment = np.cross(middle - about, force)
    for n, name in enumerate("xyz"):
        assert hand.scalars[FORCES[f"pressure_{name}"]] == pytest.approx(force[n], abs=1e-12)
        assert hand.scalars[FORCES[f"friction_{name}"]] == 0
        assert hand.scalars[FORCES[f"moment_{name}"]] == pytest.approx(moment[n], abs=1e-12)


def test_heat_of_a_body(real, device):
    """2 diffusivity (T_body - T) / h on every face between it and the fluid."""
    names = ["T", "solid", "owner_x", "owner_y", "owner_z"]
    hand, numbers = prepared((True, False, True), real, names, **device)
    T, h, expected = hand.shifted("T")[0], hand.staggered.spacing, 0.0
    for axis, side in STEPS:
        index = np.arange(hand.cells[axis]).reshape([-1 if n == 2 - axis else 1 for n in range(3)])
        wall = hand.walls[axis] & (index == (0 if side < 0 else hand.cells[axis] - 1))
        face = (near(numbers) == 2) & (near(numbers, axis, side) == 0) & ~wall
        area = hand.staggered.volume / h[axis]
        expected += (2 * HEAT.diffusivity * area / h[axis] * (T() - T(side, axis))[face]).sum(dtype="f8")
    constants = {"grid": hand.staggered.constants, "transport": HEAT, "number": 2}
    hand.run(hand.launch(forces.heat_from_body, constants))
    assert hand.scalars["flux"] == pytest.approx(expected, rel=20 * hand.tolerance)


def test_kernels_give_the_same_bits_however_they_are_cut(real):
    """The parts of a launch, one after the other, do what the whole does."""
    for task in (momentum_with(bodies=True), scalar_with(transport, bodies=True), relaxation.jacobi):
        whole, _ = prepared((True, False, True), real, list(task.fields))
        parts, _ = prepared((True, False, True), real, list(task.fields))
        known = {"grid": whole.staggered.constants, "fluid": FLUID, "transport": HEAT}
        constants = {name: known[name] for name in task.constants}
        whole.run(whole.launch(task, constants))
        x, y, z = CELLS
        for box in (Box((0, 0, 0), (3, y, z)), Box((3, 0, 0), (x, 2, z)), Box((3, 2, 0), CELLS)):
            parts.run(parts.launch(task, constants, box), threads=1)
        for name, privilege in task.fields.items():
            if privilege.writes:
                assert (whole.values(name) == parts.values(name)).all()
