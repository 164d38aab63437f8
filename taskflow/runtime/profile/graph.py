"""Pictures of task graphs, drawn with matplotlib, without a graph layout program.

Time goes down. A block has columns for middles and whole tasks, for edges, and for transfers: with blocks of lower
numbers on its left, with the others on its right. A box is placed below all its dependences, in the first row with a
free column.
"""

from __future__ import annotations

from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path as File
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Patch
from matplotlib.path import Path

from taskflow.common.errors import BadInput
from taskflow.common.text import literal
from taskflow.runtime.profile.drawing import LOOKS, MESSAGE, Drawing

ORDER = {True: ("left", "middle", "edge", "right"), False: ("left", "edge", "middle")}  # with or without a right column
DPI = 160
PIXELS = 30_000  # most along a side: larger pictures have a lower resolution
WIDTH, HEIGHT = 1.75, 0.5  # inches of a column and a row
BOX = 0.8, 0.66  # of a column and a row
LEGEND = 6.2  # least width in inches
WAIT: dict[str, Any] = {"color": "0.35", "lw": 0.9}
SENT: dict[str, Any] = {"color": MESSAGE, "lw": 2.2}

Spot = tuple[int, int]  # column and row


def plot_graph(drawing: Drawing, path: File, title: str) -> File:
    """Draw a graph to a file, whose suffix is the format, and return the file.

    Raises BadInput if the graph is empty or the format is not supported, OSError if the file cannot be written.
    """
    if not drawing.boxes:
        raise BadInput(f"{title} does nothing that could be drawn in {path}: yield launches over some cells")
    layout = lay_out(drawing)
    columns = 1 + max(last for _, last in layout.columns.values())
    figure = Figure(figsize=(max(columns * WIDTH, LEGEND) + 0.4, layout.rows * HEIGHT + 1.8))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    spare = max(LEGEND / WIDTH - columns, 0.0) / 2
    axes.set_xlim(-0.6 - spare, columns - 0.4 + spare)
    axes.set_ylim(layout.rows + 1.9, -1.7)
    _blocks(axes, layout)
    for box, (x, y) in zip(drawing.boxes, layout.places, strict=True):
        _box(axes, x, y, box.label, LOOKS[box.look][0])
    places = layout.places
    for a, b in drawing.waits:
        _arrow(axes, places[a], places[b], arrowstyle="-|>", **WAIT)
    for a, b in drawing.messages:
        _arrow(axes, places[a], places[b], message=True, arrowstyle="-|>", **SENT)
    for a, b in drawing.ties:
        _arrow(axes, places[a], places[b], message=True, arrowstyle="<|-|>", **SENT)
    axes.set_title(literal(title), y=0.985, va="top", fontsize=11)
    _legend(axes, drawing)
    return _save(figure, path)


def _save(figure: Figure, path: File) -> File:
    formats = figure.canvas.get_supported_filetypes()
    if path.suffix[1:].lower() not in formats:
        raise BadInput(f"{path}: cannot draw this format; choose one of {', '.join(sorted(formats))}")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=min(DPI, PIXELS / max(figure.get_size_inches())))
    return path


def _blocks(axes: Axes, layout: GraphLayout) -> None:
    for block, (first, last) in layout.columns.items():
        corner, size = (first - 0.485, -0.95), (last - first + 0.97, layout.rows + 0.6)
        axes.add_patch(FancyBboxPatch(corner, *size, boxstyle="round,pad=0,rounding_size=0.08", fc="0.97", ec="0.7"))
        axes.text((first + last) / 2, -0.7, f"block {block}", ha="center", va="center", fontsize=9, weight="bold")


def _box(axes: Axes, x: int, y: int, label: str, colour: str) -> None:
    width, height = BOX
    shape = FancyBboxPatch(
        (x - width / 2, y - height / 2), width, height, boxstyle="round,pad=0,rounding_size=0.06", fc=colour, ec="0.3",
        lw=0.8, zorder=3,
    )  # fmt: skip
    axes.add_patch(shape)
    axes.text(x, y, label, ha="center", va="center", fontsize=6.5, zorder=4, linespacing=1.15)


