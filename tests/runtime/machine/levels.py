"""A program on several regions: a fine one, one with cells of twice the size, on all blocks at once and replicated, and
planes of sums along lines.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region
from taskflow.runtime.tasks import Coloured, Foreign, Launch, Read, ReadWrite, Roles, Write, box, lines, task

KERNELS = """
TASK restrict(Range range, Foreign p, Out c) {
  for_cells(range, CELL(c0) { c[c0] = at(p, 2 * c0.i, 2 * c0.j, 2 * c0.k) + at(p, 2 * c0.i - 1, 2 * c0.j, 2 * c0.k); });
}

TASK gather(Range range, Foreign c, Out r) {
  for_cells(range, CELL(n) { r[n] = at(c, n.i, n.j, n.k); });
}

TASK smooth(Range range, In r, Out s) {
  STRIDES(range)
  for_cells(range, CELL(n) { s[n] = r[n - X] + r[n + X] + r[n - Y] + r[n + Y] + r[n - Z] + r[n + Z]; });
}

TASK prolong(Range range, Foreign s, InOut p) {
  for_cells(range, CELL(n) {
    p[n] += real(0.125) * at(s, n.i / 2, n.j / 2, n.k / 2) * at(s, (n.i + 1) / 2, n.j / 2, n.k / 2);
  });
}

TASK red(Range range, InOut p, int odd) {
  STRIDES(range)
  for_cells(range, CELL(n) {
    const real mean = real(0.25) * (p[n - X] + p[n + X] + p[n - Z] + p[n + Z]);
    p[n] = ((n.i + n.j + n.k) & 1) == odd ? mean : p[n];
  });
}

TASK line(Range range, Foreign p, Out q, int last) {
  for_cells(range, CELL(n) {
    real sum = 0;
    for (int k = 0; k < last; ++k) sum += at(p, n.i, n.j, k);
    q[n] = sum;
  });
}

TASK scale(Range range, In q, Out q_new) {
  for_cells(range, CELL(n) { q_new[n] = real(0.5) * q[n]; });
}

TASK spread(Range range, Foreign q, InOut p) {
  for_cells(range, CELL(n) { p[n] -= real(0.125) * at(q, n.i, n.j, 0); });
}
"""


@task(kernel=KERNELS)
def restrict(p: Foreign[box(1)], c: Write) -> None:
    """c = the first fine cell in it and the one before that"""


@task(kernel=KERNELS)
def gather(c: Foreign, r: Write) -> None:
    """r = c"""


@task(kernel=KERNELS)
def smooth(r: Read[1], s: Write) -> None:
    """s = the six neighbours of r"""


@task(kernel=KERNELS)
def prolong(s: Foreign[box(1)], p: ReadWrite) -> None:
    """p += s of the coarse cell times s of that of the next one / 8"""


@task(kernel=KERNELS)
def red(p: Coloured[1], *, odd: int) -> None:
    """p of one colour = the mean of four neighbours of the other"""


@task(kernel=KERNELS)
def line(p: Foreign[lines("z")], q: Write, *, last: int) -> None:
    """q = the sum of p along z"""


@task(kernel=KERNELS)
def scale(q: Read, q_new: Write) -> None:
    """q_new = q / 2"""


@task(kernel=KERNELS)
def spread(q: Foreign[lines("z")], p: ReadWrite) -> None:
    """p -= q / 8 on every plane"""


def partition(
    cells: tuple[int, int, int], blocks: tuple[int, int, int], periodic: tuple[bool, bool, bool]
) -> Partition:
    """The regions on blocks. All cells of the coarse ones and of the lines are in every block's memory."""
    half = tuple(-(-n // 2) for n in cells)
    count = blocks[0] * blocks[1] * blocks[2]
    fine = Region(Box.of(cells), FieldSpace([Field("p")]), periodic)
    whole = Partition(fine, blocks)
    at = tuple(tuple(-(-cut // 2) for cut in cuts) for cuts in whole.cuts)
    coarse = Region(Box.of(half), FieldSpace([Field("c")]), periodic, scale=(2, 2, 2))
    copies = Region(Box.of(half), FieldSpace([Field("r"), Field("s")]), periodic, scale=(2, 2, 2))
    plane = Region(Box.of((*cells[:2], 1)), FieldSpace([Field("q"), Field("q_new")]), ghost=0)
    return Partition(
        Region(fine.cells, fine.fields, periodic),
        blocks,
        reach=(fine.cells,) * count,
        beside=(
            Partition(coarse, blocks, at=at, reach=(coarse.cells.grow(1),) * count),
            Partition(copies, blocks, replicated=True),
            Partition(plane, (1, count, 1), reach=(plane.cells,) * count),
        ),
    )


class Levels:
    """The program on a partition."""

    def __init__(self, of: Partition) -> None:
        self.fine, self.coarse, _, self.plane = (item.region.cells for item in (of, *of.beside))
        self.inner = Box.of(self.fine.shape)

    def __call__(self, f: Roles) -> Iterator[Launch]:
        for odd in (0, 1):
            yield red(f.p, over=self.fine, odd=odd)
        yield restrict(f.p, f.c, over=self.coarse)
        yield gather(f.c, f.r, over=self.coarse)
        yield smooth(f.r, f.s, over=self.coarse)
        yield prolong(f.s, f.p, over=self.fine)
        yield line(f.p, f.q, over=self.plane, last=self.fine.hi[2])
        yield scale(f.q, f.q_new, over=self.plane)
        yield spread(f.q_new, f.p, over=self.fine)


def reference(p: np.ndarray, periodic: tuple[bool, bool, bool], passes: int) -> np.ndarray:
    """p [z, y, x] after some passes, beginning with zeros in all boundary layers: NumPy, cell by cell."""
    nz, ny, nx = p.shape
    half = tuple(-(-n // 2) for n in (nx, ny, nz))

    def value(array: np.ndarray, i: int, j: int, k: int) -> float:
        index = []
        for n, size, wraps in zip((k, j, i), array.shape, reversed(periodic), strict=True):
            if not wraps and not 0 <= n < size:
                return 0.0
            index.append(n % size)
        return array[tuple(index)]

    for _ in range(passes):
        for odd in (0, 1):
            old = p.copy()
            for k, j, i in np.ndindex(p.shape):
                if (i + j + k) & 1 == odd:
                    four = (value(old, i - 1, j, k) + value(old, i + 1, j, k)) + value(old, i, j, k - 1)
                    p[k, j, i] = 0.25 * (four + value(old, i, j, k + 1))
        c, s = np.zeros(half[::-1]), np.zeros(half[::-1])
        for k, j, i in np.ndindex(c.shape):
            c[k, j, i] = value(p, 2 * i, 2 * j, 2 * k) + value(p, 2 * i - 1, 2 * j, 2 * k)
        for k, j, i in np.ndindex(c.shape):
            six = value(c, i - 1, j, k) + value(c, i + 1, j, k) + value(c, i, j - 1, k) + value(c, i, j + 1, k)
            s[k, j, i] = six + value(c, i, j, k - 1) + value(c, i, j, k + 1)
        for k, j, i in np.ndindex(p.shape):
            p[k, j, i] += 0.125 * s[k // 2, j // 2, i // 2] * value(s, (i + 1) // 2, j // 2, k // 2)
        q = np.zeros((ny, nx))
        for k in range(nz):
            q = q + p[k]
        p = p - 0.125 * (0.5 * q)
    return p
