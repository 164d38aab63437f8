"""Planes on charts: layers of the cells of snapshots, whatever the blocks and whatever breaks off."""

from __future__ import annotations

import tomllib
from threading import Event

import numpy as np
import pytest
import xarray as xr

import taskflow.accessor.flow  # noqa: F401  trees have their `flow`
from taskflow.cases import Case
from taskflow.common.errors import BadInput
from taskflow.output import STORE, Damaged, Writer, tree
from taskflow.runs.directory.directory import RunDirectory
from taskflow.runs.estimate.memory import MemoryEstimate
from taskflow.runs.state.restart import newest_restart
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.machine import Mapper, run_threads
from taskflow.systems.records.fields import FieldRecording, GroupPlace
from tests.cases.on_charts import CYLINDER, LID, TURNED, case, changed
from tests.runs.going_on import go
from tests.runs.test_charts_real_time import PITCHING
from tests.runs.test_memory import HERE
from tests.runtime.machine.devices import one_gpu
from tests.runtime.machine.test_needs import Counting

OFTEN = {"every": {"steps": 2}}
WALL = {"name": "wall", "side": "body", **OFTEN}
ACROSS = {"name": "across", "chart": 2, "i": 3, **OFTEN, "fields": ["p", "u"]}
ENDS = {"name": "both", "side": "ends", **OFTEN, "fields": ["w"]}
AROUND = changed(CYLINDER, time__steps=6, output__every={"steps": 6}, planes=[WALL, ACROSS, ENDS])


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run on one block."""
    path = tmp_path_factory.mktemp("whole") / "run"
    go(case(AROUND), path)
    return path


def read(path, group="") -> xr.DataTree:
    return tree(path / STORE, group)


def alike(plane, snapshots) -> tuple[xr.DataTree, xr.DataTree]:
    """The records of both at the times that they have in common."""
    common = np.intersect1d(plane.time, snapshots.time)
    assert common.size > 1
    return plane.sel(time=common), snapshots.sel(time=common)


def assert_side(path, group, name) -> None:
    """A group has what `side` has of snapshots, to the bit, but for the pressure on faces, which needs more cells."""
    for plane, snapshot in zip(*(_records(some) for some in alike(read(path, group), read(path))), strict=True):
        own, expected = plane.flow.side(name), snapshot.flow.side(name)
        assert "p_face" not in own
        xr.testing.assert_identical(own.drop_attrs(), expected[list(own.data_vars)].drop_attrs())


def _records(records) -> list[xr.DataTree]:
    return [records.isel(time=n) for n in range(records.sizes["time"])]


def assert_layer(path, group, chart, **layer) -> None:
    """A group has the fields of a layer of a chart of the snapshots, with centres and vertices, to the bit."""
    plane, snapshots = alike(read(path, group), read(path))
    ((dim, number),) = layer.items()
    cells = {dim: [number], f"{dim}_vertex": [number, number + 1]}
    own = plane["charts/0"].to_dataset()
    expected = snapshots[f"charts/{chart}"].to_dataset().isel(cells)
    others = set(expected.data_vars) - set(own.data_vars)
    xr.testing.assert_identical(own.drop_attrs(), expected.drop_vars(others).drop_attrs())
    assert own.attrs["chart"] == chart


def test_planes_are_layers_of_snapshots(whole):
    assert_side(whole, "wall", "body")
    assert_side(whole, "both", "ends")
    assert_layer(whole, "across", 1, i=2)
    plane = read(whole, "across")
    assert plane.time.values.tolist() == [0, 2, 4, 6]
    assert set(plane["charts/0"].data_vars) == {"grid", "p", "u"}
    assert plane.time.attrs["long_name"] == "steps of pseudo-time"
    assert plane.attrs["boundary_body"] == "wall"


def test_the_cells_of_a_plane_are_known_in_the_whole_grid(whole):
    """Where points lie, and where faces are; the pressure on faces where there is a second cell."""
    plane, snapshots = read(whole, "across").isel(time=-1), read(whole).isel(time=-1)
    x, y, z = (float(plane[f"charts/0/{axis}_c"][0, 4, 0]) for axis in "xyz")
    xr.testing.assert_identical(plane.flow.at((x, y, z)).p, snapshots.flow.at((x, y, z)).p)
    assert int(plane.flow.at((x, y, z)).i) == 2
    face, faces = plane.flow.side("body"), snapshots.flow.side("body")
    (same,) = np.flatnonzero((faces.chart == 1) & (faces.i == 2))
    xr.testing.assert_identical(face.p_face[0].drop_attrs(), faces.p_face[same].drop_attrs())


@pytest.mark.parametrize("text", [None, "[0, 0]", "first"])
def test_a_plane_that_does_not_say_whose_cells_it_has_is_damaged(whole, text):
    plane = read(whole, "across").isel(time=-1)
    plane["charts/0"].attrs["first_cell"] = text
    with pytest.raises(Damaged, match="charts/0: it lacks the box of its cells"):
        plane.flow.side("body")


def assert_same(path, whole, groups) -> None:
    for group in groups:
        for name, part in read(whole, group).to_dict().items():
            xr.testing.assert_identical(read(path, group)[name].to_dataset().drop_attrs(), part.drop_attrs())


def test_a_run_goes_on_with_the_same_bits_on_other_blocks(tmp_path, whole):
    """Of blocks some have none of the cells."""
    tables = changed(AROUND, checkpoint__every={"steps": 3})
    go(case(tables), tmp_path / "broken", (1, 1, 2), kill=5)
    assert newest_restart(tmp_path / "broken", case(tables))[0].tick.step == 3
    go(case(tables), tmp_path / "broken", resume=True)
    assert_same(tmp_path / "broken", whole, ("wall", "across", "both"))


@pytest.mark.slow
def test_the_bits_do_not_depend_on_blocks_with_several_pieces(tmp_path, whole):
    go(case(AROUND, machine__cuts={"1": [2, 1, 1], "2": [2, 2, 1]}), tmp_path / "cut", (1, 1, 3))
    assert_same(tmp_path / "cut", whole, ("wall", "across", "both"))
    assert_side(tmp_path / "cut", "wall", "body")


class Holding(Counting):
    """Counts the bytes of what is held to be written."""

    held = 0

    def hold(self, array):
        self.held += array.nbytes
        return super().hold(array)


def test_records_that_wait_hold_what_was_counted(tmp_path):
    """Two of a plane that is larger than a snapshot: all cells of charts that are one cell thick, and more fields."""
    ends = {"name": "both", "side": "ends", "every": {"steps": 1}}
    tables = changed(AROUND, planes=[WALL, ends], output__fields=["p"], checkpoint__keep=0)
    setup = RunSetup(case(tables), (1, 1, 2))
    counted = [block.output for block in MemoryEstimate(setup, [HERE] * 2, "cpu").blocks]
    cells = [sum(piece.volume for piece in setup.partition.cells_of(block)) for block in range(2)]
    RunDirectory(tmp_path / "run").create(setup, force=False)
    layers = setup.spec.planes["both"].cells

    def job(shard):
        ready = Event()
        writer = Writer(before=ready.wait)
        recording = FieldRecording(GroupPlace(tmp_path / "run" / STORE, "both", shard, writer), layers)
        for step in range(2):
            recording.take(time=step)
        ready.set()
        writer.drain()
        writer.close()
        return shard.device.held

    held = run_threads(setup.partition, job, [Holding(1), Holding(1)], Mapper("none"))
    assert held == counted == [2 * 4 * 8 * n for n in cells]


@pytest.mark.gpu(emulated=True)
def test_planes_have_the_bits_of_a_cpu(tmp_path, whole):
    """Of two blocks on a GPU."""
    go(case(AROUND), tmp_path / "device", (1, 1, 2), device=one_gpu())
    assert_same(tmp_path / "device", whole, ("wall", "across", "both"))


MOVING = changed(PITCHING, planes=[WALL, ACROSS], method__inner={"iterations": 10})


def test_planes_move_with_the_grid(tmp_path):
    """With vertices and centres at each time, as snapshots have them."""
    go(case(MOVING, time__steps=2, planes=[ACROSS]), tmp_path / "run")
    assert_layer(tmp_path / "run", "across", 1, i=2)
    assert np.ptp(read(tmp_path / "run", "across")["charts/0/x"].values, axis=0).min() > 0


@pytest.mark.slow
def test_planes_that_move_go_on_on_other_blocks(tmp_path):
    """Of which several have cells of a layer."""
    tables = changed(MOVING, checkpoint__every={"steps": 2})
    go(case(tables, machine__cuts={"1": [2, 1, 1], "2": [1, 2, 1]}), tmp_path / "run", (1, 1, 3), kill=4)
    go(case(tables), tmp_path / "run", resume=True)
    assert_side(tmp_path / "run", "wall", "body")
    assert_layer(tmp_path / "run", "across", 1, i=2)


@pytest.mark.slow
@pytest.mark.parametrize(("tables", "side"), [(LID, "y_min"), (TURNED, "z_max")])
def test_planes_in_three_dimensions(tmp_path, tables, side):
    """With heat and a scalar, on charts that are turned, of two blocks, of which one has pieces of two charts."""
    planes = [{"name": "side", "side": side, **OFTEN}, {"name": "middle", "chart": 2, "j": 3, **OFTEN}]
    go(case(tables, time__steps=4, machine__cuts={"1": [1, 2, 1]}, planes=planes), tmp_path / "run", (1, 1, 2))
    assert_side(tmp_path / "run", "side", side)
    assert_layer(tmp_path / "run", "middle", 1, j=2)


def test_each_face_of_a_side_with_corners_is_there_once():
    """The cells along an edge are beside two of its patches, and in the layers of both."""
    bent = {"grid__sides": {"x_min": "bent", "y_min": "bent"}, "grid__charts": [1, 1, 1], "method__pressure_at": None}
    faces = dict.fromkeys(("bent", "x_max", "y_max", "z_min", "z_max"), "wall")
    tables = changed(LID, boundaries=faces, scalars=[], method__reference_speed=1.0, **bent)
    sim = RunSetup(case(tables, planes=[{"name": "a", "side": "bent", **OFTEN}]), (1, 1, 1))
    (plane,) = sim.case.planes
    layout = sim.domain.layout({}, sim.case.output, sim.partition, 1, plane)
    shapes = [(1, 8, 6), (10, 1, 6)]
    assert [layer.shape for layer in layout.charts] == shapes
    assert [patch.cells.shape for patch in layout.sides["bent"]] == shapes
    assert [patch.chart for patch in layout.sides["bent"]] == [0, 1]


def test_a_case_is_read_back_as_it_was_written():
    full = case(AROUND)
    assert Case(**tomllib.loads(full.to_toml())) == full


@pytest.mark.parametrize(("planes", "lines"), [
    ([{**WALL, "side": "bdy"}, {**ACROSS, "chart": 3}, {**ENDS, "fields": ["T"]}],
     ['planes[3].fields = ["T"]: this case has no field "T"; it has u, v, w, p; T needs a [heat] table',
      'planes[1].side = "bdy": unknown side of the grid; did you mean "body"?',
      "planes[2].chart = 3: unknown chart; charts have the numbers 1 to 2"]),
    ([{**ACROSS, "i": 11}, {"name": "a", "chart": 1, "k": 2, **OFTEN}],
     ["planes[1].i = 11: chart 2 has 10 x 8 x 1 cells; give 1 to 10",
      "planes[2].k = 2: chart 1 has 10 x 8 x 1 cells; give 1"]),
    ([WALL, {**ENDS, "name": "wall"}, {**ENDS, "name": "charts"}],
     ['planes[2].name = "wall": another entry of the store has this name; give another name',
      'planes[3].name = "charts": another entry of the store has this name; give another name']),
    ([{**WALL, "every": 0.5}], ["planes[1].every = { time = 0.5 }: a steady run counts steps; give { steps = n }"]),
    ([WALL, {"name": "a", **OFTEN}],
     ["planes[2].side: missing; give a side of the grid by its name, or a chart and i, j or k"]),
    ([{"name": "a", "i": 1, **OFTEN}, {"name": "b", "chart": 1, **OFTEN}],
     ["planes[1].chart: missing; give the number of the chart, from 1",
      "planes[2].k: missing; give i, j or k, the number of a layer from 1"]),
    ([{**WALL, "j": 1}, {**ACROSS, "k": 1}, {**ACROSS, "i": 0}],
     ["planes[1].j = 1: side is given as well; give one of them",
      "planes[2].k = 1: i is given as well; give one of them",
      "planes[3].i = 0: give an integer >= 1"]),
    ([{"name": "a", "z": 0.5, **OFTEN}],
     ["planes[1].z = 0.5: it requires a Cartesian grid; give a side, or a chart and i, j or k: the number of a layer of"
      " its cells"]),
    ([{"name": "a", "sid": "body", **OFTEN}],
     ['planes[1].sid = "body": unknown key; did you mean side?']),
])  # fmt: skip
def test_what_is_wrong_is_told_with_its_remedy(planes, lines):
    with pytest.raises(BadInput) as refused:
        case(planes=planes)
    assert str(refused.value).splitlines() == lines
