"""A channel over waves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from taskflow.errors import BadArgument
from taskflow.geometry.grids import spacing
from taskflow.geometry.grids.assembled import LEAST, Part, assembled
from taskflow.geometry.grids.grid import MultiBlockGrid
from taskflow.geometry.grids.keys import LENGTH, NOT_NEGATIVE, STRENGTH, key, written
from taskflow.geometry.grids.round import AXIAL, Ends, circle


@dataclass(frozen=True, kw_only=True)
class WavyChannel(Ends):
    """One wave of a channel whose lower wall is y = A cos(2 pi x / L), the upper one flat; it is periodic along x."""

    shape: ClassVar[str] = "wavy-channel"
    counts: ClassVar[str] = "the wave, the height, the span"

    wavelength: float = key(LENGTH, "of the lower wall, L")
    amplitude: float = key(NOT_NEGATIVE, "of the lower wall, A: from its mean, y = 0, to a crest")
    height: float = key(LENGTH, "of the upper wall over that mean")
    clustering: float = key(
        STRENGTH, "a: heights at (1 + tanh(a (2 xi - 1)) / tanh a) / 2, narrow at both walls; 0: equal cells", 0.0
    )
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
        z = self.span * spacing.equal(self.cells[2])[:, None, None]
        points = np.stack(np.broadcast_arrays(self.wavelength * along, y, z))
        names = {"j_min": "lower", "j_max": "upper", "k_min": "ends", "k_max": "ends"}
        ways = [(self.wavelength, 0.0, 0.0), *([(0.0, 0.0, self.span)] if self.periodic else [])]
        return assembled([Part(points, names)], ways)
