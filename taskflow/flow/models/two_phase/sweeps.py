"""Sweeps of a volume of fluid and of its momentum, along one axis after another (G. D. Weymouth, D. K.-P. Yue 2010, J.
Comput. Phys. 229, 2853).

    f' = f - (F_behind - F_before) + s (c_behind - c_before),    c = w dt / dx,    s = 1 where f > 1/2 before the step

F = c times the share of phase 1 in the slab of thickness |c| of the cell upwind, below its plane. The last sweep of a
step takes back what the others added instead of adding its own: phase 1 is kept to rounding for any velocity.

Momentum moves in each sweep with the mass of that sweep. The mass m per volume changes by its fluxes alone:

    m' = m - (M_behind - M_before),    m' u' = m u - (M_behind u^_behind - M_before u^_before)

M = rho_2 c + (rho_1 - rho_2) F, with means of two cells around faces. After the last sweep m' is the density of the new
shares, and no momentum was added or taken back: it is kept to rounding. m stays positive, since less than half a cell
leaves in a step: s adds the phase that fills more than half of a cell. u^ is upwind on a line with Koren's slope times
the share of the mass upwind that stays, in the middle of what leaves: u' lies between u and the velocities upwind, for
any ratio of densities.
"""

from __future__ import annotations

from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.flow.operators.phases import Phases
from taskflow.runtime.tasks import (
    Axis,
    Components,
    Read,
    ReadShort,
    ReadWrite,
    Scalar,
    Write,
    facing,
    task,
)

TEXT = KERNELS / "two_phase" / "sweep.cu"
AROUND_DONORS = facing(n=(-2, 1), r=(-1, 1), s=(-1, 1))
BEHIND_N, BEHIND_R, BEHIND_S = facing(n=(0, 1)), facing(r=(0, 1)), facing(s=(0, 1))
ALONG = facing(n=(-2, 2))
PASSING = facing(n=(-2, 2)) | facing(n=(-1, 2), r=(-1, 0)) | facing(n=(-1, 2), s=(-1, 0))


@task(kernel=TEXT)
def carrying_velocity(q: Read, q_old: ReadWrite, *, ratio: Scalar) -> None:
    """q_old = q + 0.025 ratio (q - q_old), the velocity that carries the interface. With a ratio of 0, at the start,
    q_old is not used.
    """


@task(kernel=TEXT)
def mass_before(f: Read, mass: Write, *, phases: Phases) -> None:
    """mass = the density of the share f."""


@task(kernel=KERNELS / "two_phase" / "share_flux.cu")
def share_flux(f: Read[AROUND_DONORS], w: Read, flux: Write, *, along: Axis, dt: Scalar, grid: Grid) -> None:
    """flux = F on low faces across an axis, w being the velocity along it. On boundaries the mean of both cells enters,
    and walls mirror f.
    """


@task(kernel=TEXT)
def mass_of_shares(flux: ReadWrite, w: Read, *, along: Axis, dt: Scalar, grid: Grid, phases: Phases) -> None:
    """flux = rho_2 w + (rho_1 - rho_2) flux dx / dt: the mass that passes low faces across an axis, per area and time,
    from the shares that pass in a step.
    """


@task(kernel=TEXT)
def move_shares(
    f: Read, f_begun: Read, flux: Read[BEHIND_N], w: Read[BEHIND_N], w_r: Read[BEHIND_R] | None,
    w_s: Read[BEHIND_S] | None, mass: ReadWrite, f_new: Write,
    *, along: Axis, dt: Scalar, grid: Grid, phases: Phases, last: int,
) -> None:  # fmt: skip
    """f_new = f', and the mass loses what leaves, in a sweep along an axis with the flux F and the velocity w. f_begun
    is f before the step. w_r and w_s are the velocities of the other sweeps, for the `last` one.
    """


@task(kernel=KERNELS / "two_phase" / "sweep_momentum.cu")
def move_momentum(
    velocity: Components(q=Read[ALONG], r=Read[ALONG], s=Read[ALONG]), mass: Read[PASSING], flux: Read[PASSING],
    w: Read[PASSING], faces: ReadShort | None, moved: Components(q_new=Write, r_new=Write, s_new=Write),
    *, along: Axis, dt: Scalar, grid: Grid, phases: Phases,
) -> None:  # fmt: skip
    """q_new, r_new, s_new = the velocities along an axis and the other two after a sweep along it, as above. `mass` is
    that before the sweep. Cells beyond boundaries, and faces on them and of bodies, keep their velocity.
    """
