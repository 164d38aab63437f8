"""Records of a run in other formats: as a NetCDF file (version 4), or as VTK files, which ParaView and others open.

VTK has a rectilinear grid for each record (.vtr), and their times (.pvd). All values are in cell centres; a velocity is
one vector. The XML format with appended raw data is written slab by slab of cells, so that memory stays bounded; VTK's
own writers want a whole snapshot in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from math import prod
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np
import xarray as xr

from taskflow.errors import BadInput
from taskflow.output.disk import on_disk, replacing
from taskflow.output.reading import edges, in_centres

SLAB = 2**25  # bytes of a field that are in memory at once, or one layer of cells
WRITERS = 4  # snapshots that are written at the same time
KINDS = {"f4": "Float32", "f8": "Float64", "i1": "Int8"}

Arrays = dict[str, tuple[str, ...]]  # the data arrays of a file by name, each with the fields that are its components


def export_netcdf(ds: xr.Dataset, path: str | Path) -> Path:
    """Write a dataset with all its attributes, in the precision that it has, as a NetCDF file; return its path.

    Raises BadInput where what writes NetCDF is not installed, RunFailed where the disk is full.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    pieces = ds.chunk({dim: 1 if dim == "time" else "auto" for dim in ds.dims})
    for variable in pieces.variables.values():
        variable.encoding = {"_FillValue": None}  # what the store said of its own pieces and codecs
    try:
        with on_disk(f"{target}"), replacing(target) as draft:
            pieces.to_netcdf(draft, engine="h5netcdf", format="NETCDF4")
    except ImportError as error:
        raise BadInput(f'NetCDF cannot be written here ({error}); pip install "taskflow-cfd[netcdf]"') from error
    return target


def export_vtk(ds: xr.Dataset, folder: str | Path, name: str) -> Path:
    """Write every record of a dataset on cells into a folder; return the .pvd file, which lists them with their times.

    Raises BadInput where the dataset has no fields on cells, RunFailed where the disk is full.
    """
    arrays = _arrays(ds)
    if not arrays:
        raise BadInput(f"{name}: it has no fields on cells, as values at points have none; use --netcdf")
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    files = [f"{name}_{n:06}.vtr" for n in range(ds.sizes["time"])]
    with on_disk(f"{target}"), ThreadPoolExecutor(WRITERS) as pool:
        for _ in pool.map(lambda n: _replace(target / files[n], _vtr(ds.isel(time=n), arrays)), range(len(files))):
            pass
        lines = [
            f'<DataSet timestep="{float(time)!r}" part="0" file={quoteattr(file)}/>'
            for time, file in zip(ds["time"].values, files, strict=True)
        ]
        text = "\n".join(['<VTKFile type="Collection" version="1.0">', "<Collection>", *lines, "</Collection>"])
        _replace(target / f"{name}.pvd", [f"{text}\n</VTKFile>\n".encode()])
    return target / f"{name}.pvd"


def _arrays(ds: xr.Dataset) -> Arrays:
    """Return the data arrays of a file: the velocity as one vector, of the fields that are called "velocity along x", y
    and z in words, and then the other fields in the order of the dataset.
    """
    on_cells = [
        str(name)
        for name, field in ds.data_vars.items()
        if {str(dim)[:2] for dim in field.dims} - {"ti"} == {"x_", "y_", "z_"} and field.dtype.str[1:] in KINDS
    ]
    by_words = {str(ds[name].attrs.get("long_name")): name for name in on_cells}
    vector = tuple(by_words[words] for axis in "xyz" if (words := f"velocity along {axis}") in by_words)
    scalars: Arrays = {name: (name,) for name in on_cells}
    if len(vector) < 3:
        return scalars
    return {"velocity": vector} | {name: fields for name, fields in scalars.items() if name not in vector}


def _vtr(ds: xr.Dataset, arrays: Arrays) -> Iterator[bytes]:
    """Yield the file of a record: XML, then the values of each data array, and the places of cell faces along x, y and
    z; each behind its size, a number of eight bytes.
    """
    layers, cells = ds.sizes["z_c"], prod(ds.sizes[f"{axis}_c"] for axis in "xyz")
    dtypes = {name: ds[fields[0]].dtype.newbyteorder("<") for name, fields in arrays.items()}
    sizes = {name: cells * len(fields) * dtypes[name].itemsize for name, fields in arrays.items()}
    places = {axis: edges(ds, axis).astype("<f8").tobytes() for axis in "xyz"}
    yield _header(ds, arrays, [*sizes.values(), *map(len, places.values())])
    for name, fields in arrays.items():
        yield sizes[name].to_bytes(8, "little")
        thick = max(1, SLAB * layers // sizes[name])
        for low in range(0, layers, thick):
            slabs = [_slab(ds, field, low, min(low + thick, layers)) for field in fields]
            yield np.stack(slabs, axis=-1).astype(dtypes[name], copy=False).tobytes()
    for values in places.values():
        yield len(values).to_bytes(8, "little") + values
    yield b"\n</AppendedData>\n</VTKFile>\n"


def _header(ds: xr.Dataset, arrays: Arrays, sizes: Iterable[int]) -> bytes:
    """Return the XML before the appended data, which has arrays and places of these sizes in bytes."""
    offsets = accumulate((8 + size for size in sizes), initial=0)
    kinds = [(name, KINDS[ds[fields[0]].dtype.str[1:]], len(fields)) for name, fields in arrays.items()]
    kinds += [(axis, "Float64", 1) for axis in "xyz"]
    lines = [
        f'<DataArray type="{kind}" Name={quoteattr(name)} NumberOfComponents="{count}" format="appended"'
        f' offset="{offset}"/>'
        for (name, kind, count), offset in zip(kinds, offsets, strict=False)
    ]
    extent = " ".join(f"0 {ds.sizes[f'{axis}_c']}" for axis in "xyz")
    return "\n".join(
        [
            '<VTKFile type="RectilinearGrid" version="1.0" byte_order="LittleEndian" header_type="UInt64">',
            f'<RectilinearGrid WholeExtent="{extent}">',
            '<FieldData><DataArray type="Float64" Name="TimeValue" NumberOfTuples="1" format="ascii">'
            f"{float(ds['time'])!r}</DataArray></FieldData>",
            f'<Piece Extent="{extent}">',
            "<CellData>",
            *lines[:-3],
            "</CellData>",
            "<Coordinates>",
            *lines[-3:],
            "</Coordinates>",
            "</Piece>",
            "</RectilinearGrid>",
            '<AppendedData encoding="raw">\n_',
        ]
    ).encode()


def _slab(ds: xr.Dataset, name: str, low: int, high: int) -> np.ndarray:
    """Return the layers [low, high) of cells of a field [z, y, x], in cell centres."""
    field = ds[name]
    if "z_f" in field.dims:
        faces = np.arange(low, high + 1) % field.sizes["z_f"]  # a periodic direction goes round
        values = np.concatenate([field.isel(z_f=faces[:-1]).values, field.isel(z_f=faces[-1:]).values])
        return (values[:-1] + values[1:]) / 2
    return in_centres(ds, field.isel(z_c=slice(low, high)).values, field.dims)


def _replace(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file that is there completely or not at all."""
    with replacing(path) as draft, draft.open("wb") as file:
        file.writelines(parts)
