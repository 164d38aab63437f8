"""Spectra of snapshots along periodic directions of uniform cells."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import xarray as xr

from taskflow.errors import BadInput
from taskflow.output.derived import VELOCITY, field_of
from taskflow.output.planes import extent, periodic, uniform


def spectrum(ds: xr.Dataset, name: str, axis: str) -> xr.DataArray:
    """The power spectrum of a field along an axis, on average over all lines: the integral over the wavenumber k, in
    radians per length, is the mean square of what varies along the lines.
    """
    length = _length(ds, axis)
    field = field_of(ds, name)
    dim = next(str(d) for d in field.dims if str(d)[0] == axis)
    cells = field.sizes[dim]
    power = xr.apply_ufunc(
        _power,
        field.chunk({dim: -1}),
        input_core_dims=[[dim]],
        output_core_dims=[["k"]],
        dask="parallelized",
        output_dtypes=[np.float64],
        dask_gufunc_kwargs={"output_sizes": {"k": cells // 2}},
    )
    mean = power.mean([d for d in power.dims if d not in ("time", "k")]) * length / (2 * np.pi)
    about = {"long_name": f"spectrum of {field.attrs.get('long_name', name)} along {axis}", "units": "1"}
    return mean.assign_coords(k=_wavenumbers(cells, length)).rename(f"spectrum_{name}").assign_attrs(about)


def energy_spectrum(ds: xr.Dataset) -> xr.DataArray:
    """E(k) of a snapshot that is periodic in all directions: the kinetic energy of the waves in shells as wide as the
    smallest wavenumber of the longest direction, so that its integral is the kinetic energy of what varies.

    It has one snapshot in memory. Raises BadInput where there are more, or boundaries.
    """
    if "time" in ds.dims:
        raise BadInput("an energy spectrum is that of one snapshot; choose one, as ds.isel(time=-1)")
    lengths = [_length(ds, axis) for axis in "zyx"]
    cells = [ds.sizes[f"{axis}_c"] for axis in "zyx"]
    waves = [2 * np.pi / length * np.fft.fftfreq(n, 1 / n) for n, length in zip(cells, lengths, strict=True)]
    size = np.sqrt(sum(np.square(each) for each in np.meshgrid(*waves, indexing="ij")))
    width = 2 * np.pi / max(lengths)
    shells = np.rint(size / width).astype(int)
    energy = np.zeros(cells)
    for name in VELOCITY.values():
        energy += 0.5 * np.abs(np.fft.fftn(ds[name].values.astype("f8"), norm="forward")) ** 2
    found = np.bincount(shells.ravel(), weights=energy.ravel()) / width
    about = {"long_name": "kinetic energy by wavenumber", "units": "1"}
    k = xr.DataArray(width * np.arange(1, len(found)), dims="k", attrs={"long_name": "wavenumber", "units": "1"})
    return xr.DataArray(found[1:], coords={"k": k}, dims="k", name="E", attrs=about)


def _power(lines: np.ndarray) -> np.ndarray:
    """The share of each wave but the constant in the mean square."""
    waves = np.abs(np.fft.rfft(lines.astype("f8"), axis=-1, norm="forward")[..., 1:]) ** 2
    twice = np.full(waves.shape[-1], 2.0)
    if lines.shape[-1] % 2 == 0:
        twice[-1] = 1.0
    return waves * twice


def _wavenumbers(cells: int, length: float) -> xr.DataArray:
    values = 2 * np.pi / length * np.arange(1, cells // 2 + 1)
    return xr.DataArray(values, dims="k", attrs={"long_name": "wavenumber", "units": "1"})


def _length(ds: xr.Dataset, axis: str) -> float:
    """Of the domain. Raises BadInput where the axis is not periodic, with uniform cells."""
    if axis not in ("x", "y", "z") or not periodic(ds, axis):
        raise BadInput(f"axis = {axis!r}: spectra are along periodic directions; this run has {_listed(ds)}")
    if not uniform(ds, axis):
        raise BadInput(f"axis = {axis!r}: spectra need cells of one size; choose another axis")
    low, high = extent(ds, axis)
    return high - low


def _listed(ds: xr.Dataset) -> str:
    found: Iterable[str] = (axis for axis in "xyz" if periodic(ds, axis))
    return ", ".join(found) or "none"
