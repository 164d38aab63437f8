"""Boxes of cells, upright or skewed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np

from taskflow.common.errors import BadArgument
from taskflow.geometry.grids.generators.options import (
    ANGLE,
    AXES,
    COUNTS,
    LENGTHS,
    NATURAL,
    NUMBERS,
    STRENGTHS,
    TRUTH,
    GridShape,
    Kind,
    key,
    written,
)
from taskflow.geometry.grids.generators.spacing import both_ends, in_the_middle
from taskflow.geometry.grids.multiblock.assembly import LEAST, Part, assembled, turned
from taskflow.geometry.grids.multiblock.grid import MultiBlockGrid, Vector
from taskflow.runtime.regions import SIDES

NAMES = ("x_min", "x_max", "y_min", "y_max", "z_min", "z_max")
DISTORTION = Kind(
    "a number >= 0 and at most 0.12, beyond which cells turn inside out",
    {"type": "number", "minimum": 0, "exclusiveMaximum": 0.121},
)


@dataclass(frozen=True, kw_only=True)
class _Lattice(GridShape):
    """Cells between planes, the common base of upright and skewed boxes."""

    counts: ClassVar[str] = "x, y, z"

    lengths: Vector = key(LENGTHS, "lengths of the edges")
    origin: Vector = key(NUMBERS, "the corner at the low ends", (0.0, 0.0, 0.0))
    stretching: Vector = key(
        STRENGTHS,
        "a for each direction: vertices at (1 + tanh(a (2 xi - 1)) / tanh a) / 2, narrow at both ends. If a < 0 at"
        " (1 + sinh(a (2 xi - 1)) / sinh a) / 2, narrow in the middle. 0: equal cells",
        (0.0, 0.0, 0.0),
    )
    periodic: tuple[str, ...] = key(AXES, "directions whose two sides are joined", ())

    def problems(self) -> Iterator[BadArgument]:
        for axis, name in enumerate("xyz"):
            if name in self.periodic and self.cells[axis] > 1:
                yield from self.at_least(axis, LEAST, f"which is periodic, or 1: {name} in periodic")

    @property
    def places(self) -> list[np.ndarray]:
        """Vertices along the three edges, as fractions of their lengths."""
        lines = zip(self.cells, self.stretching, strict=True)
        return [in_the_middle(n, -a) if a < 0 else both_ends(n, a) for n, a in lines]

    @property
    def edges(self) -> list[Vector]:
        """Three edges at the corner."""
        a, b, c = self.lengths
        return [(a, 0.0, 0.0), (0.0, b, 0.0), (0.0, 0.0, c)]

    @property
    def translations(self) -> list[Vector]:
        """Translations between joined sides."""
        return [edge for edge, name in zip(self.edges, "xyz", strict=True) if name in self.periodic]


@dataclass(frozen=True, kw_only=True)
class BoxGrid(_Lattice):
    """A box of one or more charts. For tests, cells may be distorted and the indices of charts turned."""

    shape: ClassVar[str] = "box"

    charts: tuple[int, int, int] = key(COUNTS, "number of charts along x, y and z", (1, 1, 1))
    distortion: float = key(
        DISTORTION,
        "a: vertices are moved by a L sin(2 pi x / L_x) sin(2 pi y / L_y) sin(2 pi z / L_z) along each direction, L"
        " being its length. A direction of one cell neither moves nor has a sine",
        0.0,
    )
    turned: bool = key(TRUTH, "turn the indices of each chart by one of the 24 rotations, at random", False)
    seed: int = key(NATURAL, "of these rotations", 0)

    def problems(self) -> Iterator[BadArgument]:
        yield from super().problems()
        for n, (cells, count) in enumerate(zip(self.cells, self.charts, strict=True)):
            if count > 1 and cells < LEAST * count:
                remedy = f"each needs {LEAST}: give at least {LEAST * count} cells along {'xyz'[n]}, or fewer charts"
                yield BadArgument("charts", written(self.charts), f" of {written(self.cells)} cells", remedy)

    def grid(self) -> MultiBlockGrid:
        x = self._vertices()
        cuts = [
            [round(n * part / count) for part in range(count + 1)]
            for n, count in zip(self.cells, self.charts, strict=True)
        ]
        parts = []
        for k, j, i in product(*(range(count) for count in reversed(self.charts))):
            place = (i, j, k)
            ranges = [slice(cuts[a][place[a]], cuts[a][place[a] + 1] + 1) for a in (2, 1, 0)]
            outer = {2 * a + end for a in range(3) for end in (0, 1) if place[a] == end * (self.charts[a] - 1)}
            parts.append(Part(x[:, *ranges].copy(), {SIDES[n]: NAMES[n] for n in sorted(outer)}))
        return assembled(turned(parts, self.seed) if self.turned else parts, self.translations)

    def _vertices(self) -> np.ndarray:
        x, y, z = (o + length * p for o, length, p in zip(self.origin, self.lengths, self.places, strict=True))
        points = np.stack(np.broadcast_arrays(x, y[:, None], z[:, None, None])).astype(float)
        if self.distortion:
            waves = [np.ones(n + 1) if n == 1 else _sine(n) for n in self.cells]
            wave = waves[2][:, None, None] * waves[1][:, None] * waves[0]
            for axis, n in enumerate(self.cells):
                if n > 1:
                    points[axis] += self.distortion * self.lengths[axis] * wave
        return points


def _sine(cells: int) -> np.ndarray:
    wave = np.sin(2 * np.pi * np.arange(cells + 1) / cells)
    wave[[0, -1]] = 0.0  # sides are bitwise unchanged
    return wave


@dataclass(frozen=True, kw_only=True)
class SkewedBox(_Lattice):
    """A box with a tilted second edge: a parallelogram in x and y, extended along z."""

    shape: ClassVar[str] = "skewed-box"

    angle: float = key(ANGLE, "between the first and the second edge, in degrees", 45.0)

    def grid(self) -> MultiBlockGrid:
        p, q, r = self.places
        shape = (r.size, q.size, p.size)
        points = [
            np.broadcast_to(o + a * p + b * q[:, None] + c * r[:, None, None], shape)
            for o, a, b, c in zip(self.origin, *self.edges, strict=True)
        ]
        names = dict(zip(SIDES, NAMES, strict=True))
        return assembled([Part(np.stack(points), names)], self.translations)

    @property
    def edges(self) -> list[Vector]:
        a, b, c = self.lengths
        angle = math.radians(self.angle)
        return [(a, 0.0, 0.0), (b * math.cos(angle), b * math.sin(angle), 0.0), (0.0, 0.0, c)]
