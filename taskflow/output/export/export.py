"""Export records of a run as a NetCDF 4 file, or as VTK files for ParaView and other programs.

VTK has a rectilinear grid per record (.vtr), and a list of their times (.pvd). All values are in cell centres, and a
velocity is one vector. The XML format with appended raw data is written in slabs of cells, so memory stays bounded.
VTK's own writers need a whole snapshot in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from math import prod
from pathlib import Path

import numpy as np
import xarray as xr

from taskflow.common.errors import BadInput
from taskflow.output.disk.disk import on_disk, replacing
from taskflow.output.export.vtk import Appended, collect, grid_file, slabs, write_parts, write_polydata
from taskflow.output.store.reading import edges, in_centres

IN_CELLS = ("f4", "f8", "i1")  # types of fields
WRITERS = 4  # snapshots that are written at the same time

Arrays = dict[str, tuple[str, ...]]  # the data arrays of a file by name, each with the fields that are its components


def export_netcdf(ds: xr.Dataset | xr.DataTree, path: str | Path) -> Path:
    """Write a dataset, or a tree as groups, as a NetCDF file with all attributes in its precision, and return the path.

    Raises BadInput if no NetCDF writer is installed, and RunFailed if the disk is full.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    pieces = _pieces(ds) if isinstance(ds, xr.Dataset) else ds.map_over_datasets(_pieces)
    try:
        with on_disk(f"{target}"), replacing(target) as draft:
            pieces.to_netcdf(draft, engine="h5netcdf", format="NETCDF4")
    except ImportError as error:
        raise BadInput(f'NetCDF cannot be written here ({error}); pip install "taskflow-cfd[netcdf]"') from error
    return target


def _pieces(ds: xr.Dataset) -> xr.Dataset:
    """Return a dataset read in pieces, without the chunks and codecs of the store."""
    pieces = ds.chunk({dim: 1 if dim == "time" else "auto" for dim in ds.dims})
    for variable in pieces.variables.values():
        variable.encoding = {"_FillValue": None}
    return pieces.assign_attrs({
        key: [np.nan if item is None else item for item in value]
        for key, value in pieces.attrs.items()
        if isinstance(value, list) and None in value
    })


def export_vtk(ds: xr.Dataset, folder: str | Path, name: str) -> Path:
    """Write every record of a dataset on cells into a folder, and return the .pvd file that lists them with their
    times.

    Particles become points. Raises BadInput if the dataset has no fields on cells, and RunFailed if the disk is full.
    """
    if ds.attrs.get("featureType") == "trajectory":
        return _export_points(ds, Path(folder), name)
    arrays = _arrays(ds)
    if not arrays:
        raise BadInput(f"{name}: values at points are not on cells; use --netcdf")
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    files = [f"{name}_{n:06}.vtr" for n in range(ds.sizes["time"])]
    with on_disk(f"{target}"), ThreadPoolExecutor(WRITERS) as pool:
        for _ in pool.map(lambda n: write_parts(target / files[n], _vtr(ds.isel(time=n), arrays)), range(len(files))):
            pass
        return collect(target / f"{name}.pvd", zip(map(float, ds["time"].values), files, strict=True))


def _export_points(ds: xr.Dataset, folder: Path, name: str) -> Path:
    """Write every record of existing particles, with their numbers and sampled values."""
    files = []
    for n, time in enumerate(map(float, ds["time"].values)):
        record = ds.isel(time=n).load()
        points = np.stack([record[axis].values for axis in "xyz"], axis=-1)
        known = np.isfinite(points[:, 0])
        sampled = {"particle": record["particle"], **record.data_vars}
        values = {str(key): field.values[known] for key, field in sampled.items() if field.dims == ("particle",)}
        files.append((time, f"{name}_{n:06}.vtp"))
        write_polydata(folder / files[-1][1], points[known], np.zeros((0, 3), int), values)
    return collect(folder / f"{name}.pvd", files)


def _arrays(ds: xr.Dataset) -> Arrays:
    """Return the data arrays of a file: the velocity as one vector, then other fields in the order of the dataset.

    Its components are the fields described as "velocity along x", y and z.
    """
    on_cells = [
        str(name)
        for name, field in ds.data_vars.items()
        if {str(dim)[:2] for dim in field.dims} - {"ti"} == {"x_", "y_", "z_"} and field.dtype.str[1:] in IN_CELLS
    ]
    by_words = {str(ds[name].attrs.get("long_name")): name for name in on_cells}
    vector = tuple(by_words[words] for axis in "xyz" if (words := f"velocity along {axis}") in by_words)
    scalars: Arrays = {name: (name,) for name in on_cells}
    if len(vector) < 3:
        return scalars
    return {"velocity": vector} | {name: fields for name, fields in scalars.items() if name not in vector}


def _vtr(ds: xr.Dataset, arrays: Arrays) -> Iterator[bytes]:
    """Yield the file of a record: data arrays, and positions of cell faces along x, y and z."""
    cells = [ds.sizes[f"{axis}_c"] for axis in "xyz"]
    data = []
    for name, fields in arrays.items():
        dtype, kind, read = ds[fields[0]].dtype, ds[fields[0]].dtype.str[1:], partial(_layers, ds, fields)
        nbytes = prod(cells) * len(fields) * dtype.itemsize
        data.append(Appended(name, kind, len(fields), nbytes, partial(slabs, read, cells[2], kind, nbytes)))
    places = [Appended.of(axis, [edges(ds, axis).astype("f8")]) for axis in "xyz"]
    return grid_file("RectilinearGrid", cells, float(ds["time"]), data, "Coordinates", places)


def _layers(ds: xr.Dataset, fields: Sequence[str], low: int, high: int) -> list[np.ndarray]:
    """Return the layers [low, high) of cells of fields [z, y, x], in cell centres."""
    return [_layer(ds, ds[name], low, high) for name in fields]


def _layer(ds: xr.Dataset, field: xr.DataArray, low: int, high: int) -> np.ndarray:
    if "z_f" in field.dims:
        faces = np.arange(low, high + 1) % field.sizes["z_f"]  # a periodic direction goes round
        values = np.concatenate([field.isel(z_f=faces[:-1]).values, field.isel(z_f=faces[-1:]).values])
        return (values[:-1] + values[1:]) / 2
    return in_centres(ds, field.isel(z_c=slice(low, high)).values, field.dims)
