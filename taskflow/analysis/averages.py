"""Averages over space: profiles of statistics along one axis, over the two directions that are alike; and over time."""

from __future__ import annotations

import xarray as xr

from taskflow.errors import BadInput
from taskflow.output.reading import widths


def profiles(statistics: xr.Dataset, axis: str) -> xr.Dataset:
    """Means and covariances in time and over planes across `axis`, weighted by the size of the cells.

    A covariance is that of all values in time and in the plane: cov(a, b) = <cov> + <(mean_a - <mean_a>) (mean_b -
    <mean_b>)>, <> being the mean over a plane of those in time. Raises BadInput where these are no statistics, or
    there is no such axis.
    """
    if axis not in ("x", "y", "z"):
        raise BadInput(f"axis = {axis!r}: give the one that profiles are along, x, y or z")
    moments = {name: statistics[name] for name in map(str, statistics.data_vars) if name.startswith(("mean_", "cov_"))}
    if not moments:
        raise BadInput("these are no statistics; give the dataset of Run.statistics(), or the group statistics")
    across = [f"{other}_c" for other in "xyz" if other != axis]
    weights = widths(statistics, across[0][0]) * widths(statistics, across[1][0])
    planes = {name: field.weighted(weights).mean(across) for name, field in moments.items()}
    fields = [name.removeprefix("mean_") for name in moments if name.startswith("mean_")]
    for a, b in ((a, b) for a in fields for b in fields if f"cov_{a}_{b}" in moments):
        one, other = (moments[f"mean_{name}"] - planes[f"mean_{name}"] for name in (a, b))
        planes[f"cov_{a}_{b}"] += (one * other).weighted(weights).mean(across)
    for name, profile in planes.items():
        profile.attrs = {
            "long_name": f"{moments[name].attrs['long_name']}, over planes across {axis}",
            "units": moments[name].attrs["units"],
        }
    columns = {name: statistics[name] for name in ("since", "samples")}
    return xr.Dataset(planes | columns, attrs=statistics.attrs)


def over_time(spectra: xr.Dataset) -> xr.Dataset:
    """The mean of all records, each of which is one over the samples since the one before, from the first `since` to
    the last `time`. Raises BadInput where these are no spectra, or none is there yet.
    """
    kinds = ("spectrum_", "cospectrum_", "quadrature_")
    names = [str(name) for name in spectra.data_vars if str(name).startswith(kinds)]
    if not names or "since" not in spectra or "time" not in spectra["since"].dims:
        raise BadInput("these are no spectra in time; give run.dataset(NAME) of a table [[spectra]]")
    if not spectra.sizes["time"]:
        raise BadInput("no record of these spectra is complete yet; wait for the first one")
    weights = spectra["time"] - spectra["since"]
    means = {name: spectra[name].weighted(weights).mean("time", keep_attrs=True) for name in names}
    columns = {"since": spectra["since"][0], "samples": spectra["samples"].sum(keep_attrs=True)}
    timeless = {name: column.drop_vars("time", errors="ignore") for name, column in columns.items()}
    return xr.Dataset(means | timeless).assign_coords(time=spectra["time"][-1]).assign_attrs(spectra.attrs)
