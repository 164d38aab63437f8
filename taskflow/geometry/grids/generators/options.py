"""Keys of grid shapes: kinds, defaults, meanings, and how they are read."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, ClassVar, Self

from taskflow.common import files
from taskflow.common.errors import BadArgument
from taskflow.geometry.grids.multiblock.grid import FARTHEST, MultiBlockGrid, all_right

MOST = 2**31 - 1  # of counts
NEAREST = 1 / FARTHEST  # lengths: ratios of two are finite
MEMORY = 300  # bytes for a cell while a grid is made: measured 130 to 282
TYPES = {"integer": int, "number": int | float, "boolean": bool, "string": str, "array": list | tuple}  # of JSON


@dataclass(frozen=True)
class Kind:
    """Values that a key accepts, as text in `words` and as a JSON `schema`."""

    words: str
    schema: Mapping[str, Any]

    def read(self, value: Any) -> Any:
        """Return the value, with rows as tuples and numbers in double precision.

        Raises ValueError for a value of another kind. For a number out of range its text is the bound, to append to
        `words`.
        """
        return _read(value, self.schema)


def _read(value: Any, schema: Mapping[str, Any]) -> Any:
    kind, said = schema.get("type"), schema.get
    if kind and (not isinstance(value, TYPES[kind]) or isinstance(value, bool) != (kind == "boolean")):
        raise ValueError
    right = True
    match kind:
        case None:
            right = value in schema["enum"]
        case "array":
            value = tuple(_read(item, schema["items"]) for item in value)
            right = said("minItems", 0) <= len(value) <= said("maxItems", len(value))
            right &= not said("uniqueItems") or len(set(value)) == len(value)
        case "string":
            right = len(value) >= schema["minLength"]
        case "integer" | "number":
            right = said("minimum", -math.inf) <= value <= said("maximum", math.inf)
            right &= said("exclusiveMinimum", -math.inf) < value < said("exclusiveMaximum", math.inf)
            most = FARTHEST if kind == "number" else MOST
            if right and abs(value) > most:
                raise ValueError(f", none beyond {most}")
            if right and "exclusiveMinimum" in schema and value < NEAREST:
                raise ValueError(f", none below {NEAREST}")
    if not right:
        raise ValueError
    return float(value) if kind == "number" else value


@dataclass(frozen=True)
class Key:
    """Key of a shape, for case files, commands and the reference. The default of a required key is `MISSING`."""

    name: str
    kind: Kind
    meaning: str
    default: Any


def key(kind: Kind, meaning: str, default: Any = MISSING) -> Any:
    """Return a dataclass field for a key of a shape."""
    said = {"kind": kind, "meaning": meaning}
    return field(metadata=said) if default is MISSING else field(default=default, metadata=said)


class _Axes(Kind):
    """Several axes, in order, or a single one."""

    def read(self, value: Any) -> tuple[str, ...]:
        return tuple(sorted(_read([value] if isinstance(value, str) else value, _LETTERS)))


def one_of(*names: str) -> Kind:
    """Return the kind that accepts one of several words."""
    return Kind(" or ".join(f'"{name}"' for name in names), {"enum": [*names]})


def _row(item: Mapping[str, Any], count: int) -> dict[str, Any]:
    """Return the schema of `count` values of one kind."""
    return {"type": "array", "items": item, "minItems": count, "maxItems": count}


_COUNT, _NUMBER = {"type": "integer", "minimum": 1}, {"type": "number"}
_POSITIVE = {**_NUMBER, "exclusiveMinimum": 0}
_TO_TEN = {**_NUMBER, "minimum": 0, "maximum": 10}
_LETTERS = {"type": "array", "items": {"enum": ["x", "y", "z"]}, "uniqueItems": True}

WHOLE = Kind("an integer >= 1", _COUNT)
NATURAL = Kind("an integer >= 0", {"type": "integer", "minimum": 0})
COUNTS = Kind("three integers >= 1", _row(_COUNT, 3))
NUMBERS = Kind("three numbers", _row(_NUMBER, 3))
LENGTH = Kind("a number > 0", _POSITIVE)
LENGTHS = Kind("three numbers > 0", _row(_POSITIVE, 3))
RADII = Kind("two numbers > 0", _row(_POSITIVE, 2))
ANGLE = Kind("a number of degrees > 0 and < 180", {**_POSITIVE, "exclusiveMaximum": 180})
STRENGTH = Kind("a number >= 0 and at most 10", _TO_TEN)
STRENGTHS = Kind("three numbers from -10 to 10", _row({**_NUMBER, "minimum": -10, "maximum": 10}, 3))
SHARE = Kind("a number > 0 and < 1", {**_POSITIVE, "exclusiveMaximum": 1})
RATIO = Kind("a number > 1 and at most 10", {**_NUMBER, "exclusiveMinimum": 1, "maximum": 10})
NOT_NEGATIVE = Kind("a number >= 0", {**_NUMBER, "minimum": 0})
TEXT = Kind("a text", {"type": "string", "minLength": 1})
TRUTH = Kind("true or false", {"type": "boolean"})
AXES = _Axes('a list of "x", "y" and "z"', {"anyOf": [_LETTERS, {"enum": ["x", "y", "z"]}]})


@dataclass(frozen=True, kw_only=True)
class GridShape(ABC):
    """Grid by formula. Raises BadGrid with one problem per invalid key."""

    shape: ClassVar[str]
    counts: ClassVar[str]  # names of the directions of cells

    cells: tuple[int, int, int] = key(COUNTS, "number of cells")

    def __post_init__(self) -> None:
        problems = []
        for entry in self.entries():
            value = getattr(self, entry.name)
            if value is None and entry.default is None:
                continue
            try:
                object.__setattr__(self, entry.name, entry.kind.read(value))
            except ValueError as bound:
                problems.append(BadArgument(entry.name, written(value), "", f"give {entry.kind.words}{bound}"))
        all_right(problems or self.problems())
        files.fits(MEMORY * self.count, f"cells = {written(self.cells)}: {self.count:.6g} in all")

    @property
    def count(self) -> int:
        return math.prod(self.cells)

    @property
    def files(self) -> tuple[Path, ...]:
        """Files that the grid is made of."""
        return ()

    @classmethod
    def entries(cls) -> Iterator[Key]:
        for entry in fields(cls):
            meaning = entry.metadata["meaning"]
            if entry.name == "cells":
                meaning += f", along {cls.counts} (1 along the last in two dimensions)"
            yield Key(entry.name, entry.metadata["kind"], meaning, entry.default)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Return the shape of keys from a file. Raises BadGrid if keys are invalid, missing or unknown."""
        known = {entry.name: entry for entry in cls.entries()}
        problems = []
        for name, value in values.items():
            if name not in known:
                near = get_close_matches(name, known, 1)
                remedy = f"did you mean {near[0]}?" if near else f"{cls.shape} has {', '.join(known)}"
                problems.append(BadArgument(name, written(value), ": unknown key", remedy))
        for name, entry in known.items():
            if entry.default is MISSING and name not in values:
                problems.append(BadArgument(name, None, " is missing", f"give {entry.kind.words}"))
        all_right(problems)
        return cls(**values)

    def problems(self) -> Iterator[BadArgument]:
        """Yield the problems of keys that are valid individually."""
        yield from ()

    @abstractmethod
    def grid(self) -> MultiBlockGrid:
        """Return the grid."""

    def at_least(self, axis: int, count: int, why: str) -> Iterator[BadArgument]:
        """Yield a problem if a direction has fewer than `count` cells."""
        if self.cells[axis] < count:
            remedy = f"give at least {count} along {self.counts.split(', ')[axis]}, {why}"
            yield BadArgument("cells", written(self.cells), "", remedy)


def written(value: Any) -> str:
    """Return a value as written in a case file."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(written, value))}]"
    try:
        return str(value)
    except ValueError:  # an integer with thousands of digits
        return f"({type(value).__name__})"
