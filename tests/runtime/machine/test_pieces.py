"""Lists of pieces: what a block of many charts does in one launch has the bits of launches one after the other."""

import random
from dataclasses import dataclass

import numpy as np
import pytest

from taskflow.runtime.machine import Mapper, run_threads
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.machine.kernel import Layout, kernel_of, piece_table
from taskflow.runtime.machine.kernel.texts import common, listable
from taskflow.runtime.machine.trace import binding, gather
from taskflow.runtime.regions import ROTATIONS, Box, Field, Partition, charted, divided
from taskflow.runtime.tasks import PlacedSweep, Read, ReadWrite, Reduce, Scalar, TaskGraph, Write, sweeps, task

from ..regions.turned import cut, turned
from . import sweeping
from . import test_stored as stored
from .devices import one_gpu

TEXT = """
TASK spread(Range range, In p, InValues<3> v, Out q, In64 more, real by) {
  STRIDES(range)
  for_cells(range, CELL(c) { q[c] = by * (p[c] + p[c - X] * p[c + Z]) + v(c, 1, 0, 1, 0) + real(*more); });
}
TASK fill(Range range, Out p, real by) { for_cells(range, CELL(c) { p[c] = by; }); }
TASK total(Range range, In p, Partial whole) { reduce_cells(range, whole, SUM, CELL(c) { return double(p[c]); }); }
TASK largest(Range range, InOut p, PartialOf<2> most) {
  max_cells(range, most.of, CELL(c) { return p[c]; }, BETWEEN(c, low, p_c, high) { return Maxima<2>{{p_c, -p_c}}; });
}
TASK moments(Range range, In p, ExactPartial<2> sums) {
  exact_sum_cells(range, sums, 10.0, CELL(c) { return Sums<2>{{double(p[c]), double(p[c]) * p[c]}}; });
}
"""


CROWDED = """
#define RESIDENT 2
TASK mix(Range range, In q, Out r, real by, int n, Pair pair, int odd) {
  for_cells(range, CELL(c) { r[c] = by * q[c] + n + pair.a + pair.b * pair.c[1] + (odd ? real(0.5) : real(0)); });
}
TASK weigh(Range range, In r, real by, int n, Partial weight) {
  reduce_cells(range, weight, SUM, CELL(c) { return double(by * r[c] + n); });
}
"""


@dataclass(frozen=True)
class Pair:
    a: float
    b: int
    c: tuple[float, float, float]


@task(kernel=CROWDED)
def mix(q: Read, r: Write, *, by: float, n: int, pair: Pair, odd: bool): ...


@task(kernel=CROWDED)
def weigh(r: Read, *, by: float, n: int, weight: Reduce["sum"]): ...


@task(kernel=TEXT)
def spread(p: Read[1], v: Read[1] * 3, q: Write, *, more: Scalar, by: float): ...


@task(kernel=TEXT)
def fill(p: Write, *, by: float): ...


@task(kernel=TEXT)
def total(p: Read, *, whole: Reduce["sum"]): ...


@task(kernel=TEXT)
def largest(p: ReadWrite, *, most: Reduce["max", 2]): ...


@task(kernel=TEXT)
def moments(p: Read, *, sums: Reduce["exact sum", 2]): ...


CELLS, AT = (45, 16, 13), ((4, 8, 12, 29), (8,), (5,))  # more cells than one thread does alone

TILE = (4, 4, 4)


@pytest.fixture(scope="module")
def space():
    number = random.Random(3)
    rotations = [number.choice(ROTATIONS) for _ in cut(CELLS, AT)]
    atlas, _ = turned(CELLS, AT, rotations, (True, False, False))
    return charted(atlas, [Field("p"), Field("v", values=3), Field("q"), Field("r"), *stored.fields("f4")[1:]])


