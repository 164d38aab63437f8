"""The box and its cells: [grid], [grid.stretching]."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, WithJsonSchema

from taskflow.cases.formulas.values import checked, number, positive, three
from taskflow.cases.language.problems import Key, Problem, exclusive, missing, present, shown, wrong
from taskflow.cases.language.table import Positive, Table, Vector, WholeVector, entry, optional, reads
from taskflow.common import files
from taskflow.common.errors import BadInput
from taskflow.flow.grid import Flags, Places, StaggeredGrid
from taskflow.runtime.regions import triple

AXES = ("x", "y", "z")
NOWHERE = (False, False, False)  # periodic
SMALLEST, LARGEST = 1e-100, 1e100
JUMP = 2.0  # the largest ratio of neighbouring widths
MOST = 100_000  # cells along each direction of a stretched grid, whose places all are kept
NEAR = 1e-9  # relative: places this close are one

KINDS = ("tanh", "geometric", "faces")
STEEPEST = 1e3
WRITTEN = {"anyOf": [{"type": "array", "items": {"type": "number"}}, {"type": "string"}]}  # faces, or a file of them
ALONG, EQUAL = "how cells are spaced along this direction", "all cells are equal along it"


def _faces(value: object) -> Places:
    """Numbers, or the numbers of a file: any number per line, separated by commas or blanks."""
    if isinstance(value, str):
        value = _read(files.text(value, files.TABLE, "give a file of numbers", "paths are relative to the case file"))
    if not isinstance(value, (list, tuple)):
        raise BadInput("give a list of numbers, the places of all faces, or the name of a file with them")
    return tuple(number(item) for item in value)


def _read(text: str) -> list[float]:
    """Return the numbers of a text. Raises BadInput with the place of an invalid one."""
    numbers = []
    for line, words in enumerate(text.splitlines(), start=1):
        for word in re.finditer(r"[^\s,]+", words):
            try:
                numbers.append(float(word[0]))
            except ValueError:
                place = f"line {line}, column {word.start() + 1}: {shown(word[0])} is no number"
                raise BadInput(f"{place}; give a file of numbers, the places of all faces") from None
    return numbers


STRENGTH = "give a number > 0 and at most 10; with 2 the outer cells are about a seventh of the mean one"
RATIO = f"give the ratio of neighbouring widths, a number > 1 and at most {STEEPEST:g}"
_strength = checked(number, lambda strength: 0 < strength <= 10, STRENGTH)
_ratio = checked(number, lambda ratio: 1 < ratio <= STEEPEST, RATIO)
_length = checked(positive, lambda x: SMALLEST <= x <= LARGEST, f"give a number between {SMALLEST:g} and {LARGEST:g}")


class Spacing(Table):
    """The places of faces along one direction, as parts of the length, for xi from 0 to 1: `tanh`, `geometric` or
    `faces`.
    """

    tanh: Annotated[float, Field(gt=0, le=10), reads(_strength)] | None = optional(
        'a: (1 + tanh(a (2 xi - 1)) / tanh a) / 2, narrow at both ends. `toward = "max"`: tanh(a xi) / tanh a,'
        ' `"min"`: its mirror image'
    )
    geometric: Annotated[float, Field(gt=1, le=STEEPEST), reads(_ratio)] | None = optional(
        "the ratio of adjacent widths, narrow at both ends or at the end given by `toward`"
    )
    faces: Annotated[Places, reads(_faces), WithJsonSchema(WRITTEN)] | None = optional(
        "n + 1 positions of faces from `origin` to `origin` + length, or the name of a file of these numbers,"
        " relative to the case file, separated by commas, blanks or line breaks"
    )
    toward: Literal["min", "max", "both"] | None = optional("the narrow end", otherwise="both ends")

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        yield from exclusive(values, *KINDS, needed=missing("tanh", "give one of tanh, geometric and faces"))
        if present(values, *KINDS, "toward") == ["faces", "toward"]:
            yield wrong("toward", values["toward"], "faces already place the narrow cells; omit it")

    def edges(self, cells: int, start: float, length: float) -> Places:
        """The places of all faces. For xi from 0 to 1, with a = `tanh`, they are, narrow toward both ends,
        (1 + tanh(a (2 xi - 1)) / tanh(a)) / 2 of the length, toward the high one tanh(a xi) / tanh(a).
        """
        if self.faces is not None:
            return self.faces
        xi, number, a = np.arange(cells + 1) / cells, np.arange(cells), self.tanh
        if a is None:
            power = {"min": number, "max": number[::-1]}.get(self.toward or "both", np.minimum(number, number[::-1]))
            widths = np.exp((power - power.max()) * np.log(self.geometric or 1.0))
            parts = np.concatenate([[0.0], np.cumsum(widths)]) / widths.sum()
        elif self.toward == "max":
            parts = np.tanh(a * xi) / np.tanh(a)
        elif self.toward == "min":
            parts = 1 + np.tanh(a * (xi - 1)) / np.tanh(a)
        else:
            parts = (1 + np.tanh(a * (2 * xi - 1)) / np.tanh(a)) / 2
        return (start, *(start + length * parts[1:-1]).tolist(), start + length)


class Stretching(Table):
    """Directions along which cells are not all of one width."""

    least = missing("z", "give x, y or z, and how cells are spaced along it")

    x: Spacing | None = optional(ALONG, otherwise=EQUAL)
    y: Spacing | None = optional(ALONG, otherwise=EQUAL)
    z: Spacing | None = optional(ALONG, otherwise=EQUAL)


class GridTable(Table):
    """A box of cells."""

    cells: WholeVector = entry(
        "number of cells along x, y and z", remedy="give three integers >= 1, in the order x, y, z"
    )
    lengths: Annotated[tuple[Positive, Positive, Positive], reads(three(_length, "three numbers > 0"))] = entry(
        "the size of the domain", remedy="give three numbers > 0, in the order x, y, z"
    )
    origin: Vector = entry("its lowest corner", (0.0, 0.0, 0.0))
    stretching: Stretching | None = optional(
        "distribution of cell widths along `x`, `y` or `z`, see below", otherwise="all cells are equal"
    )

    def staggered(self, periodic: Flags) -> StaggeredGrid:
        """Cells and places. Needs `stretching.*.faces` that fit."""
        along = dict(self.stretching or ())
        edges = triple(
            spacing.edges(n, start, length) if (spacing := along.get(axis)) else None
            for axis, n, start, length in zip("xyz", self.cells, self.origin, self.lengths, strict=True)
        )
        return StaggeredGrid(self.cells, self.lengths, self.origin, periodic, edges)

    @property
    def room(self) -> tuple[int, int, int]:
        """Return the largest numbers of blocks along x, y and z: one plane of cells each."""
        return self.cells

    @property
    def key_text(self) -> str:
        """The cells as the case file has them."""
        return f"grid.cells = {list(self.cells)}"

    @property
    def size(self) -> str:
        return f"{' x '.join(map(str, self.cells))} cells"

    @property
    def count(self) -> int:
        return math.prod(self.cells)

    @property
    def ends(self) -> list[tuple[float, float]]:
        """The begin and the end of the domain along each axis."""
        return [(low, low + length) for low, length in zip(self.origin, self.lengths, strict=True)]

    def contains(self, *points: Iterable[float]) -> bool:
        """Return whether all points are in the domain, its sides included."""
        return all(low <= x <= high for point in points for x, (low, high) in zip(point, self.ends, strict=True))

    def beyond(self, key: Key, value: object) -> Problem:
        """The problem with a value that lies outside the domain."""
        domain = shown([list(corner) for corner in zip(*self.ends, strict=True)])
        return wrong(key, value, f"beyond the domain {domain}; move it inside")


def cells_fit(grid: GridTable) -> Iterator[Problem]:
    """Problems with the places of cells: with faces that are given, or that follow from a spacing, or else with
    coordinates that coincide. A grid has metrics only without these.
    """
    yield from list(_faces_fit(grid)) or _coordinates_differ(grid)


def _coordinates_differ(grid: GridTable) -> Iterator[Problem]:
    """Faces and centres of neighbouring cells are different numbers in double precision, in which they are stored."""
    for axis, (name, width) in enumerate(zip(AXES, narrowest(grid.staggered(NOWHERE)), strict=True)):
        start, length = grid.origin[axis], grid.lengths[axis]
        apart = float(np.spacing(max(abs(start), abs(start + length))))
        if not width / 2 > apart:
            remedy = (
                f"numbers are {apart:.3g} apart there, and cells {width:.3g} wide in {name}, so that neighbours have"
                " one coordinate; give an origin nearer to 0, or wider cells"
            )
            key = "origin" if abs(start) > length else "cells"
            yield wrong(("grid", key), getattr(grid, key), remedy)


def _faces_fit(grid: GridTable) -> Iterator[Problem]:
    """Problems with faces that are given, or that follow from a spacing."""
    if grid.stretching is None:
        return
    for axis, count in zip(AXES, grid.cells, strict=True):
        if count > MOST:
            remedy = f"{count} cells in {axis}; give at most {MOST} in each direction of a grid with grid.stretching"
            yield wrong(("grid", "cells"), grid.cells, remedy)
            return
    for axis, spacing in grid.stretching:
        if spacing is None:
            continue
        n, start, length = (values[AXES.index(axis)] for values in (grid.cells, grid.origin, grid.lengths))
        faces, key = spacing.faces, ("grid", "stretching", axis, "faces")
        if faces is None:
            if min(np.diff(spacing.edges(n, start, length))) <= 0:
                remedy = f"with {n} cells adjacent faces coincide in floating point; use fewer cells or less stretching"
                yield wrong(key[:-1], spacing.written(), remedy)
        elif len(faces) != n + 1:
            yield wrong(key, f"{len(faces)} numbers", f"{n} cells in {axis} have {n + 1} faces; give as many numbers")
        elif min(np.diff(faces)) <= 0:
            worst = int(np.argmin(np.diff(faces)))
            yield wrong(key, list(faces[worst : worst + 2]), "faces must increase; give them in ascending order")
        elif max(abs(faces[0] - start), abs(faces[-1] - start - length)) > NEAR * length:
            ends = f"from {faces[0]:g} to {faces[-1]:g}"
            remedy = f"the grid goes from {start:g} to {start + length:g} in {axis}; give these, or other grid.lengths"
            yield wrong(key, ends, remedy)


def narrowest(cells: StaggeredGrid) -> tuple[float, float, float]:
    return triple(cells.narrowest(axis) for axis in range(3))


def width_ratios(grid: StaggeredGrid, axis: int) -> np.ndarray:
    """The ratios of neighbouring widths, the wider one over the narrower one."""
    widths = grid.widths(axis)
    return np.asarray(np.maximum(widths[1:] / widths[:-1], widths[:-1] / widths[1:]))


def _cells_do_not_jump(grid: GridTable, cells: StaggeredGrid) -> Iterator[Problem]:
    for axis, spacing in grid.stretching or ():
        ratios = width_ratios(cells, AXES.index(axis))
        if spacing is not None and ratios.size and ratios.max() > JUMP:
            worst = int(np.argmax(ratios))
            remedy = (
                f"cells {worst} and {worst + 1} differ by a factor of {ratios[worst]:.3g}; give a spacing with at most"
                f" {JUMP:g}, and 1.2 for second order"
            )
            yield wrong(("grid", "stretching", axis), spacing.written(), remedy)


GridTable.rules = (cells_fit, _cells_do_not_jump)
