"""Curvilinear grids in VTK's files: a chart or a part of its surface (.vts), and what belongs to one time (.vtm)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from taskflow.output.appended import Appended, grid_file, write_parts

Files = Mapping[str, "str | Files"]  # names of files by the names of their blocks, which may have blocks themselves


def write_structured(path: Path, points: Sequence[Any], data: Mapping[str, Sequence[Any]], time: float) -> None:
    """Write a structured grid between points x, y, z, arrays [k, j, i] of NumPy or xarray, with data in its cells, each
    of one component or more [k, j, i]. A direction may have one point alone: then the cells are faces. Raises OSError.
    """
    cells = [n - 1 for n in reversed(points[0].shape)]
    arrays = [Appended.of(name, components) for name, components in data.items()]
    write_parts(path, grid_file("StructuredGrid", cells, time, arrays, "Points", [Appended.of("points", points)]))


def write_blocks(path: Path, files: Files) -> None:
    """Write a multi-block dataset that names files. Raises OSError."""
    kind = "vtkMultiBlockDataSet"
    lines = [f'<VTKFile type="{kind}" version="1.0">', f"<{kind}>", *_blocks(files), f"</{kind}>", "</VTKFile>", ""]
    write_parts(path, ["\n".join(lines).encode()])


def _blocks(files: Files) -> Iterator[str]:
    for number, (name, content) in enumerate(files.items()):
        about = f'index="{number}" name={quoteattr(name)}'
        if isinstance(content, str):
            yield f"<DataSet {about} file={quoteattr(content)}/>"
        else:
            yield f"<Block {about}>"
            yield from _blocks(content)
            yield "</Block>"
