"""Charts of runs: the log over time, profiles with tables, loads on a side, shares of a step's time, and sweeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from taskflow.analysis.charts.sides import side
from taskflow.analysis.profiles import difference, plane_with_velocities, profile, read_reference
from taskflow.common.errors import BadInput
from taskflow.common.point_location import NEAR
from taskflow.common.text import literal
from taskflow.output import LOG
from taskflow.output.disk.damage import RESTORE, Damaged
from taskflow.output.log import measured, read_log, residuals
from taskflow.output.store.metadata import moment
from taskflow.output.store.reading import extent, snapshot, snapshot_of
from taskflow.plots import save
from taskflow.plots.look import label, title

# Columns of the log to draw first, and columns never drawn. True: logarithmic axis.
CURVES = (
    ("kinetic_energy", "kinetic energy", False),
    ("residual", "relative residual of the pressure", True),
    ("divergence", "largest divergence", True),
    ("dt", "time step", False),
)
NOT_DRAWN = {"step", "time", "cfl", "wall"}

COLOURS = {"compute": "#abd9e9", "copy": "#a6d96a", "communication": "#fdae61", "rest": "#d9d9d9"}
PHASES = 12  # most bars
SMALL = 5e-4  # smallest share of a drawn phase


def plot_series(directory: str | Path, out: str | Path | None = None) -> Path:
    """Draw four columns of the log over time, also of an active run, and return the written file.

    They are kinetic energy, residual, divergence and time step, supplemented by other columns if a system of equations
    lacks some of these. If each equation has a residual, only residuals are drawn, over steps. Columns that are zero
    throughout, such as momentum across a plane flow, are omitted. `out` is a file or a folder, as for `plot_run`.
    Raises BadInput if the log does not exist or is empty.
    """
    try:
        log = read_log(Path(directory) / LOG)
    except OSError as error:
        raise BadInput(f"{directory}: no log to read; give the folder that `taskflow run` wrote") from error
    if not log:
        raise BadInput(f"{directory}: the log has no line yet; wait for the first one")
    if residuals(log[-1]):
        return plot_residuals(log, directory, out)
    figure = Figure(figsize=(10.5, 6.0), layout="constrained")
    try:
        times = np.array([line["time"] for line in log], dtype="f8")
        drawn = [(words, decades, _column(log, name, decades)) for name, words, decades in _columns(log[-1])]
    except (KeyError, TypeError, ValueError) as error:
        raise Damaged(f"{Path(directory) / LOG}: damaged, it has no number where one belongs; {RESTORE}") from error
    drawn = [curve for curve in drawn if _varies(curve[2])] or drawn
    for axes, (words, decades, values) in zip(figure.subplots(2, 2, sharex=True).flat, drawn, strict=False):
        if decades:
            axes.set_yscale("log", nonpositive="mask")
        axes.plot(times, values, color="tab:blue", linewidth=1.2, marker="." if len(log) < 20 else "")
        axes.set_ylabel(words)
        axes.grid(alpha=0.3)
    for axes in figure.axes[len(drawn) :]:
        axes.set_visible(False)
    for axes in figure.axes[2:]:
        axes.set_xlabel("time")
    return save(figure, directory, "series", out)


def _columns(line: Mapping[str, Any]) -> list[tuple[str, str, bool]]:
    """Return the columns of a log with such a line as (name, words, decades), in order of preference."""
    known = [curve for curve in CURVES if curve[0] in line]
    numbers = [name for name, value in line.items() if type(value) in (int, float)]
    others = [name for name in numbers if name not in {*NOT_DRAWN, *(name for name, _, _ in known)}]
    return [*known, *((name, name.replace("_", " "), False) for name in others)]


def _column(log: Sequence[Mapping[str, Any]], name: str, decades: bool) -> np.ndarray:
    """Return a column of the log, NaN if a line lacks it. With `decades` values that are not positive are NaN, too."""
    values = np.array([measured(line).get(name, np.nan) for line in log], dtype="f8")
    return np.where(values > 0, values, np.nan) if decades else values


def _varies(values: np.ndarray) -> bool:
    """Return True if a value is a number other than 0."""
    return bool((np.nan_to_num(values) != 0).any())


def plot_profiles(
    directory: str | Path,
    references: Sequence[str | Path] = (),
    plane: str | None = None,
    time: float | None = None,
    out: str | Path | None = None,
) -> list[Path]:
    """Draw both centreline profiles of a plane with the tables, and return the written files. Arguments as for
    `plot_run`.

    Unused points are hollow. The tables' y and v are along the vertical axis of the picture, for any plane.
    """
    ds = snapshot(directory, time)
    cut = plane_with_velocities(ds, plane)
    tables = [read_reference(path) for path in references]
    figure = Figure(figsize=(10.5, 5.0), layout="constrained")
    figure.suptitle(title(ds, cut), fontsize="large")
    for axes, quantity in zip(figure.subplots(1, 2), "uv", strict=True):
        component, line = (cut.across, cut.up) if quantity == "u" else (cut.up, cut.across)
        places, values = profile(ds, cut, quantity)
        turned = slice(None, None, -1 if quantity == "u" else 1)  # the vertical centreline is drawn vertically
        axes.plot(*(places, values)[turned], color="tab:blue", label="taskflow", zorder=2)
        for number, table in enumerate(t for t in tables if t.quantity == quantity):
            largest = difference(ds, cut, table)
            style = {"linestyle": "none", "marker": "osD^v"[number % 5], "markersize": 5, "color": "black", "zorder": 3}
            compared = literal(f"{table.name}\nlargest difference {largest:.2g}")
            for chosen, fill, words in ((table.used, "full", compared), (~table.used, "none", "not compared")):
                if chosen.any():
                    points = (table.places[chosen], table.values[chosen])
                    axes.plot(*points[turned], fillstyle=fill, label=words, clip_on=False, **style)
        names = label(ds[f"{line}_c"], line), label(ds["u"], f"velocity along {component}")
        axes.set_xlabel(names[turned][0])
        axes.set_ylabel(names[turned][1])
        bounds = axes.set_ylim if quantity == "u" else axes.set_xlim
        bounds(*extent(ds, line))
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small", frameon=False)
    return [save(figure, directory, "profiles", out)]


def plot_shares(summary: Mapping[str, Any], path: Path, heading: str) -> Path:
    """Draw the shares of a profile's summary by phase, longest first, and of all phases together, into a file.

    Raises BadInput if its suffix is not a picture format, and OSError if it cannot be written.
    """
    phases = [(name, shares) for name, shares in summary["phases"].items() if sum(shares.values()) >= SMALL][:PHASES]
    bars = [("all", summary["shares"]), *reversed(phases)]
    figure = Figure(figsize=(7.5, 0.32 * len(bars) + 1.5), layout="constrained")
    axes = figure.subplots()
    for row, (_, shares) in enumerate(bars):
        left = 0.0
        for name, share in ((name, share) for name, share in shares.items() if share > 0):
            axes.barh(row, 100 * share, left=left, color=COLOURS[name], edgecolor="0.3", linewidth=0.5)
            left += 100 * share
    for name, colour in COLOURS.items():
        axes.barh(0, 0, color=colour, edgecolor="0.3", linewidth=0.5, label=name)
    axes.set_yticks(range(len(bars)), [name for name, _ in bars])
    axes.set_xlim(0, 100)
    axes.set_xlabel("% of the time; communication hidden by computing does not count")
    axes.set_title(heading, fontsize="medium")
    figure.legend(loc="outside lower center", ncols=len(COLOURS), frameon=False, fontsize="small")
    return save(figure, path.parent, path.stem, path)


def plot_residuals(log: Sequence[Mapping[str, Any]], directory: str | Path, out: str | Path | None) -> Path:
    """Draw the residual of each equation over the steps of a log, on a logarithmic axis. Return the file."""
    figure = Figure(figsize=(7.5, 4.6), layout="constrained")
    axes = figure.subplots()
    axes.set_yscale("log", nonpositive="mask")
    steps = np.array([line["step"] for line in log], dtype="f8")
    for name in dict.fromkeys(name for line in log for name in residuals(line)):
        known = np.array([residuals(line).get(name, np.nan) for line in log])
        known[~(known > 0)] = np.nan  # nothing was computed yet, or the residual is 0
        if _varies(known):
            axes.plot(steps, known, linewidth=1.2, marker="." if len(log) < 20 else "", label=name)
    axes.set_xlabel("step")
    axes.set_ylabel("residual")
    axes.grid(alpha=0.3)
    if axes.lines:
        axes.legend(fontsize="small", frameon=False)
    return save(figure, directory, "series", out)


def plot_side(directory: str | Path, name: str, time: float | None = None, out: str | Path | None = None) -> Path:
    """Draw pressure and shear stress along a side of a run on charts, and return the written file.

    They are drawn over x, or over y or z if x is constant. With the attribute `reference_speed` U they are the
    coefficients c_p = 2 p / U^2 and c_f = 2 t / U^2, where the stress t has the sign of its component along that axis.
    c_p is upwards negative. The upper and the lower side, by the normals across that axis, are drawn apart.
    Raises BadInput if a requested item does not exist.
    """
    on = side(snapshot_of(directory, time), name)
    extents = {axis: float(np.ptp(on[axis].values)) for axis in "xyz"}
    longest = max(extents, key=lambda name: extents[name])
    axis = "x" if extents["x"] > NEAR * extents[longest] else longest
    speed = float(on.attrs.get("reference_speed", np.nan))
    scale, marks = (2 / speed**2, ("c_p", "c_f")) if speed > 0 else (1.0, ("p", "shear stress"))
    curves = [(marks[0], on["p_face"].values)] if "p_face" in on else []
    if "shear_x" in on:
        stress = np.stack([on[f"shear_{a}"].values for a in "xyz"])
        curves.append((marks[1], np.copysign(np.sqrt((stress**2).sum(axis=0)), stress["xyz".index(axis)])))
    if not curves:
        raise BadInput(f"side = {name!r}: there is no p and no shear stress; record p, u, v, w (output.fields)")
    figure = Figure(figsize=(5.4 * len(curves), 4.2), layout="constrained")
    heading = f"{on.attrs.get('title', '')}: {name}, {moment(on.attrs, float(on['time']))}"
    figure.suptitle(literal(heading), fontsize="medium")
    for axes, (words, values) in zip(figure.subplots(1, len(curves), squeeze=False).flat, curves, strict=True):
        for part, which, style in _both(on, axis, extents):
            axes.plot(on[axis].values[part], scale * values[part], markersize=4, label=which, **style)
        if len(axes.lines) > 1:
            axes.legend(fontsize="small", frameon=False)
        if words == "c_p":
            axes.invert_yaxis()
        axes.set_xlabel(axis)
        axes.set_ylabel(f"${words}$" if "_" in words else words)
        axes.grid(alpha=0.3)
    return save(figure, directory, "side", out)


def _both(on: xr.Dataset, axis: str, extents: Mapping[str, float]) -> list[tuple[np.ndarray, str, dict[str, Any]]]:
    """Return masks of the upper and lower faces of a body with words and markers, or of all faces of another side."""
    up = max((other for other in "xyz" if other != axis), key=lambda other: extents[other])
    above = on[f"normal_{up}"].values < 0  # normals point out of the fluid
    full = {"marker": ".", "linestyle": "none", "color": "tab:blue"}
    hollow = {"marker": "o", "linestyle": "none", "color": "tab:orange", "fillstyle": "none"}
    parts = [(above, "upper side", full), (~above, "lower side", hollow)]
    return parts if above.any() and not above.all() else [(np.ones_like(above), "", full)]


def plot_over(values: xr.DataArray, x: str, words: str, *, log: bool) -> Figure:
    """Return a figure of a quantity of several runs over a coordinate, with a line for each combination of the others.

    Raises BadInput if the coordinate does not exist, or logarithmic axes have a value that is not positive.
    """
    known = [str(name) for name, coordinate in values.coords.items() if coordinate.ndim == 1]
    if x not in known:
        raise BadInput(f"plot(x={x!r}): unknown parameter; choose one of {', '.join(known)}")
    along = str(values[x].dims[0])
    places = values[x].values
    if (log and places.dtype.kind in "iuf" and not (places > 0).all()) or (log and not (values.values > 0).all()):
        raise BadInput(f"plot(x={x!r}, log=True): {x} or {words} is not positive everywhere; omit log")
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    others = [str(dim) for dim in values.dims if dim != along]
    for chosen in product(*(range(values.sizes[dim]) for dim in others)):
        line = values.isel(dict(zip(others, chosen, strict=True)))
        order = np.argsort(places) if places.dtype.kind in "iuf" else np.arange(len(places))
        label = ", ".join(f"{dim} = {line[dim].item()}" for dim in others)
        axes.plot(places[order], line.values[order], "o-", linewidth=1.2, markersize=4, label=label)
    if log:
        axes.set_yscale("log")
        if places.dtype.kind in "iuf":
            axes.set_xscale("log")
    axes.set_xlabel(x)
    axes.set_ylabel(words)
    axes.grid(alpha=0.3, which="both")
    if others:
        axes.legend(fontsize="small", frameon=False)
    return figure
