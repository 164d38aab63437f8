"""Parabolic profiles on sides of charts: which sides have them, and which are refused."""

from itertools import pairwise

import numpy as np
import pytest

from taskflow.common.errors import BadInput
from taskflow.geometry.grids import faces, shape
from taskflow.geometry.grids.multiblock.assembly import Part, assembled
from taskflow.systems.artificial_compressibility.given import reference_speed
from taskflow.systems.artificial_compressibility.profiles import parabolic
from tests.cases.on_charts import case

NAMES = {"k_min": "inlet", "k_max": "outlet", "i_min": "west", "i_max": "east", "j_min": "south", "j_max": "north"}


def sector(begin, end, inner):
    angle, radius, z = np.linspace(begin, end, 13), np.linspace(inner, 1.0, 7), np.linspace(0.0, 1.0, 5)
    z, angle, radius = np.meshgrid(z, angle, radius, indexing="ij")
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), z])


def quadrilateral(widening=0.0, shear=0.0, beginning=0.0, turn=0.0):
    """Of the lengths 1 and 0.5 where it neither widens nor is sheared, turned about x."""
    z, y, x = np.meshgrid(np.linspace(0, 1, 5), np.linspace(0, 0.5, 8), np.linspace(0, 1, 7), indexing="ij")
    x = x * (1 + widening * y) + shear * y + beginning
    return np.stack([x, y * np.cos(turn) - z * np.sin(turn), y * np.sin(turn) + z * np.cos(turn)])


def frame():
    """A square with a square hole, in four trapezoids."""
    out, part = np.linspace(0.4, 1.0, 6), np.linspace(-1, 1, 9)
    z, across, away = np.meshgrid(np.linspace(0, 1, 5), part, out, indexing="ij")
    turns = [np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) for c, s in ((1, 0), (0, 1), (-1, 0), (0, -1))]
    return [np.tensordot(turn, np.stack([away, across * away, z]), 1) for turn in turns]


def joined(*vertices):
    return assembled([Part(x, NAMES) for x in vertices])


def profiles(grid, walls=("west", "east", "south", "north")):
    """Those of what enters through `inlet` with a mean of 1, in each patch."""
    at = [patch for name in walls for patch in grid.sides.get(name, ())]
    return [w for _, _, w in parabolic(grid, grid.sides["inlet"], at, np.array([0.0, 0.0, 1.0]))]


@pytest.mark.parametrize("vertices", [
    [sector(-np.pi, 0.0, 0.25), sector(0.0, np.pi, 0.25)], [sector(-np.pi / 2, np.pi / 2, 0.05)],
    [quadrilateral(widening=0.5)], [quadrilateral(shear=0.1)], frame(),
], ids=["annulus", "half a ring", "trapezoid", "parallelogram", "frame"])  # fmt: skip
def test_a_side_that_is_neither_a_rectangle_nor_a_disc_is_refused(vertices):
    with pytest.raises(BadInput, match="without holes; omit it, and give velocity as expressions"):
        profiles(joined(*vertices))


@pytest.mark.parametrize("name", ["west", "wall"])
def test_a_side_that_is_not_plane_is_refused(name):
    grid = joined(sector(0.0, 1.0, 0.5)) if name == "west" else shape("pipe", {"cells": (4, 4, 4), "length": 1}).grid()
    with pytest.raises(BadInput, match="needs a plane side"):
        parabolic(grid, grid.sides[name], [], np.array([0.0, 0.0, 1.0]))


@pytest.mark.parametrize("turn", [0.0, 0.3])
def test_over_a_rectangle_of_two_charts(turn):
    grid, exact = joined(quadrilateral(turn=turn), quadrilateral(beginning=1.0, turn=turn)), []
    for patch in grid.sides["inlet"]:
        x, y, z = faces(grid, patch)[0]
        r, s = x - 1, 4 * np.hypot(y, z) - 1
        exact.append((1 - r**2) * (1 - s**2))
    values, exact = np.stack(profiles(grid)), np.stack(exact)
    np.testing.assert_allclose(values, exact / exact.mean(), rtol=1e-13)


