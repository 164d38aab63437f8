"""Openings in sides of body-fitted grids: sides with names of their own."""

from __future__ import annotations

import pickle
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from taskflow.cases import Case
from taskflow.cases.timing.intervals import Tick
from taskflow.common.errors import BadInput
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.machine.shard import Shard
from taskflow.runtime.machine.threads import run_threads
from taskflow.systems.artificial_compressibility.boundaries import velocities
from taskflow.systems.initial.fields import InitialFields
from tests.cases.on_charts import CYLINDER, changed

WALLS = {f"{axis}_{end}": "wall" for axis in "xy" for end in ("min", "max")}
ROOM = {
    "method": {"type": "artificial-compressibility"},
    "grid": {"cells": [12, 10, 1], "lengths": [1.2, 1.0, 1.0]},
    "fluid": {"viscosity": 0.05},
    "boundaries": {**WALLS, "z_min": "symmetry", "z_max": "symmetry"},
    "heat": {"diffusivity": 0.05},
    "scalars": [{"name": "dye", "diffusivity": 0.02}],
    "time": {"steady": 1e-8, "steps": 1000},
    "machine": {"precision": "double", "device": "cpu"},
}  # fmt: skip
LOW = {"name": "low", "side": "x_min", "box": [[0, 0.1, 0], [0, 0.4, 1]], "type": "inflow", "velocity": [1.0, 0, 0],
       "temperature": 1.0, "scalars": {"dye": 2.0}}  # fmt: skip
HIGH = {"name": "high", "side": "y_max", "box": [[0.2, 1, 0], [0.6, 1, 1]], "type": "inflow", "velocity": [0, -0.5, 0]}
OUT = {"name": "out", "side": "x_max", "box": [[1.2, 0.5, 0], [1.2, 0.8, 1]], "type": "outflow", "pressure": 0}


def march(case: Case, steps: int, blocks: tuple[int, int, int] = (1, 1, 1)) -> dict[str, Any]:
    """Return the fields [k, j, i] of the index space after some steps, with the line of the log as `line`."""
    setup = RunSetup(case, blocks)
    model, measures = setup.model, setup.system.measures

    def job(shard: Shard) -> tuple[list[tuple], dict[str, Any]]:
        InitialFields(setup.domain.points, setup.system.initial, Path()).fill(shard)
        setup.system.constants.fill(shard)
        shard.run(model.start, dt=1.0)
        for _ in range(steps):
            shard.run(model.step, **model.scalars(1.0, 1.0))
        owned = [shard.partition.parts[piece] for piece in shard.partition.pieces_of(shard.block)]
        parts = [(name, box, shard.read(name, box)) for name in model.state for box in owned]
        shard.run(measures.monitor, **model.scalars(1.0, 1.0))
        return parts, measures.line(shard.scalars, Tick(steps, float(steps), 1.0), 0.0)

    shares = run_threads(setup.partition, job, cpu(1))
    bounds = setup.partition.region.bounds
    fields = {name: np.full(bounds.shape[::-1], np.nan) for name in model.state}
    for parts, _ in shares:
        for name, box, values in parts:
            fields[name][box.slices(bounds.lo)] = values
    return {**fields, "line": shares[0][1]}


def room(*openings: dict, **changes) -> Case:
    return Case(**changed(ROOM, openings=list(openings), **changes))


def through(flow: dict[str, Any], key: str = "volume_flux") -> list[float]:
    return [opening[key] for opening in flow["line"]["openings"].values()]


def same(one: dict[str, Any], other: dict[str, Any], names: Sequence[str] = ("p", "u", "v", "w", "T", "dye")) -> bool:
    assert all(np.isfinite(one[name]).any() for name in names)
    return all(np.array_equal(one[name], other[name], equal_nan=True) for name in names)


