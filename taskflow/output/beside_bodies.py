"""Derivatives beside bodies: one-sided, with the no-slip condition on the faces that cells share with them.

A body shows a fluid cell the image of its own velocity in their common face, as it shows it to eddy viscosities: stair
steps, also of bodies that the equations see where they are. In bodies there is nothing: NaN.
"""

from __future__ import annotations

from dataclasses import dataclass

import xarray as xr

from taskflow.output.averages import widths
from taskflow.output.planes import periodic
from taskflow.output.solid import SOLID


def outside(ds: xr.Dataset, field: xr.DataArray) -> xr.DataArray:
    """The same without values in bodies, as far as the dataset knows of any."""
    solid = bodies(ds)
    return field if solid is None else field.where(~solid)


def bodies(ds: xr.Dataset) -> xr.DataArray | None:
    """Where bodies are, lazily; None where the dataset knows of none."""
    if SOLID not in ds:
        return None
    field = ds[SOLID]
    return (field if field.chunks else field.chunk("auto")) != 0


def derivative_beside(ds: xr.Dataset, plain: xr.DataArray, values: xr.DataArray, axis: str) -> xr.DataArray:
    """The derivative along an axis of `values` in cell centres: `plain` where there is no body beside a cell."""
    solid = bodies(ds)
    if solid is None:
        return plain
    low, high = (_Neighbour.of(ds, solid, values, axis, step) for step in (1, -1))
    before, behind = (values - low.value) / low.distance, (high.value - values) / high.distance
    both = (high.distance * before + low.distance * behind) / (low.distance + high.distance)
    one_sided = before.where(low.there, behind).where(~(low.there & high.there), both)
    return outside(ds, plain.where(~(low.body | high.body), one_sided))


@dataclass(frozen=True, eq=False)
class _Neighbour:
    """What each cell sees on one side: a value, how far away, whether it is of a body, whether there is anything."""

    value: xr.DataArray
    distance: xr.DataArray
    body: xr.DataArray
    there: xr.DataArray

    @classmethod
    def of(cls, ds: xr.Dataset, solid: xr.DataArray, values: xr.DataArray, axis: str, step: int) -> _Neighbour:
        """The next cell before (`step` 1) or behind (-1), round where periodic."""
        dim, size = f"{axis}_c", widths(ds, axis)

        def beside(q: xr.DataArray, beyond: object) -> xr.DataArray:
            if periodic(ds, axis):
                return q.roll({dim: step}, roll_coords=False)
            return q.shift({dim: step}, fill_value=beyond)

        body, there = beside(solid, False), beside(xr.ones_like(solid), False)
        value = beside(values, float("nan")).where(~body, -values)
        distance = ((size + beside(size, float("nan"))) / 2).where(~body, size)
        return cls(value, distance, body, there)
