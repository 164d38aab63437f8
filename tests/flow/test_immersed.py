"""Immersed bodies: what is known of cut faces against its definition, kernels beside them against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.flow import Fluid, Transport
from taskflow.flow.bodies import bulk_velocity, cuts, forces, immersed
from taskflow.flow.time.schemes import StagePart
from taskflow.runtime.tasks import reduced
from tests import reference
from tests.flow.byhand import DT, ByHand, surrounded, variant
from tests.flow.test_obstacles import exchange
from tests.reference.stretched import Metrics
from tests.reference.surfaces import adhered

CELLS = (7, 5, 6)
FLUID, HEAT = Fluid(0.03), Transport(0.07, 0.0)
WALLS = [(True, True, True), (False, False, False), (True, False, True)]
VELOCITY, NEW, OWNERS = ("u", "v", "w"), ("u_new", "v_new", "w_new"), ("owner_x", "owner_y", "owner_z")
PUSH = ("push_x", "push_y", "push_z")
FRICTION, BLOCKAGE = ("friction_x", "friction_y", "friction_z"), ("blockage_x", "blockage_y", "blockage_z")
STEPS = [(axis, side) for axis in range(3) for side in (-1, 1)]


def scattered(walls: tuple[bool, bool, bool], seed: int, free: float = 0.6) -> np.ndarray:
    """Points [z, y, x] with one layer around them, some of them in the bodies 1 and 2."""
    shares = [free, 0.6 * (1 - free), 0.4 * (1 - free)]
    inner = np.random.default_rng(seed).choice(np.array([0, 1, 2], "u1"), size=CELLS[::-1], p=shares)
    return surrounded(inner, walls)


def near(values: np.ndarray, axis: int = 0, by: int = 0) -> np.ndarray:
    return np.roll(values, -by, axis=2 - axis)[1:-1, 1:-1, 1:-1]


def walls_of(walls: tuple[bool, bool, bool]) -> list[np.ndarray]:
    """Which low faces of the cells, and of one layer around them, lie on walls."""
    result = []
    for axis, wall in enumerate(walls):
        index = np.arange(-1, CELLS[axis] + 1).reshape([-1 if n == 2 - axis else 1 for n in range(3)])
        on = wall & ((index == 0) | (index == CELLS[axis]))
        result.append(np.broadcast_to(on, [n + 2 for n in CELLS[::-1]]))
    return result


def solid_bits(bodies: list[np.ndarray], walls: tuple[bool, bool, bool]) -> np.ndarray:
    """Of the cells, from which body has each of the faces across x, y and z."""
    closed = [item > 0 for item in bodies]
    beside = [cuts.near(surrounded(surrounded(item[1:-1, 1:-1, 1:-1], walls), walls)) for item in closed]
    return cuts.solid_bits(closed, walls_of(walls), np.any(beside, axis=0))


def prepared(walls: tuple[bool, bool, bool], real: str, names: list[str], **options: object) -> tuple[ByHand, list]:
    """Random fields, flags of random faces; the bodies that have faces."""
    hand = ByHand(CELLS, walls, real, **options).fill(names)
    bodies = [scattered(walls, seed) for seed in range(3)]
    flags = {"solid": solid_bits(bodies, walls)}
    flags |= {name: cuts.owners(item) for name, item in zip(OWNERS, bodies, strict=True)}
    for name in names:
        if name in flags:
            hand.fields[name] = np.zeros(hand.memory.shape[::-1], flags[name].dtype)
            hand.fields[name][hand.box.slices(hand.memory.lo)] = flags[name]
        elif name in (*FRICTION, "conductance_T"):
            hand.fields[name] = np.abs(hand.fields[name]) * 50
    for name, item in zip((*FRICTION, *BLOCKAGE), (*bodies, *bodies), strict=True):
        if name in names:
            hand.fields[name] = np.abs(hand.fields[name])
            hand.fields[name][hand.box.slices(hand.memory.lo)][~beside(item)] = 0
            exchange(hand, name)
    return hand, bodies


def doubles(hand: ByHand, *names: str) -> list[np.ndarray]:
    return [hand.fields[name].astype("f8") for name in names]


def beside(bodies: np.ndarray) -> np.ndarray:
    """Open, next to a closed one."""
    return (near(bodies) == 0) & np.any([near(bodies, *step) > 0 for step in STEPS], axis=0)


def on_wall(hand: ByHand, axis: int) -> np.ndarray:
    """Which low faces of the cells lie on low walls."""
    index = np.arange(CELLS[axis]).reshape([-1 if n == 2 - axis else 1 for n in range(3)])
    return np.broadcast_to(hand.walls[axis] & (index == 0), CELLS[::-1])


@pytest.mark.parametrize("walls", WALLS)
def test_flags(walls):
    bodies, sides = [scattered(walls, seed, 0.3) for seed in range(3)], walls_of(walls)
    bits, faces, open_ = solid_bits(bodies, walls), [], []
    for n, (axis, side) in enumerate(STEPS):
        faces.append(near(bodies[axis], axis, max(side, 0)) > 0)
        open_.append(~faces[-1] & ~near(sides[axis], axis, max(side, 0)))
        assert ((bits >> n & 1 > 0) == faces[-1]).all()
    shut = ~np.any(open_, axis=0)
    assert shut.any()
    assert ((bits & 64 > 0) == shut).all()
    touched = [(near(item) > 0) | beside(item) for item in bodies]
    once = surrounded(np.any(touched, axis=0), walls)
    assert ((bits & 128 > 0) == np.any([near(once), *(near(once, *step) for step in STEPS)], axis=0)).all()
    held = scattered(walls, 5) == 2
    kinds = cuts.heat_bits([item > 0 for item in bodies], shut, held)
    for n, (axis, side) in enumerate(STEPS):
        insulated = (faces[n] | near(held, axis, side)) & ~(near(held) | shut)
        assert ((kinds >> 2 * n & 3 == 1) == insulated).all()
    assert ((kinds >> 12 > 0) == (near(held) | shut)).all()


@pytest.mark.parametrize("walls", WALLS)
def test_edges(walls):
    """Beside a surface is an edge at which one of its four faces is closed, seen from any of these."""
    bodies = [scattered(walls, seed, 0.3) > 0 for seed in range(3)]
    edges = cuts.edge_bits(bodies)
    for axis in range(3):
        for place, along in enumerate(a for a in range(3) if a != axis):
            back = np.roll(bodies[along], 1, axis=2 - axis)
            low = bodies[axis] | np.roll(bodies[axis], 1, axis=2 - along) | bodies[along] | back
            for high in (0, 1):
                bit = edges >> (4 * axis + 2 * place + high) & 1 > 0
                assert (bit == near(low, along, high)).all()


@pytest.mark.parametrize("walls", WALLS)
def test_velocity(walls, real, device):
    """Closed faces stand still, cut ones feel the surface, and others that these are cut. What that takes is noted, as
    the second stage of a step, where the forces on bodies are followed.
    """
    hand, bodies = prepared(walls, real, [*VELOCITY, *NEW, *PUSH, "p", "solid", *FRICTION, *BLOCKAGE], **device)
    metrics, expected, pushes = Metrics(hand.staggered), {}, {}
    for axis, (old, new, body) in enumerate(zip(VELOCITY, NEW, bodies, strict=True)):
        surface = doubles(hand, old, FRICTION[axis], BLOCKAGE[axis])
        kept, added = adhered(metrics, *surface, axis, DT * FLUID.viscosity)
        [q, p] = doubles(hand, new, "p")
        result = near(kept * q + added + (1 - kept) * DT * metrics.gradient(p, axis))
        shut, wall = near(body) > 0, on_wall(hand, axis)
        expected[new] = np.where(wall, near(q), np.where(shut, 0, result))
        taken = 0.75 * (near(q) - expected[new]) / DT - 0.25 * np.where(shut, near(metrics.gradient(p, axis)), 0)
        pushes[PUSH[axis]] = hand.values(PUSH[axis]) + np.where(wall, 0, taken)
    constants = {"grid": hand.staggered.constants, "viscosity": FLUID.viscosity}
    was = {name: values.copy() for name, values in hand.fields.items()}
    hand.run(hand.launch(variant(immersed.apply_wall_friction, "push stage"), constants))
    for name, values in expected.items():
        hand.assert_agrees(name, values)
    hand.fields |= was
    hand.run(hand.launch(immersed.apply_wall_friction, {**constants, "stage": StagePart(0.75, 0.25)}))
    for name, values in expected.items():
        hand.assert_agrees(name, values)
    for name, values in pushes.items():
        np.testing.assert_allclose(hand.values(name), values, rtol=0, atol=hand.tolerance * 10 / DT, err_msg=name)


def test_heat(real, device):
    hand, _ = prepared(WALLS[0], real, ["T", "conductance_T", "warm_T"], **device)
    hand.fields["conductance_T"][::2] = 0
    T, conductance, step = hand.values("T"), hand.values("conductance_T"), DT * HEAT.diffusivity
    expected = np.where(conductance > 0, (T + step * hand.values("warm_T")) / (1 + step * conductance), T)
    hand.run(hand.launch(immersed.wall_heat_flux, {"diffusivity": HEAT.diffusivity}))
    hand.assert_agrees("T", expected)


@pytest.mark.parametrize("without", ["q_old friction blockage viscosity", ""], ids=["stairs", "immersed"])
@pytest.mark.parametrize("axis", range(3))
def test_what_is_missing_of_a_mean(axis, without, real, device):
    """And what is added, on closed faces, too."""
    q, task = VELOCITY[axis], variant(bulk_velocity.bulk_velocity_deficit, without)
    hand, bodies = prepared(WALLS[1], real, [*VELOCITY, *NEW, "p", "solid", *FRICTION, *BLOCKAGE], **device)
    roles = {"q": NEW[axis], "q_old": q, "friction": FRICTION[axis], "blockage": BLOCKAGE[axis]}
    hand.fields |= {role: hand.fields[name] for role, name in roles.items()}
    hand.scalars["rate"] = 10.0
    open_, grid = near(bodies[axis]) == 0, hand.staggered
    metrics, [new, p, *surface] = Metrics(grid), doubles(hand, "q", "p", "q_old", "friction", "blockage")
    kept, added = np.ones(new.shape), np.zeros(new.shape)
    if "friction" in task.fields:
        kept, added = adhered(metrics, *surface, axis, DT * FLUID.viscosity)
    projected = near(kept * (new - DT * metrics.gradient(p, axis)) + added)
    lack, gain = 0.7 * open_.size - projected[open_].sum(), near(kept)[open_].sum()
    expected = hand.values("q") + lack / gain
    known = {"grid": grid.constants, "viscosity": FLUID.viscosity}
    known["bulk"] = bulk_velocity.BulkVelocityTarget.along(axis, 0.7, grid.constants)
    for item in (task, bulk_velocity.apply_uniform_force):
        hand.run(hand.launch(item, {name: known[name] for name in item.constants}))
    for total, value in zip(reduced(hand.scalars, "missing"), (lack, gain), strict=True):
        assert total == pytest.approx(value, abs=hand.tolerance * open_.size)
    hand.assert_agrees("q", expected)


@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("walls", WALLS)
def test_heat_from_bodies(walls, bounded, real, device):
    """What the flow carries out of cells that are held is what the scheme carries."""
    names = ["T", *VELOCITY, "T_faces", "owner_T", "conductance_T", "warm_T"]
    hand, bodies = prepared(walls, real, names, ghost=1 + bounded, **device)
    inside = hand.box.slices(hand.memory.lo)
    for name, values in (("T_faces", np.where(near(bodies[0]) > 0, 1 << 12, 5)), ("owner_T", cuts.owners(bodies[0]))):
        hand.fields[name] = np.zeros(hand.memory.shape[::-1], "u2" if name == "T_faces" else "u1")
        hand.fields[name][inside] = values
    T, *velocity = hand.shifted("T", *VELOCITY)
    if bounded:
        heat = forces.BoundedTransport(HEAT.diffusivity)
        carried = -reference.bounded_tendency(T, velocity, hand.staggered.spacing, CELLS, walls, 0.0)
    else:
        heat = HEAT
        carried = -reference.transport_tendency(T, velocity, hand.staggered.spacing, 0.0)
    conducted = HEAT.diffusivity * (hand.values("warm_T") - hand.values("conductance_T") * T())
    item = np.where(near(bodies[0]) > 0, carried, conducted).astype("f8")
    for number in (1, 2):
        constants = {"grid": hand.staggered.constants, "transport": heat, "number": number}
        hand.run(hand.launch(forces.heat_from_immersed_body, constants))
        expected = hand.staggered.volume * item[cuts.owners(bodies[0]) == number].sum()
        assert hand.scalars["flux"] == pytest.approx(expected, abs=10 * hand.tolerance)


@pytest.mark.parametrize(("corners", "bottom", "top", "west", "east", "expected"), [
    ("", 0, 0, 0, 0, 0), ("low", 0.4, 0, 0.5, 0, 0.1), ("low right", 1, 0, 0.3, 0.5, 0.4),
    ("low left", 0.2, 0.4, 1, 0, 0.3), ("low high", 0.4, 0.5, 0.5, 0.6, 0.25),
    ("right left", 0.4, 0.5, 0.5, 0.6, 0.245), ("right left high", 0.8, 1, 0.5, 1, 0.95),
    ("low right left high", 1, 1, 1, 1, 1),
])  # fmt: skip
def test_covered_share(corners, bottom, top, west, east, expected):
    """Of one face across z: triangles and quadrilaterals."""
    inside, edges = np.zeros((3, 4, 4), bool), [np.zeros((3, 4, 4)) for _ in range(3)]
    for name, (j, i) in {"low": (1, 1), "right": (1, 2), "left": (2, 1), "high": (2, 2)}.items():
        inside[1, j, i] = name in corners.split()
    edges[0][1, 1, 1], edges[0][1, 2, 1], edges[1][1, 1, 1], edges[1][1, 1, 2] = bottom, top, west, east
    face = tuple(np.array([0]) for _ in range(3))
    assert cuts.covered_share(inside, edges, 2, face) == pytest.approx([expected])
