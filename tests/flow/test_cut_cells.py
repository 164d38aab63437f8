"""Cells cut by bodies: their geometry, and kernels at surfaces against NumPy."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from taskflow.flow.bodies.cut_cells import WALL, CutCells
from taskflow.flow.bodies.wall_motion import RigidVelocity, wall_motion
from taskflow.flow.models.artificial_compressibility.bodies import (
    CutBody,
    fill_closed,
    force_on_body,
    largest_on_body,
    largest_span,
    pressure_in_closed,
    span_of_body,
)
from taskflow.flow.models.artificial_compressibility.implicit.derivative import derivative
from taskflow.flow.models.artificial_compressibility.implicit.matrix import COUPLING, HALF, PIVOT, matrix, place
from taskflow.flow.models.artificial_compressibility.stage import residual
from taskflow.runtime.tasks import reduced
from tests.flow.byhand import ByHand, coupled
from tests.flow.charts import LAYERS, distorted, lattice
from tests.flow.test_artificial_compressibility import BEGUN, CELLS, NEW, STATE, geometry, hand, numbers, paced
from tests.flow.test_implicit_derivative import DIRECTION, OUT
from tests.reference import artificial_compressibility as reference
from tests.reference.artificial_compressibility import Discretisation, Surfaces
from tests.reference.implicit_compressibility import first_order

FIELDS = ("aperture", "wall", "fluid")
TUMBLING = RigidVelocity(np.array([0.7, -0.3, 0.2]), np.array([0.4, 1.1, -0.8]), np.array([0.52, 0.47, 0.55]))


def ball(x, y, z):
    return (x - 0.52) ** 2 + (y - 0.47) ** 2 + (z - 0.55) ** 2 < 0.31**2


def tilted(x, y, z):
    return 0.8 * x + 0.6 * y > 0.71


def unit_cells(n: int, inside) -> CutCells:
    """n^3 cells of the unit cube with a layer around."""
    return CutCells.of(np.stack(lattice((n, n, n), 1)), inside)


def obstructed(device, *, uniform: bool) -> tuple[ByHand, Surfaces]:
    """Random fields around a ball that drifts and turns, between sides of all kinds."""
    made = hand("f8", device, uniform=uniform)
    vertices = lattice(CELLS, LAYERS) if uniform else distorted(lattice(CELLS, LAYERS))
    cells = CutCells.of(np.stack(vertices), ball)
    inner = (slice(1, -1), slice(1, -1), slice(None), slice(1, -1))
    wall = np.zeros((*cells.fluid.shape[:2], WALL, cells.fluid.shape[2]))
    wall[inner] = cells.walls()
    wall[inner][:, :, 14:] = np.moveaxis(wall_motion(cells, np.moveaxis(wall[inner], 2, 0), TUMBLING), 0, 2)
    made.fields |= {"aperture": np.ascontiguousarray(cells.open), "wall": wall, "fluid": cells.fluid}
    return made, Surfaces(np.moveaxis(cells.open, 2, 0), np.moveaxis(wall, 2, 0), cells.fluid)


def test_surfaces_close_cells_and_bodies():
    cells = unit_cells(12, ball)
    walls = cells.walls()
    area = walls[:, :, :3]
    assert np.abs(area.sum(axis=(0, 1, 3))).max() < 1e-15
    size = np.sqrt((area**2).sum(axis=2)).sum()
    assert size == pytest.approx(4 * np.pi * 0.31**2, rel=0.01)
    inside = (1 - cells.fluid[1:-1, 1:-1, 1:-1]).sum() / 12**3
    assert inside == pytest.approx(4 / 3 * np.pi * 0.31**3, rel=0.02)


@pytest.mark.parametrize("skewed", [False, True])
def test_moving_surfaces_sweep_nothing_in_total(skewed):
    """By a drift and a turn, in cells with any vertices; in each cell as much as passes its faces."""
    vertices = lattice((12, 12, 12), 1)
    cells = CutCells.of(np.stack(distorted(vertices) if skewed else vertices), ball)
    walls = np.moveaxis(cells.walls(), 2, 0)
    motion = wall_motion(cells, walls, TUMBLING)
    assert np.abs(motion[3]).max() > 1e-4
    assert abs(motion[3].sum()) < 1e-15
    drift = RigidVelocity(TUMBLING.velocity, np.zeros(3), np.zeros(3))
    swept = wall_motion(cells, walls, drift)[3]
    np.testing.assert_allclose(swept, np.tensordot(drift.velocity, walls[:3], 1), atol=1e-16)
    cut = (walls[:3] != 0).any(axis=0)
    x, y, z = (walls[11 + n] - TUMBLING.centre[n] for n in range(3))
    np.testing.assert_allclose(motion[0][cut], (0.7 + 1.1 * z + 0.8 * y)[cut], atol=1e-14)
    np.testing.assert_allclose(motion[2][cut], (0.2 + 0.4 * y - 1.1 * x)[cut], atol=1e-14)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_what_passes_a_face_does_not_depend_on_the_faces_computed_with_it(axis):
    """Each block computes the faces in its memory."""
    vertices = np.stack(distorted(lattice((11, 9, 7), 1)))
    whole = TUMBLING.through(vertices, axis)
    ends = combinations(range(2, 6), 2), combinations(range(0, 9, 2), 2), combinations(range(0, 11, 3), 2)
    for (k, top), (j, back), (i, right) in product(*ends):
        some = np.s_[k : top + 1, j : back + 1, i : right + 1]
        inner = tuple(slice(s.start, s.stop - (axis != 2 - n)) for n, s in enumerate(some))
        np.testing.assert_array_equal(TUMBLING.through(vertices[:, *some], axis), whole[inner])


def test_forces_on_a_moving_body(device):
    """In double precision, as sums over the cells of the body, and its volume by the areas of its surface."""
    made, surfaces = obstructed(device, uniform=True)
    made.fields["owner"] = np.ones(surfaces.fluid.shape, np.uint8)
    body, values, where = CutBody(1, (0.1, 0.2, 0.3)), numbers("third", uniform=True), {"over": made.box}
    made.run(largest_on_body(("p", "u", "v", "w"), "wall", "owner", most="most", numbers=values, body=body, **where))
    made.run(force_on_body(
        ("p", "u", "v", "w"), "wall", "owner", force="force", most="most", numbers=values, body=body, **where
    ))  # fmt: skip
    made.run(largest_span("wall", "owner", most="most", body=body, **where))
    made.run(span_of_body("wall", "owner", span="span", most="most", body=body, **where))
    state, wall = np.stack([made.fields[name] for name in STATE]), reference.at(surfaces.wall)
    pressure, friction = reference.on_surfaces(state, surfaces, Discretisation(0.03, 1.3))
    lever = wall[11:14] - np.reshape(body.point, (3, 1, 1, 1))
    sums = [*pressure, *friction, *np.cross(lever, pressure + friction, axis=0)]
    np.testing.assert_allclose(reduced(made.scalars, "force"), [part.sum() for part in sums], rtol=1e-12)
    np.testing.assert_allclose(reduced(made.scalars, "span"), (lever * wall[:3]).sum(axis=(1, 2, 3)), rtol=1e-12)


def test_the_pressure_in_closed_cells_is_the_mean_of_open_neighbours(device):
    made, _ = obstructed(device, uniform=True)
    made.fill(("filled", "old"), seed=3)
    p, fluid, old = (made.fields[name].copy() for name in ("p", "fluid", "old"))
    fluid[4:7, 4:7, 4:7] = 0.0
    made.fields["fluid"] = fluid
    values = numbers("third", uniform=True)
    made.run(pressure_in_closed("p", "fluid", "filled", over=made.box, numbers=values))
    made.run(fill_closed("p", "old", "filled", "fluid", over=made.box))
    beside = [(step, axis) for axis in range(3) for step in (-1, 1)]
    flows, values = (np.stack([reference.at(q, one) for one in beside]) for q in (fluid > 0, p))
    count = flows.sum(axis=0)
    mean = np.where(count > 0, (flows * values).sum(axis=0) / np.maximum(count, 1), values.mean(axis=0))
    closed = reference.at(fluid) == 0
    assert (closed & (count == 0)).any()
    for name, before in (("p", p), ("old", old)):
        np.testing.assert_allclose(made.values(name), np.where(closed, mean, reference.at(before)), rtol=1e-14)


def test_what_is_linear_is_exact_on_a_plane():
    """Pressure on the surface, and the velocity at a point whose distance is area over `grip`."""
    cells = unit_cells(9, tilted)
    wall = np.moveaxis(cells.walls(), 2, 0)
    x, y, z = (np.mean([q[:-1, :-1, :-1], q[1:, 1:, 1:]], axis=0) for q in cells.vertices)
    outside = np.abs(np.stack([x, y, z]) - 0.5).max(axis=0) < 0.5 - 1 / 9
    p, distance = 1 + 2 * x - 3 * y, 0.71 - 0.8 * x - 0.6 * y
    size = np.sqrt((wall[:3] ** 2).sum(axis=0))
    cut = (size > 0) & outside[1:-1, 1:-1, 1:-1]
    assert cut.sum() > 20

    def away(q, shares):
        result = q[1:-1, 1:-1, 1:-1].copy()
        for axis in range(3):
            ahead, behind = (np.roll(q, step, 2 - axis)[1:-1, 1:-1, 1:-1] for step in (-1, 1))
            beyond = np.where(wall[4 + axis] > 0, ahead, behind)
            result += shares[axis] * (beyond - q[1:-1, 1:-1, 1:-1])
        return result

    middle = wall[11:14]
    on_surface = 1 + 2 * middle[0] - 3 * middle[1]
    slid = away(distance, wall[7] * np.abs(wall[4:7]))
    normal = wall[:3] / np.where(cut, size, 1)
    alone = np.abs(normal - np.reshape([0.8, 0.6, 0], (3, 1, 1, 1))).max(axis=0) < 1e-9  # beside no cell that is closed
    whole = cut & alone & (wall[4:7] != 0).all(axis=0)
    assert whole.sum() > 20
    np.testing.assert_allclose(away(p, wall[8:11])[whole], on_surface[whole], atol=1e-12)
    np.testing.assert_allclose(slid[whole], (size / np.where(wall[3] > 0, wall[3], 1))[whole], atol=1e-12)


@pytest.mark.parametrize("uniform", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_the_residual_at_surfaces(uniform, device):
    made, surfaces = obstructed(device, uniform=uniform)
    made.scalars["rate"] = 3.7
    areas, volumes = geometry(made)
    how = Discretisation(0.03, 1.3, "third", 0.02)
    q = {name: made.fields[name] for name in STATE}
    out = reference.residual(q, made.fields["sides"], areas, volumes, how, surfaces=surfaces)
    where = None if uniform else "metrics", None, None, None, None, FIELDS
    values = numbers("third", uniform=uniform)
    made.run(residual((*STATE, "sides"), NEW, None, None, *where, over=made.box, rate="rate", numbers=values))
    force, fluid = dict(zip("uvw", (0.1, 0.2, -0.3), strict=True)), reference.at(surfaces.fluid)
    for name in STATE:
        change = 3.7 * made.values(name) - force[name] if name in force else 0.0
        made.assert_agrees(f"{name}_new", out[name] / reference.at(volumes) + fluid * change)


@pytest.mark.parametrize("uniform", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_the_derivative_at_surfaces(uniform, device):
    made, surfaces = obstructed(device, uniform=uniform)
    made.fill((*DIRECTION, *OUT), seed=11)
    made.scalars["rate"], eps = 0.7, 1e-5
    areas, volumes = geometry(made)
    how, values = Discretisation(0.03, 1.3, "third", 0.02), numbers("third", uniform=uniform)
    out = {}
    for sign in (1, -1):
        q = {n: made.fields[n] + sign * eps * made.fields[f"{n}_d"] for n in STATE}
        out[sign] = reference.residual(q, made.fields["sides"], areas, volumes, how, surfaces=surfaces)
    grid = None if uniform else "metrics", None, None, None
    velocity, b = np.stack([made.fields[n] for n in "uvw"]), np.full_like(volumes, 1.3)
    pace = 0.3 / reference.step_per_volume(velocity, areas, volumes, b, 0.03, how)
    pseudo = paced(made, *grid, numbers=values)
    made.run(derivative(
        (*STATE, "sides"), DIRECTION, OUT, None, pseudo, *grid, FIELDS, over=made.box, rate="rate", numbers=values
    ))  # fmt: skip
    for name in STATE:
        expected = (out[1][name] - out[-1][name]) / (2 * eps)
        change = 0.0 if name == "p" else 0.7 * reference.at(volumes * surfaces.fluid)
        expected += (pace / (1.3 if name == "p" else 1.0) + change) * made.values(f"{name}_d")
        assert np.abs(made.values(f"{name}_out") - expected).max() < 1e-8 * np.abs(expected).max(), name


@pytest.mark.parametrize("uniform", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_the_matrix_at_surfaces(uniform, device):
    """Applied to random vectors: differences of the residual of first order."""
    made, surfaces = obstructed(device, uniform=uniform)
    made.fields["sides"][...] = 0
    shape = made.memory.shape[::-1]
    for name, values in (*((name, HALF) for name in COUPLING), ("pivot", PIVOT)):
        made.fields[name] = np.zeros((*shape[:2], values, shape[2]))
    inputs, grid = numbers("third", uniform=uniform), (None if uniform else "metrics", None, None, None)
    flow, of = (*STATE, "sides", paced(made, *grid, numbers=inputs)), (*COUPLING, "pivot")
    made.run(matrix(flow, of, None, None, None, *grid, FIELDS, over=made.box, rate=None, numbers=inputs))
    areas, volumes = geometry(made)
    how, eps = Discretisation(0.03, 1.3), 1e-6
    q, d = (np.stack([made.fields[n] for n in names]) for names in (STATE, BEGUN))
    sides, b = made.fields["sides"], np.full_like(volumes, 1.3)
    one, other = (first_order(q + s * eps * d, q, sides, areas, volumes, how, surfaces=surfaces) for s in (1, -1))
    pace = 0.3 / reference.step_per_volume(q[1:], areas, volumes, b, 0.03, how)
    expected = (one - other) / (2 * eps) + pace * reference.at(d) / np.array([1.3, 1, 1, 1])[:, None, None, None]
    inner = tuple(slice(LAYERS, -LAYERS) for _ in range(3))

    def blocks(values):
        return np.moveaxis(values[inner[0], inner[1], :, inner[2]], 2, 0)

    own = blocks(made.fields["pivot"])
    total = np.einsum("rc...,c...->r...", own.reshape(4, 4, *own.shape[1:]), reference.at(d))
    for side in range(6):
        name, first = place(side)
        beyond = reference.at(d, (1 if side % 2 else -1, side // 2))
        total += np.einsum(
            "rc...,c...->r...", coupled(blocks(made.fields[name])[first : first + PIVOT], made.device), beyond
        )
    assert np.abs(total - expected).max() < 1e-7 * np.abs(expected).max()


def test_closed_cells_are_coupled_to_nothing(device):
    _, surfaces = obstructed(device, uniform=True)
    shut = np.argwhere(reference.at(surfaces.fluid) == 0)
    assert len(shut)
    for (k, j, i), axis, high in product(shut + LAYERS, range(3), (0, 1)):
        step = [0, 0, 0]
        step[2 - axis] = high
        assert surfaces.open[axis][k + step[0], j + step[1], i + step[2]] == 0
