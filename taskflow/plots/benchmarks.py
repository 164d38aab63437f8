"""Pictures of benchmark results of `taskflow bench`: throughput of many devices relative to one device."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from taskflow.plots import save

MARKS = {"none": "o", "comm": "s", "full": "^", "auto": "D"}
Row = Mapping[str, Any]
Panel = tuple[Callable[[Axes, Sequence[Row]], None], Sequence[Row]]  # a function that draws, and its rows


def plot_scaling(rows: Sequence[Row], heading: str, out: str | Path) -> Path:
    """Draw the results of `taskflow bench scaling`: efficiency of weak scaling, and speedup of strong scaling.

    `rows` have shape, name (of the overlap), blocks, efficiency and speedup. Returns the written file. Raises BadInput
    if the format is unknown.
    """
    return draw_panels(scaling_panels(rows), heading, out)


def scaling_panels(rows: Sequence[Row]) -> list[Panel]:
    """Return the panels of efficiency and speedup for which rows exist."""
    weak, strong = [r for r in rows if not _shared(r)], [r for r in rows if _shared(r)]
    return [(draw, part) for draw, part in ((_efficiency, weak), (_speedup, strong)) if part]


def _shared(row: Row) -> bool:
    """Return True if the total number of cells does not grow with the blocks."""
    return str(row["shape"]).startswith("strong")


def draw_panels(panels: Sequence[Panel], heading: str, out: str | Path, name: str = "scaling") -> Path:
    """Draw panels in a row, or in two rows if more than three. Returns the written file."""
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


def along_blocks(axes: Axes, rows: Sequence[Row]) -> None:
    """Set the axis of the numbers of blocks."""
    counts = sorted({row["blocks"] for row in rows})
    axes.set_xscale("log", base=2)
    axes.set_xticks(counts, [str(count) for count in counts], minor=False)
    axes.set_xlabel("blocks, each on its own device")


def _efficiency(axes: Axes, rows: Sequence[Row]) -> None:
    for label, mark, colour, line in _lines(rows):
        values = [100 * row["efficiency"] for row in line]
        axes.plot([row["blocks"] for row in line], values, marker=mark, color=colour, label=label)
    axes.axhline(100, color="black", linestyle="--", linewidth=1, label="ideal")
    efficiencies = [100 * row["efficiency"] for row in rows]
    axes.set_ylim(max(0, 10 * (min(efficiencies) // 10 - 1)), 1.04 * max(100, *efficiencies))
    axes.set_ylabel("efficiency [%]")
    axes.set_title("weak scaling", fontsize="medium")
    along_blocks(axes, rows)


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
    along_blocks(axes, rows)


def _lines(rows: Sequence[Row]) -> Iterable[tuple[str, str, str, list[Row]]]:
    """Yield (label, mark, colour, rows) of each shape and overlap, starting with the one block of its shape."""
    shapes = list(dict.fromkeys(row["shape"] for row in rows))
    for overlap in dict.fromkeys(row["name"] for row in rows if row["blocks"] > 1):
        for number, shape in enumerate(shapes):
            line = [r for r in rows if r["shape"] == shape and (r["blocks"] == 1 or r["name"] == overlap)]
            label = f"{overlap}" if shape == "strong" else f"{shape}, {overlap}"
            yield label, MARKS.get(overlap, "x"), f"C{number}", sorted(line, key=lambda row: row["blocks"])
