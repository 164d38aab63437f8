"""Swept launches: the bits of the loop that they stand for, on any blocks and threads."""

import numpy as np
import pytest

from taskflow.common.errors import RunFailed
from taskflow.runtime.machine import Mapper, run_threads
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.machine.kernel import KernelError, sweeping
from taskflow.runtime.regions import ROTATIONS, Box, Field, Partition, charted, divided
from taskflow.runtime.tasks import PlacedSweep, Read, Sweep, Swept, planes, sweeps, task
from tests.runtime.machine.devices import one_gpu

from ..regions.turned import turned
from .sweeping import SOLVE, backward, expected, program, solved, started

ORDERINGS = ["tiles", "colours", "hyperplanes", "blocks", "jacobi"]


@pytest.mark.parametrize("ordering", ORDERINGS)
@pytest.mark.parametrize(("cells", "tile"), [((8, 8, 8), (4, 4, 4)), ((9, 7, 5), (4, 2, 3)), ((1, 13, 6), (8, 8, 8))])
def test_a_sweep_is_the_loop_that_it_says(ordering, cells, tile):
    np.testing.assert_array_equal(solved(cells, (1, 1, 1), ordering, tile), expected(cells, ordering, tile))


@pytest.mark.parametrize("ordering", ["tiles", "jacobi"])
@pytest.mark.parametrize(("blocks", "threads"), [((1, 1, 2), 1), ((2, 2, 1), 3), ((3, 1, 2), 2)])
def test_blocks_and_threads_change_no_bit(ordering, blocks, threads):
    cells, tile = (23, 18, 21), (4, 4, 4)
    np.testing.assert_array_equal(
        solved(cells, blocks, ordering, tile, threads, debug=True), solved(cells, (1, 1, 1), ordering, tile)
    )


def test_threads_that_share_the_tiles_of_a_large_block_change_no_bit():
    cells, tile = (33, 26, 21), (8, 8, 8)  # more cells than one thread does alone
    one = solved(cells, (1, 1, 1), "tiles", tile)
    for threads in (2, 3):
        np.testing.assert_array_equal(solved(cells, (1, 1, 1), "tiles", tile, threads), one)


@pytest.mark.parametrize("cells", [(9, 7, 5), (1, 13, 6)])
@pytest.mark.parametrize("threads", [1, 3])
def test_planes_in_turn_are_the_sweep_of_a_whole_chart(cells, threads):
    in_turn = solved(cells, (1, 1, 1), "planes", (8, 8, 8), threads, debug=threads == 3)
    np.testing.assert_array_equal(in_turn, expected(cells, "hyperplanes", (8, 8, 8)))


def test_planes_have_all_cells_once():
    box = Box.of((5, 4, 3)).shift((2, -1, 7))
    placed = [PlacedSweep(sweep, "up", box) for sweep in planes((5, 4, 3), "up")]
    counts = [one.volume(box) for one in placed]
    assert counts == [len(list(one.points(box))) for one in placed] == [1, 3, 6, 9, 11, 11, 9, 6, 3, 1]


@pytest.mark.gpu(emulated=True)
@pytest.mark.parametrize("ordering", [*ORDERINGS, "planes"])
@pytest.mark.parametrize("changed", [False, True])
def test_a_gpu_has_the_bits_of_a_cpu(ordering, changed):
    cells, tile = (23, 18, 21), (8, 8, 8)
    host = solved(cells, (1, 1, 1), ordering, tile)
    blocks = (1, 1, 1) if ordering in ("hyperplanes", "blocks", "planes") else (1, 2, 2)
    change = (lambda launch: launch.shuffled()) if changed else (lambda launch: launch)
    np.testing.assert_array_equal(solved(cells, blocks, ordering, tile, device=one_gpu(), change=change), host)


COLUMNS_OF_48 = (5, 48, 64)  # which thread blocks of a GPU take 8 x 8 at a time


@pytest.mark.gpu
def test_a_thousand_sweeps_through_a_chart_end():
    """S9 of the specification: thread blocks pass it on, and none waits for what is not begun."""
    few, many = (
        solved(COLUMNS_OF_48, (1, 1, 1), "hyperplanes", (8, 8, 8), device=device, passes=500)
        for device in (cpu(2), one_gpu())
    )
    np.testing.assert_array_equal(many, few)


@pytest.mark.gpu(emulated=True)
def test_a_sweep_that_cannot_go_on_is_told(monkeypatch):
    """The first thread block is left out."""
    device = one_gpu()
    usual = device.allocate

    def begun(shape, dtype):
        array = usual(shape, dtype)
        if dtype == "u4" and len(array) > sweeping.WORDS:
            array[sweeping.TICKET] = 1
        return array

    monkeypatch.setattr(device, "allocate", begun)
    monkeypatch.setattr(sweeping, "PATIENCE", 0.05)
    with pytest.raises(RunFailed, match=r"sweep aborted: thread block \d+ timed out"):
        solved(COLUMNS_OF_48, (1, 1, 1), "hyperplanes", (8, 8, 8), device=device, passes=1)


