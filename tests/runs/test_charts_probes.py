"""Probes on charts: values between centres of cells, and up to walls, whatever the blocks and whatever breaks off."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import xarray as xr

from taskflow.common.errors import BadInput
from taskflow.common.point_location import cells_around
from taskflow.output import tree
from taskflow.runs.state.restart import newest_restart
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.regions import Box
from tests.cases.on_charts import CYLINDER, LID, TURNED, case, changed
from tests.flow.charts import distorted, lattice
from tests.runs.going_on import found, go
from tests.runs.test_charts_real_time import PITCHING

ROUND = [[1.0, 0.2, 0.5], [-2.0, 1.0, 0.25], [0.0, -0.6, 0.9]]
WAKE = {"name": "wake", "points": ROUND, "every": {"steps": 2}}
LINE = {"name": "line", "line": {"low": [0.6, 0.2, 0.3], "high": [0.9, 0.2, 0.7], "points": 7}, "fields": ["p"]}
AROUND = changed(CYLINDER, time__steps=8, probes=[WAKE, LINE], output__precision="double")
COUETTE = changed(
    CYLINDER, time={"steady": 1e-14, "steps": 4},
    grid={
        "shape": "skewed-box", "cells": [8, 6, 1], "lengths": [2.0, 2 / 3**0.5, 0.1], "angle": 60.0, "periodic": ["x"],
    },
    boundaries={
        "y_min": {"type": "wall", "velocity": [-1.0, 0.0, 0.0], "temperature": 5.0},
        "y_max": {"type": "wall", "velocity": [2.0, 0.0, 0.0], "temperature": 3.0},
        "z_min": "symmetry", "z_max": "symmetry",
    },
    heat={"diffusivity": 0.1}, initial={"velocity": ["3*y - 1", 0.0, 0.0], "temperature": "5 - 2*y"},
)  # fmt: skip
INSIDE = [[0.31, 0.36, 0.4], [0.93, 0.68, 0.77], [0.0, 0.0, 1.0], [0.5, 0.5, 0.5]]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run on one block."""
    path = tmp_path_factory.mktemp("whole") / "run"
    go(case(AROUND), path)
    return path


def assert_values_between_cells(path, group, names, tables) -> None:
    """A group has the values of snapshots, interpolated between the cells around each point, as far from sides."""
    snapshots, probe = tree(path / "fields.zarr")["charts"].children, found(path, group)
    assert set(probe.data_vars) == names
    domain = RunSetup(case(tables), (1, 1, 1)).domain
    around = domain.corners("c", np.stack([probe.x, probe.y, probe.z], axis=1), "linear")
    assert not around.filled
    for name in names:
        for point, (cells, weights) in enumerate(zip(around.cells, around.weights, strict=True)):
            expected = 0.0
            for cell, weight in zip(cells.tolist(), weights, strict=True):
                chart = domain.chart_of(Box(tuple(cell), tuple(at + 1 for at in cell)))
                i, j, k = np.subtract(cell, domain.first[chart])
                field = snapshots[f"{chart}"][name]
                expected = expected + weight * field.isel(i=i, j=j, k=k)
            both = probe[name].isel(point=point).sel(time=np.intersect1d(probe.time, expected.time))
            np.testing.assert_allclose(both, expected.sel(time=both.time), rtol=1e-13, atol=1e-15, err_msg=name)


def test_values_are_those_of_snapshots_at_the_points(whole):
    """Of all fields, or of some along a line, where they are due."""
    assert_values_between_cells(whole, "wake", {*"uvwp"}, AROUND)
    assert_values_between_cells(whole, "line", {"p"}, AROUND)
    wake = found(whole, "wake")
    assert wake.time.values.tolist() == [0, 2, 4, 6, 8]
    assert wake.time.attrs["long_name"] == "steps of pseudo-time"
    assert wake.u.values.std(axis=0).min() > 0


