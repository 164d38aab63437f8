"""Whether places are in the domain."""

from collections.abc import Iterable

from taskflow.simulation.case.physics import Grid
from taskflow.simulation.case.problems import Key, Problem, shown, wrong


def ends(grid: Grid) -> list[tuple[float, float]]:
    """Where the domain begins and ends along each axis."""
    return [(low, low + length) for low, length in zip(grid.origin, grid.lengths, strict=True)]


def inside(grid: Grid, points: Iterable[Iterable[float]]) -> bool:
    """Whether all points are, its sides included."""
    domain = ends(grid)
    return all(low <= x <= high for point in points for x, (low, high) in zip(point, domain, strict=True))


def beyond(grid: Grid, key: Key, value: object) -> Problem:
    """What is wrong with a value that is not."""
    domain = shown([list(corner) for corner in zip(*ends(grid), strict=True)])
    return wrong(key, value, f"beyond the domain {domain}; move it inside")
