"""Spectra of snapshots along periodic directions of uniform cells, and means of recorded spectra."""

from __future__ import annotations

import numpy as np
import xarray as xr

from taskflow.analysis.conditions import part_of
from taskflow.analysis.derived import centred, field_of
from taskflow.analysis.planes import VELOCITY
from taskflow.common.errors import BadInput
from taskflow.output.store.metadata import PARTS
from taskflow.output.store.reading import extent, periodic, uniform


def spectrum(ds: xr.Dataset, name: str, axis: str) -> xr.DataArray:
    """Return the power spectrum of a field along an axis, averaged over all lines.

    The integral over the wavenumber k, in radians per length, is the mean square of the variation along the lines.
    """
    length = _line(ds, axis)
    field = field_of(ds, name)
    dim = next(str(d) for d in field.dims if str(d)[0] == axis)
    cells = field.sizes[dim]
    power = abs(_waves(field, dim)) ** 2 * _twice(cells)
    mean = power.mean([d for d in power.dims if d not in ("time", "k")]) * length / (2 * np.pi)
    about = {"long_name": f"spectrum of {field.attrs.get('long_name', name)} along {axis}", "units": "1"}
    return mean.assign_coords(k=_wavenumbers(cells, length)).rename(f"spectrum_{name}").assign_attrs(about)


def cospectrum(ds: xr.Dataset, one: str, other: str, axis: str) -> xr.Dataset:
    """Return the co-spectrum and quadrature spectrum of two fields in cell centres, averaged over all lines along an
    axis.

    With the waves c and d, `cospectrum` is the real part of c* d, whose integral over the wavenumber k is the
    covariance along the lines. `quadrature` is the imaginary part of its conjugate (R. B. Stull 1988, section 8.6).
    """
    length, dim = _line(ds, axis), f"{axis}_c"
    fields, cells = [centred(ds, field_of(ds, name)) for name in (one, other)], ds.sizes[dim]
    first, second = (_waves(field, dim) for field in fields)
    product = first.conj() * second * _twice(cells) * length / (2 * np.pi)
    mean = product.mean([d for d in product.dims if d not in ("time", "k")])
    words = " and ".join(str(field.attrs.get("long_name", field.name)) for field in fields)
    parts = {"cospectrum": mean.real, "quadrature": -mean.imag}
    for part, values in parts.items():
        values.attrs = {"long_name": f"{PARTS[part]} along {axis} of {words}", "units": "1"}
    spectra = {f"{part}_{one}_{other}": values for part, values in parts.items()}
    return xr.Dataset(spectra, coords={"k": _wavenumbers(cells, length)}, attrs=ds.attrs)


def energy_spectrum(ds: xr.Dataset) -> xr.DataArray:
    """Return E(k) of a snapshot that is periodic in all directions: the kinetic energy of waves in shells.

    Shells are as wide as the smallest wavenumber of the longest direction, and the integral is the kinetic energy of
    the variation. One snapshot is in memory. Raises BadInput for several snapshots, or boundaries.
    """
    if "time" in ds.dims:
        raise BadInput("an energy spectrum belongs to one snapshot; choose one, as ds.isel(time=-1)")
    lengths = [_length(ds, axis) for axis in "zyx"]
    cells = [ds.sizes[f"{axis}_c"] for axis in "zyx"]
    longest, width = max(lengths), 2 * np.pi / max(lengths)
    waves = [longest / length * np.fft.fftfreq(n, 1 / n) for n, length in zip(cells, lengths, strict=True)]
    z, y, x = (np.square(k) for k in np.meshgrid(*waves, indexing="ij"))
    ends = np.square(np.arange(np.sqrt((x + y + z).max())) + 0.5)
    shells = np.searchsorted(ends, x + y + z, side="right")  # a wave on an edge is in the shell above, as in records
    energy = np.zeros(cells)
    for name in VELOCITY.values():
        energy += 0.5 * np.abs(np.fft.fftn(ds[name].values.astype("f8"), norm="forward")) ** 2
    density = np.bincount(shells.ravel(), weights=energy.ravel()) / width
    about = {"long_name": "kinetic energy by wavenumber", "units": "1"}
    k = xr.DataArray(width * np.arange(1, len(density)), dims="k", attrs={"long_name": "wavenumber", "units": "1"})
    return xr.DataArray(density[1:], coords={"k": k}, dims="k", name="E", attrs=about)


