"""`ds.flow`: everything that `taskflow.analysis` and `taskflow.plots` answer, as methods of a dataset of a run, or of a
tree of datasets where the run is on charts.

Datasets have it from `import taskflow` on, by `taskflow.accessor.registration`, which loads this module when `flow` is
first asked for. It stands above both rooms, for one of its methods draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import xarray as xr

from taskflow.analysis import derived, energy_budget, profiles, spectra
from taskflow.analysis.charts import derived as on_charts
from taskflow.analysis.charts.metrics import with_volumes
from taskflow.analysis.charts.sides import side
from taskflow.analysis.planes import plane_of
from taskflow.common.errors import BadInput
from taskflow.output import at_time, dataset, has_charts, tree

if TYPE_CHECKING:
    import xgcm
    from matplotlib.figure import Figure

    from taskflow.analysis.interface import Interface


Records = TypeVar("Records", xr.Dataset, xr.DataTree)


class FlowAccessor:
    """Numbers of a flow, computed when they are needed, in pieces.

    Of snapshots all but `grid`, which is of all that is on cells, `profiles` and `kinetic_energy_budget`, which are of
    statistics, and `over_time`, which is of recorded spectra. All raise BadInput where what they need is not there.
    """

    def __init__(self, ds: xr.Dataset) -> None:
        self._ds = ds

    def velocity(self) -> xr.Dataset:
        """Return u, v, w in cell centres."""
        return derived.velocity(self._cells)

    def grid(self) -> xgcm.Grid:
        """Return the grid for xgcm, with axes X, Y, Z and sizes of cells. Its operators go round periodic directions,
        are NaN where they need a value beyond another end, and exact for linear functions everywhere else.
        """
        from taskflow.analysis.staggered import staggered

        return staggered(self._ds)

    def vorticity(self) -> xr.Dataset:
        """Return vorticity_x, vorticity_y, vorticity_z in cell centres: the curl of the velocity; NaN in bodies."""
        return derived.vorticity(self._cells)

    def q_criterion(self) -> xr.DataArray:
        """Return Q in cell centres, the second invariant of the velocity gradient, positive in vortices; NaN in bodies.
        """
        return derived.q_criterion(self._cells)

    def plane(self, plane: str | None = None) -> xr.Dataset:
        """Return all fields on a plane: "y" is the one in the middle, "y=0.3" another; the default is of `plane_of`."""
        return derived.on_plane(self._cells, plane_of(self._ds, plane))

    def interface(self, time: float | None = None, field: str = "f", value: float = 0.5) -> Interface:
        """Return the surface on which a field has a value, at a time or in the last snapshot: vertices and triangles,
        with the velocity, the pressure and the curvature at the vertices where they were recorded.
        """
        from taskflow.analysis.interface import POINT_DATA, interface

        if time is not None and "time" not in self._ds.dims:
            raise BadInput(f"time = {time:g}: this dataset is of one time; leave it out")
        one = of_cells(last(self._ds) if time is None else at_time(self._ds, time), "c")
        return interface(one, field, value, [name for name in POINT_DATA if name in one and name != field])

    def streamlines(self, plane: str | None = None) -> Figure:
        """Return the magnitude of the velocity on a plane, of the last snapshot, with streamlines."""
        from taskflow.plots.snapshots import streamlines_of

        return streamlines_of(last(self._cells), plane_of(self._ds, plane))

    def wall_shear(self, face: str) -> xr.Dataset:
        """Return shear_x, ... on a wall (x_min to z_max), over density, in the middle of each of its cells."""
        return derived.wall_shear(self._cells, face)

    def nusselt(self, face: str) -> xr.DataArray:
        """Return the Nusselt number of each cell's part of a wall with a temperature."""
        return derived.nusselt(self._cells, face)

    def spectrum(self, field: str, axis: str) -> xr.DataArray:
        """Return the power spectrum of a field along a periodic axis, over wavenumbers k."""
        return spectra.spectrum(self._cells, field, axis)

    def cospectrum(self, one: str, other: str, axis: str) -> xr.Dataset:
        """Return the co-spectrum and quadrature spectrum of two fields along a periodic axis, over wavenumbers k."""
        return spectra.cospectrum(self._cells, one, other, axis)

    def energy_spectrum(self) -> xr.DataArray:
        """Return E(k) of one snapshot that is periodic in all directions."""
        return spectra.energy_spectrum(self._cells)

    def compare(self, table: str | Path, plane: str | None = None) -> float:
        """Return the largest difference of the last snapshot to a profile of a table (CSV, y and u or x and v)."""
        return profiles.compare(last(self._cells), table, plane)

    def profiles(self, axis: str) -> xr.Dataset:
        """Return means and covariances over time and over planes across `axis`, of statistics; see `profiles.profiles`.
        """
        return profiles.profiles(self._ds, axis)

    def kinetic_energy_budget(self, axis: str | None = None) -> xr.Dataset:
        """Return production, dissipation, transport, ... of turbulent kinetic energy, of statistics with a budget: in
        each cell, NaN in bodies; or along an `axis`, over time and planes. See `energy_budget`.
        """
        return energy_budget.kinetic_energy_budget(self._ds, axis)

    def over_time(self) -> xr.Dataset:
        """Return the mean of all records of spectra that a run has recorded."""
        return spectra.over_time(self._ds)

    @property
    def _cells(self) -> xr.Dataset:
        return of_cells(self._ds)


def of_cells(ds: xr.Dataset, kinds: str = "cf") -> xr.Dataset:
    """Return a dataset of cells. Raises BadInput where it is none: where their centres (c) or faces (f) are gone."""
    places = [f"{axis}_{kind}" for axis in "xyz" for kind in kinds]
    if missing := [place for place in places if place not in ds.coords]:
        raise BadInput(
            f"this dataset has no {', '.join(missing)}, places of cells; ask snapshots with all their fields and"
            " directions, and select or average what comes out"
        )
    return ds


def last(records: Records) -> Records:
    """Return the last snapshot; of one time that."""
    return records.isel(time=-1) if "time" in records.dims else records


class ChartsAccessor:
    """Numbers of a flow on charts, computed when they are asked for. All raise BadInput where what they need is not
    there.
    """

    def __init__(self, tree: xr.DataTree) -> None:
        self._tree = tree

    def side(self, name: str) -> xr.Dataset:
        """Return the values on the faces of a side, by its name: fields beside it, pressure and, on a wall, the shear
        stress; with middles, normals and areas of the faces. See `taskflow.analysis.charts.sides.side`.
        """
        return side(self._tree, name)

    def at(self, point: Sequence[float] | np.ndarray) -> xr.Dataset:
        """Return all fields in the cell in which a point x, y, z lies; of points [n, xyz] along a dimension `point`."""
        return on_charts.at(self._tree, point)

    def speed(self) -> xr.DataTree:
        """Return the magnitude `speed` of the velocity."""
        return on_charts.speed(self._tree)

    def volumes(self) -> xr.DataTree:
        """Return the `volume` of each cell."""
        return with_volumes(self._tree)

    def streamlines(self, plane: str | None = None) -> Figure:
        """Return the magnitude of the velocity, of the last snapshot, with streamlines, as `taskflow plot` draws it."""
        from taskflow.plots.contours import draw_charts

        return draw_charts(last(self._tree), plane=plane)


def opened(path: str | Path, group: str = "") -> xr.Dataset | xr.DataTree:
    """Return the complete records in a group of a store: of a run on charts a tree, with a child for each."""
    return tree(path, group) if has_charts(path, group) else dataset(path, group)
