"""The volumes of bodies and the gaps between them, before anything is computed, and refusals of invalid bodies."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from taskflow.common.errors import BadInput
from taskflow.common.rows import Row, details, warning_rows
from taskflow.common.units import plural
from taskflow.runtime.regions import Box, Triple, hull, triple
from taskflow.runtime.tasks import frame
from taskflow.systems.bodies.bodies import Bodies
from taskflow.systems.bodies.openings import sharing
from taskflow.systems.bodies.solids import Solids, pieces

SAMPLES = 16  # between the centres of two cells
LISTED = 3  # bodies in a report without details


@dataclass(frozen=True)
class BodyPart:
    """A body, or all of them: its cells, their volume, and the narrowest adjacent gap in cells, or None."""

    name: str
    cells: int
    volume: float
    gap: int | None

    def __str__(self) -> str:
        gap = "no adjacent gap" if self.gap is None else f"smallest gap {plural(self.gap, 'cell')}"
        return f"{plural(self.cells, 'cell')}, volume {self.volume:.6g}, {gap}"


@dataclass(frozen=True)
class Survey:
    """All bodies together, the named ones, the fluid part of the domain, and warnings as text."""

    all: BodyPart
    parts: tuple[BodyPart, ...]
    fluid: float
    warnings: tuple[str, ...] = field(default=())

    def rows(self) -> Iterator[Row]:
        alone = [part.cells for part in self.parts] == [self.all.cells]
        total = "" if alone else f"{self.all}; "
        yield Row("bodies", f"{total}{self.fluid:.2%} of the domain is fluid")
        rows = [Row("", f"{part.name}: {part}") for part in self.parts]
        yield from (*rows[:LISTED], *details(rows[LISTED:]))
        yield from warning_rows(self.warnings)


def survey(bodies: Bodies) -> Survey:
    """Examine all cells. Raises BadInput if a body has no cell, the fluid has none, or a body covers an opening."""
    solids, grid = bodies.solids, bodies.grid
    _check_places(bodies)
    count = np.zeros(len(solids.shapes) + 1, np.int64)
    volume: np.ndarray = np.zeros(count.shape)
    gaps = Gaps(grid.cells, grid.periodic, len(solids.shapes))
    around = hull(box & grid.box for box in solids.boxes)
    for piece in pieces(_whole(grid.box, 2, around)):
        numbers = solids.numbers(piece)
        count += np.bincount(numbers.reshape(-1), minlength=count.size)
        if not all(grid.uniform):
            volume += np.bincount(numbers.reshape(-1), grid.volumes(piece).reshape(-1), count.size)
        gaps.look(numbers, piece, 0)
        gaps.look(numbers, piece, 1)
    for piece in pieces(_whole(grid.box, 1, around), axis=1):
        gaps.look(solids.numbers(piece), piece, 2)
    count[0] = grid.box.volume - count[1:].sum()
    if all(grid.uniform):
        volume = count * grid.volume
    if not count[0]:
        raise BadInput("obstacles: no cell is left for the fluid; make them smaller, expressions negative inside only")
    for number, cells in enumerate(count[1:], start=1):
        if not cells and not _hidden(solids, number):
            raise BadInput(f"obstacles[{number}]: no cell has its centre in it; use smaller cells, or a larger body")
    _check_openings(bodies)
    parts = tuple(_part(bodies, name, count, volume, gaps) for name in bodies.names)
    least = min(gaps.narrowest, default=None)
    together = BodyPart("all", int(count[1:].sum()), float(volume[1:].sum()), least.cells if least else None)
    fluid = 1 - together.volume / math.prod(grid.lengths)
    return Survey(together, parts, fluid, tuple(_warnings(bodies, gaps)))


def _whole(domain: Box, axis: int, part: Box) -> Box:
    """Return the complete planes across an axis that contain a part of the domain."""
    return domain.layer(axis, 0, part.lo[axis], part.hi[axis])


def _part(bodies: Bodies, name: str, count: np.ndarray, volume: np.ndarray, gaps: Gaps) -> BodyPart:
    numbers = [n for n, obstacle in enumerate(bodies.case.obstacles, start=1) if obstacle.name == name]
    widths = [int(gaps.beside[n]) for n in numbers if gaps.beside[n] < gaps.none]
    return BodyPart(name, int(count[numbers].sum()), float(volume[numbers].sum()), min(widths, default=None))


def _check_places(bodies: Bodies) -> None:
    grid = bodies.grid
    for number, shape in enumerate(bodies.solids.shapes if bodies.moving else bodies.shapes, start=1):
        low, high = shape.bounds
        for axis, name in enumerate("xyz"):
            start, stop = grid.origin[axis], grid.origin[axis] + grid.lengths[axis]
            if low[axis] >= stop or high[axis] <= start:
                raise BadInput(
                    f"obstacles[{number}]: it lies outside of the domain: {name} from {low[axis]:g} to {high[axis]:g},"
                    f" where the domain goes from {start:g} to {stop:g}; move it, or omit it"
                )


def _hidden(solids: Solids, number: int) -> bool:
    """Return True if a shape has cells, all of which belong to a later one."""
    alone = Solids(solids.grid, (solids.shapes[number - 1],))
    return any(alone.numbers(piece).any() for piece in pieces(solids.boxes[number - 1] & solids.grid.box))


def _check_openings(bodies: Bodies) -> None:
    for face, side in bodies.case.boundaries.sides.items():
        if not side.kind.permeable:
            continue
        axis, high = frame(face)
        layer = bodies.grid.box.layer(axis, int(high), 0, 1)
        numbers = bodies.solids.numbers(layer)
        if numbers.any():
            number = int(numbers[numbers != 0][0])
            raise BadInput(
                f"obstacles[{number}]: it covers {np.count_nonzero(numbers)} of the {layer.volume} cells behind the"
                f" {side.type} {face}; start the body at least a cell away from there"
            )
    for n, opening in enumerate(bodies.case.openings, start=1):
        if opening.obstacle is not None:
            blocked = [bodies.solids.numbers(box) for box in bodies.openings[opening.name].cells]
            if any(numbers.any() for numbers in blocked):
                raise BadInput(f"openings[{n}]: a body is next to {opening.around}; move one of them, or give a part")
            leaves = opening.kind.permeable and not opening.kind.enters
            if leaves and (other := sharing(bodies.case, bodies.openings, opening)) is not None:
                raise BadInput(
                    f"openings[{n}]: its values and those of {other} are in the same cells of {opening.obstacle};"
                    " move one of them at least two cells away"
                )
            continue
        layer = bodies.grid.box.layer(opening.axis, int(opening.side.endswith("max")), 0, 1)
        behind = np.expand_dims(opening.covers(bodies.grid), 2 - opening.axis)
        numbers = bodies.solids.numbers(layer)[behind]
        if opening.kind.permeable and numbers.any():
            raise BadInput(
                f"openings[{n}]: obstacles[{numbers[numbers != 0][0]}] covers {np.count_nonzero(numbers)} of the"
                f" {numbers.size} cells behind {opening.name}; move one of them; a body may be next to an opening"
            )


def _warnings(bodies: Bodies, gaps: Gaps) -> Iterator[str]:
    for number, shape in enumerate(bodies.solids.shapes, start=1):
        if unlike := getattr(shape, "unlike", ""):
            yield f"obstacles[{number}].file: {unlike}"
    for pair, place in gaps.touching.items():
        if _apart(bodies.solids, pair, place):
            names = ((n, bodies.case.obstacles[n - 1].name) for n in pair)
            first, second = (f'obstacles[{n}] ("{name}")' if name else f"obstacles[{n}]" for n, name in names)
            at = (bodies.grid.coordinates("c", axis, n, n + 1)[0] for axis, n in enumerate(place.cell))
            yield (
                f"between {first} and {second} at ({', '.join(f'{value:g}' for value in at)}) is a gap thinner than a"
                " cell, through which nothing flows: use smaller cells, or close it"
            )


def _apart(solids: Solids, pair: tuple[int, int], place: BodyGap) -> bool:
    """Return True if a point between the centres of a cell and the next one along an axis is in neither shape."""
    grid = solids.grid
    points = [grid.coordinates("c", axis, n, n + 1) for axis, n in enumerate(place.cell)]
    step = grid.distances("c", place.axis, place.cell[place.axis], place.cell[place.axis] + 1)
    points[place.axis] = points[place.axis] + step * np.linspace(0, 1, SAMPLES)
    inside = [solids.shapes[number - 1].inside(*points) for number in pair]
    return not bool((inside[0] | inside[1]).all())


@dataclass(frozen=True, order=True)
class BodyGap:
    """A number of cells in a row; the first one follows `cell` along an axis."""

    cells: int
    axis: int
    cell: Triple


@dataclass(eq=False)
class Gaps:
    """The gaps in the pieces of the domain examined so far.

    `beside` has, by shape number, the fewest free cells in a row adjacent to the shape, or `none`. `touching` has one
    place for each pair of shapes with adjacent cells. Rows end at walls, unless they are `periodic` or `open_ended`.
    """

    cells: Triple
    periodic: tuple[bool, bool, bool]
    shapes: int
    open_ended: bool = False
    beside: np.ndarray = field(init=False)
    touching: dict[tuple[int, int], BodyGap] = field(default_factory=dict)
    narrowest: list[BodyGap] = field(default_factory=list)  # of each piece and axis

    def __post_init__(self) -> None:
        self.none = int(max(self.cells)) + 1
        self.beside = np.full(self.shapes + 1, self.none, np.int64)

    def look(self, numbers: np.ndarray, piece: Box, axis: int) -> None:
        """Examine the complete rows of a piece: numbers [z, y, x] of the shapes at its cells."""
        rows = np.ascontiguousarray(np.moveaxis(numbers, 2 - axis, -1))
        count = rows.shape[-1]
        begin, end, has = runs(rows)
        if not has.size:
            return
        line, first, last = begin // count, begin % count, end % count
        same = line[1:] == line[:-1]
        before, behind = np.flatnonzero(same), np.flatnonzero(same) + 1
        width = first[behind] - last[before] - 1
        meeting = before[width == 0]
        for pair, n in _pairs(has[meeting], has[meeting + 1]):
            cell = _cell(rows.shape, piece, axis, int(end[meeting[n]]))
            self.touching.setdefault(pair, BodyGap(0, axis, cell))
        low, high = np.flatnonzero(np.r_[True, ~same]), np.flatnonzero(np.r_[~same, True])  # the outermost of each row
        if self.periodic[axis]:
            ends = [(end[high], has[high], has[low], first[low] + count - 1 - last[high])]
        elif self.open_ended:
            ends = []
        else:
            ends = [
                (end[high], has[high], has[high], count - 1 - last[high]),
                (begin[low], has[low], has[low], first[low]),
            ]
        ends.append((end[before], has[before], has[behind], width))
        for where, one, other, cells in ends:
            open_ = cells > 0
            np.minimum.at(self.beside, one[open_], cells[open_])
            np.minimum.at(self.beside, other[open_], cells[open_])
            if open_.any():
                n = int(np.flatnonzero(open_)[cells[open_].argmin()])
                cell = _cell(rows.shape, piece, axis, int(where[n]))
                self.narrowest.append(BodyGap(int(cells[n]), axis, cell))


def runs(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return runs of cells of the same shape in a row: the indices of the first and the last one, and the number."""
    flat, begins = rows.reshape(-1), np.empty(rows.shape, bool)
    begins[..., 0] = True
    np.not_equal(rows[..., 1:], rows[..., :-1], out=begins[..., 1:])
    begin = np.flatnonzero(begins)
    has, end = flat[begin].astype(np.int64), np.r_[begin[1:], flat.size] - 1
    solid = has > 0
    return begin[solid], end[solid], has[solid]


def _pairs(one: np.ndarray, other: np.ndarray) -> Iterator[tuple[tuple[int, int], int]]:
    """Yield the different pairs, in either order, each with an index."""
    both = np.stack([np.minimum(one, other), np.maximum(one, other)])
    pairs, places = np.unique(both, axis=1, return_index=True)
    return zip(zip(*pairs.tolist(), strict=True), places.tolist(), strict=True)


def _cell(shape: tuple[int, ...], piece: Box, axis: int, place: int) -> Triple:
    """Return the cell at an index in the rows of a piece."""
    outer = [2 - d for d in range(3) if 2 - d != axis]  # the axes of the rows' array, the last one being `axis`
    indices = dict(zip([*outer, axis], (int(n) for n in np.unravel_index(place, shape)), strict=True))
    return triple(piece.lo[d] + indices[d] for d in range(3))
