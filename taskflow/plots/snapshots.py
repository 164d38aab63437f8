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

NO_WINDOW = "--window: of runs on charts alone; leave it out"
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
    ds, look = snapshot(directory, time), replace(look, given=given_ranges(box_snapshots(directory)))
    cut = plane_of(ds, plane)
    names = [name for name in on_cells(ds) if name != SOLID]
    flows = set(VELOCITY.values()) <= set(names)
    known = [*names, *([SPEED] if flows else [])]
    if field is not None and field not in known:
        raise BadInput(f"field = {field!r}: unknown field; choose one of {', '.join(sorted(known))}")
    drawn = [field] if field is not None else [SPEED] if flows else [] if "T" in names else [min(names)]
    drawn += ["T"] if field is None and "T" in names else []
    if len(drawn) > 1 and (look.range is not None or look.log or look.cmap is not None):
        raise BadInput(f"--range, --log, --cmap: {' and '.join(drawn)} are drawn; choose one, as --field {drawn[0]}")
    panels = [_speed if name == SPEED else _scalar(name) for name in drawn]
    if interface:
        has_interface(names)
    name = "velocity" if drawn[0] == SPEED else drawn[0]
    return [save(_figure(panels, ds, cut, look, interface=interface), directory, name, out)]


def has_interface(names: Collection[str]) -> None:
    """Raise BadInput if a run has not recorded the share of a phase."""
    if "f" not in names:
        raise BadInput("--interface: f is not among the fields of this run; give output.fields with f, or omit it")


def draw_interface(axes: Axes, ds: xr.Dataset, plane: CutPlane) -> ContourSet | None:
    """Draw the line f = 1/2, if it exists."""
    values = fluid_on_plane(ds, "f", plane)
    if min(values.shape) < 2 or not np.nanmin(values) < 0.5 < np.nanmax(values):
        return None
    centres = ds[f"{plane.across}_c"].values, ds[f"{plane.up}_c"].values
    return axes.contour(*centres, values, levels=[0.5], colors=["white"], linewidths=1.5)


def streamlines_of(ds: xr.Dataset, plane: CutPlane) -> Figure:
    """Return a figure of the velocity magnitude of a snapshot on a plane, with streamlines."""
    return _figure([_speed], ds, plane, Look())


def title(ds: xr.Dataset, plane: CutPlane) -> str:
    """Return the case, the time (except for means) and the plane."""
    when = f"{moment(ds.attrs, float(ds['time']))},  " if "time" in ds.coords else ""
    return literal(f"{ds.attrs.get('title', '')}\n{when}{plane}".strip())


def label(array: xr.DataArray, words: str) -> str:
    """Return words with the unit, or without one for a case in consistent units."""
    units = array.attrs.get("units", "1")
    return words if units == "1" else f"{words} [{units}]"


def words_of(ds: xr.Dataset, field: str) -> str:
    """Return the description of a field, with its unit."""
    if field == SPEED:
        return label(ds["u"], "velocity magnitude")
    return label(ds[field], ", ".join(dict.fromkeys((field, ds[field].attrs.get("long_name", field)))))


def panels_of(ds: xr.Dataset, plane: CutPlane, look: Look, count: int = 1, dpi: int = DPI) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels in a row, or in a column if they are wide, in the proportions of the domain.

    They have axes, bodies and a title above the first.
    """
    true = _aspect(ds, plane)
    aspect = min(max(true, 1 / THIN), THIN)
    side = FLAT_SIDE if aspect > FLAT else SIDE
    width, height = side * min(1.0, aspect), side / max(1.0, aspect)
    rows, columns = (count, 1) if aspect > WIDE else (1, count)
    size = look.figure_size(columns * (width + 1.6), rows * (height + 0.8) + 0.6, dpi)
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    panels = list(figure.subplots(rows, columns, squeeze=False).flat)
    panels[0].set_title(title(ds, plane), fontsize="medium", loc="left")
    for axes in panels:
        _bodies(axes, ds, plane)
        axes.set_aspect(true / aspect)
        axes.set_xlim(*extent(ds, plane.across))
        axes.set_ylim(*extent(ds, plane.up))
        axes.locator_params(axis="x", nbins=max(3, round(1.2 * width)))
        axes.locator_params(axis="y", nbins=max(3, round(1.5 * height)))
        axes.set_xlabel(label(ds[f"{plane.across}_c"], plane.across))
        axes.set_ylabel(label(ds[f"{plane.up}_c"], plane.up))
    return figure, panels


def draw_image(axes: Axes, ds: xr.Dataset, plane: CutPlane, values: np.ndarray, colours: Colours) -> AxesImage:
    """Draw values [up, across] of the cells as colours, with a colour bar."""
    domain = (*extent(ds, plane.across), *extent(ds, plane.up))
    pixels = image_of(ds, plane, colours.shown(values))
    image = axes.imshow(
        pixels, origin="lower", extent=domain, aspect=axes.get_aspect(), interpolation="bilinear", **colours.keywords
    )
    colours.bar(axes, image)
    return image


def colours_of(field: str, values: np.ndarray, words: str, look: Look) -> Colours:
    """Return the colours of values of a field. A speed starts at 0, and the zero of a temperature is arbitrary."""
    bottom = {SPEED: 0.0, "T": float(np.nanmin(values)) if np.isfinite(values).any() else 0.0}.get(field)
    return look.colours(values, words, "RdYlBu_r" if field == "T" else "viridis", bottom, field)


def image_of(ds: xr.Dataset, plane: CutPlane, values: np.ndarray) -> np.ndarray:
    """Return values [up, across] of the cells at evenly spaced points that show the smallest cell."""
    return _evenly(ds, plane, values, *(_pixels(ds, axis) for axis in (plane.across, plane.up)))


def _pixels(ds: xr.Dataset, axis: str) -> np.ndarray:
    """Return the centres of equal parts no wider than the smallest cell, at most POINTS."""
    places = edges(ds, axis)
    whole = places[-1] - places[0]
    count = max(len(places) - 1, min(POINTS, ceil(whole / np.diff(places).min() * (1 - 1e-9))))
    return places[0] + (np.arange(count) + 0.5) * whole / count


def _figure(panels: list[Panel], ds: xr.Dataset, plane: CutPlane, look: Look, *, interface: bool = False) -> Figure:
    """Draw the panels, with the line f = 1/2 over each if `interface`."""
    figure, places = panels_of(ds, plane, look, len(panels))
    for axes, draw in zip(places, panels, strict=True):
        draw(axes, ds, plane, look)
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
