"""A case prepared for a run: its initial state, and the data that blocks need to compute it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from taskflow.cases import Case
from taskflow.cases.language.table import Precision
from taskflow.cases.tables.timed import Value
from taskflow.cases.timing.schedule import Clock
from taskflow.cases.timing.steady import Criterion
from taskflow.common.caching import cached_property
from taskflow.flow.measures.derived import Derived
from taskflow.flow.measures.statistics import Statistics
from taskflow.flow.model import Model
from taskflow.flow.stability import Onset, Stability
from taskflow.flow.time.step_clock import ClockedStep
from taskflow.output import TimeSeries
from taskflow.runs.state.kept_values import kept
from taskflow.runs.state.origin import InitialState
from taskflow.runtime.cluster import cut
from taskflow.runtime.regions import Triple
from taskflow.runtime.tasks import Program
from taskflow.systems.base.domain import Domain
from taskflow.systems.base.foresight import Foresight
from taskflow.systems.base.given import GivenRanges
from taskflow.systems.base.interfaces import Constants, InflowValues, Measures
from taskflow.systems.base.pictures import Picture, pictures_of
from taskflow.systems.base.scales import Scales
from taskflow.systems.base.timed import TimedNumbers
from taskflow.systems.bodies import BodyPaths
from taskflow.systems.projection import system_of
from taskflow.systems.records.correction import StateCorrection
from taskflow.systems.records.fields import PlaneLayers
from taskflow.systems.records.particles import ParticleSeries, ParticleTransport
from taskflow.systems.records.series import Integral, ProbeSeries
from taskflow.systems.records.statistics import AveragedSpectra, TimeAverages
from taskflow.systems.solved import DiscreteCase


@dataclass(frozen=True, kw_only=True)
class BlockSpec:
    """A case for its blocks, picklable.

    - `case`: its text. `levels`: the precision of the levels of multigrid
    - `step`: the program of a step, with particles if any. `clocked_step`: the same with the clock on
      the device, or None. `programs`: all programs of a run
    - `steady_criterion`: the criterion of a steady state. `stability`: of steps, if known
    - `scales`: the largest values that the case explains. `given`: the ranges of temperature and scalars
    - `timed`: time-dependent numbers. `surroundings`: the moving bodies
    - `onset`: the causes of motion (`inert`: none). `foresight`: later causes
    - `sweeps`: fixed number of iterations of the solver. `counted`: scalars that count iterations to a tolerance
    - `remedy`: advice of its system if the run diverges. `closure`: the name of the eddy viscosity, None without one
    - `computed`: recorded derived fields
    - `averages`, `spectra`, `probes`, `planes` (by group), `integrals`, `particles`: recorded in addition to snapshots
    - `pictures`: drawn. `corrections`: changes of the state between steps
    """

    case: str
    levels: Precision
    domain: Domain
    model: Model
    measures: Measures
    clock: Clock
    steady_criterion: Criterion | None
    stability: Stability | None
    scales: Scales
    given: GivenRanges
    sweeps: int | None
    counted: tuple[str, ...]
    remedy: str | None
    closure: str | None
    inflows: InflowValues | None
    timed: TimedNumbers
    onset: Onset
    inert: bool
    foresight: Foresight | None
    constants: Constants | None
    surroundings: BodyPaths | None
    computed: Derived | None
    averages: TimeAverages[Statistics] | None
    spectra: tuple[AveragedSpectra, ...]
    probes: tuple[ProbeSeries, ...]
    planes: Mapping[str, PlaneLayers]
    integrals: tuple[Integral, ...]
    corrections: tuple[StateCorrection, ...]
    pictures: tuple[Picture, ...]
    particles: ParticleTransport | None
    step: Program
    clocked_step: ClockedStep | None
    programs: tuple[Program, ...]

    @property
    def followed(self) -> tuple[ProbeSeries | Integral | ParticleSeries, ...]:
        """The records of numbers in time, from single states."""
        return *self.probes, *self.integrals, *(self.particles.series if self.particles else ())

    @property
    def series(self) -> tuple[TimeSeries, ...]:
        """The groups of the store with numbers in time."""
        return tuple(recorded.series for recorded in (*self.followed, *self.spectra))


def blocks_of(case: Case, slabs: int) -> Triple:
    """Return the blocks of a case; by default `slabs` slabs, or fewer of the least thickness that its system needs."""
    return cut(case.machine, case.grid.room, slabs, system_of(case).min_block_cells)


@dataclass(frozen=True, eq=False)
class RunSetup(DiscreteCase):
    """A case on nx x ny x nz blocks, each on a "cpu" or a "gpu". Raises BadInput if they do not fit the grid.

    `hosts`: the number of the host of each block. The blocks of a host write common files, or each its own if empty.
    """

    hosts: tuple[int, ...] = field(default=(), kw_only=True)

    @cached_property
    def origin(self) -> InitialState | None:
        """The saved state from which it starts, None with formulas. Raises BadInput if unreadable or unsuitable."""
        return InitialState.of(self)

    @cached_property
    def stability(self) -> Stability | None:
        """The stability of steps, or None if unknown."""
        return self.model.stability(self.clock.limit)

    @cached_property
    def probes(self) -> tuple[ProbeSeries, ...]:
        about = self.system.metadata, self.model
        return tuple(self.domain.probed(self.case, probe, *about) for probe in self.case.probes)

    @property
    def spec(self) -> BlockSpec:
        """The data that every block needs."""
        settled, given = self.steady_criterion.programs if self.steady_criterion else (), self.system.given
        steps = (self.step, self.clocked_step) if self.clocked_step else (self.step,)
        corrected = (correction.program for correction in self.system.corrections)
        return BlockSpec(
            case=self.case.to_toml(),
            levels=self.case.pressure.level_precision(self.case.machine),
            domain=self.domain,
            model=self.model,
            measures=self.measures,
            clock=self.clock,
            steady_criterion=self.steady_criterion,
            stability=self.stability,
            scales=self.system.scales,
            given=given,
            sweeps=self.system.sweeps,
            counted=self.step_cost.counted,
            remedy=self.system.remedy,
            closure=self.case.turbulence.model if self.case.turbulence else None,
            inflows=self.inflows,
            timed=self.system.timed,
            onset=self.system.outlook.onset,
            inert=self.system.outlook.inert,
            foresight=self.system.outlook.foresight,
            constants=self.system.constants,
            surroundings=self.system.surroundings,
            computed=self.system.computed,
            averages=self.averages,
            spectra=self.spectra,
            probes=self.probes,
            planes={plane.name: PlaneLayers(self.domain.layers(plane), plane.every) for plane in self.case.planes},
            integrals=self.integrals,
            corrections=self.system.corrections,
            particles=self.particles,
            step=self.step,
            clocked_step=self.clocked_step,
            programs=(
                self.model.start, self.monitor, *steps, given.measured, *settled, *corrected, *chain(*self.recorded),
            ),
            pictures=pictures_of(self.case, self.domain),
        )


class Settings:
    """The values set by the user, by key, and the objects that use them instead of the values of the case."""

    def __init__(self, timed: TimedNumbers, inflows: InflowValues | None, surroundings: BodyPaths | None) -> None:
        self.values: dict[str, Value] = {}
        self.timed = replace(timed, instead=self.values)
        self.inflows = inflows.following(self.values) if inflows else None
        self._moving = surroundings.geometry if surroundings else None

    def update(self, values: Mapping[str, Value]) -> None:
        """Set values, by key, from the user or from a checkpoint."""
        self.values.update(values)
        if self._moving is not None:
            self._moving.change(self.values)

    def written(self) -> dict[str, Any]:
        """Return the values for a checkpoint."""
        return {key: kept(given) for key, given in self.values.items()}
