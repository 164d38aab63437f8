"""Bodies in a flow, immersed: surfaces lie where they are, between the points of the grid (second order).

A face is closed if its own centre is inside a body: the velocity there is zero, and no fluid passes. Faces beside
closed ones are cut: they feel the friction of a surface at its true distance, and what flows through is the velocity in
their centre times the open share of their area (`taskflow.flow.bodies.adherence`). All else in the momentum equation
is as without bodies, but that eddies have no viscosity on edges beside closed faces; what the pressure meets are closed
faces, as at stair steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from taskflow.flow.bodies.adherence import apply_wall_friction, wall_heat_flux
from taskflow.flow.bodies.forces import BoundedTransport, force_on_immersed_body, heat_from_immersed_body
from taskflow.flow.bodies.obstacles import Obstacles
from taskflow.flow.grid import Grid
from taskflow.flow.operators.momentum import Fluid
from taskflow.flow.scalars.transport import Transport
from taskflow.runtime.regions import Box, Location
from taskflow.runtime.tasks import Launch, Roles

FRICTION: dict[str, Location] = {"friction_x": "fx", "friction_y": "fy", "friction_z": "fz"}
BLOCKAGE: dict[str, Location] = {"blockage_x": "fx", "blockage_y": "fy", "blockage_z": "fz"}
CONDUCTANCE: dict[str, Location] = {"conductance_T": "c", "warm_T": "c"}


@dataclass(frozen=True)
class ImmersedObstacles(Obstacles):
    """`near` are the cells around all bodies, with those beside them; `isothermal` if one has its own temperature."""

    near: Box = field(kw_only=True)
    isothermal: bool = field(default=False, kw_only=True)

    def fields(self, *, heat: bool) -> dict[str, Location]:
        """See `Obstacles.fields`: `taskflow.flow.bodies.adherence` says what they hold."""
        return {**FRICTION, **BLOCKAGE, **(CONDUCTANCE if heat and self.isothermal else {})}

    def flags(self, *, heat: bool, scalars: bool = False, eddies: bool = False) -> dict[str, str]:
        types = super().flags(heat=heat, scalars=scalars, eddies=eddies)
        if not eddies:
            del types["faces"]
        return {**types, **({"owner_T": "u1"} if heat and self.isothermal and self.bodies else {})}

    def face_flags(self, f: Roles, *, eddies: bool) -> tuple[str | None, str | None]:
        """No fields, or with eddies those of the edges where friction is that of the viscosity alone."""
        return super().face_flags(f, eddies=True) if eddies else (None, None)

    def surfaces_across(self, f: Roles, number: int) -> tuple[str | None, str | None, str | None]:
        return f["uvw"[number]], f[list(FRICTION)[number]], f[list(BLOCKAGE)[number]]

    def predicted(
        self, f: Roles, velocity: tuple[str, str, str], dt: str, grid: Grid, fluid: Fluid, *, driven: bool
    ) -> Iterator[Launch]:
        """Friction at surfaces, and u = 0 on closed faces."""
        constants = {"dt": dt, "grid": grid, "viscosity": fluid.viscosity}
        yield apply_wall_friction((f.u, f.v, f.w), velocity, f.p, *self.surfaces(f), over=self.near, **constants)

    def wall_heat_flux(self, T: str, f: Roles, dt: str, diffusivity: float) -> Iterator[Launch]:
        """Conduction from bodies with a temperature of their own."""
        if self.isothermal:
            yield wall_heat_flux(T, f.conductance_T, f.warm_T, over=self.near, dt=dt, diffusivity=diffusivity)

    def force(self, f: Roles, forces: str, *, eddies: bool, **where: Any) -> Launch:
        nu_t, edges = (f.nu_t, f.edges) if eddies else (None, None)
        velocity, owners = (f.u, f.v, f.w), (f.owner_x, f.owner_y, f.owner_z)
        return force_on_immersed_body(velocity, f.p, nu_t, edges, *self.surfaces(f), owners, forces=forces, **where)

    def heat(self, f: Roles, flux: str, *, bounded: bool, transport: Transport, **where: Any) -> Launch:
        carried = BoundedTransport(transport.diffusivity, transport.source) if bounded else transport
        fields = f.T, (f.u, f.v, f.w), f.T_faces, f.owner_T, f.conductance_T, f.warm_T
        return heat_from_immersed_body(*fields, flux=flux, transport=carried, **where)

    def surfaces(self, f: Roles) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """The fields of the flags of bodies, and of the `friction` and `blockage` of cut faces."""
        return f.solid, tuple(f[name] for name in FRICTION), tuple(f[name] for name in BLOCKAGE)
