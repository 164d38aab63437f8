"""A whole case: built from tables, read from a file, written back, and asked by everyone else."""

import math
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from taskflow.flow import StaggeredGrid
from taskflow.flow.driving.stratification import buoyancy_frequency
from taskflow.flow.schemes import Spreads
from taskflow.simulation.case.boundaries import AXES, Boundaries, Boundary
from taskflow.simulation.case.control import SCHEMES, Checkpoint, Monitor, Output, Time
from taskflow.simulation.case.initial import Initial
from taskflow.simulation.case.integrals import Isosurfaces, Surfaces, isosurfaces, surfaces
from taskflow.simulation.case.machine import Machine
from taskflow.simulation.case.obstacles import Bodies, Obstacles, obstacles
from taskflow.simulation.case.physics import Body, Fluid, Grid, Heat
from taskflow.simulation.case.pressure import Pressure
from taskflow.simulation.case.probes import Planes, Probes, planes, probes
from taskflow.simulation.case.problems import CaseError, Problem
from taskflow.simulation.case.rules import all_fields, completed, contradictions
from taskflow.simulation.case.scalars import Scalars, scalars
from taskflow.simulation.case.source import locate, override, read
from taskflow.simulation.case.spectra import Spectra, spectra
from taskflow.simulation.case.statistics import Statistics
from taskflow.simulation.case.table import Table, Text, entry, plain_keys, table_in
from taskflow.simulation.case.toml import document
from taskflow.simulation.case.turbulence import Turbulence
from taskflow.simulation.schedule import Clock, StepLimit


