"""A case made concrete: its region, its partition into blocks, its model, and the programs that record it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, groupby

from taskflow.cases import Case
from taskflow.cases.tables.particles import MOST
from taskflow.cases.timing.schedule import Clock
from taskflow.cases.timing.steady import Criterion
from taskflow.common.caching import cached_property
from taskflow.common.errors import BadInput
from taskflow.common.rows import Row
from taskflow.common.units import plural, size
from taskflow.flow.bodies.placement import PlacedStep
from taskflow.flow.flow_model import FlowModel
from taskflow.flow.measures.particles import Carrying, Extent, ParticleFields, Sampling
from taskflow.flow.measures.spectra import CENTRED, Spectra, partitions
from taskflow.flow.measures.statistics import Statistics
from taskflow.flow.model import VELOCITY, Model
from taskflow.flow.time.step_clock import ClockedStep
from taskflow.output import TimeSeries
from taskflow.runtime.regions import Field, FieldSpace, Location, Partition
from taskflow.runtime.tasks import Cells, Program, Recordings, Roles, live_in, overwritten
from taskflow.systems.base.domain import Domain, PartitionedCase
from taskflow.systems.base.interfaces import InflowValues, Measures
from taskflow.systems.base.step_cost import StepCost
from taskflow.systems.base.system import System
from taskflow.systems.projection import system_of
from taskflow.systems.records.fields import STATISTICS
from taskflow.systems.records.particles import ParticleSeries, ParticleTransport
from taskflow.systems.records.series import Integral
from taskflow.systems.records.statistics import AveragedSpectra, TimeAverages, averaged_spectra


@dataclass(frozen=True, eq=False)
class DiscreteCase(PartitionedCase):
    """A case with its system: fields, programs, measurements. Raises BadInput if the blocks do not fit the grid."""

    @property
    def domain(self) -> Domain:
        return self.system.domain

    @cached_property
    def system(self) -> System:
        return system_of(self.case)(self)

    @cached_property
    def model(self) -> Model:
        return self.system.model

    @cached_property
    def clock(self) -> Clock:
        return self.system.clock

    @cached_property
    def measures(self) -> Measures:
        return self.system.measures

    @property
    def monitor(self) -> Program:
        return self.measures.monitor

    @cached_property
    def steady_criterion(self) -> Criterion | None:
        """The criterion of a steady state, or None if the run does not stop there."""
        return self.system.steady_criterion

    @cached_property
    def inflows(self) -> InflowValues | None:
        """The inflow values, written for every step, or None."""
        return self.system.inflows

    @cached_property
    def averages(self) -> TimeAverages[Statistics] | None:
        """The averages over time, or None."""
        table = self.case.statistics
        if table is None or table.fields is None:
            return None
        names = tuple(sorted(table.fields, key=self.case.recordable.index))
        centred = self.model.fields.get("u") == "c"
        statistics = Statistics(names, self.domain.boxes, table.order, self.system.budget, centred)
        return TimeAverages(statistics, table.start, table.every, table.write)

    @cached_property
    def spectra(self) -> tuple[AveragedSpectra, ...]:
        if not self.case.spectra:
            return ()
        about = self.grid, self._main, self.system.metadata
        return tuple(averaged_spectra(self.case, table, *about) for table in self.case.spectra)

    @property
    def averaged(self) -> dict[str, Statistics | Spectra]:
        """All time averages, by group of the store, in the order of the samples."""
        averaged = {STATISTICS: self.averages.statistics} if self.averages else {}
        return {**averaged, **{spectra.series.group: spectra.averages.statistics for spectra in self.spectra}}

    @cached_property
    def integrals(self) -> tuple[Integral, ...]:
        """The integrals over surfaces, sorted such that equal intervals are adjacent."""
        integrals = list(self.system.surfaces)
        for iso in self.case.isosurfaces:
            words = f"area of the surface on which {iso.field} = {iso.value:g}"
            series = TimeSeries.of_numbers(iso.name, {"area": words}, {"field": iso.field, "value": iso.value})
            integrals.append(Integral(series, (self.system.isosurface(iso.field, iso.value),), iso.every))
        return tuple(sorted(integrals, key=lambda integral: str(integral.every)))

    @cached_property
    def particles(self) -> ParticleTransport | None:
        """The particles advected by the flow, or None."""
        return transport(self.case, self.system, self._main) if self.case.particles else None

    @cached_property
    def step(self) -> Program:
        """The program of a step: the model's, with particles and with bodies placed by kernels, if any."""
        step = self.particles.carrying if self.particles else self.model.step
        moving = self.system.moving
        return PlacedStep(moving.placement, step) if moving and moving.placement else step

    @cached_property
    def clocked_step(self) -> ClockedStep | None:
        """The program of a step that plans the next one on the device; None if the host gives numbers to every step."""
        model, system = self.model, self.system
        if model.clock is None or (self.inflows is not None and self.inflows.varies):
            return None
        given = system.timed or system.surroundings or self.particles or system.outlook.foresight or self.clock.motion
        if given or model.stage_times(0.0, 1.0):
            return None
        return ClockedStep(self.step, model.clock)

    @property
    def recorded(self) -> tuple[tuple[Program, ...], ...]:
        """The recording programs after steps, in order. Programs scheduled together form one tuple."""
        derived = ((self.system.computed,),) if self.system.computed else ()
        often = groupby(self.integrals, key=lambda integral: integral.every)
        measured = [tuple(program for integral in group for program in integral.measured) for _, group in often]
        sampled = [(table.sampling,) for table in self.particles.series] if self.particles else []
        filled = ((self.model.refill,),) if self.case.probes and self.model.refill else ()
        return (*derived, *filled, *measured, *sampled, *((averaged.sample,) for averaged in self.averaged.values()))

    @cached_property
    def partition(self) -> Partition:
        """The region of all fields in blocks, with the regions of the pressure solver, spectra and particles."""
        spectra = partitions([waves.averages.statistics for waves in self.spectra])
        particles = [table.fields.partition for table in self.particles.series] if self.particles else []
        clock = [self.model.clock.partition(self._main, self.dtype)] if self.model.clock else []
        return replace(self._main, beside=(*self.model.partitions(self._main), *spectra, *particles, *clock))

    @cached_property
    def _main(self) -> Partition:
        averages = self.averages.statistics.fields if self.averages else {}
        centred: dict[str, Location] = {CENTRED: "c"} if any(table.pairs for table in self.case.spectra) else {}
        needed = self.steady_criterion.fields if self.steady_criterion else {}
        derived = self.system.computed.fields if self.system.computed else {}
        fields = self.model.fields | derived | averages | centred | needed
        constant = {field.name: field for field in self.system.constant_fields}
        numbers = (Field(name, self.dtype, place) for name, place in fields.items() if name not in constant)
        flags = (Field(name, kind) for name, kind in self.model.flags.items())
        space = FieldSpace((*numbers, *self.model.extra_fields(self.dtype), *flags, *constant.values()))
        return self.domain.partition(space, self.model.ghost, self.blocks)

    @cached_property
    def recordings(self) -> Recordings:
        """The programs recorded so far."""
        return Recordings()

    @cached_property
    def step_cost(self) -> StepCost:
        """The messages and memory traffic of a step of the model, after the first steps."""
        return StepCost(self.model.step, self.partition, self.recordings)

    @cached_property
    def carried(self) -> Cells:
        """The cells, by role, that determine the further run: the content of a checkpoint.

        Omitted are fields that programs never write, and fields that only `Model.prepare` writes: they keep their
        initial values. In the solver's own regions, which depend on the blocks, and on charts only written cells are
        kept. The others are unused padding, and ghost cells whose values kernels do not use.
        """
        model, main = self.model, self.partition.region.fields if self.partition.pieces is None else {}
        judged = self.steady_criterion.programs if self.steady_criterion else ()
        first = (*judged, *(averaged.begin for averaged in self.averaged.values()))
        written = overwritten((model.start, *first, model.step), self.partition, self.recordings)
        after = (*judged, self.monitor, *chain(*self.recorded))
        computed = tuple(name for name in self.case.output_fields if name in model.fields)
        cells = live_in((self.step, *after), self.partition, computed, self.recordings)
        if prepared := overwritten((model.prepare,), self.partition, self.recordings):
            changed = overwritten((*first, self.step, *after), self.partition, self.recordings)
            cells = {role: boxes for role, boxes in cells.items() if role in changed or role not in prepared}
        needed = {
            role: boxes
            if role in main
            else tuple(c for box in boxes for averaged in written.get(role, ()) if (c := box & averaged))
            for role, boxes in cells.items()
        }
        return {role: boxes for role, boxes in needed.items() if boxes and role in written}

    def record_rows(self, iterations: Mapping[str, float]) -> Iterator[Row]:
        """Yield rows of `taskflow check`: snapshots and averages, next to steps with these numbers of repetitions."""
        case, count = self.case, self.clock.snapshots()
        fields = f"{', '.join(case.output_fields)} in {case.output.precision} precision"
        nbytes = len(case.output_fields) * case.grid.count * (8 if case.output.precision == "double" else 4)
        if count is None:
            yield Row("output", f"snapshots of {size(nbytes)}: {fields}")
        else:
            yield Row("output", f"{plural(count, 'snapshot')}, at most {size(count * nbytes)}: {fields}")
        averaged: list[tuple[str, TimeAverages[Statistics | Spectra]]] = []
        averaged += [("statistics", self.averages)] if self.averages else []
        for waves, table in zip(self.spectra, case.spectra, strict=True):
            along = "over shells" if table.along == "all" else f"along {table.along}"
            averaged.append((f"spectra {along}", waves.averages))
        for name, averages in averaged:
            launches, _ = self.recordings.record(averages.statistics.sample, Roles.of(tuple(self.partition.fields)))
            moved, step = self.step_cost.bytes_of(launches), self.step_cost.nbytes(iterations)
            yield averages.row(name, case.grid.count, moved, step)


