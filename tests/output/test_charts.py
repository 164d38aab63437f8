"""The store of charts: every number where it belongs, whatever the pieces; no shard has two writers; damage is seen.
"""

import json
import re
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from taskflow.common.errors import BadInput
from taskflow.output import (
    BlockStore,
    Damaged,
    RunComparison,
    Store,
    create,
    has_charts,
    reshard,
    sum_of_group,
    sum_of_times,
    tree,
)
from taskflow.output.store.reading import at_time, patches
from taskflow.runtime.regions import Box
from tests.output.on_charts import grid_of, layout_of, middle, value, write, written


def assert_holds(path, layout, records) -> None:
    """Assert that a store has all values of records."""
    result = tree(path)
    assert result.sizes["time"] == records
    for chart, box in enumerate(layout.charts):
        cells = Box.of(box.shape)
        ds = result[f"charts/{chart}"]
        for field in layout.fields:
            assert ds[field].dims == ("time", "k", "j", "i")
            assert ds[field].dtype == layout.dtype
            for index in range(records):
                np.testing.assert_array_equal(ds[field][index], value(field, index, chart, cells))


@pytest.mark.parametrize(("name", "blocks", "cuts"), [
    ("annulus", 3, {1: (2, 1, 1), 2: (1, 3, 1)}), ("pipe", 7, None), ("box", 1, {0: (2, 2, 2)}),
])  # fmt: skip
def test_every_value_lies_where_it_belongs(name, blocks, cuts, tmp_path):
    grid = grid_of(name)
    layout = layout_of(grid, blocks, cuts, slots=1)
    path = written(tmp_path / "fields.zarr", layout)
    assert has_charts(path)
    assert_holds(path, layout, 3)
    for number, chart in enumerate(grid.charts):
        ds = tree(path)[f"charts/{number}"]
        for axis, at_vertices, at_centres in zip("xyz", chart.vertices, middle(chart.vertices), strict=True):
            np.testing.assert_array_equal(ds[axis], at_vertices)
            np.testing.assert_allclose(ds[f"{axis}_c"], at_centres, rtol=1e-14, atol=1e-15)
            assert {axis, f"{axis}_c", "time"} <= set(ds.coords)
    result, expected = (
        {name: {(patch.chart, patch.side, patch.cells) for patch in some} for name, some in sides.items()}
        for sides in (patches(tree(path)), grid.sides)
    )
    assert result == expected


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(blocks=st.integers(1, 6), other=st.integers(1, 6), cuts=st.tuples(*[st.integers(1, 3)] * 3))
def test_any_pieces_write_the_same_and_any_others_go_on(tmp_path_factory, blocks, other, cuts):
    path, grid = tmp_path_factory.mktemp("store") / "fields.zarr", grid_of("box")
    layout = layout_of(grid, blocks, {1: cuts}, fields={"p": layout_of(grid).fields["p"]}, slots=2)
    written(path, layout, (0.0, 0.5))
    assert_holds(path, layout, 2)
    fixed, after = sum_of_group(path, ""), layout_of(grid, other, fields=layout.fields, slots=2)
    reshard(path, [after])
    assert sum_of_group(path, "") == fixed
    store = Store(path)
    store.grow(3)
    write(path, after, 2)
    store.commit(2, 1.0)
    store.finish()
    assert_holds(path, after, 3)


@pytest.mark.parametrize("opened", [
    lambda path: xr.open_datatree(path, engine="zarr"),
    lambda path: xr.open_datatree(path, engine="zarr", chunks=None),
    tree,
])  # fmt: skip
def test_every_way_of_opening_is_without_warning_and_equal(tmp_path, opened):  # pytest turns warnings into errors
    with opened(written(tmp_path / "fields.zarr", layout_of(grid_of("annulus"), 2))) as result:
        sizes = {"time": 3, "k": 1, "j": 8, "i": 8, "k_vertex": 2, "j_vertex": 9, "i_vertex": 9}
        assert [dict(result[f"charts/{n}"].sizes) for n in range(4)] == [sizes] * 4
        assert result.attrs["title"] == "A test"
        assert bool(result["charts/3"].to_dataset().load().notnull().all().to_array().all())


def test_a_chart_opens_alone(tmp_path):
    path = written(tmp_path / "fields.zarr", layout_of(grid_of("pipe"), 2))
    with xr.open_zarr(path, group="charts/1", chunks=None) as ds:
        np.testing.assert_array_equal(ds.p[2], tree(path)["charts/1/p"][2])
        assert set(json.loads(ds.attrs["sides"])) == {"inlet", "outlet", "wall"}


def test_a_reader_of_a_running_store_sees_complete_records_only(tmp_path):
    path, layout = tmp_path / "fields.zarr", layout_of(grid_of("annulus"), 2, slots=1)
    store = create(path, layout, {"title": "A test"})
    assert tree(path).sizes["time"] == 0
    write(path, layout, 0)
    assert tree(path).sizes["time"] == 0
    store.commit(0, 0.25)
    store.grow(2)
    assert tree(path).time.values.tolist() == [0.25]
    assert at_time(tree(path), 0.25)["charts/2/p"].notnull().all()
    with pytest.raises(BadInput, match=re.escape("time = 0.5: no snapshot was written then; choose one of 0.25")):
        at_time(tree(path), 0.5)


