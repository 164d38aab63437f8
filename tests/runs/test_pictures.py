"""[[pictures]]: what cannot be drawn is refused, what blocks leave is the field, and nobody waits."""

import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

import taskflow as tf
from taskflow.cases.tables.pictures import check_libraries
from taskflow.common.errors import BadInput
from taskflow.output import STORE
from taskflow.output.export.picture_files import PICTURES, drawable, listed, undrawn, write_part
from taskflow.output.store.reading import charts, tree
from taskflow.plots.in_situ import Pictures
from taskflow.runs.block.recording import PictureRecording
from taskflow.runs.directory.directory import RunDirectory
from taskflow.runs.directory.pictures import DrawingProcess
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.machine.device import gpu
from tests.cases import two_phases
from tests.cases.on_charts import LID
from tests.runs.going_on import assert_same_run, found, go

SLICE = {"name": "middle", "y": 0.5}
SURFACE = {"name": "vortices", "isosurface": "Q", "value": 0.1}


def box(*drawn, pictures=(), **changes):
    """A lid-driven cavity in three dimensions with heat."""
    return tf.Case(**{
        "grid": {"cells": [8, 8, 8], "lengths": [1.0, 1.0, 1.0]},
        "fluid": {"viscosity": 0.01},
        "heat": {"diffusivity": 0.01},
        "boundaries": {
            "x": "periodic", "y": "periodic", "z_min": {"type": "wall", "temperature": 1.0},
            "z_max": {"type": "wall", "velocity": [1.0, 0.0, 0.0], "temperature": 0.0},
        },
        "time": {"steps": 4, "step": 0.01},
        "pressure": {"solver": "jacobi", "iterations": 4},
        "pictures": [*drawn, *pictures],
        **changes,
    })  # fmt: skip


BODY = {"obstacles": [{"type": "box", "low": [0.2, 0.2, 0.2], "high": [0.6, 0.6, 0.6]}]}


@pytest.mark.parametrize(("picture", "changes", "told"), [
    ({"name": "a"}, {}, "give x, y or z, where a slice is, or an isosurface"),
    ({**SLICE, "y": 2.0}, {}, r"pictures\[1\]\.y = 2\.0: beyond the domain, where y goes from 0 to 1"),
    ({**SLICE, "field": "q"}, {}, r"pictures\[1\]\.field = .*: unknown field; give one of u, .*, speed"),
    ({**SLICE, "value": 1.0}, {}, "a slice has none; give isosurface"),
    ({**SLICE, "isosurface": "T", "value": 0.5}, {}, "y is given as well"),
    ({"name": "a", "isosurface": "T"}, {}, "give the value of the field on the surface"),
    ({**SURFACE, "isosurface": "smoke"}, {}, r"isosurface = .*: unknown field"),
    ({**SURFACE}, {"grid": {"cells": [8, 1, 8], "lengths": [1.0, 0.1, 1.0]}}, "needs two cells in each direction"),
    ({**SLICE, "cmap": "pink42"}, {}, "unknown colour map"),
    ({**SLICE, "range": [1.0, 1.0]}, {}, "give two numbers, the lower one first"),
    ({**SLICE, "range": [0.0, 1.0], "log": True}, {}, "give a lower end above 0"),
    ({**SLICE, "size": [10, 10]}, {}, "give sides of 100 to 10000 points"),
    ({**SURFACE, "view": [0, 0, 0]}, {}, "give a direction"),
])  # fmt: skip
def test_what_cannot_be_drawn_is_refused(picture, changes, told):
    with pytest.raises(BadInput, match=told):
        box(picture, **changes)


def test_two_phases_have_pictures_of_their_fields():
    drop = two_phases.case(pictures=[{**SLICE, "y": 0.1, "field": "f"}, {**SURFACE, "isosurface": "phi", "value": 0.0}])
    assert [picture.fields for picture in drop.pictures] == [("f",), ("speed", "phi")]


def test_names_differ():
    with pytest.raises(BadInput, match="another picture has this name"):
        box(SLICE, SLICE)


