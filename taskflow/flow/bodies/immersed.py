"""Immersed bodies: surfaces at their true positions, between grid points (second order).

A face is closed if its centre is inside a body: its velocity is zero and no fluid passes. Faces adjacent to closed
faces are cut: they feel the friction of a surface at its true distance, and their flux is the centre velocity times the
open share of their area. The rest of the momentum equation is unchanged, except that the eddy viscosity is 0 on edges
adjacent to closed faces. The pressure meets closed faces, as with stair steps.

In a second derivative at a share s of the spacing h from a surface, the difference towards it is

    (0 - u) / (s h)     instead of     (0 - u) / h,

which the equation without bodies has, as u = 0 is stored inside (F. Gibou, R. Fedkiw, L.-T. Cheng & M. Kang 2002, J.
Comput. Phys. 176, 205). The excess -viscosity friction u, with `friction` the sum of (1/s - 1) / h^2 over all
neighbours inside, is unbounded. It is integrated implicitly at the end of the step and does not limit dt.

A surface leaves a share o of a cut face open, with the flux o u, u being the velocity at its centre (Y. T. Ng, C. Min &
F. Gibou 2009, J. Comput. Phys. 228, 8807). The stored value is q = o u: its divergence is the volume balance, and q
advects all quantities. With blockage = 1/o - 1, the covered over the open area, u = q + blockage q. The momentum
equation uses q, so it lacks the factor o, and the molecular friction between faces of the difference u - q:

    dq/dt = o (H(q) + viscosity Laplacian(blockage q) - grad(p)) - viscosity friction q.

The projection applies all of -dt grad(p) to q. The excess is subtracted before it, with the last pressure.
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
    """u_new = 0 on closed faces, and kept u_new + added + (1 - kept) dt grad(p) on others, with

        kept = o / (1 + a),    added = kept dt viscosity sum(blockage u / h^2 over neighbours) + (1 - o) u / (1 + a),
        a = dt viscosity (friction + (1 - o) sum(1 / h^2 over neighbours)).

    This completes the step dt of the equation above, implicit in a face's own velocity, minus the contribution of the
    projection with that p, so a steady flow does not depend on dt. Ghost cells of walls are no neighbours. Faces on
    walls keep their velocity. push gains the momentum removed per time, and the pressure of the previous stage on
    closed faces, by the shares of both stages in the step. `push` needs `stage`.
    """


@task(kernel=KERNELS / "bodies" / "adherence.cu")
def wall_heat_flux(T: ReadWrite, conductance_T: Read, warm_T: Read, *, dt: Scalar, diffusivity: float) -> None:
    """T = (T + dt diffusivity warm_T) / (1 + dt diffusivity conductance_T): implicit conduction from bodies at the end
    of dt.

    conductance_T is the sum of 1 / (s h^2) over the neighbours in bodies with a temperature, s h being the distance of
    their surface. warm_T is the same sum weighted by these temperatures.
    """


@dataclass(frozen=True)
class ImmersedObstacles(Obstacles):
    """Immersed bodies. `near`: box of all bodies and their adjacent cells. `isothermal`: some body has a temperature.
    """

    near: Box = field(kw_only=True)
    isothermal: bool = field(default=False, kw_only=True)
    stairs: ClassVar[bool] = False

    def fields(self, *, heat: bool) -> dict[str, Location]:
        """Return the fields of the module docstring. See `Obstacles.fields`."""
        return {**FRICTION, **BLOCKAGE, **(CONDUCTANCE if heat and self.isothermal else {})}

    def flags(self, *, heat: bool, scalars: bool = False, eddies: bool = False) -> dict[str, str]:
        types = super().flags(heat=heat, scalars=scalars, eddies=eddies)
        del types["faces"]
        return {**types, **({"owner_T": "u1"} if heat and self.isothermal and self.bodies else {})}

    def face_flags(self, f: Roles, *, eddies: bool) -> tuple[str | None, str | None]:
        """Return no face flags and, with eddies, the edges without eddy viscosity."""
        return None, f.edges if eddies else None

    def surfaces_across(self, f: Roles, number: int) -> tuple[str | None, str | None, str | None]:
        return f["uvw"[number]], f[list(FRICTION)[number]], f[list(BLOCKAGE)[number]]

    def push(self, *_: Any, **__: Any) -> Iterator[Launch]:
        """Yield nothing, because the momentum equation holds on all faces."""
        yield from ()

    def predicted(
        self, f: Roles, velocity: tuple[str, str, str], dt: str, grid: Grid, fluid: Fluid, part: StagePart,
        *, driven: bool,
    ) -> Iterator[Launch]:  # fmt: skip
        """Yield the launch for friction at surfaces and u = 0 on closed faces."""
        push, constants = None, {"dt": dt, "grid": grid, "viscosity": fluid.viscosity, "stage": None}
        if self.bodies:
            push, constants["stage"] = tuple(f[role] for role in PUSH), part
        fields = (f.u, f.v, f.w), velocity, f.p, *self.surfaces(f), push
        yield apply_wall_friction(*fields, over=self.near, **constants)

    def wall_heat_flux(self, T: str, f: Roles, dt: str, diffusivity: float) -> Iterator[Launch]:
        """Yield the launch for conduction from bodies with a temperature."""
        if self.isothermal:
            yield wall_heat_flux(T, f.conductance_T, f.warm_T, over=self.near, dt=dt, diffusivity=diffusivity)

    def heat(self, f: Roles, flux: str, *, bounded: bool, transport: Transport, **where: Any) -> Launch:
        carried = BoundedTransport(transport.diffusivity, transport.source) if bounded else transport
        fields = f.T, (f.u, f.v, f.w), f.T_faces, f.owner_T, f.conductance_T, f.warm_T
        return heat_from_immersed_body(*fields, flux=flux, transport=carried, **where)

    def surfaces(self, f: Roles) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """Return the fields of body flags, and of `friction` and `blockage` of cut faces."""
        return f.solid, tuple(f[name] for name in FRICTION), tuple(f[name] for name in BLOCKAGE)
