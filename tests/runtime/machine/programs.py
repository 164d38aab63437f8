"""A small program with everything in it: stencils, one-sided and wide, boundary layers, roles that change, reductions
that feed tasks.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from taskflow.runtime.regions import Box, Field, FieldSpace, Region
from taskflow.runtime.tasks import Components, Launch, Read, ReadWrite, Reduce, Roles, Scalar, Write, box, offsets, task


@task
def relax(p: Read[1], b: Read, q: Write, *, weight: float) -> None:
    """q = weight (sum of the six neighbours of p - b)"""
    q[...] = weight * (p[-1, 0, 0] + p[1, 0, 0] + p[0, -1, 0] + p[0, 1, 0] + p[0, 0, -1] + p[0, 0, 1] - b[...])


@task
def differ(u: Read[offsets(x=(0, 1))], w: Read[offsets(z=(0, 1), y=(-1, 0))], b: Write, *, dt: Scalar) -> None:
    """b = one-sided differences over dt"""
    b[...] = (u[1, 0, 0] - u[0, 0, 0] + w[0, 0, 1] - w[0, -1, 1]) / dt


@task
def bottom(p: ReadWrite[offsets(z=(0, 1))]) -> None:
    """p below the domain from p above"""
    p[...] = 0.5 * p[0, 0, 1]


@task
def update(p: Read[box(1)], u: ReadWrite, w: ReadWrite, *, largest: Reduce[max], total: Reduce[sum]) -> None:
    """u and w from corners of p"""
    u[...] = u[...] - p[1, 1, 1] + p[-1, -1, 0]
    w[...] = w[...] + p[0, 0, -1]
    largest.fold(u[...])
    total.fold(w[...])


@task
def shrink(u: ReadWrite, *, largest: Scalar) -> None:
    """u / (1 + |largest|)"""
    u[...] = u[...] / (1 + abs(largest))


@task
def blend(
    velocity: Components(u=Read[offsets(x=(0, 1))], w=Read[offsets(z=(0, 1))]), b: Read[1] | None, q: Write,
    *, weight: float | None,
) -> None:  # fmt: skip
    """q = the divergence of a velocity, and of b, where it is there, the neighbours along x"""
    u, w = velocity
    rise = u[1, 0, 0] - u[0, 0, 0] + w[0, 0, 1] - w[0, 0, 0]
    q[...] = rise if b is None else rise + weight * (b[-1, 0, 0] + b[1, 0, 0])


NAMES = ("p", "q", "b", "u", "w")


def region(cells: tuple[int, int, int], periodic: tuple[bool, bool, bool] = (False, True, False)) -> Region:
    """All fields of the program."""
    return Region(Box.of(cells), FieldSpace(Field(name) for name in NAMES), periodic, ghost=1)


class Everything:
    """The program on a region."""

    def __init__(self, space: Region) -> None:
        self.space = space

    def __call__(self, f: Roles) -> Iterator[Launch]:
        over = self.space.cells
        yield differ(f.u, f.w, f.b, over=over, dt="dt")
        for _ in range(3):
            yield relax(f.p, f.b, f.q, over=over, weight=0.2)
            f.swap("p", "q")
            if not self.space.periodic[2]:
                yield bottom(f.p, over=self.space.bounds.layer(2, 0, 0, 1))
        yield update(f.p, f.u, f.w, over=over, largest="largest", total="total")
        yield shrink(f.u, over=over, largest="largest")


class Variants(Everything):
    """A program with two variants of a task."""

    def __call__(self, f: Roles) -> Iterator[Launch]:
        over = self.space.cells
        yield blend((f.u, f.w), None, f.b, over=over, weight=None)
        yield blend((f.u, f.w), f.b, f.q, over=over, weight=0.5)
        f.swap("p", "q")
        yield update(f.p, f.u, f.w, over=over, largest="largest", total="total")
        yield shrink(f.u, over=over, largest="largest")


def noise(space: Region, seed: int = 0) -> dict[str, np.ndarray]:
    """Random values for every field, ghost layers included, as one memory."""
    rng = np.random.default_rng(seed)
    shape = space.cells.grow(space.ghost).shape[::-1]
    return {name: rng.random(shape) for name in space.fields}
