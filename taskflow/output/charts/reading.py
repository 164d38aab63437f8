"""The store of a run on charts as xarray reads it, finished or not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from taskflow.errors import BadInput
from taskflow.output.charts.layout import SidePatch
from taskflow.output.charts.store import CHART, PATCHES, from_json
from taskflow.output.damage import RESTORE, Damaged
from taskflow.output.groups import CHARTS, checked
from taskflow.output.metadata import FIRST
from taskflow.output.names import STORE
from taskflow.output.reading import at_time
from taskflow.runtime.regions import Triple


def has_charts(path: str | Path, group: str = "") -> bool:
    """Return whether a group of a store has charts."""
    return Path(path, group, CHARTS, "0", "zarr.json").exists()


def tree(path: str | Path, group: str = "") -> xr.DataTree:
    """Return the complete records in a group of a store of charts, by default the snapshots, as lazy arrays: a child
    "charts/0", ... for each chart, with fields (time, k, j, i) in its cells, and as coordinates x, y, z of its vertices
    (k_vertex, j_vertex, i_vertex) and x_c, y_c, z_c of its centres (k, j, i).

    Raises BadInput where there is none, or it is damaged; and so does reading values, whenever that happens.
    """
    where = Path(path)
    try:
        store: Any = checked(where, group)
        groups = xr.open_groups(store, engine="zarr", group=group or None, consolidated=True, chunks=None)
        # other groups, such as statistics, have times of their own, which no one tree has room for
        within = {path.removeprefix(f"/{group}").lstrip("/."): part for path, part in groups.items()}
        own = {path or "/": part for path, part in within.items() if path.split("/")[0] in ("", CHARTS)}
        opened = xr.DataTree.from_dict(own)
        slots = opened.coords["time"].values
        if not has_charts(where, group):
            raise BadInput(f"{where}: it has no charts; read it by taskflow.output.dataset")
        return opened.isel(time=slice(int(np.isfinite(slots).sum())))
    except BadInput:
        raise
    except OSError as error:
        raise BadInput(
            f"{where}: no {group or 'snapshots'} to read; give the folder that `taskflow run` wrote"
        ) from error
    except Exception as error:  # whatever Zarr and xarray make of metadata that nobody wrote
        about = where / group / "zarr.json"
        raise Damaged(f"{about}: it is not as it was written ({type(error).__name__}: {error}); {RESTORE}") from None


def charts(records: xr.DataTree) -> Iterator[tuple[int, xr.Dataset]]:
    """Yield the number and the dataset of each chart, in order, with the time. Raises BadInput where there are none."""
    if CHARTS not in records.children:
        raise BadInput("the tree has no charts; give the whole tree of a run on charts, as run.dataset() returns it")
    for number in sorted(records[CHARTS].children, key=int):
        chart = records[f"{CHARTS}/{number}"].to_dataset()
        yield int(number), chart.assign_coords(records.coords)  # of one record the time is not inherited


def patches(records: xr.DataTree) -> dict[str, list[SidePatch]]:
    """Return the patches of all sides by name. Raises Damaged where charts do not say them."""
    sides: dict[str, list[SidePatch]] = {}
    for number, chart in charts(records):
        try:
            own = from_json(number, str(chart.attrs[PATCHES]))
        except (KeyError, TypeError, ValueError) as error:
            raise Damaged(f"{CHARTS}/{number}: its sides are not as they were written ({error}); {RESTORE}") from None
        for name, some in own.items():
            sides.setdefault(name, []).extend(some)
    return sides


def place_of(number: int, chart: xr.Dataset) -> tuple[int, Triple]:
    """Return the number in the whole grid of the chart of which these are cells, and the first of them there along i, j
    and k: those of a plane that was recorded say it. Raises Damaged where they do not say it as it was written.
    """
    if CHART not in chart.attrs:
        return number, (0, 0, 0)
    try:
        i, j, k = map(int, json.loads(chart.attrs[FIRST]))
        return int(chart.attrs[CHART]), (i, j, k)
    except (KeyError, TypeError, ValueError) as error:
        raise Damaged(f"{CHARTS}/{number}: it does not say whose cells it has ({error}); {RESTORE}") from None


def snapshot_of(directory: str | Path, time: float | None, group: str = "") -> xr.DataTree:
    """Return the snapshot of a run on charts at a time, or its last one; or the record of another group. Raises
    BadInput where there is none.
    """
    records = tree(Path(directory) / STORE, group)
    if not records.sizes["time"]:
        missing = f"record of {group}" if group else "snapshot"
        raise BadInput(f"{directory}: no {missing} is complete yet; wait for the first one")
    return records.isel(time=-1) if time is None else tree_at(records, time).isel(time=0)


def tree_at(records: xr.DataTree, time: float) -> xr.DataTree:
    """Return the one record of a time. Raises BadInput where there is none."""
    chosen = at_time(records.to_dataset().assign(number=("time", np.arange(records.sizes["time"]))), time)
    return records.isel(time=chosen["number"].values)
