"""Conjugate gradients for the pressure, preconditioned by a cycle of multigrid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from taskflow.flow.kernels import KERNELS
from taskflow.flow.poisson.multigrid import Cycle, Mesh
from taskflow.flow.poisson.multigrid.solver import begin_residual
from taskflow.flow.poisson.tolerance import Tolerance
from taskflow.regions import Location, Partition
from taskflow.tasks import Foreign, Launch, Read, ReadWrite, Reduce, Repeat, Roles, Scalar, Write, repeat, task


@task(kernel=KERNELS / "krylov.cu")
def begin_direction(d: Write, *, dAd: Reduce[sum]) -> None:
    """d = 0, dAd = 0"""


@task(kernel=KERNELS / "krylov.cu")
def project(d: Read[1], r: Foreign, z: Foreign, *, rz: Reduce[sum], zAd: Reduce[sum], mesh: Mesh) -> None:
    """rz = sum over cells of r z, zAd = sum over cells of z Laplacian(d)"""


@task(kernel=KERNELS / "krylov.cu")
def next_direction(d: ReadWrite, z: Foreign, *, zAd: Scalar, dAd: Scalar) -> None:
    """d = z - (zAd / dAd) d"""


@task(kernel=KERNELS / "krylov.cu")
def curvature(d: Read[1], *, dAd: Reduce[sum], mesh: Mesh) -> None:
    """dAd = sum over cells of d Laplacian(d)"""


@task(kernel=KERNELS / "krylov.cu")
def advance(p: ReadWrite, d: Read, *, rz: Scalar, dAd: Scalar) -> None:
    """p = p + (rz / dAd) d"""


@task(kernel=KERNELS / "krylov.cu")
def next_residual(r: ReadWrite, d: Foreign[1], *, rz: Scalar, dAd: Scalar, residual: Reduce[sum], mesh: Mesh) -> None:
    """r = r - (rz / dAd) Laplacian(d); residual = sum over cells of r^2"""


@dataclass(frozen=True)
class ConjugateGradients:
    """Conjugate gradients with a cycle of multigrid for a preconditioner, until a tolerance is reached. See `Solver`.

    The cycle is not symmetric (its restriction is not the transpose of its interpolation, nor need its smoother be),
    so each direction is made conjugate to the last by the number that this takes, zAd / dAd, and not by that which
    follows in the symmetric case (Y. Notay 2000, SIAM J. Sci. Comput. 22, 1444). It costs no further wait: both numbers
    of an iteration that come from z are reduced together.
    """

    cycle: Cycle
    tolerance: Tolerance

    @property
    def fields(self) -> dict[str, Location]:
        """The direction."""
        return {"direction": "c"}

    def partitions(self, main: Partition) -> tuple[Partition, ...]:
        """The levels of the cycle."""
        return self.cycle.partitions(main)

    def solve(self, f: Roles) -> Iterator[Launch | Repeat]:
        """Iterations from p, at least one; then the scalars `norm`, `residual` and `rounds` say what they were for."""
        mesh, r = self.cycle.mesh, self.cycle.residual
        yield begin_residual(f.p, f.rhs, r, over=mesh.box, residual="residual", norm="norm", mesh=mesh)
        yield begin_direction(f.direction, over=mesh.box, dAd="dAd")
        yield repeat(
            self._body,
            self.tolerance.most,
            until=self.tolerance.reached,
            lag=False,
            count="rounds",
            otherwise=self.tolerance.missed,
        )

    def taken(self, scalars: Mapping[str, float]) -> int:
        """All iterations."""
        return round(scalars["rounds"])

    def _body(self, f: Roles) -> Iterator[Launch]:
        mesh, r, d = self.cycle.mesh, self.cycle.residual, f.direction
        z = (yield from self.cycle.launches()).p
        yield project(d, r, z, over=mesh.box, rz="rz", zAd="zAd", mesh=mesh)
        yield next_direction(d, z, over=mesh.box, zAd="zAd", dAd="dAd")
        yield curvature(d, over=mesh.box, dAd="dAd", mesh=mesh)
        yield advance(f.p, d, over=mesh.box, rz="rz", dAd="dAd")
        yield next_residual(r, d, over=mesh.box, rz="rz", dAd="dAd", residual="residual", mesh=mesh)
