"""Pictures of snapshots on a plane: of a box as pixels, of body-fitted charts as triangles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import xarray as xr
from matplotlib.figure import Figure

from taskflow.analysis.planes import SPEED, plane_of
from taskflow.common.errors import BadInput
from taskflow.output import STORE, has_charts
from taskflow.output.store.reading import box_snapshots, snapshot, snapshot_of, tree
from taskflow.plots import save
from taskflow.plots.given import given_ranges
from taskflow.plots.look import Look
from taskflow.plots.pixels import PixelPlane

if TYPE_CHECKING:
    from taskflow.plots.triangles import TrianglePlane, Window

NO_WINDOW = "--window: of runs on charts alone; omit it"
STATISTICS = "statistics"  # a group of the store


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
) -> Path:
    """Draw a snapshot of a run, by default the last, on a plane, and return the written file.

    Without `field` the velocity magnitude is drawn with streamlines, on a box with the temperature if it exists. With
    it, this field or the "speed", on charts also `Q` and fields of the statistics. `plane` is "x", "y", "z" (the
    centre) or "z=0.3", by default the centre of the thinnest direction. `out` is a file, whose suffix selects the
    format, or a folder, by default the run's folder. `interface` adds the line f = 1/2 on a box. `window` is the part
    of charts to show. Raises BadInput if a requested item does not exist.
    """
    record = _record(directory, field, time)
    part = plane_through(record, plane, window)
    fields = part.chosen(field)
    if len(fields) > 1 and (look.range is not None or look.log or look.cmap is not None):
        raise BadInput(f"--range, --log, --cmap: {' and '.join(fields)} are drawn; choose one, as --field {fields[0]}")
    whole = box_snapshots(directory) if isinstance(record, xr.Dataset) else tree(Path(directory) / STORE)
    figure = draw(part, fields, replace(look, given=given_ranges(whole)), interface=interface)
    return save(figure, directory, "velocity" if fields[0] == SPEED else fields[0], out)


def draw(
    part: PixelPlane | TrianglePlane, fields: Sequence[str], look: Look, *, lines: bool = True, interface: bool = False
) -> Figure:
    """Return a figure of fields of a plane, the speed with streamlines if `lines`, and with the line f = 1/2."""
    figure, panels = part.panels(look, len(fields))
    for axes, name in zip(panels, fields, strict=True):
        part.draw(axes, name, look, lines=lines)
        if interface:
            part.interface(axes)
    look.trim(figure)
    return figure


def plane_through(
    record: xr.Dataset | xr.DataTree, plane: str | None, window: Window | None = None
) -> PixelPlane | TrianglePlane:
    """Return the plane of one record, named as for `plot_run`. Raises BadInput if it is outside the domain."""
    if isinstance(record, xr.DataTree):
        from taskflow.plots.triangles import TrianglePlane

        return TrianglePlane.of(record, plane, window)
    if window is not None:
        raise BadInput(NO_WINDOW)
    return PixelPlane(record, plane_of(record, plane))


def _record(directory: str | Path, field: str | None, time: float | None) -> xr.Dataset | xr.DataTree:
    """Return a snapshot, or on charts the statistics if only these have a field."""
    store = Path(directory) / STORE
    if not has_charts(store):
        return snapshot(directory, time)
    from taskflow.analysis.charts.derived import fields_of

    averaged = fields_of(tree(store, STATISTICS)) if has_charts(store, STATISTICS) else []
    return snapshot_of(directory, time, STATISTICS if field in averaged else "")
