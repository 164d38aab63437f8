"""Where the time of a step went, as stacked bars (after figure 8 of Jacobsen & Senocak, 2013)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from taskflow.output.plot import save

COLOURS = {"compute": "#abd9e9", "copy": "#a6d96a", "communication": "#fdae61", "rest": "#d9d9d9"}
PHASES = 12  # most bars
SMALL = 5e-4  # shares below which a phase gets none


def plot_shares(profile: Mapping[str, Any], path: Path, title: str) -> Path:
    """Draw the shares of a profile's summary by phase, longest first, and of all phases together, into a file.

    Raises BadInput where its suffix is no format of pictures, OSError where it cannot be written.
    """
    phases = [(name, found) for name, found in profile["phases"].items() if sum(found.values()) >= SMALL][:PHASES]
    bars = [("all", profile["shares"]), *reversed(phases)]
    figure = Figure(figsize=(7.5, 0.32 * len(bars) + 1.5), layout="constrained")
    axes = figure.subplots()
    for row, (_, found) in enumerate(bars):
        left = 0.0
        for name, share in ((name, share) for name, share in found.items() if share > 0):
            axes.barh(row, 100 * share, left=left, color=COLOURS[name], edgecolor="0.3", linewidth=0.5)
            left += 100 * share
    for name, colour in COLOURS.items():
        axes.barh(0, 0, color=colour, edgecolor="0.3", linewidth=0.5, label=name)
    axes.set_yticks(range(len(bars)), [name for name, _ in bars])
    axes.set_xlim(0, 100)
    axes.set_xlabel("% of the time; what is hidden under computing does not count")
    axes.set_title(title, fontsize="medium")
    figure.legend(loc="outside lower center", ncols=len(COLOURS), frameon=False, fontsize="small")
    return save(figure, path.parent, path.stem, path)
