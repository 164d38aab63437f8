"""Cells that are not all of one width: [grid.stretching]."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, WithJsonSchema

from taskflow import files
from taskflow.errors import BadInput
from taskflow.flow.grid import Places
from taskflow.simulation.case.problems import Problem, exclusive, missing, present, shown, wrong
from taskflow.simulation.case.table import Table, entry, reads
from taskflow.simulation.values import number, one_of

KINDS = ("tanh", "geometric", "faces")
STEEPEST = 1e3
WRITTEN = {"anyOf": [{"type": "array", "items": {"type": "number"}}, {"type": "string"}]}  # faces, or a file of them
ALONG, EQUAL = "how cells are spaced along this direction", "all cells are equal along it"


def _faces(value: object) -> Places:
    """Numbers, or those of a file: as many as you like in a line, with commas or blanks between them."""
    if isinstance(value, str):
        value = _read(files.text(value, files.TABLE, "give a file of numbers", "paths are relative to the case file"))
    if not isinstance(value, (list, tuple)):
        raise BadInput("give a list of numbers, the places of all faces, or the name of a file with them")
    return tuple(number(item) for item in value)


def _read(text: str) -> list[float]:
    """The numbers of a text. Raises BadInput with the place of what is none."""
    numbers = []
    for line, words in enumerate(text.splitlines(), start=1):
        for word in re.finditer(r"[^\s,]+", words):
            try:
                numbers.append(float(word[0]))
            except ValueError:
                place = f"line {line}, column {word.start() + 1}: {shown(word[0])} is no number"
                raise BadInput(f"{place}; give a file of numbers, the places of all faces") from None
    return numbers


def _ratio(value: object) -> float:
    ratio = number(value)
    if not 1 < ratio <= STEEPEST:
        raise BadInput(f"give the ratio of neighbouring widths, a number > 1 and at most {STEEPEST:g}")
    return ratio


def _strength(value: object) -> float:
    strength = number(value)
    if not 0 < strength <= 10:
        raise BadInput("give a number > 0 and at most 10; with 2 the outer cells are about a seventh of the mean one")
    return strength


class Spacing(Table):
    """The places of faces along one direction, as parts of the length, for xi from 0 to 1: `tanh`, `geometric` or
    `faces`.
    """

    tanh: Annotated[float, Field(gt=0, le=10), reads(_strength)] | None = entry(
        'a: (1 + tanh(a (2 xi - 1)) / tanh a) / 2, narrow at both ends; `toward = "max"`: tanh(a xi) / tanh a, `"min"`:'
        " its mirror image",
        None,
    )
    geometric: Annotated[float, Field(gt=1, le=STEEPEST), reads(_ratio)] | None = entry(
        "the ratio of neighbouring widths; narrow at both ends, or `toward` one of them", None
    )
    faces: Annotated[Places, reads(_faces), WithJsonSchema(WRITTEN)] | None = entry(
        "the places themselves: a list of n + 1 numbers from `origin` to its sum with the length, or the name of a"
        " file of numbers (with commas, blanks or lines between them; relative to the case file)",
        None,
    )
    toward: Annotated[Literal["min", "max", "both"], reads(one_of("min", "max", "both"))] | None = entry(
        "where cells are narrow", None, otherwise="both ends"
    )

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        yield from exclusive(values, *KINDS, needed=missing("tanh", "give one of tanh, geometric and faces"))
        if present(values, *KINDS, "toward") == ["faces", "toward"]:
            yield wrong("toward", values["toward"], "faces say where cells are narrow; leave it out")

    def edges(self, cells: int, start: float, length: float) -> Places:
        """The places of all faces. For xi from 0 to 1, with a = `tanh`, they are, narrow toward both ends,
        (1 + tanh(a (2 xi - 1)) / tanh(a)) / 2 of the length, toward the high one tanh(a xi) / tanh(a).
        """
        if self.faces is not None:
            return self.faces
        parts = self._tanh(np.arange(cells + 1) / cells) if self.tanh else self._geometric(cells)
        return (start, *(start + length * parts[1:-1]).tolist(), start + length)

    def _tanh(self, xi: np.ndarray) -> np.ndarray:
        strength = self.tanh or 0.0
        if self.toward == "max":
            return np.tanh(strength * xi) / np.tanh(strength)
        if self.toward == "min":
            return 1 + np.tanh(strength * (xi - 1)) / np.tanh(strength)
        return (1 + np.tanh(strength * (2 * xi - 1)) / np.tanh(strength)) / 2

    def _geometric(self, cells: int) -> np.ndarray:
        number = np.arange(cells)
        power = {"min": number, "max": number[::-1]}.get(self.toward or "both", np.minimum(number, number[::-1]))
        widths = np.exp((power - power.max()) * np.log(self.geometric or 1.0))
        return np.concatenate([[0.0], np.cumsum(widths)]) / widths.sum()


class Stretching(Table):
    """Directions along which cells are not all of one width."""

    x: Spacing | None = entry(ALONG, None, otherwise=EQUAL)
    y: Spacing | None = entry(ALONG, None, otherwise=EQUAL)
    z: Spacing | None = entry(ALONG, None, otherwise=EQUAL)

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        if not values:
            yield missing("z", "give x, y or z, and how cells are spaced along it")
