"""Channels: with a step, with a wavy wall, and with a bifurcation."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from taskflow.common.errors import BadArgument
from taskflow.geometry.grids.generators import spacing
from taskflow.geometry.grids.generators.options import ANGLE, LENGTH, LENGTHS, NOT_NEGATIVE, STRENGTH, key, written
from taskflow.geometry.grids.generators.round import AXIAL, Ends, circle, widest
from taskflow.geometry.grids.multiblock.assembly import LEAST
from taskflow.geometry.grids.multiblock.grid import MultiBlockGrid

NEAR = 3  # two charts behind the step share 1 / NEAR of the cells, one is further downstream


@dataclass(frozen=True, kw_only=True)
class Step(Ends):
    """A channel with a downward step at x = 0 and its corner at the origin: two charts downstream of the step,
    one above the other, one downstream of both, and one in the channel upstream, if it has any length.
    """

    shape: ClassVar[str] = "step"
    counts: ClassVar[str] = "the way downstream of the step, the height from the lower wall to the upper one, the span"

    height: float = key(LENGTH, "of the step", 1.0)
    channel: float = key(LENGTH, "height of the channel before the step", 1.0)
    downstream: float = key(LENGTH, "length downstream of the step")
    upstream: float = key(NOT_NEGATIVE, "length of that channel. 0: the inlet is at the step", 0.0)
    first: float | None = key(LENGTH, "length of the cells at the step. Default: equal cells", None)
    clustering: float = key(STRENGTH, "of heights, below the corner and above, as `stretching` of `box`", 0.0)
    span: float = key(LENGTH, AXIAL, 1.0)

    @property
    def count(self) -> int:
        along, up, span = self.cells
        return (along * up + self._before * (up - self._below)) * span

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


@dataclass(frozen=True, kw_only=True)
class WavyChannel(Ends):
    """One wave of a channel with the lower wall y = A cos(2 pi x / L) and a flat upper wall, periodic along x."""

    shape: ClassVar[str] = "wavy-channel"
    counts: ClassVar[str] = "the wave, the height, the span"

    wavelength: float = key(LENGTH, "of the lower wall, L")
    amplitude: float = key(NOT_NEGATIVE, "of the lower wall, A: from its mean, y = 0, to a crest")
    height: float = key(LENGTH, "of the upper wall over that mean")
    clustering: float = key(STRENGTH, "of heights, as `stretching` of `box`, narrow at both walls", 0.0)
    span: float = key(LENGTH, AXIAL, 1.0)

    def problems(self) -> Iterator[BadArgument]:
        yield from super().problems()
        yield from self.at_least(0, LEAST, "which is periodic")
        if not self.amplitude < self.height:
            remedy = f"give less than the height {self.height:g}, so that crests do not touch the upper wall"
            yield BadArgument("amplitude", written(self.amplitude), "", remedy)

    def grid(self) -> MultiBlockGrid:
        along, up = spacing.equal(self.cells[0]), spacing.both_ends(self.cells[1], self.clustering)
        low = self.amplitude * circle(along)[0]
        y = low + (self.height - low) * up[:, None]
        y[-1] = self.height
        names = {"j_min": "lower", "j_max": "upper"}
        return self.extended([(self.wavelength * along, y, names)], self.span, (self.wavelength, 0.0, 0.0))


STEEPEST = 2.0  # of the seam between channel and branch: along the channel, over across it
HALVES = ("upper", "lower")


@dataclass(frozen=True, kw_only=True)
class Bifurcation(Ends):
    """A channel along x that divides at the origin into two straight branches, each at half the angle to x: two charts
    of the channel, above and below the x axis, and one chart per branch. The channel is divided in proportion to the
    widths of the branches. Outer walls meet in corners, from which seams lead to the origin.
    """

    shape: ClassVar[str] = "bifurcation"
    counts: ClassVar[str] = "the way from the inlet to either outlet, the width of the channel, the span"

    widths: tuple[float, float, float] = key(LENGTHS, "of the channel, of the upper branch and of the lower one")
    angle: float = key(ANGLE, "between both branches, in degrees")
    upstream: float = key(LENGTH, "length of the channel before the origin")
    downstream: float = key(LENGTH, "length of the inner walls of both branches")
    clustering: float = key(
        STRENGTH,
        "of widths of either half, as `stretching` of `box`, narrow at both ends",
        0.0,
    )
    span: float = key(LENGTH, AXIAL, 1.0)

    def problems(self) -> Iterator[BadArgument]:
        yield from super().problems()
        yield from self.at_least(1, 2 * LEAST, f"{LEAST} for each half")
        if min(self._along) < LEAST:
            before, behind = self._along
            remedy = f"{before} lie before the origin, {behind} after it; give more, for {LEAST} in each part"
            yield BadArgument("cells", written(self.cells), "", remedy)
        for half, name in enumerate(HALVES):
            (x, y), begin = self._corner(half)
            if abs(x) > STEEPEST * y or x <= -self.upstream or begin >= self.downstream:
                remedy = (
                    f"the outer wall of the {name} branch begins at x = {x:.4g}, {y:.4g} from the axis, too far for a"
                    f" seam to the origin; give it a width near {y * math.cos(self._half):.4g}, another angle or longer"
                    " channels"
                )
                yield BadArgument("widths", written(self.widths), "", remedy)

    @property
    def _half(self) -> float:
        return math.radians(self.angle / 2)

    @property
    def _along(self) -> tuple[int, int]:
        """Numbers of cells along the channel, and along either branch."""
        before = round(self.cells[0] * self.upstream / (self.upstream + self.downstream))
        return before, self.cells[0] - before

    def _corner(self, half: int) -> tuple[tuple[float, float], float]:
        """Return the corner between the outer walls of a branch and the channel, with y > 0.

        Also return its distance from the origin along the branch.
        """
        channel, width, other = self.widths[0], self.widths[1 + half], self.widths[2 - half]
        y = channel * width / (width + other)
        begin = (y - width * math.cos(self._half)) / math.sin(self._half)
        return (begin * math.cos(self._half) - width * math.sin(self._half), y), begin

    def grid(self) -> MultiBlockGrid:
        upper, lower = (self._charts(half) for half in (0, 1))
        below = [np.stack([x[::-1], 0.0 - y[::-1]]) for x, y in lower]
        names = [
            {"i_min": "inlet", "j_max": "walls"},
            {"i_min": "inlet", "j_min": "walls"},
            {"i_max": "outlet_1", "j_min": "walls", "j_max": "walls"},
            {"i_max": "outlet_2", "j_min": "walls", "j_max": "walls"},
        ]
        charts = (upper[0], below[0], upper[1], below[1])
        return self.extended([(*chart, own) for chart, own in zip(charts, names, strict=True)], self.span)

    def _charts(self, half: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the vertices [xy, j, i] of half of the channel and of its branch, with y > 0."""
        across = self.cells[1] // 2 if half == 0 else self.cells[1] - self.cells[1] // 2
        share = spacing.both_ends(across, self.clustering)[:, None]
        before, behind = (spacing.equal(n) for n in self._along)
        (corner, y), begin = self._corner(half)
        channel = -self.upstream + (self.upstream + corner * share) * before
        along, out = begin * share + (self.downstream - begin * share) * behind, self.widths[1 + half] * share
        c, s = math.cos(self._half), math.sin(self._half)
        branch = np.stack([c * along - s * out, s * along + c * out])
        branch[:, :, 0] = np.stack([corner * share[:, 0], y * share[:, 0]])  # bitwise the end of the channel
        channel[:, -1] = corner * share[:, 0]
        return np.stack(np.broadcast_arrays(channel, y * share)), branch
