"""The part of a simulation that every block has to know: nothing large, nothing that belongs to the client."""

from __future__ import annotations

from dataclasses import dataclass

from taskflow.flow import StaggeredGrid
from taskflow.flow.measures.statistics import Statistics
from taskflow.flow.model import Model
from taskflow.flow.stability import Stability
from taskflow.output import TimeSeries
from taskflow.simulation.bodies import Masks
from taskflow.simulation.build.scales import Scales
from taskflow.simulation.build.system import Measures
from taskflow.simulation.inflow.inflow import Inflows
from taskflow.simulation.records.series import Integral, Layer, ProbeSeries
from taskflow.simulation.records.statistics import AveragedSpectra, TimeAverages
from taskflow.simulation.schedule import Clock
from taskflow.simulation.steady import SteadyCriterion


@dataclass(frozen=True, kw_only=True)
class BlockSpec:
    """A case as its blocks compute it. Picklable.

    `case` is its text, `settled` what a steady state is, `stability` which steps are stable, where that is
    known, `scales` how large what is computed can get, `sweeps` how many iterations solve for the pressure where their
    number is fixed, `counted` the scalars that say how often was repeated what a step repeats until it is enough. What
    is recorded beside snapshots: `averages`, `spectra`, `probes`, `layers`, `integrals`.
    """

    case: str
    grid: StaggeredGrid
    model: Model
    measures: Measures
    clock: Clock
    settled: SteadyCriterion | None
    stability: Stability | None
    scales: Scales
    sweeps: int | None
    counted: tuple[str, ...]
    inflows: Inflows
    masks: Masks | None
    averages: TimeAverages[Statistics] | None
    spectra: tuple[AveragedSpectra, ...]
    probes: tuple[ProbeSeries, ...]
    layers: tuple[Layer, ...]
    integrals: tuple[Integral, ...]

    @property
    def followed(self) -> tuple[ProbeSeries | Integral, ...]:
        """The records of numbers in time, of single states."""
        return *self.probes, *self.integrals

    @property
    def series(self) -> tuple[TimeSeries, ...]:
        """The groups of the store with numbers in time."""
        return tuple(recorded.series for recorded in (*self.followed, *self.spectra))
