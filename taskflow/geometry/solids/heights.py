"""Height maps of terrain and cities, from NumPy, NetCDF and GeoTIFF files."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from taskflow.common.errors import BadInput, named
from taskflow.common.files import fits
from taskflow.common.hdf5 import examine
from taskflow.common.units import unit_of_length
from taskflow.geometry.solids.libraries import EXTRA, library, unreadable, user_file
from taskflow.geometry.solids.shapes import Coordinates, Pointwise, Range, Vector

Extent = tuple[float, float, float, float]  # of all pixels: x from, x to, y from, y to
Units = tuple[str, str, str]
NO_UNITS: Units = ("", "", "")
Map = tuple[np.ndarray, np.ndarray, np.ndarray, Units]  # x, y, heights [y, x], and their units
VALUE = 42  # bytes in memory for a height while it is read: measured 9 to 24, 33 of a GeoTIFF, 41 of turned axes
REMEDIES = {
    ".npy": "give an array of numbers as numpy.save writes it",
    ".nc": f'give a NetCDF file; version 4 needs pip install "taskflow-cfd[{EXTRA}]"',
    ".tif": "give a GeoTIFF file",
    ".tiff": "give a GeoTIFF file",
}


@dataclass(frozen=True, eq=False)
class HeightMap(Pointwise):
    """Points below the ground: z < h(x, y), for `heights` [y, x] at increasing x and y.

    Between them h is bilinear or, if `nearest`, the nearest height. It is constant up to half a spacing outside the
    outermost points, and the ground ends there. `units` are the units of x, y and heights named by the file.
    """

    x: np.ndarray
    y: np.ndarray
    heights: np.ndarray
    nearest: bool = False
    units: Units = NO_UNITS

    @property
    def unlike(self) -> str:
        """Description of the units if the file names several, else ""."""
        pairs = zip(("x", "y", "heights"), self.units, strict=True)
        named = {what: unit for what, unit in pairs if unit not in ("", "1")}
        if len({unit_of_length(unit)[0] for unit in named.values()}) < 2:
            return ""
        listed = ", ".join(f"{what} in {unit}" for what, unit in named.items())
        return f"{listed}: the numbers are used unchanged; write all of them in one unit of length"

    @property
    def bounds(self) -> tuple[Vector, Vector]:
        (x0, x1), (y0, y1) = _reach(self.x), _reach(self.y)
        return (x0, y0, -math.inf), (x1, y1, float(self.heights.max()))

    def contains(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        return z < self._ground(x, y)

    def distance(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Return the height of the ground above points: 0 on the ground, with the sign of the distance."""
        return self._ground(x, y) - z

    def range_over(self, low: Coordinates, high: Coordinates) -> Range:
        """Return bounds of the distance in boxes between corners, from the lowest and the highest ground."""
        reaches = (_reach(self.x), _reach(self.y))
        x, y = ((low[n] >= start) & (high[n] < end) for n, (start, end) in enumerate(reaches))
        return np.where(x & y, self.heights.min(), -math.inf) - high[2], self.heights.max() - low[2]

    def _ground(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return h at positions that broadcast, -inf outside the map."""
        (left, wx), (low, wy) = _place(self.x, x, self.nearest), _place(self.y, y, self.nearest)
        right, high = np.minimum(left + 1, self.x.size - 1), np.minimum(low + 1, self.y.size - 1)
        below, above = (_between(self.heights[row, left], self.heights[row, right], wx) for row in (low, high))
        outside = [(at < reach[0]) | (at >= reach[1]) for at, reach in ((x, _reach(self.x)), (y, _reach(self.y)))]
        return np.where(outside[1] | outside[0], -math.inf, _between(below, above, wy))


def _place(points: np.ndarray, at: np.ndarray, nearest: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of the points before the positions, and the fractions (0 to 1) of the way to the next points.
    """
    before = np.clip(np.searchsorted(points, at, "right") - 1, 0, max(points.size - 2, 0))
    if points.size == 1:
        return before, np.zeros(at.shape)
    weight = np.clip((at - points[before]) / (points[before + 1] - points[before]), 0.0, 1.0)
    return before, np.floor(weight + 0.5) if nearest else weight


def _between(first: np.ndarray, second: np.ndarray, weight: np.ndarray) -> np.ndarray:
    return np.asarray(first + weight * (second - first))


def _reach(points: np.ndarray) -> tuple[float, float]:
    """Return the interval from half a spacing before the first point to half a spacing after the last."""
    if points.size == 1:
        return -math.inf, math.inf
    return float(1.5 * points[0] - 0.5 * points[1]), float(1.5 * points[-1] - 0.5 * points[-2])


def read_heights(path: Path, extent: Extent, variable: str | None, nearest: bool) -> HeightMap:
    """Return the heights in a .npy, NetCDF or GeoTIFF file.

    .npy: an array [y, x] of equal pixels that cover `extent`. NetCDF: `variable`, or the only one of two dimensions,
    with its coordinates. GeoTIFF: the first band. Raises BadInput if the file does not exist or is invalid.
    """
    readers = {".npy": _numpy, ".nc": _netcdf, ".tif": _geotiff, ".tiff": _geotiff}
    with user_file(path, readers) as file:
        try:
            x, y, heights, units = readers[path.suffix.lower()](file, path, extent, variable)
        except BadInput:
            raise
        except Exception as error:  # any error of a reader of broken files
            raise unreadable(path, error, REMEDIES[path.suffix.lower()]) from None
    for axis, (points, size) in {"x": (x, heights.shape[1]), "y": (y, heights.shape[0])}.items():
        if points.shape != (size,) or (np.diff(points) <= 0).any():
            raise BadInput(f"{path}: its coordinates in {axis} do not increase along the map; sort the map")
    bad = np.argwhere(~np.isfinite(heights))
    if len(bad):
        j, i = bad[0]
        raise BadInput(f"{path}: there is no height at x = {x[i]:g}, y = {y[j]:g}; fill missing heights first")
    return HeightMap(x, y, heights, nearest, units)


def _numpy(file: IO[bytes], path: Path, extent: Extent, _: str | None) -> Map:
    major, _minor = np.lib.format.read_magic(file)
    header = np.lib.format.read_array_header_1_0 if major == 1 else np.lib.format.read_array_header_2_0
    shape, _order, dtype = header(file)
    if len(shape) != 2 or dtype.kind not in "iuf" or min(shape) < 1:
        raise BadInput(f"{path}: an array {list(shape)} of {dtype}; give numbers [y, x]")
    size = path.stat().st_size
    present, needed = size - file.tell(), math.prod(shape) * dtype.itemsize
    if present < needed:
        raise BadInput(f"{path}: {present} of the {needed} bytes of an array {list(shape)} of {dtype}; save it again")
    fits(math.prod(shape) * VALUE, str(path), size)
    file.seek(0)
    heights = np.lib.format.read_array(file, allow_pickle=False).astype(np.float64)
    rows, columns = heights.shape
    return _centres(*extent[:2], columns), _centres(*extent[2:], rows), heights, NO_UNITS


def _centres(start: float, stop: float, count: int) -> np.ndarray:
    return start + (stop - start) * (np.arange(count) + 0.5) / count


def _netcdf(file: IO[bytes], path: Path, _: Extent, variable: str | None) -> Map:
    import xarray  # slow to load

    with named(str(path)):
        examine(file)
    # without indexes, which would read coordinates of any claimed length
    with xarray.open_dataset(file, create_default_indexes=False, decode_times=False) as data:
        flat = [str(name) for name, values in data.data_vars.items() if values.ndim == 2]
        name = variable or (flat[0] if len(flat) == 1 else "")
        if name not in flat:
            raise BadInput(f"{path}: variable = {variable!r}; give one of {', '.join(flat) or 'two dimensions'}")
        values = data[name]
        names = [next((d for d in map(str, values.dims) if d.lower().startswith(axis)), "") for axis in "yx"]
        if not all(names) or any(dim not in data.coords for dim in names):
            raise BadInput(f"{path}: {name} has the dimensions {values.dims}; give them coordinates, named x and y")
        total = values.size + sum(values.sizes[dim] for dim in names)
        fits(VALUE * total, f"{path}: {name} {list(values.shape)}", path.stat().st_size)
        y, x = (np.asarray(values[dim], dtype=np.float64) for dim in names)
        rows, columns = np.argsort(y, kind="stable"), np.argsort(x, kind="stable")
        of = [str(one.attrs.get("units", "")) for one in (values[names[1]], values[names[0]], values)]
        heights = np.asarray(values.transpose(*names), dtype=np.float64)[rows][:, columns]
        return x[columns], y[rows], heights, (of[0], of[1], of[2])


def _geotiff(file: IO[bytes], path: Path, _: Extent, variable: str | None) -> Map:
    rasterio = library("rasterio", f"the height map {path.name}")
    for beside in path.parent.iterdir():  # GDAL reads some of these, as world files
        if beside.name.startswith(path.stem) and not beside.is_dir() and not beside.is_file():
            raise BadInput(f"{beside}: it is not a regular file, and next to {path.name} it would be read; remove it")
    with rasterio.open(path, driver="GTiff") as raster:  # other formats name further files, on this host and others
        size, blocks = path.stat().st_size, [rows * columns for rows, columns in raster.block_shapes]
        fits(VALUE * raster.width * raster.height, f"{path}: {raster.width} x {raster.height} pixels", size)
        fits(16 * raster.count * max(blocks), f"{path}: {raster.count} bands of {max(blocks)} pixels in a block", size)
        heights = raster.read(1, masked=True).astype(np.float64).filled(np.nan)
        t, (height, *_) = raster.transform, raster.units
        place = "degree" if raster.crs and raster.crs.is_geographic else raster.crs.linear_units if raster.crs else ""
    if t.b or t.d:
        raise BadInput(f"{path}: its rows do not run along x; write it north up")
    x, y = t.c + t.a * (np.arange(heights.shape[1]) + 0.5), t.f + t.e * (np.arange(heights.shape[0]) + 0.5)
    columns, rows = np.argsort(x), np.argsort(y)
    return x[columns], y[rows], heights[rows][:, columns], (place, place, height or "")
