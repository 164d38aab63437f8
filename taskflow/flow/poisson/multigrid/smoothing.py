"""Smoothers: relaxations of Laplacian(p) = rhs, or of div(b grad p) = rhs, that leave errors which the next level can
represent.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Protocol

from taskflow.flow.grid.stencils import ACROSS_X, ACROSS_Y, ACROSS_Z
from taskflow.flow.kernels import KERNELS
from taskflow.flow.poisson.mesh import Mesh
from taskflow.flow.poisson.multigrid.levels import Iterate, Level
from taskflow.flow.poisson.variants import variable
from taskflow.runtime.tasks import Launch, Read, Write, task

RED, BLACK = 0, 1


@task(kernel=KERNELS / "poisson" / "smoothing.cu")
def relax(p: Read[1], rhs: Read, p_new: Write, *, mesh: Mesh, weight: float) -> None:
    """p_new = p + weight (Laplacian(p) - rhs) / d in every cell, d the diagonal of -Laplacian there."""


relax_variable = variable(relax, Read)
"""p stays where no face is open."""


@task(kernel=KERNELS / "poisson" / "smoothing.cu")
def relax_colour(p: Read[1], rhs: Read, p_new: Write, *, mesh: Mesh, weight: float, colour: int) -> None:
    """p_new is what `relax` makes of p where i + j + k is even (colour 0) or odd (colour 1), and p elsewhere.

    Where a periodic direction has an odd number of cells, the two layers at its seam have one colour: each sees the old
    values of the other.
    """


relax_colour_variable = variable(relax_colour, Read)


@task(kernel=KERNELS / "poisson" / "smoothing.cu")
def relax_zero(rhs: Read, p: Write, *, mesh: Mesh, weight: float) -> None:
    """p is what `relax` makes of 0."""


relax_zero_variable = variable(relax_zero, Read)


@task(kernel=KERNELS / "poisson" / "smoothing.cu")
def relax_zero_colour_variable(
    rhs: Read,
    b_x: Read[ACROSS_X],
    b_y: Read[ACROSS_Y],
    b_z: Read[ACROSS_Z],
    p: Write,
    *,
    mesh: Mesh,
    weight: float,
    colour: int,
) -> None:
    """p is what `relax_colour_variable` makes of 0."""


@task(kernel=KERNELS / "poisson" / "smoothing.cu")
def relax_zero_colours(rhs: Read[1], p: Write, *, mesh: Mesh, weight: float, colour: int) -> None:
    """p is what `relax_colour` makes of 0, with this colour first and then with the other one."""


Sweeping = Generator[Launch, None, Iterate]


class Smoother(Protocol):
    """Launches that smooth on a level; each generator returns where p is then. The last one is done on `ghosts` layers
    of ghost cells, too, and those before it on as many more as it takes to have these.
    """

    @property
    def passes(self) -> int:
        """Launches of a sweep, each of which reads the neighbours of a cell."""

    def begin(self, level: Level, sweeps: int, ghosts: int) -> Sweeping:
        """p = what so many sweeps, 1 or more, make of 0."""

    def smooth(self, level: Level, at: Iterate, sweeps: int, ghosts: int, *, after: bool) -> Sweeping:
        """So many sweeps from p, before or after the correction by the next level."""


def relaxed_zero(level: Level, weight: float) -> Launch:
    """The level's p = what a relaxation of all cells makes of 0."""
    once, mesh = relax_zero_variable if level.faces else relax_zero, level.mesh
    return once(level.rhs, *level.faces, level.p, over=mesh.box, mesh=mesh, weight=weight)


@dataclass(frozen=True)
class RedBlack:
    """Gauss-Seidel in two colours: first the cells where i + j + k is even.

    `weight` above 1 overrelaxes: with 1.15 one sweep before and one after the correction reduce errors as two and two
    do with 1 (I. Yavneh 1996, SIAM J. Sci. Comput. 17, 180). That is for levels that are coarsened along all three
    directions; along two, 2/3 of the excess over 1 is best, along one none. If `symmetric` the colours change places
    after the correction.
    """

    weight: float = 1.15
    symmetric: bool = False

    @property
    def passes(self) -> int:
        """One for each colour."""
        return 2

    def begin(self, level: Level, sweeps: int, ghosts: int) -> Sweeping:
        """See `Smoother`."""
        at, mesh, weight = level.iterate, level.mesh, self.on(level.mesh)
        begun = ghosts + self.passes * (sweeps - 1)
        if level.faces:
            fields = (level.rhs, *level.faces, at.p)
            first = relax_zero_colour_variable(*fields, over=mesh.box, mesh=mesh, weight=weight, colour=RED)
            yield first.with_ghosts(begun + 1)
            at = yield from self._relax(level, at, BLACK, begun)
        else:
            first = relax_zero_colours(level.rhs, at.p, over=mesh.box, mesh=mesh, weight=weight, colour=RED)
            yield first.with_ghosts(begun)
        return (yield from self.smooth(level, at, sweeps - 1, ghosts, after=False))

    def smooth(self, level: Level, at: Iterate, sweeps: int, ghosts: int, *, after: bool) -> Sweeping:
        """See `Smoother`."""
        colours = sweeps * ((BLACK, RED) if self.symmetric and after else (RED, BLACK))
        for n, colour in enumerate(colours, start=1):
            at = yield from self._relax(level, at, colour, ghosts + len(colours) - n)
        return at

    def _relax(self, level: Level, at: Iterate, colour: int, ghosts: int) -> Sweeping:
        once, mesh = relax_colour_variable if level.faces else relax_colour, level.mesh
        fields = (at.p, level.rhs, *level.faces, at.spare)
        relaxed = once(*fields, over=mesh.box, mesh=mesh, weight=self.on(mesh), colour=colour)
        yield relaxed.with_ghosts(ghosts)
        return at.swapped

    def on(self, mesh: Mesh) -> float:
        """The weight on a level."""
        return 1 + (self.weight - 1) * (0, 0, 2 / 3, 1)[len(mesh.halved)]


@dataclass(frozen=True)
class WeightedJacobi:
    """All cells at once, by `weight` times what would solve each alone (D. A. Jacobsen, I. Senocak 2013)."""

    weight: float = 0.86

    @property
    def passes(self) -> int:
        """All cells at once."""
        return 1

    def begin(self, level: Level, sweeps: int, ghosts: int) -> Sweeping:
        """See `Smoother`."""
        yield relaxed_zero(level, self.weight).with_ghosts(ghosts + sweeps - 1)
        return (yield from self.smooth(level, level.iterate, sweeps - 1, ghosts, after=False))

    def smooth(self, level: Level, at: Iterate, sweeps: int, ghosts: int, *, after: bool) -> Sweeping:
        """See `Smoother`."""
        once, mesh = relax_variable if level.faces else relax, level.mesh
        for n in range(1, sweeps + 1):
            relaxed = once(at.p, level.rhs, *level.faces, at.spare, over=mesh.box, mesh=mesh, weight=self.weight)
            yield relaxed.with_ghosts(ghosts + sweeps - n)
            at = at.swapped
        return at