def test_a_library_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyvista", None)
    monkeypatch.setattr("taskflow.cases.tables.pictures.find_spec", lambda name: None)
    check_libraries(box(SLICE).pictures)
    with pytest.raises(BadInput, match=r'pictures\[1\].isosurface = Q: it needs pyvista.*taskflow-cfd\[pictures\]'):
        check_libraries(box(SURFACE).pictures)


def left(path):
    """What the blocks of a run have left to be drawn: time and fields by name and step."""
    orders = {order.name: order for order in listed(path)}
    states = drawable(path, list(orders.values()))
    return {(state.name, state.step): state.fields(orders[state.name]) for state in states}


def assert_same_fields(one, other):
    """To the bit, and every value is there."""
    assert one.keys() == other.keys()
    for key, (about, fields) in one.items():
        assert about == other[key][0]
        assert all(np.isfinite(values).all() for boxes in fields.values() for values in boxes)
        bits = [{n: [v.tobytes() for v in boxes] for n, boxes in some.items()} for some in (fields, other[key][1])]
        assert bits[0] == bits[1]


@pytest.mark.slow
def test_what_blocks_leave_is_the_field_whatever_the_blocks(tmp_path):
    """Of a slice, and of a whole field; a velocity in the centres of cells. The run has the bits of one without."""
    pictures = {**SLICE, "field": "u", "every": {"steps": 2}}, {**SURFACE, "isosurface": "T", "every": {"steps": 4}}
    plain, cut = tmp_path / "plain", tmp_path / "cut"
    go(box(), tmp_path / "without")
    for path, blocks in ((plain, (1, 1, 1)), (cut, (1, 2, 2))):
        go(box(*pictures), path, blocks)
        assert_same_run(path, tmp_path / "without", rel=1e-12 if path == cut else 0.0)
    states, last = left(plain), found(plain).isel(time=-1)
    assert sorted(states) == [("middle", 0), ("middle", 2), ("middle", 4), ("vortices", 0), ("vortices", 4)]
    np.testing.assert_array_equal(states["vortices", 4][1]["T"][0], last["T"].values)
    u = last.flow.velocity()["u"].transpose("z_c", "y_c", "x_c").values
    np.testing.assert_allclose(states["middle", 4][1]["centre_u"][0], u[:, 4:5], atol=1e-7)
    assert_same_fields(states, left(cut))


@pytest.mark.slow
def test_what_blocks_leave_of_charts_is_the_field_whatever_the_blocks(tmp_path):
    """A picture has the fields of all charts as they are stored, and for a speed those of the velocity."""
    pictures = {**SLICE, "every": {"steps": 4}}, {**SURFACE, "isosurface": "T", "field": "Q", "every": {"steps": 12}}
    case = tf.Case(**LID, pictures=list(pictures))
    plain, cut = tmp_path / "plain", tmp_path / "cut"
    go(case, plain)
    go(case, cut, (1, 1, 3))
    last = tree(plain / STORE).isel(time=-1)
    about, fields = left(plain)["vortices", 12]
    assert (about, [*fields]) == ({"time": 12.0}, ["u", "v", "w", "T"])
    for role, of_charts in fields.items():
        for values, (_, chart) in zip(of_charts, charts(last), strict=True):
            np.testing.assert_array_equal(values, chart[role].values.astype("f4"))
    assert_same_fields(left(plain), left(cut))


@pytest.mark.gpu
def test_a_gpu_leaves_the_same(tmp_path):
    case = box({**SLICE, "every": {"steps": 2}}, {**SURFACE, "field": "w", "every": {"steps": 4}})
    go(case, tmp_path / "host")
    go(case, tmp_path / "device", (1, 1, 2), device=gpu())
    assert_same_fields(left(tmp_path / "host"), left(tmp_path / "device"))


