"""A round pipe without a pole: a square in the middle, and four charts around it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from taskflow.errors import BadArgument
from taskflow.geometry.grids import spacing
from taskflow.geometry.grids.assembled import LEAST, Part, assembled
from taskflow.geometry.grids.grid import MultiBlockGrid
from taskflow.geometry.grids.keys import LENGTH, SHARE, SIZE, TRUTH, GridShape, key
from taskflow.geometry.grids.round import widest

BULGE = 0.7  # of the sides of the square: 0 are chords, 1 arcs; the rounder, the less do grid lines turn at seams
CORE = 0.6


@dataclass(frozen=True, kw_only=True)
class Pipe(GridShape):
    """A pipe along z, as a butterfly: four singular edges run along it, where three charts meet."""

    shape: ClassVar[str] = "pipe"
    counts: ClassVar[str] = "the side of the square, the way from it to the wall, the axis"

    radius: float = key(LENGTH, "of the pipe", 0.5)
    length: float = key(LENGTH, "from the inlet at z = 0 to the outlet")
    core: float = key(SHARE, "distance of the corners of the square from the axis, as a share of the radius", CORE)
    first: float | None = key(SIZE, "width of the cells at the wall; equal cells without it", None)
    periodic: bool = key(TRUTH, "join outlet and inlet", False)

    @property
    def count(self) -> int:
        side, out, along = self.cells
        return side * (side + 4 * out) * along

    def problems(self) -> Iterator[BadArgument]:
        for axis in (0, 1):
            yield from self.at_least(axis, LEAST, "across seams")
        if self.periodic and self.cells[2] > 1:
            yield from self.at_least(2, LEAST, "which is periodic, or 1")
        yield from widest(self.first, self.radius * (1 - self.core), self.cells[1])

    def grid(self) -> MultiBlockGrid:
        side, out, along = self.cells
        z = self.length * spacing.equal(along)[:, None, None]
        ends = {"k_min": "inlet", "k_max": "outlet"}
        parts = [
            Part(np.stack(np.broadcast_arrays(*section, z)), {**ends, **({"j_max": "wall"} if wall else {})})
            for section, wall in butterfly(side, out, self.radius, self.core, self.first)
        ]
        return assembled(parts, [(0.0, 0.0, self.length)] if self.periodic else [])


def butterfly(
    side: int, out: int, radius: float, core: float, first: float | None
) -> Iterator[tuple[np.ndarray, bool]]:
    """The five charts [xy, j, i] of a circle about the origin, and whether their j_max lies on it: a square, whose
    corners are at `core` of the radius, and what surrounds it, with cells as wide as `first` at the circle.
    """
    bottom = _edge(side, core * radius)
    yield _filled(bottom, side), False
    places = spacing.equal(out)
    if first is not None:
        places = 1 - spacing.with_first(spacing.one_end, out, first / (radius * (1 - core)))[::-1]
    arc = radius * np.stack(_arc(side))
    # from the square (j = 0) to the wall, clockwise along i, so that i, j, z are right-handed
    fan = bottom[:, None, ::-1] + places[:, None] * (arc - bottom)[:, None, ::-1]
    yield from ((_quarter(fan, n), True) for n in range(4))


def _edge(cells: int, reach: float) -> np.ndarray:
    """The side [xy, vertex] of the square below the axis, a little round; its corners are so far from the axis."""
    corner = reach / math.sqrt(2)
    chord = np.stack([corner * (2 * spacing.equal(cells) - 1), np.full(cells + 1, -corner)])
    arc = reach * np.stack(_arc(cells))
    edge = chord + BULGE * (arc - chord)
    edge[:, 0], edge[:, -1] = (-corner, -corner), (corner, -corner)
    return edge


def _arc(cells: int) -> tuple[np.ndarray, np.ndarray]:
    """Points of the unit circle below the axis, from left to right."""
    angles = np.pi * (spacing.equal(cells) / 2 - 0.75)
    return np.cos(angles), np.sin(angles)


def _quarter(points: np.ndarray, times: int) -> np.ndarray:
    """Points [xy, ...] after quarters of a turn, without rounding."""
    for _ in range(times):
        points = np.stack([-points[1], points[0]])
    return points


def _filled(bottom: np.ndarray, cells: int) -> np.ndarray:
    """Points [xy, j, i] between the side below and the three that a quarter of a turn makes of it, by transfinite
    interpolation.
    """
    right, top, left = _quarter(bottom, 1), _quarter(bottom, 2)[:, ::-1], _quarter(bottom, 3)[:, ::-1]
    s, t = spacing.equal(cells), spacing.equal(cells)[:, None]
    sides = (1 - t) * bottom[:, None] + t * top[:, None] + (1 - s) * left[..., None] + s * right[..., None]
    a, b, c, d = (edge[:, n, None, None] for edge, n in ((bottom, 0), (bottom, -1), (top, 0), (top, -1)))
    points = sides - ((1 - s) * (1 - t) * a + s * (1 - t) * b + (1 - s) * t * c + s * t * d)
    points[:, 0], points[:, -1], points[..., 0], points[..., -1] = bottom, top, left, right
    return np.asarray(points)
