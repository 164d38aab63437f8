"""Curvature of an interface of planes: circles and spheres at random places, and the NumPy reference of heights."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.flow import StaggeredGrid
from taskflow.flow.models.two_phase.heights import curvature_missed, curvature_of_planes
from taskflow.systems.two_phase.shares import shares
from tests.flow.byhand import ByHand, variant
from tests.reference import volume_of_fluid as reference
from tests.reference.two_phase import surrounded


def curvature(cells, phi, *, lengths=None) -> tuple[np.ndarray, np.ndarray, ByHand]:
    """The shares where phi > 0, between walls, and their kappa; cells have the size 1 if no lengths are given."""
    grid = StaggeredGrid(cells, lengths or tuple(map(float, cells)), periodic=(False,) * 3)
    divided = tuple(axis for axis in range(3) if cells[axis] > 1)
    f = shares(phi, grid.points("c", grid.box), grid.spacing, divided) + np.zeros(cells[::-1])
    hand = ByHand(cells, (True,) * 3, "f8", ghost=3)
    hand.fields["f"] = surrounded(f, (True,) * 3)
    hand.fields["kappa"] = np.zeros_like(hand.fields["f"])
    hand.run(hand.launch(curvature_of_planes, {"grid": grid.constants}))
    return f, hand.values("kappa"), hand


def ball(radius, at, dimensions=3):
    def phi(x, y, z):
        across = (y - at[1]) ** 2 if dimensions == 3 else 0 * y
        return radius - np.sqrt((x - at[0]) ** 2 + across + (z - at[2]) ** 2)

    return phi


@pytest.mark.parametrize(("dimensions", "diameter", "places", "most"), [
    (2, 12.8, 6, 0.042), (2, 25.6, 6, 0.0081), (3, 12.8, 1, 0.1),
    pytest.param(3, 12.8, 8, 0.1, marks=pytest.mark.slow), pytest.param(3, 25.6, 4, 0.03, marks=pytest.mark.slow),
])  # fmt: skip
def test_circles_and_spheres(dimensions, diameter, places, most):
    """At random places. S. Popinet (2009) has 4.2 % and 0.54 % in two dimensions, 19 % and 9.8 % in three."""
    random, width, errors = np.random.default_rng(2), int(diameter) + 9, []
    for _ in range(places):
        cells = (width, 1, width) if dimensions == 2 else (width,) * 3
        at = [n / 2 + random.uniform(-0.5, 0.5) for n in cells]
        f, kappa, _ = curvature(cells, ball(diameter / 2, at, dimensions))
        cut = (f > 1e-6) & (f < 1 - 1e-6)
        errors.append(kappa[cut] * diameter / 2 / (dimensions - 1) - 1)
        assert (kappa[~cut] == 0).all()
    assert np.abs(np.concatenate(errors)).max() <= most


def test_heights_equal_their_reference():
    """Of an ellipsoid in cells that are no cubes: in cells in which the first direction has heights."""
    lengths, cells = (9.0, 12.0, 11.0), (18, 16, 20)
    spacing = [length / n for length, n in zip(lengths, cells, strict=True)]

    def phi(x, y, z):
        return 1 - np.sqrt(((x - 4.4) / 3.1) ** 2 + ((y - 6.1) / 3.7) ** 2 + ((z - 5.3) / 3.4) ** 2)

    f, kappa, hand = curvature(cells, phi, lengths=lengths)
    m = reference.normal(hand.fields["f"])
    compared = 0
    for z, y, x in np.argwhere((f > 1e-6) & (f < 1 - 1e-6)):
        steep = [abs(m[a, z, y, x]) / spacing[a] for a in range(3)]
        axis = int(np.argmax(steep))
        place = (z + 3, y + 3, x + 3)
        expected = reference.curvature_by_heights(hand.fields["f"], place, axis, m[axis, z, y, x] > 0, spacing)
        if expected is not None and sorted(steep)[-2] < 0.99 * max(steep):
            assert kappa[z, y, x] == pytest.approx(np.clip(expected, -1 / min(spacing), 1 / min(spacing)), abs=1e-11)
            compared += 1
    assert compared > 200


def test_small_parts_are_counted():
    """A cell without a curvature, far from others, is one that failed; one with a small share is a crumb."""
    cells = (12, 12, 12)
    hand = ByHand(cells, (True,) * 3, "f8", ghost=3)
    f = np.zeros(cells)
    f[2, 2, 2], f[6, 6, 6], f[9, 9, 9] = 0.3, 1e-5, 1e-13
    hand.fields["f"] = surrounded(f, (True,) * 3)
    task = variant(curvature_missed, "solid")
    hand.run(hand.launch(task, {"grid": hand.staggered.constants}))
    assert (hand.scalars["missed.0"], hand.scalars["missed.1"]) == (1.0, 1.0)
