"""The numbers of a run's log over time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from taskflow.errors import BadInput
from taskflow.output.damage import RESTORE, Damaged
from taskflow.output.files import LOG
from taskflow.output.log import read_log
from taskflow.output.plot import save

# Of these words a curve each; those that span decades on a logarithmic axis.
CURVES = (
    ("kinetic_energy", "mean kinetic energy", False),
    ("residual", "relative residual of the pressure", True),
    ("divergence", "largest divergence", True),
    ("dt", "time step", False),
)


def plot_series(directory: str | Path, out: str | Path | None = None) -> Path:
    """Draw kinetic energy, residual, divergence and time step over time, also of a run that goes on; the file written.

    `out` is a file or a folder, as for `plot_run`. Raises BadInput where there is no log, or it has not begun.
    """
    try:
        log = read_log(Path(directory) / LOG)
    except OSError as error:
        raise BadInput(f"{directory}: no log to read; give the folder that `taskflow run` wrote") from error
    if not log:
        raise BadInput(f"{directory}: the log has no line yet; wait for the first one")
    figure = Figure(figsize=(10.5, 6.0), layout="constrained")
    try:
        times = np.array([line["time"] for line in log], dtype="f8")
        curves = [np.array([line.get(name, np.nan) for line in log], dtype="f8") for name, _, _ in CURVES]
    except (KeyError, TypeError, ValueError) as error:
        raise Damaged(f"{Path(directory) / LOG}: damaged, it has no number where one belongs; {RESTORE}") from error
    for axes, values, (_, words, decades) in zip(figure.subplots(2, 2, sharex=True).flat, curves, CURVES, strict=True):
        if decades:
            values = np.where(values > 0, values, np.nan)  # nothing was solved yet, or nothing is left
            axes.set_yscale("log", nonpositive="mask")
        axes.plot(times, values, color="tab:blue", linewidth=1.2, marker="." if len(log) < 20 else "")
        axes.set_ylabel(words)
        axes.grid(alpha=0.3)
    for axes in figure.axes[2:]:
        axes.set_xlabel("time")
    return save(figure, directory, "series", out)
