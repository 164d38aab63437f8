"""Convection of momentum: with the mass fluxes of the interface, or in velocity form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

from taskflow.flow.boundaries.boundary import Value, impose
from taskflow.flow.boundaries.condition import Boundaries
from taskflow.flow.boundaries.sides import open_sides
from taskflow.flow.flow_model import FlowModel
from taskflow.flow.grid import on_face
from taskflow.flow.models.two_phase.momentum import (
    QuickInTurn,
    Weno,
    mass_flux,
    momentum_in_velocity_form,
    momentum_of_phases,
)
from taskflow.flow.operators.momentum import CENTRAL, Advection
from taskflow.flow.operators.phases import Phases
from taskflow.runtime.regions import Location
from taskflow.runtime.tasks import Launch, Roles, frame

MASS: dict[str, Location] = {"m_x": "fx", "m_y": "fy", "m_z": "fz"}


class Convection(Protocol):
    """How momentum is moved. `ghost` is the number of ghost layers read, `damping` the damping of a wave from cell to
    cell per CFL number.
    """

    @property
    def ghost(self) -> int: ...

    @property
    def damping(self) -> float: ...

    def fields(self, flow: FlowModel) -> Mapping[str, Location]:
        """Return its own fields by role."""

    def start(self, f: Roles, flow: FlowModel) -> Iterator[Launch]:
        """Prepare its fields for the first step."""

    def fluxes(self, f: Roles, flow: FlowModel, phases: Phases) -> Iterator[Launch]:
        """Compute the mass fluxes of the old interface."""

    def predict(self, f: Roles, flow: FlowModel, phases: Phases, fall: str | None) -> Iterator[Launch]:
        """Compute u_new, v_new, w_new without the pressure, from the old interface, f, to the new one, f_new, with
        kappa, and the field `fall` of `InterfaceMethod.weighed`.
        """


@dataclass(frozen=True)
class MassFluxes:
    """Convection by the mass fluxes of the interface, with Koren's limiter, for all density ratios."""

    ghost: ClassVar[int] = 2
    damping: ClassVar[float] = 2.0  # where values alternate the limiter leaves first-order upwind differences

    def fields(self, flow: FlowModel) -> Mapping[str, Location]:
        return MASS

    def start(self, f: Roles, flow: FlowModel) -> Iterator[Launch]:
        """Prepare its fields for the first step: the mass flux through high walls is 0."""
        for axis, name in enumerate(MASS):
            if flow.grid.high[axis]:
                yield impose(f[name], over=on_face(f"{'xyz'[axis]}_max", flow.grid), value=Value(0.0))

    def fluxes(self, f: Roles, flow: FlowModel, phases: Phases) -> Iterator[Launch]:
        """Compute the mass fluxes of the old interface, also on open high faces."""
        velocity, before, mass = (f.u, f.v, f.w), (f.u_old, f.v_old, f.w_old), (f.m_x, f.m_y, f.m_z)
        opened = (on_face(face, flow.grid) for face in opened_high(flow.boundaries))
        for over in (flow.staggered.box, *opened):
            yield mass_flux(f.f, velocity, before, mass, over=over, ratio="ratio", grid=flow.grid, phases=phases)

    def predict(self, f: Roles, flow: FlowModel, phases: Phases, fall: str | None) -> Iterator[Launch]:
        mass, before, shares = (f.m_x, f.m_y, f.m_z), (f.u_old, f.v_old, f.w_old), (f.f, f.f_new)
        for axis, velocity, acting, where in turned(f, flow, phases, fall):
            yield momentum_of_phases((*velocity, before[axis]), along(axis, mass), shares, *acting, **where)


MASS_FLUXES = MassFluxes()


@dataclass(frozen=True)
class VelocityForm:
    """Convection of velocity alone, for density ratios up to 10: by WENO5, or as in one fluid."""

    advection: Advection

    @property
    def ghost(self) -> int:
        return max(MASS_FLUXES.ghost, self.advection.ghost)

    @property
    def damping(self) -> float:
        return DAMPING[type(self.advection)]

    def fields(self, flow: FlowModel) -> Mapping[str, Location]:
        """Return mass fluxes, which only forces on bodies need."""
        return MASS if flow.obstacles else {}

    def start(self, f: Roles, flow: FlowModel) -> Iterator[Launch]:
        if flow.obstacles:
            yield from MASS_FLUXES.start(f, flow)

    def fluxes(self, f: Roles, flow: FlowModel, phases: Phases) -> Iterator[Launch]:
        """Compute mass fluxes for the forces at edges of stair steps."""
        if flow.obstacles:
            yield from MASS_FLUXES.fluxes(f, flow, phases)

    def predict(self, f: Roles, flow: FlowModel, phases: Phases, fall: str | None) -> Iterator[Launch]:
        fluid = replace(flow.fluid, advection=self.advection)
        for _, velocity, acting, where in turned(f, flow, phases, fall):
            yield momentum_in_velocity_form(velocity, (f.f, f.f_new), *acting, fluid=fluid, **where)


DAMPING = {Weno: 1.25, QuickInTurn: 1.0, type(CENTRAL): 0.0}
SCHEMES: Mapping[str, Convection] = {
    "koren": MASS_FLUXES,
    "weno5": VelocityForm(Weno()),
    "quick": VelocityForm(QuickInTurn()),
    "central": VelocityForm(CENTRAL),
}
"""Convection schemes of momentum by their names in a case."""


def opened_high(boundaries: Boundaries) -> list[str]:
    """Return the open high faces, whose values are stored in the ghost layer."""
    return [face for face in open_sides(boundaries) if frame(face)[1]]


def along(axis: int, group: tuple[str, str, str]) -> tuple[str, str, str]:
    """Return the components of a vector for a task along an axis: the component along it first."""
    first, second = (group[other] for other in range(3) if other != axis)
    return group[axis], first, second


def turned(
    f: Roles, flow: FlowModel, phases: Phases, fall: str | None
) -> Iterator[tuple[int, Any, tuple[Any, ...], dict[str, Any]]]:
    """Yield for each axis: its number, the velocity, the fields (kappa, fall, faces, h, q_new), and the named arguments
    of a momentum launch.
    """
    kappa, faces = f.kappa if phases.surface_tension else None, f.faces if flow.obstacles else None
    about = {"over": flow.staggered.box, "dt": "dt", "ratio": "ratio", "grid": flow.grid, "phases": phases}
    for axis, name in enumerate("uvw"):
        acting = kappa, fall, faces, f[f"h_{name}"], f[f"{name}_new"]
        yield axis, along(axis, (f.u, f.v, f.w)), acting, {**about, "along": "xyz"[axis]}
