"""Cases with a sound file of each kind that a case may name: what damage begins with."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import xarray as xr

from taskflow.geometry.grids import read_grid
from taskflow.geometry.grids.files import write_grid

CHART = """
[fluid]
viscosity = 0.01
[method]
type = "artificial-compressibility"
reference_speed = 1.0
[boundaries]
{sides}
[time]
steady = 1e-6
steps = 10
[grid]
file = "{file}"
"""
BOX = """
[grid]
cells = [8, 8, 8]
lengths = [1.0, 1.0, 1.0]
[fluid]
viscosity = 0.01
[boundaries]
x = "periodic"
y = "periodic"
z_min = "wall"
z_max = {lid}
[time]
steps = 3
step = 1e-3
"""
LID, CENTRES = '"slip"', (np.arange(8) + 0.5) / 8


SIDES = "\n".join(f'{axis}_{end}_1 = "wall"' for axis in "ijk" for end in ("min", "max"))


def _grid(folder: Path, name: str = "g.xyz") -> list[np.ndarray]:
    """A case of the grid in a file; the places of its vertices, in the order of files."""
    (folder / "case.toml").write_text(CHART.format(file=name, sides=SIDES))
    axis = np.linspace(0, 1, 4)
    return [part.ravel(order="F") for part in np.meshgrid(axis, axis, axis, indexing="ij")]


def plot3d(folder: Path) -> None:
    """As text, without a map."""
    words = " ".join(f"{value:.9g}" for part in _grid(folder) for value in part)
    (folder / "g.xyz").write_text(f"1\n4 4 4\n{words}\n")


def binary_plot3d(folder: Path) -> None:
    """With marks of records."""
    content = b""
    for record in (struct.pack("<i", 1), struct.pack("<3i", 4, 4, 4), np.concatenate(_grid(folder)).tobytes()):
        mark = struct.pack("<i", len(record))
        content += mark + record + mark
    (folder / "g.xyz").write_bytes(content)


def neutral_map(folder: Path) -> None:
    """A map beside a PLOT3D file."""
    plot3d(folder)
    write_grid(folder / "g.xyz", read_grid(folder / "g.xyz"), text=True)


def cgns(folder: Path) -> None:
    """Of the same grid."""
    plot3d(folder)
    write_grid(folder / "g.cgns", read_grid(folder / "g.xyz"))
    (folder / "g.xyz").unlink()
    _grid(folder, "g.cgns")


CORNERS = np.array([[0.2, 0.2, 0.2], [0.8, 0.2, 0.2], [0.2, 0.8, 0.2], [0.2, 0.2, 0.8]])
TETRAHEDRON = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))


def _body(folder: Path, kind: str, name: str, more: str = "") -> None:
    body = f'[[obstacles]]\ntype = "{kind}"\nfile = "{name}"\n{more}\n'
    (folder / "case.toml").write_text(BOX.format(lid=LID) + body)


def stl(folder: Path) -> None:
    """A tetrahedron in binary."""
    content = bytes(80) + struct.pack("<I", len(TETRAHEDRON))
    for triangle in TETRAHEDRON:
        content += bytes(12) + CORNERS[list(triangle)].astype("<f4").tobytes() + b"\0\0"
    (folder / "b.stl").write_bytes(content)
    _body(folder, "surface", "b.stl")


def text_stl(folder: Path) -> None:
    """A tetrahedron as text."""
    lines = ["solid b"]
    for triangle in TETRAHEDRON:
        lines += ["facet normal 0 0 0", "outer loop"]
        lines += [f"vertex {x:g} {y:g} {z:g}" for x, y, z in CORNERS[list(triangle)]]
        lines += ["endloop", "endfacet"]
    (folder / "b.stl").write_text("\n".join([*lines, "endsolid b\n"]))
    _body(folder, "surface", "b.stl")


def _heights() -> xr.Dataset:
    return xr.Dataset({"h": (("y", "x"), np.full((8, 8), 0.2))}, coords={"x": CENTRES, "y": CENTRES})


def netcdf3(folder: Path) -> None:
    """Heights in the classic format."""
    _heights().to_netcdf(folder / "h.nc", engine="scipy")
    _body(folder, "heights", "h.nc")


def netcdf4(folder: Path) -> None:
    """Heights in HDF5."""
    _heights().to_netcdf(folder / "h.nc", engine="h5netcdf")
    _body(folder, "heights", "h.nc")


def geotiff(folder: Path) -> None:
    """Heights as a picture."""
    import rasterio

    about = {"driver": "GTiff", "width": 8, "height": 8, "count": 1, "dtype": "float32"}
    place = rasterio.transform.from_bounds(0, 0, 1, 1, 8, 8)
    with rasterio.open(folder / "h.tif", "w", transform=place, crs="EPSG:32633", **about) as file:
        file.write(np.full((1, 8, 8), 0.2, "f4"))
    _body(folder, "heights", "h.tif")


def _flow() -> xr.Dataset:
    values = {name: (("z", "y", "x"), np.zeros((8, 8, 8))) for name in "uvw"}
    return xr.Dataset(values, coords=dict.fromkeys("xyz", CENTRES) | {axis: (axis, CENTRES) for axis in "xyz"})


def source(folder: Path) -> None:
    """Initial values in NetCDF."""
    _flow().to_netcdf(folder / "s.nc", engine="h5netcdf")
    (folder / "case.toml").write_text(BOX.format(lid=LID) + '[initial]\nsource = "s.nc"\n')


def _store(folder: Path, version: int) -> None:
    _flow().to_zarr(folder / "s.zarr", zarr_format=version, consolidated=False)
    (folder / "case.toml").write_text(BOX.format(lid=LID) + '[initial]\nsource = "s.zarr"\n')


def zarr2(folder: Path) -> None:
    """Initial values in a store of format 2."""
    _store(folder, 2)


def zarr3(folder: Path) -> None:
    """Initial values in a store of format 3."""
    _store(folder, 3)


def csv(folder: Path) -> None:
    """A wall's speed over time."""
    (folder / "v.csv").write_text("time,speed\n0,0\n0.5,1e0\n1,1.5\n")
    (folder / "case.toml").write_text(BOX.format(lid='{ type = "wall", velocity = ["v.csv", 0, 0] }'))


KINDS: dict[str, tuple[Callable[[Path], None], ...]] = {
    "PLOT3D": (plot3d, binary_plot3d), "CGNS": (cgns,), "STL": (stl, text_stl), "NetCDF": (netcdf3, netcdf4, source),
    "GeoTIFF": (geotiff,), "Zarr": (zarr2, zarr3), "csv": (csv,), "neutral map": (neutral_map,),
}  # fmt: skip
assert h5py  # what writes NetCDF and CGNS is loaded once, before any process is forked
