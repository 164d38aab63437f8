"""Jacobi to a tolerance: the discrete solution, on any blocks, and an error where it is not reached."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.flow import StaggeredGrid
from taskflow.flow.poisson import ConvergedJacobi, Jacobi, NotConverged, Tolerance, relative_residual
from taskflow.machine import run_threads
from taskflow.machine.device import cpu
from taskflow.regions import Field, FieldSpace, Partition, Region
from tests.reference import Shifted, laplacian_with_walls

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


def solved(solver, grid, rhs, blocks=(1, 1, 1), real="f8", guess=0.0, solves=1):
    """p, and what each block says of the last solve."""
    names = ("p", "rhs", *solver.fields)
    region = Region(grid.box, FieldSpace(Field(name, real) for name in names), grid.periodic)
    partition, p = Partition(region, blocks), np.empty(grid.cells[::-1])

    def job(shard):
        mine = partition.blocks[shard.block]
        shard.write({"rhs": rhs[mine.slices((0, 0, 0))], "p": np.full(mine.shape[::-1], guess)})
        for _ in range(solves):
            shard.run(solver.solve)
        p[mine.slices((0, 0, 0))] = shard.read("p")
        return solver.taken(shard.scalars), dict(shard.scalars)

    found = run_threads(partition, job, cpu(1))
    assert all(each == found[0] for each in found)
    return p, *found[0]


def residual(p, rhs, grid):
    """Relative, in the 2-norm, by the reference operator in double precision."""
    padded = np.pad(p.astype("f8"), 1, mode="wrap")
    walls = [not periodic for periodic in grid.periodic]
    laplacian = laplacian_with_walls(Shifted(padded, grid.box, (-1, -1, -1)), grid.spacing, grid.cells, walls)
    return np.linalg.norm(rhs - laplacian) / np.linalg.norm(rhs)


@pytest.mark.parametrize("walls", WALLS, ids=str)
@pytest.mark.parametrize("cells", [CELLS, EVEN], ids=str)
def test_the_residual_is_as_small_as_asked_for_and_no_round_is_done_in_vain(cells, walls):
    grid, rhs = grid_of(cells, walls), solvable(cells)
    solver = ConvergedJacobi(grid.constants, Tolerance(1e-8, 4000))
    p, taken, scalars = solved(solver, grid, rhs)
    assert relative_residual(scalars) == pytest.approx(residual(p, rhs, grid), rel=1e-6)
    assert relative_residual(scalars) <= 1e-8
    assert taken % solver.sweeps == 0
    few = ConvergedJacobi(grid.constants, Tolerance(1e-8, taken - solver.sweeps))
    with pytest.raises(NotConverged):
        solved(few, grid, rhs)


@pytest.mark.parametrize("walls", WALLS, ids=str)
def test_the_discrete_solution_up_to_a_constant(walls):
    """Manufactured: any field is the solution to its own Laplacian."""
    grid = grid_of(EVEN, walls)
    exact = solvable(EVEN)
    padded = np.pad(exact, 1, mode="wrap")
    rhs = laplacian_with_walls(Shifted(padded, grid.box, (-1, -1, -1)), grid.spacing, EVEN, walls)
    p, _, _ = solved(ConvergedJacobi(grid.constants, Tolerance(1e-12, 8000)), grid, rhs, guess=5.0)
    np.testing.assert_allclose(p - p.mean(), exact, rtol=0, atol=1e-9)
    assert abs(p.mean() - 5.0) < 1e-9, "a guess keeps its mean: nothing drifts"


@pytest.mark.parametrize("blocks", [(1, 1, 2), (2, 1, 2), (3, 2, 1)], ids=str)
def test_blocks_agree_and_change_no_bit(blocks):
    grid, rhs = grid_of(CELLS, WALLS[2]), solvable(CELLS)
    solver = ConvergedJacobi(grid.constants, Tolerance(1e-6, 2000))
    one, taken, _ = solved(solver, grid, rhs)
    many, others, _ = solved(solver, grid, rhs, blocks)
    assert taken == others
    np.testing.assert_array_equal(one, many)


def test_single_precision():
    grid, rhs = grid_of(CELLS, WALLS[0]), solvable(CELLS).astype("f4")
    p, _, _ = solved(ConvergedJacobi(grid.constants, Tolerance(1e-5, 4000)), grid, rhs, real="f4")
    assert residual(p, rhs, grid) < 2e-5


def test_a_solution_is_a_good_guess():
    grid, rhs = grid_of(CELLS, WALLS[0]), solvable(CELLS)
    solver = ConvergedJacobi(grid.constants, Tolerance(1e-6, 4000))
    assert solved(solver, grid, rhs)[1] > 5 * solver.sweeps
    assert solved(solver, grid, rhs, solves=2)[1] == solver.sweeps


def test_nothing_to_solve_is_solved():
    grid = grid_of(CELLS, WALLS[0])
    p, taken, scalars = solved(ConvergedJacobi(grid.constants, Tolerance(1e-6, 64)), grid, np.zeros(CELLS[::-1]))
    assert not p.any()
    assert (taken, relative_residual(scalars)) == (16, 0.0)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_no_number_is_not_iterated_for(value):
    grid, rhs = grid_of(CELLS, WALLS[0]), solvable(CELLS)
    rhs[3, 4, 5] = value
    _, taken, scalars = solved(ConvergedJacobi(grid.constants, Tolerance(1e-6, 640)), grid, rhs)
    assert taken == 16
    assert np.isnan(relative_residual(scalars))


@pytest.mark.parametrize(("most", "taken"), [(2, 2), (3, 2), (17, 16), (640, 640)])
def test_what_does_not_converge_is_an_error_with_its_history(most, taken):
    grid, rhs = grid_of(CELLS, WALLS[0]), solvable(CELLS)
    solver = ConvergedJacobi(grid.constants, Tolerance(1e-13, most))
    with pytest.raises(NotConverged) as caught:
        solved(solver, grid, rhs, (1, 1, 2))
    head, _, history = str(caught.value).partition("; it was ")
    assert head == f"the pressure did not converge: {taken} iterations did not reduce the relative residual to 1e-13"
    told = [(float(value), int(n)) for value, n in (entry.split(" after ") for entry in history.split(", "))]
    assert 1 <= len(told) <= 12
    assert told[-1][1] == taken
    p = solved(Jacobi(grid.constants, solver.sweeps), grid, rhs, solves=taken // solver.sweeps)[0]
    assert told[-1][0] == pytest.approx(residual(p, rhs, grid), rel=0.05)
