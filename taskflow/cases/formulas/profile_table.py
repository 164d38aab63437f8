"""Profiles from a file: comma-separated values at positions, and between them by linear interpolation."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Self

import numpy as np

from taskflow.cases.formulas.values import number
from taskflow.common import files
from taskflow.common.caching import cached_property
from taskflow.common.errors import BadInput

POSITIONS = ("x", "y", "z")
QUANTITIES = ("u", "v", "w", "T")
BESIDE = 1e-9  # of its extent a table may end before a value: positions and times are rounded


@dataclass(frozen=True)
class TableFile:
    """A file of comma-separated values: its path and its content."""

    path: str
    text: str

    @classmethod
    def load(cls, path: Any) -> Self:
        """The table in a file. Raises BadInput where it cannot be read."""
        file, remedy = Path(path).absolute(), "give a file of comma-separated values"
        return cls(str(file), files.text(file, files.TABLE, remedy, "paths are relative to the case file"))

    @property
    def source(self) -> str:
        """The value in a case file."""
        return self.path

    def _wrong(self, message: str) -> BadInput:
        return BadInput(f"{Path(self.path).name}: {message}")


@dataclass(frozen=True)
class ProfileTable(TableFile):
    """A table: a line with names, one or two of x, y, z and any of u, v, w, T, then a line of numbers per position.

    With two positions every pair of their values has one line. Lines that begin with # are comments. Raises BadInput
    where `text`, the content of the file at `path`, is something else.
    """

    def __post_init__(self) -> None:
        if self.axes and not self.names:
            raise self._wrong(f"no column {', '.join(QUANTITIES)}; give the velocity components")
        assert self._grid

    @classmethod
    def load(cls, path: Any) -> ProfileTable:
        if isinstance(path, ProfileTable):
            return path
        if not isinstance(path, str | Path) or not str(path).strip():
            raise BadInput('give the name of a file, as "profile.csv"')
        return super().load(path)

    @property
    def axes(self) -> tuple[str, ...]:
        return tuple(name for name in POSITIONS if name in self._columns)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name in QUANTITIES if name in self._columns)

    def at(self, name: str, points: dict[str, np.ndarray]) -> np.ndarray:
        """The values of a quantity at positions x, y, z, which broadcast. Raises BadInput beyond the table."""
        places, shape = self._grid, tuple(len(place) for place in self._grid)
        order = np.lexsort([self._columns[axis] for axis in reversed(self.axes)])
        values = self._columns[name][order].reshape(shape)
        weights = [_weights(self, axis, place, points[axis]) for axis, place in zip(self.axes, places, strict=True)]
        total: Any = 0.0
        for corner in product((0, 1), repeat=len(places)):
            share: Any = 1.0
            for end, (_, part) in zip(corner, weights, strict=True):
                share = share * (part if end else 1 - part)
            total = total + share * values[tuple(low + end for end, (low, _) in zip(corner, weights, strict=True))]
        return np.asarray(total)

    @cached_property
    def _columns(self) -> dict[str, np.ndarray]:
        lines = list(enumerate(self.text.splitlines(), start=1))
        filled = [(n, line.split(",")) for n, line in lines if line.strip() and not line.lstrip().startswith("#")]
        (_, header), *rows = filled or [(1, [""])]
        names = [name.strip().strip('"') for name in header]
        unknown = [name for name in names if name not in (*POSITIONS, *QUANTITIES)]
        if not names or unknown or len(set(names)) < len(names):
            first = ", ".join(names)
            first = first if len(first) <= 60 else f"{first[:57]}..."
            raise self._wrong(f"the first line is {first}; give each name once: {', '.join(POSITIONS)} and"
                              f" {', '.join(QUANTITIES)}")  # fmt: skip
        if not 1 <= len([name for name in names if name in POSITIONS]) <= 2:
            raise self._wrong("give a column for one or two of x, y and z: the positions along the boundary")
        numbers = np.array([self._row(n, row, len(names)) for n, row in rows]).reshape(-1, len(names))
        return dict(zip(names, numbers.T, strict=True))

    def _row(self, line: int, row: list[str], count: int) -> list[float]:
        """The numbers of a line. Raises BadInput with its place where they are not one for each name."""
        remedy = "give a finite number for each name in every line"
        if len(row) != count:
            raise self._wrong(f"line {line}: {len(row)} values for {count} names; {remedy}")
        numbers = []
        for column, value in enumerate(row, start=1):
            try:
                numbers.append(number(float(value.strip().strip('"'))))
            except (ValueError, BadInput):
                raise self._wrong(f"line {line}, value {column} is {value.strip()[:40]!r}; {remedy}") from None
        return numbers

    @cached_property
    def _grid(self) -> list[np.ndarray]:
        places = [np.unique(self._columns[axis]) for axis in self.axes]
        points = {tuple(point) for point in zip(*(self._columns[axis] for axis in self.axes), strict=True)}
        count = len(self._columns[self.axes[0]])
        if len(points) < count:
            raise self._wrong(f"{count - len(points)} lines have the position of others; give each position once")
        if count < np.prod([len(place) for place in places]):
            raise self._wrong(f"not every pair of values of {' and '.join(self.axes)} has a line; give all of them")
        if min(len(place) for place in places) < 2:
            raise self._wrong("give two or more positions along each direction")
        return places


@dataclass(frozen=True)
class Column:
    """A quantity of a table as a function of position; 0 where the table has none."""

    table: ProfileTable
    name: str

    varies = False

    def __call__(self, x: Any, y: Any, z: Any, t: float = 0.0) -> np.ndarray:
        """Values in float64, in the shape to which x, y and z broadcast. Raises BadInput beyond the table."""
        shape = np.broadcast_shapes(np.shape(x), np.shape(y), np.shape(z))
        if self.name not in self.table.names:
            return np.zeros(shape)
        return np.broadcast_to(self.table.at(self.name, {"x": x, "y": y, "z": z}), shape)


def _weights(table: ProfileTable, axis: str, places: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Between which places each position lies, by the index of the lower one and the share of the upper one."""
    beyond = BESIDE * (places[-1] - places[0])
    bad = at[(at < places[0] - beyond) | (at > places[-1] + beyond)]
    if bad.size:
        raise BadInput(
            f"{Path(table.path).name}: a value is needed at {axis} = {bad[0]:g}, the table goes from {places[0]:g} to"
            f" {places[-1]:g}; give lines that cover the boundary"
        )
    low = np.clip(np.searchsorted(places, at, side="right") - 1, 0, len(places) - 2)
    return low, np.clip((at - places[low]) / (places[low + 1] - places[low]), 0.0, 1.0)
