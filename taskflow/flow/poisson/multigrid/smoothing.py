"""Smoothers: relaxations of Laplacian(p) = rhs, or of div(b grad p) = rhs, that leave errors which the next level can
represent.

Each generator returns where p is then. The last launch is done on `ghosts` layers of ghost cells, too, and those before
it on as many more as it takes to have these.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from taskflow.flow.poisson.mesh import Mesh
from taskflow.flow.poisson.multigrid.levels import Iterate, Level
from taskflow.flow.poisson.relaxation import relax, smooth_colours_from_zero, smooth_from_zero
from taskflow.runtime.tasks import Launch

RED, BLACK = 0, 1
Sweeping = Generator[Launch, None, Iterate]


def relaxed_from_zero(level: Level, weight: float, colour: int | None = None) -> Launch:
    """The level's p = what a relaxation of all cells, or of those of a colour, makes of 0."""
    constants = {"mesh": level.mesh, "weight": weight, "colour": colour}
    return smooth_from_zero(level.rhs, level.coefficients, level.p, over=level.mesh.box, **constants)


def relaxed(level: Level, at: Iterate, weight: float, colour: int | None = None) -> Launch:
    """The spare field = what that makes of p."""
    constants = {"mesh": level.mesh, "weight": weight, "colour": colour}
    return relax(at.p, level.rhs, level.coefficients, at.spare, over=level.mesh.box, **constants)


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
        """Launches of a sweep, each of which reads the neighbours of a cell: one for each colour."""
        return 2

    def begin(self, level: Level, sweeps: int, ghosts: int) -> Sweeping:
        """p = what so many sweeps, 1 or more, make of 0."""
        at, mesh, weight = level.iterate, level.mesh, self.on(level.mesh)
        begun = ghosts + self.passes * (sweeps - 1)
        if level.coefficients:
            yield relaxed_from_zero(level, weight, RED).with_ghosts(begun + 1)
            at = yield from self._relax(level, at, BLACK, begun)
        else:
            first = smooth_colours_from_zero(level.rhs, at.p, over=mesh.box, mesh=mesh, weight=weight, colour=RED)
            yield first.with_ghosts(begun)
        return (yield from self.smooth(level, at, sweeps - 1, ghosts, after=False))

    def smooth(self, level: Level, at: Iterate, sweeps: int, ghosts: int, *, after: bool) -> Sweeping:
        """So many sweeps from p, before or after the correction by the next level."""
        colours = sweeps * ((BLACK, RED) if self.symmetric and after else (RED, BLACK))
        for n, colour in enumerate(colours, start=1):
            at = yield from self._relax(level, at, colour, ghosts + len(colours) - n)
        return at

    def _relax(self, level: Level, at: Iterate, colour: int, ghosts: int) -> Sweeping:
        yield relaxed(level, at, self.on(level.mesh), colour).with_ghosts(ghosts)
        return at.swapped

    def on(self, mesh: Mesh) -> float:
        """The weight on a level."""
        return 1 + (self.weight - 1) * (0, 0, 2 / 3, 1)[len(mesh.halved)]


@dataclass(frozen=True)
class WeightedJacobi:
    """Jacobi: all cells at once, by `weight` times what would solve each alone (D. A. Jacobsen, I. Senocak 2013)."""

    weight: float = 0.86

    @property
    def passes(self) -> int:
        return 1

    def begin(self, level: Level, sweeps: int, ghosts: int) -> Sweeping:
        yield relaxed_from_zero(level, self.weight).with_ghosts(ghosts + sweeps - 1)
        return (yield from self.smooth(level, level.iterate, sweeps - 1, ghosts, after=False))

    def smooth(self, level: Level, at: Iterate, sweeps: int, ghosts: int, *, after: bool) -> Sweeping:
        for n in range(1, sweeps + 1):
            yield relaxed(level, at, self.weight).with_ghosts(ghosts + sweeps - n)
            at = at.swapped
        return at


Smoother = RedBlack | WeightedJacobi
