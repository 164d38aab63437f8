"""A case made concrete: its region, its partition into blocks, its model, and what is recorded of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, groupby

import numpy as np

from taskflow.flow import Monitor, NavierStokes, StaggeredGrid
from taskflow.flow.energy_budget import EnergyBudget
from taskflow.flow.isosurface import Isosurface
from taskflow.flow.obstacles import Obstacles
from taskflow.flow.spectra import CENTRED, Spectra, partitions
from taskflow.flow.statistics import Statistics
from taskflow.flow.steadiness import Steadiness
from taskflow.flow.surface_flux import SurfaceFlux
from taskflow.output import at_points, of_surface, through_sides
from taskflow.regions import Box, Field, FieldSpace, Location, Partition, Region, Triple
from taskflow.simulation.averaging import Averages
from taskflow.simulation.bodies import Bodies, Masks, Survey, survey
from taskflow.simulation.case import FACES, SCHEMES, Case
from taskflow.simulation.inflow.inflow import Entering, Profile, profiles
from taskflow.simulation.integrating import Integral, geometry, sides
from taskflow.simulation.physics import buoyancy, driving, fluid, side
from taskflow.simulation.probing import Layer, Probe
from taskflow.simulation.quantities import passive, temperature
from taskflow.simulation.recording import STATISTICS
from taskflow.simulation.scales import scales
from taskflow.simulation.scenario import Scenario
from taskflow.simulation.settling import Settled
from taskflow.simulation.solver import FORCING, choice, solver, sweeps
from taskflow.simulation.stability import Stability
from taskflow.simulation.stepping import Stepping
from taskflow.simulation.turbulence import turbulence
from taskflow.simulation.waves import Waves, waves
from taskflow.tasks import Cells, Program, carried, overwritten


@dataclass(frozen=True, eq=False)
class Setup:
    """A case on nx x ny x nz blocks, each on a "cpu" or a "gpu". Raises BadInput where they do not fit the grid."""

    case: Case
    blocks: Triple
    device: str = field(default="cpu", kw_only=True)

    @cached_property
    def grid(self) -> StaggeredGrid:
        """Cells and places."""
        return self.case.staggered

    @cached_property
    def model(self) -> NavierStokes:
        """The equations with their boundary conditions."""
        case = self.case
        near = self.bodies.near if case.obstacles else None
        return NavierStokes(
            self.grid,
            fluid(case),
            {face: side(case, face) for face in FACES if not case.periodic["xyz".index(face[0])]},
            solver(case, self.grid.constants, self.blocks, self.device, near),
            heat=temperature(case, self.grid),
            buoyancy=buoyancy(case),
            scheme=SCHEMES[case.time.scheme],
            driving=driving(case),
            varying=any(profile.varies for side in self._profiles.values() for profile in side.values()),
            obstacles=self.obstacles,
            passive=passive(case, self.grid),
            turbulence=turbulence(case),
        )

    @cached_property
    def monitor(self) -> Monitor:
        """What is measured of a state."""
        return Monitor(self.model)

    @cached_property
    def settled(self) -> Settled | None:
        """What a steady state is; None where the run does not stop there."""
        wanted = self.case.time.steady
        return None if wanted is None else Settled(Steadiness(self.model), wanted.rate, wanted.every, wanted.over)

    @cached_property
    def stability(self) -> Stability:
        """Which steps are stable."""
        return Stability.of(self)

    @cached_property
    def _profiles(self) -> dict[str, dict[str, Profile]]:
        return {face: profiles(self.case, face) for face in FACES if self.case.boundary(face).type == "inflow"}

    @cached_property
    def entering(self) -> Entering:
        """What enters at inflows."""
        return Entering(self.grid, self._profiles, self.model.openings, self.dtype)

    @property
    def dtype(self) -> str:
        """Of all fields."""
        return "f8" if self.case.machine.precision == "double" else "f4"

    @cached_property
    def bodies(self) -> Bodies:
        """The bodies on the grid. Raises BadInput where a file of theirs cannot be read."""
        return Bodies(self.case, self.grid)

    @cached_property
    def survey(self) -> Survey | None:
        """What is to be said of the bodies; None without any. Raises BadInput where they cannot be."""
        return survey(self.bodies) if self.case.obstacles else None

    @cached_property
    def obstacles(self) -> Obstacles | None:
        """What the model knows of the bodies; None without any."""
        if not self.case.obstacles:
            return None
        forced = self.case.pressure.forcing or FORCING if choice(self.case).name == "fft" else 0
        return self.bodies.obstacles(forced)

    @cached_property
    def averages(self) -> Averages[Statistics] | None:
        """What is averaged over time; None where nothing is."""
        wanted = self.case.statistics
        if wanted is None or wanted.fields is None:
            return None
        names = tuple(sorted(wanted.fields, key=self.case.fields.index))
        grid, flow = self.grid.constants, self.model
        eddies, viscosity = flow.turbulence is not None, flow.fluid.viscosity
        budget = EnergyBudget(grid, flow.boundaries, viscosity, eddies, self.obstacles) if wanted.budget else None
        statistics = Statistics(names, self.grid.box, wanted.order, budget)
        return Averages(statistics, wanted.start, wanted.every, wanted.write)

    @cached_property
    def spectra(self) -> tuple[Waves, ...]:
        """The spectra that are averaged over time."""
        return tuple(waves(self.case, table, self.grid, self._main) for table in self.case.spectra)

    @property
    def averaged(self) -> dict[str, Statistics | Spectra]:
        """All that is averaged over time, by the group that it is recorded in, in the order of the samples."""
        found = {STATISTICS: self.averages.statistics} if self.averages else {}
        return {**found, **{each.series.group: each.averages.statistics for each in self.spectra}}

    @cached_property
    def probes(self) -> tuple[Probe, ...]:
        """What is recorded at points."""
        case, fields = self.case, self.model.fields
        found = []
        for probe in case.probes:
            names = probe.fields or case.fields
            points = np.array(probe.places)
            series = at_points(probe.name, points, names, case.output.precision)
            found.append(Probe(series, points, tuple(fields[name] for name in names), probe.every))
        return tuple(found)

    @cached_property
    def integrals(self) -> tuple[Integral, ...]:
        """What is integrated over surfaces, what is measured equally often side by side."""
        found = []
        for surface in self.case.surfaces:
            around = sides(surface, self.grid)
            measured = tuple(SurfaceFlux(self.model, side) for side in around)
            series = through_sides(surface.name, measured[0].names, *geometry(around, self.grid))
            found.append(Integral(series, measured, surface.every))
        for each in self.case.isosurfaces:
            words = f"area of the surface on which {each.field} = {each.value:g}"
            series = of_surface(each.name, words, {"field": each.field, "value": each.value})
            found.append(Integral(series, (Isosurface(self.grid, each.field, each.value),), each.every))
        return tuple(sorted(found, key=lambda each: str(each.every)))

    @property
    def recorded(self) -> tuple[tuple[Program, ...], ...]:
        """The programs by which something is recorded after steps, in their order; those that always come one after the
        other, as they are due at the same time, together.
        """
        often = groupby(self.integrals, key=lambda each: each.every)
        found = [tuple(program for each in group for program in each.measured) for _, group in often]
        return (*found, *((each.sample,) for each in self.averaged.values()))

    @property
    def layers(self) -> tuple[Layer, ...]:
        """What is recorded in layers of cells."""
        return tuple(Layer(plane.name, plane.every) for plane in self.case.planes)

    @property
    def masks(self) -> Masks | None:
        """What fills the fields that say where bodies are; None without any."""
        return self.bodies.masks((*self.model.flags, *self.model.surfaces)) if self.case.obstacles else None

    @property
    def scenario(self) -> Scenario:
        """What every block has to know."""
        return Scenario(
            case=self.case.to_toml(),
            model=self.model,
            clock=self.case.clock(),
            settled=self.settled,
            stability=self.stability,
            scales=scales(self),
            sweeps=sweeps(self.case),
            counted=self.stepping.counted,
            entering=self.entering,
            masks=self.masks,
            averages=self.averages,
            spectra=self.spectra,
            probes=self.probes,
            layers=self.layers,
            integrals=self.integrals,
        )

    @cached_property
    def partition(self) -> Partition:
        """The region of all fields, cut into the blocks; beside it those of the pressure solver and of spectra."""
        spectra = partitions([each.averages.statistics for each in self.spectra])
        return replace(self._main, beside=(*self.model.partitions(self._main), *spectra))

    @cached_property
    def _main(self) -> Partition:
        averages = self.averages.statistics.fields if self.averages else {}
        centred: dict[str, Location] = {CENTRED: "c"} if any(table.pairs for table in self.case.spectra) else {}
        kept = self.settled.steadiness.fields if self.settled else {}
        fields = self.model.fields | averages | centred | kept
        numbers = (Field(name, self.dtype, place) for name, place in fields.items())
        flags = (Field(name, kind) for name, kind in self.model.flags.items())
        space = FieldSpace((*numbers, *flags))
        return Partition(
            Region(Box.of(self.case.grid.cells), space, self.case.periodic, self.model.ghost),
            self.blocks,
            redundant=1,
        )

    @cached_property
    def stepping(self) -> Stepping:
        """A step of the model in the long run: what it sends and moves."""
        return Stepping(self.model.step, self.partition)

    @cached_property
    def carried(self) -> Cells:
        """The cells, by role, that decide all that comes after a step: what a checkpoint holds.

        Fields that programs never write are left out: they are as they were at the start. Of those of the solver's own
        regions, which depend on the blocks, no cell is kept that is not written, only padding that is never used.
        """
        model, main = self.model, self.partition.region.fields
        judged = (self.settled.steadiness.compare, self.settled.steadiness.keep) if self.settled else ()
        begun = (*judged, *(each.begin for each in self.averaged.values()))
        written = overwritten((model.start, *begun, model.step), self.partition)
        after = (*judged, self.monitor, *chain(*self.recorded))
        cells = carried((model.step, *after), self.partition, self.case.output_fields)
        found = {
            role: boxes
            if role in main
            else tuple(c for box in boxes for each in written.get(role, ()) if (c := box & each))
            for role, boxes in cells.items()
        }
        return {role: boxes for role, boxes in found.items() if boxes and role in written}

    @property
    def value_bytes(self) -> int:
        """Bytes of one value."""
        return np.dtype(self.dtype).itemsize