def transport(case: Case, system: System, partition: Partition) -> ParticleTransport:
    """Return all particles of a case, on the blocks of a partition. Raises BadInput if they need too many slots."""
    model, metadata = system.model, system.metadata
    assert isinstance(model, FlowModel), "other models refuse the table"
    extent, series = Extent.of(model.staggered, model.boundaries), []
    for number, table in enumerate(case.particles, start=1):
        if table.total * len(partition) > MOST:
            raise BadInput(
                f"particles[{number}]: {table.total} particles on {len(partition)} blocks, each of which has room for"
                f" all, are more than {MOST}; give fewer particles or machine.blocks"
            )
        sampled = {name: metadata[name] for name in (*VELOCITY, *(table.fields or ()))}
        locations = {name: about.location for name, about in sampled.items()}
        inertia = table.inertia(case.body.gravity)
        fields = ParticleFields(table.name, table.total, partition, locations, inertia)
        sampling = Sampling(fields, extent)
        periods = [length if around else None for length, around in zip(extent.length, extent.periodic, strict=True)]
        described = TimeSeries.of_particles(table.name, table.total, sampled, periods, heavy=inertia is not None)
        series.append(ParticleSeries(table, fields, sampling, described))
    carried, bodies = tuple(one.fields for one in series), model.obstacles is not None
    carrying = Carrying(carried, extent, model.step, bodies)
    return ParticleTransport(tuple(series), carrying)
