"""Whether patches cover every face of a grid once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from taskflow.errors import BadInput
from taskflow.geometry.grids.grid import SIDES, Chart, Patch
from taskflow.runtime.regions import Box, triple


def rectangles(cells: np.ndarray) -> Iterator[Box]:
    """Boxes, one cell thick, of cells [n, ijk] of one side: of each, rows as long and then as many as may be."""
    low = cells.min(axis=0)
    mask = np.zeros(cells.max(axis=0) - low + 1, bool)
    mask[tuple((cells - low).T)] = True
    while mask.any():
        corner = np.array(np.unravel_index(int(mask.argmax()), mask.shape))
        size = np.array([1, 1, 1])
        for axis in (2, 1, 0):
            while corner[axis] + size[axis] < mask.shape[axis]:
                bigger = size + (np.arange(3) == axis)
                if not mask[_slices(corner, bigger)].all():
                    break
                size = bigger
        mask[_slices(corner, size)] = False
        yield Box(triple((low + corner).tolist()), triple((low + corner + size).tolist()))


def _slices(corner: np.ndarray, size: np.ndarray) -> tuple[slice, ...]:
    return tuple(slice(c, c + s) for c, s in zip(corner.tolist(), size.tolist(), strict=True))


def uncovered(charts: Sequence[Chart], patches: Sequence[Patch]) -> Iterator[BadInput]:
    """Problems with faces that none of the patches covers, or more than one."""
    for chart, block in enumerate(charts):
        for side in SIDES:
            whole = Patch.whole(chart, side, block.cells)
            count = np.zeros(tuple(reversed(whole.cells.shape)), int)
            for patch in patches:
                if (patch.chart, patch.side) == (chart, side):
                    count[patch.cells.slices(whole.cells.lo)] += 1
            for wrong, problem in (
                (count == 0, "are on no seam and no side; add an entry for them"),
                (count > 1, "are covered more than once; remove an entry, or make one smaller"),
            ):
                if wrong.any():
                    places = np.argwhere(wrong)[:, ::-1] + np.array(whole.cells.lo)
                    box = next(rectangles(places))
                    yield BadInput(f"{Patch(chart, side, box)}: these faces {problem}")
