"""Jacobi to a tolerance: the discrete solution, on any blocks, and an error where it is not reached."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.bench.cost import operations
from taskflow.flow import StaggeredGrid
from taskflow.flow.bodies.flags import solid_bits
from taskflow.flow.poisson import (
    ConvergedJacobi,
    Jacobi,
    NotConverged,
    Operator,
    Tolerance,
    blocking_pays,
    relative_residual,
)
from taskflow.flow.poisson.relaxation import jacobi, jacobi_twice
from taskflow.runtime.machine import run_threads
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region
from taskflow.runtime.tasks import OwnedScalars, owned
from tests.reference import Shifted, laplacian_with_walls
from tests.runtime.machine.devices import DEVICES, opened

CELLS, LENGTHS = (12, 7, 10), (1.1, 0.8, 1.3)
WALLS = [(True, True, True), (False, False, False), (True, False, True)]
EVEN = (12, 8, 10)


def grid_of(cells, walls):
    x, y, z = (not wall for wall in walls)
    return StaggeredGrid(cells, LENGTHS, periodic=(x, y, z))


def solvable(cells):
    """Random numbers whose sum is 0 up to rounding, as that of a divergence."""
    rhs = np.random.default_rng(3).standard_normal(cells[::-1])
    return rhs - rhs.mean()


def solved(solver, grid, rhs, blocks=(1, 1, 1), real="f8", guess=0.0, solves=1, device=None, flags=None):
    """p, and what each block says of the last solve."""
    fields = [Field(name, real) for name in ("p", "rhs", *solver.fields)] + [Field(name, "u1") for name in flags or ()]
    region = Region(grid.box, FieldSpace(fields), grid.periodic, solver.ghost)
    partition, p = Partition(region, blocks), np.empty(grid.cells[::-1])

    def job(shard):
        mine = partition.blocks[shard.block]
        shard.write({"rhs": rhs[mine.slices((0, 0, 0))], "p": np.full(mine.shape[::-1], guess)})
        shard.write({name: values[mine.slices((0, 0, 0))] for name, values in (flags or {}).items()})
        for _ in range(solves):
            shard.run(solver.solve)
        p[mine.slices((0, 0, 0))] = shard.read("p")
        return solver.taken(shard.scalars), dict(shard.scalars)

    result = run_threads(partition, job, device or cpu(1))
    assert all(item == result[0] for item in result)
    return p, *result[0]


def residual(p, rhs, grid):
    """Relative, in the 2-norm, by the reference operator in double precision."""
    padded = np.pad(p.astype("f8"), 1, mode="wrap")
    walls = [not periodic for periodic in grid.periodic]
    laplacian = laplacian_with_walls(Shifted(padded, grid.box, (-1, -1, -1)), grid.spacing, grid.cells, walls)
    return np.linalg.norm(rhs - laplacian) / np.linalg.norm(rhs)


def test_two_solvers_in_one_program_have_scalars_of_their_own():
    """The second starts from what the first has found: together they do what the second does alone."""
    grid, rhs = grid_of(CELLS, WALLS[2]), solvable(CELLS)
    rough, fine = (ConvergedJacobi(Operator(grid.constants), Tolerance(relative, 4000)) for relative in (1e-3, 1e-6))

    class Both(ConvergedJacobi):
        def solve(self, f):
            yield from owned("rough", rough.solve)(f)
            yield from owned("fine", fine.solve)(f)

        def taken(self, scalars):
            return [item.taken(OwnedScalars(name, scalars)) for name, item in (("rough", rough), ("fine", fine))]

    p, taken, scalars = solved(Both(Operator(grid.constants), Tolerance(1.0, 1)), grid, rhs)
    alone, total, _ = solved(fine, grid, rhs)
    np.testing.assert_array_equal(p, alone)
    assert sum(taken) == total
    assert min(taken) > 0
    assert "residual" not in scalars
    residuals = [relative_residual(OwnedScalars(name, scalars)) for name in ("rough", "fine")]
    assert residuals[1] <= 1e-6 < residuals[0] <= 1e-3


@pytest.mark.parametrize("walls", WALLS, ids=str)
@pytest.mark.parametrize("cells", [CELLS, EVEN], ids=str)
def test_the_residual_is_as_small_as_asked_for_and_no_round_is_done_in_vain(cells, walls):
    grid, rhs = grid_of(cells, walls), solvable(cells)
    solver = ConvergedJacobi(Operator(grid.constants), Tolerance(1e-8, 4000))
    p, taken, scalars = solved(solver, grid, rhs)
    assert relative_residual(scalars) == pytest.approx(residual(p, rhs, grid), rel=1e-6)
    assert relative_residual(scalars) <= 1e-8
    assert taken % solver.sweeps == 0
    few = ConvergedJacobi(Operator(grid.constants), Tolerance(1e-8, taken - solver.sweeps))
    with pytest.raises(NotConverged):
        solved(few, grid, rhs)


@pytest.mark.parametrize("walls", WALLS, ids=str)
def test_the_discrete_solution_up_to_a_constant(walls):
    """Manufactured: any field is the solution to its own Laplacian."""
    grid = grid_of(EVEN, walls)
    exact = solvable(EVEN)
    padded = np.pad(exact, 1, mode="wrap")
    rhs = laplacian_with_walls(Shifted(padded, grid.box, (-1, -1, -1)), grid.spacing, EVEN, walls)
    p, _, _ = solved(ConvergedJacobi(Operator(grid.constants), Tolerance(1e-12, 8000)), grid, rhs, guess=5.0)
    np.testing.assert_allclose(p - p.mean(), exact, rtol=0, atol=1e-9)
    assert abs(p.mean() - 5.0) < 1e-9, "a guess keeps its mean: nothing drifts"


@pytest.mark.parametrize("blocks", [(1, 1, 2), (2, 1, 2), (3, 2, 1)], ids=str)
def test_blocks_agree_and_change_no_bit(blocks):
    grid, rhs = grid_of(CELLS, WALLS[2]), solvable(CELLS)
    solver = ConvergedJacobi(Operator(grid.constants), Tolerance(1e-6, 2000))
    one, taken, _ = solved(solver, grid, rhs)
    many, others, _ = solved(solver, grid, rhs, blocks)
    assert taken == others
    np.testing.assert_array_equal(one, many)


def test_single_precision():
    grid, rhs = grid_of(CELLS, WALLS[0]), solvable(CELLS).astype("f4")
    p, _, _ = solved(ConvergedJacobi(Operator(grid.constants), Tolerance(1e-5, 4000)), grid, rhs, real="f4")
    assert residual(p, rhs, grid) < 2e-5


def test_a_solution_is_a_good_guess():
    grid, rhs = grid_of(CELLS, WALLS[0]), solvable(CELLS)
    solver = ConvergedJacobi(Operator(grid.constants), Tolerance(1e-6, 4000))
    assert solved(solver, grid, rhs)[1] > 5 * solver.sweeps
    assert solved(solver, grid, rhs, solves=2)[1] == solver.sweeps


def test_nothing_to_solve_is_solved():
    grid = grid_of(CELLS, WALLS[0])
    solver = ConvergedJacobi(Operator(grid.constants), Tolerance(1e-6, 64))
    p, taken, scalars = solved(solver, grid, np.zeros(CELLS[::-1]))
    assert not p.any()
    assert (taken, relative_residual(scalars)) == (16, 0.0)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_no_number_is_not_iterated_for(value):
    grid, rhs = grid_of(CELLS, WALLS[0]), solvable(CELLS)
    rhs[3, 4, 5] = value
    _, taken, scalars = solved(ConvergedJacobi(Operator(grid.constants), Tolerance(1e-6, 640)), grid, rhs)
    assert taken == 16
    assert np.isnan(relative_residual(scalars))


@pytest.mark.parametrize(("most", "taken"), [(2, 2), (3, 2), (17, 16), (640, 640)])
def test_what_does_not_converge_is_an_error_with_its_history(most, taken):
    grid, rhs = grid_of(CELLS, WALLS[0]), solvable(CELLS)
    solver = ConvergedJacobi(Operator(grid.constants), Tolerance(1e-13, most))
    with pytest.raises(NotConverged) as caught:
        solved(solver, grid, rhs, (1, 1, 2))
    head, _, history = str(caught.value).partition("; it was ")
    assert head == f"the pressure did not converge: {taken} iterations did not reduce the relative residual to 1e-13"
    told = [(float(value), int(n)) for value, n in (entry.split(" after ") for entry in history.split(", "))]
    assert 1 <= len(told) <= 12
    assert told[-1][1] == taken
    p = solved(Jacobi(Operator(grid.constants), solver.sweeps), grid, rhs, solves=taken // solver.sweeps)[0]
    assert told[-1][0] == pytest.approx(residual(p, rhs, grid), rel=0.05)


@pytest.fixture(params=DEVICES)
def device(request):
    return opened(request.param, 1)


@pytest.mark.parametrize("sweeps", [1, 2, 5, 8])
@pytest.mark.parametrize("walls", WALLS, ids=str)
def test_two_sweeps_in_one_pass_change_no_bit_of_a_solve(walls, sweeps, device):
    grid, rhs = grid_of(CELLS, walls), solvable(CELLS)
    single, blocked = Jacobi(Operator(grid.constants), sweeps), Jacobi(Operator(grid.constants), sweeps, blocked=True)
    one_by_one = solved(single, grid, rhs, guess=0.3, solves=3)[0]
    for blocks in ((1, 1, 1), (2, 1, 2), (1, 2, 2)):
        in_pairs = solved(blocked, grid, rhs, blocks, guess=0.3, solves=3, device=device)[0]
        np.testing.assert_array_equal(in_pairs, one_by_one)


NEAR = [Box((4, 2, 3), (9, 6, 8)), Box((0, 0, 0), (4, 7, 4)), Box((8, 3, 6), (12, 7, 10)), Box.of(CELLS)]


@pytest.mark.slow
@pytest.mark.parametrize("near", NEAR, ids=str)
@pytest.mark.parametrize("walls", WALLS, ids=str)
def test_two_sweeps_in_one_pass_change_no_bit_beside_bodies(walls, near, device):
    """Wherever the bodies are: also where ghost cells alone show some, of the next block or of the other end."""
    grid, rhs = grid_of(CELLS, walls), solvable(CELLS)
    solid = np.zeros([n + 2 for n in CELLS[::-1]], bool)
    solid[near.grow(-1).slices((-1, -1, -1))] = True
    solid[5, 4, 6] = near == NEAR[-1]
    wrapped = [(0, 0) if wall else (1, 1) for wall in walls[::-1]]
    inner = np.pad(solid[1:-1, 1:-1, 1:-1], wrapped, mode="wrap")
    flags = {"solid": solid_bits(np.pad(inner, [(1, 1) if wall else (0, 0) for wall in walls[::-1]]))}
    assert flags["solid"].any()
    single, blocked = (Jacobi(Operator(grid.constants, near=near), 5, twice) for twice in (False, True))
    one_by_one = solved(single, grid, rhs, guess=0.3, solves=2, flags=flags)[0]
    for blocks in ((1, 1, 1), (2, 1, 2)):
        in_pairs = solved(blocked, grid, rhs, blocks, guess=0.3, solves=2, device=device, flags=flags)[0]
        np.testing.assert_array_equal(in_pairs, one_by_one)
    assert abs(one_by_one - solved(Jacobi(Operator(grid.constants), 5), grid, rhs, guess=0.3, solves=2)[0]).max() > 1e-3


@pytest.mark.parametrize("most", [4000, 3998, 14])
def test_two_sweeps_in_one_pass_to_a_tolerance(most):
    """Also where the rounds have a number of sweeps that is not made of an even number of passes."""
    grid, rhs = grid_of(CELLS, (True, False, True)), solvable(CELLS)
    relative = 1e-6 if most > 14 else 0.9
    tolerance = Tolerance(relative, most)
    expected, result = (
        solved(ConvergedJacobi(Operator(grid.constants), tolerance, blocked), grid, rhs) for blocked in (False, True)
    )
    np.testing.assert_array_equal(result[0], expected[0])
    assert result[1] == expected[1]


def test_operations_of_two_sweeps_in_one_pass_are_those_of_two():
    cells = Box.of((64, 64, 64))
    region = Region(cells, FieldSpace(Field(name) for name in ("p", "rhs", "p_new")), ghost=2)
    where, grid = Partition(region, (1, 1, 1)), grid_of((64, 64, 64), (True, True, True)).constants
    count = {
        jacobi: operations(jacobi("p", "rhs", None, "p_new", over=cells, grid=grid), where),
        jacobi_twice: operations(jacobi_twice("p", "rhs", None, "p_new", over=cells, grid=grid, near=None), where),
    }
    assert count[jacobi_twice] == 2 * count[jacobi]


@pytest.mark.parametrize(
    ("block", "pays"),
    [((1024, 64, 1024), True), ((512, 512, 512), True), ((512, 512, 4), False), ((64, 512, 512), False)],
)
def test_where_two_sweeps_in_one_pass_pay(block, pays):
    assert blocking_pays(block) is pays
