"""What leaves a run: the Zarr store, the log and report, pictures.

Names load their module when first used (PEP 562): Zarr, xarray and matplotlib cost half a second each.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOME = {
    "Layout": "layout",
    "starts_of": "layout",
    "BlockStore": "store",
    "Store": "store",
    "create": "store",
    "dataset": "accessor",
    "load_initial": "initial",
    "save_initial": "initial",
    "Writer": "writer",
    "TimeSeries": "time_series",
    "at_points": "time_series",
    "of_surface": "time_series",
    "of_waves": "time_series",
    "through_sides": "time_series",
    "create_time_series": "time_series_store",
    "write_time_series": "time_series_store",
    "Checkpoint": "checkpoint",
    "Checkpoints": "checkpoint",
    "Comparison": "comparing",
    "Damaged": "damage",
    "sum_of_group": "comparing",
    "sum_of_times": "comparing",
    "sweep": "disk",
    "newest": "checkpoint",
    "recover": "shards",
    "remove": "store",
    "reshard": "shards",
    "on_disk": "disk",
    "sync_folder": "disk",
    "Guard": "disk",
    "unguarded": "disk",
    "replace_synced": "disk",
    "RunLog": "log",
    "Tail": "log",
    "statistics_attributes": "metadata",
    "read_log": "log",
    "read_report": "log",
    "write_report": "log",
    "at_time": "planes",
    "export_netcdf": "netcdf",
    "export_vtk": "vtk",
    "plot_run": "plot",
    "plot_series": "series",
    "animate_run": "animation",
    "plane_values": "slices",
    "shown": "slices",
    "plot_shares": "shares",
    "compare_profiles": "profiles",
    "plot_profiles": "profiles",
    "plot_scaling": "scaling",
    "plot_campaign": "campaign",
    "plot_convergence": "convergence",
}

__all__ = [
    "BlockStore",
    "Checkpoint",
    "Checkpoints",
    "Comparison",
    "Damaged",
    "Guard",
    "Layout",
    "RunLog",
    "Store",
    "Tail",
    "TimeSeries",
    "Writer",
    "animate_run",
    "at_points",
    "at_time",
    "compare_profiles",
    "create",
    "create_time_series",
    "dataset",
    "export_netcdf",
    "export_vtk",
    "load_initial",
    "newest",
    "of_surface",
    "of_waves",
    "on_disk",
    "plane_values",
    "plot_campaign",
    "plot_convergence",
    "plot_profiles",
    "plot_run",
    "plot_scaling",
    "plot_series",
    "plot_shares",
    "read_log",
    "read_report",
    "recover",
    "remove",
    "replace_synced",
    "reshard",
    "save_initial",
    "shown",
    "starts_of",
    "statistics_attributes",
    "sum_of_group",
    "sum_of_times",
    "sweep",
    "sync_folder",
    "through_sides",
    "unguarded",
    "write_report",
    "write_time_series",
]

if TYPE_CHECKING:
    from taskflow.output.accessor import dataset
    from taskflow.output.animation import animate_run
    from taskflow.output.campaign import plot_campaign
    from taskflow.output.checkpoint import Checkpoint, Checkpoints, newest
    from taskflow.output.comparing import Comparison, sum_of_group, sum_of_times
    from taskflow.output.convergence import plot_convergence
    from taskflow.output.damage import Damaged
    from taskflow.output.disk import Guard, on_disk, replace_synced, sweep, sync_folder, unguarded
    from taskflow.output.initial import load_initial, save_initial
    from taskflow.output.layout import Layout, starts_of
    from taskflow.output.log import RunLog, Tail, read_log, read_report, write_report
    from taskflow.output.metadata import statistics_attributes
    from taskflow.output.netcdf import export_netcdf
    from taskflow.output.planes import at_time
    from taskflow.output.plot import plot_run
    from taskflow.output.profiles import compare_profiles, plot_profiles
    from taskflow.output.scaling import plot_scaling
    from taskflow.output.series import plot_series
    from taskflow.output.shards import recover, reshard
    from taskflow.output.shares import plot_shares
    from taskflow.output.slices import plane_values, shown
    from taskflow.output.store import BlockStore, Store, create, remove
    from taskflow.output.time_series import TimeSeries, at_points, of_surface, of_waves, through_sides
    from taskflow.output.time_series_store import create_time_series, write_time_series
    from taskflow.output.vtk import export_vtk
    from taskflow.output.writer import Writer


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