@pytest.mark.parametrize("march_of", [
    {"method__march": "rk4"}, pytest.param({"method__march": "implicit"}, marks=pytest.mark.slow),
])  # fmt: skip
def test_an_opening_of_a_whole_side_has_the_bits_of_the_side(march_of):
    inlet = {"type": "inflow", "velocity": ["4*y*(1 - y)", 0, 0], "temperature": 1.0}
    outlet = {"type": "outflow", "pressure": 0}
    sides = {**ROOM["boundaries"], "x_min": inlet, "x_max": outlet}
    dyed = [{**ROOM["scalars"][0], "boundaries": {"x_min": {"value": 2.0}}}]
    plain = march(Case(**changed(ROOM, boundaries=sides, scalars=dyed, **march_of)), 6)
    whole = march(room(
        {"name": "in", "side": "x_min", "where": "1 + 0*y", "scalars": {"dye": 2.0}, **inlet},
        {"name": "out", "side": "x_max", "box": [[1.2, 0, 0], [1.2, 1, 1]], **outlet}, **march_of,
    ), 6)  # fmt: skip
    assert same(plain, whole)
    assert np.nanmax(plain["u"]) > 0.5


@pytest.mark.parametrize(("cells", "blocks"), [
    ([12, 10, 1], (1, 1, 4)), pytest.param([12, 10, 4], (1, 1, 3), marks=pytest.mark.slow),
])  # fmt: skip
def test_bits_do_not_depend_on_blocks(cells, blocks):
    sides = {} if cells[2] == 1 else {"boundaries__z_min": "wall", "boundaries__z_max": "slip"}
    disk = {"name": "disk", "side": "y_min", "disk": {"centre": [0.6, 0, 0.5], "radius": 0.3}, "type": "wall",
            "velocity": [1.0, 0, 0], "temperature": 2.0}  # fmt: skip
    case = room(LOW, HIGH, OUT, disk, grid__cells=cells, grid__charts=[2, 1, 1], **sides)
    one, many = march(case, 5), march(case, 5, blocks)
    assert same(one, many)
    assert one["line"]["openings"] == many["line"]["openings"]


def test_what_enters_by_two_openings_leaves_by_a_third():
    """In the steady state volume, heat and dye balance; walls are insulated."""
    flow = march(room(LOW, HIGH, OUT, method__march="implicit"), 30)
    np.testing.assert_allclose(through(flow)[:2], [-0.3, -0.2], rtol=1e-12)
    for key, entering in (("volume_flux", 0.5), ("flux_T", 0.3), ("flux_dye", 0.6)):
        assert abs(sum(through(flow, key))) < 1e-12
        assert through(flow, key)[2] == pytest.approx(entering, rel=0.2)


@pytest.mark.parametrize("stretching", [pytest.param([0, 0, 0], marks=pytest.mark.slow), [0, 1.2, 0]])
def test_the_mean_temperature_of_openings(stretching):
    """It is given at an inflow, and on an outflow the mean of the cells at it, weighted by their faces."""
    case = room(LOW, OUT, grid__stretching=stretching)
    flow, domain = march(case, 8), RunSetup(case, (1, 1, 1)).system.domain
    y = domain.grid.charts[0].vertices[1, 0, :, 0]
    inside = slice(*np.searchsorted((y[1:] + y[:-1]) / 2, (0.5, 0.8)))
    T = flow["T"][np.isfinite(flow["T"])].reshape(10, 12)
    expected = np.average(T[inside, -1], weights=np.diff(y)[inside])
    assert expected > 0
    assert through(flow, "mean_T") == pytest.approx([1.0, expected], rel=1e-13)


def test_openings_of_a_curved_side():
    """A jet out of a cylinder in a box of the size of a sector; all other faces are still its wall."""
    case = Case(**changed(CYLINDER, openings=[
        {"name": "jet", "side": "body", "box": [[0.3, -0.3, -1], [0.6, 0.3, 2]], "type": "inflow",
         "velocity": ["x", "y", 0]},
    ], method__march="implicit"))  # fmt: skip
    grid = RunSetup(case, (1, 1, 1)).system.domain.grid
    faces = {name: sum(patch.cells.volume for patch in patches) for name, patches in grid.sides.items()}
    assert 0 < faces["jet"] < faces["body"]
    assert faces["jet"] + faces["body"] == 20
    flow = march(case, 10)
    assert through(flow)[0] < -0.1
    assert {"body"} == flow["line"]["bodies"].keys()


