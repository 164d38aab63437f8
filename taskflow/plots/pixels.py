"""A plane of a snapshot of a box, drawn as pixels."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.contour import ContourSet
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from taskflow.analysis.planes import SPEED, VELOCITY, CutPlane, fluid_on_plane, on_cells, on_plane
from taskflow.common.errors import BadInput
from taskflow.output.store.metadata import SOLID
from taskflow.output.store.reading import edges, extent
from taskflow.plots import DPI
from taskflow.plots.look import Colours, Look, label, title
from taskflow.plots.streamlines import draw_streamlines

SIDE, FLAT_SIDE = 5.2, 7.8  # inches along the longer side of a panel, of a flat one
WIDE, FLAT = 1.5, 3.0  # smallest width over height of stacked and of flat panels
THIN = 10.0  # largest length over width in a picture, so that thin domains stay visible
POINTS = 1000  # of an image along a side, at most
BODY = 0.6  # the grey of bodies


@dataclass(frozen=True)
class PixelPlane:
    """A plane of one record of a box."""

    ds: xr.Dataset
    cut: CutPlane

    def chosen(self, field: str | None) -> list[str]:
        """Return the fields to draw: this one, or by default the speed, and the temperature if it exists.

        Raises BadInput if the field does not exist.
        """
        names = [name for name in on_cells(self.ds) if name != SOLID]
        flows = set(VELOCITY.values()) <= set(names)
        known = [*names, *([SPEED] if flows else [])]
        if field is not None and field not in known:
            raise BadInput(f"field = {field!r}: unknown field; choose one of {', '.join(sorted(known))}")
        if field is not None:
            return [field]
        return [*([SPEED] if flows else [] if "T" in names else [min(names)]), *(["T"] if "T" in names else [])]

    def panels(self, look: Look, count: int = 1, dpi: int = DPI) -> tuple[Figure, list[Axes]]:
        """Return a figure with panels in a row, or in a column if they are wide, in the proportions of the domain.

        They have axes, bodies and a title above the first.
        """
        ds, cut, true = self.ds, self.cut, self._aspect
        aspect = min(max(true, 1 / THIN), THIN)
        side = FLAT_SIDE if aspect > FLAT else SIDE
        width, height = side * min(1.0, aspect), side / max(1.0, aspect)
        rows, columns = (count, 1) if aspect > WIDE else (1, count)
        size = look.figure_size(columns * (width + 1.6), rows * (height + 0.8) + 0.6, dpi)
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        panels = list(figure.subplots(rows, columns, squeeze=False).flat)
        panels[0].set_title(title(ds, cut), fontsize="medium", loc="left")
        for axes in panels:
            self._bodies(axes)
            axes.set_aspect(true / aspect)
            axes.set_xlim(*extent(ds, cut.across))
            axes.set_ylim(*extent(ds, cut.up))
            axes.locator_params(axis="x", nbins=max(3, round(1.2 * width)))
            axes.locator_params(axis="y", nbins=max(3, round(1.5 * height)))
            axes.set_xlabel(label(ds[f"{cut.across}_c"], cut.across))
            axes.set_ylabel(label(ds[f"{cut.up}_c"], cut.up))
        return figure, panels

    def draw(self, axes: Axes, field: str, look: Look, *, lines: bool = True) -> None:
        """Draw a field: the speed, of all three components, with streamlines of the two in the plane if `lines`, the
        temperature with isolines, others with a scale that shows both signs.
        """
        if field == SPEED:
            return self._speed(axes, look, lines=lines)
        values, fluid = on_plane(self.ds, field, self.cut), fluid_on_plane(self.ds, field, self.cut)
        self.image(axes, values, colours_of(field, fluid, words_of(self.ds, field), look))
        if field == "T" and min(values.shape) >= 2 and np.nanmax(fluid) > np.nanmin(fluid):
            levels = np.linspace(float(np.nanmin(fluid)), float(np.nanmax(fluid)), 17)[1:-1]
            style: dict[str, Any] = {"colors": "black", "linewidths": 0.5, "linestyles": "solid", "alpha": 0.6}
            axes.contour(*self._centres, fluid, levels=levels, **style)
        return None

    def image(self, axes: Axes, values: np.ndarray, colours: Colours) -> AxesImage:
        """Draw values [up, across] of the cells as colours, with a colour bar."""
        domain = (*extent(self.ds, self.cut.across), *extent(self.ds, self.cut.up))
        pixels, aspect = self.pixels(colours.shown(values)), axes.get_aspect()
        how: dict[str, Any] = {"extent": domain, "aspect": aspect, "interpolation": "bilinear", **colours.keywords}
        image = axes.imshow(pixels, origin="lower", **how)
        colours.bar(axes, image)
        return image

    def pixels(self, values: np.ndarray) -> np.ndarray:
        """Return values [up, across] of the cells at evenly spaced points that show the smallest cell."""
        return self._evenly(values, *(_pixels(self.ds, axis) for axis in (self.cut.across, self.cut.up)))

    def interface(self, axes: Axes) -> ContourSet | None:
        """Draw the line f = 1/2, if it exists. Raises BadInput if the run has not recorded the share of a phase."""
        require_interface(self.ds)
        values = fluid_on_plane(self.ds, "f", self.cut)
        if min(values.shape) < 2 or not np.nanmin(values) < 0.5 < np.nanmax(values):
            return None
        return axes.contour(*self._centres, values, levels=[0.5], colors=["white"], linewidths=1.5)

    @property
    def solid(self) -> np.ndarray:
        """A mask [up, across] of solid cells."""
        shape = (self.ds.sizes[f"{self.cut.up}_c"], self.ds.sizes[f"{self.cut.across}_c"])
        return on_plane(self.ds, SOLID, self.cut) >= 0.5 if SOLID in self.ds else np.zeros(shape, dtype=bool)

    @property
    def _centres(self) -> tuple[np.ndarray, np.ndarray]:
        return self.ds[f"{self.cut.across}_c"].values, self.ds[f"{self.cut.up}_c"].values

    @property
    def _aspect(self) -> float:
        """Width over height of the domain in the plane."""
        (left, right), (bottom, top) = extent(self.ds, self.cut.across), extent(self.ds, self.cut.up)
        return (right - left) / (top - bottom)

    def _bodies(self, axes: Axes) -> None:
        """Draw solid cells in grey."""
        solid = self.solid
        if solid.any():
            shade = np.ma.masked_where(~solid, np.full(solid.shape, BODY))
            cells = edges(self.ds, self.cut.across), edges(self.ds, self.cut.up)
            axes.pcolormesh(*cells, shade, cmap="gray", vmin=0.0, vmax=1.0, zorder=3)

    def _speed(self, axes: Axes, look: Look, *, lines: bool) -> None:
        velocity = {axis: on_plane(self.ds, name, self.cut) for axis, name in VELOCITY.items()}
        speed = np.sqrt(sum(component**2 for component in velocity.values()))
        solid = self.solid
        colours = colours_of(SPEED, np.where(solid, np.nan, speed), words_of(self.ds, SPEED), look)
        self.image(axes, speed, colours)
        if lines:
            x, y = (np.linspace(centres[0], centres[-1], len(centres)) for centres in self._centres)
            even = (self._evenly(velocity[self.cut.across], x, y), self._evenly(velocity[self.cut.up], x, y))
            aspect = min(max(self._aspect, 1 / THIN), THIN)
            draw_streamlines(axes, x, y, even, self._evenly(solid.astype("f8"), x, y) >= 0.5, aspect)

    def _evenly(self, values: np.ndarray, across: np.ndarray, up: np.ndarray) -> np.ndarray:
        """Return values [up, across] of the cells at evenly spaced points."""
        columns, rows = self._centres
        lines = np.array([np.interp(across, columns, line) for line in values])
        return np.array([np.interp(up, rows, line) for line in lines.T]).T


def require_interface(ds: xr.Dataset) -> None:
    """Raise BadInput if a run has not recorded the share of a phase."""
    if "f" not in ds:
        raise BadInput("--interface: f is not among the fields of this run; give output.fields with f, or omit it")


def words_of(ds: xr.Dataset, field: str) -> str:
    """Return the description of a field, with its unit."""
    if field == SPEED:
        return label(ds["u"], "velocity magnitude")
    return label(ds[field], ", ".join(dict.fromkeys((field, ds[field].attrs.get("long_name", field)))))


def colours_of(field: str, values: np.ndarray, words: str, look: Look) -> Colours:
    """Return the colours of values of a field. A speed starts at 0, and the zero of a temperature is arbitrary."""
    bottom = {SPEED: 0.0, "T": float(np.nanmin(values)) if np.isfinite(values).any() else 0.0}.get(field)
    return look.colours(values, words, "RdYlBu_r" if field == "T" else "viridis", bottom, field)


def _pixels(ds: xr.Dataset, axis: str) -> np.ndarray:
    """Return the centres of equal parts no wider than the smallest cell, at most POINTS."""
    places = edges(ds, axis)
    whole = places[-1] - places[0]
    count = max(len(places) - 1, min(POINTS, ceil(whole / np.diff(places).min() * (1 - 1e-9))))
    return places[0] + (np.arange(count) + 0.5) * whole / count
