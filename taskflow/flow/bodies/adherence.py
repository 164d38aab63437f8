"""Velocity and heat beside surfaces: friction over less than a spacing, and the open share of what flows by.

Of a second derivative beside a surface, a share s of a spacing h from the face, the difference towards it is

    (0 - u) / (s h)     in place of     (0 - u) / h,

which the equation without bodies has, as u = 0 is stored inside (F. Gibou, R. Fedkiw, L.-T. Cheng & M. Kang 2002, J.
Comput. Phys. 176, 205). What that is more, -viscosity friction u with the sum `friction` of (1/s - 1) / h^2 over all
neighbours inside, has no bound: it is taken at the end of the step, where no length of a step is too large for it.

Of a cut face the surface leaves a share o open, through which o u flows, u being the velocity in its centre (Y. T. Ng,
C. Min & F. Gibou 2009, J. Comput. Phys. 228, 8807). q = o u is what is stored there: so its divergence is that of the
volume, and all that flows is carried by q. With blockage = 1/o - 1, the covered area over the open one, u = q +
blockage q, and the momentum equation, which knows only q, lacks o in front of its terms, and friction between faces,
that of the viscosity alone, of what is missing of u:

    dq/dt = o (H(q) + viscosity Laplacian(blockage q) - grad(p)) - viscosity friction q.

The projection pushes q by all of -dt grad(p); what that is too much is given before, with the last pressure.
"""

from taskflow.flow.grid import Grid
from taskflow.flow.grid.stencils import BESIDE
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.tasks import Components, Read, ReadByte, ReadWrite, Scalar, task


@task(kernel=KERNELS / "bodies" / "adherence.cu")
def apply_wall_friction(
    velocity: Components(u=Read[1], v=Read[1], w=Read[1]),
    velocity_new: Components(u_new=ReadWrite, v_new=ReadWrite, w_new=ReadWrite), p: Read[BESIDE], solid: ReadByte,
    friction: Components(friction_x=Read, friction_y=Read, friction_z=Read),
    blockage: Components(blockage_x=Read[1], blockage_y=Read[1], blockage_z=Read[1]),
    *, dt: Scalar, grid: Grid, viscosity: float,
) -> None:  # fmt: skip
    """u_new = u + dt H becomes 0 on closed faces, and on others kept u_new + added + (1 - kept) dt grad(p), with

        kept = o / (1 + a),    added = kept dt viscosity sum(blockage u / h^2 over neighbours) + (1 - o) u / (1 + a),
        a = dt viscosity (friction + (1 - o) sum(1 / h^2 over neighbours)).

    That is the end of the step dt of the equation above, with what a face takes from its own velocity at the end of the
    step, less what the projection with that p will take: so a steady flow does not depend on dt. What lies beyond walls
    is no neighbour. Faces on walls keep their velocity.
    """


@task(kernel=KERNELS / "bodies" / "adherence.cu")
def wall_heat_flux(T: ReadWrite, conductance_T: Read, warm_T: Read, *, dt: Scalar, diffusivity: float) -> None:
    """T = (T + dt diffusivity warm_T) / (1 + dt diffusivity conductance_T): the end of the step dt of conduction from
    bodies.

    conductance_T is the sum of 1 / (s h^2) over the neighbours in bodies with a temperature, s h being the distance of
    their surface; warm_T has each of them times that temperature.
    """