def test_what_was_written_behind_a_checkpoint_is_cut(tmp_path):
    layout = layout_of(grid_of("box"), 3)
    path = written(tmp_path / "fields.zarr", layout)
    store = Store(path)
    store.cut(1)
    assert_holds(path, layout, 1)
    other = layout_of(grid_of("box"), 2)
    reshard(path, [other])
    store = Store(path)
    store.grow(2)
    write(path, other, 1)
    store.commit(1, 0.75)
    store.finish()
    assert_holds(path, other, 2)
    assert tree(path).time.values.tolist() == [0.0, 0.75]


def test_chunks_with_two_writers_are_refused(tmp_path):
    grid = grid_of("pipe")
    create(tmp_path / "s", layout_of(grid, 2), {})
    others = layout_of(grid, 2, {0: (3, 1, 1)})
    with pytest.raises(ValueError, match="whole chunks"):
        [BlockStore(tmp_path / "s", others.charts, cells) for cells in others.blocks]


def test_a_chart_that_is_not_cut_is_one_file_per_field_and_record(tmp_path):
    path = written(tmp_path / "fields.zarr", layout_of(grid_of("annulus"), 2))
    assert [len([f for f in (path / f"charts/{n}/p/c").rglob("*") if f.is_file()]) for n in range(4)] == [3] * 4


def test_wrong_pieces_are_refused(tmp_path):
    grid = grid_of("annulus")
    layout = layout_of(grid, 2)
    with pytest.raises(ValueError, match="chart 0, each once"):
        replace(layout, blocks=layout.blocks[1:])
    create(tmp_path / "s", layout, {})
    block = BlockStore(tmp_path / "s", layout.charts, layout.blocks[0])
    with pytest.raises(ValueError, match=r"parts \[\] given where"):
        block.write(0, {})
    values = dict.fromkeys(block.parts, partial(np.zeros, (1, 1, 1)))
    with pytest.raises(ValueError, match=r"an array of shape \(1, 1, 1\) for \(8, 8, 1\) points"):
        block.write(0, values)


def test_damage_is_an_error_that_names_the_file(tmp_path):
    path = written(tmp_path / "fields.zarr", layout_of(grid_of("annulus"), 2))
    shard = path / "charts" / "2" / "p" / "c" / "1" / "0" / "0" / "0"
    shard.write_bytes(shard.read_bytes()[:-1] + b"?")
    with pytest.raises(Damaged, match=re.escape(str(shard))):
        tree(path)["charts/2/p"][1].load()
    tree(path)["charts/2/p"][0].load()
    metadata = path / "charts" / "0" / "u" / "zarr.json"
    metadata.write_text(metadata.read_text().replace("velocity along x", "velocity along y"))
    with pytest.raises(Damaged, match=re.escape(str(metadata))):
        tree(path)


@pytest.mark.parametrize("contents", [False, True])
def test_a_checkpoint_sees_what_is_damaged_in_charts(tmp_path, contents):
    path = written(tmp_path / "fields.zarr", layout_of(grid_of("annulus"), 2))
    (tmp_path / "log.jsonl").touch()
    sums = {"fixed": sum_of_group(path, ""), "times": sum_of_times(tree(path).time.values)}
    state = {"lines": 0, "log": 0, "records": {"": 3}, "store": {"": sums}}
    checkpoint = SimpleNamespace(path=tmp_path / "checkpoints" / "step-000000003", state=state)
    RunComparison(tmp_path, contents=contents).check(checkpoint, [""])
    for file in ("charts/3/x/c/0/0/0", "charts/1/w/c/2/0/0/0"):
        intact = (path / file).read_bytes()
        (path / file).write_bytes(intact[:-2])
        with pytest.raises(Damaged, match=re.escape(str(path / file))):
            RunComparison(tmp_path, contents=contents).check(checkpoint, [""])
        (path / file).write_bytes(intact)
    about = path / "charts" / "2" / "zarr.json"
    about.write_text(about.read_text().replace("inner", "wing"))
    with pytest.raises(Damaged, match="coordinates or metadata are not as they were written"):
        RunComparison(tmp_path, contents=contents).check(checkpoint, [""])


def test_vertices_are_stored_in_pieces_that_a_reader_can_afford(tmp_path, monkeypatch):
    monkeypatch.setattr("taskflow.output.store.chart_store.CHUNK_BYTES", 2000)
    path = written(tmp_path / "fields.zarr", layout_of(grid_of("pipe")), (0.0,))
    assert len([file for file in (path / "charts" / "0" / "x" / "c").rglob("*") if file.is_file()]) == 2
    np.testing.assert_array_equal(tree(path)["charts/0/x"], grid_of("pipe").charts[0].vertices[0])


def test_a_store_without_charts_is_refused(tmp_path):
    with pytest.raises(BadInput, match="no snapshots to read"):
        tree(tmp_path / "none")
    assert not has_charts(tmp_path)
