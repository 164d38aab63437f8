"""A palette of tasks, and random programs made of them, for checks that hold for every program."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, product

import numpy as np
from hypothesis import strategies as st

from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region, cuts, triple
from taskflow.runtime.tasks import Launch, Read, ReadWrite, Reduce, Roles, Scalar, Write, box, offsets, star, task

FIELDS = ("a", "b", "c")
SCALARS = ("s", "t")


@cache
def reach(stencil):
    """Every offset of a stencil of width 3 or less, in order."""
    width = 3
    return [o for o in product(range(-width, width + 1), repeat=3) if o in stencil]


def blend(view, stencil):
    """A mean of the neighbours with weights that are all different: any wrong one changes the bits."""
    actual = reach(stencil)
    total = sum(range(1, len(actual) + 1))
    result = view[actual[0]] * (0.9 / total)
    for n, offset in enumerate(actual[1:], 2):
        result = result + view[offset] * (0.9 * n / total)
    return result


def fold(parameter, operator, values):
    """Fold what has the same bits for any blocks: a sum of reals depends on the order, a sum of counts does not."""
    parameter.fold(values > 0.4 if operator == "sum" else values)


# Each task for each stencil is made once: a task is one object.


@cache
def sweep(stencil):
    @task
    def sweep(p: Read[stencil], q: Write):
        q[...] = blend(p, stencil)

    return sweep


@cache
def mix(first, second):
    @task
    def mix(p: Read[first], r: Read[second], q: ReadWrite):
        q[...] = q[...] * 0.3 + blend(p, first) * 0.4 + blend(r, second) * 0.3

    return mix


@cache
def relax(stencil):
    @task
    def relax(q: ReadWrite[stencil]):
        q[...] = blend(q, stencil) + 0.05

    return relax


@task
def scaled(q: ReadWrite, *, s: Scalar):
    q[...] = q[...] / (1.0 + 0.1 * abs(s)) + 0.01 * np.tanh(s)


@cache
def measure(stencil, operator):
    @task
    def measure(p: Read[stencil], *, s: Reduce[operator]):
        fold(s, operator, blend(p, stencil))

    return measure


@cache
def correct(stencil, operator):
    @task
    def correct(p: Read[stencil], q: ReadWrite, r: Write, *, t: Scalar, s: Reduce[operator]):
        q[...] = q[...] * 0.5 + blend(p, stencil) / (2.0 + 0.1 * abs(t))
        r[...] = 0.5 + 0.5 * q[...]
        fold(s, operator, q[...])

    return correct


@task
def extremes(p: Read, *, low: Reduce["min"], high: Reduce["max"]):
    low.fold(p[...])
    high.fold(p[...])


# --------------------------------------------------------------------------------------------------- random programs


@dataclass(frozen=True)
class Call:
    """A launch of `task` with the fields in these roles."""

    task: object
    roles: tuple[str, ...]
    over: Box
    scalars: tuple[tuple[str, str], ...] = ()

    def __str__(self):
        names = ", ".join((*self.roles, *(f"{p}={n}" for p, n in self.scalars)))
        stencils = [p.stencil.offsets for p in self.task.fields.values()]
        return f"{self.task.name}({names}) over {self.over} with {stencils}"


@dataclass(frozen=True)
class Swap:
    """An exchange of roles."""

    one: str
    other: str


@dataclass(frozen=True)
class Script:
    """A program that can be printed."""

    statements: tuple[Call | Swap, ...]

    def __call__(self, roles: Roles) -> Iterator[Launch]:
        for statement in self.statements:
            if isinstance(statement, Swap):
                roles.swap(statement.one, statement.other)
            else:
                yield statement.task(
                    *(roles[r] for r in statement.roles), over=statement.over, **dict(statement.scalars)
                )

    def __repr__(self):
        return "\n".join(["Script:", *(f"  {statement}" for statement in self.statements)])


def stencils(ghost):
    """Stars, boxes, one-sided boxes of offsets with or without the cell itself, and unions."""
    side = st.tuples(st.integers(-ghost, ghost), st.integers(-ghost, ghost)).map(lambda ends: (min(ends), max(ends)))
    narrow = st.one_of(st.just((0, 0)), side)
    simple = st.one_of(
        st.integers(0, ghost).map(star),
        st.just(box(1)),
        st.builds(offsets, narrow, narrow, narrow),
        st.builds(offsets, z=side),
    )
    return st.one_of(simple, st.builds(lambda one, other: one | other, simple, simple))


def readable(over, stencil, region):
    """The cells of `over` whose neighbours all exist."""
    for axis in range(3):
        if not region.periodic[axis]:
            low = min(o[axis] for o in reach(stencil))
            high = max(o[axis] for o in reach(stencil))
            limits = Box(
                triple(region.bounds.lo[axis] - low if a == axis else over.lo[a] for a in range(3)),
                triple(region.bounds.hi[axis] - high if a == axis else over.hi[a] for a in range(3)),
            )
            over &= limits
    return over


def races(over, stencil, region):
    """Whether a point task over `over` reads a cell that another one has."""
    cells = set(product(*(range(a, b) for a, b in zip(over.lo, over.hi, strict=True))))

    def home(cell):
        lo, shape = region.cells.lo, region.cells.shape
        return tuple(lo[a] + (cell[a] - lo[a]) % shape[a] if region.periodic[a] else cell[a] for a in range(3))

    beside = [o for o in reach(stencil) if o != (0, 0, 0)]
    return any(home(np.add(cell, o)) in cells for cell in cells for o in beside)


@st.composite
def ranges(draw, region):
    """Where to launch: all cells, a boundary layer, all bounds, or any box within them."""
    bounds = region.bounds
    kind = draw(st.sampled_from(("cells", "cells", "cells", "cells", "layer", "layer", "bounds", "any")))
    if kind == "cells":
        return region.cells
    if kind == "bounds":
        return bounds
    if kind == "layer":
        return region.cells.layer(draw(st.integers(0, 2)), draw(st.integers(0, 1)), -1, 0) & bounds
    corners = [sorted(draw(st.tuples(*[st.integers(a, b)] * 2))) for a, b in zip(bounds.lo, bounds.hi, strict=True)]
    return Box(triple(a for a, _ in corners), triple(b for _, b in corners))


@st.composite
def calls(draw, region):
    """A launch that is possible on the region."""
    expected = stencils(region.ghost)
    first, second = draw(expected), draw(expected)
    over = draw(ranges(region))
    over = readable(readable(over, first, region), second, region) or region.cells
    p, q, r = draw(st.permutations(FIELDS))
    s, t = draw(st.sampled_from(SCALARS)), draw(st.sampled_from(SCALARS))
    operator = draw(st.sampled_from(("sum", "min", "max")))
    kinds = ["sweep"] * 4 + ["mix"] * 3 + ["scaled", "measure", "correct", "extremes"]
    if not races(over, first, region):
        kinds += ["relax"] * 3
    kind = draw(st.sampled_from(kinds))
    if kind == "sweep":
        return Call(sweep(first), (p, q), over)
    if kind == "mix":
        return Call(mix(first, second), (p, draw(st.sampled_from((p, r))), q), over)
    if kind == "relax":
        return Call(relax(first), (q,), over)
    if kind == "scaled":
        return Call(scaled, (q,), over, (("s", s),))
    if kind == "measure":
        return Call(measure(first, operator), (p,), over, (("s", s),))
    if kind == "correct":
        return Call(correct(first, operator), (p, q, r), over, (("t", t), ("s", s)))
    return Call(extremes, (p,), over, (("low", "s"), ("high", "t")))


@st.composite
def chains(draw, region):
    """Sweeps between two fields that exchange their roles, as in a relaxation."""
    p, q = draw(st.permutations(FIELDS))[:2]
    step = Call(sweep(draw(stencils(region.ghost))), (p, q), region.cells)
    return [step, Swap(p, q)] * draw(st.integers(2, 3))


@st.composite
def scripts(draw, region, most=4):
    """A program of a few launches with exchanges of roles between them."""
    one = calls(region).map(lambda call: [call])
    swap = st.permutations(FIELDS).map(lambda names: [Swap(*names[:2])])
    parts = draw(st.lists(st.one_of(one, one, one, chains(region), chains(region), swap), min_size=2, max_size=most))
    return Script(tuple(statement for part in parts for statement in part))


@st.composite
def partitions(draw):
    """A small region somewhere: many blocks of a few cells, or a few blocks that have a middle. No stencil reaches
    beyond the next block.
    """
    lo = triple(draw(st.integers(-2, 2)) for _ in range(3))
    extents, blocks = draw(st.sampled_from((((1, 2, 3, 4, 5), 8), ((1, 6, 8), 4))))
    shape = triple(draw(st.sampled_from(extents)) for _ in range(3))
    region = Region(
        Box(lo, triple(a + n for a, n in zip(lo, shape, strict=True))),
        FieldSpace([Field(name) for name in FIELDS]),
        draw(st.tuples(st.booleans(), st.booleans(), st.booleans())),
        draw(st.sampled_from((1, 1, 2))),
    )

    def wide(cells, blocks):
        return blocks == 1 or (
            blocks <= cells and min(b - a for a, b in pairwise(cuts(cells, blocks, region.ghost))) >= region.ghost
        )

    numbers = st.tuples(*(st.sampled_from([m for m in (1, 2, 2, 3) if wide(n, m)]) for n in shape))
    return Partition(region, draw(numbers.filter(lambda n: n[0] * n[1] * n[2] <= blocks)))
