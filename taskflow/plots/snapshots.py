"""Pictures of snapshots on a plane: of a box as pixels, of body-fitted charts as triangles."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import xarray as xr
from matplotlib.figure import Figure

from taskflow.analysis.planes import plane_of
from taskflow.common.derived_names import SPEED
from taskflow.common.errors import BadInput
from taskflow.output import STORE, has_charts
from taskflow.output.store.metadata import GIVEN
from taskflow.output.store.reading import box_snapshots, charts, snapshot, snapshot_of, tree
from taskflow.plots import DPI, save
from taskflow.plots.look import Look
from taskflow.plots.pixels import Inside, PixelPlane

if TYPE_CHECKING:
    from taskflow.plots.triangles import TrianglePlane, Window

NO_WINDOW = "--window: of runs on charts alone; omit it"
STATISTICS = "statistics"  # a group of the store
Bodies = Callable[[Mapping[Any, Any]], Inside | None]  # of a run with these attributes


def stairs(attributes: Mapping[Any, Any]) -> Inside | None:
    """Bodies are drawn as their solid cells."""
    return None


def plot_run(
    directory: str | Path,
    field: str | None = None,
    plane: str | None = None,
    time: float | None = None,
    out: str | Path | None = None,
    *,
    interface: bool = False,
    window: Window | None = None,
    look: Look = Look(),  # noqa: B008  a value
    bodies: Bodies = stairs,
) -> Path:
    """Draw a snapshot of a run, by default the last, on a plane, and return the written file.

    Without `field` a picture follows the flow: phases filled, the temperature with isolines, the vorticity of wakes and
    of periodic flows, or the velocity magnitude with streamlines. `field` is recorded or derived, such as "speed",
    "vorticity_z", "Q" or "lambda2", on charts also one of the statistics. `plane` is "x", "y", "z" (the centre) or
    "z=0.3", by default the centre of the thinnest direction. `out` is a file, whose suffix selects the format, or a
    folder, by default the run's folder. `interface` adds the line f = 1/2 on a box. `window` is the part of charts to
    show. `bodies` returns the given bodies of a box. Raises BadInput if a requested item does not exist.
    """
    record = _record(directory, field, time)
    part = plane_through(record, plane, window, bodies(record.attrs))
    name = part.chosen(field)
    whole = box_snapshots(directory) if isinstance(record, xr.Dataset) else tree(Path(directory) / STORE)
    figure = draw(part, name, replace(look, given=given_ranges(whole)), interface=interface)
    return save(figure, directory, "velocity" if name == SPEED else name, out)


def draw(
    part: PixelPlane | TrianglePlane, name: str, look: Look, *, lines: bool = True, interface: bool = False
) -> Figure:
    """Return a figure of a field of a plane, the speed with streamlines if `lines`, and with the line f = 1/2."""
    figure, axes = part.panel(look)
    part.draw(axes, name, look, lines=lines)
    if interface:
        part.interface(axes)
    look.trim(figure)
    if look.size is not None:
        figure.set_dpi(DPI)
    return figure


def plane_through(
    record: xr.Dataset | xr.DataTree, plane: str | None, window: Window | None = None, inside: Inside | None = None
) -> PixelPlane | TrianglePlane:
    """Return the plane of one record, named as for `plot_run`. Raises BadInput if it is outside the domain."""
    if isinstance(record, xr.DataTree):
        from taskflow.plots.triangles import TrianglePlane

        return TrianglePlane.of(record, plane, window)
    if window is not None:
        raise BadInput(NO_WINDOW)
    return PixelPlane(record, plane_of(record, plane), inside)


def _record(directory: str | Path, field: str | None, time: float | None) -> xr.Dataset | xr.DataTree:
    """Return a snapshot, or on charts the statistics if only these have a field."""
    store = Path(directory) / STORE
    if not has_charts(store):
        return snapshot(directory, time)
    from taskflow.analysis.charts.derived import fields_of

    averaged = fields_of(tree(store, STATISTICS)) if has_charts(store, STATISTICS) else []
    return snapshot_of(directory, time, STATISTICS if field in averaged else "")


def given_ranges(records: xr.Dataset | xr.DataTree) -> dict[str, tuple[float, float]]:
    """Return the ranges of prescribed values on sides, in bodies and at the start of a run, by field.

    Only fields in its snapshots are included. An end is infinite if sources can exceed it.
    """
    ranges = {}
    for key, text in records.attrs.items():
        name = str(key).removeprefix(GIVEN)
        first = list(_first(records, name)) if name != key else []
        if first:
            low, high = (side if end is None else float(end) for end, side in
                         zip(json.loads(text), (-math.inf, math.inf), strict=True))  # fmt: skip
            ranges[name] = min(low, *(float(x.min()) for x in first)), max(high, *(float(x.max()) for x in first))
    return ranges


def _first(records: xr.Dataset | xr.DataTree, name: str) -> Iterator[xr.DataArray]:
    parts = [records] if isinstance(records, xr.Dataset) else [chart for _, chart in charts(records)]
    for part in parts:
        if name in part and part.sizes.get("time", 0):
            yield part[name].isel(time=0)
