"""The magnitudes of velocity, temperature and scalars that a case explains: far larger values have no physical cause.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from taskflow.cases import Case
from taskflow.common.rows import Row
from taskflow.flow import Quantity
from taskflow.flow.boundaries.openings import all_conditions
from taskflow.flow.flow_model import FlowModel
from taskflow.flow.grid import StaggeredGrid
from taskflow.flow.model import VELOCITY
from taskflow.systems.base.domain import PartitionedCase
from taskflow.systems.base.timed import largest as largest_in_time
from taskflow.systems.initial.fields import largest
from taskflow.systems.initial.inflow import Inflows
from taskflow.systems.initial.side_profiles import times_of

SIDES = 6  # of a cell, through which heat may come


@dataclass(frozen=True)
class Scale:
    """A given magnitude, and its growth per time."""

    largest: float
    gain: float = 0.0

    def at(self, time: float) -> float:
        """Return the possible magnitude at a time, approximately."""
        return self.largest + (self.gain * time if time > 0 else 0.0)  # the gain may be without bounds


BEYOND = Scale(math.inf)
"""The scale of quantities with forces by formulas, or sides of other packages, whose effect is unknown."""


@dataclass(frozen=True)
class Scales:
    """The magnitudes of velocity, temperature and scalars. Picklable.

    - `velocity`: names of its components
    - `speed`: of walls, inflows, winds and prescribed means, with the acceleration by forces
    - `lift`: acceleration by buoyancy per temperature
    - `carried`: given values of each quantity on boundaries, in bodies and by sources
    - `driven`: the flow receives energy
    """

    velocity: tuple[str, ...]
    speed: Scale
    lift: float
    carried: Mapping[str, Scale]
    driven: bool


def scales(sim: PartitionedCase, model: FlowModel, inflows: Inflows) -> Scales:
    case, speeds = sim.case, _speeds(sim, model, inflows)
    speeds.append(np.array([mean or 0.0 for mean in model.driving.means]))
    speeds.append(np.array(case.body.geostrophic_wind))
    forces = [largest_in_time(case.body.force[axis], case) for axis in model.driving.forced]
    sides = all_conditions(model.boundaries)
    pressures = [(face, side.pressure) for face, side in sides if side.pressure]
    forces += [2 * pressure / sim.grid.lengths["xyz".index(face[0])] for face, pressure in pressures]
    speed = Scale(max(float(np.linalg.norm(velocity)) for velocity in speeds), math.hypot(*model.fluid.force, *forces))
    lift = abs(model.buoyancy.expansion) * math.hypot(*model.buoyancy.gravity) if model.buoyancy else 0.0
    carried = {scalar.name: _passive(scalar, model.staggered) for scalar in model.passive}
    if model.heat:
        carried["T"] = _heat(sim, model, inflows, model.heat)
    carried |= {force.on: BEYOND for force in model.forces if force.on in carried}
    if any(force.on in VELOCITY for force in model.forces) or any(side.drives for _, side in sides):
        speed = BEYOND
    opened = any(side.permeable for _, side in sides)
    kept = any(mean is not None for mean in model.driving.means)
    return Scales(tuple(VELOCITY), speed, lift, carried, opened or kept or speed != Scale(0.0) or lift > 0)


def _speeds(sim: PartitionedCase, model: FlowModel, inflows: Inflows) -> list[np.ndarray]:
    """Return the largest |u|, |v|, |w| of walls, inflows, and surfaces of bodies, at moments of the run."""
    speeds = [np.abs(side.velocity) for _, side in all_conditions(model.boundaries) if side.solid]
    moving = sim.bodies.moving
    return [*speeds, *inflows.fastest(times_of(sim.case)), *(map(moving.fastest, sim.bodies.path) if moving else ())]


def _heat(sim: PartitionedCase, model: FlowModel, inflows: Inflows, heat: Quantity) -> Scale:
    case, grid = sim.case, sim.grid
    sides = [side for _, side in all_conditions(model.boundaries)]
    temperatures = [case.heat.reference if case.heat else 0.0]
    temperatures += [number for side in sides for number in (side.temperature or 0.0, side.outside_temperature)]
    temperatures += [body.temperature or 0.0 for body in case.obstacles]
    for key, profiles in inflows.profiles.items():
        times = times_of(case) if "T" in profiles else ()
        temperatures += [float(np.abs(inflows.all_at(key, "T", time)).max()) for time in times]
    slopes = zip(model.driving.gradient, grid.lengths, strict=True)
    departure = sum(abs(slope) * length for slope, length in slopes)
    return Scale(max(map(abs, temperatures)) + departure, _gain(heat, [side.heat_flux for side in sides], grid))


def _passive(quantity: Quantity, grid: StaggeredGrid) -> Scale:
    faces = quantity.faces.values()
    largest = max((face.largest for face in faces), default=0.0)
    return Scale(largest, _gain(quantity, [face.flux for face in faces], grid))


def _gain(quantity: Quantity, fluxes: list[float], grid: StaggeredGrid) -> float:
    """Return the largest increase per time of a cell by sources and fluxes."""
    narrowest = [grid.narrowest(axis) for axis in range(3)]
    released = sum(abs(source.rate) for source in quantity.sources) / math.prod(narrowest)
    through = SIDES * max(map(abs, fluxes), default=0.0) / min(narrowest)
    return abs(quantity.transport.source) + released + through


def limiting_spacing(model: FlowModel) -> np.ndarray:
    """Return the narrowest spacing along each direction; infinite without variation along it."""
    widths = (math.inf if a in model.uniform_axes else model.staggered.narrowest(a) for a in range(3))
    return np.array(list(widths))


def drawn_rate(model: FlowModel, times: np.ndarray) -> np.ndarray:
    """Return the estimated advective rate in cells next to moving walls, in a layer that grows by friction."""
    rates = np.zeros(times.size)
    for face, side in all_conditions(model.boundaries):
        if any(side.velocity):
            depth = np.sqrt(4 * model.fluid.viscosity * times)
            with np.errstate(divide="ignore"):
                share = np.array([math.erfc(x) for x in model.grid.beside(face) / 2 / depth])
            rates = np.maximum(rates, share * float((np.abs(side.velocity) / limiting_spacing(model)).sum()))
    return rates


def carried_rate(sim: PartitionedCase, model: FlowModel, inflows: Inflows) -> float:
    """Return the estimated advective rate of inflows, moving bodies, and the initial velocity."""
    speeds = _speeds(sim, model, inflows)[sum(side.solid for _, side in all_conditions(model.boundaries)) :]
    initial, spacing = largest(sim.case, sim.grid), limiting_spacing(model)
    speeds.append(np.array([initial.get(name, 0.0) for name in VELOCITY]))
    return max(float((speed / spacing).sum()) for speed in speeds)


def advective_rate(sim: PartitionedCase, model: FlowModel, inflows: Inflows) -> float:
    """Return an estimate of max(|u|/dx + |v|/dy + |w|/dz) over walls, inflows and initial formulas."""
    walls = [np.abs(side.velocity) for _, side in all_conditions(model.boundaries) if side.solid]
    spacing, others = limiting_spacing(model), carried_rate(sim, model, inflows)
    return max([others, *(float((speed / spacing).sum()) for speed in walls)])


def fastest(sim: PartitionedCase, model: FlowModel, inflows: Inflows) -> tuple[float, float]:
    """Return the largest speed of walls, inflows and initial velocity, and the largest of speed times width of cell."""
    initial, grid = largest(sim.case, sim.grid), sim.grid
    speeds = [*_speeds(sim, model, inflows), np.array([initial.get(name, 0.0) for name in VELOCITY])]
    widths = np.array([grid.widths(axis).max() if n > 1 else 0.0 for axis, n in enumerate(grid.cells)])
    return max(float(np.linalg.norm(speed)) for speed in speeds), float((np.max(speeds, axis=0) * widths).max())


def fluid_row(case: Case, speed: float, across: float = 0.0) -> Row:
    """Return the row of `taskflow check` on the fluid at a speed, which is `across` times the width of a cell there."""
    viscosity, heat = case.fluid.viscosity, case.heat
    text = f"viscosity {viscosity:g}, " + (f"speed {speed:.4g}" if speed else "no speed is given")
    if viscosity and speed:
        cell = f", {across / viscosity:.4g} per cell" if across else ""
        text += f": Re = {speed / viscosity:.4g} per unit length{cell}"
    if viscosity and heat and heat.diffusivity:
        text += f"; Pr = {viscosity / heat.diffusivity:.4g}"
    return Row("fluid", text)


def peclet(sim: PartitionedCase, model: FlowModel, inflows: Inflows) -> dict[str, float]:
    """Return the largest cell Peclet number of each quantity with central differences, at speeds of the case."""
    _, number = fastest(sim, model, inflows)
    central = [q for q in model.quantities if not q.bounded]
    return {q.name: number / q.diffusivity if q.diffusivity else math.inf for q in central if number > 0}
