"""Pictures of benchmark results of `taskflow bench`.

- scaling: throughput of many devices relative to one device
- the papers' campaign, with arithmetic, energy and cost
- time of pressure solvers against their residuals
- the two-phase figures of P. Zaspel and M. Griebel (2011)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from taskflow.plots import save

MARKS = {"none": "o", "comm": "s", "full": "^", "auto": "D"}
LINES = ("-", "--", ":", "-.")
PAPERS = 256  # GPUs
SPEED = "cells_per_second_per_block"
Row = Mapping[str, Any]
Panel = tuple[Callable[[Axes, Sequence[Row]], None], Sequence[Row]]  # a function that draws, and its rows


def plot_scaling(rows: Sequence[Row], heading: str, out: str | Path) -> Path:
    """Draw the results of `taskflow bench scaling`: efficiency of weak scaling, and speedup of strong scaling.

    `rows` have shape, name (of the overlap), blocks, efficiency and speedup. Returns the written file. Raises BadInput
    if the format is unknown.
    """
    return _draw_panels(_scaling_panels(rows), heading, out)


def plot_campaign(rows: Sequence[Row], papers: Mapping[str, float], heading: str, out: str | Path) -> Path:
    """Draw the results of `taskflow bench cavity`.

    `rows` have the keys of `plot_scaling`, flops, joules_per_cell and cells_per_dollar. `papers` has the sustained
    operations per second of 256 GPUs, by shape. Returns the written file. Raises BadInput if the format is unknown.
    """
    panels: list[Panel] = _scaling_panels(rows)
    if computed := [row for row in rows if row["flops"] is not None]:
        panels.append((partial(_arithmetic, papers), computed))
    for name, scale, words in (
        ("joules_per_cell", 1e9, "energy per cell and step [nJ]"),
        ("cells_per_dollar", 1e-12, "cells x steps per dollar [$10^{12}$]"),
    ):
        if known := [row for row in rows if row[name] is not None]:
            panels.append((partial(_bars, name, scale, words), known))
    return _draw_panels(panels, heading, out)


def plot_convergence(rows: Sequence[Row], heading: str, out: str | Path) -> Path:
    """Draw the results of `taskflow bench cavity --study pressure`: a panel per size, a line per method and number of
    blocks.

    `rows` have cells, blocks, method, seconds and residual. Returns the written file. Raises BadInput if the format is
    unknown.
    """
    sizes = dict.fromkeys(tuple(row["cells"]) for row in rows)
    panels = [(_convergence, [row for row in rows if tuple(row["cells"]) == size]) for size in sizes]
    return _draw_panels(panels, heading, out)


def _scaling_panels(rows: Sequence[Row]) -> list[Panel]:
    """Return the panels of efficiency and speedup that have rows."""
    weak, strong = [r for r in rows if not _shared(r)], [r for r in rows if _shared(r)]
    return [(draw, part) for draw, part in ((_efficiency, weak), (_speedup, strong)) if part]


def _shared(row: Row) -> bool:
    """Return True if the total number of cells does not grow with the blocks."""
    return str(row["shape"]).startswith("strong")


def _draw_panels(panels: Sequence[Panel], heading: str, out: str | Path, name: str = "scaling") -> Path:
    """Draw panels in one row, or in two if they are more than three, and return the written file."""
    lines = 2 if len(panels) > 3 else 1
    columns = -(-len(panels) // lines)
    figure = Figure(figsize=(5.6 * columns, 4.6 * lines), layout="constrained")
    figure.suptitle(heading, fontsize="medium")
    for number, (draw, part) in enumerate(panels, 1):
        axes = figure.add_subplot(lines, columns, number)
        draw(axes, part)
        axes.grid(alpha=0.3)
        if axes.get_legend_handles_labels()[1]:
            axes.legend(fontsize="small", ncols=2)
    return save(figure, Path(out).parent, name, out)


def _along_blocks(axes: Axes, rows: Sequence[Row]) -> None:
    """Set up the axis of the number of blocks."""
    counts = sorted({row["blocks"] for row in rows})
    axes.set_xscale("log", base=2)
    axes.set_xticks(counts, [str(count) for count in counts], minor=False)
    axes.set_xlabel("blocks, each on a device of its own")


def _in_plain_numbers(axis: Axis) -> None:
    """Label a logarithmic axis at 1, 2, 5, 10, 20, ..."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_formatter(NullFormatter())


