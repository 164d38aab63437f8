"""A case as its blocks compute it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from taskflow.flow.measures.derived import Derived
from taskflow.flow.measures.statistics import Statistics
from taskflow.flow.model import Model
from taskflow.flow.stability import Stability
from taskflow.output import TimeSeries
from taskflow.runtime.tasks import Program
from taskflow.simulation.bodies import Surroundings
from taskflow.simulation.build.domain import Domain
from taskflow.simulation.build.pictures import Picture
from taskflow.simulation.build.scales import Scales
from taskflow.simulation.build.system import Constants, Entering, Measures
from taskflow.simulation.build.timed import TimedNumbers
from taskflow.simulation.records.fields import PlaneLayers
from taskflow.simulation.records.particles import ParticleSeries, ParticleTransport
from taskflow.simulation.records.series import Integral, ProbeSeries
from taskflow.simulation.records.statistics import AveragedSpectra, TimeAverages
from taskflow.simulation.timing.schedule import Clock
from taskflow.simulation.timing.steady import Settled


@dataclass(frozen=True, kw_only=True)
class BlockSpec:
    """A case as its blocks compute it, picklable. `case` is its text, `settled` the criterion of a steady state,
    `stability` that of steps where it is known, `scales` the largest values that the case explains, `timed` what
    changes in time, `sweeps` how many iterations the solver makes where that is fixed, `counted` the scalars that count
    those to a tolerance, `remedy` what its system says of runs that diverge, `ways` the bodies that move, `computed`
    what is recorded and follows from other fields. Beside snapshots are recorded `averages`, `spectra`, `probes`,
    `planes` (by group) and `integrals`; `pictures` are drawn. `step` is the program of a step, with
    `particles` where there are some; `programs` are all of a run.
    """

    case: str
    domain: Domain
    model: Model
    measures: Measures
    clock: Clock
    settled: Settled | None
    stability: Stability | None
    scales: Scales
    sweeps: int | None
    counted: tuple[str, ...]
    remedy: str | None
    inflows: Entering | None
    timed: TimedNumbers
    constants: Constants | None
    ways: Surroundings | None
    computed: Derived | None
    averages: TimeAverages[Statistics] | None
    spectra: tuple[AveragedSpectra, ...]
    probes: tuple[ProbeSeries, ...]
    planes: Mapping[str, PlaneLayers]
    integrals: tuple[Integral, ...]
    pictures: tuple[Picture, ...]
    particles: ParticleTransport | None
    step: Program
    programs: tuple[Program, ...]

    @property
    def followed(self) -> tuple[ProbeSeries | Integral | ParticleSeries, ...]:
        """The records of numbers in time, of single states."""
        return *self.probes, *self.integrals, *(self.particles.series if self.particles else ())

    @property
    def series(self) -> tuple[TimeSeries, ...]:
        """The groups of the store with numbers in time."""
        return tuple(recorded.series for recorded in (*self.followed, *self.spectra))