def program(space):
    """Launches over all charts, and those that differ by field and number; other ways to store, sweeps, sums."""
    beyond = [box for chart in space.own for box in chart[1:]]

    def steps(f):
        for n, box in enumerate(beyond):
            yield fill(f.p if n % 2 else f.q, over=box, by=0.1 * n)
        for n, chart in enumerate(space.charts):
            yield spread(f.p, f.v, f.r if n % 3 else f.q, over=chart, more="a" if n % 2 else "b", by=1.0 + n)
        yield stored.factorise(f.p, f.f, f.d, f.e, over=space.charts)
        yield stored.apply(f.f, f.d, f.e, f.q, over=space.charts)
        for sweep in sweeps("tiles", "up", TILE):
            yield sweeping.forward(f.p, f.q, f.r, over=space.charts, sweep=sweep)
        yield total(f.q, over=space.charts, whole="total")
        yield largest(f.q, over=space.charts, most="most")
        yield moments(f.r, over=space.charts, sums="sums")
        for n, chart in enumerate(space.charts):  # what a launch has once differs, and where not, pieces share one
            pair = Pair(0.25 * (n % 2), n % 3, (1.0, 0.5, 2.0))
            yield mix(f.q, f.r, over=chart, by=1.0 + n % 2, n=n % 2, pair=pair, odd=n % 2 == 1)
        yield weigh(f.r, over=space.charts, by=2.0, n=3, weight="weight")

    return steps


def results(space, device, blocks=1, mapper=None):
    """The cells of all fields and all numbers after two passes; and how many launches each took."""
    partition = Partition(space, (1, 1, blocks), pieces=divided(space.atlas, blocks, None, TILE))

    def job(shard):
        noise = np.random.default_rng(shard.block)
        for name in ("p", "v", "q", "r"):
            boxes = [partition.memory[piece] for piece in partition.pieces_of(shard.block)]
            values = [{name: 1 + noise.random(partition.fields[name].shape(box))} for box in boxes]
            shard.write_parts([name], zip(boxes, values, strict=True))
        for _ in range(2):
            shard.run(program(space), a=0.25, b=0.5)
        mine = partition.cells_of(shard.block)
        values = [shard.read(name, box) for name in ("p", "q", "r", "f", "e") for box in mine]
        trace = shard.traces[-1]
        computing = [trace.graph.nodes[op.nodes[0]] for op in trace.operations if op.kind == "compute"]
        return values, dict(shard.scalars), sum(node.launch.task.kernel is not None for node in computing)

    return run_threads(partition, job, device, mapper or Mapper("none"), patience=30)


@pytest.fixture
def apart(monkeypatch):
    """How to have pieces done by launches of their own."""

    def change():
        for module in (gather, binding):
            monkeypatch.setattr(module, "listed", lambda *_, **__: False)

    return change


@pytest.mark.slow
@pytest.mark.parametrize(
    ("threads", "blocks", "overlap", "debug"),
    [(1, 1, "none", False), (2, 1, "none", False), (3, 1, "none", False), (3, 1, "none", True), (2, 2, "comm", False)],
)  # two threads are dealt pieces, three share them
def test_lists_have_the_bits_of_launches_one_after_the_other(space, apart, threads, blocks, overlap, debug):
    mapper = Mapper(overlap, debug=debug)
    listed = results(space, cpu(threads), blocks, mapper)
    apart()
    agree(listed, results(space, cpu(threads), blocks, mapper))


@pytest.mark.gpu(emulated=True)
def test_lists_on_a_gpu_have_the_bits_of_launches_one_after_the_other(space, apart):
    device = one_gpu()
    listed = results(space, device)
    apart()
    agree(listed, results(space, device))


def agree(listed, alone):
    for (values, scalars, launches), (expected, numbers, many) in zip(listed, alone, strict=True):
        np.testing.assert_equal(scalars, numbers)  # of poisoned ghost cells NaN
        for one, other in zip(values, expected, strict=True):
            np.testing.assert_array_equal(one, other)
        assert 3 * launches < many


