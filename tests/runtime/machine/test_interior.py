"""Cells that need no choices, and cells changed in place: every cell is visited once, whatever the columns are."""

import numpy as np
import pytest

from taskflow.runtime.machine.kernel import Layout, compiled
from taskflow.runtime.machine.kernel.call import ENOUGH, cuda_shape
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Read, ReadWrite, Reduce, Write, offsets, task
from tests.runtime.machine.devices import DEVICES, opened

TEXT = """
#define UZ {column}
#define UNROLL {side_by_side}
#include "cell.h"

// s = q - its lower neighbours, or 0 for those beyond the cells; total = sum of s
TASK slope(Range range, In q, Out s, Partial total, int columns, int rows, int planes) {{
  STRIDES(range)
  const InteriorAmid inside = {{{{{{1, 1}}, {{rows - 1, planes - 1}}, false}}, 1, columns - 1}};
  reduce_cells(range, inside, total, SUM, CELL(c) {{
    const real west = !c.amid && c.i == 0 ? real(0) : q[c - X];
    const real south = !c.inner && c.j == 0 ? real(0) : q[c - Y], below = !c.inner && c.k == 0 ? real(0) : q[c - Z];
    s[c] = q[c] - west - south - below;
    return double(s[c]);
  }}, q);
}}

// p = p + q
TASK add(Range range, InOut p, In q) {{
  change_cells(range, everywhere(), CELL(c) {{ return p[c] + q[c]; }}, STORE(c, sum) {{ p[c] = sum; }}, q);
}}
"""


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest):
    return opened(request.param)


@pytest.mark.slow
@pytest.mark.parametrize("real", ["f4", "f8"])
@pytest.mark.parametrize(("column", "side_by_side"), [(4, 4), (8, 2), (64, 4)])
@pytest.mark.parametrize("cells", [(33, 5, 37), (8, 1, 3), (64, 9, 64), (131, 6, 19)])
def test_inner_cells_and_others_together_are_all(cells, column, side_by_side, real, device):
    text = TEXT.format(column=column, side_by_side=side_by_side)

    @task(kernel=text)
    def slope(
        q: Read[offsets((-1, 0), (-1, 0), (-1, 0))],
        s: Write,
        *,
        total: Reduce[sum],
        columns: int,
        rows: int,
        planes: int,
    ): ...

    @task(kernel=text)
    def add(p: ReadWrite, q: Read): ...

    box, layout = Box.of(cells), Layout((-1, -1, -1), tuple(n + 2 for n in cells[::-1]))
    q, s = (device.allocate(layout.shape, real) for _ in range(2))
    values = np.full(layout.shape, np.nan, real)
    values[1:-1, 1:-1, 1:-1] = np.arange(box.volume, dtype=real).reshape(cells[::-1]) % 101
    q[...] = device.xp.asarray(values)
    s[...] = 0
    total = device.allocate((1,), "f8")
    sizes = dict(zip(("columns", "rows", "planes"), cells, strict=True))
    compiled(slope, real, device).bind(box, layout, [q, s], sizes, {}, {"total": total})()
    compiled(add, real, device).bind(box, layout, [s, q], {}, {})()

    padded = np.nan_to_num(values)  # 0 beyond the cells
    own = padded[1:-1, 1:-1, 1:-1]
    neighbours = padded[1:-1, 1:-1, :-2] + padded[1:-1, :-2, 1:-1] + padded[:-2, 1:-1, 1:-1]
    np.testing.assert_array_equal(np.array(device.to_host(s))[1:-1, 1:-1, 1:-1], 2 * own - neighbours)
    assert float(total[0]) == (own - neighbours).sum(dtype="f8")


COUNT = """
#include "cell.h"

// visits += 1, or 1000 for those that are amid
TASK count(Range range, InOut visits, int left, int right, int row) {
  split_rows(range, InteriorAmid{{{row, 1}, {row, 2}, false}, left, right},
             CELL(c) { visits[c] += c.amid ? 1000 : 1; });
}
"""


@task(kernel=COUNT)
def count(visits: ReadWrite, *, left: int, right: int, row: int): ...


@pytest.mark.parametrize("real", ["f4", "f8"])
@pytest.mark.parametrize("columns", [1, 3, 7, 21, 47, 200])
@pytest.mark.parametrize("ends", [(-1000, 1000), (2, -3), (0, 4), (5, 5), (3, 1), (40, 60)])
def test_split_rows_visit_each_cell_once(columns, ends, real, device, request):
    box, layout = Box.of((columns, 3, 4)), Layout((-1, -1, -1), (6, 5, columns + 2))
    left, right = ends[0], ends[1] if ends[1] >= 0 else columns + ends[1]
    visits = device.allocate(layout.shape, real)
    visits[...] = 0
    compiled(count, real, device).bind(box, layout, [visits], {"left": left, "right": right, "row": 1}, {})()
    numbers = np.array(device.to_host(visits))
    amid = numbers == 1000
    assert (amid | (numbers == 1))[1:-1, 1:-1, 1:-1].all(), "each cell once"
    assert numbers.sum() == numbers[1:-1, 1:-1, 1:-1].sum(), "no other cell"
    most = np.zeros_like(amid)
    most[2:4, 2, 1 + max(left, 0) : 2 + min(right, columns - 1)] = request.node.callspec.params["device"] == "cpu"
    assert not (amid & ~most).any(), "amid within the bounds"
    assert amid.sum() >= most.sum() - 2 * 3, "all but three of a row"


def test_long_columns_are_halved_where_there_are_few_thread_blocks():
    assert cuda_shape((512, 512, 512), 64, 128, 512) == ((4, 128, 8), (128, 4, 1))
    grid, block = cuda_shape((128, 128, 128), 64, 128, 512)
    assert (np.prod(grid), block) == (ENOUGH, (128, 4, 1))
    assert cuda_shape((16, 16, 16), 64, 128, 512)[0][2] == 8
    assert cuda_shape((16, 16, 16), 8, 128, 512)[0][2] == 2


def test_thread_blocks_are_as_wide_as_a_text_wants_them_at_least():
    assert cuda_shape((2, 64, 16), 1, 32, 128) == ((1, 1, 16), (2, 64, 1))
    assert cuda_shape((2, 64, 16), 1, 32, 128, narrowest=4) == ((1, 2, 16), (4, 32, 1))
