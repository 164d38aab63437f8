"""The line of the log of a march: residuals, and forces on walls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from taskflow.flow.models.artificial_compressibility.forces import Forces
from taskflow.flow.models.artificial_compressibility.measures import largest
from taskflow.flow.models.artificial_compressibility.model import NAMES, ArtificialCompressibility
from taskflow.flow.models.artificial_compressibility.real_time import LOOKS
from taskflow.flow.models.artificial_compressibility.sides import Side
from taskflow.output.log import OF
from taskflow.runtime.tasks import Launch, Roles
from taskflow.simulation.case.motion import GridMotion
from taskflow.simulation.timing.schedule import Tick


@dataclass(frozen=True, eq=False)
class CompressibilityMeasures:
    """The residuals, and the forces on walls over the `span`: of a flow in two dimensions its thickness. Picklable."""

    model: ArtificialCompressibility
    forces: Forces
    span: float = 1.0
    motion: GridMotion | None = None

    def monitor(self, f: Roles) -> Iterator[Launch]:
        yield from self.model.monitor(f)
        if self.model.turbulence:
            yield largest(f.nu_t, over=self.model.cells, most=f.scalar("eddy"))
        yield from self.forces.measure(f)

    @property
    def finite(self) -> tuple[str, ...]:
        return tuple(f"{OF}{NAMES[name]}" for name in self.model.flow)

    def line(self, scalars: Mapping[str, float], tick: Tick, wall: float) -> dict[str, Any]:
        """Steps, the CFL number of pseudo-time and how an implicit step went, in real time the CFL number of the step,
        the steps of pseudo-time in it and the largest divergence; residuals, and of each wall its force, the pressure's
        part of it, its moment and, with heat, the heat that leaves through it. With eddies their largest viscosity. The
        precision of factors, where it is double.
        """
        numbers: dict[str, Any] = {"step": tick.step, "time": tick.time}
        if self.model.real:
            numbers |= {"dt": tick.dt, "cfl": tick.dt * scalars["rate"], "divergence": scalars["most_p"]}
            numbers["inner"] = int(self.model.look * scalars.get(LOOKS, 0.0))
        else:
            numbers |= self.model.progress(scalars)
        if self.model.factors_precision:
            numbers["factors"] = self.model.factors_precision
        numbers |= {f"{OF}{name}": norm for name, norm in self.model.norms(scalars).items()}
        if self.model.turbulence:
            numbers["eddy_viscosity"] = scalars["eddy"]
        if self.forces.sides:
            numbers["bodies"] = {side.name: self._acting(side, scalars, tick.time) for side in self.forces.sides}
        return {**numbers, "wall": wall}

    def _acting(self, side: Side, scalars: Mapping[str, float], time: float) -> dict[str, Any]:
        acts = self.forces.of(scalars, side)
        moment = acts.moment
        if self.motion is not None:  # about the point of the grid that was there at rest
            point = np.array(self.forces.about[side.name])
            moment = moment - np.cross(self.motion.moved(point, time) - point, acts.force)
        acting: dict[str, Any] = {
            "force": (acts.force / self.span).tolist(),
            "pressure_force": (acts.pressure / self.span).tolist(),
            "moment": (moment / self.span).tolist(),
        }
        return {**acting, "heat_flux": acts.heat / self.span} if self.model.heat else acting
