"""A whole case: built from tables, read from a file, written back, and asked by everyone else."""

from collections.abc import Iterator, Mapping, Sequence
from inspect import signature
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any

from pydantic import BeforeValidator, ConfigDict

from taskflow.flow import StaggeredGrid
from taskflow.flow.stability import StepLimit
from taskflow.simulation.case import (
    boundaries,
    control,
    grid,
    initial,
    machine,
    magnitudes,
    method,
    obstacles,
    physics,
    pressure,
    probes,
    scalars,
    spectra,
    statistics,
    surfaces,
    turbulence,
)
from taskflow.simulation.case.boundaries import Boundaries, Boundary
from taskflow.simulation.case.control import Checkpoint, Monitor, Output, Time
from taskflow.simulation.case.grid import AXES, NOWHERE, Grid, cells_fit
from taskflow.simulation.case.initial import Initial
from taskflow.simulation.case.machine import Machine
from taskflow.simulation.case.method import ALL, Kind, Method, choose, system_of
from taskflow.simulation.case.obstacles import BodyTreatment, Obstacles
from taskflow.simulation.case.physics import Fluid, Forcing, Heat
from taskflow.simulation.case.pressure import Pressure
from taskflow.simulation.case.probes import Planes, Probes
from taskflow.simulation.case.problems import CaseError, Problem, present, shown
from taskflow.simulation.case.scalars import Scalars
from taskflow.simulation.case.source import locate, override, read
from taskflow.simulation.case.spectra import Spectra
from taskflow.simulation.case.statistics import Statistics
from taskflow.simulation.case.surfaces import Isosurfaces, Surfaces
from taskflow.simulation.case.table import Table, Text, entry, plain_keys, table_in
from taskflow.simulation.case.toml import document
from taskflow.simulation.case.turbulence import Turbulence
from taskflow.simulation.expression import Expression
from taskflow.simulation.schedule import Clock

TOPICS = (
    machine, control, grid, magnitudes, boundaries, scalars, pressure, physics, initial, obstacles, turbulence,
    statistics, probes, surfaces, spectra, method,
)  # fmt: skip
TOLERANCE = {"single": 1e-4, "double": 1e-6}
LOOSEST = 0.1  # a default that no grid makes larger
ROUNDING = {"single": 6e-8, "double": 1.1e-16}
REST = StepLimit()  # of a schedule by which nobody steps
NO_FLUID = Fluid(viscosity=0.0)  # of a system that does not read [fluid]


class Case(Table):
    """A whole case. Every problem is found at once and told in a `BadInput`, one line each.

    What its system does not read has the defaults; the table that the system claims is there beside the others.
    """

    model_config = ConfigDict(extra="allow")  # one table that is not known here

    title: Text = entry(
        "names the case in pictures and reports",
        "untitled",
        otherwise='the file name; `"untitled"` for a case built in Python',
    )
    method: Method | None = entry("which equations are solved", None, otherwise="those of an incompressible fluid")
    grid: Grid = entry("the domain and its cells", remedy="give a table [grid] with cells and lengths")
    fluid: Fluid = entry("the fluid", remedy="give a table [fluid] with viscosity")
    boundaries: Boundaries = entry("the six sides of the domain", remedy="give a table [boundaries] with all sides")
    heat: Heat | None = entry("temperature and buoyancy", None)
    scalars: Scalars = entry("passive scalars", ())
    turbulence: Turbulence | None = entry("large eddies alone are resolved", None)
    body: Forcing = entry("what acts on all fluid", Forcing())
    obstacles: Obstacles = entry("bodies in the flow", ())
    bodies: BodyTreatment = entry("how their surfaces are treated", BodyTreatment())
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

    def __init__(self, /, **values: Any) -> None:
        defaults = {name: field.get_default() for name, field in Case.model_fields.items()}
        chosen = choose(values, {**defaults, "fluid": NO_FLUID})
        problems, values = list(chosen.problems), chosen.tables
        if chosen.system is not None and "fluid" not in chosen.system.accepts:
            values["fluid"] = NO_FLUID
        try:
            super().__init__(**values)
            tables = dict(self)
        except CaseError as error:
            problems += error.problems
            tables = _sound(values, problems)
        tables = {name: table for name, table in tables.items() if reads(chosen.system, name)}
        problems += contradictions(tables, chosen.system)
        if problems:
            raise CaseError(*problems)
        super().__init__(**values | completed(tables, chosen.system))

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        """Tables that are not known."""
        for name, value in values.items():
            if name not in cls.model_fields and not isinstance(value, Table):
                yield Problem((name,), "there is no such key", shown(value), unknown=True)

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

    def written(self) -> dict[str, Any]:
        """As the case file has it, without what its system does not read."""
        return {name: table for name, table in super().written().items() if reads(self.system, name)}

    @property
    def system(self) -> Kind | None:
        """The class of the system that the case is of; None for the projection."""
        return system_of(self.method)

    @property
    def own(self) -> Any:
        """The table that the system of the case claims; None for the projection."""
        return None if self.system is None else getattr(self, self.system.claims)

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
        return self.boundaries.periodic

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the fields that a snapshot can have."""
        return _fields(dict(self), self.system)

    @property
    def output_fields(self) -> tuple[str, ...]:
        """Names of the fields that are written."""
        return self.output.fields or ()

    def boundary(self, face: str) -> Boundary:
        """The condition on `face` ("x_min" ... "z_max"), with nothing left open.

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

    def clock(self, limit: StepLimit = REST) -> Clock:
        """The schedule of the run; how long its steps may be is for its model to say."""
        time = self.time
        return Clock(limit, time.end, time.steps, self.output.every, self.monitor.every, self.checkpoint.every)