def _arrow(axes: Axes, start: Spot, end: Spot, *, message: bool = False, **looks: Any) -> None:
    """Draw an arrow from the bottom of a box to the top of one in the next row. Other arrows, and all messages, run
    between the columns of their boxes, or next to their own.
    """
    (xa, ya), (xb, yb) = start, end
    width, height = BOX
    path: list[tuple[float, float]]
    if yb - ya == 1 and not message:
        path = [(xa, ya + height / 2), (xb, yb - height / 2)]
    elif xa == xb and not message:
        side = xa - width / 2
        margin = side - min(0.03 + 0.006 * (yb - ya), 0.08)
        path = [(side, ya), (margin, ya), (margin, yb), (side, yb)]
    else:
        side = width / 2 if xb > xa else -width / 2
        path = [(xa + side, ya), (xb - side, yb)]
    axes.add_patch(FancyArrowPatch(path=Path(path), mutation_scale=9, shrinkA=0, shrinkB=0, zorder=2, **looks))


def _legend(axes: Axes, drawing: Drawing) -> None:
    looks = drawing.looks.values()
    handles: list[Patch | Line2D] = [Patch(fc=colour, ec="0.3", label=meaning) for colour, meaning in looks]
    handles.append(Line2D([], [], **WAIT, label="waits for the operation above"))
    if drawing.messages or drawing.ties:
        handles.append(Line2D([], [], **SENT, label="message to another block"))
    axes.legend(handles=handles, loc="lower center", ncols=2, fontsize=7, frameon=False, bbox_to_anchor=(0.5, 0.0))


@dataclass(frozen=True)
class GraphLayout:
    """Column and row of each box, and the columns [first, last] of each block."""

    places: list[tuple[int, int]]
    columns: dict[int, tuple[int, int]]

    @property
    def rows(self) -> int:
        return 1 + max((row for _, row in self.places), default=0)


def lay_out(drawing: Drawing) -> GraphLayout:
    """Place all boxes of a drawing."""
    names, columns, first = _columns(drawing), {}, 0
    where: dict[tuple[int, str], int] = {}
    for block in drawing.blocks:
        mine = {name for box, name in zip(drawing.boxes, names, strict=True) if box.block == block}
        order = [name for name in ORDER["right" in mine] if name in mine]
        where |= {(block, name): first + n for n, name in enumerate(order)}
        columns[block] = first, first + len(order) - 1
        first += len(order)
    before: dict[int, set[int]] = {n: set() for n in range(len(drawing.boxes))}
    for a, b in (*drawing.waits, *drawing.messages):
        before[b].add(a)
    places: dict[int, tuple[int, int]] = {}
    taken: set[tuple[int, int]] = set()
    for n in TopologicalSorter(before).static_order():
        column = where[drawing.boxes[n].block, names[n]]
        row = 1 + max((places[m][1] for m in before[n]), default=-1)
        while (column, row) in taken:
            row += 1
        places[n] = column, row
        taken.add(places[n])
    return GraphLayout([places[n] for n in range(len(drawing.boxes))], columns)


def _columns(drawing: Drawing) -> list[str]:
    """Return the column of each box. Periodic copies are with the messages, on the right if that column is used."""
    left = {box.block for box in drawing.boxes if box.peer is not None and box.peer < box.block}
    right = {box.block for box in drawing.boxes if box.peer is not None and box.peer > box.block}
    columns = []
    for box in drawing.boxes:
        if box.look != "transfer":
            columns.append("edge" if box.look == "edge" else "middle")
        elif box.peer is None:
            columns.append("left" if box.block in left - right else "right")
        else:
            columns.append("left" if box.peer < box.block else "right")
    return columns
