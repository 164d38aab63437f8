"""The last velocity of a run as the initial one of another, on other cells.

The way to a developed flow need not be gone on the fine ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr


@dataclass(frozen=True, eq=False)
class Interpolated:
    """Values [z, y, x] at places along each axis, and linear between them; constant beyond."""

    places: tuple[np.ndarray, np.ndarray, np.ndarray]
    values: np.ndarray

    def __call__(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """At the points of a grid, whose coordinates are given as `numpy.meshgrid(z, y, x, indexing="ij")` does."""
        found = self.values
        for axis, wanted in enumerate((z[:, 0, 0], y[0, :, 0], x[0, 0, :])):
            found = _along(found, axis, np.interp(wanted, self.places[axis], np.arange(found.shape[axis])))
        return found


def _along(values: np.ndarray, axis: int, at: np.ndarray) -> np.ndarray:
    """Values along one axis at indices that need not be whole."""
    low = np.minimum(at.astype(int), max(values.shape[axis] - 2, 0))
    high = np.minimum(low + 1, values.shape[axis] - 1)
    share = (at - low).reshape([-1 if a == axis else 1 for a in range(3)])
    return np.take(values, low, axis) * (1 - share) + np.take(values, high, axis) * share


def velocity(snapshots: xr.Dataset) -> list[Interpolated]:
    """u, v and w of the last of them, for `initial.velocity`."""
    last = snapshots[["u", "v", "w"]].isel(time=-1).load()
    return [Interpolated(tuple(last[d].values for d in last[a].dims), last[a].values.astype("f4")) for a in "uvw"]
