"""Momentum of two phases, advected by the mass fluxes of the interface.

    rho^_f u1 = rho_f u - dt div(M u^),    rho^ = rho - dt div M
    u_new = u1 + dt [(1 + r/2) V - r/2 V_old + J] / rho'_f + dt g,    J = [sigma kappa + (rho_1 - rho_2) fall] grad(f')

M = w rho on faces, V = div(mu (grad u + grad u^T)), u^ is u + r/2 (u - u_old) from the upwind side, r = dt / dt_old.
Densities on faces are plain means of both cells: rho^_f - rho_f = -dt div M then holds around every face, and a uniform
velocity stays uniform for any densities (O. Desjardins, V. Moureau 2010; N. Nangia, B. E. Griffith, N. A. Patankar, A.
P. S. Bhalla 2019, J. Comput. Phys. 390, 548). rho' and f' belong to the new interface, as in the pressure equation.

Or in velocity form, without mass fluxes, for small density ratios (P. Zaspel, M. Griebel 2011):

    u_new = u + dt [(1 + r/2) H - r/2 H_old] + dt g + dt J / rho'_f,    H = -(u . grad) u + V / rho_f

(u . grad) u uses upwind WENO5 (G.-S. Jiang, D. Peng 2000), each component on its own faces, with the others as means of
the four surrounding faces. Alternatively it is div(u u) by central differences or QUICK, as in one fluid.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from types import MappingProxyType
from typing import Any, ClassVar

from taskflow.flow.bodies import Obstacles
from taskflow.flow.bodies.forces import OWNERS, ForceTarget
from taskflow.flow.grid import Grid
from taskflow.flow.grid.stencils import AROUND_EDGES, BESIDE, WIDE_U, WIDE_V, WIDE_W, U, V, W
from taskflow.flow.kernels import KERNELS
from taskflow.flow.operators.momentum import Advection, Fluid, Quick
from taskflow.flow.operators.phases import Phases
from taskflow.runtime.regions import Location
from taskflow.runtime.tasks import (
    Axis,
    Components,
    Launch,
    Read,
    ReadByte,
    ReadShort,
    ReadWrite,
    Reduce,
    Roles,
    Scalar,
    Write,
    facing,
    task,
)

TEXTS = KERNELS / "two_phase"
MASS_FLUX = Components(m_x=Write, m_y=Write, m_z=Write)
VELOCITY = Components(u=Read, v=Read, w=Read)
VELOCITY_OLD = Components(u_old=Read, v_old=Read, w_old=Read)
BOTH_SIDES = facing(n=(-1, 0))  # of a face across the axis
EDGES_R, EDGES_S = facing(n=(-1, 0), r=(0, 1)), facing(n=(-1, 0), s=(0, 1))  # adjacent to the edges of that face
AROUND_FACE = facing(n=(-1, 0), r=(-1, 0)) | facing(n=(-1, 0), s=(-1, 0))
NEXT, TWO_AWAY, THREE_AWAY = (facing(n=(-m, m)) | facing(r=(-m, m)) | facing(s=(-m, m)) for m in (1, 2, 3))
SHARES = Components(f=Read[EDGES_R | EDGES_S | AROUND_FACE], f_new=Read[BOTH_SIDES])


class QuickInTurn(Quick):
    """QUICK, one component at a time."""

    stencils: ClassVar[Mapping[str, Any]] = MappingProxyType({"q": TWO_AWAY})


class Weno(Advection):
    """WENO5, one component at a time."""

    ghost: ClassVar[int] = 3
    defines: ClassVar[tuple[str, ...]] = ("WENO",)
    stencils: ClassVar[Mapping[str, Any]] = MappingProxyType({"q": THREE_AWAY})


@task(kernel=TEXTS / "mass_flux.cu")
def mass_flux(
    f: Read[2], velocity: VELOCITY, velocity_old: VELOCITY_OLD, mass: MASS_FLUX,
    *, ratio: Scalar, grid: Grid, phases: Phases,
) -> None:  # fmt: skip
    """M = w rho on low faces, w = u + 0.1 ratio (u - u_old), rho from the upwind side with Koren's limiter."""


@task(kernel=TEXTS / "momentum.cu")
def momentum_of_phases(
    velocity: Components(q=Read[TWO_AWAY], r=Read[EDGES_R], s=Read[EDGES_S], q_old=Read[TWO_AWAY]),
    mass: Components(m_n=Read[facing(n=(-1, 1))], m_r=Read[EDGES_R], m_s=Read[EDGES_S]),
    shares: SHARES, kappa: Read[BOTH_SIDES] | None, fall: Read[BOTH_SIDES] | None, faces: ReadShort | None,
    h: ReadWrite, q_new: Write,
    *, along: Axis, dt: Scalar, ratio: Scalar, grid: Grid, phases: Phases,
) -> None:  # fmt: skip
    """q_new, the velocity along an axis without the pressure, on faces, as above; on return h holds V. At the start
    `ratio` is 0, and neither q_old nor h is used. Faces on a wall, or closed by bodies, keep their velocity. Without
    `kappa` surface tension is omitted, without `fall` both densities weigh the same, or nothing.
    """