def _sound(values: Mapping[str, Any], problems: Sequence[Problem]) -> dict[str, Any]:
    """The tables without a problem of their own."""
    wrong = {problem.keys[0] for problem in problems}
    tables = {}
    for name, field in Case.model_fields.items():
        table = table_in(field.annotation)
        if table and name not in wrong and (name in values or not field.is_required()):
            value = values.get(name, field.default)
            reader: Any = next((kind.func for kind in field.metadata if isinstance(kind, BeforeValidator)), None)
            if reader:  # of a list
                tables[name] = reader(value)
            else:
                tables[name] = table(**plain_keys(value)) if isinstance(value, Mapping) else value
    return tables


def reads(system: Kind | None, name: str) -> bool:
    """Whether a system, None for the projection, reads the table of a name."""
    return system is None or name in ALL or name in system.accepts or name == system.claims


def contradictions(tables: Mapping[str, Any], system: Kind | None = None) -> Iterator[Problem]:
    """All that tables say against each other. The parameters of a rule are the tables that it is about, and what
    follows from them; it is passed over where one of them is missing or wrong.
    """
    known = {**tables, **dict(_derived(tables, system))}
    for rule in chain.from_iterable(topic.RULES for topic in TOPICS):
        names = signature(rule).parameters
        if all(name in known for name in names):
            yield from rule(*(known[name] for name in names))


def _derived(tables: Mapping[str, Any], system: Kind | None) -> Iterator[tuple[str, Any]]:
    """The names of all `fields`, the `cells` wherever the domain is periodic, and the `staggered` grid."""
    if ({"heat", "scalars", "turbulence"} if system is None else {system.claims, *system.accepts}) <= tables.keys():
        yield "fields", _fields(tables, system)
    if (grid := tables.get("grid")) and not any(cells_fit(grid)):
        yield "cells", grid.staggered(NOWHERE)
        if "boundaries" in tables:
            yield "staggered", grid.staggered(tables["boundaries"].periodic)


def completed(tables: Mapping[str, Any], system: Kind | None) -> dict[str, Any]:
    """The tables of a sound case with the defaults that depend on other tables filled in."""
    fields = {"fields": _fields(tables, system)}
    filled = {"output": tables["output"], "statistics": tables.get("statistics")}
    filled = {name: table.model_copy(update=fields) for name, table in filled.items() if table and table.fields is None}
    if heat := tables.get("heat"):
        boundaries, initial = tables["boundaries"], tables["initial"]
        if initial.temperature is None:
            filled["initial"] = initial.model_copy(update={"temperature": Expression(heat.reference)})
        filled["boundaries"] = boundaries.model_copy(update=dict(_with_heat(boundaries, heat)))
    pressure, precision = tables.get("pressure"), tables["machine"].precision
    if pressure is not None and pressure.max_iterations is not None and pressure.tolerance is None:
        tolerance = max(TOLERANCE[precision], min(_left(tables["grid"], precision), LOOSEST))
        filled["pressure"] = pressure.model_copy(update={"tolerance": tolerance})
    return {**tables, **filled}


def _left(grid: Grid, precision: str) -> float:
    """About the relative residual that the digits of p leave of the smoothest right-hand side, whatever the solver.

    Rounding of p is multiplied by 1 / spacing^2, p itself by 1 / length^2. In single precision 6e-5 was left at 128^3
    and 1.1e-3 at 512^3 of a Taylor-Green vortex.
    """
    narrowest = grid.staggered((False, False, False)).narrowest
    rows = [(length, narrowest(a)) for a, length in enumerate(grid.lengths) if grid.cells[a] > 1]
    longest, finest = max((length for length, _ in rows), default=1.0), min((step for _, step in rows), default=1.0)
    return ROUNDING[precision] * (longest / finest) ** 2 / 10


def _fields(tables: Mapping[str, Any], system: Kind | None) -> tuple[str, ...]:
    if system is not None:
        return system.fields(tables)
    return all_fields(tables["heat"], tables["scalars"], tables["turbulence"])


def all_fields(heat: Heat | None, scalars: Scalars, turbulence: Turbulence | None) -> tuple[str, ...]:
    carried, eddies = tuple(scalar.name for scalar in scalars), ("nu_t",) if turbulence else ()
    return ("u", "v", "w", "p", *(("T",) if heat else ()), *carried, *eddies)


def _with_heat(boundaries: Boundaries, heat: Heat) -> Iterator[tuple[str, Any]]:
    """Walls that said nothing of heat, now without heat flux; inflows, at the reference temperature."""
    for face, side in boundaries.sides.items():
        if side.type == "wall" and not present(dict(side), "temperature", "heat_flux", "heat_transfer"):
            yield face, side.model_copy(update={"heat_flux": 0.0})
        if side.type == "inflow" and side.temperature is None and not (side.table and "T" in side.table.names):
            yield face, side.model_copy(update={"temperature": heat.reference})