def test_a_picture_is_drawn_of_whole_states_alone(tmp_path):
    """And its parts are gone then; one that cannot be drawn does not keep others from it."""
    path = tmp_path / "run"
    case = box({**SLICE, "size": [320, 240]}, {**SLICE, "name": "other", "field": "T", "log": True})
    RunDirectory(path).create(RunSetup(case, (1, 1, 2)), force=False)
    layer = np.ones((4, 1, 8))
    about, row = {"time": 0.25}, 3  # the number of the layer
    write_part(path, "middle", 7, 0, about, [((0, row, 0), {"speed": layer})])
    pictures = Pictures(path)
    assert pictures.draw() == 0
    assert [undrawn(path, "middle", block) for block in (0, 1)] == [1, 0]
    for block in (0, 1):
        write_part(path, "middle", 7, block, about, [((4 * block, row, 0), {"speed": layer})])
        write_part(path, "other", 7, block, about, [((4 * block, row, 0), {"T": 0 * layer})])
    pictures.orders["other"] = replace(pictures.orders["other"], axis=7)
    assert pictures.draw() == 2
    assert pictures.problems == {"other"}
    assert [file.name for file in (path / PICTURES).glob("*.*g")] == ["middle_00000007.png"]
    assert undrawn(path, "middle", 0) == 0
    with Image.open(path / PICTURES / "middle_00000007.png") as picture:
        assert picture.size == (320, 240)


@pytest.mark.slow
def test_nobody_waits_for_pictures(tmp_path):
    """Where nobody draws them, as many wait as may; others are left out, and the run says how many."""
    said = go(box({**SLICE, "every": {"steps": 1}}, time={"steps": 24, "step": 0.001}), tmp_path / "run")
    assert undrawn(tmp_path / "run", "middle", 0) == 16
    assert said["warnings"] == (
        "pictures skipped: 9, because earlier ones were not drawn yet; draw them less often",
    )  # fmt: skip


DROP = {"name": "drop", "isosurface": "f", "value": 0.5}


@pytest.mark.slow
@pytest.mark.parametrize(("make", "picture"), [
    (box, SLICE), (box, {**SURFACE, "value": 0.01}),
    (two_phases.case, {**SLICE, "y": 0.2, "field": "phi"}), (two_phases.case, DROP),
    (lambda **tables: tf.Case(**LID, **tables), {**SURFACE, "isosurface": "T", "value": 0.5}),
])  # fmt: skip
@pytest.mark.filterwarnings("ignore:the state is not steady")
def test_a_run_has_its_pictures(tmp_path, make, picture):
    """By a process of its own, with a cluster; those of surfaces where pyvista is installed."""
    if "isosurface" in picture:
        pytest.importorskip("pyvista")
    run = tf.run(make(pictures=[{**picture, "every": {"steps": 4}, "size": [320, 240]}]), tmp_path / "run")
    folder = tmp_path / "run" / PICTURES
    names = [f"{picture['name']}_{n:08}.png" for n in range(0, run.report["steps"] + 1, 4)]
    assert sorted(file.name for file in folder.iterdir()) == names
    assert not any("pictures" in warning for warning in run.report.get("warnings", ()))
    with Image.open(folder / f"{picture['name']}_00000004.png") as drawn:
        assert drawn.size == (320, 240)
        assert len(drawn.convert("RGB").getcolors(2**20)) > 50


@pytest.mark.slow
def test_a_run_is_hardly_held_up(tmp_path, monkeypatch):
    """At the default interval pictures take less than 2 % of the wall clock between two of them from the steps, while
    the process that draws them is at work. The least of three runs counts: others may have the processors meanwhile.
    """
    create, take, seconds, drawing = RunDirectory.create, PictureRecording.take, [], []

    def created(self, *args, **options):
        create(self, *args, **options)
        drawing.append(DrawingProcess(case, self.path, self.guard))

    def timed(self, before, now, derive):
        begun = time.perf_counter()
        take(self, before, now, derive)
        seconds.append((begun, time.perf_counter() - begun))

    monkeypatch.setattr(RunDirectory, "create", created)
    monkeypatch.setattr(PictureRecording, "take", timed)
    grid = {"cells": [64, 64, 64], "lengths": [1.0, 1.0, 1.0]}
    case = box(SLICE, grid=grid, time={"steps": 201, "step": 1e-3}, pressure={})
    shares = []
    for number in range(3):
        seconds.clear()
        path = tmp_path / f"run{number}"
        go(case, path)
        assert drawing[-1].finish() == ()
        (first, _), (last, _) = seconds[1], seconds[-1]
        shares.append(sum(length for _, length in seconds[1:-1]) / (last - first))
        assert sorted(file.name for file in (path / PICTURES).glob("*.png"))[-1] == "middle_00000200.png"
    print(f"held up for {shares} of the time")
    assert min(shares) < 0.02
