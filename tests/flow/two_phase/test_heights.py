"""Curvature of an interface of planes: circles and spheres at random places, and NumPy references."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.flow import StaggeredGrid
from taskflow.flow.models.two_phase.curvature import curvature_missed, curvature_of_planes
from taskflow.systems.two_phase.shares import shares
from tests.flow.byhand import ByHand, variant
from tests.reference import volume_of_fluid as reference
from tests.reference.paraboloid import curvature_by_paraboloid
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


@pytest.fixture(scope="module")
def ellipsoid():
    """Shares, with three layers around them, curvatures and spacings of an ellipsoid in cells that are no cubes."""
    lengths, cells = (9.0, 12.0, 11.0), (18, 16, 20)

    def phi(x, y, z):
        return 1 - np.sqrt(((x - 4.4) / 3.1) ** 2 + ((y - 6.1) / 3.7) ** 2 + ((z - 5.3) / 3.4) ** 2)

    _, kappa, hand = curvature(cells, phi, lengths=lengths)
    return hand.fields["f"], kappa, np.array(lengths) / cells


def by_heights(f, cell, spacing) -> list[float | None]:
    """The curvatures in a cell by heights, first along the axis of the longest normal; none if two are about as long.
    """
    m = reference.normal(f[tuple(slice(n - 3, n + 4) for n in cell)])[:, 0, 0, 0]
    steep = abs(m / spacing)
    order = [int(axis) for axis in np.argsort(-steep)]
    clear = steep[order[1]] < 0.99 * steep[order[0]]
    return [reference.curvature_by_heights(f, cell, axis, m[axis] > 0, spacing) for axis in order] if clear else []


@pytest.mark.parametrize("way", ["heights", "paraboloid"])
def test_curvatures_equal_their_references(ellipsoid, way):
    """Heights in cells in which the first direction has them, a paraboloid where none has."""
    f, kappa, spacing = ellipsoid
    cut = (f > 1e-6) & (f < 1 - 1e-6)
    compared = 0
    for cell in (tuple(map(int, place + 3)) for place in np.argwhere(cut[3:-3, 3:-3, 3:-3])):
        known = by_heights(f, cell, spacing)
        expected = known[0] if known and way == "heights" else None
        if way == "paraboloid" and known == [None] * 3:
            expected = curvature_by_paraboloid(f, cell, spacing)
        if expected is not None:
            limited = np.clip(expected, -1 / min(spacing), 1 / min(spacing))
            assert kappa[tuple(n - 3 for n in cell)] == pytest.approx(limited, abs=1e-11)
            compared += 1
    assert compared > {"heights": 200, "paraboloid": 20}[way]


def test_no_wave_lowers_the_curvature_where_it_adds_phase_1():
    """Of a diagonal plane, which has no heights: the response of curvatures to shares is positive definite. With the
    same weight of all planes in the paraboloid it is not, and droplets at rest do not rest.
    """
    n, change = 11, 1e-6
    f, _, hand = curvature((n,) * 3, lambda x, y, z: 16.2 - x - y - z)
    middle = slice(n // 2 - 2, n // 2 + 3)
    cells = [tuple(place + n // 2 - 2) for place in np.argwhere(abs(f[middle, middle, middle] - 0.5) < 0.499)]
    grid = StaggeredGrid((n,) * 3, (float(n),) * 3, periodic=(False,) * 3)
    launch = hand.launch(curvature_of_planes, {"grid": grid.constants})

    def kappa(shares) -> np.ndarray:
        hand.fields["f"] = surrounded(shares, (True,) * 3)
        hand.run(launch)
        return np.array([hand.values("kappa")[cell] for cell in cells])

    responses, flat = [], kappa(f)
    for cell in cells:
        more = f.copy()
        more[cell] += change
        responses.append((kappa(more) - flat) / change)
    response = np.array(responses)
    assert len(cells) > 20
    assert np.linalg.eigvalsh(response + response.T).min() > 0.3


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
