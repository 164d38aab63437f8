"""Smoothers: relaxations of Laplacian(p) = rhs that leave errors which the next level can represent."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Protocol

from taskflow.flow.kernels import KERNELS
from taskflow.flow.poisson.multigrid.mesh import Mesh
from taskflow.tasks import Launch, Read, Write, task

RED, BLACK = 0, 1


@task(kernel=KERNELS / "smoothing.cu")
def relax(p: Read[1], rhs: Read, p_new: Write, *, mesh: Mesh, weight: float) -> None:
    """p_new = p + weight (Laplacian(p) - rhs) / d in every cell, d the diagonal of -Laplacian there."""


@task(kernel=KERNELS / "smoothing.cu")
def relax_colour(p: Read[1], rhs: Read, p_new: Write, *, mesh: Mesh, weight: float, colour: int) -> None:
    """p_new is what `relax` makes of p where i + j + k is even (colour 0) or odd (colour 1), and p elsewhere.

    Where a periodic direction has an odd number of cells, the two layers at its seam have one colour: each sees the old
    values of the other.
    """


@task(kernel=KERNELS / "smoothing.cu")
def relax_zero(rhs: Read, p: Write, *, mesh: Mesh, weight: float) -> None:
    """p is what `relax` makes of 0."""


@task(kernel=KERNELS / "smoothing.cu")
def relax_zero_colours(rhs: Read[1], p: Write, *, mesh: Mesh, weight: float, colour: int) -> None:
    """p is what `relax_colour` makes of 0, with this colour first and then with the other one."""


@dataclass(frozen=True)
class Iterate:
    """Two fields of a level: the one that holds p, and the one that the next relaxation writes."""

    p: str
    spare: str

    @property
    def swapped(self) -> Iterate:
        """The same with exchanged parts."""
        return Iterate(self.spare, self.p)


Sweeping = Generator[Launch, None, Iterate]


class Smoother(Protocol):
    """Launches that smooth on a level; each generator returns where p is then."""

    def begin(self, rhs: str, at: Iterate, sweeps: int, mesh: Mesh) -> Sweeping:
        """p = what so many sweeps, 1 or more, make of 0."""

    def smooth(self, rhs: str, at: Iterate, sweeps: int, mesh: Mesh, *, after: bool) -> Sweeping:
        """So many sweeps from p, before or after the correction by the next level."""


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

    def begin(self, rhs: str, at: Iterate, sweeps: int, mesh: Mesh) -> Sweeping:
        """See `Smoother`."""
        yield relax_zero_colours(rhs, at.p, over=mesh.box, mesh=mesh, weight=self.on(mesh), colour=RED)
        return (yield from self.smooth(rhs, at, sweeps - 1, mesh, after=False))

    def smooth(self, rhs: str, at: Iterate, sweeps: int, mesh: Mesh, *, after: bool) -> Sweeping:
        """See `Smoother`."""
        for colour in sweeps * ((BLACK, RED) if self.symmetric and after else (RED, BLACK)):
            yield relax_colour(at.p, rhs, at.spare, over=mesh.box, mesh=mesh, weight=self.on(mesh), colour=colour)
            at = at.swapped
        return at

    def on(self, mesh: Mesh) -> float:
        """The weight on a level."""
        return 1 + (self.weight - 1) * (0, 0, 2 / 3, 1)[len(mesh.halved)]


@dataclass(frozen=True)
class WeightedJacobi:
    """All cells at once, by `weight` times what would solve each alone (D. A. Jacobsen, I. Senocak 2013)."""

    weight: float = 0.86

    def begin(self, rhs: str, at: Iterate, sweeps: int, mesh: Mesh) -> Sweeping:
        """See `Smoother`."""
        yield relax_zero(rhs, at.p, over=mesh.box, mesh=mesh, weight=self.weight)
        return (yield from self.smooth(rhs, at, sweeps - 1, mesh, after=False))

    def smooth(self, rhs: str, at: Iterate, sweeps: int, mesh: Mesh, *, after: bool) -> Sweeping:
        """See `Smoother`."""
        for _ in range(sweeps):
            yield relax(at.p, rhs, at.spare, over=mesh.box, mesh=mesh, weight=self.weight)
            at = at.swapped
        return at