def over_time(spectra: xr.Dataset) -> xr.Dataset:
    """Return the mean of all records, from the first `since` to the last `time`.

    Each record is a mean over the samples after the previous one. Raises BadInput if the dataset has no spectra, or no
    record yet.
    """
    names = [str(name) for name in spectra.data_vars if str(name).startswith(("spectrum_", *(f"{p}_" for p in PARTS)))]
    if not names or "since" not in spectra or "time" not in spectra["since"].dims:
        raise BadInput("these are no spectra in time; give run.dataset(NAME) of a table [[spectra]]")
    if not spectra.sizes["time"]:
        raise BadInput("no record of these spectra is complete yet; wait for the first one")
    weights = spectra["time"] - spectra["since"]
    means = {name: spectra[name].weighted(weights).mean("time", keep_attrs=True) for name in names}
    columns = {"since": spectra["since"][0], "samples": spectra["samples"].sum(keep_attrs=True)}
    timeless = {name: column.drop_vars("time", errors="ignore") for name, column in columns.items()}
    return xr.Dataset(means | timeless).assign_coords(time=spectra["time"][-1]).assign_attrs(spectra.attrs)


def _waves(field: xr.DataArray, dim: str) -> xr.DataArray:
    """Return the coefficients of the waves of a field along a dimension, without the mean."""
    return xr.apply_ufunc(
        lambda lines: np.fft.rfft(lines.astype("f8"), axis=-1, norm="forward")[..., 1:],
        field.chunk({dim: -1}),
        input_core_dims=[[dim]],
        output_core_dims=[["k"]],
        dask="parallelized",
        output_dtypes=[np.complex128],
        dask_gufunc_kwargs={"output_sizes": {"k": field.sizes[dim] // 2}},
    )


def _twice(cells: int) -> xr.DataArray:
    """Return the multiplicity of each wave: two, or one for the shortest of an even number of cells."""
    twice = np.full(cells // 2, 2.0)
    if cells % 2 == 0:
        twice[-1] = 1.0
    return xr.DataArray(twice, dims="k")


def _wavenumbers(cells: int, length: float) -> xr.DataArray:
    values = 2 * np.pi / length * np.arange(1, cells // 2 + 1)
    return xr.DataArray(values, dims="k", attrs={"long_name": "wavenumber", "units": "1"})


def _line(ds: xr.Dataset, axis: str) -> float:
    """Return the length of a line along which a field can vary. Raises BadInput as `_length` does, and for one cell."""
    length = _length(ds, axis)
    if ds.sizes[f"{axis}_c"] == 1:
        raise BadInput(f"axis = {axis!r}: there is one cell along it, and nothing varies; choose another axis")
    return length


def _length(ds: xr.Dataset, axis: str) -> float:
    """Return the length of the domain. Raises BadInput if the axis is not periodic with uniform cells."""
    if axis not in ("x", "y", "z") or not periodic(ds, axis):
        closed = ", ".join(axis for axis in "xyz" if periodic(ds, axis)) or "none"
        raise BadInput(f"axis = {axis!r}: spectra are along periodic directions; this run has {closed}")
    if count := part_of(ds, axis):
        raise BadInput(f"axis = {axis!r}: spectra need all {count} cells along it; select along other axes")
    if not uniform(ds, axis):
        raise BadInput(f"axis = {axis!r}: spectra need cells of one size; choose another axis")
    low, high = extent(ds, axis)
    return high - low
