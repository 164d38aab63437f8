"""A scalar sweep, as kernel text and as NumPy, and what it has to do, cell by cell."""

from itertools import product

import numpy as np

from taskflow.runtime.machine import Mapper
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.machine.threads import run_threads
from taskflow.runtime.regions import Field, Partition, region
from taskflow.runtime.tasks import Read, Sweep, Swept, planes, sweeps, task

SOLVE = """
FN real relax(SweptCell c, real b, const real* a, const real* x, const Range& range) {
  real value = b;
  for (int side = 0; side < 6; ++side)
    if (earlier(c, side)) value -= real(0.1) * (side + 1) * a[c + beyond(range, side)] * x[c + beyond(range, side)];
  return value / a[c];
}
TASK forward(Range range, In a, In b, InOut x, Sweep sweep) {
  sweep_cells(range, sweep, UP, CELL(c) { x[c] = relax(c, b[c], a, x, range); });
}
TASK backward(Range range, In a, In b, InOut x, Sweep sweep) {
  sweep_cells(range, sweep, DOWN, CELL(c) { x[c] = relax(c, b[c] + x[c], a, x, range); });
}
"""
SIDES = ((-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1))  # in the order of a kernel's


def relax(sweep, b, a, x):
    """b less what the earlier neighbours bring, over a."""
    value = b
    for n, side in enumerate(SIDES):
        if sweep.earlier(*side):
            value = value - 0.1 * (n + 1) * a[side] * x[side]
    return value / a[...]


@task(kernel=SOLVE)
def forward(a: Read[1], b: Read, x: Swept["up"], *, sweep: Sweep):
    """a x = b - sum over earlier sides n of 0.1 (n + 1) a_n x_n"""


@task(kernel=SOLVE)
def backward(a: Read[1], b: Read, x: Swept["down"], *, sweep: Sweep):
    """a x = b + x - sum over earlier sides n of 0.1 (n + 1) a_n x_n"""


@task
def forward_in_numpy(a: Read[1], b: Read, x: Swept["up"], *, sweep: Sweep):
    """The same"""
    x[...] = relax(sweep, b[...], a, x)


@task
def backward_in_numpy(a: Read[1], b: Read, x: Swept["down"], *, sweep: Sweep):
    """The same"""
    x[...] = relax(sweep, b[...] + x[...], a, x)


def program(over, ordering, tile, tasks=(forward, backward)):
    """A forward and a backward solve."""

    def steps(f):
        for direction, item in zip(("up", "down"), tasks, strict=True):
            for sweep in planes(over.shape, direction) if ordering == "planes" else sweeps(ordering, direction, tile):
                yield item(f.a, f.b, f.x, over=over, sweep=sweep)

    return steps


def oracle(a, b, x, ordering, tile):
    """The same of arrays [x, y, z] of one chart, with numbers for tiles and colours in place of launches."""
    x = x.copy()
    cells = list(product(*map(range, x.shape)))
    whole = {"tiles": tile, "colours": (1, 1, 1), "jacobi": (1, 1, 1)}.get(ordering, x.shape)
    coloured = ordering in ("tiles", "colours")
    number = {c: tuple(n // size for n, size in zip(c, whole, strict=True)) for c in cells}
    for up in (True, False):
        def turn(c, up=up):
            colour = sum(number[c]) % 2 if coloured else 0
            return (colour if up else -colour, *(n if up else -n for n in reversed(c)))

        for c in sorted(cells, key=turn):
            value = b[c] if up else b[c] + x[c]
            for n, side in enumerate(SIDES):
                near = tuple(p + q for p, q in zip(c, side, strict=True))
                if near not in number:
                    continue
                if turn(near) < turn(c) if number[near] == number[c] else turn(near)[0] < turn(c)[0]:
                    value -= 0.1 * (n + 1) * a[near] * x[near]
            x[c] = value / a[c]
    return x


def started(shape):
    """a, b and x of a chart, in [z, y, x]."""
    random = np.random.default_rng(sum(shape))
    return {name: 1 + random.random(shape[::-1]) for name in "abx"}


def solved(
    cells, blocks, ordering, tile, threads=1, debug=False, change=lambda item: item, device=None, passes=2, **tasks
):
    """x after two solves, or some, on some blocks of a box, of which each launch may be changed."""
    space = region(cells, [Field(name) for name in "abx"])
    partition = Partition(space, blocks, multiple=tile)
    start, solve = started(cells), program(space.cells, ordering, tile, **tasks)
    whole = np.empty_like(start["x"])

    def changed(f):
        return map(change, solve(f))

    def job(shard):
        mine = shard.cells.slices((0, 0, 0))
        shard.write({name: np.ascontiguousarray(array[mine]) for name, array in start.items()})
        for _ in range(passes):
            shard.run(changed)
        whole[mine] = shard.read("x")

    run_threads(partition, job, device or cpu(threads), Mapper("none", debug=debug))
    return whole


def expected(cells, ordering, tile):
    """The same after the oracle."""
    a, b, x = (started(cells)[name].transpose() for name in "abx")
    for _ in range(2):
        x = oracle(a, b, x, ordering, tile)
    return x.transpose()
