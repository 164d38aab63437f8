"""Four grids by formula, their charts in colours.

    python docs/images/sources/grids.py docs/images/grids.png
"""

import sys

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection

from taskflow.geometry.grids import shape

CHARTS = ["#4c78a8", "#f58518", "#54a24b", "#b279a2"]
GRIDS = {
    "c-grid": {"cells": (96, 32, 1), "far": 10.0, "wake": 10.0, "first": 5e-3},
    "bifurcation": {"cells": (40, 16, 1), "widths": (1, 0.6, 0.5), "angle": 60, "upstream": 2.0, "downstream": 3.0},
    "duct-bend": {"cells": (40, 12, 1), "side": 1.0, "mean_radius": 2.0, "upstream": 3.0, "downstream": 3.0,
                  "first": 0.04},
    "wavy-channel": {"cells": (32, 24, 1), "wavelength": 2.0, "amplitude": 0.1, "height": 1.0, "clustering": 1.5},
}  # fmt: skip
NEAR = -0.5, 1.9, -1.2, 1.2  # around the section


def main(picture):
    figure, row = plt.subplots(1, 4, figsize=(10.9, 3.0), layout="constrained")
    for axes, (name, keys) in zip(row, GRIDS.items(), strict=True):
        for chart, colour in zip(shape(name, keys).grid().charts, CHARTS, strict=False):
            points = np.moveaxis(chart.vertices[:2, 0], 0, -1)
            axes.add_collection(LineCollection([*points, *points.swapaxes(0, 1)], colors=colour, linewidths=0.5))
        axes.set_aspect("equal")
        axes.autoscale_view()
        if name == "c-grid":
            axes.axis(NEAR)
        axes.set_axis_off()
        axes.set_title(name)
    figure.savefig(picture, dpi=100)


if __name__ == "__main__":
    main(*sys.argv[1:])
