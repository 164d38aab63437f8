"""A channel that becomes wider at a step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from taskflow.errors import BadArgument
from taskflow.geometry.grids import spacing
from taskflow.geometry.grids.assembled import LEAST
from taskflow.geometry.grids.grid import MultiBlockGrid
from taskflow.geometry.grids.keys import LENGTH, NOT_NEGATIVE, SIZE, STRENGTH, key, written
from taskflow.geometry.grids.round import AXIAL, Ends, widest

NEAR = 3  # two charts lie behind the step for one part in so many of the cells, one lies further downstream


@dataclass(frozen=True, kw_only=True)
class Step(Ends):
    """A channel with a step down at x = 0, its corner at the origin: two charts behind the step, one above the other,
    one downstream of both, and one in the channel before it, if there is one.
    """

    shape: ClassVar[str] = "step"
    counts: ClassVar[str] = "the way behind the step, the height from the lower wall to the upper one, the span"

    height: float = key(LENGTH, "of the step", 1.0)
    channel: float = key(LENGTH, "height of the channel before the step", 1.0)
    downstream: float = key(LENGTH, "length behind the step")
    upstream: float = key(NOT_NEGATIVE, "length of that channel; 0: the inlet is at the step", 0.0)
    first: float | None = key(SIZE, "length of the cells at the step; equal cells without it", None)
    clustering: float = key(
        STRENGTH, "a: heights, below the corner and above, at (1 + tanh(a (2 xi - 1)) / tanh a) / 2; 0: equal", 0.0
    )
    span: float = key(LENGTH, AXIAL, 1.0)

    def problems(self) -> Iterator[BadArgument]:
        yield from super().problems()
        yield from self.at_least(0, NEAR * LEAST, "as two charts share a third of it")
        yield from widest(self.first, self.downstream, self.cells[0])
        below = self._below
        if min(below, self.cells[1] - below) < LEAST:
            remedy = f"{below} lie below the corner, {self.cells[1] - below} above; give more, for {LEAST} in each part"
            yield BadArgument("cells", written(self.cells), "", remedy)
        if self.upstream and self._before < LEAST:
            least = self.downstream * LEAST / self.cells[0]
            remedy = f"give 0, or at least {least:.4g} for {LEAST} cells"
            yield BadArgument("upstream", written(self.upstream), "", remedy)

    @property
    def _below(self) -> int:
        return round(self.cells[1] * self.height / (self.height + self.channel))

    @property
    def _before(self) -> int:
        return round(self.cells[0] * self.upstream / self.downstream)

    def grid(self) -> MultiBlockGrid:
        behind, cut = self._along(self.cells[0], self.downstream), self.cells[0] // NEAR
        below = self.height * (spacing.both_ends(self._below, self.clustering) - 1)
        above = self.channel * spacing.both_ends(self.cells[1] - self._below, self.clustering)
        near, far = behind[: cut + 1], behind[cut:]
        sections = [
            (near, below, {"i_min": "step", "j_min": "lower"}),
            (near, above, {"i_min": "inlet", "j_max": "upper"}),
            (far, np.concatenate([below, above[1:]]), {"i_max": "outlet", "j_min": "lower", "j_max": "upper"}),
        ]
        if self.upstream:
            before = -self._along(self._before, self.upstream)[::-1]
            sections.append((before, above, {"i_min": "inlet", "j_min": "lower", "j_max": "upper"}))
        return self.extended([(x, y[:, None], names) for x, y, names in sections], self.span)

    def _along(self, cells: int, length: float) -> np.ndarray:
        if self.first is None or self.first > length / cells:
            return length * spacing.equal(cells)
        return length * spacing.with_first(spacing.one_end, cells, self.first / length)
