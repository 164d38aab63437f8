"""A duct with a bend, square or round."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from taskflow.errors import BadArgument
from taskflow.geometry.grids import spacing
from taskflow.geometry.grids.assembled import LEAST, Part, assembled
from taskflow.geometry.grids.grid import MultiBlockGrid
from taskflow.geometry.grids.keys import LENGTH, SIZE, GridShape, Kind, key, number, one_of, written
from taskflow.geometry.grids.pipe import CORE, butterfly
from taskflow.geometry.grids.round import between, circle, widest

BEND = Kind(
    "a number of degrees > 0 and at most 180",
    number(0, np.nextafter(180, 181)),
    {"type": "number", "exclusiveMinimum": 0, "maximum": 180},
)
PLANE = {"j_min": "outer", "j_max": "inner", "k_min": "ends", "k_max": "ends"}


@dataclass(frozen=True, kw_only=True)
class DuctBend(GridShape):
    """A straight duct along x, a bend from x = 0 in the plane of x and y towards y, and a straight duct behind it:
    three charts, or fifteen, of five across a round section. In that the cells are counted along the side of the square
    in its middle, and from there to the wall. Half of the cells along the axis lie in the bend, a quarter before it and
    the others behind it, the longer the farther away.
    """

    shape: ClassVar[str] = "duct-bend"
    counts: ClassVar[str] = "the axis, the way from the outer to the inner wall, the width"

    section: str = key(one_of("square", "round"), "of the duct", "square")
    side: float = key(LENGTH, "of the square section, or diameter of the round one")
    mean_radius: float = key(LENGTH, "of the bend, that of the axis of the duct")
    angle: float = key(BEND, "by which the axis turns", 90.0)
    upstream: float = key(LENGTH, "length of the duct before the bend")
    downstream: float = key(LENGTH, "length of the duct behind it")
    first: float | None = key(SIZE, "width of the cells at all walls; equal cells without it", None)

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
        """Charts of the section: the way inwards and z [., k, j] from the axis, with the names of their sides."""
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
        """Points on the axis [xy, i], and the direction towards the centre of the bend there, of the three charts."""
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
    """Distances from the bend: the cells grow from the length of those in it."""
    return length * spacing.with_first(spacing.geometric, cells, first / length)
