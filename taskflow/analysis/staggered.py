"""The grid of a dataset for xgcm, with what xgcm does not do: faces that are not midway between centres, boundaries
beyond which nothing is known, integrals from the low end.
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
    """Return the grid of snapshots, planes or statistics, or of a part of them, with axes X, Y, Z.

    Axes have the positions center and outer (n + 1 faces), or center and left where the dataset has all of a periodic
    direction; only center where it has one layer of cells. All else along an axis raises BadInput.
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
    """Return whether a dataset without a last face has all cells of a periodic direction, as far as it can tell."""
    known = known_conditions(ds)
    if known is None:
        return True
    return known.sides[f"{axis}_min"].type == "periodic" and known.cells["xyz".index(axis)] == ds.sizes[f"{axis}_c"]


def _sizes(ds: xr.Dataset, axis: str, open_ended: bool) -> np.ndarray:
    """Return the size of each cell along an axis. Raises BadInput where faces are not those of the cells."""
    sizes = np.diff(edges(ds, axis))
    if ds.sizes[f"{axis}_f"] == len(sizes) + (not open_ended) and sizes.min() > 0 and around(ds, axis):
        return sizes
    raise other_faces(ds, axis)


class Staggered(xgcm.Grid):
    """A grid that is exact for linear functions on cells of any size.

    Round periodic directions operators go on. At other ends what depends on a value beyond is NaN, unless `padding` and
    `fill_value` say otherwise: a padded value counts as one on the end itself, where `interp` then has it, and
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
        """Interpolate to the other position of each axis, linear between the two values beside it. With
        `metric_weighted` xgcm's mean of weighted values.
        """
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
        """Return the sum from the low end on, 0 there. Raises BadInput for values on the faces across a periodic
        direction, where sums over half a cell would be missing.
        """
        for name in [axis] if isinstance(axis, str) else axis:
            if self.axes[name].coords.get("left") in da.dims:
                raise BadInput(f"axis = {name!r}: sums begin at a face; give values in centres, as of grid.interp")
        return super().cumsum(da, axis, **{"padding": "fill", "fill_value": 0.0, **options})


def _share(metrics: xr.Dataset, dims: dict[str, str]) -> xr.DataArray:
    """Return the share of the difference across each face that is to be added to the mean: (before - behind) / (before
    + behind) / 2, with the sizes of the cells on both sides; 0 where they are alike.
    """
    centres, faces = dims.values()
    sizes, distances = metrics[metric_name(centres)].values, metrics[metric_name(faces)].values
    behind = np.concatenate([sizes, np.zeros(len(distances) - len(sizes))])
    return xr.DataArray((distances - behind) / (2 * distances), dims=faces)
