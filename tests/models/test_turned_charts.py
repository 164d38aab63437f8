"""A flow on charts is the same however its grid is cut: to the bit into blocks and by the user, to rounding into charts
that are turned.
"""

import warnings

import numpy as np
import pytest

import taskflow as tf
from taskflow.geometry.grids import write_grid
from taskflow.geometry.grids.multiblock.assembly import Part, assembled
from taskflow.runtime.regions import ROTATIONS, Turn

FIELDS = ("p", "u", "v", "w")
WALLS = dict.fromkeys(("x_min", "x_max", "y_min", "y_max", "z_min"), "wall")
LID = {"z_max": {"type": "wall", "velocity": [1.0, 0.5, 0.0]}}


def case(grid, steps=40, sides=None, **tables):
    return tf.Case(
        title="charts", fluid={"viscosity": 0.02}, grid=grid, method={"type": "artificial-compressibility"},
        boundaries=sides or WALLS | LID, time={"steady": 1e-9, "steps": steps},
        output={"every": {"steps": steps}, "precision": "double"}, **tables,
    )  # fmt: skip


def boxed(**keys):
    return {"shape": "box", "cells": [8, 7, 6], "lengths": [1.0, 1.0, 1.0], "distortion": 0.05, **keys}


def state(case, folder):
    """Centres and values of all cells, in the order of their centres."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is not steady yet
        tree = tf.run(case, folder / "run", force=True).dataset()
    charts = [chart.to_dataset().isel(time=-1) for chart in tree["charts"].children.values()]
    rows = [np.stack([np.asarray(ds[n]).ravel() for n in ("x_c", "y_c", "z_c", *FIELDS)], 1) for ds in charts]
    cells = np.concatenate(rows)
    return cells[np.lexsort(np.round(cells[:, :3], 9).T)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return state(case(boxed()), tmp_path_factory.mktemp("whole"))


@pytest.mark.slow
def test_charts_cut_by_the_user_give_the_same(whole, tmp_path):
    cells = state(case(boxed(charts=[2, 1, 1])), tmp_path)
    assert np.abs(whole[:, 3:]).max() > 0.1
    np.testing.assert_array_equal(cells, whole)


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [2, 3])
def test_blocks_and_pieces_change_no_bit(blocks, whole, tmp_path):
    machine = {"blocks": blocks, "cuts": {"1": [1, 2, 1]}, "threads": 1, "overlap": "full"}
    cells = state(case(boxed(charts=[2, 1, 1]), machine=machine), tmp_path)
    np.testing.assert_array_equal(cells, whole)


@pytest.mark.slow
def test_charts_turned_at_random(whole, tmp_path):
    cells = state(case(boxed(charts=[2, 1, 1], turned=True)), tmp_path)
    np.testing.assert_allclose(cells, whole, rtol=0, atol=1e-14)


def halves():
    """A distorted box in two charts."""
    x, y, z = (np.arange(n + 1) / n for n in (8, 7, 6))
    z, y, x = np.meshgrid(z, y, x, indexing="ij")
    bump = 0.05 * np.sin(np.pi * x) * np.sin(np.pi * y) * np.sin(np.pi * z)
    vertices = np.stack([x + bump, y - bump, z + bump])
    names = {"j_min": "y_min", "j_max": "y_max", "k_min": "z_min", "k_max": "z_max"}
    return (
        Part(np.ascontiguousarray(vertices[..., :5]), names | {"i_min": "x_min"}),
        Part(np.ascontiguousarray(vertices[..., 4:]), names | {"i_max": "x_max"}),
    )


def from_file(turn, folder):
    """The state on two charts, the second of which is turned, read from files."""
    low, high = halves()
    write_grid(folder / "box.xyz", assembled([low, high.turned(turn)]))
    return state(case({"file": str(folder / "box.xyz"), "map": str(folder / "box.nmf")}, steps=100), folder)


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    return from_file(Turn(), tmp_path_factory.mktemp("straight"))


@pytest.mark.parametrize(
    "turn",
    [pytest.param(turn, marks=pytest.mark.slow) for turn in ROTATIONS],
    ids=lambda turn: "".join(map("{:+d}".format, turn.axes)),
)
def test_every_rotation_after_a_hundred_steps(turn, straight, tmp_path):
    cells = from_file(turn, tmp_path)
    assert np.abs(straight[:, 3:]).max() > 0.1
    np.testing.assert_allclose(cells, straight, rtol=0, atol=1e-12 * np.abs(straight[:, 3:]).max())
