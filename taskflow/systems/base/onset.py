"""The causes of motion in a case: at the start, and by values that change in time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress

import numpy as np

from taskflow.common.caching import cached_property
from taskflow.common.errors import BadInput
from taskflow.flow.boundaries.openings import all_conditions
from taskflow.flow.flow_model import FlowModel
from taskflow.flow.model import VELOCITY
from taskflow.flow.stability import Onset
from taskflow.runtime.regions import Box, Triple
from taskflow.systems.base.domain import PartitionedCase
from taskflow.systems.base.expressions import InitialForce, initial_forces
from taskflow.systems.base.foresight import ForceSignal, Foresight, NumberSignal, ProfileSignal, Signal
from taskflow.systems.base.outlook import Outlook
from taskflow.systems.base.scales import advective_rate, carried_rate, drawn_rate, limiting_spacing
from taskflow.systems.base.timed import Term, timed_numbers, times
from taskflow.systems.base.timed import largest as largest_in_time
from taskflow.systems.initial.fields import COMPUTED, few, initial_profiles
from taskflow.systems.initial.inflow import Inflows

AROUND_BODIES = 1 + math.sqrt(2)  # largest |u| + |w| past a cylinder in an ideal flow, over the speed far from it
GAS = 3.0  # speed of the light phase that makes way, over the largest one of a free fall
IN_JETS = 1.5  # |u| + |w| of what enters and is turned aside, over its speed
MOST_BLOCKED = 0.75  # of a cross-section, by bodies


class Causes(Outlook):
    """The causes of motion in a flow, divided by the spacing of the grid; `fall`: the weight of a phase."""

    def __init__(self, sim: PartitionedCase, model: FlowModel, inflows: Inflows, fall: float) -> None:
        super().__init__(advective_rate(sim, model, inflows))
        self._sim, self._model, self._inflows, self._fall = sim, model, inflows, fall
        self._near = 1 / limiting_spacing(model)

    @property
    def inert(self) -> bool:
        """True if a fluid at rest stays at rest."""
        model, onset = self._model, self.onset
        driven = model.buoyancy is not None or self._fall > 0 or model.forces or onset.acceleration or onset.jerk
        driven = driven or any(side.drives for _, side in all_conditions(model.boundaries))
        driven = driven or any(obstacle.motion for obstacle in self._sim.case.obstacles)
        return not driven and not self._inflows.varies and not timed_numbers(self._sim.case)

    @property
    def speedup(self) -> float:
        boxes = self._sim.bodies.solids.boxes if self._sim.case.obstacles else ()
        return speedup(boxes, self._sim.grid.cells, opened=bool(self._inflows.profiles))

    def least(self, times: np.ndarray) -> np.ndarray:
        carried = carried_rate(self._sim, self._model, self._inflows)
        return np.maximum(carried, drawn_rate(self._model, times))

    @cached_property
    def onset(self) -> Onset:
        """The estimated motion that begins immediately in a fluid at rest. Time-dependent numbers count with their
        largest value in the run. Pressure balances a force along a closed direction.
        """
        case, model, near = self._sim.case, self._model, self._near
        forces = [abs(force) for force in model.fluid.force]
        for axis in model.driving.forced:
            forces[axis] += abs(largest_in_time(case.body.force[axis], case))
        acceleration = sum(force * self._per_force(axis) for axis, force in enumerate(forces))
        acceleration += sum(abs(p) * self._per_pressure("xyz".index(face[0])) for face, p in self._pressures())
        acceleration += sum(self._strength(force) * near["uvw".index(force.table.on)] for force in self._forces())
        speed = max(self.rate, self._pushed)
        if model.buoyancy is None or model.heat is None:
            return Onset(speed, float(acceleration))
        contrast, difference = self._temperatures()
        diffusion = 2 * model.heat.diffusivity * float((near**2).sum()) * difference
        heating = abs(model.heat.transport.source) + diffusion + self._supplied()
        heating += sum(self._strength(f) for f in initial_forces(case, self._sim.grid) if f.table.on == "T")
        return Onset(speed, float(acceleration + self._lift * contrast), float(self._lift * heating))

    @property
    def foresight(self) -> Foresight | None:
        """The time-dependent values that may set the fluid in motion, or None."""
        signals = (*self._numbers(), *self._profiles(), *self._expressions())
        return Foresight(signals, self._sim.case.end_time) if signals else None

    def forced(self, times: np.ndarray) -> np.ndarray:
        """Return an upper estimate of the increase of the advective rate by forces and buoyancy, up to these times.

        Friction on walls limits uniform forces. Lift and weight are limited by the speed of free fall through the
        domain.
        """
        case, model, near, onset = self._sim.case, self._model, self._near, self.onset
        lifted = 0.0
        if model.buoyancy is not None and model.heat is not None:
            lifted = self._lift * self._temperatures()[0]
        forced = (onset.acceleration - lifted) * times
        walls = {face[0] for face, side in model.boundaries.items() if side.eddies < 0}
        across = ["xyz".index(axis) for axis in walls if near["xyz".index(axis)] > 0]
        if across and not case.forcing and model.fluid.viscosity > 0:
            friction = min(8 * model.fluid.viscosity / self._sim.grid.lengths[axis] ** 2 for axis in across)
            forced = np.minimum(forced, (onset.acceleration - lifted) / friction)
        cells = max(self._sim.grid.cells)
        lift = lifted + onset.jerk * times
        fallen, risen = (np.minimum(pull * times, np.sqrt(2 * pull * cells)) for pull in (self._fall, lift))
        return forced + risen + GAS * fallen

    @property
    def _pushed(self) -> float:
        """The estimated advective rate next to bodies that move at the start."""
        moving = self._sim.bodies.moving
        return AROUND_BODIES * float((moving.fastest(0.0) * self._near).sum()) if moving else 0.0

    @property
    def _lift(self) -> float:
        """The acceleration by buoyancy per temperature, over the spacing along it."""
        buoyancy = self._model.buoyancy
        if buoyancy is None:
            return 0.0
        return float(abs(buoyancy.expansion) * (np.abs(buoyancy.gravity) * self._near).sum())

    def _per_force(self, axis: int) -> float:
        """Return the acceleration over the spacing by a uniform force along an axis. Rotation turns the motion."""
        sides = self._model.boundaries
        ends = [sides.get("xyz"[axis] + end) for end in ("_min", "_max")]
        held = any(side.fixes_pressure and not side.balances for _, side in all_conditions(sides))
        if not held and not any(side is None or side.permeable for side in ends):
            return 0.0
        return float(self._near.max() if any(self._model.driving.rotation) else self._near[axis])

    def _pressures(self) -> Iterator[tuple[str, float]]:
        return ((face, side.pressure) for face, side in all_conditions(self._model.boundaries) if side.pressure)

    def _per_pressure(self, axis: int) -> float:
        """Return the acceleration over the spacing by a pressure difference across the domain."""
        return float(2 / self._sim.grid.lengths[axis] * self._near[axis])

    def _forces(self) -> Iterator[InitialForce]:
        return (force for force in initial_forces(self._sim.case, self._sim.grid) if force.table.on in VELOCITY)

    def _strength(self, force: InitialForce) -> float:
        strengths = [0.0]
        for time in (times(self._sim.case) if force.timed else (0.0,)) if force.known else ():
            with suppress(BadInput):  # reported by `check` if it is a time of the run
                strengths.append(float(np.abs(force.of(float(time))).max(initial=0.0)))
        return max(strengths)

    def _temperatures(self) -> tuple[float, float]:
        """The largest difference of initial temperatures at one height, and from walls and bodies."""
        case, model, grid = self._sim.case, self._model, self._sim.grid
        assert model.buoyancy is not None
        profile, reference = initial_profiles(case)["T"], case.heat.reference if case.heat else 0.0
        values = np.full((1, 1, 1), reference)
        if isinstance(profile, COMPUTED):
            values = profile(*map(few, grid.points("c", grid.box)))
        along = [axis for axis, g in enumerate(model.buoyancy.gravity) if g != 0]
        level = tuple(2 - axis for axis in range(3) if axis not in along) if len(along) == 1 else None
        contrast = float((values - values.mean(axis=level, keepdims=True)).__abs__().max())
        given = [side.temperature for _, side in all_conditions(model.boundaries)]
        given += [body.temperature for body in case.obstacles]
        ends = values.min(), values.max()
        others = [abs(t - end) for t in given if t is not None and math.isfinite(t) for end in ends]
        return contrast, float(max(others, default=0.0))

    def _supplied(self) -> float:
        """The temperature change per time of a cell by sources and walls."""
        model = self._model
        assert model.heat is not None
        supplied = sum(abs(source.rate) / self._volume(source.low, source.high) for source in model.heat.sources)
        for face, side in all_conditions(model.boundaries):
            if side.temperature is None:
                flux = abs(side.heat_flux) + abs(side.heat_transfer * side.outside_temperature)
                supplied += flux * float(self._near["xyz".index(face[0])])
        return supplied

    def _volume(self, low: tuple[float, ...], high: tuple[float, ...]) -> float:
        widths = (max(b - a, self._sim.grid.narrowest(axis)) for axis, (a, b) in enumerate(zip(low, high, strict=True)))
        return math.prod(widths)

    def _numbers(self) -> Iterator[Signal]:
        for term in (term for number in timed_numbers(self._sim.case) for term in number.terms):
            factor, power = self._effect(term)
            if factor > 0:
                yield NumberSignal(float(abs(term.factor) * factor), power, term.key, term.value)

    def _effect(self, term: Term) -> tuple[float, int]:
        """Return the advective rate by a unit of a value, times a power of time, and this power."""
        n = term.number
        match term.drive:
            case "velocity":
                return self._near[n], 0
            case "pressure":
                return self._per_pressure(n), 1
            case "force":
                return self._per_force(n), 1
            case "temperature":
                return self._lift, 1
            case "heat flux":
                return self._lift * self._near[n], 2
            case "heat source":
                assert self._model.heat is not None
                source = self._model.heat.sources[n]
                return self._lift * (1 / self._volume(source.low, source.high)), 2
        return 0.0, 0

    def _profiles(self) -> Iterator[Signal]:
        """Yield velocities and temperatures at inflows and on walls that depend on position."""
        for face, side in self._inflows.all_profiles.items():
            for name, profile in side.items():
                factor = self._near["uvw".index(name)] if name in VELOCITY else self._lift * (name == "T")
                if profile.varies and factor > 0:
                    yield ProfileSignal(float(factor), int(name == "T"), self._inflows, face, name)

    def _expressions(self) -> Iterator[Signal]:
        for force in initial_forces(self._sim.case, self._sim.grid):
            on = force.table.on
            factor = self._near["uvw".index(on)] if on in VELOCITY else self._lift * (on == "T")
            if force.timed and factor > 0 and force.known:
                yield ForceSignal(float(factor), 1 if on in VELOCITY else 2, force)


def speedup(boxes: Sequence[Box], cells: Triple, *, opened: bool) -> float:
    """Return the estimated largest speed of a flow past bodies in `boxes` of a domain, over its inflow speed."""
    if not boxes:
        return IN_JETS if opened else 1.0
    blocked = []
    for axis in range(3):
        others = [a for a in range(3) if a != axis]
        section = np.zeros([cells[a] for a in others], bool)
        for box in boxes:
            section[tuple(slice(box.lo[a], box.hi[a]) for a in others)] = True
        blocked.append(section.mean() if cells[axis] > 1 else 0.0)
    most = max((share for share in blocked if share < 1), default=MOST_BLOCKED)
    return AROUND_BODIES / (1 - min(most, MOST_BLOCKED))
