"""Conjugate gradients for the pressure, preconditioned by a cycle of multigrid."""

from __future__ import annotations

from collections.abc import Iterator

from taskflow.flow.kernels import KERNELS
from taskflow.flow.poisson.multigrid import Mesh
from taskflow.flow.poisson.multigrid.solver import Cycling, find_residual
from taskflow.flow.poisson.residual import measure_rhs
from taskflow.regions import Location
from taskflow.tasks import (
    Foreign,
    ForeignSingle,
    Launch,
    Read,
    ReadWrite,
    Reduce,
    Repeat,
    Roles,
    Scalar,
    Write,
    task,
)


@task(kernel=KERNELS / "krylov.cu")
def begin_direction(d: Write, *, dAd: Reduce[sum]) -> None:
    """d = 0, dAd = 0"""


@task(kernel=KERNELS / "krylov.cu")
def project(
    d: Read[1],
    r: Foreign,
    z: Foreign[1],
    *,
    rz: Reduce[sum],
    zAz: Reduce[sum],
    zAd: Reduce[sum],
    mesh: Mesh,
) -> None:
    """rz = sum over cells of r z, zAz = sum of z Laplacian(z), zAd = sum of z Laplacian(d)"""


@task(kernel=KERNELS / "krylov.cu")
def project_single(
    d: Read[1],
    r: Foreign,
    z: ForeignSingle[1],
    *,
    rz: Reduce[sum],
    zAz: Reduce[sum],
    zAd: Reduce[sum],
    mesh: Mesh,
) -> None:
    """`project` for z of single precision."""


@task(kernel=KERNELS / "advance.cu")
def advance(p: ReadWrite, d: ReadWrite, z: Foreign, *, rz: Scalar, zAz: Scalar, zAd: Scalar, dAd: Scalar) -> None:
    """d = z - (zAd / dAd) d; p = p + step d with step = rz / (zAz - zAd^2 / dAd)"""


@task(kernel=KERNELS / "advance.cu")
def advance_single(
    p: ReadWrite, d: ReadWrite, z: ForeignSingle, *, rz: Scalar, zAz: Scalar, zAd: Scalar, dAd: Scalar
) -> None:
    """`advance` for z of single precision."""


@task(kernel=KERNELS / "krylov.cu")
def next_residual(
    p: Foreign[1],
    rhs: Foreign,
    d: Foreign[1],
    r: Write,
    *,
    residual: Reduce[sum],
    dAd: Reduce[sum],
    mean: Scalar,
    mesh: Mesh,
) -> None:
    """r = rhs - mean - Laplacian(p); residual = sum over cells of r^2, dAd = sum of d Laplacian(d)"""


class ConjugateGradients(Cycling):
    """Conjugate gradients with a cycle of multigrid for a preconditioner, until a tolerance is reached. See `Solver`.

    The cycle is not symmetric (its restriction is not the transpose of its interpolation, nor need its smoother be),
    so each direction is made conjugate to the last by the number that this takes, zAd / dAd, and not by that which
    follows in the symmetric case (Y. Notay 2000, SIAM J. Sci. Comput. 22, 1444). An iteration waits for reductions
    twice: for what comes from z, which gives d Laplacian(d) of the next direction d in advance (A. T. Chronopoulos,
    C. W. Gear 1989, J. Comput. Appl. Math. 25, 153), and for the residual. That is computed from p, not carried along:
    in single precision one that is carried goes on to shrink where p has no more digits to give.
    """

    @property
    def fields(self) -> dict[str, Location]:
        """The direction."""
        return {"direction": "c"}

    def solve(self, f: Roles) -> Iterator[Launch | Repeat]:
        """Iterations from p, at least one; then the scalars `norm`, `residual` and `rounds` say what they were for."""
        mesh = self.cycle.mesh
        yield measure_rhs(f.rhs, mesh.box, singular=mesh.singular)
        yield find_residual(f, self.cycle)
        yield begin_direction(f.direction, over=mesh.box, dAd="dAd")
        yield self.tolerance.repeat(self._body)

    def _body(self, f: Roles) -> Iterator[Launch]:
        mesh, r, d = self.cycle.mesh, self.cycle.residual, f.direction
        z = (yield from self.cycle.launches()).p
        numbers = {name: name for name in ("rz", "zAz", "zAd")}
        onto, along = (project_single, advance_single) if self.cycle.single else (project, advance)
        yield onto(d, r, z, over=mesh.box, mesh=mesh, **numbers)
        yield along(f.p, d, z, over=mesh.box, dAd="dAd", **numbers)
        yield next_residual(f.p, f.rhs, d, r, over=mesh.box, residual="residual", dAd="dAd", mean="mean", mesh=mesh)
