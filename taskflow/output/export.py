"""Records of a run in other formats: as a NetCDF file (version 4), or as VTK files, which ParaView and others open.

VTK has a rectilinear grid for each record (.vtr), and their times (.pvd). All values are in cell centres, u, v and w as
the vector `velocity`. The XML format with appended raw data is written slab by slab of cells, so that memory stays
bounded; VTK's own writers want a whole snapshot in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
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


@dataclass(frozen=True)
class Array:
    """A data array of a file: the fields that are its components, or places along an axis."""

    name: str
    fields: tuple[str, ...]
    dtype: np.dtype
    values: int

    @property
    def nbytes(self) -> int:
        """The size of all values in bytes."""
        return self.values * self.dtype.itemsize


def export_netcdf(ds: xr.Dataset, path: str | Path) -> Path:
    """Write a dataset, with all its attributes and as precisely as it is; returns the file.

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
    """Write every record of a dataset on cells into a folder; returns the .pvd file, which lists them with their times.

    Raises BadInput where the dataset has no fields on cells, RunFailed where the disk is full.
    """
    arrays = _arrays(ds)
    if not arrays:
        raise BadInput(f"{name}: it has no fields on cells, as values at points have none; use --netcdf")
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    files = [f"{name}_{n:06}.vtr" for n in range(ds.sizes["time"])]
    with on_disk(f"{target}"), ThreadPoolExecutor(WRITERS) as pool:
        for _ in pool.map(partial(_write, ds, arrays, target), range(len(files)), files):
            pass
        lines = [
            f'<DataSet timestep="{float(time)!r}" part="0" file={quoteattr(file)}/>'
            for time, file in zip(ds["time"].values, files, strict=True)
        ]
        text = "\n".join(['<VTKFile type="Collection" version="1.0">', "<Collection>", *lines, "</Collection>"])
        _replace(target / f"{name}.pvd", [f"{text}\n</VTKFile>\n".encode()])
    return target / f"{name}.pvd"


def _arrays(ds: xr.Dataset) -> list[Array]:
    """Return the data arrays of a file: fields in the order of the dataset, but the velocity first, as one vector of
    the fields whose names in words are "velocity along x", y and z.
    """
    on_cells = [
        str(name)
        for name, field in ds.data_vars.items()
        if {str(dim)[:2] for dim in field.dims} - {"ti"} == {"x_", "y_", "z_"} and field.dtype.str[1:] in KINDS
    ]
    by_words = {str(ds[name].attrs.get("long_name")): name for name in on_cells}
    vector = tuple(by_words[words] for axis in "xyz" if (words := f"velocity along {axis}") in by_words)
    vector = vector if len(vector) == 3 else ()
    groups = [*([vector] if vector else []), *((name,) for name in on_cells if name not in vector)]
    cells = int(np.prod([ds.sizes.get(f"{axis}_c", 0) for axis in "xyz"]))
    return [
        Array("velocity" if len(names) == 3 else names[0], names, _little(ds[names[0]].dtype), cells * len(names))
        for names in groups
    ]


def _little(dtype: np.dtype) -> np.dtype:
    return dtype.newbyteorder("<")


def _write(ds: xr.Dataset, arrays: Sequence[Array], target: Path, record: int, file: str) -> None:
    """One snapshot as a .vtr file."""
    grid = [Array(axis, (), np.dtype("<f8"), len(edges(ds, axis))) for axis in "xyz"]
    one = ds.isel(time=record)
    header = _header(ds, arrays, grid, float(one["time"]))
    _replace(target / file, _parts(one, arrays, grid, header))


def _header(ds: xr.Dataset, arrays: Sequence[Array], grid: Sequence[Array], time: float) -> bytes:
    """The XML before the appended data; each array there begins with its size, in eight bytes."""
    offsets, offset = [], 0
    for array in (*arrays, *grid):
        offsets.append(offset)
        offset += 8 + array.nbytes
    described = [
        f'<DataArray type="{KINDS[array.dtype.str[1:]]}" Name={quoteattr(array.name)}'
        f' NumberOfComponents="{max(1, len(array.fields))}" format="appended" offset="{at}"/>'
        for array, at in zip((*arrays, *grid), offsets, strict=True)
    ]
    extent = " ".join(f"0 {ds.sizes[f'{axis}_c']}" for axis in "xyz")
    return "\n".join(
        [
            '<VTKFile type="RectilinearGrid" version="1.0" byte_order="LittleEndian" header_type="UInt64">',
            f'<RectilinearGrid WholeExtent="{extent}">',
            '<FieldData><DataArray type="Float64" Name="TimeValue" NumberOfTuples="1" format="ascii">'
            f"{time!r}</DataArray></FieldData>",
            f'<Piece Extent="{extent}">',
            "<CellData>",
            *described[: len(arrays)],
            "</CellData>",
            "<Coordinates>",
            *described[len(arrays) :],
            "</Coordinates>",
            "</Piece>",
            "</RectilinearGrid>",
            '<AppendedData encoding="raw">\n_',
        ]
    ).encode()


def _parts(ds: xr.Dataset, arrays: Sequence[Array], grid: Sequence[Array], header: bytes) -> Iterator[bytes]:
    """A file, piece by piece."""
    yield header
    layers = ds.sizes["z_c"]
    for array in arrays:
        yield array.nbytes.to_bytes(8, "little")
        thick = max(1, SLAB * layers // array.nbytes)
        for low in range(0, layers, thick):
            slabs = [_slab(ds, name, low, min(low + thick, layers)) for name in array.fields]
            yield np.stack(slabs, axis=-1).astype(array.dtype, copy=False).tobytes()
    for array in grid:
        yield array.nbytes.to_bytes(8, "little")
        yield edges(ds, array.name).astype(array.dtype).tobytes()
    yield b"\n</AppendedData>\n</VTKFile>\n"


def _slab(ds: xr.Dataset, name: str, low: int, high: int) -> np.ndarray:
    """The layers [low, high) of cells of a field [z, y, x], in cell centres."""
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
