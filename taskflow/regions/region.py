"""Logical regions: an index space times a field space, without storage or place."""

from __future__ import annotations

from dataclasses import dataclass

from taskflow.regions.box import Box, Triple
from taskflow.regions.fields import FieldSpace


@dataclass(frozen=True, eq=False)
class Region:
    """Fields over the cells of a box.

    `periodic` directions close on themselves. Across the others the region has `ghost` more layers of cells beyond each
    face, the boundary layers, which tasks write like any other cell to impose boundary conditions. Raises ValueError
    where there is no cell or the ghost width is negative.
    """

    cells: Box
    fields: FieldSpace
    periodic: tuple[bool, bool, bool] = (False, False, False)
    ghost: int = 1

    def __post_init__(self) -> None:
        if not self.cells:
            raise ValueError(f"a region needs at least one cell in every direction, not {self.cells.shape}")
        if self.ghost < 0:
            raise ValueError(f"the ghost width is {self.ghost}; it must be 0 or more")

    @property
    def margin(self) -> Triple:
        """Boundary layers beyond each face, per direction: `ghost`, or 0 where periodic."""
        x, y, z = (0 if p else self.ghost for p in self.periodic)
        return x, y, z

    @property
    def bounds(self) -> Box:
        """Every cell that can hold a value of its own: the cells and the boundary layers."""
        return self.cells.expand(self.margin, self.margin)
