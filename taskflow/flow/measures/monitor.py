"""Monitor of a flow: the program that measures a state for the log, and the numbers derived from its scalars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from taskflow.common.caching import cached_property
from taskflow.flow.boundaries.box_side import BoxSide
from taskflow.flow.flow_model import FlowModel
from taskflow.flow.measures.derived import Derived
from taskflow.flow.measures.opening_flux import BodyWallFlux, OpeningFlux, opening_fluxes
from taskflow.flow.measures.sums import (
    Conduction,
    divergence_max,
    heat_flux,
    kinetic_energy,
    largest_speed,
    total,
    velocity_change,
)
from taskflow.runtime.regions import difference
from taskflow.runtime.tasks import Derive, Launch, Roles, frame


@dataclass(frozen=True, eq=False)
class Monitor:
    """Program to run after a step, and the meaning of its scalars. It includes means of the fields `derived`."""

    flow: FlowModel
    derived: Derived | None = field(default=None, kw_only=True)
    __name__: ClassVar[str] = "monitor"  # name of the program in profiles, as of a function

    @cached_property
    def heated(self) -> tuple[str, ...]:
        """Faces with a wall temperature, whose heat flux is monitored."""
        sides = self.flow.boundaries.items() if self.flow.heat else ()
        return tuple(face for face, side in sides if side.temperature is not None and face in self._sides)

    @cached_property
    def _sides(self) -> dict[str, BoxSide]:
        """The sides and openings by key, without sides that openings cover entirely."""
        return {side.key: side for side in self.flow.sides}

    def __call__(self, f: Roles) -> Iterator[Launch | Derive]:
        """Yield the launches for the monitored scalars.

        divergence, energy (sum), speed, change (since the previous stage), scalars of the model's `residual`,
        flux_x_min ..., total_NAME (sum) of passive scalars and derived fields, and scalars of bodies (see
        `Obstacles.monitor` and `StoredForces`).
        """
        flow, box = self.flow, self.flow.staggered.box
        cells = tuple(difference([box], flow.openings.in_bodies))
        yield divergence_max(f.u, f.v, f.w, over=cells, divergence=f.scalar("divergence"), grid=flow.grid)
        yield kinetic_energy(f.u, f.v, f.w, over=cells, energy=f.scalar("energy"), grid=flow.grid)
        yield largest_speed(f.u, f.v, f.w, over=box, speed=f.scalar("speed"))
        yield velocity_change(f.u, f.v, f.w, *flow.velocity_before(f), over=box, change=f.scalar("change"))
        yield from flow.residual(f)
        if flow.obstacles:
            transport, bounded = flow.heat.transport if flow.heat else None, flow.heat is not None and flow.heat.bounded
            buoyancy = flow.buoyancy if flow.heat else None
            yield from flow.obstacles.monitor(f, flow.grid, flow.scheme, buoyancy, transport, bounded=bounded)
        if stored := flow.stored_forces:
            yield from stored(f, flow.grid)
        if flow.heat:
            nu_t, prandtl = (f.nu_t, flow.turbulence.prandtl) if flow.turbulence else (None, 1.0)
            for face in self.heated:
                (axis, high), spacing = frame(face), flow.grid.beside(face)
                inward = Conduction(flow.heat.diffusivity / spacing, 1 / (prandtl * spacing), -1.0 if high else 1.0)
                numbers = {"along": face[0], "flux": f.scalar(f"flux_{face}"), "face": inward, "grid": flow.grid}
                yield heat_flux(f.T, (f.u, f.v, f.w)[axis], nu_t, over=self._sides[face].faces, **numbers)
        for measured in self.through.values():
            yield from measured(f)
        for quantity in flow.passive:
            name = f.scalar(f"total_{quantity.name}")
            yield total(f[quantity.name], over=box, total=name, grid=flow.grid)
        if self.derived:
            yield from self.derived(f)
            for name in self.derived.names:
                yield total(f[name], over=box, total=f.scalar(f"total_{name}"), grid=flow.grid)

    @cached_property
    def through(self) -> dict[str, OpeningFlux | BodyWallFlux]:
        """The measures of fluxes through openings, by name."""
        return opening_fluxes(self.flow)

    def passed(self, scalars: Mapping[str, float]) -> dict[str, dict[str, float]]:
        """Return the outflow of each opening per time, of volume and quantities, and its mean temperature."""
        return {name: measured.passed(scalars) for name, measured in self.through.items()}

    def change(self, scalars: Mapping[str, float], dt: float) -> float:
        """Return max |du| / dt over the largest speed, in the last stage of the step of length dt before `monitor`."""
        speed, length = scalars["speed"], self.flow.scheme.stages[-1].share * dt
        return scalars["change"] / (length * speed) if length > 0 and speed > 0 else 0.0

    def integrals(self, scalars: Mapping[str, float]) -> dict[str, float]:
        """Return the integral of each passive scalar over the domain, as integral_NAME."""
        volume = self.flow.staggered.volume
        return {f"integral_{q.name}": volume * scalars[f"total_{q.name}"] for q in self.flow.passive}

    def means(self, scalars: Mapping[str, float]) -> dict[str, float]:
        """Return the mean of each derived field over the domain, as mean_NAME."""
        cells, names = self.flow.staggered.box.volume, self.derived.names if self.derived else ()
        return {f"mean_{name}": scalars[f"total_{name}"] / cells for name in names}

    def nusselt(self, scalars: Mapping[str, float]) -> dict[str, float]:
        """Return the mean heat flux into the fluid through each heated wall over the flux of pure conduction.

        Nu = flux L / (diffusivity (T_max - T_min)), with L the extent of the domain across the wall. Empty if all wall
        temperatures are equal.
        """
        flow, sides = self.flow, self.flow.boundaries.values()
        walls = [side.temperature for side in sides if side.temperature is not None]
        if not flow.heat or not walls or flow.heat.diffusivity == 0 or max(walls) == min(walls):
            return {}
        numbers = {}
        for face in self.heated:
            axis = "xyz".index(face[0])
            side, flux = self._sides[face], scalars[f"flux_{face}"]
            # a side with openings is divided by its own area, without them
            mean = flux * flow.grid.cells[axis] / flow.staggered.box.volume if side.whole else flux / side.count
            conduction = flow.heat.diffusivity * (max(walls) - min(walls)) / flow.staggered.lengths[axis]
            numbers[face] = mean / conduction
        return numbers
