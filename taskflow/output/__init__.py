"""The files of a run: store, checkpoints, log and report, and their export to other formats.

It knows how values and their meaning are stored, and whether files are as they were written. It does not know how a run
computes them (`flow`, `simulation`), what follows from them (`analysis`), or how to draw it (`plots`).

Names load their module when first used (PEP 562): Zarr and xarray cost half a second each.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

_NAMES = {
    "chart_layout": ("ChartsLayout", "Piece", "pieces_of", "shares"),
    "chart_store": ("ChartsBlockStore", "create_charts", "reshard_charts"),
    "checkpoint": ("Checkpoint", "Checkpoints", "newest"),
    "comparing": ("RunComparison", "sum_of_group", "sum_of_times"),
    "damage": ("Damaged",),
    "disk": (
        "CASE", "CHECKPOINTS", "INITIAL", "LOCK", "LOG", "REPORT", "STORE",
        "Guard", "has_charts", "on_disk", "replace_synced", "sweep", "sync_folder", "unguarded",
    ),
    "export": ("export_netcdf", "export_vtk"),
    "initial": ("load_initial", "save_initial", "save_parts"),
    "layout": ("FieldMetadata", "RecordsLayout", "StoreLayout", "starts_of"),
    "log": ("RunLog", "Tail", "read_log", "read_report", "write_report"),
    "metadata": ("IN_BODIES", "SOLID", "statistics_metadata"),
    "reading": ("at_time", "dataset", "tree"),
    "recorded": ("RecordedArray", "cut_recorded"),
    "shards": ("BlockStore", "recover", "reshard"),
    "remapped": ("RemappedField",),
    "saved": ("SavedState", "live", "saved_state"),
    "store": ("Store", "create", "remove"),
    "time_series": ("TimeSeries", "create_time_series", "write_time_series"),
    "writer": ("Writer",),
}  # fmt: skip
_HOME = {name: module for module, names in _NAMES.items() for name in names}

__all__ = ["dataset", "export_netcdf", "export_vtk"]  # for users; the rest is for other rooms

if TYPE_CHECKING:
    from taskflow.output.chart_layout import ChartsLayout, Piece, pieces_of, shares
    from taskflow.output.chart_store import ChartsBlockStore, create_charts, reshard_charts
    from taskflow.output.checkpoint import Checkpoint, Checkpoints, newest
    from taskflow.output.comparing import RunComparison, sum_of_group, sum_of_times
    from taskflow.output.damage import Damaged
    from taskflow.output.disk import (
        CASE,
        CHECKPOINTS,
        INITIAL,
        LOCK,
        LOG,
        REPORT,
        STORE,
        Guard,
        has_charts,
        on_disk,
        replace_synced,
        sweep,
        sync_folder,
        unguarded,
    )
    from taskflow.output.export import export_netcdf, export_vtk
    from taskflow.output.initial import load_initial, save_initial, save_parts
    from taskflow.output.layout import FieldMetadata, RecordsLayout, StoreLayout, starts_of
    from taskflow.output.log import RunLog, Tail, read_log, read_report, write_report
    from taskflow.output.metadata import IN_BODIES, SOLID, statistics_metadata
    from taskflow.output.reading import at_time, dataset, tree
    from taskflow.output.recorded import RecordedArray, cut_recorded
    from taskflow.output.remapped import RemappedField
    from taskflow.output.saved import SavedState, live, saved_state
    from taskflow.output.shards import BlockStore, recover, reshard
    from taskflow.output.store import Store, create, remove
    from taskflow.output.time_series import TimeSeries, create_time_series, write_time_series
    from taskflow.output.writer import Writer


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
