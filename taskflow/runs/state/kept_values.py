"""Values that a user set in a run, as a checkpoint keeps them: expressions and tables whole, functions by name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from taskflow.cases import Case
from taskflow.cases.language.table import written
from taskflow.cases.tables.timed import TimeFunction, TimeTable, Value, value
from taskflow.common.errors import BadInput

FUNCTION, TABLE = "function", "table"  # keys of entries that are neither numbers nor expressions


def kept(given: Value) -> Any:
    """Return a value for a checkpoint."""
    if isinstance(given, TimeFunction):
        return {FUNCTION: given.source}
    return {TABLE: given.path, "text": given.text} if isinstance(given, TimeTable) else written(given)


def restored(state: Mapping[str, Any], case: Case) -> dict[str, Value]:
    """Return the values in the state of a checkpoint, by key. Functions are taken from the case that is resumed.

    Raises BadInput if the case does not have a function.
    """
    return {key: _restored(key, entry, case) for key, entry in state.get("given", {}).items()}


def with_functions(state: Mapping[str, Any], old: dict[str, Any], case: Case) -> dict[str, Any]:
    """Return the tables `old` of the case in a checkpoint with the functions that were set, where the resumed case has
    them, so that they count as no change.
    """
    for key, entry in state.get("given", {}).items():
        if isinstance(entry, Mapping) and _function(key, entry, case) is not None:
            *path, last = _steps(key)
            table: Any = old
            for step in path:
                table = table[step]
            table[last] = entry[FUNCTION]
    return old


def found(key: str, case: Case) -> Any:
    """Return the value of a key of a case, such as "boundaries.z_max.velocity[1]", or None."""
    value: Any = case
    for step in _steps(key):
        try:
            value = value[step] if isinstance(step, int) else getattr(value, step)
        except (AttributeError, IndexError, TypeError):
            return None
    return value


def _steps(key: str) -> list[str | int]:
    return [int(number) - 1 if number else name for name, number in re.findall(r"(\w+)|\[(\d+)\]", key)]


def _function(key: str, entry: Mapping[str, Any], case: Case) -> TimeFunction | None:
    """Return the function of a case at a key, if it has the name of the entry."""
    function = found(key, case) if FUNCTION in entry else None
    return function if isinstance(function, TimeFunction) and function.source == entry[FUNCTION] else None


def _restored(key: str, entry: Any, case: Case) -> Value:
    if not isinstance(entry, Mapping):
        return value(entry)
    if TABLE in entry:
        return TimeTable(entry[TABLE], entry["text"])
    function = _function(key, entry, case)
    if function is None:
        raise BadInput(
            f"{key} was set to the function {entry[FUNCTION]}, of which the checkpoint has the name alone; resume the"
            " run in Python with a case that has this function there, as by case.replace(...)"
        )
    return function
