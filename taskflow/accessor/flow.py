"""`ds.flow`: the functions of `taskflow.analysis` and `taskflow.plots` as methods of a dataset of a run.

`import taskflow` registers the accessor (`taskflow.accessor.registration`). This module is loaded at the first use of
`ds.flow`. It stands above both rooms, because one of its methods draws.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import xarray as xr

from taskflow.accessor.derived import DerivedFields, last
from taskflow.analysis import derived, energy_budget, profiles, series, spectra
from taskflow.analysis.planes import plane_of
from taskflow.common.errors import BadInput
from taskflow.output import at_time, dataset, has_charts, tree

if TYPE_CHECKING:
    import xgcm

    from taskflow.analysis.interface import Interface


class FlowAccessor(DerivedFields[xr.DataArray]):
    """Derived quantities of a flow on a box, computed lazily in pieces.

    The methods need snapshots, except `grid` (any dataset on cells), `profiles` and `kinetic_energy_budget`
    (statistics), and `over_time` (recorded spectra). All raise BadInput if fields or coordinates are missing.
    """

    def __init__(self, ds: xr.Dataset) -> None:
        self._ds = ds

    @property
    def _records(self) -> xr.Dataset:
        return self._cells

    def velocity(self) -> xr.Dataset:
        """Return the velocity in cell centres.

        Returns
        -------
        xarray.Dataset
            u, v, w [time, z, y, x], L/T.
        """
        return derived.velocity(self._cells)

    def grid(self) -> xgcm.Grid:
        """Return the grid for xgcm, with axes X, Y, Z and cell sizes.

        Its operators wrap around periodic directions, are NaN where they need a value outside the domain, and are exact
        for linear functions elsewhere.

        Returns
        -------
        xgcm.Grid
        """
        from taskflow.analysis.staggered import staggered

        return staggered(self._ds)

    def vorticity(self) -> xr.Dataset:
        """Return the vorticity, the curl of the velocity, in cell centres; NaN in bodies.

        Returns
        -------
        xarray.Dataset
            vorticity_x, vorticity_y, vorticity_z, 1/T.
        """
        return derived.vorticity(self._cells)

    def field(self, name: str) -> xr.DataArray:
        """Return a field, recorded or derived: "speed", "vorticity", "vorticity_x", ..., "Q", "lambda2".

        Parameters
        ----------
        name : str

        Returns
        -------
        xarray.DataArray
        """
        return derived.field(self._cells, name)

    def settled(self, name: str) -> xr.Dataset:
        """Return mean and rms of a series in time after its transient, which is found.

        Parameters
        ----------
        name : str
            A variable over time alone, from `Run.series` or `Run.forces`.

        Returns
        -------
        xarray.Dataset
            mean, rms of the fluctuation, uncertainty of the mean, and the time at which it begins.
        """
        return series.settled(self._series(name))

    def strouhal(self, name: str, length: float = 1.0, velocity: float = 1.0) -> xr.Dataset:
        """Return the Strouhal number f L / U of a series in time after its transient, with its uncertainty.

        Parameters
        ----------
        name : str
            Of a variable over time alone, such as the lift.
        length, velocity : float
            L and U.

        Returns
        -------
        xarray.Dataset
            strouhal, its uncertainty, frequency, number of periods, and the time at which the first begins.
        """
        return series.strouhal(self._series(name), length, velocity)

    def _series(self, name: str) -> xr.DataArray:
        if name not in self._ds:
            raise BadInput(f"there is no {name} in this dataset; it has {', '.join(map(str, self._ds.data_vars))}")
        return self._ds[name]

    def plane(self, plane: str | None = None) -> xr.Dataset:
        """Return all fields on a plane.

        Parameters
        ----------
        plane : str, optional
            "y" (the middle) or "y=0.3". Default: chosen by `plane_of`.

        Returns
        -------
        xarray.Dataset
        """
        return derived.on_plane(self._cells, plane_of(self._ds, plane))

    def interface(self, time: float | None = None, field: str = "f", value: float = 0.5) -> Interface:
        """Return the surface on which a field has a value.

        Parameters
        ----------
        time : float, optional
            Default: the last snapshot.
        field : str
        value : float

        Returns
        -------
        Interface
            Vertices and triangles, with velocity, pressure and curvature at the vertices if they are recorded.
        """
        from taskflow.analysis.interface import POINT_DATA, interface

        one = of_cells(self._snapshot(time), "c")
        return interface(one, field, value, [name for name in POINT_DATA if name in one and name != field])

    def droplets(self, time: float | None = None, phase: int = 1) -> xr.Dataset:
        """Return the connected parts of a phase, also across periodic sides, the largest first.

        Parts are cells with a share of at least 1/2, connected by faces, and up to three cells with less around them.
        The share is read some layers of cells at a time. The parts depend neither on blocks nor on layers.

        Parameters
        ----------
        time : float, optional
            Default: the last snapshot.
        phase : int
            1 or 2.

        Returns
        -------
        xarray.Dataset
            With the dimension droplet: volume, L^3, centre_x, ..., L, extent_x_min, extent_x_max, ..., L, in whole
            cells, and velocity_x, ..., L/T, the mean over the part, if recorded. In two dimensions the volume is the
            area times the length of the cell. Along an axis on which a part extends round a periodic domain its centre
            is NaN, and its extent is the domain.

        Raises
        ------
        BadInput
            Without f, or a snapshot of that time.
        """
        from taskflow.analysis.droplets import droplets

        return droplets(of_cells(self._snapshot(time)), phase)

    def wall_shear(self, face: str) -> xr.Dataset:
        """Return the shear stress over density on a wall, at the centres of its faces.

        Parameters
        ----------
        face : str
            "x_min" to "z_max".

        Returns
        -------
        xarray.Dataset
            shear_x, shear_y, shear_z without the normal, L^2/T^2.
        """
        return derived.wall_shear(self._cells, face)

    def nusselt(self, face: str) -> xr.DataArray:
        """Return the local Nusselt number on the faces of a wall with a temperature.

        Parameters
        ----------
        face : str
            "x_min" to "z_max".

        Returns
        -------
        xarray.DataArray
        """
        return derived.nusselt(self._cells, face)

    def spectrum(self, field: str, axis: str) -> xr.DataArray:
        """Return the power spectrum of a field along a periodic axis, or of a series in time.

        Parameters
        ----------
        field : str
        axis : {"x", "y", "z", "time"}

        Returns
        -------
        xarray.DataArray
            Over wavenumbers k, 1/L. In time: density after the transient, over frequencies, 1/T.
        """
        if axis == "time":
            return series.spectrum(self._series(field))
        return spectra.spectrum(self._cells, field, axis)

    def cospectrum(self, one: str, other: str, axis: str) -> xr.Dataset:
        """Return the co-spectrum and quadrature spectrum of two fields along a periodic axis.

        Parameters
        ----------
        one, other : str
        axis : {"x", "y", "z"}

        Returns
        -------
        xarray.Dataset
            Over wavenumbers k, 1/L.
        """
        return spectra.cospectrum(self._cells, one, other, axis)

    def energy_spectrum(self) -> xr.DataArray:
        """Return E(k) of one snapshot that is periodic in all directions.

        Returns
        -------
        xarray.DataArray
            L^3/T^2 over wavenumbers k, 1/L.
        """
        return spectra.energy_spectrum(self._cells)

    def compare(self, table: str | Path, plane: str | None = None) -> float:
        """Return the largest difference between the last snapshot and a tabulated profile.

        Parameters
        ----------
        table : path-like
            CSV with columns y and u, or x and v.
        plane : str, optional

        Returns
        -------
        float
        """
        return profiles.compare(last(self._cells), table, plane)

    def profiles(self, axis: str) -> xr.Dataset:
        """Return means and covariances over time and over planes normal to an axis.

        Parameters
        ----------
        axis : {"x", "y", "z"}

        Returns
        -------
        xarray.Dataset
        """
        return profiles.profiles(self._ds, axis)

    def kinetic_energy_budget(self, axis: str | None = None) -> xr.Dataset:
        """Return the budget of turbulent kinetic energy: production, dissipation, transport and the other terms.

        Parameters
        ----------
        axis : {"x", "y", "z"}, optional
            Average over planes normal to this axis. Default: per cell, NaN in bodies.

        Returns
        -------
        xarray.Dataset
            L^2/T^3. Terms are defined in `taskflow.analysis.energy_budget`.
        """
        return energy_budget.kinetic_energy_budget(self._ds, axis)

    def over_time(self) -> xr.Dataset:
        """Return the mean over all records of recorded spectra.

        Returns
        -------
        xarray.Dataset
        """
        return spectra.over_time(self._ds)

    def _snapshot(self, time: float | None) -> xr.Dataset:
        if time is not None and "time" not in self._ds.dims:
            raise BadInput(f"time = {time}: this dataset has one time; omit it")
        return last(self._ds) if time is None else at_time(self._ds, time)

    @property
    def _cells(self) -> xr.Dataset:
        return of_cells(self._ds)


def of_cells(ds: xr.Dataset, kinds: str = "cf") -> xr.Dataset:
    """Return a dataset on cells. Raises BadInput if their centres (c) or faces (f) are missing."""
    places = [f"{axis}_{kind}" for axis in "xyz" for kind in kinds]
    if missing := [place for place in places if place not in ds.coords]:
        raise BadInput(
            f"this dataset has no {', '.join(missing)}, places of cells; ask snapshots with all their fields and"
            " directions, and select or average what comes out"
        )
    return ds


def opened(path: str | Path, group: str = "") -> xr.Dataset | xr.DataTree:
    """Return the complete records in a group of a store; on body-fitted grids a tree with one child per chart."""
    return tree(path, group) if has_charts(path, group) else dataset(path, group)
