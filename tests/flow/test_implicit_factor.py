"""Block ILU(0) by sweeps: what the factors solve is what dense factors do; singular blocks are told."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.errors import RunFailed
from taskflow.flow.models.artificial_compressibility.implicit import factor
from taskflow.flow.models.artificial_compressibility.implicit.matrix import COUPLING, PIVOT
from taskflow.flow.models.artificial_compressibility.implicit.singular import refuse_singular
from taskflow.flow.reference.implicit_compressibility import Blocks, cells_of, factorised, solved
from taskflow.runtime.machine import run_threads
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.regions import Box, Field, Partition, region
from taskflow.runtime.tasks import sweeps
from tests.flow.charts import LAYERS
from tests.flow.test_implicit_matrix import assembled, block

CELLS, Z, V = (5, 4, 3), ("p", "u", "v", "w"), ("p_r", "u_r", "v_r", "w_r")
TILE = (2, 3, 2)


def solve(fields, ordering, blocks=(1, 1, 1)):
    """z = M^-1 v, [z, y, value, x]; the scalars."""
    several = (("coupling", COUPLING), ("pivot", PIVOT))
    space = region(CELLS, [*Z, *V, *(Field(name, values=values) for name, values in several)])

    def program(f):
        for sweep in sweeps(ordering, "up", TILE):
            yield factor.invert(f.coupling, f.pivot, over=space.cells, sweep=sweep)
        yield factor.unsound(f.pivot, over=space.cells, cell="cell")
        z = tuple(f[name] for name in Z)
        for sweep in sweeps(ordering, "up", TILE):
            yield factor.forward(V, f.coupling, f.pivot, z, over=space.cells, sweep=sweep)
        for sweep in sweeps(ordering, "down", TILE):
            yield factor.backward(f.coupling, f.pivot, z, over=space.cells, sweep=sweep)

    whole = np.empty((CELLS[2], CELLS[1], 4, CELLS[0]))

    def job(shard):
        cut = shard.cells.slices((0, 0, 0))
        shard.write({name: np.ascontiguousarray(values[cut]) for name, values in fields.items()})
        shard.run(program)
        whole[cut] = np.stack([shard.read(name) for name in Z], 2)
        return dict(shard.scalars)

    scalars = run_threads(Partition(space, blocks, multiple=TILE), job, cpu(1))[0]
    return whole, scalars


def order_of(ordering) -> list:
    """The cells in the order of an elimination."""
    cells = list(cells_of(CELLS[::-1]))
    if ordering == "hyperplanes":
        return cells
    number = {cell: tuple(n // size for n, size in zip(cell, TILE, strict=True)) for cell in cells}
    return sorted(cells, key=lambda cell: (sum(number[cell]) % 2, number[cell][::-1], cell[::-1]))


@pytest.fixture
def matrix_of_a_flow():
    """The blocks of a flow, as fields and one by one, and a vector."""
    made = assembled({}, uniform=False, cells=CELLS)
    inner = tuple(slice(LAYERS, -LAYERS) for _ in range(3))
    cut = (*inner[:2], ..., inner[2])
    fields = {"coupling": made.fields["coupling"][cut], "pivot": made.fields["pivot"][cut]}
    fields |= dict(zip(V, np.random.default_rng(2).uniform(-1, 1, (4, *CELLS[::-1])), strict=True))
    blocks: Blocks = {}
    for cell in cells_of(CELLS[::-1]):
        blocks[cell, cell] = block(made, cell, None)
        for side in range(6):
            there = list(cell)
            there[side // 2] += 1 if side % 2 else -1
            if 0 <= there[side // 2] < CELLS[side // 2]:
                blocks[cell, tuple(there)] = block(made, cell, side)
    return fields, blocks


@pytest.mark.parametrize("ordering", ["tiles", "hyperplanes"])
def test_the_factors_are_those_of_a_dense_ilu(matrix_of_a_flow, ordering):
    fields, blocks = matrix_of_a_flow
    order, v = order_of(ordering), np.stack([fields[name] for name in V], 2)
    wanted = solved(factorised(blocks, order), order, {(i, j, k): v[k, j, :, i] for i, j, k in order})
    z, scalars = solve(fields, ordering)
    assert scalars["cell"] == np.inf
    largest = max(np.abs(values).max() for values in wanted.values())
    assert max(np.abs(z[k, j, :, i] - value).max() for (i, j, k), value in wanted.items()) < 1e-13 * largest


def test_they_are_the_same_for_any_blocks(matrix_of_a_flow):
    fields, _ = matrix_of_a_flow
    whole, _ = solve(fields, "tiles")
    np.testing.assert_array_equal(solve(fields, "tiles", (2, 1, 2))[0], whole)


def test_a_singular_block_is_told_with_its_cell(matrix_of_a_flow):
    fields, _ = matrix_of_a_flow
    fields["pivot"][1, 2, :, 3], fields["coupling"][1, 2, :, 3] = 0, 0
    _, scalars = solve(fields, "jacobi")
    with pytest.raises(RunFailed, match=r"cell \(4, 3, 2\) of chart 1 cannot be inverted"):
        refuse_singular((Box.of(CELLS),), scalars)
