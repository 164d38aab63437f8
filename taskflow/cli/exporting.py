"""`taskflow export`: records of a run as files for other programs."""

from __future__ import annotations

from pathlib import Path

from taskflow.cli.ending import refuse
from taskflow.cli.words import tell
from taskflow.errors import BadInput
from taskflow.output import STORE


def export_run(directory: Path, group: str, time: float | None, out: Path | None, *, vtk: bool, netcdf: bool) -> None:
    """Write the snapshots, or another group of the store, as VTK or NetCDF files, and print what to open.

    Raises BadInput where no format is asked for, or what is asked for is not there.
    """
    from taskflow.output import at_time, dataset, export_netcdf, export_vtk

    if not (vtk or netcdf):
        raise BadInput("--vtk, --netcdf: give a format, or both")
    ds = dataset(directory / STORE, group)
    ds = ds if time is None else at_time(ds, time)
    name, folder = group or "fields", directory if out is None else out
    try:
        if vtk:
            tell(export_vtk(ds, folder / "vtk" if out is None else folder, name))
        if netcdf:
            tell(export_netcdf(ds, folder / f"{name}.nc"))
    except OSError as error:
        refuse(f"{error.filename or folder}: {error.strerror or error}; choose another place with -o")
