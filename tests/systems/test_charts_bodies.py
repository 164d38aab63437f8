"""Bodies inside charts of artificial compressibility: refusals, what is told, balances, and runs on any blocks."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.common.errors import BadInput
from taskflow.output import LOG, read_log
from taskflow.runs.state.setup import RunSetup
from tests.cases.on_charts import case
from tests.cases.test_charts_case import problems
from tests.runs.going_on import go
from tests.runs.test_charts_run import SAVED, assert_same_run

POST = {"name": "post", "type": "cylinder", "axis": "z", "centre": [0.93, 1.04, 0.0], "radius": 0.4}
BOX = {
    "method": {"type": "artificial-compressibility", "march": "implicit"},
    "grid": {"shape": "box", "cells": [24, 20, 1], "lengths": [2.4, 2.0, 0.1]},
    "fluid": {"viscosity": 0.05},
    "boundaries": {
        "x_min": {"type": "inflow", "velocity": [1.0, 0.0, 0.0]}, "x_max": {"type": "outflow", "pressure": 0.0},
        "y_min": "wall", "y_max": "slip", "z_min": "symmetry", "z_max": "symmetry",
    },
    "initial": {"velocity": [1.0, 0.0, 0.0]},
    "obstacles": [POST],
    "bodies": {"treatment": "immersed"},
    "time": {"steady": 1e-8, "steps": 12},
    "output": {"every": {"steps": 4}, "precision": "double"},
    "monitor": {"every": {"steps": 1}},
    "machine": {"device": "cpu"},
}  # fmt: skip
DRIVEN = {
    **BOX,
    "grid": {**BOX["grid"], "periodic": ["x"]},
    "boundaries": {"y_min": "wall", "y_max": "slip", "z_min": "symmetry", "z_max": "symmetry"},
    "body": {"force": [0.2, 0.0, 0.0]}, "initial": {}, "method": {**BOX["method"], "reference_speed": 0.5},
}  # fmt: skip
AHEAD = {**POST, "centre": [0.1, 1.0, 0.0]}
SECOND = {**POST, "name": "second", "centre": [1.4, 1.04, 0.0]}


@pytest.mark.parametrize(("changes", "line"), [
    ({"bodies": {"treatment": "flagged"}},
     'bodies.treatment = "flagged": charts have no stair steps; give "immersed"'),
    ({"obstacles": [{"type": "surface", "file": "person.stl"}]},
     'obstacles[1].type = "surface": bodies in charts have a formula; give "box", "sphere", "cylinder" or "implicit"'),
    ({"obstacles": [{**POST, "name": "y_max"}]},
     'obstacles[1].name = "y_max": a side of the grid has this name; give another'),
    ({"method__march": "rk4"}, 'method.march = "rk4": bodies need implicit marching; give "implicit"'),
    ({"method__flux": "central"},
     'method.flux = "central": central fluxes are not available at bodies; give "upwind"'),
])  # fmt: skip
def test_what_is_wrong_is_told_with_its_remedy(changes, line):
    assert problems(BOX, **changes) == [line]


@pytest.mark.parametrize("table", ["heat", "scalars", "turbulence", "motion"])
def test_what_is_not_available_with_bodies_is_refused(table):
    values = {
        "heat": {"diffusivity": 0.1}, "scalars": [{"name": "dye", "diffusivity": 0.1}],
        "turbulence": {"model": "wale"}, "motion": {"displacement": ["0.1*t", 0, 0]},
    }[table]  # fmt: skip
    lines = problems(BOX, **{table: values}, time={"end": 1.0, "step": 0.1})
    assert any("obstacles" in line and "not supported together with" in line and table in line for line in lines), lines


@pytest.mark.parametrize(("obstacles", "line"), [
    ([AHEAD], r"obstacles\[1\]: it comes nearer than a cell to the side x_min, which lets fluid through; leave a cell"),
    ([{**POST, "centre": [0.45, 1.04, 0.0]}], r"obstacles\[1\]: it comes nearer than a cell to the side x_min, which"),
    ([POST, SECOND], r"obstacles\[1\]: it overlaps second in \d+ cells, as at \(.*\); move one of them"),
    ([{**POST, "radius": 0.15}], r'the body "post": it is 3 cells across, and a surface needs 4; use smaller cells'),
    ([{**POST, "centre": [9.0, 9.0, 0.0]}], r'the body "post": no cell has its centre in it; use smaller'),
    ([{"type": "implicit", "inside": "-1 + 0*x"}], r"obstacles: no cell is left for the fluid; make them smaller"),
])  # fmt: skip
def test_bodies_at_wrong_places_are_refused(obstacles, line):
    with pytest.raises(BadInput, match=line):
        _ = RunSetup(case(BOX, obstacles=obstacles), (1, 1, 1)).system.survey


def test_the_point_of_zero_pressure_is_in_the_fluid():
    point = [0.9, 1.0, 0.05]
    sim = RunSetup(case(DRIVEN, method__pressure_at=point), (1, 1, 1))
    with pytest.raises(BadInput, match=r"method.pressure_at = \[0.9, 1.0, 0.05\]: the point is in a body; give a"):
        _ = sim.system.survey


def test_check_tells_cells_across_and_gaps():
    sim = RunSetup(
        case(BOX, obstacles=[POST, {**POST, "name": None, "centre": [1.95, 1.04, 0.0], "radius": 0.3}]), (1, 1, 1)
    )
    rows = [row.text for row in sim.system.survey.rows()]
    assert rows[0].startswith("76 cells, volume 0.076, smallest gap 2 cells, 5 cells across")
    assert rows[1].startswith("post: 50 cells, volume 0.05, smallest gap 4 cells, 8 cells across")


def test_a_body_on_a_seam_is_as_wide_as_in_one_chart():
    """It has 6 cells, 3 of them in each chart."""
    post = {**POST, "centre": [1.2, 1.0, 0.0], "radius": 0.3}
    for charts, words in ((1, "6 cells across"), (2, "at least 5 cells across")):
        sim = RunSetup(case(BOX, obstacles=[post], grid={**BOX["grid"], "charts": [charts, 1, 1]}), (1, 1, 1))
        assert str(sim.system.survey.parts[0]).endswith(f", {words}")
    thin = {"type": "box", "name": "plate", "low": [1.11, 0.5, -1.0], "high": [1.39, 1.5, 1.0]}
    sim = RunSetup(case(BOX, obstacles=[thin], grid={**BOX["grid"], "charts": [2, 1, 1]}), (1, 1, 1))
    with pytest.raises(BadInput, match=r'the body "plate": it is 3 cells across'):
        _ = sim.system.survey


def test_gaps_are_those_across_seams():
    """One body ends a cell before a seam, the other begins a cell behind it; then both have cells next to it."""
    for charts, high, low, gap in ((1, 1.1, 1.3, 2), (2, 1.1, 1.3, 2), (2, 1.2, 1.21, None)):
        one = {"type": "box", "name": "one", "low": [0.6, 0.5, -1.0], "high": [high, 1.5, 1.0]}
        other = {"type": "box", "name": "other", "low": [low, 0.5, -1.0], "high": [1.8, 1.5, 1.0]}
        tables = case(BOX, obstacles=[one, other], grid={**BOX["grid"], "charts": [charts, 1, 1]})
        survey = RunSetup(tables, (1, 1, 1)).system.survey
        assert [part.gap for part in survey.parts] == ([gap, gap] if gap else [5, 5])
        thin = "between one and other in chart 1 is a gap thinner than a cell"
        assert [line.startswith(thin) for line in survey.warnings] == ([] if gap else [True])


def forces(path, tables, *names):
    """The last forces of a run."""
    go(tables, path)
    line = read_log(path / LOG)[-1]["bodies"]
    return [np.array(line[name]["force"]) for name in names]


def test_the_force_on_bodies_and_walls_balances_a_body_force(tmp_path):
    """Per unit of thickness, and converged to 1e-8 in a few outer iterations."""
    tables = case(DRIVEN, time={"steady": 1e-8, "steps": 60})
    post, wall = forces(tmp_path / "run", tables, "post", "y_min")
    sim = RunSetup(tables, (1, 1, 1))
    fluid = sim.system.bodies.at(0.0).fields(sim.domain.boxes[0], ["fluid"], 1.0)["fluid"].sum() * 0.1**2
    assert post[0] + wall[0] == pytest.approx(0.2 * fluid, rel=1e-6)
    assert post[0] > 0.1


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_real_time_reaches_the_steady_state(tmp_path):
    real = case(BOX, time={"end": 30.0, "step": 0.5}, monitor__every={"steps": 20}, output__every={"steps": 1000})
    (one,) = forces(tmp_path / "run", real, "post")
    (other,) = forces(tmp_path / "steady", case(BOX, time={"steady": 1e-8, "steps": 60}), "post")
    assert one[:2] == pytest.approx(other[:2], rel=2e-4)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("blocks", "changes"), [
    ((1, 1, 2), {"machine__cuts": {"1": [2, 1, 1]}}), ((1, 1, 4), {"machine__cuts": {"1": [2, 2, 1]}}),
    ((1, 1, 3), {"machine__overlap": "none"}), ((1, 1, 2), {"machine__overlap": "full"}),
])  # fmt: skip
def test_runs_have_the_same_bits_for_any_blocks_and_go_on_after_a_break(tmp_path, blocks, changes):
    real = {"time": {"steps": 12, "step": 0.1}}
    go(case(BOX, **real), tmp_path / "whole")
    go(case(BOX, **real, **changes), tmp_path / "cut", blocks)
    assert_same_run(tmp_path / "cut", tmp_path / "whole")
    broken = tmp_path / "broken"
    go(case(BOX, **real, **changes, **SAVED), broken, blocks, kill=9)
    go(case(BOX, **real, **SAVED), broken, (1, 1, 1), resume=True)
    assert_same_run(broken, tmp_path / "whole")


def test_steps_on_two_blocks_have_the_same_bits(tmp_path):
    steps = {"time__steps": 2, "output__every": {"steps": 2}}
    go(case(BOX, **steps), tmp_path / "whole")
    go(case(BOX, **steps, machine__cuts={"1": [2, 1, 1]}), tmp_path / "cut", (1, 1, 2))
    assert_same_run(tmp_path / "cut", tmp_path / "whole")


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_an_outer_iteration_is_proved():
    from taskflow.runs.estimate.estimate import estimate

    proof = estimate(case(BOX, machine__blocks=2, machine__overlap="none")).prove()
    proof.hold()
    assert proof.reads > 0
