"""Which system of equations a case is of: [method], or a table that a system of another package claims."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, ClassVar, Protocol

from taskflow.cases.language.problems import CaseError, Key, Problem, explained, shown, wrong
from taskflow.cases.language.table import Table, Text, entry, plain_keys, written
from taskflow.cases.tables.boundaries import Boundaries
from taskflow.cases.tables.timed import placed

GROUP = "taskflow.models"  # of entry points
# The systems of this package, known without installation
OWN = {
    "two_phase": "taskflow.systems.two_phase.system:TwoPhaseSystem",
    "artificial-compressibility": "taskflow.systems.artificial_compressibility.system:CompressibilitySystem",
}
PROJECTION = "projection"
METHOD = "method"  # what a system claims whose own keys are those of [method]
ALL = frozenset(("title", "method", "grid", "boundaries", "time", "output", "monitor", "checkpoint", "machine")) | {
    "statistics", "spectra", "probes", "planes", "isosurfaces",
}  # fmt: skip
"""The tables that every system has."""
COMPRESSIBILITY = (
    "compressibility", "reference_speed", "flux", "reconstruction", "limiter", "damping", "march", "cfl", "steps",
    "stall", "pressure_at", "linear", "inner",
)  # fmt: skip
"""The keys of [method] that artificial compressibility has."""
LATER = frozenset(("forcing", "expressions", "particles", "monitor.fields", "time.implicit"))
"""The tables and keys of the projection that make sense for others, too."""
PARTS = frozenset(("grid.stretching", "time.scheme", "time.implicit", "statistics.budget", "monitor.fields")) | {
    f"boundaries.{option}"
    for option in ("temperature", "heat_flux", "heat_transfer", "outside_temperature", "roughness", "phase")
}
"""The keys of these that a system reads only where it accepts them."""


class SystemType(Protocol):
    """The part of the class of a system that a case asks for: see `taskflow.systems.base.system.System`."""

    claims: ClassVar[str]
    table: ClassVar[type[Table]]
    accepts: ClassVar[frozenset[str]] = frozenset()
    sides: ClassVar[frozenset[str]] = frozenset()
    lists: ClassVar[Mapping[str, type[Table]]] = {}  # the tables that it reads under [[name]]
    instead: ClassVar[Mapping[str, type[Table]]] = {}  # what it reads in tables that others read, too

    @classmethod
    def misfits(cls, tables: Mapping[str, Any]) -> Iterator[Problem]:
        """Problems with what it reads in another way than the projection, in the tables of a case as they are given."""
        yield from ()

    @classmethod
    def prepared(cls, tables: Mapping[str, Any]) -> dict[str, Any]:
        """The tables of a case as they are given, with defaults of the system in place of those of the projection, and
        without what only `misfits` looks at.
        """
        return dict(tables)

    @classmethod
    def fields(cls, tables: Mapping[str, Any]) -> tuple[str, ...]:
        """The names of the fields that a snapshot can have, from the tables of the case."""

    @classmethod
    def derived(cls, tables: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """Yield what follows from sound tables, by the names under which rules ask for it."""
        yield from ()


Kind = type[SystemType]
_systems: dict[str, Kind] = {}  # that were registered, or loaded


def register(name: str, system: Kind) -> None:
    """Lets `method.type` name a system in this process, without an entry point."""
    _systems[name] = system


def replacements() -> tuple[type[Table], ...]:
    """The kinds of tables, and of those in lists, that systems read with keys of their own."""
    return tuple(kind for system in _systems.values() for kind in (*system.instead.values(), *system.lists.values()))


class Method(Table):
    """Which equations are solved."""

    refused: ClassVar[Mapping[str, str]] = dict.fromkeys(
        COMPRESSIBILITY, 'it needs type = "artificial-compressibility"; give that, or leave it out'
    )

    type: Text = entry(
        "`projection`: incompressible flow on a Cartesian grid. `artificial-compressibility`: on body-fitted cells. Or"
        " [your own model](../howto/own_model.md)",
        PROJECTION,
    )


def reads(system: Kind | None, table: str, key: str | None = None) -> bool:
    """Return whether a system, None for the projection, reads a table, in part at least, or a key of it."""
    if system is None:
        return True
    whole = table in ALL or table in system.accepts or table == system.claims or table in system.lists
    if key is None:
        return whole or any(name.startswith(f"{table}.") for name in system.accepts)
    return f"{table}.{key}" in system.accepts or (whole and f"{table}.{key}" not in PARTS)


def system_of(method: Method | None) -> Kind | None:
    """The class of a system that has been found; None for the projection."""
    return _systems[method.type] if method else None


def choose(
    values: Mapping[str, Any], known: Mapping[str, Any]
) -> tuple[Kind | None, dict[str, Any], list[Problem]]:  # fmt: skip
    """The system of a case of these tables, None for the projection, the tables with that of the system read, and what
    is wrong; `known` has the defaults of those of the projection.

    Entry points are looked at only where the case has a table that is not known, or names a system. Raises CaseError
    where it names one that is not there.
    """
    method = values.get("method")
    named = method.get("type") if isinstance(method, Mapping) else getattr(method, "type", None)
    strange = [name for name in values if name not in known]
    if method in ({}, {"type": PROJECTION}, Method()):
        values = {**values, "method": None}
    if not strange and (named in (None, PROJECTION) or not isinstance(named, str)):
        return None, dict(values), []
    systems, broken = available()
    claims = [(table, name) for table in strange for name, system in systems.items() if system.claims == table]
    _spelled(values, [table for table in strange if table not in dict(claims)], systems, known)
    problems = [*_contradictory(values, claims, named)]
    name = claims[0][1] if claims else named
    if name in (None, PROJECTION) or not isinstance(name, str):
        lists = {key: system.claims for system in systems.values() for key in system.lists if key in strange}
        add = "of a case with a table [{}]; add that, or leave it out"
        problems += [wrong(key, values[key], add.format(owner)) for key, owner in lists.items()]
        return None, {key: value for key, value in values.items() if key not in lists}, problems
    if name not in systems:
        raise CaseError(wrong(("method", "type"), name, _unknown(name, systems, broken)))
    if systems[name].claims in known and systems[name].claims != METHOD:
        words = f"it claims the table [{systems[name].claims}], which is not its own; its package has to name another"
        raise CaseError(wrong(("method", "type"), name, words))
    system, tables = systems[name], {key: value for key, value in values.items() if key not in dict(claims[1:])}
    problems += system.misfits(tables)
    tables = system.prepared(tables)
    if system.claims != METHOD:
        tables[METHOD] = Method(type=name)
    for key, kind in {system.claims: system.table, **system.instead}.items():
        own = tables.pop(key, {})
        if isinstance(own, Mapping | kind):
            for table in _read(own, kind, (key,), problems):
                tables[key] = table
        else:
            problems.append(wrong(key, own, "give a table"))
    for key, kind in system.lists.items():
        items = tables.get(key, ())
        if not isinstance(items, list | tuple) or not all(isinstance(item, Mapping | kind) for item in items):
            problems.append(wrong(key, tables.pop(key), f"give a list of tables, each under [[{key}]]"))
            continue
        numbers = enumerate(items, start=1)
        tables[key] = tuple(table for n, item in numbers for table in _read(item, kind, (key, f"[{n}]"), problems))
        if len(tables[key]) < len(items):  # rules would give the others new numbers
            del tables[key]
    for key, default in known.items():
        if not reads(system, key) and tables.pop(key, default) != default:
            problems.append(wrong(key, values[key], _unread_words(name, key)))
    return system, tables, problems


def _read(value: Any, kind: type[Table], key: Key, problems: list[Problem]) -> Iterator[Table]:
    """Yield the table of this kind under a key; or none, and add what is wrong with it to the problems."""
    try:
        yield value if isinstance(value, kind) else kind(**plain_keys(value))
    except CaseError as error:
        within = [problem.within(key) for problem in error.problems]
        problems += explained(within, [(*key, *path) for path in kind.paths()])


def available() -> tuple[dict[str, Kind], dict[str, str]]:
    """The systems of all packages by name, and why others cannot be loaded."""
    from importlib.metadata import EntryPoint, entry_points

    systems, broken = dict(_systems), {}
    for point in (*(EntryPoint(name, value, GROUP) for name, value in OWN.items()), *entry_points(group=GROUP)):
        if point.name in systems:
            continue
        try:
            system = point.load()
            _ = system.claims, system.table.model_fields  # it is a System
        except Exception as error:  # it is another package's
            broken[point.name] = f"{point.value} cannot be used ({type(error).__name__}: {error})"
        else:
            systems[point.name] = _systems[point.name] = system
    return systems, broken


def _spelled(values: Mapping[str, Any], tables: list[str], systems: Mapping[str, Kind], known: Iterable[str]) -> None:
    """Raises CaseError where the name of a table is nearly that of one that a system claims."""
    claimed = [system.claims for system in systems.values()]
    for table in tables:
        if (close := get_close_matches(table, [*known, *claimed], n=1, cutoff=0.8)) and close[0] in claimed:
            raise CaseError(wrong(table, values[table], f"there is no such key; did you mean {close[0]}?"))


def _contradictory(values: Mapping[str, Any], claims: list[tuple[str, str]], named: str | None) -> Iterator[Problem]:
    """Problems of claims that exclude each other, or the `method.type` that is given."""
    if not claims:
        return
    table, name = claims[0]
    if named is not None and named not in [name for _, name in claims]:
        yield wrong(("method", "type"), named, f'[{table}] selects the model "{name}"; leave one of them out')
    for other, rival in claims[1:]:
        if other == table:
            remedy = f'it selects the models "{name}" and "{rival}"; remove one of their packages'
        else:
            remedy = f'it selects the model "{rival}", and [{table}] the model "{name}"; leave one of them out'
        yield wrong(other, values[other], remedy)


def _unknown(name: str, systems: Mapping[str, Any], broken: Mapping[str, str]) -> str:
    if name in broken:
        return f"{broken[name]}; mend or reinstall its package"
    names = [PROJECTION, *systems]
    close = get_close_matches(name, names, n=1)
    if close:
        return f"there is no such model; did you mean {shown(close[0])}?"
    return f"there is no such model; give one of {', '.join(map(shown, names))}, or install the package that has it"


def _sides_are_known(method: Method | None, boundaries: Boundaries) -> Iterator[Problem]:
    system = system_of(method)
    for face, side in boundaries.sides.items():
        if method is None or system is None:
            if side.phase is not None:
                remedy = "one fluid has no phases; leave it out, or give a table [two_phase]"
                yield wrong(("boundaries", face, "phase"), written(side.phase), remedy)
        elif side.type not in system.sides:
            axis, types = face[0], ", ".join(sorted(system.sides | {"periodic"}))
            remedy = f'the model "{method.type}" knows no such side, only {types}; give boundaries.{axis} = "periodic"'
            yield wrong(("boundaries", face), side.type, remedy)
        else:
            yield from _unread(method, "boundaries", side, ("boundaries", face))
            if side.pressure not in (None, "advected", 0.0):
                remedy = f'only 0 is available with the model "{method.type}" in this version; give that'
                yield wrong(("boundaries", face, "pressure"), written(side.pressure), remedy)
            if side.type == "wall" and placed(*(side.velocity or ())):
                remedy = f'not available with the model "{method.type}" in this version; give expressions of t alone'
                yield wrong(("boundaries", face, "velocity"), written(side.velocity), remedy)


def _unread(method: Method, name: str, table: Table, key: Key) -> Iterator[Problem]:
    """The keys of a table under a key that have a value, and that the system does not read."""
    for inner, info in type(table).model_fields.items():
        value = getattr(table, inner)
        if value != info.default and not reads(system_of(method), name, inner):
            yield wrong((*key, inner), written(value), _unread_words(method.type, f"{name}.{inner}"))


def _unread_words(model: str, key: str) -> str:
    if key in LATER:
        return f'not available with the model "{model}" in this version; leave it out'
    return f'the model "{model}" does not read it; leave it out'


def keys_are_read(method: Method | None, tables: Mapping[str, Any]) -> Iterator[Problem]:
    for name, table in tables.items():
        if method is not None and isinstance(table, Table):
            yield from _unread(method, name, table, (name,))


Method.rules = (_sides_are_known, keys_are_read)
