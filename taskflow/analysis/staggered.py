"""Grid of a dataset for xgcm, with extensions: faces not midway between centres, boundaries, integrals from the low
end.

Beyond boundaries no values are known.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from taskflow.analysis.conditions import around, known_conditions, other_faces
from taskflow.common.errors import BadInput
from taskflow.output.store.layout import between_centres
from taskflow.output.store.metadata import metric_name
from taskflow.output.store.reading import edges, periodic

try:
    import xgcm
    from xgcm.axis import Axis
except ImportError as error:
    raise BadInput(f'ds.flow.grid() needs xgcm ({error}); pip install "taskflow-cfd[analysis]"') from error


def staggered(ds: xr.Dataset) -> Staggered:
    """Return the grid of snapshots, planes or statistics, or a part of them, with axes X, Y, Z.

    Axes have the positions center and outer (n + 1 faces), center and left for a complete periodic direction, or only
    center for one layer of cells. Raises BadInput for anything else along an axis.
    """
    positions: dict[str, dict[str, str]] = {}
    places: dict[str, xr.Variable] = {}
    metrics: dict[str, tuple[str, np.ndarray]] = {}
    for axis in "xyz":
        centres, faces = f"{axis}_c", f"{axis}_f"
        if centres not in ds.dims:
            continue
        if faces not in ds.dims:
            raise BadInput(f"{faces} is not in this dataset, so that sizes of cells are not known; keep it in there")
        closed = periodic(ds, axis) and _whole(ds, axis)
        layer = not closed and ds.sizes[centres] == ds.sizes[faces] == 1
        sizes = _sizes(ds, axis, closed or layer)
        distances = {centres: sizes} if layer else {centres: sizes, faces: between_centres(sizes, closed)}
        places |= {dim: ds[dim].variable for dim in distances}
        metrics |= {metric_name(dim): (dim, values) for dim, values in distances.items()}
        positions[axis.upper()] = dict(zip(("center", "left" if closed else "outer"), distances, strict=False))
    if not positions:
        raise BadInput("this dataset has no cells; give snapshots, planes or statistics")
    return Staggered(xr.Dataset(metrics, places), positions)


def _whole(ds: xr.Dataset, axis: str) -> bool:
    """Return True if a dataset without a last face has all cells of a periodic direction, as far as known."""
    known = known_conditions(ds)
    if known is None:
        return True
    return known.sides[f"{axis}_min"].type == "periodic" and known.cells["xyz".index(axis)] == ds.sizes[f"{axis}_c"]


def _sizes(ds: xr.Dataset, axis: str, open_ended: bool) -> np.ndarray:
    """Return the size of each cell along an axis. Raises BadInput if faces do not match the cells."""
    sizes = np.diff(edges(ds, axis))
    if ds.sizes[f"{axis}_f"] == len(sizes) + (not open_ended) and sizes.min() > 0 and around(ds, axis):
        return sizes
    raise other_faces(ds, axis)


class Staggered(xgcm.Grid):
    """Grid with operators that are exact for linear functions on cells of any size.

    Operators wrap around periodic directions. At other ends, results that depend on outside values are NaN, unless
    `padding` and `fill_value` are given. A padded value is located on the end itself: `interp` returns it there, and
    `derivative` the one-sided difference.
    """

    def __init__(self, metrics: xr.Dataset, positions: dict[str, dict[str, str]]) -> None:
        padding = {axis: "periodic" if "left" in dims else "fill" for axis, dims in positions.items()}
        super().__init__(
            metrics,
            coords=positions,
            padding=padding,
            metrics={(axis,): [metric_name(dim) for dim in dims.values()] for axis, dims in positions.items()},
            autoparse_metadata=False,
        )
        # As fill_value of the grid it would warn that NaN will be the default one; filters are the whole process's.
        for axis, dims in positions.items():
            self.axes[axis] = Axis(metrics, axis, dims, padding=padding[axis], fill_value=np.nan)
        self._shares = {axis: _share(metrics, dims) for axis, dims in positions.items() if len(dims) > 1}

    def interp(self, da: xr.DataArray, axis: Any, **options: Any) -> xr.DataArray:
        """Interpolate linearly to the other position of each axis. With `metric_weighted` as xgcm does."""
        for name in [axis] if isinstance(axis, str) else axis:
            da = self._linear(da, name, **options)
        return da

    def _linear(self, da: xr.DataArray, axis: str, **options: Any) -> xr.DataArray:
        mean = super().interp(da, axis, **options)
        share = self._shares.get(axis)
        if share is None or share.dims[0] not in mean.dims or options.get("metric_weighted"):
            return mean
        shift = super().diff(da, axis, **options) * share.astype(mean.dtype)
        return (mean + shift).rename(mean.name).assign_attrs(mean.attrs)

    def cumsum(self, da: xr.DataArray, axis: Any, **options: Any) -> xr.DataArray:
        """Return the cumulative sum from the low end, 0 there.

        Raises BadInput for values on the faces across a periodic direction, where sums over half a cell would be
        missing.
        """
        for name in [axis] if isinstance(axis, str) else axis:
            if self.axes[name].coords.get("left") in da.dims:
                raise BadInput(f"axis = {name!r}: sums begin at a face; give values in centres, as of grid.interp")
        return super().cumsum(da, axis, **{"padding": "fill", "fill_value": 0.0, **options})


def _share(metrics: xr.Dataset, dims: dict[str, str]) -> xr.DataArray:
    """Return the fraction of the difference across each face to add to the mean, 0 for equal cells.

    It is (before - after) / (before + after) / 2, with the sizes of the cells on both sides.
    """
    centres, faces = dims.values()
    sizes, distances = metrics[metric_name(centres)].values, metrics[metric_name(faces)].values
    behind = np.concatenate([sizes, np.zeros(len(distances) - len(sizes))])
    return xr.DataArray((distances - behind) / (2 * distances), dims=faces)
