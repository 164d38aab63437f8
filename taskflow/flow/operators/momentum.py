"""The momentum equation: du/dt = -div(u u) + friction + force - grad(p), without its pressure term.

Friction is viscosity Laplacian(u), or, with an eddy viscosity nu_t, div(nu (grad u + grad u^T)), nu = viscosity + nu_t.
MAC grid, divergence form, Adams-Bashforth of second order with a variable step. Momentum is carried by central
differences of second order or, with `QUICK`, by values that are biased upwind.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from taskflow.flow.grid import Grid, Vector
from taskflow.flow.grid.implicit import EXPLICIT, Implicit
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
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.tasks import Components, Read, ReadShort, ReadWrite, Scalar, Stencil, Write, task


@dataclass(frozen=True)
class Advection:
    """The scheme by which momentum is carried: central differences of second order. `ghost`: how many layers of ghost
    cells it reads.
    """

    ghost: ClassVar[int] = 1


class Quick(Advection):
    """Momentum is carried by QUICK (B. P. Leonard 1979, Comput. Methods Appl. Mech. Eng. 19, 59), for coarse grids; the
    velocity that carries it is the mean of the central scheme, so that the whole is of second order.

    Between two neighbours along any direction, D the one that the flow goes to, U the one that it comes from and UU the
    one before, q is the value of the parabola through the three, of third order; with equal spacings h it is
    (U + D) / 2 - (UU - 2 U + D) / 8, which against the mean adds a dissipation |U| h^3 / 16 times the fourth
    derivative. Its flux is one for both sides, so momentum is conserved. The line between U and D is taken on
    boundaries, and for the velocity across a boundary in the cell beside it where fluid comes from there: UU would lie
    beyond.
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
    """Kinematic viscosity, a force per mass that acts everywhere, the scheme by which momentum is carried, and the
    direction along which friction is `implicit`: the momentum equation leaves that part out.
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

    `ratio` = dt / dt_old. At the start it is 0, and H_old (what h holds) is not used. On return h holds H. Faces that
    lie on a wall keep their velocity, with H = 0.

    friction = viscosity Laplacian(u) or, with an eddy viscosity nu_t in cells, div(nu (grad u + grad u^T)), nu =
    viscosity + nu_t, taken in cells for normal stresses and as the mean of four cells on edges for shear stresses.
    lift = -expansion (T - reference) gravity, T being the mean of the cells beside the face.

    Beside stair steps, whose flags are in `faces`, closed faces keep their velocity and h. At others each solid
    neighbour, which holds 0, shows minus the face's own velocity: half a cell away the fluid stands still. H loses
    viscosity u / h^2 for each, h being the spacing there. On edges that touch a body, by the flags in `edges`, nu_t is
    0; T goes with `buoyancy`, and `edges` with `nu_t`.
    """