@pytest.mark.parametrize(("cells", "threads", "rows", "bundle"), [
    ((9, 7, 5), 512, 1, (9, 8, 8)),
    ((9, 7, 5), 256, 4, (9, 8, 7)),
    ((9, 7, 1), 256, 4, (9, 56, 1)),
    ((9, 7, 5), 64, 1, (9, 8, 4)),
])  # fmt: skip
def test_a_bundle_of_columns_is_what_a_thread_block_has_room_for(cells, threads, rows, bundle):
    (sweep,) = sweeps("hyperplanes", "up")
    placed = PlacedSweep(sweep, "up", Box.of(cells))
    assert sweeping.bundle(placed, threads, rows) == bundle
    with pytest.raises(KernelError, match="needs thread blocks of 64 threads: #define BX 64"):
        sweeping.bundle(placed, 63, 1)


ATLASES = {
    "two": lambda: turned((13, 7, 6), ((8,), (), ()), [ROTATIONS[n] for n in (0, 13)]),
    "four": lambda: turned((9, 10, 5), ((5,), (6,), ()), [ROTATIONS[n] for n in (3, 0, 17, 22)], (False, False, True)),
}


@pytest.mark.parametrize("ordering", ["tiles", "jacobi"])
@pytest.mark.parametrize(("blocks", "cuts"), [(1, None), (2, {0: (1, 2, 1)}), (3, {1: (1, 2, 2)})])
@pytest.mark.parametrize("name", ATLASES)
def test_nothing_is_earlier_across_a_seam(name, blocks, cuts, ordering):
    """Each chart is solved as if it were alone, in its own directions, however charts are cut."""
    atlas, tile = ATLASES[name]()[0], (4, 4, 4)
    space = charted(atlas, [Field(item) for item in "abx"])
    partition = Partition(space, (1, 1, blocks), pieces=divided(atlas, blocks, cuts, tile))
    start = [started(chart.shape) for chart in space.charts]

    def job(shard):
        mine = partition.cells_of(shard.block)
        for name in "abx":
            values = [item[name] for item in start]
            shard.write_parts([name], [(box, {name: cells_of(box, space, values)}) for box in mine])
        for _ in range(2):
            shard.run(program(space.charts, ordering, tile))
        return [(box, shard.read("x", box)) for box in mine]

    expect = [expected(chart.shape, ordering, tile) for chart in space.charts]
    for box, result in (pair for block in run_threads(partition, job, cpu(2), Mapper(debug=True)) for pair in block):
        np.testing.assert_array_equal(result, cells_of(box, space, expect))


def cells_of(box, space, arrays):
    """The values in a box of arrays of all charts."""
    n = next(n for n, chart in enumerate(space.charts) if box in chart)
    return np.ascontiguousarray(arrays[n][box.slices(space.charts[n].lo)])


@pytest.mark.parametrize("ordering", ["tiles", "hyperplanes", "colours"])
@pytest.mark.parametrize("threads", [1, 3])
def test_delays_and_other_orders_that_are_allowed_change_no_bit(ordering, threads):
    """S9 of the specification: tiles late and early, and the cells of a tile by i + j + k."""
    cells, tile = (33, 26, 21), (8, 8, 8)
    one = solved(cells, (1, 1, 1), ordering, tile)
    for _ in range(3):
        late = solved(cells, (1, 1, 1), ordering, tile, threads, change=lambda launch: launch.shuffled())
        np.testing.assert_array_equal(late, one)


@pytest.mark.parametrize(
    ("ordering", "wrong"),
    [
        ("jacobi", "if (c.i) x[c] += x[c - 1]"),  # of a tile that may come before or after
        ("tiles", "if (c.i % 4 < 3 && c.j % 4) x[c] += x[c + 1 - range.y]"),  # a cell of the same i + j + k
    ],
)
def test_a_kernel_that_reads_what_is_not_earlier_is_found_in_debug_mode(ordering, wrong):
    right = "{ x[c] = relax(c, b[c], a, x, range); }"
    assert right in SOLVE

    @task(kernel=SOLVE.replace(right, f"{right[:-1]} {wrong}; }}"))
    def forward(a: Read[1], b: Read, x: Swept["up"], *, sweep: Sweep):
        """Wrong"""

    with pytest.raises(RunFailed, match=r"makes another 'x' in the cell \(.*\) of block 0 in another order"):
        solved((8, 8, 8), (1, 1, 1), ordering, (4, 4, 4), debug=True, tasks=(forward, backward))
