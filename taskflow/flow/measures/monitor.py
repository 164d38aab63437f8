"""The monitor of a flow: what is measured of a state, as a program, and the numbers that follow from its scalars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from taskflow.flow.boundaries.boundary import Wall
from taskflow.flow.model import FlowModel
from taskflow.flow.operators.diagnostics import (
    Conductivity,
    divergence_max,
    kinetic_energy,
    largest_speed,
    velocity_change,
    wall_heat_flux,
)
from taskflow.runtime.tasks import Launch, Roles


@dataclass(frozen=True, eq=False)
class Monitor:
    """The program itself, to be run after a step, and what its scalars mean."""

    flow: FlowModel
    __name__: ClassVar[str] = "monitor"  # what profiles call the program, as if it were a function

    @cached_property
    def heated(self) -> tuple[str, ...]:
        """The faces with a temperature of their own: their heat flux is monitored."""
        walls = ((face, side) for face, side in self.flow.boundaries.items() if isinstance(side, Wall))
        return tuple(face for face, side in walls if self.flow.heat and side.temperature is not None)

    def __call__(self, f: Roles) -> Iterator[Launch]:
        """Scalars divergence, energy (sum), speed, change (since the stage before), residual and norm (sums of
        squares), flux_x_min ..., total_NAME (sum) of passive scalars, and those of bodies (see `Obstacles.monitor`)
        """
        flow, box = self.flow, self.flow.staggered.box
        yield divergence_max(f.u, f.v, f.w, over=box, divergence=f.scalar("divergence"), grid=flow.grid)
        yield kinetic_energy(f.u, f.v, f.w, over=box, energy=f.scalar("energy"), grid=flow.grid)
        yield largest_speed(f.u, f.v, f.w, over=box, speed=f.scalar("speed"))
        yield velocity_change(f.u, f.v, f.w, f.u_new, f.v_new, f.w_new, over=box, change=f.scalar("change"))
        yield from flow.residual(f)
        if flow.obstacles:
            transport = flow.heat.transport if flow.heat else None
            stirred = flow.turbulence is not None
            within = flow.heat is not None and flow.heat.bounded
            yield from flow.obstacles.monitor(f, flow.grid, flow.fluid, transport, eddies=stirred, bounded=within)
        if flow.heat:
            nu_t = f.nu_t if flow.turbulence else None
            prandtl = flow.turbulence.prandtl if flow.turbulence else 1.0
            conductivity = Conductivity(flow.heat.diffusivity, prandtl)
            for face in self.heated:
                normal = (f.u, f.v, f.w)["xyz".index(face[0])]
                yield wall_heat_flux(f.T, normal, nu_t, f.scalar(f"flux_{face}"), face, flow.grid, conductivity)
        for quantity in flow.passive:
            yield quantity.monitor(f, flow.staggered)

    def change(self, scalars: Mapping[str, float], dt: float) -> float:
        """max |du| / dt relative to the largest speed, in the last stage of the step of length dt before `monitor`."""
        speed, length = scalars["speed"], self.flow.scheme.stages[-1].share * dt
        return scalars["change"] / (length * speed) if length > 0 and speed > 0 else 0.0

    def integrals(self, scalars: Mapping[str, float]) -> dict[str, float]:
        """The integral of each passive scalar over the domain, by the name integral_NAME."""
        volume = self.flow.staggered.volume
        return {f"integral_{each.name}": volume * scalars[f"total_{each.name}"] for each in self.flow.passive}

    def nusselt(self, scalars: Mapping[str, float]) -> dict[str, float]:
        """Mean heat flux into the fluid through each heated wall, over that of pure conduction between all of them.

        Nu = flux L / (diffusivity (T_max - T_min)), L the extent of the domain across the wall; 0 where the
        temperatures are equal.
        """
        flow, sides = self.flow, self.flow.boundaries.values()
        walls = [side.temperature for side in sides if isinstance(side, Wall) and side.temperature is not None]
        if not flow.heat or not walls or flow.heat.diffusivity == 0 or max(walls) == min(walls):
            return dict.fromkeys(self.heated, 0.0)
        numbers = {}
        for face in self.heated:
            axis = "xyz".index(face[0])
            mean = scalars[f"flux_{face}"] * flow.grid.cells[axis] / flow.staggered.box.volume
            conduction = flow.heat.diffusivity * (max(walls) - min(walls)) / flow.staggered.lengths[axis]
            numbers[face] = mean / conduction
        return numbers
