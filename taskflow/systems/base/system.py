"""The interface of a system of equations beyond its `Model`: from a case to a model, and entries of log and report."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from taskflow.cases import Case
from taskflow.cases.formulas.noise import RandomVelocity
from taskflow.cases.tables.initial import Profile
from taskflow.cases.tables.method import SystemType
from taskflow.cases.timing.intervals import Tick
from taskflow.cases.timing.schedule import Clock
from taskflow.cases.timing.steady import Criterion, SteadyCriterion
from taskflow.common.caching import cached_property
from taskflow.common.rows import Row
from taskflow.flow.measures.derived import Derived
from taskflow.flow.measures.energy_budget import EnergyBudget
from taskflow.flow.measures.steadiness import Steadiness
from taskflow.flow.measures.surfaces import Isosurface, ValueSurface
from taskflow.flow.model import Model
from taskflow.flow.stability import NO_EDDIES
from taskflow.flow.time.schemes import ADAMS_BASHFORTH, USUAL_CFL, DiffusiveRates
from taskflow.output import FieldMetadata
from taskflow.runtime.regions import Box, Field
from taskflow.systems.base.box_domain import BoxDomain
from taskflow.systems.base.domain import Domain, PartitionedCase
from taskflow.systems.base.given import NOTHING, GivenRanges
from taskflow.systems.base.interfaces import Constants, InflowValues, Measures
from taskflow.systems.base.outlook import Outlook
from taskflow.systems.base.scales import Scale, Scales
from taskflow.systems.base.step_cost import StepCost
from taskflow.systems.base.timed import TimedNumbers
from taskflow.systems.bodies import BodyPaths, Masks, MovingBodies, Surroundings, Survey, placement
from taskflow.systems.initial.fields import extremes
from taskflow.systems.records.correction import StateCorrection
from taskflow.systems.records.series import Integral


def log_line(scalars: Mapping[str, float], tick: Tick, wall: float) -> dict[str, Any]:
    """Return the log entries of all systems: step, time, dt, CFL number, and seconds since the loop began, `wall`."""
    return {"step": tick.step, "time": tick.time, "dt": tick.dt, "cfl": tick.dt * scalars["rate"], "wall": wall}


@dataclass(frozen=True, eq=False)
class System(SystemType, ABC):
    """A system of equations, made from a case. A package registers its class under the name used by `method.type`.

    `table` reads the table `table_name` of the case file, whose presence selects the system, into `case.own`. Its
    `rules` check combinations with other tables, and its `completed` fills in defaults. `supports` declares the
    other features of a case that the system has; the rest is refused. Defaults of this class are for equations
    without bodies, inflows and noise.
    """

    sim: PartitionedCase

    min_block_cells: ClassVar[int] = 1  # cells of a block along directions that are cut
    min_fields: ClassVar[int] = 1  # fields that it has at the least
    accepts_other_grids: ClassVar[bool] = False  # it begins with fields of another grid, not only with its checkpoints
    words: ClassVar[Mapping[str, str]] = {}  # the names of fields in words

    @property
    def initial_sources(self) -> Mapping[str, str]:
        """Fields with the initial ones from which they follow."""
        return {}

    @classmethod
    def headline(cls, case: Case) -> str:
        """Return the system in one line, for the head of a run."""
        return f"Model: {cls.table_name}"

    @classmethod
    def pseudo_time(cls, case: Case) -> bool:
        """Return True if the run marches to a steady state, with the number of steps as time."""
        return False

    @property
    @abstractmethod
    def model(self) -> Model:
        """The equations."""

    @cached_property
    def domain(self) -> Domain:
        """The cells of the case."""
        return BoxDomain(self.sim.grid)

    @property
    def initial_sums(self) -> Mapping[str, Any]:
        """Derived fields whose sums the first state has, by formulas, unless it comes from another state."""
        return {}

    @property
    def constants(self) -> Constants | None:
        """The fields that no program writes: by default the masks of bodies, if any."""
        return self.masks

    @property
    def masks(self) -> Masks | None:
        """The masks that fill the fields of bodies, or None without bodies or if some move."""
        return self.sim.bodies.masks((*self.model.flags, *self.model.surfaces)) if self.sim.case.obstacles else None

    @property
    def survey(self) -> Survey | None:
        """Return the sizes and gaps of the bodies, with warnings, or None. Raises BadInput if they are invalid."""
        return self.sim.survey

    @property
    def solid(self) -> Callable[[Box], np.ndarray] | None:
        """Return the mask [z, y, x] of solid cells of a box, or None if some bodies move."""
        return None if self.sim.bodies.moving else self.sim.bodies.solids.mask

    @cached_property
    def moving(self) -> MovingBodies | None:
        """The bodies, with the fields that they fill, or None if all are at rest."""
        moving = self.sim.bodies.moving if self.sim.case.obstacles else None
        if moving is None:
            return None
        moving = replace(moving, roles=(*self.model.flags, *self.model.surfaces))
        return replace(moving, placement=placement(moving, self.sim.bodies.near))

    @cached_property
    def surroundings(self) -> BodyPaths | None:
        """The bodies and the objects they may meet, or None if all are at rest."""
        if self.moving is None:
            return None
        case, cells = self.sim.case, {body.name: body.around for body in self.sim.bodies.followed}
        sides = {face: case.boundary(face).type for face in case.boundaries.sides}
        sides |= {face: side.type for _, face, _, side in case.conditions if side.kind.permeable}  # openings, too
        names = tuple(body.name or f"obstacles[{n}]" for n, body in enumerate(case.obstacles, start=1))
        return Surroundings(self.moving, sides, names, cells)

    @property
    def constant_fields(self) -> tuple[Field, ...]:
        """Constant fields that only the host writes, ghost cells included."""
        return ()

    @property
    def clock(self) -> Clock:
        """The schedule of the run, within the step limit of the model."""
        time = self.sim.case.time
        return self.sim.case.clock(self.model.step_limit(time.step, time.cfl or USUAL_CFL, time.diffusion))

    @property
    def steady_criterion(self) -> Criterion | None:
        """The criterion of a steady state, or None if the run does not stop there."""
        steady = self.sim.case.time.steady
        if steady is None:
            return None
        return SteadyCriterion(Steadiness(self.model, self.sim.grid), steady.rate, steady.every, steady.over)

    @property
    def iteration_name(self) -> str:
        """The name of the conditional repetition in a step."""
        return "round of the pressure solver"

    @property
    def remedy(self) -> str | None:
        """Advice if a run diverges; None if it follows from the steps."""
        return None

    @property
    def metadata(self) -> dict[str, FieldMetadata]:
        """Long name, units and location of each recordable field: by default by `words` or its name, and the model."""
        places = self.model.fields
        return {name: FieldMetadata(self.words.get(name, name), location=places[name]) for name in self.sim.case.fields}

    @property
    @abstractmethod
    def measures(self) -> Measures:
        """The quantities in the log."""

    @property
    @abstractmethod
    def initial(self) -> Mapping[str, Profile]:
        """The initial fields by name, as functions of x, y and z."""

    def with_references(self, tables: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the tables with numbers that follow from [initial] filled in; by default unchanged."""
        return tables

    @property
    def noise(self) -> RandomVelocity | None:
        """The random velocity added to the initial fields, or None."""
        return None

    @property
    def advective_rate(self) -> float:
        """Estimate of `max(|u|/dx + |v|/dy + |w|/dz)` from the case; 0 if unknown."""
        return 0.0

    @property
    def diffusive_rates(self) -> DiffusiveRates:
        """Estimated initial diffusive rates that the model measures; zero if `step_limit` includes all."""
        return NO_EDDIES

    @cached_property
    def outlook(self) -> Outlook:
        """The onset and the speed of the flow, estimated from the case."""
        return Outlook(self.advective_rate)

    @property
    def scales(self) -> Scales:
        """The scales of sane values: by default only the initial fields, times `SANE`."""
        carried = {name: Scale(0.0) for name in self.model.prognostic if name != "velocity"}
        velocity = ("u", "v", "w") if "velocity" in self.model.prognostic else ()
        return Scales(velocity, Scale(0.0), 0.0, carried, driven=True)

    @property
    def inflows(self) -> InflowValues | None:
        """The inflow values, written for every step, or None."""
        return None

    @cached_property
    def timed(self) -> TimedNumbers:
        """The time-dependent numbers; by default empty."""
        return TimedNumbers((), ADAMS_BASHFORTH)

    @cached_property
    def given(self) -> GivenRanges:
        """The ranges of temperature and scalars given by the case."""
        return NOTHING

    @property
    def sweeps(self) -> int | None:
        """The fixed number of iterations of a solver without a convergence test, or None."""
        return None

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes of every group of the store, in addition to the title and the case."""
        return {}

    @property
    def budget(self) -> EnergyBudget | None:
        """The budget of the turbulent kinetic energy, if requested."""
        return None

    @property
    def computed(self) -> Derived | None:
        """The program that computes recorded derived fields, or None."""
        return None

    @property
    def corrections(self) -> tuple[StateCorrection, ...]:
        """Scheduled changes of the state between steps."""
        return ()

    @property
    def surfaces(self) -> tuple[Integral, ...]:
        """The integrals over the surfaces of the case."""
        return ()

    def isosurface(self, field: str, value: float) -> Isosurface:
        """Return the program that measures the area on which a field has a value."""
        grid = self.sim.grid
        derived = self.computed.some((field,)) if self.computed else None
        if derived is None:
            return Isosurface(grid, ValueSurface(field, value))
        ends = [(f"{a}_min", f"{a}_max") for a, around in zip("xyz", grid.periodic, strict=True) if not around]
        return Isosurface(grid, ValueSurface(field, value, tuple(chain(*ends))), derived=derived)

    def check(self, start: float = 0.0) -> None:
        """Raise BadInput if the first step is impossible, for example as an initial value is not finite. `start` is the
        time of its beginning, later than 0 on a restart.
        """
        extremes(self.initial, self.sim.grid, lambda name: f"the initial {name}")

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings of probable mistakes in the case."""
        return ()

    def rows(self, cost: StepCost) -> Iterator[Row]:
        """Yield rows of `taskflow check` on a case whose steps have this cost: equations and bodies."""
        yield from self.solver_rows()
        if self.survey:
            yield from self.survey.rows()

    def solver_rows(self) -> Iterator[Row]:
        """Yield rows on the equations and their solver."""
        yield Row("model", f"{self.table_name}; {self.sim.case.machine.precision} precision")

    @property
    def report(self) -> dict[str, Any]:
        """The entries of report.json."""
        return {"model": self.table_name}