@task(kernel=TEXTS / "acceleration.cu")
def accelerate(
    velocity: Components(q=Read[NEXT], r=Read[EDGES_R], s=Read[EDGES_S]), shares: SHARES,
    kappa: Read[BOTH_SIDES] | None, fall: Read[BOTH_SIDES] | None, faces: ReadShort | None,
    h: ReadWrite, q_new: ReadWrite, *, along: Axis, dt: Scalar, ratio: Scalar, grid: Grid, phases: Phases,
) -> None:  # fmt: skip
    """q_new, moved before, gains all but the first term of u_new above. On return h holds V, of the velocity before. At
    the start `ratio` is 0, and h is not used. Faces on a wall, or closed by bodies, keep their velocity.
    """


@task(kernel=TEXTS / "velocity_form.cu")
def momentum_in_velocity_form(
    velocity: Components(q=Read[NEXT], r=Read[EDGES_R], s=Read[EDGES_S]), shares: SHARES,
    kappa: Read[BOTH_SIDES] | None, fall: Read[BOTH_SIDES] | None, faces: ReadShort | None,
    h: ReadWrite, q_new: Write, *, along: Axis, dt: Scalar, ratio: Scalar, grid: Grid, phases: Phases, fluid: Fluid,
) -> None:  # fmt: skip
    """q_new as in `momentum_of_phases`, in velocity form; on return h holds H. At the start `ratio` is 0, and h is not
    used. The advection scheme of `fluid` is central, `QuickInTurn` or `Weno`. Only the first ghost layer is used:
    WENO5 repeats the nearest difference farther out.
    """


@task(kernel=TEXTS / "mean_weight.cu")
def weight_on_faces(
    f: Read[BOTH_SIDES], fall: Read[BOTH_SIDES] | None,
    *, along: Axis, weight: Reduce["exact sum"], grid: Grid, phases: Phases, bound: float,
) -> None:  # fmt: skip
    """weight = sum over faces across an axis of rho g + (rho_1 - rho_2) fall grad(f), terms below 16 `bound`."""


@task(kernel=TEXTS / "mean_weight.cu")
def take_off_mean_weight(
    q: ReadWrite, f: Read[BOTH_SIDES],
    *, along: Axis, total: Scalar["exact sum"], dt: Scalar, phases: Phases, part: float,
) -> None:  # fmt: skip
    """q = q - dt part total / rho on faces across an axis."""


@task(kernel=TEXTS / "limits.cu")
def friction_rate(f: Read[AROUND_EDGES], *, friction: Reduce[max], grid: Grid, phases: Phases) -> None:
    """friction = max over interior faces of the sum of mu / h^2 over the sides of their volumes, over twice their
    density.
    """


@task(kernel=TEXTS / "projection.cu")
def inverse_density(
    f: Read[BESIDE], solid: ReadByte | None, coefficients: Components(b_x=Write, b_y=Write, b_z=Write),
    *, phases: Phases, less: float,
) -> None:  # fmt: skip
    """b = 1 / rho - `less` on low faces, 0 on faces closed by bodies."""


@task(kernel=TEXTS / "projection.cu")
def begin_old(q: Read, q_old: Write) -> None:
    """q_old = q."""


@task(kernel=TEXTS / "projection.cu")
def extrapolate_pressure(p: Read, p_old: ReadWrite, *, ratio: Scalar) -> None:
    """p_old = p + ratio (p - p_old). With a ratio of 0, at the start, p_old is not used."""


@task(kernel=TEXTS / "projection.cu")
def correct_by_density(
    velocity: Components(u=ReadWrite, v=ReadWrite, w=ReadWrite), p: Read[BESIDE],
    coefficients: Components(b_x=Read, b_y=Read, b_z=Read), *, dt: Scalar, grid: Grid,
) -> None:  # fmt: skip
    """u = u - dt b grad(p), on faces. Those on walls keep their velocity."""


@task(kernel=KERNELS / "two_phase" / "forces.cu")
def force_of_phases(
    velocity: Components(u=Read[WIDE_U], v=Read[WIDE_V], w=Read[WIDE_W]),
    mass: Components(m_x=Read[U], m_y=Read[V], m_z=Read[W]), f: Read[AROUND_EDGES], p: Read[BESIDE],
    solid: ReadByte, owners: OWNERS,
    *, forces: Reduce[sum, 9], grid: Grid, phases: Phases, target: ForceTarget,
) -> None:  # fmt: skip
    """Force of both phases on a body and its moment: `forces` are pressure, friction and moment, with x, y and z
    components.

    pressure = sum of p on the faces between fluid and body times their area, towards the body: p of the adjacent cell
    plus the weight of the fluid in the half cell between. friction = the other momentum fluxes into its faces: viscous
    stress, and at edges of stair steps the momentum advected by the mass fluxes of the last step. The capillary force
    along the contact line is not included.
    """


@dataclass(frozen=True)
class PhaseObstacles(Obstacles):
    """Bodies whose faces the pressure solver resolves."""

    _: KW_ONLY
    phases: Phases

    @property
    def pushed(self) -> dict[str, Location]:
        """Empty: forces are computed from a state."""
        return {}

    def force(self, f: Roles, forces: str, **where: Any) -> Launch:
        velocity, mass, owners = (f.u, f.v, f.w), (f.m_x, f.m_y, f.m_z), (f.owner_x, f.owner_y, f.owner_z)
        return force_of_phases(velocity, mass, f.f, f.p, f.solid, owners, forces=forces, phases=self.phases, **where)
