"""The interface of a system of equations beyond its `Model`: how a case becomes one, and what log and report say."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from taskflow.cases import Case
from taskflow.cases.formulas.noise import RandomVelocity
from taskflow.cases.tables.initial import Profile
from taskflow.cases.tables.method import SystemType
from taskflow.cases.timing.schedule import Clock, Tick
from taskflow.cases.timing.steady import Settled, SteadyCriterion
from taskflow.common.caching import cached_property
from taskflow.common.rows import Row
from taskflow.flow.measures.derived import Derived
from taskflow.flow.measures.energy_budget import EnergyBudget
from taskflow.flow.measures.isosurface import Isosurface, ValueSurface
from taskflow.flow.measures.steadiness import Steadiness
from taskflow.flow.model import Model
from taskflow.flow.stability import NO_EDDIES
from taskflow.flow.time.schemes import ADAMS_BASHFORTH, DiffusiveRates
from taskflow.output import FieldMetadata
from taskflow.runtime.regions import Field
from taskflow.systems.base.domain import BoxDomain, CaseOnBlocks, Domain
from taskflow.systems.base.given import NOTHING, GivenRanges
from taskflow.systems.base.interfaces import Constants, Entering, Measures
from taskflow.systems.base.outlook import Outlook
from taskflow.systems.base.scales import Scale, Scales
from taskflow.systems.base.step_cost import StepCost
from taskflow.systems.base.timed import TimedNumbers
from taskflow.systems.bodies import Masks, Moving, Surroundings, placement
from taskflow.systems.initial.fields import extremes
from taskflow.systems.records.series import Integral


def log_line(scalars: Mapping[str, float], tick: Tick, wall: float) -> dict[str, Any]:
    """The part of a line of the log that all systems have."""
    return {"step": tick.step, "time": tick.time, "dt": tick.dt, "cfl": tick.dt * scalars["rate"], "wall": wall}


@dataclass(frozen=True, eq=False)
class System(SystemType, ABC):
    """A system of equations, made of a case. A package registers its class under the name that `method.type` gives.

    `table` reads the table `claims` of the case file, whose presence selects the system, into `case.own`. Its `rules`
    say what goes together with other tables, and its `completed` gives it defaults that follow from them. `supports`
    declares what else of a case the system can do; everything else is refused. What this class says holds for equations
    without bodies, inflows and noise.
    """

    sim: CaseOnBlocks

    thinnest: ClassVar[int] = 1  # cells of a block along directions that are cut
    fewest: ClassVar[int] = 1  # fields that it has at the least
    remaps: ClassVar[bool] = False  # it begins with fields of another grid; or else with its own checkpoints alone
    implied: ClassVar[Mapping[str, str]] = {}  # fields with the initial ones from which they follow
    words: ClassVar[Mapping[str, str]] = {}  # the names of fields in words

    @classmethod
    def headline(cls, case: Case) -> str:
        """The system in a line, for the head of a run."""
        return f"Model: {cls.claims}"

    @classmethod
    def pseudo_time(cls, case: Case) -> bool:
        """Return True if the steps of a run lead to its steady state, and its time is their number alone."""
        return False

    @property
    @abstractmethod
    def model(self) -> Model:
        """The equations."""

    @cached_property
    def domain(self) -> Domain:
        """Where the cells are."""
        return BoxDomain(self.sim.grid)

    @property
    def constants(self) -> Constants | None:
        """The constants in the fields that no program writes: here where bodies are, if there are any."""
        return self.masks

    @property
    def masks(self) -> Masks | None:
        """The masks that fill the fields of bodies; None without any, and where some move."""
        return self.sim.bodies.masks((*self.model.flags, *self.model.surfaces)) if self.sim.case.obstacles else None

    @cached_property
    def moving(self) -> Moving | None:
        """The bodies of which some move, with the fields that they fill; None where all are at rest."""
        moving = self.sim.bodies.moving if self.sim.case.obstacles else None
        if moving is None:
            return None
        moving = replace(moving, roles=(*self.model.flags, *self.model.surfaces))
        return replace(moving, placement=placement(moving, self.sim.bodies.near))

    @cached_property
    def ways(self) -> Surroundings | None:
        """The bodies of which some move, and what these may meet; None where all are at rest."""
        if self.moving is None:
            return None
        case, cells = self.sim.case, {body.name: body.around for body in self.sim.bodies.followed}
        sides = {face: case.boundary(face).type for face in case.boundaries.sides}
        names = tuple(body.name or f"obstacles[{n}]" for n, body in enumerate(case.obstacles, start=1))
        return Surroundings(self.moving, sides, names, cells)

    @property
    def constant_fields(self) -> tuple[Field, ...]:
        """Such fields that are of the host alone, ghost cells included."""
        return ()

    @property
    def clock(self) -> Clock:
        """The schedule of the run, with steps as long as the model lets them be."""
        time = self.sim.case.time
        return self.sim.case.clock(self.model.step_limit(time.step, time.cfl or 0.5, time.diffusion))

    @property
    def settled(self) -> Settled | None:
        """The criterion of a steady state; None where the run does not stop there."""
        steady = self.sim.case.time.steady
        if steady is None:
            return None
        return SteadyCriterion(Steadiness(self.model, self.sim.grid), steady.rate, steady.every, steady.over)

    @property
    def iterated(self) -> str:
        """The name of what a step repeats until it is enough."""
        return "round of the pressure solver"

    @property
    def remedy(self) -> str | None:
        """Say what to change where a run diverges; None where that follows from its steps."""
        return None

    @property
    def metadata(self) -> dict[str, FieldMetadata]:
        """The name in words, the units and the location of every field that can be recorded, by its name: here that of
        `words` or the name itself, no units, and the location that the model gives.
        """
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

    def resolved(self, tables: Mapping[str, Any]) -> Mapping[str, Any]:
        """The tables of a case, as in its file, with the numbers that follow from [initial] in equations: here none."""
        return tables

    @property
    def noise(self) -> RandomVelocity | None:
        """The random velocity that is added to them."""
        return None

    @property
    def advective_rate(self) -> float:
        """max(|u|/dx + |v|/dy + |w|/dz), about, as far as the case tells it; 0 where nothing does."""
        return 0.0

    @property
    def spreads(self) -> DiffusiveRates:
        """The rates of diffusion at the start that its model measures, about; none where its `step_limit` knows all."""
        return NO_EDDIES

    @cached_property
    def outlook(self) -> Outlook:
        """How the fluid is set in motion, and how fast it gets, as far as the case tells it."""
        return Outlook(self.advective_rate)

    @property
    def scales(self) -> Scales:
        """The largest sane values: those of the initial fields, but for a factor `SANE`."""
        carried = {name: Scale(0.0) for name in self.model.moving if name != "velocity"}
        velocity = ("u", "v", "w") if "velocity" in self.model.moving else ()
        return Scales(velocity, Scale(0.0), 0.0, carried, driven=True)

    @property
    def inflows(self) -> Entering | None:
        """The values that enter at inflows, written for every step; None where none are."""
        return None

    @cached_property
    def timed(self) -> TimedNumbers:
        """The numbers that change in time; here none."""
        return TimedNumbers((), ADAMS_BASHFORTH)

    @cached_property
    def given(self) -> GivenRanges:
        """The ranges of temperature and scalars that the case gives."""
        return NOTHING

    @property
    def sweeps(self) -> int | None:
        """The number of iterations of a solver that does not look at what they leave; None without one."""
        return None

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes of every group of the store, beside the title and the case."""
        return {}

    @property
    def budget(self) -> EnergyBudget | None:
        """The budget of the turbulent kinetic energy, where the case asks for one."""
        return None

    @property
    def computed(self) -> Derived | None:
        """The program that computes the fields that are recorded and follow from others; None without any."""
        return None

    @property
    def surfaces(self) -> tuple[Integral, ...]:
        """The integrals over the surfaces of the case."""
        return ()

    def isosurface(self, field: str, value: float) -> Isosurface:
        """The program that measures the area on which a field has a value."""
        return Isosurface(self.sim.grid, ValueSurface(field, value))

    def check(self) -> None:
        """Raises BadInput where the first step cannot be made, as an initial value is not finite."""
        extremes(self.initial, self.sim.grid, lambda name: f"the initial {name}")

    @property
    def cautions(self) -> tuple[str, ...]:
        """Warnings of what the case may not mean."""
        return ()

    def rows(self, cost: StepCost) -> Iterator[Row]:
        """Yield rows of `taskflow check` on a case whose steps have this cost: equations and bodies."""
        yield from self.solver_rows()
        if self.sim.survey:
            yield from self.sim.survey.rows()

    def solver_rows(self) -> Iterator[Row]:
        """Yield rows on the equations and their solver."""
        yield Row("model", f"{self.claims}; {self.sim.case.machine.precision} precision")

    @property
    def report(self) -> dict[str, Any]:
        """The entries of report.json."""
        return {"model": self.claims}
