"""Checks between the tables of a case, and the values derived from several tables that they read."""

from collections.abc import Collection, Iterator, Mapping
from inspect import signature
from itertools import chain
from typing import Any

from taskflow.cases.language.problems import Problem
from taskflow.cases.language.table import Rule, Table
from taskflow.cases.tables import magnitudes
from taskflow.cases.tables.expressions import recordable
from taskflow.cases.tables.grid import NOWHERE, GridTable, cells_fit
from taskflow.cases.tables.method import Kind, reads


def contradictions(
    known: Mapping[str, Any], system: Kind | None, kinds: Mapping[str, type[Table]]
) -> Iterator[Problem]:
    """Yield the problems between tables of these `kinds`, and between values derived from them.

    Rules of the projection's tables skip tables that a system reads with its own keys.
    """
    own = {system.table_name: system.table, **system.tables, **system.lists} if system else {}
    others = {name for name, kind in own.items() if name in kinds and not issubclass(kind, kinds[name])}
    plain = {name: table for name, table in known.items() if name not in others}
    rules = chain(*(kind.rules for name, kind in kinds.items() if name not in own))
    for rule in chain(rules, magnitudes.RULES):
        yield from _asked(rule, plain)
    for rule in chain(*(kind.rules for kind in own.values())):
        yield from _asked(rule, known)


def _asked(rule: Rule, known: Mapping[str, Any]) -> Iterator[Problem]:
    names = signature(rule).parameters
    if all(name in known for name in names):
        yield from rule(*(known[name] for name in names))


def derived(tables: Mapping[str, Any], system: Kind | None, names: Collection[str]) -> Iterator[tuple[str, Any]]:
    """Yield values for rules that are no tables: all `tables`, the names of `fields` and of `recordable` ones, the
    `cells` without periodic directions, and the `staggered` grid. `names` are the tables of every case.
    """
    yield "tables", tables
    if "openings" in tables or not reads(system, "openings"):
        yield "opened", tables.get("openings", ())
    needed = {"heat", "scalars", "turbulence"}
    if system is not None:
        partly = {place.partition(".")[0] for place in system.supports.places}
        needed = {system.table_name, *system.tables} | partly.intersection(names)
    if needed <= tables.keys():
        yield "fields", (fields := fields_of(tables, system))
        if system is not None:
            yield "recordable", fields
        elif "expressions" in tables:
            yield "recordable", recordable(fields, tables["expressions"])
    if system is not None:
        yield from system.derived(tables)
    if isinstance(grid := tables.get("grid"), GridTable) and not any(cells_fit(grid)):
        yield "cells", grid.staggered(NOWHERE)
        if "boundaries" in tables:
            yield "staggered", grid.staggered(tables["boundaries"].periodic)


def fields_of(tables: Mapping[str, Any], system: Kind | None) -> tuple[str, ...]:
    return system.fields(tables) if system is not None else all_fields(tables)


def all_fields(tables: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the fields of the projection."""
    carried, eddies = (scalar.name for scalar in tables["scalars"]), ("nu_t",) if tables["turbulence"] else ()
    return ("u", "v", "w", "p", *(("T",) if tables["heat"] else ()), *carried, *eddies)
