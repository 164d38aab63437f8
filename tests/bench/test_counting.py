"""The arithmetic of kernels, counted: against counts by hand."""

from dataclasses import dataclass

import pytest

from taskflow.bench.cost import operations
from taskflow.runtime.machine.kernel import KernelError
from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region, region
from taskflow.runtime.tasks import Read, ReadWrite, Reduce, Roles, Scalar, Sweep, Swept, Write, record, sweeps, task
from tests.runtime.machine import levels

CELLS = Box.of((16, 8, 8))
ONE = Partition(Region(CELLS, FieldSpace(Field(name) for name in "abuvw")), (1, 1, 1))


@dataclass(frozen=True)
class Coefficients:
    """Constants of a kernel."""

    weights: tuple[float, float, float]
    first: int


ARITHMETIC = """
FN real average(In a, Index c, Index step) { return real(0.5) * (a[c - step] + a[c + step]); }

TASK arithmetic(Range range, In a, InOut b, In64 dt, Coefficients by) {
  STRIDES(range)
  const real rate = real(1.0 / *dt) * by.weights[0];
  for_cells(range, CELL(c) {
    const real old = 0 < b[c] ? b[c] : by.first < 0 ? 0 : b[c], two = 2 * by.weights[1] * by.weights[2];
    real sum = average(a, c, X) + average(a, c, Y);
    sum -= c.i == by.first ? real(0) : -old;
    sum += magnitude(larger(old, a[c])) / 3;
    b[c] = rate * sum * two;
  });
}
"""

CHOICES = """
TASK choices(Range range, In a, Out b) {
  for_cells(range, CELL(c) {
    if ((c.i + c.j + c.k) % 2 == 0) b[c] = 1 - a[c] * a[c];
  });
}
"""

VECTORS = """
TASK vectors(Range range, In a, Out b) {
  typedef real Pair __attribute__((vector_size(2 * sizeof(real))));
  for_cells(range, CELL(c) { const Pair pair = {a[c], a[c]}; b[c] = pair[0] + pair[1]; });
}
"""

FOLDED = """
TASK folded(Range range, In a, Partial top, Partial total) {
  reduce_cells(range, top, MAX, CELL(c) { return a[c] + real(1); });
  reduce_cells(range, total, SUM, CELL(c) { const double wide = a[c]; return wide * wide; });
}
"""


@task(kernel=ARITHMETIC)
def arithmetic(a: Read[1], b: ReadWrite, *, dt: Scalar, by: Coefficients) -> None:
    """Two averages of 2 operations and their sum, a difference, a quotient, a sum, two products: 10."""


@task(kernel=CHOICES)
def choices(a: Read, b: Write) -> None:
    """Two operations in every other cell."""


@task(kernel=VECTORS)
def vectors(a: Read, b: Write) -> None:
    """b = 2 a, with vectors of the compiler"""


@task(kernel=FOLDED)
def folded(a: Read, *, top: Reduce["max"], total: Reduce["sum"]) -> None:
    """One operation for the maximum; two for the sum, and few for what is folded at the end of a row."""


@task
def plain(a: Read, b: Write) -> None:
    """b = a"""
    b[...] = a[...]


def test_what_follows_from_constants_alone_is_not_counted():
    launch = arithmetic("a", "b", over=CELLS, dt="dt", by=Coefficients((1.0, 2.0, 3.0), 0))
    assert operations(launch, ONE) == 10


def test_a_mean_over_the_cells():
    assert operations(choices("a", "b", over=CELLS), ONE) == 1


def test_reductions():
    assert operations(folded("a", over=CELLS, top="top", total="total"), ONE) == pytest.approx(3, abs=0.05)


def test_what_cannot_be_counted_is_an_error():
    with pytest.raises(KernelError, match="plain has no kernel text"):
        operations(plain("a", "b", over=CELLS), ONE)
    with pytest.raises(KernelError, match="does not compile"):
        operations(vectors("a", "b", over=CELLS), ONE)


def test_a_launch_over_few_cells():
    assert operations(choices("a", "b", over=Box((0, 0, -1), (2, 1, 0))), ONE) == 1


def test_fields_of_other_regions():
    """Levels and lines: the launches of a pass in order, each counted by hand."""
    partition = levels.partition((32, 8, 6), (2, 2, 1), (True, False, False))
    launches, _ = record(levels.Levels(partition), Roles.of(tuple(partition.fields)))
    result = {launch.task.name: operations(launch, partition) for launch in launches}
    by_hand = {"red": 4, "restrict": 1, "gather": 0, "smooth": 5, "prolong": 3, "line": 6, "scale": 1, "spread": 2}
    assert result == by_hand


SWEEP = """
TASK solve(Range range, InPrivate<7, Real_f> f, InValues<2> b, InOutValues<2> x, Sweep sweep) {
  sweep_cells(range, sweep, UP, CELL(c) {
    real value = b(c, 0) + b(c, 1);
    for (int side = 0; side < 6; ++side)
      if (earlier(c, side)) value -= f(c, side) * x(c, 1, along(side, 0), along(side, 1), along(side, 2));
    x(c, 0) = x(c, 1) = value * f(c, 6);
  });
}
"""


@task(kernel=SWEEP)
def solve(f: Read.private * 7, b: Read * 2, x: Swept["up"] * 2, *, sweep: Sweep) -> None:
    """Two operations, and two for each neighbour that comes earlier."""


def test_sweeps_count_in_the_cells_that_they_do():
    fields = [Field("f", "f4", values=7, private=True), Field("b", values=2), Field("x", values=2)]
    box = Partition(region((16, 4, 4), fields), (1, 1, 1))
    cells = box.region.cells
    (alone,) = sweeps("jacobi", "up")
    assert operations(solve("f", "b", "x", over=cells, sweep=alone), box) == 2
    first, second = (solve("f", "b", "x", over=cells, sweep=item) for item in sweeps("tiles", "up", (4, 4, 4)))
    assert operations(first, box) == 2 + 2 * 3 * 3 / 4  # each tile has a lower neighbour in it in 3 of 4 layers
    assert operations(second, box) == 2 + 2 * 3 * 3 / 4 + 2 * (2 * 2 - 1) / 2 / 4  # and those across x, at both ends
