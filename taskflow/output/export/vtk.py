"""VTK XML files, readable by ParaView, with appended raw data: each array is preceded by its size in eight bytes.

- rectilinear grids (.vtr)
- curvilinear grids, charts or parts of their surfaces (.vts), with one file per time that groups them (.vtm)
- triangulated surfaces and points (.vtp)
- lists of files with their times (.pvd)

Grids are written in pieces, so memory stays bounded.
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

from taskflow.output.disk.disk import on_disk, replacing

Files = Mapping[str, "str | Files"]  # names of files by the names of their blocks, which may have blocks themselves
SLAB = 2**25  # bytes of a field that are in memory at once, or one layer of cells
KINDS = {"f4": "Float32", "f8": "Float64", "i1": "Int8", "i8": "Int64"}


@dataclass(frozen=True)
class Appended:
    """Data array: `nbytes` bytes of type `kind` in `count` components, yielded in order by `parts`."""

    name: str
    kind: str
    count: int
    nbytes: int
    parts: Callable[[], Iterable[bytes]]

    @classmethod
    def of(cls, name: str, components: Sequence[Any]) -> Appended:
        """Return the array of components [z, y, x], NumPy or xarray arrays, read slab by slab."""
        kind, nbytes = components[0].dtype.str[1:], sum(array.nbytes for array in components)
        read = partial(_layers, components)
        return cls(name, kind, len(components), nbytes, partial(slabs, read, components[0].shape[0], kind, nbytes))

    @classmethod
    def whole(cls, name: str, values: np.ndarray, kind: str = "f8") -> Appended:
        """Return the array of values [n] or [n, component] in memory."""
        data = np.ascontiguousarray(values, f"<{kind}").tobytes()
        return cls(name, kind, values.shape[1] if values.ndim == 2 else 1, len(data), lambda: [data])


def slabs(read: Callable[[int, int], Sequence[Any]], layers: int, kind: str, nbytes: int) -> Iterator[bytes]:
    """Yield `nbytes` bytes of values: interleaved components of layers [low, high), read one after another."""
    thick = max(1, SLAB * layers // nbytes)
    for low in range(0, layers, thick):
        yield np.stack(read(low, min(low + thick, layers)), axis=-1).astype(f"<{kind}", copy=False).tobytes()


def _layers(components: Sequence[Any], low: int, high: int) -> list[np.ndarray]:
    return [np.asarray(array[low:high]) for array in components]


def grid_file(
    grid: str, cells: Sequence[int], time: float, data: Sequence[Appended], tag: str, places: Sequence[Appended]
) -> Iterator[bytes]:
    """Yield a RectilinearGrid or StructuredGrid file at a time: `data` in `cells`, and `places` under a `tag`."""
    extent = " ".join(f"0 {n}" for n in cells)
    when = (
        '<FieldData><DataArray type="Float64" Name="TimeValue" NumberOfTuples="1" format="ascii">'
        f"{time!r}</DataArray></FieldData>"
    )
    head = f'<{grid} WholeExtent="{extent}">\n{when}\n<Piece Extent="{extent}">'
    return _file(grid, head, {"CellData": data, tag: places})


def _file(kind: str, head: str, arrays: Mapping[str, Sequence[Appended]]) -> Iterator[bytes]:
    """Yield a file of one piece, which starts with `head`, with arrays under these tags."""
    every = [array for some in arrays.values() for array in some]
    offsets = accumulate((8 + array.nbytes for array in every), initial=0)
    lines = (
        f'<DataArray type="{KINDS[array.kind]}" Name={quoteattr(array.name)} NumberOfComponents="{array.count}"'
        f' format="appended" offset="{offset}"/>'
        for array, offset in zip(every, offsets, strict=False)
    )
    tagged = (line for tag, some in arrays.items() for line in (f"<{tag}>", *(next(lines) for _ in some), f"</{tag}>"))
    begin = f'<VTKFile type="{kind}" version="1.0" byte_order="LittleEndian" header_type="UInt64">'
    end = f'</Piece>\n</{kind}>\n<AppendedData encoding="raw">\n_'
    yield "\n".join([begin, head, *tagged, end]).encode()
    for array in every:
        yield array.nbytes.to_bytes(8, "little")
        yield from array.parts()
    yield b"\n</AppendedData>\n</VTKFile>\n"


def write_parts(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file atomically. Raises OSError."""
    with replacing(path) as draft, draft.open("wb") as file:
        file.writelines(parts)


def write_structured(path: Path, points: Sequence[Any], data: Mapping[str, Sequence[Any]], time: float) -> None:
    """Write a structured grid between points x, y, z [k, j, i], NumPy or xarray arrays, with data [k, j, i] in its
    cells.

    Data have one or more components. If a direction has a single point, the cells are faces. Raises OSError.
    """
    cells = [n - 1 for n in reversed(points[0].shape)]
    arrays = [Appended.of(name, components) for name, components in data.items()]
    write_parts(path, grid_file("StructuredGrid", cells, time, arrays, "Points", [Appended.of("points", points)]))


def write_blocks(path: Path, files: Files) -> None:
    """Write a multi-block dataset that lists files. Raises OSError."""
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


def write_polydata(path: Path, vertices: np.ndarray, triangles: np.ndarray, values: Mapping[str, np.ndarray]) -> None:
    """Write vertices [n, 3], triangles [m, 3] and values at the vertices, or points if no triangles are given.

    u, v and w become the vector `velocity`. Raises RunFailed if the disk is full.
    """
    at_points = dict(values)
    if set(at_points) >= set("uvw"):
        at_points = {"velocity": np.stack([at_points.pop(name) for name in "uvw"], axis=-1), **at_points}
    kind, cells = ("Polys", triangles) if len(triangles) else ("Verts", np.arange(len(vertices))[:, None])
    size = cells.shape[1]
    ends = np.arange(size, size * len(cells) + 1, size)
    arrays = {
        "PointData": [Appended.whole(name, data) for name, data in at_points.items()],
        "Points": [Appended.whole("points", vertices)],
        kind: [Appended.whole("connectivity", cells.ravel(), "i8"), Appended.whole("offsets", ends, "i8")],
    }
    head = f'<PolyData>\n<Piece NumberOfPoints="{len(vertices)}" NumberOf{kind}="{len(cells)}">'
    path.parent.mkdir(parents=True, exist_ok=True)
    with on_disk(f"{path}"):
        write_parts(path, _file("PolyData", head, arrays))


def collect(path: Path, files: Iterable[tuple[float, str]]) -> Path:
    """Write the .pvd file that lists files with their times, and return it. Raises RunFailed if the disk is full."""
    lines = [f'<DataSet timestep="{time!r}" part="0" file={quoteattr(file)}/>' for time, file in files]
    text = ['<VTKFile type="Collection" version="1.0">', "<Collection>", *lines, "</Collection>", "</VTKFile>", ""]
    path.parent.mkdir(parents=True, exist_ok=True)
    with on_disk(f"{path}"):
        write_parts(path, ["\n".join(text).encode()])
    return path
