"""Smoothers: relaxations of Laplacian(p) = rhs or div(b grad p) = rhs whose errors the next level can represent.

Each generator returns the fields of the iterate. The last launch includes `ghosts` layers of ghost cells, and earlier
launches the additional layers that this needs.
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
    """Return the launch that writes one relaxation of 0 into p of a level, in all cells or in one colour."""
    constants = {"mesh": level.mesh, "weight": weight, "colour": colour}
    return smooth_from_zero(level.rhs, level.coefficients, level.screen, level.p, over=level.mesh.box, **constants)


def relaxed(level: Level, at: Iterate, weight: float, colour: int | None = None) -> Launch:
    """Return the launch that writes one relaxation of p into the spare field."""
    constants = {"mesh": level.mesh, "weight": weight, "colour": colour}
    fields = at.p, level.rhs, level.coefficients, level.screen, at.spare
    return relax(*fields, over=level.mesh.box, **constants)


@dataclass(frozen=True)
class RedBlack:
    """Gauss-Seidel in two colours, starting with the cells of even i + j + k.

    `weight` above 1 overrelaxes: one sweep before and one after the correction with 1.15 reduce errors as much as two
    and two with 1 (I. Yavneh 1996, SIAM J. Sci. Comput. 17, 180), if levels are coarsened along all three directions.
    With two directions 2/3 of the excess over 1 is best, with one direction 0. If `symmetric`, the colours are
    exchanged after the correction.
    """

    weight: float = 1.15
    symmetric: bool = False

    @property
    def passes(self) -> int:
        """Launches of a sweep that read neighbours: one per colour."""
        return 2

    def begin(self, level: Level, sweeps: int, ghosts: int) -> Sweeping:
        """Yield `sweeps` >= 1 sweeps that start from p = 0."""
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
        """Yield `sweeps` sweeps of p, before or after the correction by the next level."""
        colours = sweeps * ((BLACK, RED) if self.symmetric and after else (RED, BLACK))
        for n, colour in enumerate(colours, start=1):
            at = yield from self._relax(level, at, colour, ghosts + len(colours) - n)
        return at

    def _relax(self, level: Level, at: Iterate, colour: int, ghosts: int) -> Sweeping:
        yield relaxed(level, at, self.on(level.mesh), colour).with_ghosts(ghosts)
        return at.swapped

    def on(self, mesh: Mesh) -> float:
        """Return the weight on a level."""
        return 1 + (self.weight - 1) * (0, 0, 2 / 3, 1)[len(mesh.halved)]


@dataclass(frozen=True)
class WeightedJacobi:
    """Jacobi: each cell by `weight` times its exact local correction (D. A. Jacobsen, I. Senocak 2013)."""

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
