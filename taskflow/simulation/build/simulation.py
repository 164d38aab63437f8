"""A case made concrete: its region, its partition into blocks, its model, and what is recorded of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, groupby

import numpy as np

from taskflow.flow import StaggeredGrid
from taskflow.flow.bodies.placement import PlacedStep
from taskflow.flow.measures.spectra import CENTRED, Spectra, partitions
from taskflow.flow.measures.statistics import Statistics
from taskflow.flow.model import Model
from taskflow.flow.stability import Stability
from taskflow.output import of_surface
from taskflow.runtime.cluster import cut
from taskflow.runtime.regions import Field, FieldSpace, Location, Partition, Triple
from taskflow.runtime.tasks import Cells, Program, live_in, overwritten
from taskflow.simulation.bodies import Bodies, Masks, Moving, Surroundings, Survey, placement, surroundings, survey
from taskflow.simulation.build.domain import Domain
from taskflow.simulation.build.particles import transport
from taskflow.simulation.build.pictures import pictures_of
from taskflow.simulation.build.projection import system_of
from taskflow.simulation.build.spec import BlockSpec
from taskflow.simulation.build.step_cost import StepCost
from taskflow.simulation.build.system import Entering, Measures, System
from taskflow.simulation.case import Case
from taskflow.simulation.records.fields import STATISTICS, PlaneLayers
from taskflow.simulation.records.particles import ParticleTransport
from taskflow.simulation.records.series import Integral, ProbeSeries
from taskflow.simulation.records.statistics import AveragedSpectra, TimeAverages, averaged_spectra
from taskflow.simulation.timing.schedule import Clock
from taskflow.simulation.timing.steady import Settled


def blocks_of(case: Case, slabs: int) -> Triple:
    """The blocks that a case gives; by default so many slabs, or fewer that are as thick as its system needs them."""
    return cut(case.machine, case.grid.room, slabs, system_of(case).thinnest)


@dataclass(frozen=True, eq=False)
class SimulationSetup:
    """A case on nx x ny x nz blocks, each on a "cpu" or a "gpu". Raises BadInput where they do not fit the grid."""

    case: Case
    blocks: Triple
    device: str = field(default="cpu", kw_only=True)

    @cached_property
    def grid(self) -> StaggeredGrid:
        """Cells and places."""
        return self.case.staggered

    @property
    def domain(self) -> Domain:
        """Where the cells are."""
        return self.system.domain

    @cached_property
    def system(self) -> System:
        """The system of equations that the case is of."""
        return system_of(self.case)(self)

    @cached_property
    def model(self) -> Model:
        """The equations with their boundary conditions."""
        return self.system.model

    @cached_property
    def clock(self) -> Clock:
        """The schedule of the run."""
        return self.system.clock

    @cached_property
    def measures(self) -> Measures:
        """The quantities in the log."""
        return self.system.measures

    @property
    def monitor(self) -> Program:
        """The program that measures them."""
        return self.measures.monitor

    @cached_property
    def settled(self) -> Settled | None:
        """The criterion of a steady state; None where the run does not stop there."""
        return self.system.settled

    @cached_property
    def stability(self) -> Stability | None:
        """The stability of steps; None where it is not known."""
        return self.model.stability(self.clock.limit)

    @cached_property
    def inflows(self) -> Entering | None:
        """The values that enter at inflows, written for every step; None where none are."""
        return self.system.inflows

    @property
    def dtype(self) -> str:
        """The type of numbers in all fields."""
        return "f8" if self.case.machine.precision == "double" else "f4"

    @cached_property
    def bodies(self) -> Bodies:
        """The bodies on the grid. Raises BadInput where a file of theirs cannot be read."""
        return Bodies(self.case, self.grid)

    @cached_property
    def survey(self) -> Survey | None:
        """The volumes, gaps and warnings of the bodies; None without any. Raises BadInput where they cannot be."""
        return survey(self.bodies) if self.case.obstacles else None

    @cached_property
    def averages(self) -> TimeAverages[Statistics] | None:
        """The averages over time; None where nothing is averaged."""
        table = self.case.statistics
        if table is None or table.fields is None:
            return None
        names = tuple(sorted(table.fields, key=self.case.recordable.index))
        centred = self.model.fields.get("u") == "c"
        statistics = Statistics(names, self.domain.boxes, table.order, self.system.budget, centred)
        return TimeAverages(statistics, table.start, table.every, table.write)

    @cached_property
    def spectra(self) -> tuple[AveragedSpectra, ...]:
        """The spectra that are averaged over time."""
        if not self.case.spectra:
            return ()
        about = self.grid, self._main, self.system.metadata
        return tuple(averaged_spectra(self.case, table, *about) for table in self.case.spectra)

    @property
    def averaged(self) -> dict[str, Statistics | Spectra]:
        """Everything that is averaged over time, by its group of the store, in the order of the samples."""
        averaged = {STATISTICS: self.averages.statistics} if self.averages else {}
        return {**averaged, **{spectra.series.group: spectra.averages.statistics for spectra in self.spectra}}

    @cached_property
    def probes(self) -> tuple[ProbeSeries, ...]:
        """The records at points."""
        return tuple(self.domain.probed(self.case, probe, self.system.metadata) for probe in self.case.probes)

    @cached_property
    def integrals(self) -> tuple[Integral, ...]:
        """The integrals over surfaces; those that are measured equally often stand side by side."""
        integrals = list(self.system.surfaces)
        for iso in self.case.isosurfaces:
            words = f"area of the surface on which {iso.field} = {iso.value:g}"
            series = of_surface(iso.name, words, {"field": iso.field, "value": iso.value})
            integrals.append(Integral(series, (self.system.isosurface(iso.field, iso.value),), iso.every))
        return tuple(sorted(integrals, key=lambda integral: str(integral.every)))

    @cached_property
    def particles(self) -> ParticleTransport | None:
        """The particles that the flow carries; None without any."""
        return transport(self.case, self.system, self._main) if self.case.particles else None

    @cached_property
    def step(self) -> Program:
        """The program of a step: that of the model, with particles where there are some, and bodies that kernels place.
        """
        step = self.particles.carrying if self.particles else self.model.step
        return PlacedStep(self.moving.placement, step) if self.moving and self.moving.placement else step

    @property
    def recorded(self) -> tuple[tuple[Program, ...], ...]:
        """The programs by which something is recorded after steps, in their order; those that always come one after the
        other, as they are due at the same time, together.
        """
        derived = ((self.system.computed,),) if self.system.computed else ()
        often = groupby(self.integrals, key=lambda integral: integral.every)
        measured = [tuple(program for integral in group for program in integral.measured) for _, group in often]
        sampled = [(table.sampling,) for table in self.particles.series] if self.particles else []
        return (*derived, *measured, *sampled, *((averaged.sample,) for averaged in self.averaged.values()))

    @property
    def masks(self) -> Masks | None:
        """The masks that fill the fields of bodies; None without any, and where some move."""
        return self.bodies.masks((*self.model.flags, *self.model.surfaces)) if self.case.obstacles else None

    @cached_property
    def moving(self) -> Moving | None:
        """The bodies of which some move, with the fields that they fill; None where all are at rest."""
        moving = self.bodies.moving if self.case.obstacles else None
        if moving is None:
            return None
        moving = replace(moving, roles=(*self.model.flags, *self.model.surfaces))
        return replace(moving, placement=placement(moving, self.bodies.near))

    @property
    def spec(self) -> BlockSpec:
        """The part of this that every block has to know."""
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
            ways=self.ways,
            computed=self.system.computed,
            averages=self.averages,
            spectra=self.spectra,
            probes=self.probes,
            planes={plane.name: PlaneLayers(self.domain.layers(plane), plane.every) for plane in self.case.planes},
            integrals=self.integrals,
            particles=self.particles,
            step=self.step,
            pictures=pictures_of(self.case, self.domain),
        )

    @cached_property
    def ways(self) -> Surroundings | None:
        """The bodies of which some move, and what these may meet; None where all are at rest."""
        return surroundings(self.case, self.moving, self.bodies.followed) if self.moving else None

    @cached_property
    def partition(self) -> Partition:
        """The region of all fields, cut into the blocks; beside it those of the pressure solver and of spectra."""
        spectra = partitions([waves.averages.statistics for waves in self.spectra])
        particles = [table.fields.partition for table in self.particles.series] if self.particles else []
        return replace(self._main, beside=(*self.model.partitions(self._main), *spectra, *particles))

    @cached_property
    def _main(self) -> Partition:
        averages = self.averages.statistics.fields if self.averages else {}
        centred: dict[str, Location] = {CENTRED: "c"} if any(table.pairs for table in self.case.spectra) else {}
        kept = self.settled.fields if self.settled else {}
        derived = self.system.computed.fields if self.system.computed else {}
        fields = self.model.fields | derived | averages | centred | kept
        constant = {field.name: field for field in self.system.constant_fields}
        numbers = (Field(name, self.dtype, place) for name, place in fields.items() if name not in constant)
        flags = (Field(name, kind) for name, kind in self.model.flags.items())
        space = FieldSpace((*numbers, *self.model.several(self.dtype), *flags, *constant.values()))
        return self.domain.partition(space, self.model.ghost, self.blocks)

    @cached_property
    def step_cost(self) -> StepCost:
        """A step of the model in the long run: what it sends and moves."""
        return StepCost(self.model.step, self.partition)

    @cached_property
    def carried(self) -> Cells:
        """The cells, by role, that decide all that comes after a step: what a checkpoint holds.

        Fields that programs never write are left out: they are as they were at the start. Of those of the solver's own
        regions, which depend on the blocks, no cell is kept that is not written, only padding that is never used; nor
        is one of charts, whose outer ghost cells kernels may look at and not use.
        """
        model, main = self.model, self.partition.region.fields if self.partition.pieces is None else {}
        judged = self.settled.programs if self.settled else ()
        begun = (*judged, *(averaged.begin for averaged in self.averaged.values()))
        written = overwritten((model.start, *begun, model.step), self.partition)
        after = (*judged, self.monitor, *chain(*self.recorded))
        computed = tuple(name for name in self.case.output_fields if name in model.fields)
        cells = live_in((self.step, *after), self.partition, computed)
        kept = {
            role: boxes
            if role in main
            else tuple(c for box in boxes for averaged in written.get(role, ()) if (c := box & averaged))
            for role, boxes in cells.items()
        }
        return {role: boxes for role, boxes in kept.items() if boxes and role in written}

    @property
    def value_bytes(self) -> int:
        """The bytes of one value."""
        return np.dtype(self.dtype).itemsize
