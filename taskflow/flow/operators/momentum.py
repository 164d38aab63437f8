"""Momentum equation without its pressure term: du/dt = -div(u u) + friction + force - grad(p).

Friction is viscosity Laplacian(u) or, with an eddy viscosity nu_t, div(nu (grad u + grad u^T)), nu = viscosity + nu_t.
MAC grid, divergence form, second-order Adams-Bashforth with variable steps. Advection by second-order central
differences or, with `QUICK`, by upwind-biased values.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from taskflow.flow.grid import Grid, Vector
from taskflow.flow.grid.stencils import (
    AROUND_EDGES,
    BESIDE,
    WIDE_SIDES_U,
    WIDE_SIDES_V,
    WIDE_SIDES_W,
    WIDE_U,
    WIDE_V,
    WIDE_W,
    U,
    V,
    W,
)
from taskflow.flow.kernels import KERNELS, choice
from taskflow.runtime.tasks import Components, Read, ReadShort, ReadWrite, Scalar, Stencil, Write, task


@dataclass(frozen=True)
class Implicit:
    """Direction of implicit diffusion by its `axis`, here None: a compile-time choice of kernels."""

    axis: ClassVar[int | None] = None


EXPLICIT = Implicit()
ALONG: dict[str, Implicit] = {
    name: choice(Implicit, f"Implicit{name.upper()}", axis=axis, defines=(f"IMPLICIT_{name.upper()}",))()
    for axis, name in enumerate("xyz")
}


@dataclass(frozen=True)
class Advection:
    """Advection scheme of momentum: central differences of second order, reading `ghost` layers."""

    ghost: ClassVar[int] = 1


class Quick(Advection):
    """QUICK advection of momentum (B. P. Leonard 1979, Comput. Methods Appl. Mech. Eng. 19, 59), for coarse grids.

    The advecting velocity is the mean of the central scheme, so the scheme is of second order. Between two neighbours
    along any direction, D downstream, U upstream and UU upstream of U, the advected value lies on the parabola through
    the three, of third order. With equal spacings h it is (U + D) / 2 - (UU - 2 U + D) / 8, which adds a dissipation
    |U| h^3 / 16 times the fourth derivative to the central scheme. Both sides share one flux, so momentum is conserved.
    The value is linear between U and D on boundaries, and for the normal velocity in a boundary-adjacent cell with
    inflow, where UU is outside.
    """

    ghost: ClassVar[int] = 2
    defines: ClassVar[tuple[str, ...]] = ("QUICK",)
    stencils: ClassVar[Mapping[str, Stencil]] = MappingProxyType({
        "u": WIDE_U, "v": WIDE_V, "w": WIDE_W,
        "u_sides": WIDE_SIDES_U, "v_sides": WIDE_SIDES_V, "w_sides": WIDE_SIDES_W,
    })  # fmt: skip


CENTRAL, QUICK = Advection(), Quick()


@dataclass(frozen=True)
class Fluid:
    """Kinematic viscosity, uniform force per mass, advection scheme, and the direction of `implicit` friction.

    The momentum equation omits the implicit part.
    """

    viscosity: float
    force: Vector = (0.0, 0.0, 0.0)
    advection: Advection = CENTRAL
    implicit: Implicit = EXPLICIT


@dataclass(frozen=True)
class Buoyancy:
    """Boussinesq: force per mass = -expansion (T - reference) gravity."""

    expansion: float
    reference: float
    gravity: Vector


TENDENCY = Components(h_u=ReadWrite, h_v=ReadWrite, h_w=ReadWrite)
VELOCITY_NEW = Components(u_new=Write, v_new=Write, w_new=Write)


@task(kernel=KERNELS / "momentum.cu")
def momentum(
    velocity: Components(u=Read[U], v=Read[V], w=Read[W]), nu_t: Read[AROUND_EDGES] | None, T: Read[BESIDE] | None,
    faces: ReadShort | None, edges: ReadShort | None, tendency: TENDENCY, velocity_new: VELOCITY_NEW,
    *, dt: Scalar, ratio: Scalar, grid: Grid, fluid: Fluid, buoyancy: Buoyancy | None,
) -> None:  # fmt: skip
    """u_new = u + dt ((1 + ratio/2) H - ratio/2 H_old), H = -div(u u) + friction + force + lift, on faces.

    `ratio` = dt / dt_old, or 0 in the first step, where H_old in h is not used. On return h = H. Faces on walls keep
    their velocity, with H = 0.

    friction = viscosity Laplacian(u) or, with an eddy viscosity nu_t in cells, div(nu (grad u + grad u^T)), nu =
    viscosity + nu_t, in cells for normal stresses and as the mean of four cells on edges for shear stresses.

    lift = -expansion (T - reference) gravity, with T the mean of the cells adjacent to the face. `buoyancy` needs T.

    With stair steps, flagged in `faces`, closed faces keep their velocity and h. At open faces each solid neighbour,
    which stores 0, acts as minus the face's velocity, so that u = 0 half a cell away: H loses viscosity u / h^2 for
    each, h being the spacing there. On edges that touch a body, flagged in `edges`, nu_t = 0. `nu_t` needs `edges` if
    bodies are present.
    """
