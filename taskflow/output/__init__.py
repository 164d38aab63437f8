"""Files of a run: store, checkpoints, log and report, and their export to other formats.

It knows how values and their metadata are stored, and whether files are intact. It does not know how a run computes
them (`flow`, `runs`), how they are evaluated (`analysis`), or how to draw them (`plots`).

Names load their module when first used (PEP 562), because Zarr and xarray take half a second each to import.
"""

from typing import TYPE_CHECKING

from taskflow.common.lazy import attributes

_NAMES = {
    "store.chart_layout": ("ChartsLayout",),
    "checkpoint.checkpoint": ("Checkpoint", "Checkpoints", "first_blocks", "newest"),
    "checkpoint.comparing": ("RunComparison", "sum_of_group", "sum_of_times"),
    "disk.damage": ("Damaged",),
    "disk.disk": (
        "CASE", "CHECKPOINTS", "INITIAL", "LOCK", "LOG", "REPORT", "STORE",
        "Guard", "has_charts", "lockable", "on_disk", "replace_synced", "sweep", "sync_folder", "unguarded",
    ),
    "export.export": ("export_netcdf", "export_vtk"),
    "checkpoint.initial": ("load_initial", "save_initial", "save_parts"),
    "store.layout": ("FieldMetadata", "RecordsLayout", "StoreLayout"),
    "log": ("RunLog", "Tail", "read_log", "read_report", "write_report"),
    "store.metadata": ("IN_BODIES", "SOLID", "statistics_metadata"),
    "store.reading": ("at_time", "dataset", "tree"),
    "store.recorded": ("RecordedArray", "cut_recorded"),
    "store.shards": ("BlockStore", "recover", "reshard"),
    "checkpoint.remapping": ("RemappedField",),
    "checkpoint.saved": ("SavedState", "live", "saved_state"),
    "store.store": ("Store", "create", "remove"),
    "store.time_series": ("TimeSeries", "create_time_series", "write_time_series"),
    "disk.writer": ("Writer",),
}  # fmt: skip
_HOME = {name: f"{__name__}.{module}" for module, names in _NAMES.items() for name in names}

__all__ = ["dataset", "export_netcdf", "export_vtk"]  # for users; the rest is for other rooms

if TYPE_CHECKING:
    from taskflow.output.checkpoint.checkpoint import Checkpoint, Checkpoints, first_blocks, newest
    from taskflow.output.checkpoint.comparing import RunComparison, sum_of_group, sum_of_times
    from taskflow.output.checkpoint.initial import load_initial, save_initial, save_parts
    from taskflow.output.checkpoint.remapping import RemappedField
    from taskflow.output.checkpoint.saved import SavedState, live, saved_state
    from taskflow.output.disk.damage import Damaged
    from taskflow.output.disk.disk import (
        CASE,
        CHECKPOINTS,
        INITIAL,
        LOCK,
        LOG,
        REPORT,
        STORE,
        Guard,
        has_charts,
        lockable,
        on_disk,
        replace_synced,
        sweep,
        sync_folder,
        unguarded,
    )
    from taskflow.output.disk.writer import Writer
    from taskflow.output.export.export import export_netcdf, export_vtk
    from taskflow.output.log import RunLog, Tail, read_log, read_report, write_report
    from taskflow.output.store.chart_layout import ChartsLayout
    from taskflow.output.store.layout import FieldMetadata, RecordsLayout, StoreLayout
    from taskflow.output.store.metadata import IN_BODIES, SOLID, statistics_metadata
    from taskflow.output.store.reading import at_time, dataset, tree
    from taskflow.output.store.recorded import RecordedArray, cut_recorded
    from taskflow.output.store.shards import BlockStore, recover, reshard
    from taskflow.output.store.store import Store, create, remove
    from taskflow.output.store.time_series import TimeSeries, create_time_series, write_time_series

__getattr__, __dir__ = attributes(__name__, _HOME, __all__)
