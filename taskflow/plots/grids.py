"""Pictures of grids: outlines of charts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from taskflow.common.text import literal
from taskflow.plots import save

SIZE, MARGIN = 6.4, 0.8  # inches
COLOURS = 10


def plot_outlines(lines: Sequence[tuple[str, str, np.ndarray]], out: Path, title: str, *, normal: int | None) -> Path:
    """Draw lines of points [n, xyz], in the plane across the axis `normal` if given, and return the written file.

    Lines have a kind and a name: a "seam" is drawn in its own colour, a "side" in black with its name, and a "chart" is
    its name at a point.
    """
    low, high = (reach(np.concatenate([line[2] for line in lines]), axis=0) for reach in (np.min, np.max))
    shown = [axis for axis in range(3) if axis != normal]
    wide, tall = (high - low)[shown[:2]]
    height = SIZE if normal is None else min(max(SIZE * tall / wide, SIZE / 4), 2 * SIZE) + MARGIN
    figure = Figure(figsize=(SIZE, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes: Any = figure.add_subplot(**({"projection": "3d", "computed_zorder": False} if normal is None else {}))
    colours, named = colormaps["tab10"], set[str]()
    for kind, name, points in lines:
        places = points.T[shown]
        if kind == "seam":
            axes.plot(*places, color=colours(int(name) % COLOURS), linewidth=1.6, zorder=2)
        elif kind == "side":
            axes.plot(*places, color="black", linewidth=0.8, zorder=1)
        else:
            axes.text(*places[:, 0], literal(name), ha="center", va="center", fontweight="bold")
        if kind == "side" and name not in named:
            named.add(name)
            axes.text(*places[:, places.shape[1] // 4], literal(name), fontsize="small", color="0.3")
    axes.set_aspect("equal")
    for label, axis in zip("xyz", shown, strict=False):
        getattr(axes, f"set_{label}label")("xyz"[axis])
    axes.set_title(literal(title), fontsize="medium")
    return save(figure, out.parent, out.stem, out)