def test_over_a_disc_that_is_not_the_middle_of_the_box_around_its_vertices():
    """Whose outline is at angles of several distances, in one chart between four arcs."""
    ends, t = np.array([0.1, 1.9, 3.2, 4.9, 0.1 + 2 * np.pi]), np.linspace(0, 1, 8)
    low, east, high, west = (np.exp(1j * np.linspace(*arc, 8)) for arc in pairwise(ends))
    high, west, (u, v) = high[::-1], west[::-1], np.meshgrid(t, t)
    flat = (1 - v) * low + v * high + (1 - u) * west[:, None] + u * east[:, None]
    flat -= (1 - u) * (1 - v) * low[0] + u * (1 - v) * low[-1] + (1 - u) * v * high[0] + u * v * high[-1]
    grid = joined(np.stack([np.stack([3 + flat.real, flat.imag, 0 * u + z]) for z in np.linspace(0, 1, 5)], axis=1))
    (patch,) = grid.sides["inlet"]
    (profile,) = profiles(grid)
    (x, y, _), area = faces(grid, patch)
    exact, area = 1 - (x - 3) ** 2 - y**2, np.linalg.norm(area, axis=0)
    np.testing.assert_allclose(profile, exact * area.sum() / (exact * area).sum(), rtol=1e-12)


@pytest.mark.parametrize("beginnings", [(0.0,), (0.0, 1.0)], ids=["a chart", "two charts"])
def test_none_along_a_periodic_direction(beginnings):
    names = {face: name for face, name in NAMES.items() if face[0] != "i"}
    parts = [Part(quadrilateral(beginning=beginning), names) for beginning in beginnings]
    grid = assembled(parts, [(float(len(parts)), 0.0, 0.0)])
    for patch, profile in zip(grid.sides["inlet"], profiles(grid), strict=True):
        (_, y, _), _ = faces(grid, patch)
        exact = 1 - (4 * y - 1) ** 2
        np.testing.assert_allclose(profile, exact / exact.mean(), rtol=1e-13)


@pytest.mark.parametrize(("walls", "exact"), [
    ("south", lambda x, y: 1 - (2 * y - 1) ** 2), ("north", lambda x, y: 1 - (2 * y) ** 2),
    ("west south north", lambda x, y: (1 - (x - 1) ** 2) * (1 - (4 * y - 1) ** 2)),
    ("", lambda x, y: np.ones_like(x)),
])  # fmt: skip
def test_half_of_one_between_a_wall_and_none(walls, exact):
    """A plane of symmetry has the largest value."""
    grid = joined(quadrilateral())
    (x, y, _), _ = faces(grid, *grid.sides["inlet"])
    expected = exact(x, y)
    np.testing.assert_allclose(*profiles(grid, walls.split()), expected / expected.mean(), rtol=1e-13)


@pytest.mark.parametrize(("grid", "walls", "largest"), [
    ({"cells": [4, 8, 1], "lengths": [1, 1, 1]}, ("y_min", "y_max"), 1.5),
    ({"cells": [4, 8, 6], "lengths": [1, 1, 1]}, ("y_min", "y_max", "z_min"), 2.25),
    ({"cells": [4, 8, 6], "lengths": [1, 1, 1]}, (), 1.0),
    ({"shape": "pipe", "cells": [4, 4, 4], "length": 1}, ("wall",), 2.0),
])  # fmt: skip
def test_the_reference_speed_is_the_largest_of_a_profile(grid, walls, largest):
    made = shape(grid.get("shape", "box"), {key: value for key, value in grid.items() if key != "shape"}).grid()
    inlet, outlet = ("inlet", "outlet") if "inlet" in made.sides else ("x_min", "x_max")
    entering = {"type": "inflow", "velocity": [0.0, 0.0, 2.0], "profile": "parabolic"}
    sides = {inlet: entering, outlet: {"type": "outflow", "pressure": 0.0}, **dict.fromkeys(walls, "wall")}
    some = case(grid=grid, boundaries=dict.fromkeys(made.sides, "symmetry") | sides, initial={})
    speed = reference_speed(made, some.table("boundaries"), some.initial, some.heat, some.table("body"))
    assert speed == pytest.approx(2 * largest, rel=1e-15)
