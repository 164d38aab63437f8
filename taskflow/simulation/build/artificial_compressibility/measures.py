"""What a line of the log has of a march to a steady state: residuals, and forces on walls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from taskflow.flow.models.artificial_compressibility.forces import Forces
from taskflow.flow.models.artificial_compressibility.model import NAMES, ArtificialCompressibility
from taskflow.output.log import OF
from taskflow.runtime.tasks import Launch, Roles
from taskflow.simulation.schedule import Tick


@dataclass(frozen=True, eq=False)
class CompressibilityMeasures:
    """The residuals, and the forces on walls over the `span`: of a flow in two dimensions its thickness. Picklable."""

    model: ArtificialCompressibility
    forces: Forces
    span: float = 1.0

    def monitor(self, f: Roles) -> Iterator[Launch]:
        """The program that measures them."""
        yield from self.model.monitor(f)
        yield from self.forces.measure(f)

    @property
    def finite(self) -> tuple[str, ...]:
        """The residuals."""
        return tuple(f"{OF}{NAMES[name]}" for name in self.model.flow)

    def line(self, scalars: Mapping[str, float], tick: Tick, wall: float) -> dict[str, Any]:
        """Steps, the CFL number of pseudo-time and how an implicit step went, residuals, and of each wall its force,
        the pressure's part of it, its moment and, with heat, the heat that leaves through it.
        """
        numbers: dict[str, Any] = {"step": tick.step, "time": tick.time, **self.model.progress(scalars)}
        numbers |= {f"{OF}{name}": norm for name, norm in self.model.norms(scalars).items()}
        if self.forces.sides:
            numbers["bodies"] = {side.name: self._acting(side, scalars) for side in self.forces.sides}
        return {**numbers, "wall": wall}

    def _acting(self, side: Any, scalars: Mapping[str, float]) -> dict[str, Any]:
        found = self.forces.of(scalars, side)
        acting: dict[str, Any] = {
            "force": (found.force / self.span).tolist(),
            "pressure_force": (found.pressure / self.span).tolist(),
            "moment": (found.moment / self.span).tolist(),
        }
        return {**acting, "heat_flux": found.heat / self.span} if self.model.heat else acting
