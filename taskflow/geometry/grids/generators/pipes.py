"""Round pipes without a pole, a square core and four charts around it, and ducts with a bend, square or round."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from taskflow.common.errors import BadArgument
from taskflow.geometry.grids.generators import spacing
from taskflow.geometry.grids.generators.options import LENGTH, SHARE, TRUTH, GridShape, Kind, key, one_of, written
from taskflow.geometry.grids.generators.round import between, circle, widest
from taskflow.geometry.grids.multiblock.assembly import LEAST, Part, assembled
from taskflow.geometry.grids.multiblock.grid import MultiBlockGrid

BULGE = 0.7  # of the sides of the square: 0 for chords, 1 for arcs, with smaller kinks of grid lines at seams
CORE = 0.6


@dataclass(frozen=True, kw_only=True)
class Pipe(GridShape):
    """A pipe along z as a butterfly grid, with four singular lines along z where three charts meet."""

    shape: ClassVar[str] = "pipe"
    counts: ClassVar[str] = "the side of the square, the way from it to the wall, the axis"

    radius: float = key(LENGTH, "of the pipe", 0.5)
    length: float = key(LENGTH, "from the inlet at z = 0 to the outlet")
    core: float = key(SHARE, "distance of the corners of the square from the axis, as a fraction of the radius", CORE)
    first: float | None = key(LENGTH, "width of the cells at the wall. Default: equal cells", None)
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
    """Yield the five charts [xy, j, i] of a circle about the origin, and True if j_max lies on it.

    A square with corners at `core` times the radius, then the four charts around it, with cells of width `first` at the
    circle.
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
    """Return the slightly curved bottom side [xy, vertex] of the square, with corners at the distance `reach`."""
    corner = reach / math.sqrt(2)
    chord = np.stack([corner * (2 * spacing.equal(cells) - 1), np.full(cells + 1, -corner)])
    arc = reach * np.stack(_arc(cells))
    edge = chord + BULGE * (arc - chord)
    edge[:, 0], edge[:, -1] = (-corner, -corner), (corner, -corner)
    return edge


