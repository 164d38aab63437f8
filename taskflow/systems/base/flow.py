"""The systems of flows: from the boundaries, bodies, scalars and records of a case to a `FlowModel`. A subclass makes
its model, and adds the entries of its solver to the log.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, ClassVar

from taskflow.cases.checks import all_fields
from taskflow.cases.formulas.noise import SPECTRA, RandomVelocity
from taskflow.cases.language.capabilities import Supports
from taskflow.cases.tables.grid import narrowest
from taskflow.cases.tables.magnitudes import Magnitudes
from taskflow.cases.tables.projection import FLOW
from taskflow.cases.timing.intervals import Tick
from taskflow.cases.timing.schedule import Clock
from taskflow.common.caching import cached_property
from taskflow.common.errors import BadInput
from taskflow.common.rows import Row, labelled, warning_rows
from taskflow.flow import Monitor
from taskflow.flow.bodies import Obstacles
from taskflow.flow.flow_model import FlowModel
from taskflow.flow.measures.derived import Derived
from taskflow.flow.measures.energy_budget import EnergyBudget
from taskflow.flow.measures.surface_flux import SurfaceFlux
from taskflow.flow.model import VELOCITY
from taskflow.output import FieldMetadata, TimeSeries
from taskflow.systems.base.expressions import derived, derived_metadata, initial_forces, unlike
from taskflow.systems.base.forcing_rates import cautions
from taskflow.systems.base.given import GivenRanges, coarse, given
from taskflow.systems.base.onset import Causes
from taskflow.systems.base.physics import physics, sides_described, turbulence_described
from taskflow.systems.base.reach import out_of_reach
from taskflow.systems.base.scales import Scales, advective_rate, peclet, scales
from taskflow.systems.base.step_cost import StepCost
from taskflow.systems.base.system import System, log_line
from taskflow.systems.base.timed import TimedNumbers, timed_numbers, times
from taskflow.systems.bodies.inertia import BodyForce, MovingBody
from taskflow.systems.initial.fields import initial_profiles, largest
from taskflow.systems.initial.inflow import Inflows
from taskflow.systems.initial.side_profiles import SideProfile, inflow_profiles, times_of, wall_profiles
from taskflow.systems.records.conditions import conditions
from taskflow.systems.records.series import Integral, geometry, sides

WORDS = {
    "u": "velocity along x",
    "v": "velocity along y",
    "w": "velocity along z",
    "p": "pressure divided by density",
    "T": "temperature",
    "nu_t": "eddy viscosity",
}


@dataclass(frozen=True, eq=False)
class FlowMeasures:
    """The quantities in a line of the log, for a state whose monitor has run. Picklable.

    - `residuals`: names of residuals of the solver that are finite in a sane state
    - `driven`: bodies by name, with the forces stored in them
    - `derived`: fields whose means are logged
    """

    model: FlowModel
    driven: Mapping[str, BodyForce | MovingBody] = field(default_factory=dict)
    derived: Derived | None = field(default=None, kw_only=True)
    residuals: ClassVar[tuple[str, ...]] = ()

    @cached_property
    def monitor(self) -> Monitor:
        return Monitor(self.model, derived=self.derived)

    @property
    def finite(self) -> tuple[str, ...]:
        integrals = (f"integral_{quantity.name}" for quantity in self.model.passive)
        return ("kinetic_energy", "divergence", *self.residuals, *integrals)

    def solved(self, scalars: Mapping[str, float], tick: Tick) -> dict[str, float]:
        """Return the residual and the cost of the solver."""
        return {}

    def line(self, scalars: Mapping[str, float], tick: Tick, wall: float) -> dict[str, Any]:
        """Return the line, `wall` seconds after the first state: see CASE in the reference."""
        model, monitor, cells = self.model, self.monitor, self.model.staggered.box.volume
        numbers = log_line(scalars, tick, wall)
        numbers |= {
            "divergence": scalars["divergence"],
            **self.solved(scalars, tick),
            "kinetic_energy": scalars["energy"] / cells,
            "wall": numbers.pop("wall"),
            "change": monitor.change(scalars, tick.dt) if tick.step else 0.0,
        }
        numbers |= (keeping := model.driving.forces(scalars, model.scheme, tick.dt, cells))
        if model.turbulence:
            numbers["eddy_viscosity"] = scalars["eddy"]
        if monitor.through:
            numbers["openings"] = monitor.passed(scalars)
        if model.heat:
            numbers |= {f"nusselt_{face}": value for face, value in monitor.nusselt(scalars).items()}
        if model.obstacles:
            bodies = model.obstacles.measured(scalars)
            if self.driven and (stored := model.stored_forces):
                given = stored.at({name: body.place(tick.time) for name, body in self.driven.items()}, scalars)
                uniform = model.driving.uniform(scalars, model.fluid)
                force = [a + keeping.get(f"force_{axis}", 0.0) for axis, a in zip("xyz", uniform, strict=True)]
                for name, body in self.driven.items():
                    driven = [a + b for a, b in zip(force, given[name], strict=True)]
                    bodies[name] = body.completed(bodies[name], tick.time, tick.dt, driven)
            numbers["bodies"] = bodies
        return numbers | monitor.integrals(scalars) | monitor.means(scalars)


@dataclass(frozen=True, eq=False)
class FlowSystem(System):
    """A flow with all features of a case: its `model` takes the arguments in `physics`. A system with fewer features
    declares its own `supports`.
    """

    supports: ClassVar[Supports] = FLOW
    words: ClassVar[Mapping[str, str]] = WORDS
    measuring: ClassVar[type[FlowMeasures]] = FlowMeasures

    @classmethod
    def fields(cls, tables: Mapping[str, Any]) -> tuple[str, ...]:
        return all_fields(tables)

    @property
    @abstractmethod
    def model(self) -> FlowModel:
        """The equations with their boundary conditions."""

    @property
    def metadata(self) -> dict[str, FieldMetadata]:
        """The metadata of the fields of the model and of derived fields."""
        return super().metadata | derived_metadata(self.sim.case)

    @property
    def physics(self) -> dict[str, Any]:
        """The arguments of the model given by the case, for any solver."""
        profiles = chain(self._profiles.values(), wall_profiles(self.sim.case).values())
        varying = any(profile.varies for side in profiles for profile in side.values())
        return physics(self.sim.case, self.sim.grid, self.obstacles, varying=varying)

    @cached_property
    def measures(self) -> FlowMeasures:
        return self.measuring(self.model, self.sim.bodies.driven, derived=self.logged)

    @cached_property
    def computed(self) -> Derived | None:
        return derived(self.sim.case, self.sim.grid)

    @property
    def logged(self) -> Derived | None:
        """The derived fields whose means are logged, or None."""
        return self.computed.some(self.sim.case.monitor.fields or ()) if self.computed else None

    @property
    def clock(self) -> Clock:
        """The schedule of the run, with steps short enough for moving bodies."""
        moving = self.sim.bodies.moving
        return replace(super().clock, motion=moving.longest if moving else None)

    @property
    def initial(self) -> dict[str, Any]:
        return initial_profiles(self.sim.case)

    @property
    def noise(self) -> RandomVelocity | None:
        table = self.sim.case.initial.noise
        if table is None:
            return None
        return RandomVelocity(self.sim.grid, table.rms, table.wavenumber, SPECTRA[table.spectrum], table.seed)

    @property
    def advective_rate(self) -> float:
        """The rate of walls, inflows and initial velocity."""
        return advective_rate(self.sim, self.model, self.inflows)

    @cached_property
    def outlook(self) -> Causes:
        return Causes(self.sim, self.model, self.inflows, self.clock.limit.fall)

    @property
    def scales(self) -> Scales:
        return scales(self.sim, self.model, self.inflows)

    @cached_property
    def _profiles(self) -> dict[str, dict[str, SideProfile]]:
        case = self.sim.case
        given = ((key, face, side) for key, face, _, side in case.conditions if side.kind.fixes_velocity())
        return {key: inflow_profiles(case, side, face) for key, face, side in given}

    @cached_property
    def inflows(self) -> Inflows:
        return Inflows(self.sim.grid, self._profiles, self.model.openings, self.sim.dtype, wall_profiles(self.sim.case))

    @cached_property
    def timed(self) -> TimedNumbers:
        """The time-dependent numbers on walls and of forces."""
        return TimedNumbers(timed_numbers(self.sim.case), self.model.scheme)

    @cached_property
    def obstacles(self) -> Obstacles | None:
        """The bodies of the model, or None."""
        return self.sim.bodies.obstacles(self.forced) if self.sim.case.obstacles else None

    @property
    def forced(self) -> int:
        """The number of times that a projection forces the velocity in bodies: 0 if the solver resolves their faces."""
        return 0

    @cached_property
    def given(self) -> GivenRanges:
        return given(self.sim.case, self.model, self.inflows)

    @property
    def budget(self) -> EnergyBudget | None:
        table = self.sim.case.statistics
        return EnergyBudget(self.model) if table is not None and table.budget else None

    @property
    def surfaces(self) -> tuple[Integral, ...]:
        integrals = []
        for surface in self.sim.case.surfaces:
            around = sides(surface, self.sim.grid)
            measured = tuple(SurfaceFlux(self.model, side) for side in around)
            series = TimeSeries.through_sides(surface.name, measured[0].names, *geometry(around, self.sim.grid))
            integrals.append(Integral(series, measured, surface.every))
        return tuple(integrals)

    @property
    def attributes(self) -> dict[str, Any]:
        """The boundary conditions and the properties of the fluid."""
        return conditions(self.sim.case).attributes()

    def check(self, start: float = 0.0) -> None:
        """Raise BadInput if formulas, step sizes, inflows or bodies of the case are invalid."""
        sim = self.sim
        _ = sim.survey  # reports invalid bodies
        if self.surroundings is not None:
            path = sim.bodies.path
            self.surroundings.check(start, path[-1], path, sim.case.time.step)
        self.inflows.check(times_of(sim.case))
        self.timed.check(times(sim.case)[: None if sim.case.time.end or sim.case.time.step else 1])
        initial = largest(sim.case, sim.grid)
        for force in initial_forces(sim.case, sim.grid):  # which evaluate initial fields without their keys
            force.check()
        self._check_sizes(initial)
        speeds = [value for name, value in initial.items() if name in VELOCITY]
        outlook = self.outlook
        moved = self.inflows.profiles or self.surroundings is not None or outlook.foresight is not None
        if len(speeds) == len(VELOCITY) and not (moved or outlook.onset.acceleration or outlook.onset.jerk):
            self.clock.limit.longest(max(speeds), self.diffusive_rates)

    def _check_sizes(self, initial: dict[str, float]) -> None:
        case, grid, inflows = self.sim.case, self.sim.grid, self.inflows
        numbers = Magnitudes(narrowest(grid), case.fluid.viscosity, case.machine.precision)
        entering = zip(inflows.profiles, inflows.fastest(times_of(case)), strict=True)
        sizes = [(inflows.sides[key].place, float(max(speeds)), "velocity") for key, speeds in entering]
        sizes += [(f"initial {name}", value, "velocity" if name in VELOCITY else "") for name, value in initial.items()]
        for key, value, kind in sizes:
            if lost := numbers.velocity(value) if kind and value > 1 else numbers.carried(value):
                raise BadInput(f"{key}: values of {value:g}; {lost}; give smaller ones")

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings of expressions that mix dimensions, and of forces that act faster than steps can follow."""
        sim, warnings = self.sim, list(unlike(self.sim.case))
        warnings += out_of_reach(sim.case, self.clock.limit)
        if sim.case.forcing:
            with suppress(BadInput):  # the step size may be unknown yet
                dt = self.clock.limit.longest(self.advective_rate, self.diffusive_rates)
                warnings += cautions([*initial_forces(sim.case, sim.grid)], dt, self.model.scheme)
        return tuple(warnings)

    def rows(self, cost: StepCost) -> Iterator[Row]:
        """Yield rows of `taskflow check`: equations, bodies, openings, forces and eddies."""
        yield from super().rows(cost)
        carried = (table.described(self.sim.case.body.gravity) for table in self.sim.case.particles)
        forces = (table.described for table in self.sim.case.forcing)
        openings = chain(self.inflows.described(), sides_described(self.model, permeable=True))
        parts = {
            "motion": self._motions(), "openings": openings, "sides": sides_described(self.model, permeable=False),
            "forcing": forces, "particles": carried,
        }  # fmt: skip
        for label, lines in parts.items():
            yield from labelled(label, lines)
        if self.sim.case.turbulence:
            yield Row("eddies", turbulence_described(self.sim.case))
        yield from warning_rows(coarse(self.given, peclet(self.sim, self.model, self.inflows)))

    def _motions(self) -> Iterator[str]:
        path = self.sim.bodies.path
        for name, body in self.sim.bodies.driven.items():
            if not isinstance(body, MovingBody):
                continue
            when = "in the run" if len(path) > 1 else "at time 0, as the end of the run is not known"
            yield f"{name}: surface speed at most {max(map(body.speed, path)):.4g} {when}"
