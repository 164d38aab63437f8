"""The parameters of a sweep: keys or names with values, zipped or crossed, and what follows from them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from taskflow.cases import Case
from taskflow.common.errors import BadInput, named

MOST = 10_000  # runs of a sweep
Given = Sequence[Any] | Mapping[str, Mapping[str, Any]] | tuple[Sequence[Any], Callable[[Any], Mapping[str, Any]]]
Parameters = Mapping[Any, Given]  # by keys, names, or tuples of them


@dataclass(frozen=True)
class Parameter:
    """One dimension of a sweep: the values of its `names` at each point, and the keys of the case that it changes."""

    names: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]
    changes: tuple[Mapping[str, Any], ...]

    @classmethod
    def of(cls, key: str | tuple[str, ...], given: Given) -> Parameter:
        """Return a parameter as `sweep` takes it. Raises BadInput if it is invalid."""
        if isinstance(key, tuple):
            rows = [tuple(row) if isinstance(row, list | tuple) else (row,) for row in _listed(", ".join(key), given)]
            if wrong := next((row for row in rows if len(row) != len(key)), None):
                raise BadInput(f"parameters: {', '.join(key)} = {list(wrong)}; give {len(key)} values for each point")
            return cls(key, tuple(rows), tuple(dict(zip(key, row, strict=True)) for row in rows))
        if isinstance(given, Mapping):
            labels = _listed(key, list(given))
            changes = tuple(_changes(key, given[label]) for label in labels)
            return cls((key,), tuple((label,) for label in labels), changes)
        if isinstance(given, tuple) and len(given) == 2 and callable(given[1]):
            values, function = _listed(key, given[0]), given[1]
            changes = tuple(_changes(f"{key} = {value}", function(value)) for value in values)
            return cls((key,), tuple((value,) for value in values), changes)
        values = _listed(key, given)
        return cls((key,), tuple((v,) for v in values), tuple({key: value} for value in values))

    @property
    def dimension(self) -> str:
        return self.names[0]

    @property
    def index(self) -> Sequence[Any]:
        """The coordinate: numbers or texts, of vectors the first distinct component, else the number of the point."""
        columns = _columns(self.dimension, [row[0] for row in self.values])
        if self.dimension in columns:
            return columns[self.dimension].tolist()
        apart = (column for column in columns.values() if len({*column.tolist()}) == len(column))
        return next(apart, np.arange(len(self.values))).tolist()

    @property
    def coordinates(self) -> dict[str, np.ndarray]:
        """Further coordinates along its dimension: zipped names, components of vectors, and keys that follow."""
        found: dict[str, np.ndarray] = {}
        for n, name in enumerate(self.names):
            found |= _columns(name, [row[n] for row in self.values])
        for key in dict.fromkeys(key for change in self.changes for key in change):
            if key not in self.names:
                found |= _columns(key, [change.get(key) for change in self.changes])
        return {name: column for name, column in found.items() if name != self.dimension}


def parsed(parameters: Parameters) -> tuple[Parameter, ...]:
    """Return the parameters of a sweep. Raises BadInput if one is invalid, or two change the same key."""
    if not isinstance(parameters, Mapping) or not parameters:
        raise BadInput(
            f'parameters = {parameters!r}; give keys with their values, such as {{"fluid.viscosity": [0.1]}}'
        )
    read = tuple(Parameter.of(key, given) for key, given in parameters.items())
    if (count := math.prod(len(one.values) for one in read)) > MOST:
        raise BadInput(f"parameters: their product is {count} runs; give {MOST} at most")
    for one, other in itertools.combinations(read, 2):
        twice = {key for change in one.changes for key in change} & {key for change in other.changes for key in change}
        if twice or {*one.names} & {*other.names}:
            key = min(twice or {*one.names} & {*other.names})
            raise BadInput(f"parameters: {key} is given by {one.dimension} and by {other.dimension}; give it by one")
    return read


def points(case: Case, parameters: Sequence[Parameter]) -> list[tuple[dict[str, Any], Case, tuple[str, ...]]]:
    """Return values, case and changed keys of each combination. The last parameter changes fastest."""
    found = []
    for chosen in itertools.product(*(range(len(one.values)) for one in parameters)):
        values: dict[str, Any] = {}
        changes: dict[str, Any] = {}
        for one, n in zip(parameters, chosen, strict=True):
            values |= dict(zip(one.names, one.values[n], strict=True))
            changes |= one.changes[n]
        with named(f"with {words(values)}"):
            found.append((values, case.replace(**changes), tuple(changes)))
    return found


def words(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def _listed(name: str, listed: Any) -> list[Any]:
    known = isinstance(listed, np.ndarray) or (isinstance(listed, Sequence) and not isinstance(listed, str))
    if not known or not len(listed):
        raise BadInput(f"parameters: {name} = {listed!r}; give a list of values")
    return listed.tolist() if isinstance(listed, np.ndarray) else list(listed)


def _changes(name: str, changes: Any) -> Mapping[str, Any]:
    if not isinstance(changes, Mapping) or not all(isinstance(key, str) for key in changes):
        raise BadInput(f'parameters: {name} gives {changes!r}; give a dict of keys, as {{"fluid.viscosity": 0.1}}')
    return changes


def _columns(name: str, values: Sequence[Any]) -> dict[str, np.ndarray]:
    """Return values as one column of numbers or texts, vectors of numbers as one for each component."""
    if all(_number(value) for value in values):
        return {name: np.array(values)}
    if all(isinstance(value, list | tuple) and value and all(map(_number, value)) for value in values):
        count = len(values[0])
        if all(len(value) == count for value in values):
            parts = "xyz" if count == 3 else [str(n) for n in range(count)]
            return {f"{name}.{part}": np.array([value[n] for value in values]) for n, part in enumerate(parts)}
    return {name: np.array([str(value) for value in values])}


def _number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)
