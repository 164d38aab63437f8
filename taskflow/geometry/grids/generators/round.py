"""Grids around an axis along z: rings, sectors of rings, and surroundings of a cylinder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from taskflow.common.errors import BadArgument
from taskflow.geometry.grids.generators import spacing
from taskflow.geometry.grids.generators.options import (
    ANGLE,
    LENGTH,
    RADII,
    RATIO,
    STRENGTH,
    TRUTH,
    WHOLE,
    GridShape,
    key,
    written,
)
from taskflow.geometry.grids.multiblock.assembly import LEAST, Part, assembled
from taskflow.geometry.grids.multiblock.grid import MultiBlockGrid

AXIAL = "length along z, from 0"
INNER_OUTER = {"i_min": "inner", "i_max": "outer"}


@dataclass(frozen=True, kw_only=True)
class Ends(GridShape):
    """Sections that are identical along z."""

    periodic: bool = key(TRUTH, "join both ends along z, which otherwise are the side ends", False)

    def problems(self) -> Iterator[BadArgument]:
        if self.periodic and self.cells[2] > 1:
            yield from self.at_least(2, LEAST, "which is periodic, or 1")

    def extended(
        self,
        sections: Sequence[tuple[np.ndarray, np.ndarray, Mapping[str, str]]],
        length: float,
        *periods: tuple[float, float, float],
    ) -> MultiBlockGrid:
        """Return the grid of sections x, y [j, i], with names of their sides across i and j, extended by `length` along
        z.

        Sides are also joined across the translations `periods`.
        """
        z = length * spacing.equal(self.cells[2])[:, None, None]
        parts = [
            Part(np.stack(np.broadcast_arrays(x, y, z)), {**names, "k_min": "ends", "k_max": "ends"})
            for x, y, names in sections
        ]
        return assembled(parts, [*periods, *([(0.0, 0.0, length)] if self.periodic else [])])


def circle(angles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return cosine and sine of angles in full turns, bitwise identical for equal positions after any number of turns.
    """
    turn = 2 * np.pi * (angles % 1.0)
    return np.cos(turn), np.sin(turn)


