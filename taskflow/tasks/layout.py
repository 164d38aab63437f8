"""Layout: places for the boxes of a drawing, without a program that knows graphs.

Time goes down. A block has columns for middles and whole tasks, for edges, and for transfers: with blocks of lower
numbers on its left, with the others on its right. A box is put below all that it waits for, in the first row where its
column is free.
"""

from __future__ import annotations

from dataclasses import dataclass
from graphlib import TopologicalSorter

from taskflow.tasks.drawing import Drawing

ORDER = {True: ("left", "middle", "edge", "right"), False: ("left", "edge", "middle")}  # with or without a right one


@dataclass(frozen=True)
class Layout:
    """Column and row of each box, and the columns [first, last] of each block."""

    places: list[tuple[int, int]]
    columns: dict[int, tuple[int, int]]

    @property
    def rows(self) -> int:
        """How many there are."""
        return 1 + max((row for _, row in self.places), default=0)


def lay_out(drawing: Drawing) -> Layout:
    """Places for all boxes of a drawing."""
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
    return Layout([places[n] for n in range(len(drawing.boxes))], columns)


def _columns(drawing: Drawing) -> list[str]:
    """The column of each box. Periodic copies stand with the messages, on the right where there are any."""
    left = {box.block for box in drawing.boxes if box.peer is not None and box.peer < box.block}
    right = {box.block for box in drawing.boxes if box.peer is not None and box.peer > box.block}
    found = []
    for box in drawing.boxes:
        if box.look != "transfer":
            found.append("edge" if box.look == "edge" else "middle")
        elif box.peer is None:
            found.append("left" if box.block in left - right else "right")
        else:
            found.append("left" if box.peer < box.block else "right")
    return found
