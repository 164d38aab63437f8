"""Neutral map files: joined faces of blocks, and boundaries."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from io import StringIO
from itertools import dropwhile, islice
from pathlib import Path

from taskflow.common import files
from taskflow.common.errors import BadInput, named
from taskflow.geometry.grids.multiblock.grid import BadGrid, Chart, GridSeam, MultiBlockGrid, all_right
from taskflow.geometry.grids.multiblock.matching import covered
from taskflow.geometry.grids.multiblock.merging import translated
from taskflow.runtime.regions import SIDES, Patch, Triple, Turn, triple

FACES = {  # by number: the side, and the directions of both ranges
    1: ("k_min", (0, 1)),
    2: ("k_max", (0, 1)),
    3: ("i_min", (1, 2)),
    4: ("i_max", (1, 2)),
    5: ("j_min", (2, 0)),
    6: ("j_max", (2, 0)),
}
COUNT = re.compile(r"\d{1,9}")
FLAT = ("i_min", "i_max", "j_min", "j_max")  # faces 1 to 4 of a writer for two dimensions
JOINED, SIDE = "ONE_TO_ONE", "! side"
NAMED = re.compile(r"!\s*side\s+(.+?)\s*$")
ABSENT = {
    "PATCHED": "patched seams are", **dict.fromkeys(("POLE", "POLE_DIR1", "POLE_DIR2"), "poles are"),
    **dict.fromkeys(("COLLAPSED", "COLLAPSED_EDGE", "COLLAPSED_FACE"), "collapsed faces are"),
}  # fmt: skip
WORDS = ("TRUE", "FALSE")
MOST = 100_000_000  # bytes
PROBLEMS = 1000  # collected at most: in a file of another format each line is one
REMEDY = "give a neutral map file (.nmf)"
HEADER = """# Neutral map file, written by taskflow: vertices are counted from 1, types are names of sides
#
# block  IDIM  JDIM  KDIM
#
"""
ENTRIES = """#
# type  B1 F1 S1 E1 S2 E2  B2 F2 S1 E1 S2 E2 swap
#
"""

Boundaries = dict[str, list[Patch]]


@dataclass(frozen=True, slots=True)
class MapLine:
    """Non-empty line: its words, its number in the file, and the name of a side in its comment."""

    number: int
    words: tuple[str, ...]
    name: str | None = None


def read_map(path: Path, charts: Sequence[Chart]) -> tuple[list[GridSeam], Boundaries]:
    """Return the seams and sides in a neutral map of these charts.

    A seam whose vertices differ by a translation is periodic. Entries of other types than ONE_TO_ONE are sides, named
    by type and number, or by a comment `! side NAME`. Raises BadGrid with all problems, line by line, and with faces
    that are covered twice or not at all.
    """
    with named(str(path)):
        text = files.text(path, MOST, REMEDY)
    entries = _entries(path, _lines(text), charts)
    problems, seams, sides = list[BadInput](), list[GridSeam](), dict[str, list[Patch]]()
    counts = Counter[str]()
    for line in entries:
        try:
            kind = line.words[0].strip("'\"")
            if kind.upper().replace("-", "_") == JOINED:
                seams.append(translated(charts, _seam(line, charts)))
                continue
            patch = _side(kind, line, charts)
            counts[kind.lower()] += 1
            sides.setdefault(line.name or f"{kind.lower()}_{counts[kind.lower()]}", []).append(patch)
        except BadInput as error:
            problems.append(BadInput(f"{path}, line {line.number}: {error}"))
            if len(problems) == PROBLEMS:
                break
    all_right(problems)
    covered(path, charts, seams, sides)
    return sorted(seams), sides


def _lines(text: str) -> Iterator[MapLine]:
    """Yield non-empty lines without comments. A list of all would take much more memory than the text."""
    for number, line in enumerate(StringIO(text, newline=None), start=1):
        words = re.split(r"[#!]", line)[0].split()
        if words:
            name = NAMED.search(line)
            yield MapLine(number, tuple(words), name[1] if name else None)


def _entries(path: Path, lines: Iterator[MapLine], charts: Sequence[Chart]) -> Iterator[MapLine]:
    """Return the lines after the table of blocks. Raises BadGrid if the table does not match the charts."""
    begin = next((line for line in lines if len(line.words) == 1 and COUNT.fullmatch(line.words[0])), None)
    if begin is None:
        raise BadGrid([BadInput(f"{path}: the number of blocks is missing after the header; {REMEDY}")])
    count = int(begin.words[0])
    if count != len(charts):
        problem = f"{count} blocks, and the grid has {len(charts)}"
        raise BadGrid([BadInput(f"{path}, line {begin.number}: {problem}; give the map of this grid")])
    all_right(_blocks(path, [*islice(lines, count)], charts))
    # without the header of the next table
    return dropwhile(lambda line: not any(word.isdecimal() for word in line.words[1:]), lines)


def _blocks(path: Path, lines: list[MapLine], charts: Sequence[Chart]) -> Iterator[BadInput]:
    for number, chart in enumerate(charts, start=1):
        dims = [n + 1 for n in chart.cells]
        if number > len(lines):
            yield BadInput(f"{path}: block {number} is missing in the table of blocks; write the map again")
            continue
        line = lines[number - 1]
        if line.words != tuple(map(str, (number, *dims))):
            problem = f"{' '.join(line.words)!r}, and block {number} has {' x '.join(map(str, dims))} vertices"
            yield BadInput(f"{path}, line {line.number}: {problem}; give '{number} {' '.join(map(str, dims))}'")


def _side(kind: str, line: MapLine, charts: Sequence[Chart]) -> Patch:
    word = kind.upper().replace("-", "_")
    if word in ABSENT:
        raise BadInput(f"{kind}: {ABSENT[word]} not available in this version; join whole faces one to one")
    if len(line.words) > 7:
        remedy = f"did you mean {JOINED}?" if get_close_matches(word, [JOINED], 1) else f"give {JOINED}, or one block"
        raise BadInput(f"unknown word {kind} with faces of two blocks; {remedy}")
    return _patch(line.words[1:7], charts)[0]


def _patch(words: Sequence[str], charts: Sequence[Chart]) -> tuple[Patch, tuple[int, int], tuple[int, int]]:
    """Return the patch of six numbers, the directions of its ranges, and 1 or -1 for each, forward or backward."""
    try:
        block, face, *ends = map(int, words)
        s1, e1, s2, e2 = ends
    except ValueError:
        remedy = "give six integers: block, face, and two ranges of vertices"
        raise BadInput(f"{' '.join(words)!r}; {remedy}") from None
    if not 1 <= block <= len(charts):
        raise BadInput(f"block {block}; the grid has blocks 1 to {len(charts)}")
    if face not in FACES:
        raise BadInput(f"face {face}; give 1 to 6 for k min, k max, i min, i max, j min, j max")
    side, along = FACES[face]
    cells = charts[block - 1].cells
    box = Patch.whole(0, side, cells).cells
    for (start, end), axis in zip(((s1, e1), (s2, e2)), along, strict=True):
        if not (min(start, end) >= 1 and max(start, end) <= cells[axis] + 1):
            problem = f"vertices {start} to {end} along {'ijk'[axis]} of block {block}, which has {cells[axis] + 1}"
            raise BadInput(f"{problem}; {_numbering(face, (s1, e1, s2, e2), cells)}")
        if start == end:
            raise BadInput(f"a range from {start} to {end} has no faces; give its first and its last vertex")
        box = box.cut(axis, min(start, end) - 1, max(start, end) - 1)
    signs = (1 if e1 > s1 else -1), (1 if e2 > s2 else -1)
    return Patch(block - 1, side, box), along, signs


def _numbering(face: int, ends: tuple[int, int, int, int], cells: Triple) -> str:
    """Return the remedy for extents that do not fit, because some writers number the faces of two dimensions
    differently.
    """
    if face <= len(FLAT):
        along = [axis for axis in range(3) if axis != SIDES.index(FLAT[face - 1]) // 2]
        most = max(ends[:2]), max(ends[2:])
        if any(all(m <= cells[a] + 1 for m, a in zip(most, order, strict=True)) for order in (along, along[::-1])):
            return (
                f"they fit a file that numbers faces 1 to 4 as i min, i max, j min, j max; here 1 and 2 are k min and k"
                f" max, 3 to 6 those: give {SIDES.index(FLAT[face - 1]) + 3} instead of {face}"
            )
    return "give ranges of vertices of that face, counted from 1"


def _seam(line: MapLine, charts: Sequence[Chart]) -> GridSeam:
    words = line.words
    if len(words) != 14:
        raise BadInput(f"{len(words)} words; {JOINED} takes two times six numbers and TRUE or FALSE")
    swap = words[13].upper().strip(".")
    if swap not in WORDS:
        raise BadInput(f"unknown word {words[13]}; give TRUE or FALSE, whether the ranges are swapped")
    one, first, signs = _patch(words[1:7], charts)
    other, second, other_signs = _patch(words[7:13], charts)
    if swap == "TRUE":
        second, other_signs = second[::-1], other_signs[::-1]
    axes = [0, 0, 0]
    axes[one.axis] = (1 if one.end != other.end else -1) * (other.axis + 1)
    for a, b, sign, other_sign in zip(first, second, signs, other_signs, strict=True):
        axes[a] = sign * other_sign * (b + 1)
        size, other_size = (patch.cells.shape[axis] for patch, axis in ((one, a), (other, b)))
        if size != other_size:
            problem = f"{size} cells along {'ijk'[a]} of block {one.chart + 1} are joined to {other_size} of the other"
            raise BadInput(f"{problem}; give as many")
    if not Turn(triple(axes)).rotates:
        raise BadInput("joins a right-handed chart to a left-handed one, a reflection; reverse a range, or an index")
    if (one.chart, one.side) == (other.chart, other.side) and one.cells.meets(other.cells):
        raise BadInput("joins faces to themselves; give two patches without common faces")
    return GridSeam(one, other, triple(axes)).in_order


def write_map(path: Path, grid: MultiBlockGrid) -> None:
    """Write the seams and sides of a grid as a neutral map. Raises OSError if the file cannot be written."""
    path.write_text("".join(_map(grid)), encoding="utf-8")


def _map(grid: MultiBlockGrid) -> Iterator[str]:
    yield f"{HEADER}{len(grid.charts)}\n"
    for number, chart in enumerate(grid.charts, start=1):
        i, j, k = (n + 1 for n in chart.cells)
        yield f"{number} {i} {j} {k}\n"
    yield ENTRIES
    for seam in grid.seams:
        yield _written(seam)
    for name, patches in grid.sides.items():
        word = re.sub(r"\W", "_", name)
        yield from (f"{word} {_numbers(patch)} {SIDE} {name}\n" for patch in patches)


def _numbers(patch: Patch, backwards: Sequence[int] = ()) -> str:
    """Return block, face and ranges of vertices, from 1, with the ranges of `backwards` directions reversed."""
    number = next(n for n, (side, _) in FACES.items() if side == patch.side)
    ranges = list[int]()
    for axis in FACES[number][1]:
        ends = patch.cells.lo[axis] + 1, patch.cells.hi[axis] + 1
        ranges += reversed(ends) if axis in backwards else ends
    return " ".join(map(str, (patch.chart + 1, number, *ranges)))


def _written(seam: GridSeam) -> str:
    first = next(along for side, along in FACES.values() if side == seam.one.side)
    other = next(along for side, along in FACES.values() if side == seam.other.side)
    swap = abs(seam.axes[first[0]]) - 1 != other[0]
    backwards = [abs(axis) - 1 for axis in seam.axes if axis < 0]
    return f"{JOINED} {_numbers(seam.one)}  {_numbers(seam.other, backwards)} {str(swap).upper()}\n"
