"""The log of artificial compressibility: residuals, and forces on walls and bodies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from taskflow.cases.formulas.motion import RigidMotion
from taskflow.cases.tables.motion import GridMotion
from taskflow.cases.timing.intervals import Tick
from taskflow.flow.boundaries.condition import Side
from taskflow.flow.models.artificial_compressibility.bodies import BodyForces
from taskflow.flow.models.artificial_compressibility.forces import Forces
from taskflow.flow.models.artificial_compressibility.measures import largest
from taskflow.flow.models.artificial_compressibility.model import NAMES, ArtificialCompressibility
from taskflow.flow.models.artificial_compressibility.real_time import LOOKS
from taskflow.output.log import OF
from taskflow.runtime.tasks import Launch, Roles


@dataclass(frozen=True, eq=False)
class CompressibilityMeasures:
    """Residuals, wall forces and fluxes through `openings`, over the `span` of a two-dimensional flow. `moving`: the
    motions of bodies inside charts, by name. Picklable.
    """

    model: ArtificialCompressibility
    forces: Forces
    openings: Forces
    span: float = 1.0
    motion: GridMotion | None = None
    bodies: BodyForces | None = None
    moving: Mapping[str, RigidMotion] = field(default_factory=dict)

    def monitor(self, f: Roles) -> Iterator[Launch]:
        yield from self.model.monitor(f)
        if self.model.turbulence:
            yield largest(f.nu_t, over=self.model.cells, most=f.scalar("eddy"))
        yield from self.forces.measure(f)
        yield from self.openings.measure(f)
        if self.bodies:
            yield from self.bodies.measure(f)

    @property
    def finite(self) -> tuple[str, ...]:
        return tuple(f"{OF}{NAMES[name]}" for name in self.model.flow)

    def line(self, scalars: Mapping[str, float], tick: Tick, wall: float) -> dict[str, Any]:
        """Return a line of the log:

        - steps, the CFL number of pseudo-time, and the progress of an implicit step
        - in physical time the CFL number, the number of pseudo-time steps and the largest divergence
        - residuals, and for each wall its force, the pressure part, its moment and, with heat, the heat outflow
        - what leaves through each opening that is no wall: volume, quantities times volume, and the mean temperature
        - with eddies their largest viscosity
        - the precision of factors, if double
        """
        numbers: dict[str, Any] = {"step": tick.step, "time": tick.time}
        if self.model.real:
            numbers |= {"dt": tick.dt, "cfl": tick.dt * scalars["rate"]}
            numbers["divergence"] = scalars["most_p"] / self.model.unit
            numbers["inner"] = int(self.model.look * scalars.get(LOOKS, 0.0))
        else:
            numbers |= self.model.progress(scalars)
        if self.model.factors_precision:
            numbers["factors"] = self.model.factors_precision
        numbers |= {f"{OF}{name}": norm for name, norm in self.model.norms(scalars).items()}
        if self.model.turbulence:
            numbers["eddy_viscosity"] = scalars["eddy"]
        acting = {side.name: self._acting(side, scalars, tick.time) for side in self.forces.sides}
        acting |= {name: self._pushed(name, scalars, tick.time) for name in self.bodies.points} if self.bodies else {}
        if acting:
            numbers["bodies"] = acting
        if self.openings.sides:
            numbers["openings"] = {side.name: self._leaving(side, scalars) for side in self.openings.sides}
        return {**numbers, "wall": wall}

    def _leaving(self, side: Side, scalars: Mapping[str, float]) -> dict[str, float]:
        of_all = self.openings.of(scalars, side)
        fluxes = {"volume_flux": of_all.mass, **({"flux_T": of_all.heat} if self.model.heat else {})}
        fluxes |= {f"flux_{name}": flux for name, flux in self.openings.carried(scalars, side).items()}
        numbers = {name: flux / self.span for name, flux in fluxes.items()}
        return {**numbers, "mean_T": self.openings.temperature(scalars, side)} if self.model.heat else numbers

    def _pushed(self, name: str, scalars: Mapping[str, float], time: float) -> dict[str, Any]:
        assert self.bodies is not None
        motion = self.moving.get(name)
        load = self.bodies.of(scalars, name, motion.rotation(time) if motion else np.zeros(3))
        moment = load.moment
        if motion is not None:
            point = np.array(self.bodies.points[name])
            moment = moment - np.cross(motion.pose(time).forth(point) - point, load.force)
        parts = {"force": load.force, "pressure_force": load.pressure, "moment": moment}
        return {word: (part / self.span).tolist() for word, part in parts.items()}

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
