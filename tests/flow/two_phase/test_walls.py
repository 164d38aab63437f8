"""A volume of fluid at walls: planes that meet them as they come, and contact angles."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.flow.boundaries.slip import Symmetry
from taskflow.flow.boundaries.wall import Wall
from taskflow.flow.operators.phases import Phases
from tests.flow.phases import WALL, compute, two_phase

PLANE = (False, True, False)


def tilted(cells, gravity, steps, look=None):
    """Layers at rest, 1000 : 1, their interface through the middle of a box across gravity."""
    phases = Phases(1000.0, 1.0, 1e-3, 1.8e-5, 0.0, gravity)
    lengths = tuple(1.0 if n > 1 else 1 / cells[0] for n in cells)
    model = two_phase(cells, lengths, phases, periodic=tuple(n == 1 for n in cells), vof=True)
    return compute(model, lambda x, y, z: weight(gravity, x, y, z), steps=steps, look=look)


def weight(gravity, x, y, z):
    return sum(g * (q - 0.5) for g, q in zip(gravity, (x, y, z), strict=True) if g)


@pytest.mark.parametrize(("cells", "gravity"), [
    ((16, 1, 16), (-0.35, 0.0, -0.95)), ((16, 1, 16), (0.7, 0.0, -0.7)), ((16, 1, 16), (0.95, 0.0, 0.3)),
    pytest.param((10, 12, 11), (0.2, -0.3, -0.9), marks=pytest.mark.slow),
])  # fmt: skip
def test_a_plane_keeps_its_place_at_walls(cells, gravity):
    flow = tilted(cells, gravity, 1, look=lambda shard, time, dt: shard.read("mass").copy())
    (fall,) = flow.history.values
    z, y, x = np.meshgrid(*((np.arange(n) + 0.5) / n for n in cells[::-1]), indexing="ij")
    known = np.isfinite(fall)
    assert known.sum() >= 16
    np.testing.assert_allclose(fall[known], weight(gravity, x, y, z)[known], rtol=0, atol=1e-14)


@pytest.mark.parametrize(("n", "steps"), [(16, 30), pytest.param(32, 1000, marks=pytest.mark.slow)])
def test_layers_at_rest_stay_at_rest_in_a_tilted_tank(n, steps):
    """V17: 20 degrees, to the tolerance of the pressure, 1e-8."""
    s, c = np.sin(np.radians(20)), np.cos(np.radians(20))
    flow = tilted((n, 1, n), (-s, 0.0, -c), steps)
    assert max(abs(flow.fields[name]).max() for name in "uw") <= 1e-8


def segment(angle: float, volume: float, dimensions: int) -> float:
    """The radius of a droplet on a wall, of a quarter or a half of its volume."""
    a = np.radians(angle)
    if dimensions == 2:
        return np.sqrt(2 * volume / (a - np.sin(a) * np.cos(a)))
    return (12 * volume / (np.pi * (1 - np.cos(a)) ** 2 * (2 + np.cos(a)))) ** (1 / 3)


def resting(angle, cells, radius, face="z_min"):
    """A droplet in the corner of a box, on the wall of a side that it meets at its angle, between planes of symmetry,
    and its model. Cells have the size 1 / 32 or, in space, 1 / 24.
    """
    h = 1 / 24 if min(cells) > 1 else 1 / 32
    sides = {axis: Symmetry() for axis in "xyz"} | {face[0]: WALL, face: Wall(contact_angle=angle)}
    lengths = tuple(n * h for n in cells)
    around = tuple(n == 1 for n in cells)
    model = two_phase(cells, lengths, Phases(1.0, 1.0, 0.1, 0.1, 1.0), sides=sides, periodic=around, vof=True)
    normal = "xyz".index(face[0])
    away = [(-radius * np.cos(np.radians(angle)) if axis == normal else 0.0) for axis in range(3)]
    start = [lengths[axis] if axis == normal and face.endswith("max") else 0.0 for axis in range(3)]

    def phi(*places):
        squares = (
            (abs(q - begun) - low) ** 2 if n > 1 else 0 * q
            for q, begun, low, n in zip(places, start, away, cells, strict=True)
        )
        return radius - np.sqrt(sum(squares))

    return phi, model


@pytest.mark.parametrize(("angle", "cells", "error"), [
    (30, (64, 1, 16), 0.19), (45, (32, 1, 24), 0.072), (60, (32, 1, 24), 0.0078), (75, (32, 1, 24), 0.005),
    (120, (32, 1, 24), 0.011), (135, (32, 1, 24), 0.027), (150, (32, 1, 24), 0.25),
    (60, (24, 24, 16), 0.15), (120, (24, 24, 24), 0.1),
])  # fmt: skip
def test_a_droplet_that_meets_its_wall_at_the_angle_has_one_curvature(angle, cells, error):
    """The largest error is in cells at the wall."""
    dimensions = 2 if cells[1] == 1 else 3
    radius = segment(angle, 0.19635 if dimensions == 2 else 0.04, dimensions)
    flow = compute(*resting(angle, cells, radius)[::-1], steps=0, names=("f", "kappa"))
    cut = (flow.fields["f"] > 1e-6) & (flow.fields["f"] < 1 - 1e-6)
    assert abs(flow.fields["kappa"][cut] * radius / (dimensions - 1) - 1).max() <= error


def test_walls_are_alike():
    """Of a droplet on each of four, once in the plane of y."""
    def curvature(face, cells):
        return compute(*resting(60, cells, 0.8, face)[::-1], steps=0, names=("kappa",)).fields["kappa"]

    low = curvature("z_min", (32, 1, 24))[:, 0, :]
    for found in (
        curvature("z_max", (32, 1, 24))[::-1, 0, :], curvature("x_min", (24, 1, 32))[:, 0, :].T,
        curvature("x_max", (24, 1, 32))[:, 0, ::-1].T, curvature("y_max", (32, 24, 1))[0, ::-1, :],
    ):  # fmt: skip
        np.testing.assert_allclose(found, low, rtol=0, atol=1e-9)


@pytest.mark.parametrize("options", [
    {"blocks": (1, 1, 2)}, pytest.param({"blocks": (2, 2, 1), "threads": 2}, marks=pytest.mark.slow),
    pytest.param({"blocks": (2, 1, 2), "overlap": "full"}, marks=pytest.mark.slow),
])  # fmt: skip
@pytest.mark.parametrize(("tension", "angle"), [(1.0, 50.0), (0.0, None)])
def test_blocks_do_not_change_a_bit(tension, angle, options):
    """Of a droplet that spreads on a wall, or falls without surface tension, in a corner."""
    phases = Phases(50.0, 1.0, 0.1, 0.01, tension, (0.3, 0.0, -1.0))
    sides = {"x": WALL, "z": WALL, "y": Symmetry(), "z_min": Wall(contact_angle=angle)}
    model = two_phase((14, 14, 14), (0.7, 0.7, 0.7), phases, sides=sides, cycles=3, vof=True)

    def drop(x, y, z):
        return 0.3 - np.sqrt((x - 0.45) ** 2 + (y - 0.3) ** 2 + (z - 0.1) ** 2)

    alone, cut = (compute(model, drop, steps=3, **how) for how in ({}, options))
    for name, values in alone.fields.items():
        np.testing.assert_array_equal(cut.fields[name], values, err_msg=name)
