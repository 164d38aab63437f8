"""Block ILU(0) by sweeps: what the factors solve is what dense factors do; singular blocks are told."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from taskflow.common.errors import RunFailed
from taskflow.flow.models.artificial_compressibility.blocks import BLOCKS
from taskflow.flow.models.artificial_compressibility.flow_on_charts import STATE
from taskflow.flow.models.artificial_compressibility.implicit import factor
from taskflow.flow.models.artificial_compressibility.implicit.matrix import COUPLING, HALF, PIVOT, place
from taskflow.flow.models.artificial_compressibility.implicit.vectors import AFTER, BEFORE
from taskflow.runtime.machine import run_threads
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.regions import Box, Field, Partition, region
from taskflow.runtime.tasks import owned
from tests.flow.byhand import coupled
from tests.flow.charts import march
from tests.flow.test_implicit_march import BEGUN, REST, box, model, skewed, warm
from tests.reference.implicit_compressibility import Blocks, cells_of, factorised, solved

CELLS, TILE = (5, 4, 3), (2, 2, 2)


def order_of(ordering) -> list:
    """The cells in the order of an elimination."""
    cells = list(cells_of(CELLS[::-1]))
    if ordering == "hyperplanes":
        return cells
    number = {cell: tuple(n // size for n, size in zip(cell, TILE, strict=True)) for cell in cells}
    return sorted(cells, key=lambda cell: (sum(number[cell]) % 2, number[cell][::-1], cell[::-1]))


def factors_of_a_flow(ordering, blocks=(1, 1, 1), coupled=False):
    """The matrix after some outer iterations, a vector v, and z = M^-1 v: of the first block, where there are some."""
    chart = box(CELLS)
    made, begun = (warm, BEGUN) if coupled else (model, REST)
    flow = made(chart, ordering=ordering, precision="double", tile=TILE, coupled=coupled)
    v = np.random.default_rng(2).uniform(-1, 1, (4 + coupled, *CELLS[::-1]))
    new, z = ((*names, *[f"T_{age}"] * coupled) for names, age in ((AFTER, "new"), (BEFORE, "z")))
    out = {}

    def matrix(f):
        yield from flow.still_ghosts(f)
        yield flow.paced((f.u, f.v, f.w), f)
        yield from flow.matrix(f)

    def after(shard):
        first = shard.cells.lo == (0, 0, 0)
        mine = shard.cells.slices((0, 0, 0))
        shard.run(owned("implicit", matrix))
        if first:
            out.update({name: shard.read(name) for name in (*COUPLING, "pivot")})
        shard.run(owned("implicit", flow.factors))
        shard.write({name: np.ascontiguousarray(values[mine]) for name, values in zip(new, v, strict=True)})
        shard.run(owned("implicit", flow.precondition))
        if first:
            out["z"] = np.stack([shard.read(name) for name in z])

    march(flow, chart, begun, steps=3, every=1, multiple=TILE, blocks=blocks, job_after=after)
    return v, out


def blocks_of(out) -> Blocks:
    """The blocks of a matrix, by cells."""
    blocks: Blocks = {}
    for cell in cells_of(CELLS[::-1]):
        i, j, k = cell
        own = out["pivot"][k, j, :, i]
        count = round(own.size**0.5)
        blocks[cell, cell] = own.reshape(count, count)
        for side in range(6):
            present = list(cell)
            present[side // 2] += 1 if side % 2 else -1
            if 0 <= present[side // 2] < CELLS[side // 2]:
                name, first = place(side, BLOCKS[count - 4])
                blocks[cell, tuple(present)] = coupled(out[name][k, j, first : first + count**2, i], cpu())
    return blocks


@pytest.mark.fast("none-tiles", "heat-tiles")
@pytest.mark.parametrize("ordering", ["tiles", "hyperplanes"])
@pytest.mark.parametrize("coupled", [False, True], ids=["none", "heat"])
def test_the_factors_are_those_of_a_dense_ilu(coupled, ordering):
    agree(order_of(ordering), *factors_of_a_flow(ordering, coupled=coupled))


def agree(order, v, out):
    """z is what dense factors give."""
    factors = factorised(blocks_of(out), order)
    expected = solved(factors, order, {(i, j, k): v[:, k, j, i] for i, j, k in order})
    largest = max(np.abs(values).max() for values in expected.values())
    assert max(np.abs(out["z"][:, k, j, i] - z).max() for (i, j, k), z in expected.items()) < 1e-13 * largest


@pytest.mark.slow
def test_they_are_the_same_for_any_blocks():
    (_, whole), (_, part) = factors_of_a_flow("tiles"), factors_of_a_flow("tiles", (1, 2, 1))
    np.testing.assert_array_equal(part["z"], whole["z"][:, :, : part["z"].shape[2]])


def test_what_other_tiles_leave_of_a_pivot_is_rounded_as_pivots_are():
    """On a plane, in the first cells of tiles of the second colour, whose earlier neighbours are all in other tiles."""
    chart, tile = skewed((16, 16, 1)), (2, 2, 8)
    state = np.random.default_rng(3).uniform(-1, 1, (4, 1, 16, 16))
    made = {}
    for precision in ("single", "double"):
        flow, out = model(chart, precision=precision, tile=tile), made.setdefault(precision, {})

        def matrix(f, flow=flow):
            yield flow.paced((f.u, f.v, f.w), f)
            yield from flow.matrix(f)

        def after(shard, flow=flow, out=out, matrix=matrix):
            shard.write(dict(zip(STATE, state, strict=True)))
            shard.run(lambda f, flow=flow: flow.ghosts(f, ""))
            shard.run(owned("implicit", matrix), **{"implicit.slowness": 0.05})
            out.update({name: shard.read(name) for name in (*COUPLING, "pivot")})
            shard.run(owned("implicit", flow.factors))
            out["inverse"] = shard.read("pivot")

        march(flow, chart, REST, steps=1, every=1, multiple=tile, job_after=after)

    def coupling(precision, cell, side):
        (i, j), (name, first) = cell, place(side)
        return coupled(made[precision][name][0, j, first : first + PIVOT, i], cpu()).astype("f8")

    def own(name, cell):
        return made["single"][name][0, cell[1], :, cell[0]].reshape(4, 4).astype("f8")

    same = []
    for i, j in product(range(0, 16, 2), repeat=2):
        if (i + j) // 2 % 2:
            left = own("pivot", (i, j))
            for side, there in ((0, (i - 1, j)), (2, (i, j - 1))):
                if min(there) >= 0:
                    back = own("inverse", there) @ coupling("double", there, side + 1)
                    left = (left - coupling("single", (i, j), side) @ back).astype("f4").astype("f8")
            same.append(np.linalg.inv(left).astype("f4") == own("inverse", (i, j)))
    assert len(same) == 32
    assert np.mean(same) > 0.99


def test_a_singular_block_is_told_with_its_cell():
    pivots = np.random.default_rng(5).random((CELLS[2], CELLS[1], PIVOT, CELLS[0]))
    by_columns = pivots.reshape(*pivots.shape[:2], 4, 4, -1).swapaxes(2, 3).reshape(pivots.shape)
    pivots[1, 2, 0, 3] = by_columns[1, 2, 0, 3] = np.inf
    inverse = Field("inverse", values=PIVOT, private=True, tile=(4, 2, 8))
    space = region(CELLS, [Field("pivot", values=PIVOT), inverse])

    def job(shard):
        shard.write({"pivot": pivots})
        where = {"over": space.cells, "cell": "cell", "blocks": BLOCKS[0]}
        shard.run(lambda f: iter([factor.keep_inverse(f.pivot, f.inverse, **where)]))
        np.testing.assert_array_equal(shard.read("inverse"), by_columns)
        return dict(shard.scalars)

    (scalars,) = run_threads(Partition(space, (1, 1, 1)), job, cpu(1))
    with pytest.raises(RunFailed, match=r"cell \(4, 3, 2\) of chart 1 cannot be inverted"):
        factor.refuse_singular((Box.of(CELLS),), False, scalars)
    assert factor.refuse_singular((Box.of(CELLS),), True, {"cell": np.inf}) == {"sound": 1.0}
    assert HALF == 3 * PIVOT