class Case(Table):
    """What to compute, and how. Every problem is found at once and told in a `BadInput`, one line each."""

    title: Text = entry(
        "names the case in pictures and reports",
        "untitled",
        otherwise='the file name; `"untitled"` for a case built in Python',
    )
    grid: Grid = entry("the domain and its cells", remedy="give a table [grid] with cells and lengths")
    fluid: Fluid = entry("the fluid", remedy="give a table [fluid] with viscosity")
    boundaries: Boundaries = entry("the six sides of the domain", remedy="give a table [boundaries] with all sides")
    heat: Heat | None = entry("temperature and buoyancy", None)
    scalars: Scalars = entry("passive scalars", ())
    turbulence: Turbulence | None = entry("large eddies alone are resolved", None)
    body: Body = entry("what acts on all fluid", Body())
    obstacles: Obstacles = entry("bodies in the flow", ())
    bodies: Bodies = entry("how their surfaces are treated", Bodies())
    initial: Initial = entry("the state at time 0", Initial())
    time: Time = entry("where the run stops, and how long steps are", remedy="give a table [time] with end or steps")
    pressure: Pressure = entry("the solver of the pressure equation", Pressure())
    output: Output = entry("snapshots", Output())
    statistics: Statistics | None = entry("means and covariances in time", None)
    spectra: Spectra = entry("spectra along periodic directions, averaged over time", ())
    probes: Probes = entry("values at points", ())
    planes: Planes = entry("layers of cells", ())
    surfaces: Surfaces = entry("what passes through planes and the sides of boxes", ())
    isosurfaces: Isosurfaces = entry("areas of surfaces on which a quantity has a value", ())
    monitor: Monitor = entry("the log", Monitor())
    checkpoint: Checkpoint = entry("states from which the run can go on", Checkpoint())
    machine: Machine = entry("what computes", Machine())

    def __init__(self, /, **given: Any) -> None:
        problems: list[Problem] = []
        try:
            super().__init__(**given)
            tables = dict(self)
        except CaseError as error:
            problems += error.problems
            tables = _sound(given, problems)
        problems += contradictions(tables)
        if problems:
            raise CaseError(*problems)
        super().__init__(**completed(tables))

    @classmethod
    def load(cls, path: str | PathLike[str], overrides: Sequence[str] = ()) -> "Case":
        """From a TOML file; each override `table.key=VALUE` replaces a value of the file."""
        file = Path(path)
        tables = read(file)
        override(tables, [overrides] if isinstance(overrides, str) else overrides)
        locate(tables, file.parent)
        name = "".join(letter if letter.isprintable() else "?" for letter in file.name)
        return cls(**{"title": name, **tables})

    def to_toml(self) -> str:
        """The case as a file, every default written out; loading it gives an equal case (functions are only named)."""
        return document(self.written())

    @property
    def spacing(self) -> tuple[float, float, float]:
        """(dx, dy, dz), the mean ones."""
        dx, dy, dz = (length / cells for length, cells in zip(self.grid.lengths, self.grid.cells, strict=True))
        return dx, dy, dz

    @property
    def staggered(self) -> StaggeredGrid:
        """Cells and places."""
        return self.grid.staggered(self.periodic)

    @property
    def periodic(self) -> tuple[bool, bool, bool]:
        """Which of x, y, z are periodic."""
        return self.boundaries.x is not None, self.boundaries.y is not None, self.boundaries.z is not None

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the fields that a snapshot can have."""
        return all_fields(self.heat, self.scalars, self.turbulence)

    @property
    def output_fields(self) -> tuple[str, ...]:
        """Names of the fields that are written."""
        return self.output.fields or ()

    def boundary(self, face: str) -> Boundary:
        """What holds on `face` ("x_min" ... "z_max"), with nothing left open.

        `type` is "periodic", "wall", "slip", "inflow" or "outflow". But for the last two `velocity` is three numbers;
        `temperature` or else `heat_flux` a number.
        """
        side: Boundary | None = getattr(self.boundaries, face) if not self.periodic[AXES.index(face[0])] else None
        if side is None:
            return Boundary.model_construct(type="periodic", velocity=(0.0, 0.0, 0.0), heat_flux=0.0)
        if side.type in ("inflow", "outflow"):
            return side
        kind = "slip" if side.type == "symmetry" else side.type
        flux = None if side.temperature is not None else side.heat_flux or 0.0
        return side.model_copy(update={"type": kind, "velocity": side.numbers, "heat_flux": flux})

    @property
    def frequency(self) -> float:
        """Of the fastest oscillations that the Coriolis force and stratification make, at most."""
        inertial = 2 * math.hypot(*self.body.rotation)
        if self.heat is None:
            return inertial
        return inertial + buoyancy_frequency(self.heat.expansion, self.body.gravity, self.heat.background_gradient)

    def clock(self) -> Clock:
        """The schedule of the run."""
        time, quantities = self.time, (*((self.heat,) if self.heat else ()), *self.scalars)
        carried = [(each.scheme != "central", each.diffusivity) for each in quantities]
        most, bounded = Spreads.of(self.fluid.viscosity, carried, self.staggered.constants.crowding)
        within = bounded if any(each for each, _ in carried) else None
        scheme = SCHEMES[time.scheme]
        limit = StepLimit(time.step, time.cfl or 0.5, time.diffusion, most, scheme, self.frequency, within)
        return Clock(limit, time.end, time.steps, self.output.every, self.monitor.every, self.checkpoint.every)


def _sound(given: Mapping[str, Any], problems: Sequence[Problem]) -> dict[str, Any]:
    """The tables without a problem of their own."""
    wrong = {problem.keys[0] for problem in problems}
    tables = {}
    for name, field in Case.model_fields.items():
        table = table_in(field.annotation)
        if table and name not in wrong and (name in given or not field.is_required()):
            value = given.get(name, field.default)
            tables[name] = table(**plain_keys(value)) if isinstance(value, Mapping) else value
    lists = {"obstacles": obstacles, "scalars": scalars, "probes": probes, "planes": planes}
    lists |= {"surfaces": surfaces, "isosurfaces": isosurfaces, "spectra": spectra}
    return tables | {name: kind(tables[name]) for name, kind in lists.items() if name in tables}
