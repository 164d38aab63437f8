"""The lengths beside the interface by which the kernels of the level set go."""

from __future__ import annotations

from dataclasses import dataclass

from taskflow.flow.grid import Grid


@dataclass(frozen=True)
class Band:
    """Lengths beside the interface: half the `width` over which the density changes; up to which distance differences
    are of fifth order (`weno`), there is a curvature, and it is taken from the `foot` on the interface; the largest
    curvature, the step `tau` of the iteration that makes phi a distance, and phi `beyond` an inflow of phase 1.
    """

    width: float
    weno: float
    curvature: float
    foot: float
    most: float
    tau: float
    beyond: float

    @classmethod
    def of(cls, grid: Grid, thickness: float) -> Band:
        """For a width of so many spacings."""
        large, small = max(grid.spacing), min(grid.spacing)
        return cls(thickness * large, 6 * large, 4.5 * large, 2.5 * large, 1 / small, 0.5 * small, 3 * large)
