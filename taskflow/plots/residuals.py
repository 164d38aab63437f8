"""The residuals of a steady run over its steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from taskflow.output.log import residuals
from taskflow.plots import save


def plot_residuals(log: Sequence[Mapping[str, Any]], directory: str | Path, out: str | Path | None) -> Path:
    """Draw the residual of each equation over the steps of a log, on a logarithmic axis; return the file written."""
    figure = Figure(figsize=(7.5, 4.6), layout="constrained")
    axes = figure.subplots()
    axes.set_yscale("log", nonpositive="mask")
    lines = [residuals(line) for line in log]
    steps = np.array([line["step"] for line in log], dtype="f8")
    for name in dict.fromkeys(name for line in lines for name in line):
        values = np.array([line.get(name, np.nan) for line in lines])
        known = np.where(values > 0, values, np.nan)  # nothing was computed yet, or nothing is left
        axes.plot(steps, known, linewidth=1.2, marker="." if len(log) < 20 else "", label=name)
    axes.set_xlabel("step")
    axes.set_ylabel("residual")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small", frameon=False)
    return save(figure, directory, "series", out)
