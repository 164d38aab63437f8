"""Charts of grids in two dimensions: a pipe across its axis, ghost cells beyond a turned seam, pieces of blocks.

    python docs/images/sources/charts.py docs/images/charts.png
"""

import sys

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection, PolyCollection

from taskflow.geometry.grids import atlas, places, shape
from taskflow.runtime.regions import divided

CHARTS = ["#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e45756"]
BLOCKS = ["#9ecae9", "#ffbf79", "#8cd17d"]


def plane(chart):
    """The vertices [j, i, xy] of one layer of a chart."""
    return np.moveaxis(chart.vertices[:2, 0], 0, -1)


def cells(vertices):
    """The outlines [cell, corner, xy] of its cells, row by row."""
    return np.stack([vertices[:-1, :-1], vertices[:-1, 1:], vertices[1:, 1:], vertices[1:, :-1]], 2).reshape(-1, 4, 2)


def fill(axes, outlines, colour, alpha=1.0, width=0.5):
    axes.add_collection(PolyCollection(outlines, facecolor=colour, edgecolor="white", linewidth=width, alpha=alpha))


def outline(axes, vertices, colour="0.15", width=1.4):
    rows = [vertices[0], vertices[-1], vertices[:, 0], vertices[:, -1]]
    axes.add_collection(LineCollection(rows, colors=colour, linewidths=width))


def directions(axes, vertices, colour):
    """Arrows along i and j from the middle of a chart, about a third of it long."""
    nj, ni = (n // 2 for n in np.array(vertices.shape[:2]) - 1)
    start = vertices[nj, ni]
    for end, name in ((vertices[nj, ni + max(2, ni // 2)], "i"), (vertices[nj + max(2, nj // 2), ni], "j")):
        axes.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.4})
        axes.annotate(name, end + 0.22 * (end - start), color=colour, ha="center", va="center", fontsize=10)


def corners(grid):
    """The places where charts meet inside the grid, with the number of charts there."""
    points = {}
    for number, chart in enumerate(grid.charts):
        x = plane(chart)
        for corner in (x[0, 0], x[0, -1], x[-1, 0], x[-1, -1]):
            points.setdefault(tuple(np.round(corner, 9)), set()).add(number)
    return {point: len(charts) for point, charts in points.items()}


def pipe(axes, grid):
    """The charts of a butterfly, their directions, the places where three of them meet."""
    for chart, colour in zip(grid.charts, CHARTS, strict=True):
        fill(axes, cells(plane(chart)), colour, alpha=0.55)
        outline(axes, plane(chart))
        directions(axes, plane(chart), "black")
    singular = np.array([point for point, count in corners(grid).items() if count == 3])
    axes.plot(*singular.T, "o", ms=8, mfc="white", mec="black", mew=1.5, zorder=5)
    axes.set_title("charts, and four singular edges")


def part(grid, box):
    """The vertices [j, i, xy] around a box of cells of the atlas, and the number of its chart."""
    number = next(n for n, chart in enumerate(atlas(grid).charts) if box in chart)
    (x0, y0, _), (x1, y1, _), (x, y, _) = box.lo, box.hi, places(grid)[number]
    return plane(grid.charts[number])[y0 - y : y1 - y + 1, x0 - x : x1 - x + 1], number


def ghosts(axes, grid, one):
    """The two layers of ghost cells of a chart beyond its seams, which are cells of others."""
    for chart in grid.charts:
        fill(axes, cells(plane(chart)), "0.88")
    fill(axes, cells(plane(grid.charts[one])), CHARTS[one], alpha=0.55)
    for seam in (seam for seam in atlas(grid).seams if seam.chart == one):
        vertices, other = part(grid, seam.turn(seam.beyond))
        fill(axes, cells(vertices), CHARTS[other], alpha=0.9)
    for chart in grid.charts:
        outline(axes, plane(chart))
    axes.set_title(f"ghost cells of chart {one + 1}")


def blocks(axes, grid, count):
    """What each of so many blocks owns."""
    for owned, colour in zip(divided(atlas(grid), count), BLOCKS, strict=True):
        for piece in owned:
            vertices, _ = part(grid, piece)
            fill(axes, cells(vertices), colour)
            outline(axes, vertices)
    axes.set_title(f"pieces of {count} blocks")


def main(picture):
    grid = shape("pipe", {"cells": (8, 6, 4), "length": 1.0}).grid()
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(10.9, 3.9), layout="constrained")
    pipe(left, grid)
    ghosts(middle, grid, 1)
    blocks(right, grid, 3)
    for axes in (left, middle, right):
        axes.set_aspect("equal")
        axes.autoscale_view()
        axes.set_axis_off()
    figure.savefig(picture, dpi=100)


if __name__ == "__main__":
    main(*sys.argv[1:])
