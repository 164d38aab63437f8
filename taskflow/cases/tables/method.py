"""The system of equations of a case: from [method], or from a table that only one system has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, ClassVar, Protocol

from taskflow.cases.language.capabilities import Demand, Supports, refusal, refusals
from taskflow.cases.language.capabilities import unsupported as not_supported
from taskflow.cases.language.problems import LISTED, CaseError, Key, Problem, explained, shown, wrong
from taskflow.cases.language.table import Table, Text, entry, plain_keys
from taskflow.cases.tables.projection import PROJECTION as PROJECTION_SUPPORTS
from taskflow.common.registry import Registry

PROJECTION = "projection"
METHOD = "method"  # the table name of a system whose own keys are in [method]
Tables = Mapping[str, type[Table]]


class SystemType(Protocol):
    """The part of the class of a system that cases use: see `taskflow.systems.base.system.System`."""

    table_name: ClassVar[str]
    table: ClassVar[type[Table]]
    supports: ClassVar[Supports] = Supports()
    lists: ClassVar[Mapping[str, type[Table]]] = {}  # lists of tables under [[name]]
    tables: ClassVar[Mapping[str, type[Table]]] = {}  # its classes of tables that other systems have, too

    @classmethod
    def with_defaults(cls, tables: Mapping[str, Any]) -> dict[str, Any]:
        """Return the given tables of a case, with the defaults of this system instead of the projection's defaults."""
        return dict(tables)

    @classmethod
    def fields(cls, tables: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the names of the fields that a snapshot can contain, from the tables of the case."""

    @classmethod
    def derived(cls, tables: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """Yield values derived from valid tables, by the names that rules use."""
        yield from ()


Kind = type[SystemType]
SYSTEMS: Registry[Kind] = Registry(
    "taskflow.models",
    {
        "two_phase": "taskflow.systems.two_phase.system:TwoPhaseSystem",
        "artificial-compressibility": "taskflow.systems.artificial_compressibility.system:CompressibilitySystem",
    },
    lambda system: (system.table_name, system.table.model_fields),
)
"""All systems except the projection, by their names in `method.type`."""


def register_model(name: str, system: Kind) -> None:
    """Register a system for `method.type` in this process, without an entry point."""
    SYSTEMS.register(name, system)


def replacements() -> tuple[type[Table], ...]:
    """Return the classes of tables and list items that loaded systems define for shared names."""
    systems = SYSTEMS.loaded.values()
    return tuple(kind for system in systems for kind in (*system.tables.values(), *system.lists.values()))


class Method(Table):
    """Which equations are solved."""

    type: Text = entry(
        "`projection`: incompressible flow on a Cartesian grid. `artificial-compressibility`: on body-fitted cells. Or"
        " [your own model](../howto/own_model.md)",
        PROJECTION,
    )


def supported(system: Kind | None) -> Supports:
    """Return the capabilities of a system; None stands for the projection."""
    return PROJECTION_SUPPORTS if system is None else system.supports


def reads(system: Kind | None, table: str) -> bool:
    """Return whether a system reads a table, at least in part; None stands for the projection."""
    own = system is not None and (table == system.table_name or table in system.lists)
    return own or supported(system).reads(table)


def read_tables(system: Kind | None, tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables of a case file without the tables and keys that a system does not read."""
    return {name: _read_part(system, name, table) for name, table in tables.items() if reads(system, name)}


def _read_part(system: Kind | None, table: str, written: Any) -> Any:
    if isinstance(written, list):
        return [_read_part(system, table, item) for item in written]
    own = (system.table_name, *system.lists, *system.tables) if system is not None else ()
    if not isinstance(written, Mapping) or table in ("boundaries", *own):
        return written
    return {key: value for key, value in written.items() if supported(system).reads(f"{table}.{key}")}


def name_of(system: Kind | None) -> str:
    """Return the name of a loaded system; None stands for the projection."""
    return PROJECTION if system is None else next(name for name, kind in SYSTEMS.loaded.items() if kind is system)


def supports() -> dict[str, Supports]:
    """Return the capabilities of every installed system, by name."""
    systems, _ = SYSTEMS.available()
    return {PROJECTION: PROJECTION_SUPPORTS} | {name: system.supports for name, system in systems.items()}


def unsupported(tables: Mapping[str, Any], system: Kind | None) -> Iterator[Problem]:
    """Yield a problem for everything that the tables of a case use and its system does not support."""
    return refusals(name_of(system), supported(system), tables, supports)


def system_of(method: Method | None) -> Kind | None:
    """Return the class of a known system; None stands for the projection."""
    return SYSTEMS[method.type] if method else None


def choose(
    values: Mapping[str, Any], known: Mapping[str, Any]
) -> tuple[Kind | None, dict[str, Any], list[Problem]]:  # fmt: skip
    """Return the system of a case (None for the projection), its tables with the system's own ones read, and problems.

    `known` has the tables of the projection with their defaults. Entry points are searched only if the case has an
    unknown table, or names a system. Raises CaseError if the named system does not exist.
    """
    method = values.get("method")
    named = method.get("type") if isinstance(method, Mapping) else getattr(method, "type", None)
    strange = [name for name in values if name not in known]
    if method in ({}, {"type": PROJECTION}, Method()):
        values = {**values, "method": None}
    if not strange and (named in (None, PROJECTION) or not isinstance(named, str)):
        return None, *_read_ones(None, PROJECTION, values, known)
    systems, broken = SYSTEMS.available()
    claims = [(table, name) for table in strange for name, system in systems.items() if system.table_name == table]
    _spelled(values, [table for table in strange if table not in dict(claims)], systems, known)
    problems = [*_contradictory(values, claims, named)]
    name = claims[0][1] if claims else named
    if name in (None, PROJECTION) or not isinstance(name, str):
        lists = {key: system.table_name for system in systems.values() for key in system.lists if key in strange}
        add = "of a case with a table [{}]; add that, or omit it"
        problems += [wrong(key, values[key], add.format(owner)) for key, owner in lists.items()]
        values, more = _read_ones(None, PROJECTION, values, known)
        return None, {key: value for key, value in values.items() if key not in lists}, problems + more
    if name not in systems:
        raise CaseError(wrong(("method", "type"), name, _unknown(name, systems, broken)))
    if systems[name].table_name in known and systems[name].table_name != METHOD:
        claimed = systems[name].table_name
        words = f"it uses the table [{claimed}] of the case file; its package has to choose another name"
        raise CaseError(wrong(("method", "type"), name, words))
    system, tables = systems[name], {key: value for key, value in values.items() if key not in dict(claims[1:])}
    tables, unread = _read_ones(system, name, system.with_defaults(tables), known)
    if system.table_name != METHOD:
        tables[METHOD] = Method(type=name)
    for key, kind in {system.table_name: system.table, **system.tables}.items():
        own = tables.pop(key, {})
        if isinstance(own, Table) and not isinstance(own, kind):
            own = {name: getattr(own, name) for name in own.model_fields_set}
        if isinstance(own, Mapping | kind):
            for table in _read(_possible(own, key, system, problems), kind, (key,), problems):
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
    return system, tables, problems + unread


def _read_ones(
    system: Kind | None, name: str, tables: Mapping[str, Any], known: Mapping[str, Any]
) -> tuple[dict[str, Any], list[Problem]]:  # fmt: skip
    """Return the tables that a system reads, and a problem for each other table that is given, valid or not."""
    unread = {key for key in known if not reads(system, key)}
    given = (key for key in known if key in unread and tables.get(key, known[key]) not in (known[key], None, [], ()))
    problems = [refusal(name, supported(system), Demand(key, (key,), tables[key], (key,)), supports) for key in given]
    return {key: table for key, table in tables.items() if key not in unread}, problems


def _possible(own: Any, table: str, system: Kind, problems: list[Problem]) -> Any:
    """Return a table without the keys that its system forbids; each of them is added to the problems."""
    if not isinstance(own, Mapping):
        return own
    reasons = {key: system.supports.lacks.get(f"{table}.{key}") for key in own}
    problems += (wrong((table, f"{key}"), own[key], reason) for key, reason in reasons.items() if reason)
    return {key: value for key, value in own.items() if not reasons[key]}


def _read(value: Any, kind: type[Table], key: Key, problems: list[Problem]) -> Iterator[Table]:
    """Yield the table under a key as an object of its class. If it is invalid, add its problems instead."""
    try:
        yield value if isinstance(value, kind) else kind(**plain_keys(value))
    except CaseError as error:
        within = [problem.within(key) for problem in error.problems]
        problems += explained(within, [(*key, *path) for path in kind.paths()])


def _spelled(values: Mapping[str, Any], tables: list[str], systems: Mapping[str, Kind], known: Iterable[str]) -> None:
    """Raise CaseError if an unknown table resembles the table name of a system."""
    claimed = [system.table_name for system in systems.values()]
    for table in tables[:LISTED]:
        if (close := get_close_matches(table, [*known, *claimed], n=1, cutoff=0.8)) and close[0] in claimed:
            raise CaseError(wrong(table, values[table], f"unknown key; did you mean {close[0]}?"))


def _contradictory(values: Mapping[str, Any], claims: list[tuple[str, str]], named: str | None) -> Iterator[Problem]:
    """Yield the problems of tables of several systems, or of a system other than `method.type`."""
    if not claims:
        return
    table, name = claims[0]
    if named is not None and named not in [name for _, name in claims]:
        yield wrong(("method", "type"), named, f'[{table}] selects the model "{name}"; omit one of them')
    for other, rival in claims[1:]:
        if other == table:
            remedy = f'it selects the models "{name}" and "{rival}"; remove one of their packages'
        else:
            remedy = f'it selects the model "{rival}", and [{table}] the model "{name}"; omit one of them'
        yield wrong(other, values[other], remedy)


def _unknown(name: str, systems: Mapping[str, Any], broken: Mapping[str, str]) -> str:
    if name in broken:
        return broken[name]
    names = [PROJECTION, *systems]
    close = get_close_matches(name, names, n=1)
    if close:
        return f"unknown model; did you mean {shown(close[0])}?"
    return f"unknown model; give one of {', '.join(map(shown, names))}, or install the package that has it"


def elsewhere(problems: Sequence[Problem], system: Kind | None, common: Tables) -> Iterator[Problem]:
    """Yield the problems. An unknown key that another system supports, or that physics forbids, gets its own message.

    `common` has the classes of the tables of the projection, by name.
    """
    if not any(problem.strange for problem in problems):
        yield from problems
        return
    others = {name: kind for name, kind in {PROJECTION: None, **SYSTEMS.available()[0]}.items() if kind is not system}
    found: dict[Key, dict[str, type[Table]]] = {}
    for keys in (problem.keys for problem in problems if problem.strange):
        theirs = {name: kind for name, other in others.items() for kind in _tables_with(other, common, keys)}
        if theirs and not _is_misspelt(system, common, keys):  # in this order: a comparison takes a millisecond
            found[keys] = theirs
    for problem in problems:
        reason = supported(system).forbidden(_words(problem.keys)) if problem.strange else None
        beside = (kind for keys, kinds in found.items() if keys[:-1] == problem.keys[:-1] for kind in kinds.values())
        if reason is not None:
            yield replace(problem, message=reason)
        elif problem.keys in found:
            yield replace(problem, message=not_supported(name_of(system), [*found[problem.keys]]))
        elif not problem.is_missing or all(problem.keys[-1] in kind.model_fields for kind in beside):
            yield problem  # with a key of another system in a table, keys that only this one requires are not missing


def _tables_with(system: Kind | None, common: Tables, keys: Key) -> Iterator[type[Table]]:
    """Yield the class of the table in which a system has a key, if it supports the key."""
    kind, path = _table_of(system, common, keys)
    if kind is None or path not in kind.paths():
        return
    name, *inner = words = _words(keys)
    theirs, on_sides = supported(system), path != (*inner,)
    if name not in common or (theirs.has_on_sides(path[0]) if on_sides else theirs.reads(".".join(words))):
        yield kind


def _table_of(system: Kind | None, common: Tables, keys: Key) -> tuple[type[Table] | None, Key]:
    """Return the class of the table (or of the side) that contains a key, and the key within it."""
    own = {} if system is None else {system.table_name: system.table, **system.tables, **system.lists}
    name, *path = _words(keys)
    kind = own.get(name) or common.get(name)
    return (kind.each, (*path[1:],)) if kind and kind.each and len(path) == 2 else (kind, (*path,))


def _is_misspelt(system: Kind | None, common: Tables, keys: Key) -> bool:
    """Return whether a key resembles a key in its system's table."""
    kind, path = _table_of(system, common, keys)
    return bool(kind and path and get_close_matches(path[-1], [key[-1] for key in kind.paths()], 1, 0.8))


def _words(keys: Key) -> Key:
    """Return a key without the numbers of list items."""
    return tuple(word for word in keys if not word.startswith("["))
