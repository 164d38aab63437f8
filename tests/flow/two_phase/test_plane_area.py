"""The area of planes in cells: circles and balls at random places, and shares that are no interface."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.flow import StaggeredGrid
from taskflow.flow.measures.surfaces import plane_area
from taskflow.runtime.tasks import reduced
from taskflow.systems.two_phase.shares import shares
from tests.flow.byhand import ByHand, variant
from tests.reference.two_phase import surrounded


def area(f: np.ndarray) -> float:
    """The area of planes in cells of size 1, with these shares."""
    cells = f.shape[::-1]
    grid = StaggeredGrid(cells, tuple(map(float, cells)), periodic=(False,) * 3)
    hand = ByHand(cells, (True,) * 3, "f8", ghost=3)
    hand.fields["f"] = surrounded(f, (True,) * 3)
    hand.run(hand.launch(variant(plane_area, "solid"), {"grid": grid.constants, "bound": 1.0}))
    return reduced(hand.scalars, "total")[0]


def balls(dimensions: int, radius: float, places: int):
    """Yield shares inside circles or balls at random places."""
    random, n = np.random.default_rng(3), int(2 * radius) + 9
    cells = (n, 1 if dimensions == 2 else n, n)
    grid = StaggeredGrid(cells, tuple(map(float, cells)), periodic=(False,) * 3)
    divided = tuple(axis for axis in range(3) if cells[axis] > 1)
    for _ in range(places):
        at = [m / 2 + random.uniform(-0.5, 0.5) for m in cells]

        def phi(x, y, z, at=at):
            across = (y - at[1]) ** 2 if dimensions == 3 else 0 * y
            return radius - np.sqrt((x - at[0]) ** 2 + across + (z - at[2]) ** 2)

        yield shares(phi, grid.points("c", grid.box), grid.spacing, divided) + np.zeros(cells[::-1])


@pytest.mark.parametrize(("dimensions", "radius", "most"), [(2, 20.0, 0.001), (3, 8.0, 0.006)])
def test_circles_and_balls(dimensions, radius, most):
    exact = 2 * np.pi * radius if dimensions == 2 else 4 * np.pi * radius**2
    assert [area(f) for f in balls(dimensions, radius, 3)] == pytest.approx([exact] * 3, rel=most)


def test_what_a_solver_leaves_is_no_interface():
    """Shares of 1e-8 in empty cells around a circle, and as much missing in full ones, as divergence leaves them."""
    (f,) = balls(2, 20.0, 1)
    random = np.random.default_rng(4)
    dust = 1e-8 * random.uniform(size=f.shape)
    assert area(np.where(f == 0, dust, np.where(f == 1, 1 - dust, f))) == pytest.approx(area(f), rel=1e-6)
