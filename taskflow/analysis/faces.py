"""Values and derivatives on faces across an axis, also at walls and bodies, and derivatives in cells.

Every quantity is 0 on bodies, as are velocities and fluctuations: stair steps, as for all derivatives
(`taskflow.analysis.derived`). At an end of the axis it has a given value, or the value of the cell, in openings their
own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import xarray as xr

from taskflow.analysis.conditions import conditions, mask, on_parts
from taskflow.analysis.derived import bodies
from taskflow.common.caching import cached_property
from taskflow.output.store.conditions import BoundarySide
from taskflow.output.store.reading import periodic, widths

End = list[tuple[xr.DataArray | None, float | None]]  # of a side, then of its openings with the mask of their faces
Ends = tuple[End, End]


@dataclass(frozen=True, eq=False)
class FaceValues:
    """Faces across an axis, of all cells of a dataset."""

    ds: xr.Dataset
    axis: str

    @property
    def dim(self) -> str:
        return f"{self.axis}_c"

    def velocities(self, number: int) -> Ends:
        """Return a velocity component at both ends, None without a wall."""
        return self._ends(lambda side: None if side.velocity is None else side.velocity[number])

    @property
    def still(self) -> Ends:
        """Energy of fluctuations at both ends: 0 at walls, NaN at walls of varying velocity, None elsewhere."""
        return self._ends(lambda side: None if side.velocity is None else 0.0 * math.hypot(*side.velocity))

    @property
    def tight(self) -> Ends:
        """Flux of fluctuations through both ends: None at inflow and outflow, else 0."""
        return self._ends(lambda side: None if side.permeable else 0.0)

    def on_faces(self, q: xr.DataArray, ends: Ends) -> xr.DataArray:
        """Return a quantity on all faces, linear between centres, with given values or the cell's at the ends."""
        low, high = self._beside(q)
        behind, ahead = self._beside(self._half)
        inner = (low * ahead + high * behind) / (behind + ahead)
        if self._solid is not None:
            before, after = self._beside(self._solid)
            inner = inner.where(~(before | after), 0.0)
        first, last = (on_parts(end, lambda value: q if value is None else xr.full_like(q, value)) for end in ends)
        return self._closed(inner, first, last)

    def rise(self, q: xr.DataArray, ends: Ends) -> xr.DataArray:
        """Return the derivative on all faces.

        At bodies, and at ends with a value, it is the derivative of a parabola through the value and two cells. At
        other ends it is 0.
        """
        low, high = self._beside(q)
        behind, ahead = self._beside(self._half)
        inner = (high - low) / (behind + ahead)
        if self._solid is not None:
            before, after = self._beside(self._solid)
            _, upwards = self._beside(self._from_wall(q, 0.0, 1))
            downwards, _ = self._beside(self._from_wall(q, 0.0, -1))
            inner = inner.where(~before, upwards).where(~after, -downwards)
        low_end, high_end = ends
        first = on_parts(low_end, lambda value: self._from_wall(q, value, 1))
        last = on_parts(high_end, lambda value: self._from_wall(q, value, -1))
        return self._closed(inner, first, -last)

    def slope(self, faces: xr.DataArray) -> xr.DataArray:
        """Return the derivative in cells of a quantity on all faces."""
        return faces.diff(self.dim).assign_coords({self.dim: self.ds[self.dim]}) / widths(self.ds, self.axis)

    def _from_wall(self, q: xr.DataArray, value: float | None, step: int) -> xr.DataArray:
        """Return the inward derivative at the low (`step` 1) or high (-1) face of each cell with this value on it.

        If the next cell is a body, the value on the opposite face is 0. Without a value the result is 0.
        """
        if value is None:
            return xr.zeros_like(q)
        near = self._half
        far, beyond = 2 * near + self._next(near, step), self._next(q, step)
        if self._solid is not None:
            body = self._next(self._solid, step)
            far, beyond = far.where(~body, 2 * near), beyond.where(~body, 0.0)
        return (far**2 * (q - value) - near**2 * (beyond - value)) / (near * far * (far - near))

    def _next(self, q: xr.DataArray, step: int) -> xr.DataArray:
        """Return the values of the next cell up (1) or down (-1), or at an end of the cell itself."""
        count = q.sizes[self.dim]
        n = np.arange(count) + step
        places = n % count if periodic(self.ds, self.axis) else np.clip(n, 0, count - 1)
        return q.isel({self.dim: places}).assign_coords({self.dim: self.ds[self.dim]})

    @cached_property
    def _solid(self) -> xr.DataArray | None:
        return bodies(self.ds)

    @property
    def _half(self) -> xr.DataArray:
        """Half the size of each cell."""
        return widths(self.ds, self.axis) / 2

    def _ends(self, of: Callable[[BoundarySide], float | None]) -> Ends:
        """Return a value of the conditions at both ends."""
        known = conditions(self.ds)

        def end(name: str) -> End:
            return [(None, of(known.sides[name])), *((mask(self.ds, one), of(one)) for one in known.openings_in(name))]

        return end(f"{self.axis}_min"), end(f"{self.axis}_max")

    def _beside(self, q: xr.DataArray) -> tuple[xr.DataArray, xr.DataArray]:
        """Return the values before and after each inner face. Periodic directions wrap around."""
        count = q.sizes[self.dim]
        first = np.arange(count) - 1 if periodic(self.ds, self.axis) else np.arange(count - 1)
        low, high = (q.isel({self.dim: n % count}).drop_vars(self.dim) for n in (first, first + 1))
        return low, high

    def _closed(self, inner: xr.DataArray, first: xr.DataArray, last: xr.DataArray) -> xr.DataArray:
        """Add the faces at the ends: periodic, or with the values of a first and a last cell."""
        if periodic(self.ds, self.axis):
            return xr.concat([inner, inner.isel({self.dim: [0]})], self.dim)
        low, high = (q.isel({self.dim: [n]}).drop_vars(self.dim) for n, q in ((0, first), (-1, last)))
        return xr.concat([low, inner, high], self.dim)
