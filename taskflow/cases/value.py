"""Cases as values: equality, changed copies, and differences."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from typing import Any, Self

from pydantic import PrivateAttr

from taskflow.cases.language.problems import shown
from taskflow.cases.language.table import Table
from taskflow.cases.source import change
from taskflow.cases.tables.initial import ArrayValues, Function, GivenState
from taskflow.cases.tables.timed import TimeFunction
from taskflow.common.errors import BadInput


class TableValue(Table):
    """A whole case as a value. It remembers the given keys, so that derived defaults follow new values."""

    _given: dict[str, Any] | None = PrivateAttr(default=None)

    def __eq__(self, other: object) -> bool:
        """Return whether all keys are the same, given or by default; functions are where they are the same object."""
        return type(self) is type(other) and dict(self) == dict(other)

    def __hash__(self) -> int:
        return hash(frozenset((key, str(value)) for key, value in _flat(self.written())))

    def model_dump(self, *, include: Any = None, exclude: Any = None, **_: Any) -> dict[str, Any]:
        """The tables, defaults included, as plain values and functions: the class makes an equal case of them. With
        `include` these tables alone, and none that `exclude` has.
        """
        tables = self.written()
        for path, function in _functions(self):
            inner: Any = tables
            for step in path[:-1]:
                inner = inner[step]
            inner[path[-1]] = function
        names = [name for name in tables if (include is None or name in include) and name not in (exclude or ())]
        return {name: tables[name] for name in names}

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy; see pydantic."""
        copied = super().model_copy(update=update, deep=deep)
        if update:
            copied._given = None
        return copied

    def replace(self, /, **values: Any) -> Self:
        """The case with other values of keys such as "fluid.viscosity", or of whole tables; None takes a key out. A key
        that excludes a given key, as time.steps excludes time.end, replaces it.

        Raises BadInput if the case is invalid, as for a file with these values.
        """
        tables = plain(self.model_dump() if self._given is None else self._given)
        change(tables, values)
        return type(self)(**tables)

    def diff(self, other: Self) -> dict[str, tuple[Any, Any]]:
        """The keys in which another case differs, such as "fluid.viscosity", each with both values; None for one that
        is not there. Raises BadInput where the other is no case.
        """
        if not isinstance(other, TableValue):
            raise BadInput(f"diff({other!r}): give a Case")
        mine, theirs = (dict(_flat(case.model_dump())) for case in (self, other))
        keys = dict.fromkeys((*mine, *theirs))
        return {key: (mine.get(key), theirs.get(key)) for key in keys if mine.get(key) != theirs.get(key)}

    def _repr_html_(self) -> str:
        """The case for a notebook: its line, and a table to unfold for each of its tables."""
        tables = self.written()
        parts = [f"<p><code>{html.escape(repr(self))}</code></p>"]
        for name, table in tables.items():
            rows = "".join(html_row(key, value) for key, value in _flat({name: table}))
            count = f"[[{name}]]" if isinstance(table, list) else f"[{name}]"
            if not isinstance(table, str) and rows:
                parts.append(f"<details><summary>{html.escape(count)}</summary><table>{rows}</table></details>")
        return "".join(parts)


def plain(value: Any) -> Any:
    """Return tables, mappings and lists as new dictionaries and lists, other values unchanged."""
    if isinstance(value, TableValue):
        return value.model_dump()
    if isinstance(value, Table):
        return {name: plain(item) for name, item in value if item is not None}
    if isinstance(value, Mapping) and not hasattr(value, "data_vars"):  # no call: it may be nested deeply
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def _functions(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """The Python functions, arrays and datasets in a table, each with the keys that lead to it."""
    if isinstance(value, Function | TimeFunction):
        yield path, value.call
    elif isinstance(value, ArrayValues):
        yield path, value.values
    elif isinstance(value, GivenState):
        yield path, value.dataset
    elif isinstance(value, Table):
        for name, item in value:
            yield from _functions(item, (*path, name))
    elif isinstance(value, tuple):
        for n, item in enumerate(value):
            yield from _functions(item, (*path, n))


def _flat(tables: Mapping[str, Any], key: str = "") -> Iterator[tuple[str, Any]]:
    """Return all values of nested tables by their keys; tables in lists are numbered from 1."""
    for name, value in tables.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{key}{name}.")
        elif isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
            for n, item in enumerate(value, start=1):
                yield from _flat(item, f"{key}{name}[{n}].")
        else:
            yield f"{key}{name}", value


def html_row(key: str, value: Any) -> str:
    """A row of a table in HTML: a key and a value as a case file has it."""
    return f"<tr><td><code>{html.escape(key)}</code></td><td>{html.escape(shown(value))}</td></tr>"
