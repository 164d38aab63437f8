"""A picture of the papers' campaign: efficiency, speedup, arithmetic beside the papers', energy and what money buys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from matplotlib.axes import Axes

from taskflow.output.scaling import Panel, Row, along_blocks, draw_panels, in_plain_numbers, scaling_panels

PAPERS = 256  # GPUs


def plot_campaign(rows: Sequence[Row], papers: Mapping[str, float], heading: str, out: str | Path) -> Path:
    """Draw what `taskflow bench cavity` found: rows have what `plot_scaling` needs, flops, joules_per_cell and
    cells_per_dollar; `papers` has the operations per second that 256 GPUs sustained, by shape.

    Returns the file written. Raises BadInput where the format is not known.
    """
    panels: list[Panel] = scaling_panels(rows)
    if computed := [row for row in rows if row["flops"] is not None]:
        panels.append((partial(_arithmetic, papers), computed))
    for name, scale, words in (
        ("joules_per_cell", 1e9, "energy per cell and step [nJ]"),
        ("cells_per_dollar", 1e-12, "cells x steps per dollar [$10^{12}$]"),
    ):
        if known := [row for row in rows if row[name] is not None]:
            panels.append((partial(_bars, name, scale, words), known))
    return draw_panels(panels, heading, out)


def _fastest(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """By shape, the row of each number of blocks whose way to overlap is fastest."""
    found: dict[str, dict[int, Row]] = {}
    for row in rows:
        of_shape = found.setdefault(row["shape"], {})
        of_shape[row["blocks"]] = min(row, of_shape.get(row["blocks"], row), key=lambda each: each["seconds"])
    return {shape: [of_shape[blocks] for blocks in sorted(of_shape)] for shape, of_shape in found.items()}


def _arithmetic(papers: Mapping[str, float], axes: Axes, rows: Sequence[Row]) -> None:
    """Operations per second against the number of blocks; level lines are what the papers' 256 GPUs sustained."""
    for number, (shape, line) in enumerate(_fastest(rows).items()):
        values = [row["flops"] / 1e12 for row in line]
        axes.plot([row["blocks"] for row in line], values, marker="o", color=f"C{number}", label=shape)
        if shape in papers:
            label = f"{shape}, the papers: {PAPERS} GPUs"
            axes.axhline(papers[shape] / 1e12, color=f"C{number}", linestyle=":", label=label)
    along_blocks(axes, rows)
    axes.set_yscale("log")
    in_plain_numbers(axes.yaxis)
    axes.set_ylabel("$10^{12}$ operations per second")
    axes.set_title("arithmetic, all blocks", fontsize="medium")


def _bars(name: str, scale: float, words: str, axes: Axes, rows: Sequence[Row]) -> None:
    """A bar per shape and number of blocks."""
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