def test_point_tasks_are_gathered_as_far_as_they_are_ready():
    """Two rounds of a and b on two pieces: b of a piece waits for both a before, and a for both b."""
    graph = TaskGraph([None] * 8, [set(), set(), {0, 1}, {0, 1}, {2, 3}, {2, 3}, {4, 5}, {4, 5}])
    keys = ["a", "a", "b", None, "a", "a", "b", "b"]
    assert gather.gathered(graph, [0, 1, 2, 3, 4, 5, 6, 7], keys) == [(0, 1), (2,), (3,), (4, 5), (6, 7)]
    apart = [{0} if n == 3 else set() for n in range(4)]
    assert gather.gathered(TaskGraph([None] * 4, apart), [0, 1, 2, 3], ["a", "b", "b", "a"]) == [(0,), (1, 2), (3,)]
    assert gather.gathered(TaskGraph([None] * 4, [set()] * 4), [0, 1, 2, 3], "abba") == [(0, 3), (1, 2)]


def test_tables_hold_the_arguments_of_every_piece(monkeypatch):
    """As a GPU gets them: a sweep, fields, and what is reduced, which is folded behind what was before the first."""
    monkeypatch.setattr(piece_table, "uploaded", lambda device, rows: rows)
    boxes, arrays = (Box.of((4, 3, 5)), Box((4, 3, 5), (6, 8, 7))), [np.zeros((10, 10, 10)) for _ in range(3)]
    (sweep, _), layout, device = sweeps("tiles", "up", TILE), Layout((-1, -1, -1), (10, 10, 10)), cpu(1)
    grids = [(1, 2, 3), (1, 2, 3)]
    task = sweeping.forward("a", "b", "x", over=boxes[0], sweep=sweep).task
    placed = [PlacedSweep(sweep, "up", box) for box in boxes]
    kernel = kernel_of(task, "f8", device)
    pieces = [kernel.arguments(box, layout, arrays, {"sweep": p}, {}) for box, p in zip(boxes, placed, strict=True)]
    dtype = piece_table.piece_dtype(task, np.dtype("f8"))
    rows, _ = piece_table.piece_rows(dtype, device, [piece.values for piece in pieces], grids)
    assert rows["range"]["lo"].tolist() == [[0, 0, 0], [4, 3, 5]]
    assert rows["range"]["blocks"].tolist() == [[1, 2, 3]] * 2
    assert rows["of_2"].tolist() == [arrays[2].ctypes.data + 8 * 111] * 2  # as if it began at the cell (0, 0, 0)
    assert rows["of_3"]["first"].tolist() == [[0, 0, 0], [4, 3, 5]]
    assert rows["of_3"]["tile"].tolist() == [[4, 4, 4]] * 2

    kernel, numbers = kernel_of(moments, "f8", device), {name: np.zeros(1) for name in moments.reductions}
    pieces = [kernel.arguments(box, layout, arrays[:1], {}, {}, numbers, further=True) for box in boxes]
    dtype = piece_table.piece_dtype(moments, np.dtype("f8"))
    rows, (values, _) = piece_table.piece_rows(dtype, device, [p.values for p in pieces], grids)
    assert rows["of_1"]["piece"].tolist() == [[0] * 6, [1] * 6]
    assert (rows["of_1"]["values"] == values.ctypes.data + 16 * np.arange(6)).all()
    assert (rows["of_1"]["before"] == rows["of_1"]["result"]).all()


def test_launches_have_constants_once_where_registers_are_few():
    assert common(mix, np.dtype("f8")) == (2, 3, 4, 5)
    assert common(fill, np.dtype("f8")) == ()


def test_a_text_that_asks_for_its_thread_block_is_left_alone():
    @task(kernel="TASK raw(Range range, Out p) { if (GPU && blockIdx.x == 0) p[0] = 1; }")
    def raw(p: Write): ...

    assert listable(spread, np.dtype("f8"))
    assert not listable(raw, np.dtype("f8"))
