"""Grids as files: CGNS, or PLOT3D and a neutral map."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from taskflow.errors import BadInput
from taskflow.geometry.grids.files.cgns import write_cgns
from taskflow.geometry.grids.files.neutral_map import FACES, JOINED, SIDE
from taskflow.geometry.grids.grid import Chart, GridSeam, MultiBlockGrid, Patch

CGNS = ".cgns"  # the suffix of files in that format
RECORD = 2**31 - 1  # bytes that a record mark can count
HEADER = """# Neutral map file, written by taskflow: vertices are counted from 1, types are names of sides
#
# block  IDIM  JDIM  KDIM
#
"""
ENTRIES = """#
# type  B1 F1 S1 E1 S2 E2  B2 F2 S1 E1 S2 E2 swap
#
"""


def write_grid(path: Path, grid: MultiBlockGrid, *, text: bool = False) -> Path | None:
    """Write a grid as a file of CGNS, where that is its suffix; else as a PLOT3D file, and its seams and sides beside
    it as a neutral map, whose path is returned.
    """
    if path.suffix.lower() == CGNS:
        write_cgns(path, grid)
        return None
    write_plot3d(path, grid.charts, text=text)
    beside = path.with_suffix(".nmf")
    write_map(beside, grid)
    return beside


def write_plot3d(path: Path, charts: Sequence[Chart], *, text: bool = False) -> None:
    """Write charts as blocks: text with all digits, or double precision, little-endian, in Fortran records. What is
    read back is the same to the bit.

    Raises BadInput for a block that a binary record cannot hold, OSError where the file cannot be written.
    """
    dims = [[n + 1 for n in chart.cells] for chart in charts]
    if text:
        lines = [str(len(charts)), *(" ".join(map(str, block)) for block in dims)]
        for chart in charts:
            lines += (" ".join(map(repr, row)) for row in chart.vertices.reshape(-1, chart.cells[0] + 1).tolist())
        path.write_text("\n".join(lines) + "\n", encoding="ascii")
        return
    large = [n for n, chart in enumerate(charts, start=1) if chart.vertices.nbytes > RECORD]
    if large:
        raise BadInput(f"{path}: block {large[0]} has more than the {RECORD} bytes of a record; cut it into several")
    with path.open("wb") as file:
        records = [np.array(len(charts), "<i4"), np.array(dims, "<i4"), *(chart.vertices for chart in charts)]
        for values in records:
            record = np.ascontiguousarray(values, "<f8" if values.dtype.kind == "f" else "<i4")
            mark = np.array(record.nbytes, "<i4").tobytes()
            file.write(mark)
            file.write(record.tobytes())
            file.write(mark)


def write_map(path: Path, grid: MultiBlockGrid) -> None:
    """Write the seams and sides of a grid as a neutral map. Raises OSError where the file cannot be written."""
    path.write_text("".join(_map(grid)), encoding="utf-8")


def _map(grid: MultiBlockGrid) -> Iterator[str]:
    yield f"{HEADER}{len(grid.charts)}\n"
    for number, chart in enumerate(grid.charts, start=1):
        i, j, k = (n + 1 for n in chart.cells)
        yield f"{number} {i} {j} {k}\n"
    yield ENTRIES
    for seam in grid.seams:
        yield _seam(seam)
    for name, patches in grid.sides.items():
        word = re.sub(r"\W", "_", name)
        yield from (f"{word} {_numbers(patch)} {SIDE} {name}\n" for patch in patches)


def _numbers(patch: Patch, backwards: Sequence[int] = ()) -> str:
    """Block, face and ranges of vertices, from 1; directions that run backwards have theirs reversed."""
    number = next(n for n, (side, _) in FACES.items() if side == patch.side)
    ranges = list[int]()
    for axis in FACES[number][1]:
        ends = patch.cells.lo[axis] + 1, patch.cells.hi[axis] + 1
        ranges += reversed(ends) if axis in backwards else ends
    return " ".join(map(str, (patch.chart + 1, number, *ranges)))


def _seam(seam: GridSeam) -> str:
    first = next(along for side, along in FACES.values() if side == seam.one.side)
    other = next(along for side, along in FACES.values() if side == seam.other.side)
    swap = abs(seam.axes[first[0]]) - 1 != other[0]
    backwards = [abs(axis) - 1 for axis in seam.axes if axis < 0]
    return f"{JOINED} {_numbers(seam.one)}  {_numbers(seam.other, backwards)} {str(swap).upper()}\n"
