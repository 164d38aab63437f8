"""Grids with cells of different sizes."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
import pytest

from taskflow.flow import CENTRAL, QUICK, Fluid, StaggeredGrid, Transport
from taskflow.flow.operators.projection import correct, divergence
from taskflow.flow.poisson import FFT, ConjugateGradients, Cycle, Multigrid, Operator, Tolerance
from taskflow.flow.poisson.mesh import Mesh, StretchedMesh, mesh
from taskflow.flow.scalars.transport import transport
from taskflow.runtime.machine import Mapper, run_threads
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region
from tests.flow.byhand import DT, RATIO, ByHand, momentum_with
from tests.reference.stretched import Metrics
from tests.validation import sphere_grid

PLAIN, CORE = Mapper("none"), cpu(1)
LENGTHS = (1.1, 0.7, 1.7)


def uneven(n, length, seed=3):
    """Edges of n cells whose widths differ by a factor of 3 at most."""
    widths = np.random.default_rng(seed).uniform(1, 3, n)
    return tuple(np.concatenate([[0.0], np.cumsum(widths * length / widths.sum())]))


def staggered(cells, ends, along="z"):
    """The grid with these ends of each direction, p(eriodic), w(all) or 0 (p = 0), stretched along some."""
    edges = tuple(
        uneven(n, length) if axis in along else None for axis, n, length in zip("xyz", cells, LENGTHS, strict=True)
    )
    return StaggeredGrid(cells, LENGTHS, periodic=tuple(end == "pp" for end in ends), edges=edges)


def laplacian(p, grid, ends):
    """div(grad p), p [z, y, x] being mirrored beyond walls, with a minus beyond faces where it is 0."""
    q, total = p.astype("f8"), np.zeros(p.shape)
    for axis, kinds in enumerate(ends):
        along, result = np.moveaxis(q, 2 - axis, 0), np.moveaxis(total, 2 - axis, 0)
        widths = grid.widths(axis)
        around = np.pad(widths, 1, mode="wrap" if kinds == "pp" else "symmetric")
        beyond = {"p": (along[-1], along[0]), "w": (along[0], along[-1]), "0": (-along[0], -along[-1])}
        padded = np.concatenate([beyond[kinds[0]][0][None], along, beyond[kinds[1]][1][None]])
        slope = np.diff(padded, axis=0) / ((around[1:] + around[:-1]) / 2)[:, None, None]
        result += np.diff(slope, axis=0) / widths[:, None, None]
    return total


def volumes(grid):
    x, y, z = (grid.widths(axis) for axis in range(3))
    return z[:, None, None] * y[None, :, None] * x[None, None, :]


def right_hand_side(grid, ends, dtype="f8"):
    """Noise; its integral is 0 where p is given nowhere."""
    rhs = np.random.default_rng(7).standard_normal(grid.cells[::-1])
    if not any("0" in end for end in ends):
        rhs -= np.average(rhs, weights=volumes(grid))
    return rhs.astype(dtype)


def solved(grid, ends, rhs, blocks=(1, 1, 1), mapper=PLAIN):
    """p by FFT from rhs [z, y, x]."""
    values = ([end[n] == "0" for end in ends] for n in (0, 1))
    return by(FFT(grid.constants, blocks, *(tuple(g) for g in values)), grid, rhs, blocks, mapper)[0]


def by(solver, grid, rhs, blocks=(1, 1, 1), mapper=PLAIN):
    """p from rhs [z, y, x] by a solver, begun with something else, and the scalars that it leaves."""
    fields = {"p": "c", "rhs": "c", **solver.fields}
    space = FieldSpace(Field(name, rhs.dtype.str[1:], location) for name, location in fields.items())
    main = Partition(Region(Box.of(grid.cells), space, grid.periodic, solver.ghost), blocks)
    where, p, numbers = Partition(main.region, main.shape, beside=solver.partitions(main)), np.empty_like(rhs), {}

    def job(shard):
        mine = shard.cells.slices((0, 0, 0))
        shard.write({"rhs": rhs[mine], "p": 1e-3 * rhs[mine]})
        shard.run(solver.prepare)
        shard.run(solver.solve)
        p[mine] = shard.read("p")
        numbers.update(shard.scalars)

    run_threads(where, job, CORE, mapper)
    return p, numbers


def residual(p, grid, ends, rhs):
    """max |rhs - Laplacian(p)| in units of what rounding makes of the terms of which it is the difference."""
    smallest = [grid.widths(axis).min() for axis in range(3)]
    terms = 4 * sum(1 / h**2 for h in smallest) * np.abs(p).max() + np.abs(rhs).max()
    return np.abs(laplacian(p, grid, ends) - rhs).max() / (np.finfo(rhs.dtype).eps * np.log2(rhs.size) * terms)


@pytest.mark.parametrize("dtype", ["f8", pytest.param("f4", marks=pytest.mark.slow)])
@pytest.mark.parametrize("cells", [(7, 6, 11), (34, 3, 4)])
@pytest.mark.parametrize("ends", list(product(("pp", "ww", "w0"), ("pp", "ww"), ("ww", "0w", "00"))), ids=" ".join)
def test_fft_is_direct(ends, cells, dtype):
    grid = staggered(cells, ends)
    rhs = right_hand_side(grid, ends, dtype)
    assert residual(solved(grid, ends, rhs), grid, ends, rhs) < 2


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["f8", pytest.param("f4", marks=pytest.mark.slow)])
@pytest.mark.parametrize("blocks", [(1, 1, 3), (1, 1, 5), (2, 1, 2), (1, 3, 1)])
@pytest.mark.parametrize(
    "ends", [("pp", "pp", "ww"), ("ww", "pp", "w0"), ("pp", "ww", "ww"), ("ww", "ww", "00")], ids=" ".join
)
def test_fft_on_blocks(ends, blocks, dtype):
    grid = staggered((8, 6, 11), ends)
    rhs = right_hand_side(grid, ends, dtype)
    assert residual(solved(grid, ends, rhs, blocks), grid, ends, rhs) < 2


@pytest.mark.slow
def test_the_constant_is_that_of_the_lowest_plane():
    grid = staggered((8, 6, 9), ends := ("pp", "ww", "ww"))
    p = solved(grid, ends, right_hand_side(grid, ends), (1, 1, 2))
    assert abs(p[0].mean()) < 1e-14 * abs(p).max()


@dataclass
class Uneven(ByHand):
    """Fields over a grid that is stretched along some directions."""

    along: str = "xyz"
    shape: Callable[[int, float], tuple[float, ...]] = uneven

    @property
    def staggered(self) -> StaggeredGrid:
        edges = tuple(
            self.shape(n, length) if axis in self.along else None
            for axis, n, length in zip("xyz", self.cells, LENGTHS, strict=True)
        )
        return StaggeredGrid(self.cells, LENGTHS, periodic=tuple(not wall for wall in self.walls), edges=edges)

    @property
    def velocity(self):
        return [self.fields[name].astype("f8") for name in "uvw"]

    def inside(self, q):
        return q[self.box.slices(self.memory.lo)]

    def assert_agrees(self, name, expected):
        """Whether a field is what it should be, in all cells; on walls the velocity was not changed."""
        result = self.inside(self.fields[name])
        assert abs(result - expected).max() <= self.tolerance * abs(expected).max()


WALLED = [(True, True, True), (False, True, False), (False, False, False)]
VELOCITY = ("u", "v", "w")
SIZES = [(7, 5, 6), (1, 4, 3), (4, 1, 2), (33, 3, 2)]
NEW = ("u_new", "v_new", "w_new")
OLD = ("h_u", "h_v", "h_w")


def prepared(cells, walls, real, along="xyz", ghost=1):
    hand = Uneven(cells, walls, real, along=along, ghost=ghost).fill(
        (*VELOCITY, "p", "T", *OLD, *NEW, "h_T", "T_new", "rhs", "nu_t")
    )
    return hand, hand.staggered.constants, Metrics(hand.staggered, ghost)


@pytest.mark.parametrize("real", ["f8", "f4"])
@pytest.mark.parametrize("walls", WALLED)
@pytest.mark.parametrize("cells", SIZES)
@pytest.mark.parametrize("advection", [CENTRAL, QUICK], ids=["central", "quick"])
def test_momentum(advection, cells, walls, real):
    fluid = Fluid(0.03, (0.3, -0.2, 0.1), advection)
    hand, grid, metrics = prepared(cells, walls, real, ghost=advection.ghost)
    tendency = metrics.momentum_quick if advection is QUICK else metrics.momentum
    before = [hand.inside(hand.fields[name]).astype("f8") for name in OLD]
    hand.run(hand.launch(momentum_with(), {"grid": grid, "fluid": fluid}))
    for a, wall in enumerate(walls):
        H = hand.inside(tendency(hand.velocity, a, 0.03) + fluid.force[a])
        new = hand.inside(hand.velocity[a]) + DT * ((1 + RATIO / 2) * H - RATIO / 2 * before[a])
        if wall:
            first = [slice(None)] * 3
            first[2 - a] = slice(0, 1)
            H[tuple(first)], new[tuple(first)] = 0, hand.inside(hand.velocity[a])[tuple(first)]
        hand.assert_agrees(OLD[a], H)
        hand.assert_agrees(NEW[a], new)


@pytest.mark.parametrize("real", ["f8", "f4"])
@pytest.mark.parametrize("walls", WALLED)
@pytest.mark.parametrize("cells", SIZES)
def test_scalars_and_pressure(cells, walls, real):
    hand, grid, metrics = prepared(cells, walls, real)
    before, step = hand.inside(hand.fields["h_T"]).astype("f8"), {"over": hand.box, "dt": "dt", "grid": grid}
    about = {"transport": Transport(0.07, 0.6), "prandtl": None}
    hand.run(transport("T", VELOCITY, None, None, "h_T", "T_new", ratio="ratio", **about, **step))
    H = hand.inside(metrics.transport(hand.fields["T"].astype("f8"), hand.velocity, 0.07) + 0.6)
    hand.assert_agrees("h_T", H)
    hand.assert_agrees("T_new", hand.inside(hand.fields["T"]) + DT * ((1 + RATIO / 2) * H - RATIO / 2 * before))

    hand.run(divergence(VELOCITY, "rhs", **step))
    hand.assert_agrees("rhs", hand.inside(metrics.divergence(hand.velocity)) / DT)

    p = hand.fields["p"].astype("f8")
    expected = [q - DT * metrics.gradient(p, a) for a, q in enumerate(hand.velocity)]
    on_wall = [hand.inside(q).copy() for q in hand.velocity]
    hand.run(correct(VELOCITY, "p", None, **step))
    for a, wall in enumerate(walls):
        corrected, first = hand.inside(expected[a]).copy(), [slice(None)] * 3
        first[2 - a] = slice(0, int(wall))
        corrected[tuple(first)] = on_wall[a][tuple(first)]
        hand.assert_agrees(VELOCITY[a], corrected)


def test_convection_conserves_energy_and_momentum_of_a_velocity_without_divergence():
    hand, grid, metrics = prepared((6, 5, 8), (False, False, True), "f8", along="z")
    for q in hand.velocity:
        for axis in (0, 1):
            rows = np.moveaxis(q, 2 - axis, 0)
            rows[0], rows[-1] = rows[-2], rows[1]
    wrapped = {name: np.pad(q[1:-1, 1:-1, 1:-1], 1, mode="wrap") for name, q in zip("uvw", hand.velocity, strict=True)}
    wrapped["w"][[0, 1, -1]] = 0
    wrapped["w"] = np.ascontiguousarray(wrapped["w"])
    hand.fields |= wrapped
    hand.run(divergence(VELOCITY, "rhs", over=hand.box, dt="dt", grid=grid))
    p = solved(hand.staggered, ("pp", "pp", "ww"), hand.inside(hand.fields["rhs"]))
    hand.fields["p"] = np.pad(np.pad(p, ((0, 0), (1, 1), (1, 1)), mode="wrap"), ((1, 1), (0, 0), (0, 0)), mode="edge")
    hand.run(correct(VELOCITY, "p", None, over=hand.box, dt="dt", grid=grid))
    for name in VELOCITY:
        q = np.pad(hand.inside(hand.fields[name]), ((1, 1), (0, 0), (0, 0)))
        q = np.pad(q, ((0, 0), (1, 1), (1, 1)), mode="wrap")
        if name != "w":  # the fluid slips at the walls
            q[0], q[-1] = q[1], q[-2]
        hand.fields[name] = q
    assert abs(hand.inside(metrics.divergence(hand.velocity))).max() < 1e-12
    hand.run(hand.launch(momentum_with(), {"grid": grid, "fluid": Fluid(0.0)}))
    work = gain = scale = 0.0
    for a, q in enumerate(hand.velocity):
        volume = np.broadcast_to(1.0, q.shape)
        for axis in range(3):
            volume = volume * (metrics.D[axis] if axis == a else metrics.W[axis])
        H = hand.fields[OLD[a]]
        work += hand.inside(volume * q * H).sum()
        scale += hand.inside(volume * abs(q * H)).sum()
        gain += hand.inside(volume * H).sum() if a < 2 else 0.0
    assert abs(work) < 1e-13 * scale
    assert abs(gain) < 1e-13 * scale


def smooth(n, length):
    """Edges that follow a sine: cells differ in width by a factor of 3."""
    xi = np.arange(n + 1) / n
    return tuple(length * (xi - np.sin(2 * np.pi * xi) / (4 * np.pi)))


def tendencies(advection, cells, a, b):
    """By kernel minus exact, of u along a and of T, for u = sin(kx) cos(my) / k, v = -cos(kx) sin(my) / m along b,
    T = cos(kx) + sin(my), with a scheme.
    """
    nu = 0.1
    hand = Uneven(cells, (False,) * 3, along="xyz"[a] + "xyz"[b], shape=smooth, ghost=advection.ghost)
    hand.fill((*VELOCITY, *OLD, *NEW, "T", "h_T", "T_new"))
    grid, (k, m) = hand.staggered, (2 * np.pi / LENGTHS[a], 2 * np.pi / LENGTHS[b])

    def at(location):
        points = grid.points(location, hand.memory)
        x, y = (np.broadcast_to(points[axis], hand.memory.shape[::-1]) for axis in (a, b))
        return np.sin(k * x), np.cos(k * x), np.sin(m * y), np.cos(m * y)

    for axis, name in enumerate(VELOCITY):
        sx, cx, sy, cy = at("f" + "xyz"[axis])
        hand.fields[name] = {a: sx * cy / k, b: -cx * sy / m}.get(axis, 0 * sx)
    sx, cx, sy, cy = at("c")
    hand.fields["T"] = cx + sy
    step = {"over": hand.box, "dt": "dt", "ratio": "ratio", "grid": grid.constants}
    hand.run(hand.launch(momentum_with(), {"grid": grid.constants, "fluid": Fluid(nu, advection=advection)}))
    hand.run(transport("T", VELOCITY, None, None, "h_T", "T_new", transport=Transport(nu), prandtl=None, **step))
    carried = sx**2 * cy + cx * sy * cy - nu * (k**2 * cx + m**2 * sy)
    sx, cx, sy, cy = at("f" + "xyz"[a])
    pushed = -sx * cx / k - nu * (k**2 + m**2) * sx * cy / k
    return [hand.inside(hand.fields[name] - exact) for name, exact in ((OLD[a], pushed), ("h_T", carried))]


@pytest.mark.parametrize("advection", [CENTRAL, QUICK], ids=["central", "quick"])
@pytest.mark.parametrize("axes", [(0, 1), (2, 0)])
def test_momentum_and_scalars_are_of_order_2(axes, advection):
    errors = []
    for n in (16, 32, 64):
        cells = [1, 1, 1]
        cells[axes[0]] = cells[axes[1]] = n
        errors.append([np.sqrt(np.mean(error**2)) for error in tendencies(advection, tuple(cells), *axes)])
    for coarse, fine in pairwise(errors):
        assert min(np.log2(np.divide(coarse, fine))) > 1.9


def even(n, length):
    return tuple(np.linspace(0, length, n + 1))


def toward_walls(n, length):
    """Edges along a hyperbolic tangent: cells differ in width by a factor of 5."""
    return tuple(length * (1 + np.tanh(1.5 * (2 * np.arange(n + 1) / n - 1)) / np.tanh(1.5)) / 2)


def spaced(cells, ends, along, shape):
    edges = (shape(n, length) if axis in along else None for axis, n, length in zip("xyz", cells, LENGTHS, strict=True))
    return StaggeredGrid(cells, LENGTHS, periodic=tuple(end == "pp" for end in ends), edges=tuple(edges))


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [(1, 1, 1), pytest.param((2, 1, 2), marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("cells", "along", "ends", "most"),
    [
        ((16, 12, 16), "z", ("ww", "pp", "ww"), 11),
        ((16, 12, 16), "xz", ("w0", "ww", "ww"), 14),
        ((16, 1, 16), "xz", ("ww", "pp", "ww"), 17),
        ((13, 10, 11), "xyz", ("pp", "ww", "00"), 14),
    ],
)  # fmt: skip
def test_conjugate_gradients_with_multigrid(cells, along, ends, most, blocks):
    grid = spaced(cells, ends, along, toward_walls)
    rhs = right_hand_side(grid, ends)
    faces = [
        f"{'xyz'[a]}_{end}"
        for a, kinds in enumerate(ends)
        for end, kind in zip(("min", "max"), kinds, strict=True)
        if kind == "0"
    ]
    solver = ConjugateGradients(Cycle(Operator(grid.constants, tuple(faces)), gathered=100), Tolerance(1e-8, 30))
    p, numbers = by(solver, grid, rhs, blocks)
    left = laplacian(p, grid, ends) - rhs
    weights = volumes(grid)
    assert np.sqrt((weights * left**2).sum() / (weights * rhs**2).sum()) < 1.1e-8
    assert numbers["rounds"] <= most


def test_levels_of_equal_cells_are_those_of_a_uniform_grid():
    ends = ("ww", "pp", "w0")
    plain, tabled = (spaced((16, 9, 11), ends, along, even) for along in ("", "xyz"))
    rhs = right_hand_side(plain, ends)
    operators = (Operator(grid.constants, ("z_max",)) for grid in (plain, tabled))
    solvers = [Multigrid(Cycle(operator), Tolerance(1e-3, 20)) for operator in operators]
    expected, result = (by(solver, grid, rhs) for solver, grid in zip(solvers, (plain, tabled), strict=True))
    assert result[1]["rounds"] == expected[1]["rounds"]
    assert abs(result[0] - expected[0]).max() < 1e-13 * abs(expected[0]).max()


def test_coarser_levels_fill_the_same_domain():
    level = mesh(spaced((7, 4, 12), ("ww", "pp", "ww"), "xyz", toward_walls).constants)
    while max(level.cells) > 1:
        level = level.coarser
        for axis, length in enumerate(LENGTHS):
            edges = np.array(level.edges[axis].values)
            assert len(edges) == level.cells[axis] + 1
            assert (np.diff(edges) > 0).all()
            np.testing.assert_allclose(edges[[0, -1]], [0, length], atol=1e-15)
            inside = level.share[axis].values[3 : 3 + level.cells[axis]]
            assert sum(inside) == pytest.approx(level.cells[axis], rel=1e-14)


@pytest.mark.parametrize("tables", [False, True])
@pytest.mark.parametrize(
    ("spacing", "halved"),
    [
        ((1, 1, 1), (0, 1, 2)),
        ((1.34, 1, 1.34), (0, 1, 2)),
        ((1.36, 1, 1.34), (1, 2)),
        ((1, 4, 4), (0,)),
        ((3, 2.9, 1), (2,)),
    ],
)
def test_cells_of_one_size_are_coarsened_where_they_are_shortest(spacing, halved, tables):
    cells, walls, closed = (8, 9, 10), (1.0, 1.0, 1.0), (False, False, False)
    edges = [h * np.arange(n + 1) for n, h in zip(cells, spacing, strict=True)]
    plain = Mesh(cells, spacing, walls, walls, closed)
    level = StretchedMesh.between(edges, walls, walls, closed) if tables else plain
    assert level.halved == halved


def test_directions_that_are_stretched_alike_are_coarsened_together():
    """Around a sphere cells are as narrow along x as across, where their mean is 0.7 of that across."""
    edges, walls = [sphere_grid.faces(axis, 24) for axis in "xyz"], (1.0, 1.0, 1.0)
    level = StretchedMesh.between(edges, walls, walls, (False, False, False))
    assert max(level.spacing) > 1.4 * min(level.spacing)
    while min(level.cells) > 2:
        assert level.halved == (0, 1, 2)
        level = level.coarser
