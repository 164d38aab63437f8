"""Records of a run as a NetCDF file (version 4), written piece by piece."""

from __future__ import annotations

from pathlib import Path

import xarray as xr

from taskflow.errors import BadInput
from taskflow.output.disk import on_disk


def export_netcdf(ds: xr.Dataset, path: str | Path) -> Path:
    """Write a dataset, with all its attributes and as precisely as it is; returns the file.

    Raises BadInput where what writes NetCDF is not installed, RunFailed where the disk is full.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}")
    pieces = ds.chunk({dim: 1 if dim == "time" else "auto" for dim in ds.dims})
    for variable in pieces.variables.values():
        variable.encoding = {"_FillValue": None}  # what the store said of its own pieces and codecs
    try:
        with on_disk(f"{target}"):
            pieces.to_netcdf(draft, engine="h5netcdf", format="NETCDF4")
            draft.replace(target)
    except ImportError as error:
        raise BadInput(f'NetCDF cannot be written here ({error}); pip install "taskflow-cfd[netcdf]"') from error
    finally:
        draft.unlink(missing_ok=True)
    return target
