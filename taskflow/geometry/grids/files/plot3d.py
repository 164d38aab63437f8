"""Read PLOT3D grids of several blocks, as text or binary."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from taskflow.common import files
from taskflow.common.errors import BadInput
from taskflow.geometry.grids.multiblock.grid import FARTHEST, Chart
from taskflow.runtime.regions import Triple, triple

MOST = 100_000_000_000  # bytes
BLOCKS = 100_000  # more than any grid has
MEMORY = 3, 12  # memory over file size while reading, for binary and text
TEXT = re.compile(rb"[\s!-~]*\Z")
REPEATED = re.compile(rb"0*([1-9]\d{0,15})\*([^*]+)")  # 4*0.0 in list-directed output of Fortran
GIVE = "give a PLOT3D grid of blocks in three dimensions, as text or binary"


@dataclass(frozen=True)
class Plot3DHeader:
    """Contents of a header: the vertices of blocks along i, j and k, and the start of the coordinates."""

    dims: tuple[Triple, ...]
    start: int
    order: str  # "<" or ">"; "" in a text

    @property
    def vertices(self) -> int:
        return sum(i * j * k for i, j, k in self.dims)


def read_plot3d(path: Path) -> tuple[Chart, ...]:
    """Return the charts of a file.

    The format is detected: text, or binary with or without record marks, either endianness and precision, one block or
    several. Raises BadInput if the file does not exist, its length does not match its header, or it has iblank or only
    two dimensions.
    """
    data = _content(path)
    if TEXT.match(data[:10000]):
        files.fits(MEMORY[1] * len(data), str(path))
        blocks = _text(path, data)
    else:
        blocks = _marked(path, data) or _unmarked(path, data)
    charts = []
    for number, block in enumerate(blocks, start=1):
        with np.errstate(invalid="ignore"):  # values that are not finite are reported
            vertices = np.array(block, dtype=np.float64, order="C")
        if not (np.abs(vertices) <= FARTHEST).all():
            raise BadInput(f"{path}, block {number}: {_swapped(block)}")
        charts.append(Chart(vertices))
    return tuple(charts)


def _content(path: Path) -> bytes:
    """Return all bytes of a grid file. Raises BadInput if it does not exist or is empty."""
    try:
        with files.opened(path, MOST, GIVE) as file:
            files.fits(MEMORY[0] * path.stat().st_size, str(path))
            data = file.read()
    except BadInput as error:
        raise BadInput(f"{path}: {error}" if str(path) not in str(error) else str(error)) from None
    if not data.strip():
        raise BadInput(f"{path}: the file is empty; {GIVE}")
    return data


def _swapped(block: np.ndarray) -> str:
    other = block.byteswap()
    usual = np.abs(other[np.isfinite(other)])
    if usual.size == other.size and ((usual == 0) | ((usual > 1e-30) & (usual < 1e30))).all():
        return "its numbers have another endianness than its header; write the file again on one machine"
    return f"coordinates that are not finite, or larger than {FARTHEST:g}; write the grid again"


# ---------------------------------------------------------------------------------------------------------- text


def _text(path: Path, data: bytes) -> list[np.ndarray]:
    words = data.replace(b",", b" ").replace(b"D", b"E").replace(b"d", b"e").split()
    try:
        every = _expanded(path, words, 2 * len(data)) if b"*" in data else words
        numbers = np.fromiter(map(float, every), np.float64, len(every))
    except ValueError:
        raise BadInput(f"{path}, {_place(data)}; write the grid as text of numbers alone") from None
    head = numbers[: 3 * BLOCKS + 1]
    layouts = list(_layouts(head, 1, ""))
    for layout in layouts:
        if numbers.size == layout.start + 3 * layout.vertices:
            return _blocks(layout, numbers[layout.start :])
    raise _refused(path, layouts, numbers.size, 1, "numbers", head)


def _expanded(path: Path, words: list[bytes], most: int) -> list[bytes]:
    """Replace repeat counts by the repeated words.

    One coordinate of a grid differs along i, so a file has at most 1.5 numbers per byte. `most` bounds memory
    accordingly.
    """
    found = [REPEATED.fullmatch(word) for word in words]
    count = len(words) + sum(int(match[1]) - 1 for match in found if match)
    if count > most:
        raise BadInput(f"{path}: its repeat counts make {count} numbers, too many for a grid; write it without them")
    pairs = zip(words, found, strict=True)
    return [part for word, match in pairs for part in ([match[2]] * int(match[1]) if match else [word])]


def _place(data: bytes) -> str:
    """Return the position of the first word that is not a number."""
    for number, line in enumerate(data.splitlines(), start=1):
        for word in line.replace(b",", b" ").split():
            match = REPEATED.fullmatch(word)
            try:
                float((match[2] if match else word).lower().replace(b"d", b"e"))
            except ValueError:
                return f"line {number}: {word.decode('utf-8', 'replace')[:40]!r} is no number"
    return "a word is no number"


# -------------------------------------------------------------------------------------------------------- binary


def _marked(path: Path, data: bytes) -> list[np.ndarray] | None:
    """Return the blocks of a file of Fortran records, each between marks of its length, or None without marks."""
    for order in "<>":
        marks = np.frombuffer(data[: len(data) // 4 * 4], f"{order}i4", min(4, len(data) // 4))
        length = int(marks[0]) if marks.size else 0
        if length in (4, 8, 12) and len(data) >= length + 8 and _mark(data, length + 4, order) == length:
            return _records(path, data, order)
    return None


def _mark(data: bytes, at: int, order: str) -> int:
    part = data[at : at + 4]
    return int(np.frombuffer(part, f"{order}i4")[0]) if len(part) == 4 else -1


def _records(path: Path, data: bytes, order: str) -> list[np.ndarray]:
    parts, at = list[bytes](), 0
    while at < len(data):
        length = _mark(data, at, order)
        if length < 0 or at + length + 8 > len(data) or _mark(data, at + 4 + length, order) != length:
            mark = f"which says that it has {length} bytes" if length >= 0 else "whose mark is damaged"
            rest = f"{len(data) - at} bytes are left"
            if parts and _complete(parts, order):
                raise BadInput(f"{path}: trailing data: {rest} after the last record; write the file again")
            raise BadInput(f"{path}: truncated in record {len(parts) + 1}, {mark}, while {rest}; write the file again")
        parts.append(data[at + 4 : at + 4 + length])
        at += length + 8
    count, head, layouts = _header(parts, order)
    if not layouts:
        raise _refused(path, [], len(data), 4, "bytes", head)
    blocks, layout = parts[count:], layouts[0]
    if len(blocks) != len(layout.dims):
        more = "more" if len(blocks) > len(layout.dims) else "fewer"
        problem = f"{len(layout.dims)} blocks by its header, and {len(blocks)} records of vertices"
        raise BadInput(f"{path}: {problem}, {more} than that; write the file again, a record for each block")
    return [
        _record(path, number, part, dims, order)
        for number, (part, dims) in enumerate(zip(blocks, layout.dims, strict=True), start=1)
    ]


def _header(parts: Sequence[bytes], order: str) -> tuple[int, np.ndarray, list[Plot3DHeader]]:
    """Return the number of header records, their numbers, and the possible layouts."""
    count = 1 if len(parts[0]) != 4 else 2
    head = np.frombuffer(b"".join(parts[:count]), f"{order}i4")
    return count, head, [layout for layout in _layouts(head, 4, order) if layout.start == 4 * head.size]


def _complete(parts: Sequence[bytes], order: str) -> bool:
    """Return True if all records announced by the header are present."""
    count, _, layouts = _header(parts, order)
    return bool(layouts) and len(parts) - count == len(layouts[0].dims)


def _record(path: Path, number: int, part: bytes, dims: Triple, order: str) -> np.ndarray:
    i, j, k = dims
    count = i * j * k
    for size in (8, 4):
        if len(part) == 3 * size * count:
            return np.frombuffer(part, f"{order}f{size}").reshape(3, k, j, i)
        if len(part) == (3 * size + 4) * count:
            raise _iblank(path)
    sizes = f"{12 * count} in single precision, {24 * count} in double"
    raise BadInput(f"{path}, block {number}: {len(part)} bytes for {i} x {j} x {k} vertices, not {sizes}; {GIVE}")


def _unmarked(path: Path, data: bytes) -> list[np.ndarray]:
    layouts, heads = [], []
    for order in "<>":
        head = np.frombuffer(data[: min(len(data) // 4, 3 * BLOCKS + 1) * 4], f"{order}i4")
        heads.append(head)
        layouts += list(_layouts(head, 4, order))
    for layout in layouts:
        for size in (8, 4):
            if len(data) == layout.start + 3 * size * layout.vertices:
                return _blocks(layout, np.frombuffer(data[layout.start :], f"{layout.order}f{size}"))
    raise _refused(path, layouts, len(data), 4, "bytes", *heads)


# -------------------------------------------------------------------------------------------------------- layouts


def _layouts(head: np.ndarray, size: int, order: str) -> Iterator[Plot3DHeader]:
    """Yield the possible meanings of the first numbers: several blocks, or one. `size` is in bytes per number."""
    count = _count(head)
    if count and head.size >= 1 + 3 * count and (dims := _dims(head[1 : 1 + 3 * count], 3)):
        yield Plot3DHeader(tuple(triple(d) for d in dims), (1 + 3 * count) * size, order)
    if head.size >= 3 and (dims := _dims(head[:3], 3)):
        yield Plot3DHeader((triple(dims[0]),), 3 * size, order)


def _count(head: np.ndarray) -> int:
    return int(head[0]) if head.size and 1 <= head[0] <= BLOCKS and head[0] == int(head[0]) else 0


def _dims(numbers: np.ndarray, each: int) -> list[list[int]]:
    """Return the numbers of vertices, or [] if they are invalid."""
    whole = (numbers == np.floor(numbers)) & (numbers >= 2) & (numbers < 2**24)
    return numbers.astype(int).reshape(-1, each).tolist() if whole.all() else []


def _blocks(layout: Plot3DHeader, numbers: np.ndarray) -> list[np.ndarray]:
    blocks, at = [], 0
    for i, j, k in layout.dims:
        blocks.append(numbers[at : at + 3 * i * j * k].reshape(3, k, j, i))
        at += 3 * i * j * k
    return blocks


def _refused(
    path: Path, layouts: Sequence[Plot3DHeader], size: int, unit: int, what: str, *heads: np.ndarray
) -> BadInput:
    """Return the error for a file whose length matches none of the layouts."""
    sizes = (1,) if unit == 1 else (8, 4)
    for layout in layouts:
        if size in [layout.start + (3 * n + unit) * layout.vertices for n in sizes]:
            return _iblank(path)
    for head in heads:
        count = _count(head)
        flat = count and head.size >= 1 + 2 * count and _dims(head[1 : 1 + 2 * count], 2)
        if flat:
            values = 2 * sum(i * j for i, j in flat)
            if size in [(1 + 2 * count) * unit + n * values for n in sizes]:
                remedy = "give a grid one cell thick: two planes of vertices"
                return BadInput(f"{path}: a grid in two dimensions, without z; {remedy}")
    if layouts:
        layout = layouts[0]
        needed = [layout.start + 3 * n * layout.vertices for n in sizes]
        states = ["truncated"] * (size < max(needed)) + ["trailing data"] * (size > min(needed))
        state = ", or ".join(states)
        dims = ", ".join(" x ".join(map(str, block)) for block in layout.dims[:3])
        more = ", ..." if len(layout.dims) > 3 else ""
        sizes_text = " or ".join(map(str, needed))
        problem = f"{len(layout.dims)} blocks ({dims}{more} vertices) take {sizes_text} {what}, and it has {size}"
        return BadInput(f"{path}: {state}: {problem}; write the file again")
    if any(_thin(head) for head in heads):
        return BadInput(f"{path}: a block has one vertex along a direction; give a grid one cell thick: two planes")
    kinds = "text, or binary numbers of either endianness with or without record marks"
    return BadInput(f"{path}: does not begin with numbers of vertices, as {kinds}; {GIVE}")


def _thin(head: np.ndarray) -> bool:
    count = _count(head)
    dims = head[1 : 1 + 3 * count]
    return bool(count and dims.size == 3 * count and ((dims >= 1) & (dims < 2**24)).all() and (dims == 1).any())


def _iblank(path: Path) -> BadInput:
    return BadInput(f"{path}: iblank (blanked vertices) is not available in this version; write the grid without it")
