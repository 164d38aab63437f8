"""Series in time of one run: columns of its log by name, and the forces on its bodies, with settled means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from taskflow.analysis.series import forces, series, settled
from taskflow.common.errors import BadInput
from taskflow.output import LOG
from taskflow.output.log import measured, read_log
from taskflow.plots import save

PARTS = (("force", "-"), ("pressure", "--"))
COLOURS = ("tab:blue", "tab:orange", "tab:green")


def plot_named(directory: str | Path, name: str, out: str | Path | None = None) -> Path:
    """Draw one column of the log over time, with its mean after the transient, and return the written file.

    A vector has a line for each direction. Raises BadInput if the column is unknown.
    """
    ds = series([measured(line) for line in _lines(directory)])
    known = [str(column) for column, values in ds.data_vars.items() if values.dtype.kind == "f"]
    if name not in known:
        raise BadInput(f"--series, --field {name}: not in the log; choose one of {', '.join(known)}")
    figure = Figure(figsize=(9.5, 4.2), layout="constrained")
    axes = figure.subplots()
    for values, colour, words in _components(ds[name]):
        axes.plot(ds["time"], values, color=colour, linewidth=1.2, label=words)
        _mean(axes, values, colour)
    _finish(axes, name.replace("_", " "))
    return save(figure, directory, name, out)


def plot_forces(directory: str | Path, name: str | None = None, out: str | Path | None = None) -> Path:
    """Draw the force on each body, or on one, over time, and return the written file.

    Lines are the directions that are not zero throughout, dashed their part of the pressure. Raises BadInput if the log
    has no such body.
    """
    log = _lines(directory)
    names = [name] if name else [*dict.fromkeys(body for line in log for body in line.get("bodies", {}))]
    if not names:
        raise BadInput(f"{directory}: --forces: the log has no body; give [[obstacles]] a name in the case")
    figure = Figure(figsize=(9.5, 3.6 * len(names) + 0.6), layout="constrained")
    for body, axes in zip(names, figure.subplots(len(names), 1, squeeze=False).flat, strict=True):
        ds = forces(log, body, None, {})
        for part, style in PARTS:
            for values, colour, words in _components(ds[part]):
                label = words if part == "force" else f"{words}, pressure"
                axes.plot(ds["time"], values, style, color=colour, linewidth=1.2, label=label)
                if part == "force":
                    _mean(axes, values, colour)
        axes.set_title(body, fontsize="medium", loc="left")
        _finish(axes, "force")
    return save(figure, directory, "forces", out)


def _lines(directory: str | Path) -> Sequence[Mapping[str, Any]]:
    try:
        return read_log(Path(directory) / LOG)
    except OSError as error:
        raise BadInput(f"{directory}: no log to read; give the folder that `taskflow run` wrote") from error


def _components(values: xr.DataArray) -> list[tuple[xr.DataArray, str, str]]:
    """Return the lines of a series with their colours and words: directions that are not zero throughout."""
    if "axis" not in values.dims:
        return [(values, COLOURS[0], "")]
    size = np.abs(values).max()
    parts = [(values.sel(axis=axis), colour, axis) for axis, colour in zip("xyz", COLOURS, strict=True)]
    return [part for part in parts if float(np.abs(part[0]).max()) > 1e-9 * float(size)] or parts[:1]


def _mean(axes: Any, values: xr.DataArray, colour: str) -> None:
    try:
        rest = settled(values)
    except BadInput:  # too short
        return
    mean = float(rest["mean"])
    words = f"mean {mean:.4g} ± {float(rest['uncertainty']):.1g}, rms {float(rest['rms']):.3g}"
    axes.plot([float(rest["begins"]), float(values["time"][-1])], [mean, mean], ":", color=colour, label=words)


def _finish(axes: Any, words: str) -> None:
    axes.set_xlabel("time")
    axes.set_ylabel(words)
    axes.grid(alpha=0.3)
    if any(not line.get_label().startswith("_") for line in axes.lines):
        axes.legend(fontsize="small", frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))  # off the curves