def ring(radii: np.ndarray, angles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return coordinates x, y [angle, radius], with angles in full turns."""
    cosine, sine = circle(angles)
    return cosine[:, None] * radii, sine[:, None] * radii


def between(radii: tuple[float, float], cells: int, first: float | None) -> np.ndarray:
    """Return radii of vertices, equally spaced or with cells of width `first` at both ends."""
    inner, outer = radii
    if first is None:
        return inner + (outer - inner) * spacing.equal(cells)
    return inner + (outer - inner) * spacing.with_first(spacing.both_ends, cells, first / (outer - inner))


def widest(first: float | None, length: float, cells: int) -> Iterator[BadArgument]:
    """Yield a problem if the first cell is wider than the mean one."""
    if first is not None and first > length / cells:
        remedy = f"{cells} equal cells are {length / cells:.4g} wide; give less, or omit it for these"
        yield BadArgument("first", written(first), "", remedy)


def _radii(radii: tuple[float, float], first: float | None, cells: int) -> Iterator[BadArgument]:
    """Yield problems of radii that do not increase, and of the first cell between them."""
    if radii[0] < radii[1]:
        yield from widest(first, radii[1] - radii[0], cells)
    else:
        yield BadArgument("radii", written(radii), "", "give the inner and then the outer one, which is larger")


@dataclass(frozen=True, kw_only=True)
class Annulus(Ends):
    """The ring between two cylinders."""

    shape: ClassVar[str] = "annulus"
    counts: ClassVar[str] = "the radius, the circumference, the axis"

    radii: tuple[float, float] = key(RADII, "the inner and the outer radius")
    first: float | None = key(LENGTH, "width of the cells at both cylinders. Default: equal cells", None)
    charts: int = key(WHOLE, "number of charts around the axis", 1)
    height: float = key(LENGTH, AXIAL, 1.0)

    def problems(self) -> Iterator[BadArgument]:
        yield from super().problems()
        yield from _radii(self.radii, self.first, self.cells[0])
        least = max(LEAST * self.charts, 2 * LEAST)
        yield from self.at_least(1, least, f"{LEAST} for each chart and 8 in all")

    def grid(self) -> MultiBlockGrid:
        radii, around = between(self.radii, self.cells[0], self.first), self.cells[1]
        cuts = [round(around * part / self.charts) for part in range(self.charts + 1)]
        ranges = (np.arange(low, high + 1) / around for low, high in pairwise(cuts))
        return self.extended([(*ring(radii, angles), INNER_OUTER) for angles in ranges], self.height)


@dataclass(frozen=True, kw_only=True)
class Sector(Ends):
    """A sector of a ring, symmetric about the x axis."""

    shape: ClassVar[str] = "sector"
    counts: ClassVar[str] = "the radius, the arc, the axis"

    radii: tuple[float, float] = key(RADII, "the inner and the outer radius")
    angle: float = key(ANGLE, "between both straight sides, in degrees")
    first: float | None = key(LENGTH, "width of the cells at both ends of the radius. Default: equal cells", None)
    stretching: float = key(STRENGTH, "of angles, as `stretching` of `box`, narrow at both walls", 0.0)
    height: float = key(LENGTH, AXIAL, 1.0)

    def problems(self) -> Iterator[BadArgument]:
        yield from super().problems()
        yield from _radii(self.radii, self.first, self.cells[0])

    def grid(self) -> MultiBlockGrid:
        angles = self.angle / 360 * (spacing.both_ends(self.cells[1], self.stretching) - 0.5)
        names = {**INNER_OUTER, "j_min": "wall_low", "j_max": "wall_high"}
        return self.extended([(*ring(between(self.radii, self.cells[0], self.first), angles), names)], self.height)


@dataclass(frozen=True, kw_only=True)
class OGrid(Ends):
    """The surroundings of a cylinder, up to a distant circle."""

    shape: ClassVar[str] = "o-grid"
    counts: ClassVar[str] = "the circumference, the way outwards, the axis"

    radius: float = key(LENGTH, "of the cylinder", 0.5)
    far: float = key(LENGTH, "radius of the outer circle")
    first: float | None = key(LENGTH, "height of the cells at the cylinder, which grow geometrically outwards", None)
    growth: float | None = key(
        RATIO, "that ratio, instead of `first`. Default: (far / radius)^(1 / cells), for cells of equal shape", None
    )
    height: float = key(LENGTH, AXIAL, 1.0)

    def problems(self) -> Iterator[BadArgument]:
        yield from super().problems()
        if not self.radius < self.far:
            yield BadArgument("far", written(self.far), "", f"give more than the radius {self.radius:g}")
        else:
            yield from widest(self.first, self.far - self.radius, self.cells[1])
        if self.first is not None and self.growth is not None:
            yield BadArgument("growth", written(self.growth), "", "it follows from first; omit one of them")
        if self.cells[0] < 2 * LEAST:
            yield from self.at_least(0, 2 * LEAST, f"{LEAST} for each of two charts")

    def grid(self) -> MultiBlockGrid:
        around, away = self.cells[:2]
        length = self.far - self.radius
        if self.first is not None:
            places = spacing.with_first(spacing.geometric, away, self.first / length)
        else:
            places = spacing.geometric(away, self.growth or (self.far / self.radius) ** (1 / away))
        radii, half = self.radius + length * places, around // 2
        sections = []
        for low, high in ((0, half), (half, around)):
            x, y = ring(radii, -np.arange(low, high + 1) / around)  # clockwise, so that i, j, z are right-handed
            sections.append((x.T, y.T, {"j_min": "body", "j_max": "far"}))
        return self.extended(sections, self.height)
