"""Conjugate gradients for the pressure, preconditioned by a cycle of multigrid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from taskflow.flow.kernels import KERNELS
from taskflow.flow.poisson.mesh import Mesh
from taskflow.flow.poisson.multigrid.solver import Cycling
from taskflow.flow.poisson.variants import single, variable
from taskflow.runtime.regions import Location
from taskflow.runtime.tasks import (
    Foreign,
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


@task(kernel=KERNELS / "poisson" / "krylov.cu")
def project_first(r: Read, z: Foreign[1], *, rz: Reduce[sum], zAz: Reduce[sum], mesh: Mesh) -> None:
    """rz = sum over cells of r z, zAz = sum of z Laplacian(z)"""


project_first_single = single(project_first, "z")
project_first_variable = variable(project_first, Foreign, apart=True)
project_first_single_variable = variable(project_first_single, Foreign, apart=True)


@task(kernel=KERNELS / "poisson" / "advance.cu")
def advance_first(p: ReadWrite, d: Write, z: Foreign, *, rz: Scalar, zAz: Scalar) -> None:
    """d = z; p = p + rz / zAz d"""


advance_first_single = single(advance_first, "z")


@task(kernel=KERNELS / "poisson" / "krylov.cu")
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


project_single = single(project, "z")
project_variable = variable(project, Read, apart=True)
project_single_variable = variable(project_single, Read, apart=True)


@task(kernel=KERNELS / "poisson" / "advance.cu")
def advance(p: ReadWrite, d: ReadWrite, z: Foreign, *, rz: Scalar, zAz: Scalar, zAd: Scalar, dAd: Scalar) -> None:
    """d = z - (zAd / dAd) d; p = p + step d with step = rz / (zAz - zAd^2 / dAd)"""


advance_single = single(advance, "z")


@task(kernel=KERNELS / "poisson" / "krylov.cu")
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


next_residual_variable = variable(next_residual, Foreign, apart=True)
"""r = 0 in cells without an open face."""

FIRST_PROJECTIONS = {  # by whether z is of single precision, and whether coefficients are variable
    (False, False): project_first,
    (False, True): project_first_variable,
    (True, False): project_first_single,
    (True, True): project_first_single_variable,
}
PROJECTIONS = {
    (False, False): project,
    (False, True): project_variable,
    (True, False): project_single,
    (True, True): project_single_variable,
}


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
        """The direction, and the coefficients if they are variable."""
        return {"direction": "c", **super().fields}

    def taken(self, scalars: Mapping[str, float]) -> int:
        """The first iteration, and all rounds."""
        return 1 + super().taken(scalars)

    def solve(self, f: Roles) -> Iterator[Launch | Repeat]:
        """Iterations from p, at least one; then the scalars `norm`, `residual` and `rounds` say what they were for."""
        yield self.measure_rhs(f, singular=self.cycle.mesh.singular)
        yield self.find_residual(f)
        yield from self._first(f)
        yield self.tolerance.repeat(self._further, begun=True)

    def _first(self, f: Roles) -> Iterator[Launch]:
        """An iteration whose direction is that of the cycle."""
        mesh, r, d, b = self.cycle.mesh, self.cycle.residual, f.direction, self.faces(f)
        z = (yield from self.cycle.launches()).p
        numbers = f.scalars("rz", "zAz")
        yield FIRST_PROJECTIONS[self.cycle.single, bool(b)](r, z, *b, over=mesh.box, mesh=mesh, **numbers)
        along = advance_first_single if self.cycle.single else advance_first
        yield along(f.p, d, z, over=mesh.box, **numbers).with_ghosts(1)
        yield self._left(f)

    def _further(self, f: Roles) -> Iterator[Launch]:
        mesh, r, d, b = self.cycle.mesh, self.cycle.residual, f.direction, self.faces(f)
        z = (yield from self.cycle.launches()).p
        numbers = f.scalars("rz", "zAz", "zAd")
        yield PROJECTIONS[self.cycle.single, bool(b)](d, r, z, *b, over=mesh.box, mesh=mesh, **numbers)
        along = advance_single if self.cycle.single else advance
        yield along(f.p, d, z, over=mesh.box, dAd=f.scalar("dAd"), **numbers).with_ghosts(1)
        yield self._left(f)

    def _left(self, f: Roles) -> Launch:
        mesh, b = self.cycle.mesh, self.faces(f)
        left, names = next_residual_variable if b else next_residual, f.scalars("residual", "mean", "dAd")
        fields = (f.p, f.rhs, f.direction, *b, self.cycle.residual)
        return left(*fields, over=mesh.box, mesh=mesh, **names)
