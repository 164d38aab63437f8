"""The particles of a case: their fields, what is sampled at them, and their groups of the store."""

from __future__ import annotations

from collections.abc import Iterator

from taskflow.errors import BadInput
from taskflow.flow.measures.particles import Carrying, Extent, ParticleFields, Sampling
from taskflow.flow.model import VELOCITY, FlowModel
from taskflow.output import TimeSeries
from taskflow.runtime.regions import Partition
from taskflow.simulation.build.system import System
from taskflow.simulation.case import Case
from taskflow.simulation.case.particles import MOST
from taskflow.simulation.records.particles import ParticleSeries, ParticleTransport


def transport(case: Case, system: System, partition: Partition) -> ParticleTransport:
    """All particles of a case, on the blocks of a partition. Raises BadInput where they have more slots than can be
    counted.
    """
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
        sampling = Sampling(fields, extent, model.boundaries, model.grid)
        periods = [length if around else None for length, around in zip(extent.length, extent.periodic, strict=True)]
        described = TimeSeries.of_particles(table.name, table.total, sampled, periods, heavy=inertia is not None)
        series.append(ParticleSeries(table, fields, sampling, described))
    carried, bodies = tuple(one.fields for one in series), model.obstacles is not None
    carrying = Carrying(carried, extent, model.boundaries, model.grid, model.step, bodies)
    return ParticleTransport(tuple(series), carrying)


def particles_described(case: Case) -> Iterator[str]:
    """A line for each table."""
    for table in case.particles:
        where = f"at {len(table.points)} points" if table.points else "in a box"
        often = f", {table.at_once} in each of {table.releases} releases" if table.interval else ""
        heavy = table.inertia(case.body.gravity)
        speeds = ", ".join(f"{speed:.4g}" for speed in heavy.settling) if heavy else ""
        falls = f"; in fluid at rest they fall at ({speeds})" if heavy else ""
        yield f"{table.name}: {table.total} released {where} from time {table.start:g} on{often}{falls}"
