"""A case: built from tables, read from a file, written to one."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from pydantic import ConfigDict, TypeAdapter, ValidationError, ValidatorFunctionWrapHandler, field_validator

from taskflow.cases.checks import contradictions, derived, fields_of
from taskflow.cases.language.problems import CaseError, Problem, shown, sparingly
from taskflow.cases.language.table import Table, Text, document, entry, optional, table_in
from taskflow.cases.source import locate, override, read
from taskflow.cases.tables.boundaries import FACES, Boundaries, Boundary
from taskflow.cases.tables.control import CheckpointTable, MonitorTable, Output, Time, UnitsTable
from taskflow.cases.tables.expressions import Expressions, ForcingTables, inlined, recordable
from taskflow.cases.tables.grid import AXES, GridTable
from taskflow.cases.tables.initial import Initial
from taskflow.cases.tables.machine import Machine
from taskflow.cases.tables.method import (
    Kind,
    Method,
    choose,
    elsewhere,
    read_tables,
    reads,
    replacements,
    system_of,
    unsupported,
)
from taskflow.cases.tables.motion import GridMotion
from taskflow.cases.tables.obstacles import BodyTreatment, Obstacles
from taskflow.cases.tables.openings import Openings
from taskflow.cases.tables.particles import Particles
from taskflow.cases.tables.physics import FluidTable, Forcing, Heat
from taskflow.cases.tables.pictures import Pictures
from taskflow.cases.tables.planes import Planes
from taskflow.cases.tables.pressure import PressureTable
from taskflow.cases.tables.probes import Isosurfaces, Probes, Surfaces
from taskflow.cases.tables.scalars import Scalars
from taskflow.cases.tables.statistics import Spectra, StatisticsTable
from taskflow.cases.tables.turbulence import TurbulenceTable
from taskflow.cases.timing.schedule import Clock
from taskflow.cases.value import TableValue, plain
from taskflow.common.errors import BadInput
from taskflow.common.files import path_of
from taskflow.flow import StaggeredGrid
from taskflow.flow.boundaries.slip import Slip
from taskflow.flow.stability import StepLimit

if TYPE_CHECKING:
    from taskflow.cases.keys import CaseKeys

REST = StepLimit()  # of a schedule without steps
AT_REST = (0.0, 0.0, 0.0)
NO_FLUID = FluidTable(viscosity=0.0)  # of a system that does not read [fluid]


class Case(TableValue):
    """Validated, immutable case. All problems are reported in one `BadInput`.

    Tables that the system does not read have their defaults. The table of the system is a further attribute.

    Parameters
    ----------
    **given : dict
        Tables by name, as in a case file. Their types are in `taskflow.cases.keys`.

    Raises
    ------
    BadInput
        One line per problem, with key, value and remedy.
    """

    model_config = ConfigDict(extra="allow")  # one table that is not known here
    within: ClassVar[str] = ""
    offers: ClassVar[tuple[str, ...]] = ("load", "to_toml", "replace", "diff", "model_dump", "fields")

    title: Text = entry(
        "names the case in pictures and reports",
        "untitled",
        otherwise='the file name, in Python `"untitled"`',
    )
    units: UnitsTable = entry("names of units, as labels", UnitsTable())
    method: Method | None = optional("the system of equations", otherwise="incompressible flow by projection")
    grid: GridTable = entry("the domain and its cells", remedy="give a table [grid] with cells and lengths")
    fluid: FluidTable = entry("the fluid", remedy="give a table [fluid] with viscosity")
    boundaries: Boundaries = entry("the six sides of the domain", remedy="give a table [boundaries] with all sides")
    openings: Openings = entry("parts of sides with separate conditions", ())
    heat: Heat | None = optional("temperature and buoyancy")
    scalars: Scalars = entry("passive scalars", ())
    turbulence: TurbulenceTable | None = optional("subgrid-scale model")
    body: Forcing = entry("forces on all fluid", Forcing())
    forcing: ForcingTables = entry("forces and sources as expressions of fields, position and time", ())
    obstacles: Obstacles = entry("bodies in the flow", ())
    bodies: BodyTreatment = entry("treatment of their surfaces", BodyTreatment())
    initial: Initial = entry("the state at time 0", Initial())
    time: Time = entry("end of the run and time step", remedy="give a table [time] with end or steps")
    motion: GridMotion | None = optional("rigid motion of a body-fitted grid in real time")
    pressure: PressureTable = entry("the solver of the pressure equation", PressureTable())
    expressions: Expressions = entry("derived fields to record", ())
    output: Output = entry("snapshots", Output())
    statistics: StatisticsTable | None = optional("means and covariances in time")
    spectra: Spectra = entry("spectra along periodic directions, averaged over time", ())
    probes: Probes = entry("values at points", ())
    planes: Planes = entry("layers of cells", ())
    surfaces: Surfaces = entry("fluxes through planes and boxes", ())
    isosurfaces: Isosurfaces = entry("areas of isosurfaces", ())
    particles: Particles = entry("particles advected by the flow", ())
    pictures: Pictures = entry("pictures drawn during the run", ())
    monitor: MonitorTable = entry("the log", MonitorTable())
    checkpoint: CheckpointTable = entry("states for a restart", CheckpointTable())
    machine: Machine = entry("device, blocks and processes", Machine())

    @sparingly()
    def __init__(self, /, **given: Unpack["CaseKeys"]) -> None:
        try:
            source, values = plain(given), inlined(given)
        except RecursionError:
            raise BadInput("the case has tables in tables, nested too deeply; give the keys of the reference") from None
        defaults = {name: field.get_default() for name, field in Case.model_fields.items()}
        system, values, problems = choose(values, {**defaults, "fluid": NO_FLUID})
        if not reads(system, "fluid"):
            values["fluid"] = NO_FLUID
        own = {system.table_name, *system.tables, *system.lists} if system else set()
        broken = own - values.keys()  # their problems are in the list
        try:
            super().__init__(**values)
            tables = dict(self)
        except CaseError as error:
            problems += (problem for problem in error.problems if problem.keys[0] not in broken)
            tables = _sound(values, problems)
        tables = {name: t for name, t in tables.items() if reads(system, name) and name not in broken}
        known = tables | dict(derived(tables, system, Case.model_fields))
        problems += contradictions(known, system, _kinds())
        problems += unsupported({name: tables[name] for name in tables if name in Case.model_fields}, system)
        if problems:
            raise CaseError(*elsewhere(problems, system, _kinds()))
        for name, table in tables.items():
            values[name] = _completed(table, known)
        super().__init__(**values)
        self._given = source

    def __repr__(self) -> str:
        end = f"time {self.time.end:g}" if self.time.end is not None else f"step {self.time.steps}"
        kind = self.system.table_name if self.system is not None and self.system.table_name != "method" else None
        system = kind or (self.method.type if self.method is not None else "projection")
        return f"<Case {self.title}: {system}, {self.grid.size}, to {end}>"

    __str__ = __repr__

    @field_validator("*", mode="wrap")
    @classmethod
    def _as_it_is(cls, value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        """Keep a table that has been read with the keys of a system."""
        return value if _is_read(value, replacements()) else handler(value)

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield unknown tables."""
        for name, value in values.items():
            known = isinstance(value, Table) or (isinstance(value, tuple) and all(isinstance(t, Table) for t in value))
            if name not in cls.model_fields and not known:
                yield Problem((name,), "unknown key", shown(value), unknown=True)

    @classmethod
    def load(cls, path: str | PathLike[str], overrides: Sequence[str] = ()) -> "Case":
        """Load a case from a TOML file. File names in it are relative to its folder.

        Parameters
        ----------
        path : path-like
        overrides : sequence of str
            Replacements "table.key=VALUE".

        Returns
        -------
        Case

        Raises
        ------
        BadInput
            If the file is unreadable or invalid.
        """
        file = path_of(path, "path", "a case file")
        tables = read(file)
        override(tables, [overrides] if isinstance(overrides, str) else overrides)
        locate(tables, file.parent)
        name = "".join(letter if letter.isprintable() else "?" for letter in file.name)
        return cls(**{"title": name, **tables})

    def to_toml(self) -> str:
        """Return the case as a file with all defaults. Loading it gives an equal case; functions are only named."""
        return document(self.written())

    def written(self) -> dict[str, Any]:
        """Return the tables as in a case file, without tables and keys that the system does not read."""
        return read_tables(self.system, super().written())

    @property
    def system(self) -> Kind | None:
        """Class of the system of equations; None for the projection."""
        return system_of(self.method)

    @property
    def own(self) -> Any:
        """Table of the system; None for the projection."""
        return None if self.system is None else getattr(self, self.system.table_name)

    def table(self, name: str) -> Any:
        """Return a table with the keys that the system reads."""
        return getattr(self, name)

    @property
    def staggered(self) -> StaggeredGrid:
        return self.grid.staggered(self.periodic)

    @property
    def periodic(self) -> tuple[bool, bool, bool]:
        """True for each of x, y, z that is periodic."""
        return self.boundaries.periodic

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the fields of snapshots."""
        return fields_of(dict(self), self.system)

    @property
    def recordable(self) -> tuple[str, ...]:
        """Names that can be recorded: fields, expressions and, for the projection, Q."""
        return self.fields if self.system is not None else recordable(self.fields, self.expressions)

    @property
    def output_fields(self) -> tuple[str, ...]:
        return self.output.fields or ()

    def boundary(self, face: str) -> Boundary:
        """Return the condition on one face with defaults filled in.

        Parameters
        ----------
        face : str
            "x_min" to "z_max".

        Returns
        -------
        Boundary
            Of type "periodic" or a registered kind; "slip" also for "symmetry".
        """
        if face not in FACES:
            raise BadInput(f"face = {face!r}; give one of {', '.join(FACES)}")
        side: Boundary | None = getattr(self.boundaries, face) if not self.periodic[AXES.index(face[0])] else None
        if side is None:
            return Boundary.model_construct(type="periodic", velocity=AT_REST, heat_flux=0.0)
        return _resolved(side)

    @property
    def conditions(self) -> Iterator[tuple[str, str, str, Boundary]]:
        """Yield key, face, table and condition, with defaults, of each side and each opening of a box."""
        for face in self.boundaries.sides:
            yield face, face, f"boundaries.{face}", self.boundary(face)
        for n, opening in enumerate(self.openings, start=1):
            yield f"opening{n}", opening.face, f"openings[{n}]", _resolved(opening)

    @property
    def end_time(self) -> float:
        """Time at which the run ends, T; 0 if it is unknown."""
        return self.time.end or (self.time.steps or 0) * (self.time.step or 0.0)

    def clock(self, limit: StepLimit = REST) -> Clock:
        """Return the schedule of the run, with the step limit of its model."""
        time = self.time
        return Clock(limit, time.end, time.steps, self.output.every, self.monitor.every, self.checkpoint.every)


def _completed(table: Any, tables: Mapping[str, Any]) -> Any:
    if isinstance(table, tuple):
        return tuple(_completed(item, tables) for item in table)
    return table.completed(tables) if isinstance(table, Table) else table


def _resolved(side: Boundary) -> Boundary:
    """Return a side or an opening with defaults filled in."""
    if side.kind.permeable:
        return side
    kind = Slip.name if issubclass(side.kind, Slip) else side.type
    flux = None if side.temperature is not None else side.heat_flux or 0.0
    return side.model_copy(update={"type": kind, "velocity": side.velocity or AT_REST, "heat_flux": flux})


def _kinds() -> dict[str, type[Table]]:
    return {name: kind for name, field in Case.model_fields.items() if (kind := table_in(field.annotation))}


def _is_read(value: Any, kinds: tuple[type[Table], ...]) -> bool:
    """Return True for a table of one of these kinds, or a list of such tables."""
    listed = isinstance(value, tuple) and value and all(isinstance(item, kinds) for item in value)
    return isinstance(value, kinds) or bool(listed)


def _sound(values: Mapping[str, Any], problems: Sequence[Problem]) -> dict[str, Any]:
    """Return the tables without a problem in themselves."""
    wrong, tables = {problem.keys[0] for problem in problems}, {}
    for name, field in Case.model_fields.items():
        kind: Any = field.annotation
        if table_in(kind) and name not in wrong and (name in values or not field.is_required()):
            value = values.get(name, field.default)
            with suppress(ValidationError):  # a missing key may be in another table, which is reported
                tables[name] = value if _is_read(value, (Table,)) else TypeAdapter(kind).validate_python(value)
    return tables
