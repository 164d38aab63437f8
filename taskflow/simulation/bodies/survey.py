"""What is to be said of bodies before anything is computed: volumes, gaps, and what cannot be."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from taskflow.errors import BadInput
from taskflow.regions import Box, hull
from taskflow.simulation.bodies.bodies import Bodies
from taskflow.simulation.bodies.gaps import Gap, Gaps
from taskflow.simulation.bodies.solids import Solids, pieces

SAMPLES = 16  # between the centres of two cells
FACES = {"x_min": (0, 0), "x_max": (0, 1), "y_min": (1, 0), "y_max": (1, 1), "z_min": (2, 0), "z_max": (2, 1)}
OPEN = ("inflow", "outflow")


@dataclass(frozen=True)
class Part:
    """A body, or all of them: its cells, their volume, and the narrowest gap beside it in cells, None without one."""

    name: str
    cells: int
    volume: float
    gap: int | None


@dataclass(frozen=True)
class Survey:
    """All bodies together, those with names, which part of the domain is fluid, and warnings in words."""

    all: Part
    parts: tuple[Part, ...]
    fluid: float
    warnings: tuple[str, ...] = field(default=())


def survey(bodies: Bodies) -> Survey:
    """Look at all cells. Raises BadInput where a body has no cell, none is left for the fluid, or one covers an opening
    of the domain.
    """
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
    together = Part("all", int(count[1:].sum()), float(volume[1:].sum()), least.cells if least else None)
    fluid = 1 - together.volume / math.prod(grid.lengths)
    return Survey(together, parts, fluid, tuple(_warnings(bodies, gaps)))


def _whole(domain: Box, axis: int, part: Box) -> Box:
    """The planes across an axis, all of each, that a part of the domain has."""
    return domain.layer(axis, 0, part.lo[axis], part.hi[axis])


def _part(bodies: Bodies, name: str, count: np.ndarray, volume: np.ndarray, gaps: Gaps) -> Part:
    numbers = [n for n, obstacle in enumerate(bodies.case.obstacles, start=1) if obstacle.name == name]
    found = [int(gaps.beside[n]) for n in numbers if gaps.beside[n] < gaps.none]
    return Part(name, int(count[numbers].sum()), float(volume[numbers].sum()), min(found, default=None))


def _check_places(bodies: Bodies) -> None:
    """Raises BadInput for a body that is nowhere in the domain."""
    grid = bodies.grid
    for number, shape in enumerate(bodies.solids.shapes, start=1):
        low, high = shape.bounds
        for axis, name in enumerate("xyz"):
            start, stop = grid.origin[axis], grid.origin[axis] + grid.lengths[axis]
            if low[axis] >= stop or high[axis] <= start:
                raise BadInput(
                    f"obstacles[{number}]: it lies outside of the domain: {name} from {low[axis]:g} to {high[axis]:g},"
                    f" where the domain goes from {start:g} to {stop:g}; move it, or leave it out"
                )


def _hidden(solids: Solids, number: int) -> bool:
    """Whether a shape has cells, all of which a later one has taken."""
    alone = Solids(solids.grid, (solids.shapes[number - 1],))
    return any(alone.numbers(piece).any() for piece in pieces(solids.boxes[number - 1] & solids.grid.box))


def _check_openings(bodies: Bodies) -> None:
    for face, (axis, side) in FACES.items():
        kind = bodies.case.boundary(face).type
        if kind not in OPEN:
            continue
        layer = bodies.grid.box.layer(axis, side, 0, 1)
        numbers = bodies.solids.numbers(layer)
        if numbers.any():
            number = int(numbers[numbers != 0][0])
            raise BadInput(
                f"obstacles[{number}]: it covers {np.count_nonzero(numbers)} of the {layer.volume} cells behind the"
                f" {kind} {face}; let the body begin at least a cell away from there"
            )


def _warnings(bodies: Bodies, gaps: Gaps) -> Iterator[str]:
    for pair, place in gaps.touching.items():
        if _apart(bodies.solids, pair, place):
            first, second = (_called(bodies, n) for n in pair)
            yield (
                f"between {first} and {second} at {_where(bodies, place.cell)} is a gap thinner than a cell, through"
                " which nothing flows: use smaller cells, or close it"
            )


def _called(bodies: Bodies, number: int) -> str:
    name = bodies.case.obstacles[number - 1].name
    return f'obstacles[{number}] ("{name}")' if name else f"obstacles[{number}]"


def _where(bodies: Bodies, cell: tuple[int, int, int]) -> str:
    at = (bodies.grid.coordinates("c", axis, n, n + 1)[0] for axis, n in enumerate(cell))
    return f"({', '.join(f'{value:g}' for value in at)})"


def _apart(solids: Solids, pair: tuple[int, int], place: Gap) -> bool:
    """Whether between the centre of a cell and that of the next one along an axis some point is in neither shape."""
    grid = solids.grid
    points = [grid.coordinates("c", axis, n, n + 1) for axis, n in enumerate(place.cell)]
    step = grid.distances("c", place.axis, place.cell[place.axis], place.cell[place.axis] + 1)
    points[place.axis] = points[place.axis] + step * np.linspace(0, 1, SAMPLES)
    inside = [solids.shapes[number - 1].inside(*points) for number in pair]
    return not bool((inside[0] | inside[1]).all())
