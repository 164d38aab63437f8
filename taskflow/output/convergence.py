"""A picture of solvers: the time that each takes against the residual that it leaves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes

from taskflow.output.scaling import MARKS, Row, draw_panels, in_plain_numbers

LINES = ("-", "--", ":", "-.")


def plot_convergence(rows: Sequence[Row], heading: str, out: str | Path) -> Path:
    """Draw what `taskflow bench cavity --study pressure` found: a panel per size, a line per method and number of
    blocks. `rows` have cells, blocks, method, seconds and residual.

    Returns the file written. Raises BadInput where the format is not known.
    """
    sizes = dict.fromkeys(tuple(row["cells"]) for row in rows)
    panels = [(_draw, [row for row in rows if tuple(row["cells"]) == size]) for size in sizes]
    return draw_panels(panels, heading, out)


def _draw(axes: Axes, rows: Sequence[Row]) -> None:
    methods, counts = (list(dict.fromkeys(row[name] for row in rows)) for name in ("method", "blocks"))
    for number, method in enumerate(methods):
        for line, count in zip(LINES, counts, strict=False):
            points = [row for row in rows if (row["method"], row["blocks"]) == (method, count)]
            axes.plot(
                [1e3 * row["seconds"] for row in points],
                [row["residual"] for row in points],
                marker=list(MARKS.values())[number % len(MARKS)],
                color=f"C{number}",
                linestyle=line,
                label=f"{method}, {count} block{'s' * (count > 1)}",
            )
    axes.set_xscale("log")
    in_plain_numbers(axes.xaxis)
    axes.set_yscale("log")
    axes.set_xlabel("time of the pressure solver [ms]")
    axes.set_ylabel("residual relative to the right-hand side")
    axes.set_title(" x ".join(map(str, rows[0]["cells"])) + " cells", fontsize="medium")
