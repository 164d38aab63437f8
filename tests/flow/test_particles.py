"""Particles: the kernels against the reference, the order of the reference on exact flows, what sampling finds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taskflow.flow import StaggeredGrid
from taskflow.flow.bodies.flags import solid_bits
from taskflow.flow.boundaries.outflow import ConvectiveOutflow
from taskflow.flow.boundaries.wall import Wall
from taskflow.flow.measures.particles import (
    Carrying,
    Extent,
    Inertia,
    ParticleFields,
    Sampling,
    carry,
    carry_between,
    sample,
)
from taskflow.flow.model import VELOCITY
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.machine.kernel.kernel import cuda_text
from taskflow.runtime.machine.threads import run_threads
from taskflow.runtime.machine.trace.mapper import Mapper
from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region
from tests.nvrtc import messages
from tests.reference.particles import Direction, carried, linear
from tests.runtime.machine.devices import one_gpu

CELLS = (7, 4, 6)
UNEVEN = (0.3, 0.5, 0.6, 0.9, 1.0, 1.2, 1.5, 2.0)
COUNT = 300
HEAVY = Inertia(0.15, (0.1, 0.0, -0.3))
WALLS = {f"{axis}_{end}": Wall() for axis in "xyz" for end in ("min", "max")}


def grid(periodic=(True, False, False), edges=None) -> StaggeredGrid:
    return StaggeredGrid(CELLS, (1.7, 0.7, 1.3), (0.3, -0.2, 0.1), periodic, (edges, None, None))


def directions(staggered: StaggeredGrid) -> list[Direction]:
    """The grid as the reference has it; to the bit as kernels, which know of three faces beyond the ends."""
    faces = [staggered.coordinates("corner", axis, -3, n + 4)[2:-2] for axis, n in enumerate(staggered.cells)]
    even = (h if uniform else None for h, uniform in zip(staggered.spacing, staggered.uniform, strict=True))
    return [Direction(*item) for item in zip(faces, even, staggered.periodic, strict=True)]


def velocities(staggered: StaggeredGrid, dtype: str) -> list[np.ndarray]:
    """Random ones with a ghost layer, repeated where the grid is periodic."""
    random, ways = np.random.default_rng(1), staggered.periodic[::-1]
    shape = [n + (0 if way else 2) for n, way in zip(CELLS[::-1], ways, strict=True)]
    inner = [random.uniform(-1, 1, shape) for _ in "uvw"]
    return [np.pad(q, [(int(way),) * 2 for way in ways], mode="wrap").astype(dtype) for q in inner]


def random_places(staggered: StaggeredGrid, count: int = COUNT) -> np.ndarray:
    low, high = (np.array([staggered.faces(axis)[end] for axis in range(3)]) for end in (0, -1))
    return np.random.default_rng(2).uniform(low, high, (count, 3))


def by_kernel(staggered, velocity, states, steps, device, boundaries=WALLS, inertia=None, solid=None):
    """The states after some steps (dt, ratio), u sampled there at last, and numbers, in one block."""
    places = states[0]
    flags = () if solid is None else (Field("solid", "u1"),)
    space = FieldSpace((*(Field(name, velocity[0].dtype.str[1:], at) for name, at in VELOCITY.items()), *flags))
    sides = {face: side for face, side in boundaries.items() if not staggered.periodic["xyz".index(face[0])]}
    flow = Partition(Region(Box.of(CELLS), space, staggered.periodic), (1, 1, 1))
    fields = ParticleFields("dye", len(places), flow, {"u": "fx"}, inertia)
    extent = Extent.of(staggered, sides)
    carrying, sampling = Carrying((fields,), extent, lambda _: (), solid is not None), Sampling(fields, extent)

    def job(shard):
        whole = Box.of(CELLS).grow(1)
        own = shard.partition.own_of(0)[0]
        shard.write({name: q[own.slices(whole.lo)] for name, q in zip("uvw", velocity, strict=True)}, own)
        if solid is not None:
            shard.write({"solid": solid_bits(solid)})
        slots = shard.read(fields.number)
        for role, values in zip(fields.vectors, states, strict=True):
            padded = np.zeros((slots.size, 3))
            padded[: len(places)] = values
            shard.write({role: padded.reshape(slots.shape[1], -1, 3).swapaxes(1, 2)[None]})
        shard.write({fields.number: (np.arange(slots.size) < len(places)).astype(float).reshape(slots.shape)})
        for dt, ratio in steps:
            shard.run(carrying, **carrying.scalars(dt, ratio))
        shard.run(sampling)
        read = (shard.read(role)[0] for role in fields.vectors)
        rows = [values.swapaxes(1, 2).reshape(-1, 3)[: len(places)] for values in read]
        return (*rows, *(shard.read(role).ravel()[: len(places)] for role in (*fields.values, fields.number)))

    return run_threads(replace(flow, beside=(fields.partition,)), job, device, Mapper("none"))[0]


@pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
@pytest.mark.parametrize(("periodic", "edges", "dtype"), [
    ((True, False, False), None, "f4"), ((False, True, True), UNEVEN, "f8"), ((True, False, True), UNEVEN, "f4"),
])  # fmt: skip
def test_kernels_have_the_bits_of_the_reference(periodic, edges, dtype, device):
    staggered = grid(periodic, edges)
    velocity, places = velocities(staggered, dtype), random_places(staggered)
    before = np.random.default_rng(3).uniform(-1, 1, places.shape)
    before[::7] = np.nan
    steps = [(0.11, 0.8), (0.07, 0.07 / 0.11), (0.4, 4.0)]
    here = one_gpu() if device == "gpu" else cpu(2)
    result, last, sampled, numbers = by_kernel(staggered, velocity, (places, before), steps, here)
    exact = [q.astype("f8") for q in velocity]
    for dt, ratio in steps:
        places, before = carried(directions(staggered), exact, places, before, dt, ratio)
    np.testing.assert_array_equal(result, places)
    np.testing.assert_array_equal(last, before)
    np.testing.assert_array_equal(sampled, linear(directions(staggered), exact[0], 0, places))
    assert (numbers == 1).all()


@pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
@pytest.mark.parametrize(("periodic", "edges"), [
    ((True, False, True), UNEVEN), pytest.param((True, False, False), None, marks=pytest.mark.slow),
])  # fmt: skip
def test_bodies_are_in_the_way(periodic, edges, device):
    """As the reference has it: at their faces, edges and corners, and no particle gets into a cell of theirs."""
    staggered = grid(periodic, edges)
    inside = np.random.default_rng(5).random(CELLS[::-1]) < 0.3
    solid = np.pad(inside, [(1, 1)] * 3)
    for axis, around in enumerate(periodic[::-1]):
        if around:
            rows = np.moveaxis(solid, axis, 0)
            rows[0], rows[-1] = rows[-2], rows[1]
    velocity, places = velocities(staggered, "f8"), random_places(staggered)
    extent = Extent.of(staggered, {})

    def free(at):
        return ~inside[tuple(extent.numbers(at).T[::-1])]

    places = places[free(places)]
    before = np.full(places.shape, np.nan)
    steps = [(0.11, 0.0), (0.07, 0.07 / 0.11), (0.3, 3.0), *[(0.2, 1.0)] * 20]
    here = one_gpu() if device == "gpu" else cpu(2)
    result, last, *_ = by_kernel(staggered, velocity, (places, before), steps, here, solid=solid)
    straight = places
    for dt, ratio in steps:
        places, before = carried(directions(staggered), velocity, places, before, dt, ratio, solid)
        assert free(places).all()
    for dt, ratio in steps[:1]:
        straight, _ = carried(directions(staggered), velocity, straight, np.full(places.shape, np.nan), dt, ratio)
    assert not free(straight).all()  # without the rule some would be inside
    np.testing.assert_array_equal(result, places)
    np.testing.assert_array_equal(last, before)


@pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_beside_a_face_the_flags_are_those_of_the_cell(device):
    """Along x a particle comes within rounding of a face on either side, then goes along y: free or not, as its cell
    is, and not the one beyond the face. Ways to the other side end there.
    """
    staggered, near = grid((True, True, True)), 1e-10
    width, height, _ = staggered.spacing
    face, row, z = staggered.faces(0)[3], staggered.faces(1)[1], staggered.faces(2)[2]
    solid = np.zeros([n + 2 for n in CELLS[::-1]], bool)
    solid[:, 3, 4] = True  # cells (3, 2) of all layers
    velocity = [np.full(solid.shape, value) for value in (0.1 * width, 0.9 * height, 0.0)]
    ends = np.array([-near, near, -near, 0.2])
    starts = np.stack([face + (ends - 0.1) * width, np.full(4, row + 0.5 * height), np.full(4, z)], axis=1)
    starts[2, 0] = face - 2 * near * width  # from below past the face
    ends[2] = 0.1
    states, steps = (starts, np.full(starts.shape, np.nan)), [(1.0, 0.0)]
    places, *_ = by_kernel(staggered, velocity, states, steps, one_gpu() if device == "gpu" else cpu(2), solid=solid)
    expected, _ = carried(directions(staggered), velocity, *states, 1.0, 0.0, solid)
    np.testing.assert_array_equal(places, expected)
    np.testing.assert_allclose((places[:, 0] - face) / width, ends, atol=2e-9)
    assert (np.sign(places[:, 0] - face) == np.sign(ends)).all()
    np.testing.assert_allclose((places[:, 1] - row) / height, [1.4, 0.6, 0.6, 0.6], atol=1e-8)


def test_particles_end_beyond_open_sides_and_where_the_flow_is_no_number():
    staggered = grid((False, True, True))
    velocity = [np.full([n + 2 for n in CELLS[::-1]], speed) for speed in (0.4, 0.0, 0.0)]
    velocity[2][:, 0] = velocity[2][:, 1] = np.nan
    places = np.array([[1.9, 0.2, 0.5], [1.4, 0.2, 0.5], [0.5, -0.19, 0.5]])
    sides = {"x_min": Wall(), "x_max": ConvectiveOutflow()}
    states = places, np.full((3, 3), np.nan)
    result, _, sampled, numbers = by_kernel(staggered, velocity, states, [(0.5, 0.0)], cpu(1), sides)
    np.testing.assert_array_equal(result, [[np.nan] * 3, [1.4 + 0.5 * 0.4, 0.2, 0.5], [np.nan] * 3])
    assert numbers.tolist() == [0, 1, 0]
    np.testing.assert_allclose(sampled, [np.nan, 0.4, np.nan], rtol=1e-15)


def test_walls_mirror_and_periods_go_round():
    around, between, _ = directions(grid((True, False, False)))
    shut = False, False
    np.testing.assert_allclose(around.contained(np.array([0.2, 2.0, 2.1, 1.0]), shut), [1.9, 0.3, 0.4, 1.0])
    np.testing.assert_allclose(around.contained(np.array([5.5, -5.0]), shut), [0.4, 1.8])  # some times round
    np.testing.assert_allclose(between.contained(np.array([-0.3, 0.6, 9.0]), shut), [-0.1, 0.4, -0.2])
    assert (around.contained(np.array([np.nextafter(0.3, 0)]), shut) < 2.0).all()


@pytest.mark.parametrize("edges", [None, UNEVEN])
def test_the_host_and_the_kernels_find_a_place_in_the_same_cell(edges):
    """Whoever is handed over is taken by one block, and by that whose cells the kernel means."""
    staggered = grid((True, True, True), edges)
    extent = Extent.of(staggered, {})
    places = np.concatenate([random_places(staggered), np.stack([staggered.faces(0)[:-1]] * 3, axis=1)])
    expected = np.stack([axis.inside(places[:, n])[0] for n, axis in enumerate(directions(staggered))], axis=1)
    np.testing.assert_array_equal(extent.numbers(places), expected)


def steady(n: int, flow) -> tuple[list[Direction], list[np.ndarray]]:
    """A steady flow u, v of x and y in a periodic square of 2 pi, on n x n cells, with ghost layers."""
    staggered = StaggeredGrid((n, n, 1), (2 * np.pi, 2 * np.pi, 1.0), periodic=(True, True, True))
    around = Box.of((n, n, 1)).grow(1)
    fields = []
    for axis, at in enumerate(("fx", "fy", "fz")):
        x, y, z = staggered.points(at, around)
        fields.append(np.broadcast_to(flow(x, y)[axis], np.broadcast_shapes(x.shape, y.shape, z.shape)))
    return directions(staggered), fields


def followed(axes, velocity, places, end: float, steps: int) -> np.ndarray:
    before = np.full_like(places, np.nan)
    for step in range(steps):
        places, before = carried(axes, velocity, places, before, end / steps, float(step > 0))
    return places


def test_a_rotating_body_is_followed_in_second_order_of_time():
    """A turn leads back but for 5/12 dt^2 of the way, by which Adams-Bashforth is late; linear velocities are exact."""
    axes, velocity = steady(8, lambda x, y: (np.pi - y, x - np.pi, 0.0))
    start, way = np.array([[np.pi + 1.2, np.pi, 0.5]]), 2 * np.pi * 1.2
    for steps in (60, 120):
        late = np.linalg.norm(followed(axes, velocity, start, 2 * np.pi, steps) - start)
        assert late == pytest.approx(5 / 12 * (2 * np.pi / steps) ** 2 * way, rel=0.05)


def test_orbits_of_vortices_are_closed_in_second_order():
    """The stream function sin x sin y stays what it was, for steps and cells that are halved together."""
    start = np.array([[1.0, 1.3, 0.5], [2.2, 0.6, 0.5], [4.2, 1.0, 0.5]])
    errors = []
    for n in (16, 32, 64):
        axes, velocity = steady(n, lambda x, y: (np.sin(x) * np.cos(y), -np.cos(x) * np.sin(y), 0.0))
        x, y, _ = followed(axes, velocity, start, 8.0, 2 * n).T
        errors.append(np.abs(np.sin(x) * np.sin(y) - np.sin(start[:, 0]) * np.sin(start[:, 1])).max())
    assert errors[-1] < 2e-3
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.3)
    assert np.log2(errors[1] / errors[2]) == pytest.approx(2.0, abs=0.2)


@pytest.mark.parametrize("precision", [pytest.param("f4", marks=pytest.mark.slow), "f8"])
def test_kernels_compile_for_gpus(precision):
    staggered = grid()
    sides = {face: side for face, side in WALLS.items() if face[0] != "x"}
    flow = Partition(Region(Box.of(CELLS), FieldSpace([Field("u")]), staggered.periodic), (1, 1, 2))
    numbers = {"over": Box.of((8, 1, 2)), "now": "now", "then": "then", "extent": Extent.of(staggered, sides)}
    between = {**numbers, "leaving": "leaving", "blocks": ParticleFields("dye", 8, flow, {}).cut}
    tasks = [sample("x", "n", "value", "q", over=numbers["over"], extent=numbers["extent"], across=-1).task]
    for own, heavy in ((None, {"gain": None, "inertia": None}), ("own", {"gain": "gain", "inertia": HEAVY})):
        for solid in (None, "solid"):
            fields = (("x", "before"), "n", own, tuple("uvw"), solid)
            tasks += carry(*fields, **numbers, **heavy).task, carry_between(*fields, **between, **heavy).task
    for task in tasks:
        free = (name for name, item in task.fields.items() if item.foreign and item.precision == "any")
        foreign = {name: "f4" for name in free if precision == "f4"}
        assert messages(cuda_text(task.precise(foreign), np.dtype("f8"))) == "", task.name