def test_a_parabola_between_walls_around_an_opening():
    """profile = "parabolic" has the mean in an opening of a wall."""
    slot = {**LOW, "profile": "parabolic"}
    setup = RunSetup(room(slot, OUT), (1, 1, 1))
    ((_, velocity),) = velocities("low", setup.case.boundaries, setup.system.domain)
    np.testing.assert_allclose(velocity[0].ravel(), (1 - np.array([-2 / 3, 0, 2 / 3]) ** 2) * 27 / 19)


def test_the_velocity_of_an_opening_is_set_by_its_number():
    pulsing = room({**LOW, "velocity": ["sin(t)", 0, 0]}, OUT, time={"end": 1.0, "step": 0.1},
                   method__reference_speed=1.0)
    constants = RunSetup(pulsing, (1, 1, 1)).system.constants
    assert list(constants.keys) == ["openings[1].velocity[1]"]
    assert constants.following({"openings[1].velocity[1]": 3.0})._now.sides["low"].vector[0] == 3.0


@pytest.mark.parametrize(("openings", "line"), [
    ([{**LOW, "side": "left"}, OUT], 'openings[1].side = "left": unknown side of the grid; it has x_min'),
    ([{**LOW, "name": "y_max"}, OUT], 'openings[1].name = "y_max": the grid has a side of this name; give another'),
    ([LOW, {**OUT, "name": "low"}], 'openings[2].name = "low": another opening has this name; give each its own'),
    ([{**LOW, "box": [[0.1, 0, 0], [0.2, 1, 1]]}, OUT], "it has the centre of no face of x_min; enlarge it"),
    ([LOW, {**LOW, "name": "two"}, OUT], "it overlaps the opening low on x_min; move one of them"),
    ([LOW], "boundaries: 0.3 per time enters through low, and all other sides are closed"),
    ([{**LOW, "scalars": {"ink": 1.0}}, OUT], "openings[1].scalars.ink = 1.0: there is no such scalar"),
    ([{**LOW, "scalars": {"dye": "t"}}, OUT], "openings[1].scalars"),
    ([{**LOW, "velocity": None}, OUT], "openings[1].velocity: missing; give three numbers or expressions"),
    ([{**LOW, "type": "vent", "velocity": None}, OUT], 'openings[1].type = "vent"'),
    ([{**LOW, "phase": 1}, OUT], "openings[1].phase = 1"),
    ([{**LOW, "type": "wall", "scalars": None}, OUT],
     "openings[1].velocity = [1.0, 0.0, 0.0]: a wall moves in its own plane only"),
    ([{**LOW, "temperature": "t"}, OUT], "openings[1].temperature"),
    ([LOW, {**OUT, "pressure": None}], "openings[2].pressure: missing; give the pressure there, such as 0"),
])  # fmt: skip
def test_what_is_wrong_is_named(openings, line):
    given = [{key: value for key, value in table.items() if value is not None} for table in openings]
    with pytest.raises(BadInput) as error:
        room(*given)
    assert line in str(error.value)


def test_scalars_of_an_opening_are_given_there():
    with pytest.raises(BadInput, match=r"it is an opening; give openings\[1\].scalars = { dye = value }"):
        room(LOW, OUT, scalars=[{**ROOM["scalars"][0], "boundaries": {"low": {"value": 1.0}}}])


def test_openings_and_moving_grids_exclude_each_other():
    with pytest.raises(BadInput, match="not supported together with motion"):
        room(LOW, OUT, motion={"angle": {"z": "0.1*t"}}, time={"end": 1.0, "step": 0.1})


def test_a_velocity_that_is_not_finite_is_named():
    setup = RunSetup(room({**LOW, "velocity": ["1/x", 0, 0]}, OUT), (1, 1, 1))
    with pytest.raises(BadInput, match=r"openings\[1\].velocity"):
        setup.system.check()


def test_a_case_with_openings_is_a_value():
    case = room(LOW, OUT)
    assert case == room(LOW, OUT)
    assert Case(**tomllib.loads(case.to_toml())) == case
    assert pickle.loads(pickle.dumps(case)) == case
    assert "low" not in case.written()["boundaries"]
    assert case.replace(**{"fluid.viscosity": 0.1}).boundaries.sides.keys() == case.boundaries.sides.keys()
