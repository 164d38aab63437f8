"""The surroundings of a wing section and its wake."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np

from taskflow.errors import BadArgument, BadInput
from taskflow.geometry.grids import spacing
from taskflow.geometry.grids.assembled import LEAST
from taskflow.geometry.grids.grid import MultiBlockGrid
from taskflow.geometry.grids.keys import LENGTH, SIZE, TEXT, key, written
from taskflow.geometry.grids.problems import BadGrid
from taskflow.geometry.grids.round import AXIAL, Ends, widest
from taskflow.geometry.grids.section import Section, Surface, file_of, section

CLUSTERING = 2.0  # of the vertices on each surface, at both of its ends
FAN = 0.5  # how much of the turn of lines follows their number, and not the normal of the surface


@dataclass(frozen=True, kw_only=True)
class CGrid(Ends):
    """The surroundings of a wing section, in three charts: the wake below, the section, the wake above. The leading
    edge of the section is at the origin, its trailing edge on the x axis, along which both wakes are joined. Lines
    outwards are straight and of one length; a section that is symmetric has a grid that is, to the bit.
    """

    shape: ClassVar[str] = "c-grid"
    counts: ClassVar[str] = "the way round from outlet to outlet, the way outwards, the span"

    section: str = key(
        TEXT,
        'NACA\'s four digits, as "naca0012", the trailing edge closed; or a file with suffix: two numbers a line, x and'
        " y, from the trailing edge over the upper surface and back below, to the same point",
        "naca0012",
    )
    chord: float = key(LENGTH, "of the section", 1.0)
    far: float = key(LENGTH, "length of the lines outwards, from the section and its wake")
    wake: float = key(LENGTH, "length of the wake, along which a quarter of the cells round lies on each side")
    first: float | None = key(
        SIZE,
        "length of the first cells on the lines outwards, further out lengths grow by a ratio; without it, that of the"
        " cells at the trailing edge",
        None,
    )
    span: float = key(LENGTH, AXIAL, 1.0)

    def problems(self) -> Iterator[BadArgument]:
        yield from super().problems()
        yield from self.at_least(0, 4 * LEAST, "as a quarter of it is the wake")
        yield from self.at_least(1, LEAST, "across the seam in the wake")
        if self.cells[0] % 2:
            remedy = "give an even number along the first, so that a vertex lies on the leading edge"
            yield BadArgument("cells", written(self.cells), "", remedy)
        try:
            section(self.section)
        except BadInput as error:
            yield BadArgument("section", written(self.section), "", str(error))
            return
        yield from widest(self.first, self.far, self.cells[1])
        if self.cells[0] >= 4 * LEAST and self.wake < self._parts[1] * self._last:
            least = f"{self._parts[1] * self._last:.4g}"
            remedy = f"give at least {least}, for {self._parts[1]} cells as long as those at the trailing edge"
            yield BadArgument("wake", written(self.wake), "", f"{remedy}, or more cells")

    @property
    def files(self) -> tuple[Path, ...]:
        path = file_of(self.section)
        return (path,) if path else ()

    @property
    def _parts(self) -> tuple[int, int]:
        """How many cells lie along either surface, and along either side of the wake."""
        wake = self.cells[0] // 4
        return self.cells[0] // 2 - wake, wake

    @cached_property
    def _section(self) -> Section:
        return section(self.section)

    @cached_property
    def _shares(self) -> np.ndarray:
        return spacing.both_ends(self._parts[0], CLUSTERING)

    @cached_property
    def _last(self) -> float:
        """Length of the longer one of both cells at the trailing edge."""
        surfaces = (self._section.upper, self._section.lower)
        ends = [surface.at(self._shares[-2:])[0] for surface in surfaces]
        return self.chord * max(float(np.hypot(*(end[:, 1] - end[:, 0]))) for end in ends)

    def grid(self) -> MultiBlockGrid:
        (above, over), (below, under) = (self._half(s) for s in (self._section.upper, self._section.lower))
        below[1], under[1] = 0.0 - below[1], 0.0 - under[1]
        around = np.concatenate([below[..., :0:-1], above], axis=2)
        far, body = {"j_max": "far"}, {"j_min": "body", "j_max": "far"}
        charts = [(*under[..., ::-1], {"i_min": "outlet", **far}), (*around, body), (*over, {"i_max": "outlet", **far})]
        try:
            return self.extended(charts, self.span)
        except BadGrid:
            remedy = "lines outwards meet, cells turn inside out; give one with less camber, or a grid from a file"
            raise BadGrid([BadArgument("section", written(self.section), "", remedy)]) from None

    def _half(self, surface: Surface) -> tuple[np.ndarray, np.ndarray]:
        """The vertices [xy, j, i] over a surface, and over the wake behind it."""
        points, turned = surface.at(self._shares)
        least = np.minimum.accumulate(np.clip(turned, 0, np.pi / 2))  # lines never meet
        number = spacing.equal(self._parts[0])
        angle = (1 - FAN) * least + FAN * (np.pi / 2) * (1 - np.sin(np.pi / 2 * number))
        lines = np.stack([0.0 - np.sin(angle), np.cos(angle)])
        lines[:, 0], lines[:, -1] = (-1.0, 0.0), (0.0, 1.0)

        first = self.first or min(self._last, self.far / self.cells[1])
        away = self.far * spacing.with_first(spacing.geometric, self.cells[1], first / self.far)[:, None]
        body = self.chord * points[:, None] + lines[:, None] * away
        behind = self.chord + self.wake * spacing.with_first(spacing.geometric, self._parts[1], self._last / self.wake)
        return body, np.stack(np.broadcast_arrays(behind, away))
