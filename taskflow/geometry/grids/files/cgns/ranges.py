"""Ranges of vertices as patches."""

from __future__ import annotations

from taskflow.errors import BadInput
from taskflow.geometry.grids.files.cgns.nodes import Node
from taskflow.geometry.grids.grid import SIDES, Patch
from taskflow.runtime.regions import Box, Triple, triple

FACES = {"IFaceCenter": 0, "JFaceCenter": 1, "KFaceCenter": 2}


def patch_of(node: Node, chart: int, cells: Triple, location: str = "Vertex") -> tuple[Patch, Triple, Triple]:
    """The patch of a PointRange, and its first and last vertex, from 1. Raises BadInput where it is no patch."""
    if node.shape != (2, 3):
        raise BadInput(f"{node.name} has not two times three numbers; give the first and the last vertex of a side")
    begin, end = node.array.astype(int).tolist()
    if location in FACES:
        for a in range(3):
            if a != FACES[location]:
                begin[a], end[a] = (begin[a], end[a] + 1) if begin[a] <= end[a] else (begin[a] + 1, end[a])
    elif location != "Vertex":
        raise BadInput(f"GridLocation = {location}; give Vertex, or one of {', '.join(FACES)}")
    lo, hi = ([f(pair) for pair in zip(begin, end, strict=True)] for f in (min, max))
    said = f"{node.name} from ({', '.join(map(str, begin))}) to ({', '.join(map(str, end))})"
    for a, name in enumerate("ijk"):
        if lo[a] < 1 or hi[a] > cells[a] + 1:
            raise BadInput(f"{said}: the zone has vertices 1 to {cells[a] + 1} along {name}; give some of these")
    thin = [a for a in range(3) if lo[a] == hi[a]]
    if len(thin) != 1 or lo[thin[0]] not in (1, cells[thin[0]] + 1):
        raise BadInput(f"{said}: no side of the zone; give vertices with one index at its first or its last value")
    axis, last = thin[0], int(lo[thin[0]] > 1)
    side = Patch.whole(chart, SIDES[2 * axis + last], cells).cells
    low = [side.lo[a] if a == axis else lo[a] - 1 for a in range(3)]
    high = [side.hi[a] if a == axis else hi[a] - 1 for a in range(3)]
    return Patch(chart, SIDES[2 * axis + last], Box(triple(low), triple(high))), triple(begin), triple(end)
