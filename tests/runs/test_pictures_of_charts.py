"""[[pictures]] on charts: what cannot be drawn is refused, or left out where it is one state of many."""

import numpy as np
import pytest
from PIL import Image

import taskflow as tf
from taskflow.common.errors import BadInput
from taskflow.output.export.picture_files import PICTURES, write_part
from taskflow.output.store.rigid_motion import pose
from taskflow.plots.in_situ import Pictures
from taskflow.runs.directory.directory import RunDirectory
from taskflow.runs.state.setup import RunSetup
from tests.cases.on_charts import CYLINDER, LID, TURNED, case, changed
from tests.runs.test_pictures import SLICE, SURFACE

THIN = changed(
    LID, grid={"cells": [10, 1, 6], "lengths": [1.0, 0.1, 1.0]}, boundaries__y_min="slip", boundaries__y_max="slip",
    body=None, heat=None, scalars=None, boundaries__x_min="wall", boundaries__z_max="wall",
    method__pressure_at=None, method__reference_speed=1.0,
)  # fmt: skip


@pytest.mark.parametrize(("tables", "picture", "told"), [
    (CYLINDER, {**SLICE, "every": {"time": 1.0}}, r"pictures\[1\].every = .*: a steady run counts steps"),
    (CYLINDER, SLICE, r"pictures\[1\].y = 0.5: a grid in two dimensions is drawn in its plane; give z"),
    (THIN, {"name": "a", "x": 0.5}, r"pictures\[1\].x = 0.5: a grid in two dimensions is drawn in its plane; give y"),
    (THIN, {"name": "a", "z": 0.5}, r"pictures\[1\].z = 0.5: a grid in two dimensions is drawn in its plane; give y"),
    (THIN, SLICE, r"pictures\[1\].y = 0.5: beyond the grid, where y goes from 0 to 0.1"),
    (THIN, SURFACE, r"pictures\[1\].isosurface = \"Q\": a surface needs three dimensions; give y"),
    (CYLINDER, SURFACE, r"pictures\[1\].isosurface = \"Q\": a surface needs three dimensions; give z"),
    (LID, {**SLICE, "y": 1.5}, r"pictures\[1\].y = 1.5: beyond the grid, where y goes from 0 to 1"),
    (LID, {**SLICE, "field": "f"}, r"pictures\[1\].field = .*: unknown field; give one of u, .*, Q, lambda2"),
])  # fmt: skip
def test_what_cannot_be_drawn_on_charts_is_refused(tables, picture, told):
    with pytest.raises(BadInput, match=told):
        tf.Case(**tables, pictures=[picture])


def test_a_grid_thin_along_another_axis_is_drawn_across_it():
    picture = {**SLICE, "y": 0.05, "field": "Q"}
    assert tf.Case(**THIN, pictures=[picture]).pictures[0].axis == 1


def begun(path, case):
    """The pictures of a run of one block that has not made a step."""
    RunDirectory(path).create(RunSetup(case, (1, 1, 1)), force=False)
    return Pictures(path)


def leave(pictures, step, about):
    """Random numbers for all that the picture named middle needs."""
    random, order = np.random.default_rng(1), pictures.orders["middle"]
    pieces = [(low, {role: random.random(shape) for role in order.roles}) for low, shape in order.boxes]
    write_part(pictures.directory, "middle", step, 0, about, pieces)


@pytest.mark.parametrize(("field", "log"), [
    ("Q", False), *(pytest.param(*how, marks=pytest.mark.slow) for how in (("speed", False), ("dye", True))),
])  # fmt: skip
def test_a_slice_through_charts_is_drawn(tmp_path, field, log):
    """Of what blocks left, with the colours and the size asked for."""
    path = tmp_path / "run"
    pictures = begun(path, tf.Case(**LID, pictures=[{**SLICE, "field": field, "log": log, "size": [640, 480]}]))
    leave(pictures, 4, {"time": 4.0})
    assert (pictures.draw(), pictures.problems) == (1, set())
    with Image.open(path / PICTURES / "middle_00000004.png") as drawn:
        assert drawn.size == (640, 480)
        assert len(drawn.convert("RGB").getcolors(2**20)) > 50


def test_a_state_that_is_not_in_the_plane_is_left_out(tmp_path, capfd):
    """Where a grid moves out of a slice and comes back: what is wrong is said once, and later states are drawn."""
    walls = dict.fromkeys(("y_min", "y_max", "z_min", "z_max"), "wall")
    pictures = begun(tmp_path / "run", case(
        TURNED, time={"steps": 4, "step": 0.1}, initial={"velocity": [0.3, 0.0, 0.0]}, boundaries=walls,
        motion={"displacement": [0.0, "sin(t)", 0.0]}, pictures=[{**SLICE, "field": "p", "size": [640, 480]}],
    ))  # fmt: skip
    for step, shift in enumerate((0.0, 2.0, 4.0, 0.0)):
        leave(pictures, step, {"time": 0.1 * step, **pose(np.eye(3), np.array([0.0, shift, 0.0]))})
    assert pictures.draw() == 4
    drawn = sorted(file.name for file in (tmp_path / "run" / PICTURES).glob("*.png"))
    assert drawn == ["middle_00000000.png", "middle_00000003.png"]
    assert pictures.problems == {"middle"}
    told = capfd.readouterr().err
    assert told == "middle, step 1: plane = 'y=0.5': outside the domain, where y goes from 2 to 3\n"
