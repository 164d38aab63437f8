"""VTK files in XML with raw data behind it, each array behind its size, a number of eight bytes. They are written piece
by piece, so that memory stays bounded. Curvilinear grids are charts or parts of their surfaces (.vts), with a file of
what belongs to one time (.vtm).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from taskflow.output.disk import replacing

Files = Mapping[str, "str | Files"]  # names of files by the names of their blocks, which may have blocks themselves
SLAB = 2**25  # bytes of a field that are in memory at once, or one layer of cells
KINDS = {"f4": "Float32", "f8": "Float64", "i1": "Int8"}


@dataclass(frozen=True)
class Appended:
    """A data array: values of type `kind`, in `count` components, of `nbytes` in all, which `parts` yields in order."""

    name: str
    kind: str
    count: int
    nbytes: int
    parts: Callable[[], Iterable[bytes]]

    @classmethod
    def of(cls, name: str, components: Sequence[Any]) -> Appended:
        """The values [z, y, x] of these components, arrays of NumPy or xarray, which are read slab by slab."""
        kind, nbytes = components[0].dtype.str[1:], sum(array.nbytes for array in components)
        return cls(name, kind, len(components), nbytes, partial(_slabs, components))


def _slabs(components: Sequence[Any]) -> Iterator[bytes]:
    layers = components[0].shape[0]
    thick = max(1, SLAB * layers // sum(array.nbytes for array in components))
    for low in range(0, layers, thick):
        slabs = [np.asarray(array[low : low + thick]) for array in components]
        yield np.stack(slabs, axis=-1).astype(components[0].dtype.newbyteorder("<"), copy=False).tobytes()


def grid_file(
    grid: str, cells: Sequence[int], time: float, data: Sequence[Appended], tag: str, places: Sequence[Appended]
) -> Iterator[bytes]:
    """Yield a file of a RectilinearGrid or StructuredGrid of so many cells along x, y and z, at a time, with data in
    its cells, and `places` under this tag.
    """
    arrays, extent = [*data, *places], " ".join(f"0 {n}" for n in cells)
    offsets = accumulate((8 + array.nbytes for array in arrays), initial=0)
    lines = [
        f'<DataArray type="{KINDS[array.kind]}" Name={quoteattr(array.name)} NumberOfComponents="{array.count}"'
        f' format="appended" offset="{offset}"/>'
        for array, offset in zip(arrays, offsets, strict=False)
    ]
    yield "\n".join(
        [
            f'<VTKFile type="{grid}" version="1.0" byte_order="LittleEndian" header_type="UInt64">',
            f'<{grid} WholeExtent="{extent}">',
            '<FieldData><DataArray type="Float64" Name="TimeValue" NumberOfTuples="1" format="ascii">'
            f"{time!r}</DataArray></FieldData>",
            f'<Piece Extent="{extent}">',
            "<CellData>",
            *lines[: len(data)],
            "</CellData>",
            f"<{tag}>",
            *lines[len(data) :],
            f"</{tag}>",
            "</Piece>",
            f"</{grid}>",
            '<AppendedData encoding="raw">\n_',
        ]
    ).encode()
    for array in arrays:
        yield array.nbytes.to_bytes(8, "little")
        yield from array.parts()
    yield b"\n</AppendedData>\n</VTKFile>\n"


def write_parts(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file that is there completely or not at all."""
    with replacing(path) as draft, draft.open("wb") as file:
        file.writelines(parts)


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