def _efficiency(axes: Axes, rows: Sequence[Row]) -> None:
    for label, mark, colour, line in _lines(rows):
        values = [100 * row["efficiency"] for row in line]
        axes.plot([row["blocks"] for row in line], values, marker=mark, color=colour, label=label)
    axes.axhline(100, color="black", linestyle="--", linewidth=1, label="ideal")
    efficiencies = [100 * row["efficiency"] for row in rows]
    axes.set_ylim(max(0, 10 * (min(efficiencies) // 10 - 1)), 1.04 * max(100, *efficiencies))
    axes.set_ylabel("efficiency [%]")
    axes.set_title("weak scaling", fontsize="medium")
    _along_blocks(axes, rows)


def _speedup(axes: Axes, rows: Sequence[Row]) -> None:
    counts = sorted({row["blocks"] for row in rows})
    for label, mark, colour, line in _lines(rows):
        speedups = [row["speedup"] for row in line]
        axes.plot([row["blocks"] for row in line], speedups, marker=mark, color=colour, label=label)
    axes.plot(counts, counts, color="black", linestyle="--", linewidth=1, label="ideal")
    axes.set_yscale("log", base=2)
    axes.set_yticks(counts, [str(count) for count in counts], minor=False)
    axes.set_ylabel("speedup")
    axes.set_title("strong scaling", fontsize="medium")
    _along_blocks(axes, rows)


def _lines(rows: Sequence[Row]) -> Iterable[tuple[str, str, str, list[Row]]]:
    """Yield (label, mark, colour, rows) of each shape and overlap. Every line starts with the one block of its shape.
    """
    shapes = list(dict.fromkeys(row["shape"] for row in rows))
    for overlap in dict.fromkeys(row["name"] for row in rows if row["blocks"] > 1):
        for number, shape in enumerate(shapes):
            line = [r for r in rows if r["shape"] == shape and (r["blocks"] == 1 or r["name"] == overlap)]
            label = f"{overlap}" if shape == "strong" else f"{shape}, {overlap}"
            yield label, MARKS.get(overlap, "x"), f"C{number}", sorted(line, key=lambda row: row["blocks"])


def _fastest(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Return the row of the fastest overlap for each number of blocks, by shape."""
    fastest: dict[str, dict[int, Row]] = {}
    for row in rows:
        of_shape = fastest.setdefault(row["shape"], {})
        of_shape[row["blocks"]] = min(row, of_shape.get(row["blocks"], row), key=lambda row: row["seconds"])
    return {shape: [of_shape[blocks] for blocks in sorted(of_shape)] for shape, of_shape in fastest.items()}


def _arithmetic(papers: Mapping[str, float], axes: Axes, rows: Sequence[Row]) -> None:
    """Draw operations per second against the number of blocks, and the papers' sustained rates with 256 GPUs."""
    for number, (shape, line) in enumerate(_fastest(rows).items()):
        values = [row["flops"] / 1e12 for row in line]
        axes.plot([row["blocks"] for row in line], values, marker="o", color=f"C{number}", label=shape)
        if shape in papers:
            label = f"{shape}, the papers: {PAPERS} GPUs"
            axes.axhline(papers[shape] / 1e12, color=f"C{number}", linestyle=":", label=label)
    _along_blocks(axes, rows)
    axes.set_yscale("log")
    _in_plain_numbers(axes.yaxis)
    axes.set_ylabel("$10^{12}$ operations per second")
    axes.set_title("arithmetic, all blocks", fontsize="medium")


def _bars(name: str, scale: float, words: str, axes: Axes, rows: Sequence[Row]) -> None:
    """Draw a bar per shape and number of blocks."""
    counts: list[str] = []
    for number, (shape, line) in enumerate(_fastest(rows).items()):
        places = range(len(counts), len(counts) + len(line))
        axes.bar(places, [row[name] * scale for row in line], color=f"C{number}", label=shape)
        counts += [str(row["blocks"]) for row in line]
    axes.set_xticks(range(len(counts)), counts)
    axes.set_ylim(0, 1.25 * max(row[name] * scale for row in rows))  # the legend is above the bars
    axes.set_xlabel("blocks, each on a device of its own")
    axes.set_ylabel(words)
    axes.set_title("the fastest overlap of each", fontsize="medium")


def _convergence(axes: Axes, rows: Sequence[Row]) -> None:
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
    _in_plain_numbers(axes.xaxis)
    axes.set_yscale("log")
    axes.set_xlabel("time of the pressure solver [ms]")
    axes.set_ylabel("residual relative to the right-hand side")
    axes.set_title(" x ".join(map(str, rows[0]["cells"])) + " cells", fontsize="medium")


def plot_sizes(rows: Sequence[Row], heading: str, out: str | Path) -> Path:
    """Draw cells times steps per second, and per dollar if a price is known, against the number of cells.

    Returns the written file. Raises BadInput if the format is unknown.
    """
    panels = [(partial(_size, SPEED, 1e6, "$10^6$ cells x steps per second"), rows)]
    if rows[0]["cells_per_dollar"] is not None:
        panels.append((partial(_size, "cells_per_dollar", 1e12, "cells x steps per dollar [$10^{12}$]"), rows))
    return _draw_panels(panels, heading, out, "sizes")


def _size(name: str, unit: float, words: str, axes: Axes, rows: Sequence[Row]) -> None:
    values = [row[name] * row["blocks"] if name == SPEED else row[name] for row in rows]
    axes.plot([prod(row["cells"]) for row in rows], [value / unit for value in values], marker="o")
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("cells")
    axes.set_ylabel(words)


def plot_solvers(rows: Sequence[Row], heading: str, out: str | Path) -> Path:
    """Draw a bar per method: the time of a step, and of the solution from p = 0, with its iterations.

    Returns the written file. Raises BadInput if the format is unknown.
    """
    figure = Figure(figsize=(7.5, 0.7 * len(rows) + 1.8), layout="constrained")
    figure.suptitle(heading, fontsize="medium")
    axes = figure.add_subplot()
    for offset, name, label in ((0.2, "seconds", "a step"), (-0.2, "solve_seconds", "a solution from p = 0")):
        places = [number + offset for number in range(len(rows))]
        axes.barh(places, [1e3 * row[name] for row in rows], height=0.36, label=label)
    for number, row in enumerate(rows):
        axes.text(1e3 * row["solve_seconds"], number - 0.2, f" {row['solve_iterations']:g} iterations", va="center")
        axes.text(1e3 * row["seconds"], number + 0.2, f" {row['iterations']:.3g} iterations", va="center")
    axes.set_yticks(range(len(rows)), [row["method"] for row in rows])
    axes.set_xlim(0, 1.35 * max(1e3 * max(row["seconds"], row["solve_seconds"]) for row in rows))
    axes.set_xlabel("ms")
    axes.legend(fontsize="small")
    return save(figure, Path(out).parent, "solvers", out)