@pytest.mark.slow
@pytest.mark.parametrize(("tables", "names"), [(LID, {*"uvwpT", "dye"}), (TURNED, {*"uvwp"})])
def test_values_are_those_of_snapshots_in_three_dimensions(tmp_path, tables, names):
    """With heat and a scalar, on charts that are turned, of two blocks, of which one has pieces of two charts."""
    probes = [{"name": "inside", "points": INSIDE, "every": {"steps": 2}}]
    tables = changed(tables, time__steps=4, machine__cuts={"1": [1, 2, 1]}, probes=probes, output__precision="double")
    go(case(tables), tmp_path / "run", (1, 1, 2))
    assert_values_between_cells(tmp_path / "run", "inside", names, tables)


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [1, 2])
def test_values_go_to_those_of_walls(tmp_path, blocks):
    """Between walls that move and are heated: velocity and temperature are linear up to them, at once and later."""
    points = [[x, y, 0.05] for x in (0.7, 1.2, 1.9) for y in (0.0, 1e-9, 0.02, 0.13, 0.5, 0.8, 0.95, 0.999, 1.0)]
    tables = changed(COUETTE, probes=[{"name": "across", "points": points, "every": {"steps": 2}}])
    go(case(tables), tmp_path / "run", (1, 1, blocks))
    probe, y = found(tmp_path / "run", "across"), np.array(points)[:, 1]
    assert probe.time.values.tolist() == [0, 2, 4]
    for name, exact in {"u": 3 * y - 1, "T": 5 - 2 * y, "p": 0 * y, "v": 0 * y}.items():
        np.testing.assert_allclose(probe[name].values, np.tile(exact, (3, 1)), rtol=0, atol=1e-9, err_msg=name)


def assert_same(path, whole) -> None:
    """Both groups have the same records, to the bit."""
    for group in ("wake", "line"):
        xr.testing.assert_identical(found(path, group).drop_attrs(), found(whole, group).drop_attrs())


def test_a_run_goes_on_with_the_same_bits_on_other_blocks(tmp_path, whole):
    tables = changed(AROUND, checkpoint__every={"steps": 4})
    go(case(tables), tmp_path / "broken", (1, 1, 2), kill=7)
    assert newest_restart(tmp_path / "broken", case(tables))[0].tick.step == 4
    go(case(tables), tmp_path / "broken", resume=True)
    assert_same(tmp_path / "broken", whole)


@pytest.mark.slow
def test_the_bits_do_not_depend_on_blocks_with_several_pieces(tmp_path, whole):
    go(case(AROUND, machine__cuts={"1": [2, 1, 1], "2": [1, 2, 1]}), tmp_path / "cut", (1, 1, 3))
    assert_same(tmp_path / "cut", whole)


def test_a_point_lies_in_the_first_of_its_cells():
    """In its cell, or at a vertex in that of all around it which comes first; beyond the grid in none."""
    x = np.stack(distorted(lattice((17, 9, 10))))
    inner = sum(x[:, k : k + 10, j : j + 9, i : i + 17] for k, j, i in product((0, 1), repeat=3)) / 8
    some = [(k, j, i) for k in (0, 7, 9) for j in (0, 7, 8) for i in (0, 8, 15, 16)]
    middles = np.array([inner[:, k, j, i] for k, j, i in some])
    assert cells_around([(3, x)], middles) == [(3, *place) for place in some]
    corners = np.array([x[:, k, j, i] for k, j, i in some])
    first = [(3, max(k - 1, 0), max(j - 1, 0), max(i - 1, 0)) for k, j, i in some]
    assert cells_around([(3, x)], corners) == first
    assert cells_around([(3, x)], np.array([[0.5, 0.5, 2.0]])) == [None]


@pytest.mark.parametrize(("tables", "line"), [
    ({"probes": [WAKE, {"name": "in_body", "points": [*ROUND, [0.1, 0.2, 0.5]]}]},
     "probes[2].points = [0.1, 0.2, 0.5]: it lies in no cell of the grid, which reaches from [-5.0, -5.0, 0.0] to [5.0,"
     " 5.0, 1.0]; move it into one"),
    ({"probes": [{"name": "a", "line": {"low": [1, 0, 2], "high": [2, 0, 2], "points": 3}}]},
     "probes[1].line = [1.0, 0.0, 2.0]: it lies in no cell of the grid, which reaches from "),
    ({"probes": [{**WAKE, "fields": ["T"]}]}, 'probes[1].fields = ["T"]: this case has no field "T"'),
    ({"probes": [{**WAKE, "name": "charts"}]}, 'probes[1].name = "charts": another entry of the store has this name'),
    ({"probes": [WAKE, WAKE]}, 'probes[2].name = "wake": another entry of the store has this name; give another name'),
    ({"probes": [{**WAKE, "every": 0.5}]},
     "probes[1].every = { time = 0.5 }: a steady run counts steps; give { steps = n }"),
    (changed(PITCHING, probes=[WAKE]),
     'probes = [{ name = "wake"'),
])  # fmt: skip
def test_what_is_wrong_is_told_with_its_remedy(tables, line):
    with pytest.raises(BadInput) as refused:
        case({**CYLINDER, **tables})
    (message,) = str(refused.value).splitlines()
    assert message.startswith(line)
