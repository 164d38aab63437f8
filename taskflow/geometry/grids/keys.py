"""The keys that shapes of grids have, with their kinds, defaults and meanings, and how they are read."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, ClassVar, Self

from taskflow import files
from taskflow.errors import BadArgument
from taskflow.geometry.grids.grid import FARTHEST, MultiBlockGrid, all_right

MEMORY = 300  # bytes for a cell while a grid is made: measured 130 to 282


@dataclass(frozen=True)
class Kind:
    """The values that a key takes, in `words` and as a JSON `schema`. `read` returns one, or raises TypeError or
    ValueError.
    """

    words: str
    read: Callable[[Any], Any]
    schema: Mapping[str, Any]


@dataclass(frozen=True)
class Key:
    """A key of a shape, for case files, commands and the reference. Its default is `MISSING` where it is required."""

    name: str
    kind: Kind
    meaning: str
    default: Any


def key(kind: Kind, meaning: str, default: Any = MISSING) -> Any:
    """A field of a shape."""
    said = {"kind": kind, "meaning": meaning}
    return field(metadata=said) if default is MISSING else field(default=default, metadata=said)


def _whole(least: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ValueError
        return value

    return read


def number(low: float = -math.inf, high: float = math.inf) -> Callable[[Any], float]:
    """A number between both."""

    def read(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not low < value < high:
            raise ValueError
        if abs(value) > FARTHEST:
            raise ValueError
        return float(value)

    return read


def _several(read: Callable[[Any], Any], count: int) -> Callable[[Any], tuple[Any, ...]]:
    def read_all(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple) or len(value) != count:
            raise ValueError
        return tuple(map(read, value))

    return read_all


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _axes(value: Any) -> tuple[str, ...]:
    names = [value] if isinstance(value, str) else list(value)
    if len(set(names)) != len(names) or not set(names) <= set("xyz"):
        raise ValueError
    return tuple(sorted(names))


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError
    return value


def one_of(*names: str) -> Kind:
    """The kind of a word out of several."""

    def read(value: Any) -> str:
        if value not in names:
            raise ValueError
        return str(value)

    return Kind(" or ".join(f'"{name}"' for name in names), read, {"enum": [*names]})


def _or_none(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else read(value)


def _row(item: Mapping[str, Any], count: int) -> dict[str, Any]:
    """The schema of so many values of one kind."""
    return {"type": "array", "items": item, "minItems": count, "maxItems": count}


_COUNT, _NUMBER = {"type": "integer", "minimum": 1}, {"type": "number"}
_POSITIVE = {**_NUMBER, "exclusiveMinimum": 0}
_TO_TEN = {**_NUMBER, "minimum": 0, "maximum": 10}
_LETTERS = {"type": "array", "items": {"enum": ["x", "y", "z"]}, "uniqueItems": True}

WHOLE = Kind("a whole number >= 1", _whole(1), _COUNT)
NATURAL = Kind("a whole number >= 0", _whole(0), {"type": "integer", "minimum": 0})
COUNTS = Kind("three whole numbers >= 1", _several(_whole(1), 3), _row(_COUNT, 3))
NUMBERS = Kind("three numbers", _several(number(), 3), _row(_NUMBER, 3))
LENGTH = Kind("a number > 0", number(0), _POSITIVE)
LENGTHS = Kind("three numbers > 0", _several(number(0), 3), _row(_POSITIVE, 3))
RADII = Kind("two numbers > 0", _several(number(0), 2), _row(_POSITIVE, 2))
ANGLE = Kind("a number of degrees > 0 and < 180", number(0, 180), {**_POSITIVE, "exclusiveMaximum": 180})
STRENGTH = Kind(
    "a number >= 0 and at most 10", number(math.nextafter(0, -1), math.nextafter(10, 11)), _TO_TEN
)  # fmt: skip
STRENGTHS = Kind("three numbers >= 0 and at most 10", _several(STRENGTH.read, 3), _row(_TO_TEN, 3))
SHARE = Kind("a number > 0 and < 1", number(0, 1), {**_POSITIVE, "exclusiveMaximum": 1})
RATIO = Kind(
    "a number > 1 and at most 10",
    _or_none(number(1, math.nextafter(10, 11))),
    {**_NUMBER, "exclusiveMinimum": 1, "maximum": 10},
)
NOT_NEGATIVE = Kind("a number >= 0", number(math.nextafter(0, -1)), {**_NUMBER, "minimum": 0})
SIZE = Kind("a number > 0", _or_none(number(0)), _POSITIVE)
TEXT = Kind("a text", _text, {"type": "string", "minLength": 1})
TRUTH = Kind("true or false", _truth, {"type": "boolean"})
AXES = Kind('a list of "x", "y" and "z"', _axes, {"anyOf": [_LETTERS, {"enum": ["x", "y", "z"]}]})


@dataclass(frozen=True, kw_only=True)
class GridShape(ABC):
    """A grid by formula. Making one whose keys cannot be obeyed raises BadGrid, with a problem per key."""

    shape: ClassVar[str]
    counts: ClassVar[str]  # what cells are counted along

    cells: tuple[int, int, int] = key(COUNTS, "how many cells")

    def __post_init__(self) -> None:
        problems = []
        for entry in self.entries():
            value = getattr(self, entry.name)
            try:
                object.__setattr__(self, entry.name, entry.kind.read(value))
            except (TypeError, ValueError):
                problems.append(BadArgument(entry.name, written(value), "", f"give {entry.kind.words}"))
        all_right(problems or self.problems())
        files.fits(MEMORY * self.count, f"cells = {written(self.cells)}")

    @property
    def count(self) -> int:
        """How many cells the grid has."""
        return math.prod(self.cells)

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that the grid is made of."""
        return ()

    @classmethod
    def entries(cls) -> Iterator[Key]:
        """All keys."""
        for entry in fields(cls):
            meaning = entry.metadata["meaning"]
            if entry.name == "cells":
                meaning += f", along {cls.counts}; one along the last for a grid in two dimensions"
            yield Key(entry.name, entry.metadata["kind"], meaning, entry.default)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """The shape of keys from a file. Raises BadGrid, too, where keys are missing or unknown."""
        known = {entry.name: entry for entry in cls.entries()}
        problems = []
        for name, value in values.items():
            if name not in known:
                near = get_close_matches(name, known, 1)
                remedy = f"did you mean {near[0]}?" if near else f"{cls.shape} has {', '.join(known)}"
                problems.append(BadArgument(name, written(value), ": there is no such key", remedy))
        for name, entry in known.items():
            if entry.default is MISSING and name not in values:
                problems.append(BadArgument(name, None, " is missing", f"give {entry.kind.words}"))
        all_right(problems)
        return cls(**values)

    def problems(self) -> Iterator[BadArgument]:
        """Yield what is wrong with keys that are sound by themselves."""
        yield from ()

    @abstractmethod
    def grid(self) -> MultiBlockGrid:
        """The grid."""

    def at_least(self, axis: int, count: int, why: str) -> Iterator[BadArgument]:
        """The problem with too few cells along a direction."""
        if self.cells[axis] < count:
            remedy = f"give at least {count} along {self.counts.split(', ')[axis]}, {why}"
            yield BadArgument("cells", written(self.cells), "", remedy)


def written(value: Any) -> str:
    """A value as a case file has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    return f"[{', '.join(map(written, value))}]" if isinstance(value, list | tuple) else str(value)
