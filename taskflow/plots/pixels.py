"""A plane of a snapshot of a box, drawn as pixels, with the given bodies."""

from __future__ import annotations

from collections.abc import Callable
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

from taskflow.analysis.derived import known_fields
from taskflow.analysis.planes import VELOCITY, CutPlane, on_plane
from taskflow.analysis.shown import continued, in_fluid, shown_on_plane, solid_on_plane
from taskflow.common.derived_names import MAGNITUDES, SPEED, VORTICITY, WORDS, label_of
from taskflow.common.errors import BadInput
from taskflow.output.store.metadata import SOLID
from taskflow.output.store.reading import edges, extent, periodic
from taskflow.output.store.units import unit_of
from taskflow.plots import DPI
from taskflow.plots.look import Colours, Look, label, title, with_unit
from taskflow.plots.streamlines import draw_streamlines

SIDE, FLAT_SIDE = 5.2, 7.8  # inches along the longer side of a panel, of a flat one
FLAT = 3.0  # smallest width over height of a flat panel
THIN = 10.0  # largest length over width in a picture, so that thin domains stay visible
POINTS = 1000  # of an image along a side, at most
BODY = "0.6"  # the grey of bodies
FINE = 1500  # points along the longer side at which bodies are sampled
PHASES = ("#f7fbff", "#6baed6")  # colours of a fraction below and above 1/2
STRAY = 0.01  # of the cells: at most as many differ from the record of bodies that are as given
# Of the time and a lattice of increasing x, y and z: a mask [z, y, x] of points inside bodies
Inside = Callable[[float, np.ndarray, np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class PixelPlane:
    """A plane of one record of a box. `inside`: its bodies as given. Default: solid cells."""

    ds: xr.Dataset
    cut: CutPlane
    inside: Inside | None = None

    def chosen(self, field: str | None) -> str:
        """Return the field to draw, by default one that shows the kind of flow. Raises BadInput if it is unknown."""
        known = known_fields(self.ds)
        if field is not None and field not in known:
            listed = [*sorted({*known} - WORDS.keys()), *(name for name in known if name in WORDS)]
            raise BadInput(f"field = {field!r}: unknown field; choose one of {', '.join(listed)}")
        return field or self._default(known)

    def _default(self, known: list[str]) -> str:
        """Return the phase, the temperature, the vorticity of wakes and of periodic flows, or the speed."""
        if found := [name for name in ("f", "T") if name in known]:
            return found[0]
        if SPEED not in known:
            return min(known)
        whirls = self.solid.any() or all(periodic(self.ds, axis) for axis in (self.cut.across, self.cut.up))
        return f"{VORTICITY}_{self.cut.normal}" if whirls else SPEED

    def values(self, field: str) -> np.ndarray:
        """Return the values [up, across] of a field, NaN in bodies."""
        return in_fluid(self.ds, self.cut, shown_on_plane(self.ds, field, self.cut))

    def panel(self, look: Look, dpi: int = DPI) -> tuple[Figure, Axes]:
        """Return a figure in the proportions of the domain, with axes, bodies and a title."""
        ds, cut, true = self.ds, self.cut, self._aspect
        aspect = min(max(true, 1 / THIN), THIN)
        side = FLAT_SIDE if aspect > FLAT else SIDE
        width, height = side * min(1.0, aspect), side / max(1.0, aspect)
        figure = Figure(figsize=look.figure_size(width + 1.6, height + 1.4, dpi), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots()
        axes.set_title(title(ds, cut), fontsize="medium", loc="left")
        self._bodies(axes)
        axes.set_aspect(true / aspect)
        axes.set_xlim(*extent(ds, cut.across))
        axes.set_ylim(*extent(ds, cut.up))
        axes.locator_params(axis="x", nbins=max(3, round(1.2 * width)))
        axes.locator_params(axis="y", nbins=max(3, round(1.5 * height)))
        axes.set_xlabel(label(ds[f"{cut.across}_c"], cut.across))
        axes.set_ylabel(label(ds[f"{cut.up}_c"], cut.up))
        return figure, axes

    def draw(self, axes: Axes, field: str, look: Look, *, lines: bool = True) -> None:
        """Draw a field: speed with streamlines if `lines`, phases filled, temperature with isolines, else in colour."""
        values, fluid = shown_on_plane(self.ds, field, self.cut), self.values(field)
        if field == "f" and look.plain and min(values.shape) >= 2:
            return self._phases(axes, values)
        if field not in (SPEED, *VELOCITY.values()):
            values = continued(fluid)
        self.image(axes, values, colours_of(field, fluid, words_of(self.ds, field), look))
        if field == SPEED and lines:
            self._streamlines(axes)
        if field == "T" and min(values.shape) >= 2 and np.nanmax(fluid) > np.nanmin(fluid):
            levels = np.linspace(float(np.nanmin(fluid)), float(np.nanmax(fluid)), 17)[1:-1]
            style: dict[str, Any] = {"colors": "black", "linewidths": 0.5, "linestyles": "solid", "alpha": 0.6}
            axes.contour(*self._centres, fluid, levels=levels, **style)
        return None

    def _phases(self, axes: Axes, values: np.ndarray) -> None:
        """Fill both phases, with the interface as a line."""
        x, y = (_to_ends(self.ds, axis) for axis in (self.cut.across, self.cut.up))
        whole = np.pad(values, 1, mode="edge")
        axes.contourf(x, y, whole, levels=[-np.inf, 0.5, np.inf], colors=list(PHASES))
        if whole.min() < 0.5 < whole.max():
            axes.contour(x, y, whole, levels=[0.5], colors="#08306b", linewidths=1.2)

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
        values = self.values("f")
        if min(values.shape) < 2 or not np.nanmin(values) < 0.5 < np.nanmax(values):
            return None
        return axes.contour(*self._centres, values, levels=[0.5], colors=["white"], linewidths=1.5)

    @property
    def solid(self) -> np.ndarray:
        """A mask [up, across] of solid cells."""
        return solid_on_plane(self.ds, self.cut)

    @property
    def _centres(self) -> tuple[np.ndarray, np.ndarray]:
        return self.ds[f"{self.cut.across}_c"].values, self.ds[f"{self.cut.up}_c"].values

    @property
    def _aspect(self) -> float:
        """Width over height of the domain in the plane."""
        (left, right), (bottom, top) = extent(self.ds, self.cut.across), extent(self.ds, self.cut.up)
        return (right - left) / (top - bottom)

    def _bodies(self, axes: Axes) -> None:
        """Draw bodies in grey: as given where the record has them there, else their solid cells."""
        solid, inside = self.solid, self.inside
        centres = self._in_bodies(*self._centres)
        if inside is not None and SOLID in self.ds and np.mean(centres != solid) <= STRAY:
            ends = [extent(self.ds, axis) for axis in (self.cut.across, self.cut.up)]
            spacing = max(high - low for low, high in ends) / FINE
            x, y = (np.linspace(low, high, max(2, round((high - low) / spacing))) for low, high in ends)
            mask = self._in_bodies(x, y)
            if mask.any():
                axes.contourf(x, y, mask.astype("f4"), levels=[0.5, 1.5], colors=[BODY], zorder=3)
        elif solid.any():
            shade = np.ma.masked_where(~solid, np.full(solid.shape, float(BODY)))
            cells = edges(self.ds, self.cut.across), edges(self.ds, self.cut.up)
            axes.pcolormesh(*cells, shade, cmap="gray", vmin=0.0, vmax=1.0, zorder=3)

    def _in_bodies(self, across: np.ndarray, up: np.ndarray) -> np.ndarray:
        """Return a mask [up, across] of points in the given bodies."""
        if self.inside is None:
            return np.zeros((len(up), len(across)), bool)
        points = {self.cut.across: across, self.cut.up: up, self.cut.normal: np.array([self.cut.position])}
        time = float(self.ds["time"]) if "time" in self.ds.coords else 0.0
        mask = self.inside(time, *(points[axis] for axis in "xyz"))
        return mask.squeeze(2 - "xyz".index(self.cut.normal))

    def _streamlines(self, axes: Axes) -> None:
        x, y = (np.linspace(centres[0], centres[-1], len(centres)) for centres in self._centres)
        parts = (on_plane(self.ds, VELOCITY[axis], self.cut) for axis in (self.cut.across, self.cut.up))
        along, upwards = (self._evenly(part, x, y) for part in parts)
        aspect = min(max(self._aspect, 1 / THIN), THIN)
        draw_streamlines(axes, x, y, (along, upwards), self._evenly(self.solid.astype("f8"), x, y) >= 0.5, aspect)

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
    if field in WORDS and field not in ds:
        units = ds["u"].attrs.get("units", "1") if field == SPEED else unit_of(ds.attrs, field)
        return with_unit(label_of(field), units)
    return label(ds[field], ", ".join(dict.fromkeys((field, ds[field].attrs.get("long_name", field)))))


def colours_of(field: str, values: np.ndarray, words: str, look: Look) -> Colours:
    """Return the colours of values of a field. A magnitude starts at 0, and the zero of a temperature is arbitrary."""
    known = values[np.isfinite(values)]
    bottom = {**dict.fromkeys(MAGNITUDES, 0.0), "T": float(known.min()) if known.size else 0.0}.get(field)
    return look.colours(values, words, "RdYlBu_r" if field == "T" else "viridis", bottom, field)


def _to_ends(ds: xr.Dataset, axis: str) -> np.ndarray:
    """Return the centres along an axis between both ends of the domain."""
    return np.concatenate([[extent(ds, axis)[0]], ds[f"{axis}_c"].values, [extent(ds, axis)[1]]])


def _pixels(ds: xr.Dataset, axis: str) -> np.ndarray:
    """Return the centres of equal parts no wider than the smallest cell, at most POINTS."""
    places = edges(ds, axis)
    whole = places[-1] - places[0]
    count = max(len(places) - 1, min(POINTS, ceil(whole / np.diff(places).min() * (1 - 1e-9))))
    return places[0] + (np.arange(count) + 0.5) * whole / count
