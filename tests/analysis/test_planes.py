"""Planes: the right numbers in the right place, also as many as a screen shows."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.analysis.conditions import SIDES, BoundarySide, Conditions
from taskflow.analysis.planes import on_plane, plane_of
from taskflow.analysis.shown import _even, plane_values
from taskflow.output.store.reading import snapshot


@pytest.mark.parametrize(("text", "normal", "position"), [
    (None, "y", -0.25), ("x", "x", 1.0), (" z = 0.75 ", "z", 0.75), ("y=-1", "y", -1.0), ("z=1.5e0", "z", 1.5),
])
def test_a_plane_is_named_by_an_axis_and_perhaps_a_position(run, text, normal, position):
    plane = plane_of(snapshot(run(), None), text)
    assert (plane.normal, plane.position) == (normal, position)


@pytest.mark.parametrize(("cells", "lengths", "normal"), [
    ((8, 8, 1), (1.0, 1.0, 5.0), "z"), ((2, 8, 8), (1.0, 1.0, 1.0), "x"), ((8, 8, 8), (1.0, 1.0, 1.0), "y"),
    ((8, 8, 8), (1.0, 1.0, 0.5), "z"),
])
def test_the_default_plane_cuts_the_thinnest_direction(run, cells, lengths, normal):
    assert plane_of(snapshot(run(cells=cells, lengths=lengths), None), None).normal == normal


@pytest.mark.parametrize("plane", ["x", "y", "z", "x=0.7", "y=-0.3", "z=1.2", "x=0.01", "x=2", "z=0.5"])
def test_a_linear_field_is_exact_on_every_plane_wherever_it_lives(run, plane):
    linear = {name: lambda x, y, z: x + 10 * y + 100 * z for name in "uvwT"}
    ds = snapshot(run(linear), None)
    where = plane_of(ds, plane)
    place = {where.normal: where.position, **{a: ds[f"{a}_c"].values for a in (where.across, where.up)}}
    across, up = np.meshgrid(place[where.across], place[where.up])  # [up, across]
    expected = linear["T"](**{where.normal: where.position, where.across: across, where.up: up})
    for field in "uvwT":
        np.testing.assert_allclose(on_plane(ds, field, where), expected, rtol=1e-13)


def test_planes_and_faces_go_round_a_periodic_direction(run):
    fields = {"u": lambda x, y, z: np.cos(np.pi * x), "T": lambda x, y, z: np.cos(np.pi * x)}
    ds = snapshot(run(fields, periodic=(True, True, True)), None)
    halfway = np.cos(np.pi * ds.x_c.values) * np.cos(np.pi / 8)  # the mean of two faces
    np.testing.assert_allclose(on_plane(ds, "u", plane_of(ds, "y")), np.tile(halfway, (10, 1)), atol=1e-14)
    for end in ("x=0", "x=2"):  # between the last centre and the first
        np.testing.assert_allclose(on_plane(ds, "T", plane_of(ds, end)), np.cos(np.pi / 8), rtol=1e-14)
        np.testing.assert_allclose(on_plane(ds, "u", plane_of(ds, end)), 1.0, rtol=1e-14)


def test_a_plane_at_a_wall_has_its_values(run):
    """Halfway from the last centres to the wall half of each; beside slip boundaries that of the last centres."""
    ds = snapshot(run(), None)
    wall = BoundarySide(type="wall", velocity=(0.0, 3.0, 0.0), temperature=5.0)
    sides = {**dict.fromkeys(SIDES, BoundarySide(type="slip")), "x_max": wall}
    ds = ds.assign_attrs(Conditions(sides=sides, cells=tuple(ds.sizes[f"{a}_c"] for a in "xyz")).attributes())
    np.testing.assert_allclose(on_plane(ds, "T", plane_of(ds, "x=2")), 5.0)
    np.testing.assert_allclose(on_plane(ds, "v", plane_of(ds, "x=2")), 3.0)
    np.testing.assert_array_equal(on_plane(ds, "T", plane_of(ds, "x=0")), ds["T"][:, :, 0])
    halfway = float(ds.x_c[-1] + 2.0) / 2
    between = on_plane(ds, "T", plane_of(ds, f"x={halfway!r}"))
    np.testing.assert_allclose(between, (ds["T"][:, :, -1] + 5.0) / 2)


def test_slices_have_no_more_values_than_a_screen_shows(growing):
    assert plane_values(growing, "p", "y", -1)["shape"] == (4, 8)
    assert len(_even((np.arange(1000) + 0.5) / 1000, 0.0, 1.0)) == 400


def test_cells_of_unequal_size_are_as_wide_as_they_are():
    """Three cells, the middle one a quarter as wide as the others."""
    assert _even(np.array([0.2, 0.45, 0.7]), 0.0, 0.9).tolist() == [0, 1, 1, 2]
