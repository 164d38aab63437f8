"""A case as a run needs it: what it begins with, and what its blocks have to know."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from taskflow.flow.stability import Stability
from taskflow.runtime.cluster import cut
from taskflow.runtime.regions import Triple
from taskflow.simulation.build.origin import Origin
from taskflow.simulation.build.pictures import pictures_of
from taskflow.simulation.build.projection import system_of
from taskflow.simulation.build.solved import SolvedCase
from taskflow.simulation.build.spec import BlockSpec
from taskflow.simulation.case import Case
from taskflow.simulation.records.fields import PlaneLayers
from taskflow.simulation.records.series import ProbeSeries


def blocks_of(case: Case, slabs: int) -> Triple:
    """The blocks that a case gives; by default so many slabs, or fewer that are as thick as its system needs them."""
    return cut(case.machine, case.grid.room, slabs, system_of(case).thinnest)


@dataclass(frozen=True, eq=False)
class SimulationSetup(SolvedCase):
    """A case on nx x ny x nz blocks, each on a "cpu" or a "gpu". Raises BadInput where they do not fit the grid."""

    @cached_property
    def origin(self) -> Origin | None:
        """The state of elsewhere with which it begins; None where the case has formulas. Raises BadInput where it
        cannot be read, or is none for the case.
        """
        return Origin.of(self)

    @cached_property
    def stability(self) -> Stability | None:
        """The stability of steps; None where it is not known."""
        return self.model.stability(self.clock.limit)

    @cached_property
    def probes(self) -> tuple[ProbeSeries, ...]:
        """The records at points."""
        return tuple(self.domain.probed(self.case, probe, self.system.metadata) for probe in self.case.probes)

    @property
    def spec(self) -> BlockSpec:
        """The part of this that every block has to know."""
        settled = self.settled.programs if self.settled else ()
        return BlockSpec(
            case=self.case.to_toml(),
            domain=self.domain,
            model=self.model,
            measures=self.measures,
            clock=self.clock,
            settled=self.settled,
            stability=self.stability,
            scales=self.system.scales,
            sweeps=self.system.sweeps,
            counted=self.step_cost.counted,
            remedy=self.system.remedy,
            inflows=self.inflows,
            timed=self.system.timed,
            constants=self.system.constants,
            ways=self.system.ways,
            computed=self.system.computed,
            averages=self.averages,
            spectra=self.spectra,
            probes=self.probes,
            planes={plane.name: PlaneLayers(self.domain.layers(plane), plane.every) for plane in self.case.planes},
            integrals=self.integrals,
            particles=self.particles,
            step=self.step,
            programs=(self.model.start, self.monitor, self.step, *settled, *chain(*self.recorded)),
            pictures=pictures_of(self.case, self.domain),
        )
