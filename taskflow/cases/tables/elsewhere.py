"""Keys that are unknown in a table of a case, but belong to the same table of another system."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches

from taskflow.cases.language.capabilities import unsupported
from taskflow.cases.language.problems import Key, Problem
from taskflow.cases.language.table import Table
from taskflow.cases.tables.method import PROJECTION, SYSTEMS, Kind, name_of, supported

Tables = Mapping[str, type[Table]]


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
        if _is_misspelt(system, common, keys):
            continue
        found[keys] = {name: kind for name, other in others.items() for kind in _tables_with(other, common, keys)}
    for problem in problems:
        reason = supported(system).forbidden(_words(problem.keys)) if problem.strange else None
        beside = (kind for keys, kinds in found.items() if keys[:-1] == problem.keys[:-1] for kind in kinds.values())
        if reason is not None:
            yield replace(problem, message=reason)
        elif found.get(problem.keys):
            yield replace(problem, message=unsupported(name_of(system), [*found[problem.keys]]))
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