def _arc(cells: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points of the unit circle below the axis, from left to right."""
    angles = np.pi * (spacing.equal(cells) / 2 - 0.75)
    return np.cos(angles), np.sin(angles)


def _quarter(points: np.ndarray, times: int) -> np.ndarray:
    """Return points [xy, ...] after quarter turns, without rounding."""
    for _ in range(times):
        points = np.stack([-points[1], points[0]])
    return points


def _filled(bottom: np.ndarray, cells: int) -> np.ndarray:
    """Return points [xy, j, i] between the bottom side and its three quarter turns, by transfinite interpolation."""
    right, top, left = _quarter(bottom, 1), _quarter(bottom, 2)[:, ::-1], _quarter(bottom, 3)[:, ::-1]
    s, t = spacing.equal(cells), spacing.equal(cells)[:, None]
    sides = (1 - t) * bottom[:, None] + t * top[:, None] + (1 - s) * left[..., None] + s * right[..., None]
    a, b, c, d = (edge[:, n, None, None] for edge, n in ((bottom, 0), (bottom, -1), (top, 0), (top, -1)))
    points = sides - ((1 - s) * (1 - t) * a + s * (1 - t) * b + (1 - s) * t * c + s * t * d)
    points[:, 0], points[:, -1], points[..., 0], points[..., -1] = bottom, top, left, right
    return np.asarray(points)


BEND = Kind("a number of degrees > 0 and at most 180", {"type": "number", "exclusiveMinimum": 0, "maximum": 180})
PLANE = {"j_min": "outer", "j_max": "inner", "k_min": "ends", "k_max": "ends"}


@dataclass(frozen=True, kw_only=True)
class DuctBend(GridShape):
    """A straight duct along x, a bend from x = 0 in the x-y plane towards y, and a straight duct downstream: three
    charts, or fifteen for a round section, which has five charts. There, cells are counted along the side of the
    central square and from it to the wall. Half of the cells along the axis are in the bend, a quarter upstream and
    the rest downstream, and they grow with the distance from the bend.
    """

    shape: ClassVar[str] = "duct-bend"
    counts: ClassVar[str] = "the axis, the way from the outer to the inner wall, the width"

    section: str = key(one_of("square", "round"), "of the duct", "square")
    side: float = key(LENGTH, "of the square section, or diameter of the round one")
    mean_radius: float = key(LENGTH, "of the bend, on the axis of the duct")
    angle: float = key(BEND, "angle by which the axis turns", 90.0)
    upstream: float = key(LENGTH, "length of the duct before the bend")
    downstream: float = key(LENGTH, "length of the duct after it")
    first: float | None = key(LENGTH, "width of the cells at all walls. Default: equal cells", None)

    @property
    def count(self) -> int:
        along, a, b = self.cells
        return along * a * (b if self.section == "square" else a + 4 * b)

    def problems(self) -> Iterator[BadArgument]:
        yield from self.at_least(0, 4 * LEAST, "as the shorter charts have a quarter")
        if not self.mean_radius > self.side / 2:
            remedy = f"give more than {self.side / 2:g}, half the side, so that the inner wall has a radius"
            yield BadArgument("mean_radius", written(self.mean_radius), "", remedy)
        if self.section == "round":
            for axis in (1, 2):
                yield from self.at_least(axis, LEAST, "across seams")
            yield from widest(self.first, self.side / 2 * (1 - CORE), self.cells[2])
        else:
            yield from widest(self.first, self.side, max(self.cells[1:]))

    def grid(self) -> MultiBlockGrid:
        parts = []
        for end, (axis, inwards) in zip(("i_min", "", "i_max"), self._axis(), strict=True):
            ends = {end: "inlet" if end == "i_min" else "outlet"} if end else {}
            for across, names in self._sections():
                x, y = axis[:, None, None] + inwards[:, None, None] * across[0][..., None]
                points = np.stack(np.broadcast_arrays(x, y, across[1][..., None]))
                parts.append(Part(points, {**names, **ends}))
        return assembled(parts)

    def _sections(self) -> Iterator[tuple[np.ndarray, Mapping[str, str]]]:
        """Yield charts of the section, inward distance and z [., k, j] from the axis, with the names of their sides."""
        _, a, b = self.cells
        half = self.side / 2
        if self.section == "round":
            for points, wall in butterfly(a, b, half, CORE, self.first):
                yield points, {"k_max": "wall"} if wall else {}
            return
        inwards = between((-half, half), a, self.first)
        z = between((-half, half), b, self.first if b > 1 else None)[:, None]
        yield np.stack(np.broadcast_arrays(inwards, z)), PLANE

    def _axis(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield, for the three charts, points on the axis [xy, i] and the directions to the centre of the bend there.
        """
        straight, bend = self.cells[0] // 4, self.cells[0] // 2
        length = self.mean_radius * np.radians(self.angle)
        before = -_away(straight, self.upstream, length / bend)[::-1]
        behind = _away(self.cells[0] - straight - bend, self.downstream, length / bend)
        upwards = np.array([[0.0], [1.0]])
        yield np.stack([before, 0.0 * before]), upwards + 0.0 * before
        cosine, sine = circle(self.angle / 360 * spacing.equal(bend))
        yield self.mean_radius * np.stack([sine, 1 - cosine]), np.stack([-sine, cosine])
        c, s = cosine[-1], sine[-1]
        end = self.mean_radius * np.array([[s], [1 - c]])
        yield end + np.array([[c], [s]]) * behind, np.array([[-s], [c]]) + 0.0 * behind


def _away(cells: int, length: float, first: float) -> np.ndarray:
    """Return distances from the bend, with cells that grow from the cell length in it."""
    return length * spacing.with_first(spacing.geometric, cells, first / length)
