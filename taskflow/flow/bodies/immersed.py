"""Bodies in a flow, immersed: surfaces lie where they are, between the points of the grid (second order).

A face is closed if its own centre is inside a body: the velocity there is zero, and no fluid passes. Faces beside
closed ones are cut: they feel the friction of a surface at its true distance, and what flows through is the velocity in
their centre times the open share of their area. All else in the momentum equation is as without bodies, but that eddies
have no viscosity on edges beside closed faces; what the pressure meets are closed faces, as at stair steps.

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

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from taskflow.flow.bodies.forces import PUSH, PUSHES, BoundedTransport, heat_from_immersed_body
from taskflow.flow.bodies.obstacles import Obstacles
from taskflow.flow.grid import Grid
from taskflow.flow.grid.stencils import BESIDE
from taskflow.flow.kernels import KERNELS
from taskflow.flow.operators.momentum import Fluid
from taskflow.flow.scalars.transport import Transport
from taskflow.flow.time.schemes import StagePart
from taskflow.runtime.regions import Box, Location
from taskflow.runtime.tasks import Components, Launch, Read, ReadByte, ReadWrite, Roles, Scalar, task

FRICTION: dict[str, Location] = {"friction_x": "fx", "friction_y": "fy", "friction_z": "fz"}
BLOCKAGE: dict[str, Location] = {"blockage_x": "fx", "blockage_y": "fy", "blockage_z": "fz"}
CONDUCTANCE: dict[str, Location] = {"conductance_T": "c", "warm_T": "c"}


@task(kernel=KERNELS / "bodies" / "adherence.cu")
def apply_wall_friction(
    velocity: Components(u=Read[1], v=Read[1], w=Read[1]),
    velocity_new: Components(u_new=ReadWrite, v_new=ReadWrite, w_new=ReadWrite), p: Read[BESIDE], solid: ReadByte,
    friction: Components(friction_x=Read, friction_y=Read, friction_z=Read),
    blockage: Components(blockage_x=Read[1], blockage_y=Read[1], blockage_z=Read[1]), push: PUSHES | None,
    *, dt: Scalar, grid: Grid, viscosity: float, stage: StagePart | None,
) -> None:  # fmt: skip
    """u_new = u + dt H becomes 0 on closed faces, and on others kept u_new + added + (1 - kept) dt grad(p), with

        kept = o / (1 + a),    added = kept dt viscosity sum(blockage u / h^2 over neighbours) + (1 - o) u / (1 + a),
        a = dt viscosity (friction + (1 - o) sum(1 / h^2 over neighbours)).

    That is the end of the step dt of the equation above, with what a face takes from its own velocity at the end of the
    step, less what the projection with that p will take: so a steady flow does not depend on dt. What lies beyond walls
    is no neighbour. Faces on walls keep their velocity. push gains what that takes, per time, and the pressure of the
    stage before on closed faces, by the shares of both stages in the step; it goes with `stage`.
    """


@task(kernel=KERNELS / "bodies" / "adherence.cu")
def wall_heat_flux(T: ReadWrite, conductance_T: Read, warm_T: Read, *, dt: Scalar, diffusivity: float) -> None:
    """T = (T + dt diffusivity warm_T) / (1 + dt diffusivity conductance_T): the end of the step dt of conduction from
    bodies.

    conductance_T is the sum of 1 / (s h^2) over the neighbours in bodies with a temperature, s h being the distance of
    their surface; warm_T has each of them times that temperature.
    """


@dataclass(frozen=True)
class ImmersedObstacles(Obstacles):
    """`near` are the cells around all bodies, with those beside them; `isothermal` if one has its own temperature."""

    near: Box = field(kw_only=True)
    isothermal: bool = field(default=False, kw_only=True)
    stairs: ClassVar[bool] = False

    def fields(self, *, heat: bool) -> dict[str, Location]:
        """See `Obstacles.fields`; above is what they hold."""
        return {**FRICTION, **BLOCKAGE, **(CONDUCTANCE if heat and self.isothermal else {})}

    def flags(self, *, heat: bool, scalars: bool = False, eddies: bool = False) -> dict[str, str]:
        types = super().flags(heat=heat, scalars=scalars, eddies=eddies)
        del types["faces"]
        return {**types, **({"owner_T": "u1"} if heat and self.isothermal and self.bodies else {})}

    def face_flags(self, f: Roles, *, eddies: bool) -> tuple[str | None, str | None]:
        """No faces, and with eddies the edges where friction is that of the viscosity alone."""
        return None, f.edges if eddies else None

    def surfaces_across(self, f: Roles, number: int) -> tuple[str | None, str | None, str | None]:
        return f["uvw"[number]], f[list(FRICTION)[number]], f[list(BLOCKAGE)[number]]

    def push(self, *_: Any, **__: Any) -> Iterator[Launch]:
        """Nothing: the momentum equation is that of all faces."""
        yield from ()

    def predicted(
        self, f: Roles, velocity: tuple[str, str, str], dt: str, grid: Grid, fluid: Fluid, part: StagePart,
        *, driven: bool,
    ) -> Iterator[Launch]:  # fmt: skip
        """Friction at surfaces, and u = 0 on closed faces."""
        push, constants = None, {"dt": dt, "grid": grid, "viscosity": fluid.viscosity, "stage": None}
        if self.bodies:
            push, constants["stage"] = tuple(f[role] for role in PUSH), part
        fields = (f.u, f.v, f.w), velocity, f.p, *self.surfaces(f), push
        yield apply_wall_friction(*fields, over=self.near, **constants)

    def wall_heat_flux(self, T: str, f: Roles, dt: str, diffusivity: float) -> Iterator[Launch]:
        """Conduction from bodies with a temperature of their own."""
        if self.isothermal:
            yield wall_heat_flux(T, f.conductance_T, f.warm_T, over=self.near, dt=dt, diffusivity=diffusivity)

    def heat(self, f: Roles, flux: str, *, bounded: bool, transport: Transport, **where: Any) -> Launch:
        carried = BoundedTransport(transport.diffusivity, transport.source) if bounded else transport
        fields = f.T, (f.u, f.v, f.w), f.T_faces, f.owner_T, f.conductance_T, f.warm_T
        return heat_from_immersed_body(*fields, flux=flux, transport=carried, **where)

    def surfaces(self, f: Roles) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """The fields of the flags of bodies, and of the `friction` and `blockage` of cut faces."""
        return f.solid, tuple(f[name] for name in FRICTION), tuple(f[name] for name in BLOCKAGE)
