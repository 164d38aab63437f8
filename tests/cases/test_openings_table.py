"""[[openings]] in a case: what is read, what is refused, which faces are taken."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.cases import Case
from taskflow.common.errors import BadInput
from taskflow.runs.state.setup import RunSetup
from tests.cases.sound import cavity

SLOT = {"name": "slot", "side": "x_min", "box": [[0, 0, 0.25], [0, 0.25, 0.5]], "type": "inflow", "velocity": [1, 0, 0]}
EXIT = {"name": "exit", "side": "z_min", "box": [[0.25, 0, 0], [0.75, 0.25, 0]], "type": "outflow", "pressure": 0}
DISK = {"name": "disk", "side": "z_min", "disk": {"centre": [0.5, 0.125, 0], "radius": 0.1}, "type": "vent", "loss": 2}


def opened(*openings: dict, **changes) -> dict:
    """The tables of a cavity with openings; None takes a key out."""
    kept = [{key: value for key, value in table.items() if value is not None} for table in openings]
    return cavity(openings=kept, **changes)


@pytest.mark.parametrize(("openings", "line"), [
    ([SLOT, {**EXIT, "name": "slot"}],
     'openings[2].name = "slot": another opening has this name; give each its own'),
    ([SLOT, {**SLOT, "name": "other", "box": [[0, 0, 0.4], [0, 0.25, 0.6]]}, EXIT],
     "openings[2].box = [[0.0, 0.0, 0.4], [0.0, 0.25, 0.6]]: it overlaps the opening slot on x_min; move one of them, "
     "or make it smaller"),
    ([{**SLOT, "box": [[0, 0, 0.26], [0, 0.25, 0.27]]}, EXIT],
     "openings[1].box = [[0.0, 0.0, 0.26], [0.0, 0.25, 0.27]]: it has the centre of no face of x_min; enlarge it, or "
     "refine"),
    ([{**SLOT, "box": None, "where": "z - 2"}, EXIT],
     'openings[1].where = "z - 2": it has the centre of no face of x_min; enlarge it, or refine'),
    ([{**SLOT, "box": [[0, 0, 0.8], [0, 0.25, 1.1]]}, EXIT],
     "openings[1].box = [[0.0, 0.0, 0.8], [0.0, 0.25, 1.1]]: it leaves x_min, where z goes from 0 to 1; move it "
     "inside"),
    ([SLOT, {**DISK, "disk": {"centre": [0.95, 0.125, 0], "radius": 0.1}}],
     "openings[2].disk = { centre = [0.95, 0.125, 0.0], radius = 0.1 }: it leaves z_min, where x goes from 0 to 1; "
     "move it inside"),
    ([{**SLOT, "box": [[0.5, 0, 0.2], [0.6, 0.25, 0.4]]}, EXIT],
     "openings[1].box = [[0.5, 0.0, 0.2], [0.6, 0.25, 0.4]]: it is not on x_min, where x = 0; move it there"),
    ([SLOT, {**EXIT, "side": "y_min"}],
     'openings[2].side = "y_min": y is periodic; give a side of another direction, or types for y_min and y_max'),
    ([{**SLOT, "side": "left"}, EXIT],
     'openings[1].side = "left": give "x_min", "x_max", "y_min", "y_max", "z_min" or "z_max"'),
    ([{**SLOT, "box": None}, EXIT],
     "openings[1].box: missing; give box, disk or where: the faces of its side that it takes"),
    ([{**SLOT, "where": "z"}, EXIT], 'openings[1].where = "z": box is given as well; give one of them'),
    ([{**SLOT, "name": "1st"}, EXIT],
     'openings[1].name = "1st": give a name of letters, digits, hyphens and underscores, beginning with a letter'),
    ([{**SLOT, "velocity": None}, EXIT],
     "openings[1].velocity: missing; give three numbers or expressions; or a log_law, or a table"),
    ([SLOT, {**EXIT, "velocity": [1, 0, 0]}],
     'openings[2].velocity = [1, 0, 0]: an outflow opening has none; omit it, or give type = "wall" or "inflow"'),
    ([{**SLOT, "temperature": 1}, EXIT],
     "openings[1].temperature = 1.0: this case has no temperature; add a [heat] table with diffusivity, or omit it"),
    ([{**SLOT, "scalars": {"smoke": 1}}, EXIT],
     "openings[1].scalars.smoke = 1.0: there is no such scalar; this case has no [[scalars]]; add one"),
    ([SLOT, {**EXIT, "type": "wall", "pressure": None, "velocity": [0, 0, 1]}],
     "openings[2].velocity = [0.0, 0.0, 1.0]: a wall moves in its own plane only; give 0 as its z component, or an "
     "inflow"),
    ([SLOT, {**EXIT, "pressure": None}, {**EXIT, "name": "two", "side": "z_max", "pressure": None,
                                         "box": [[0, 0, 1], [1, 0.25, 1]]}],
     'openings[2] = { type = "outflow"'),
    ([{**EXIT, "pressure": None}], "nothing enters that could leave; give an inflow, or the outflow pressure = 0"),
    ([SLOT, {**DISK, "loss": -1}], "openings[2].loss = -1: give a number >= 0"),
    ([{**SLOT, "phase": 1}, EXIT], "openings[1].phase = 1.0: one fluid has no phases; omit it"),
])  # fmt: skip
def test_what_is_wrong_is_named(openings, line):
    with pytest.raises(BadInput) as error:
        Case(**opened(*openings))
    assert line in str(error.value)


@pytest.mark.parametrize(("changes", "line"), [
    ({"grid__cells": [8, 8, 10**9]},
     'openings[1].side = "x_min": this side has 8e+09 faces, and a side with openings at most 1e+08; give fewer cells'),
    ({"time__implicit": ["z"]},
     'openings[2].side = "z_min": time.implicit needs one condition on all of z_min; give another side, or omit it'),
    ({"pressure": {"solver": "fft"}},
     'pressure.solver = "fft": z_min is part symmetry, part outflow (exit), and FFT needs one condition of the '
     'pressure on a side; give "multigrid"'),
])  # fmt: skip
def test_what_does_not_go_together(changes, line):
    with pytest.raises(BadInput) as error:
        Case(**opened(SLOT, EXIT, **changes))
    assert line in str(error.value)


@pytest.mark.parametrize(("openings", "line"), [
    ([{**SLOT, "phase": None}, EXIT],
     "openings[1].phase: missing; give the phase that enters, 1 or 2, or an expression for the share of phase 1"),
    ([SLOT, {**EXIT, "pressure": 1}], "openings[2].pressure = 1.0: not supported"),
    ([{**SLOT, "obstacle": "box"}, EXIT], 'openings[1].obstacle = "box": not supported by the model "two_phase"'),
    ([SLOT, {**EXIT, "type": "wall", "pressure": None, "velocity": ["x", 0, 0]}],
     'openings[2].velocity = ["x", 0.0, 0.0]: a wall has the same velocity everywhere'),
    ([{**SLOT, "temperature": 1}, EXIT], 'openings[1].temperature = 1.0: not supported by the model "two_phase"'),
])  # fmt: skip
def test_what_two_phases_do_not_support(openings, line):
    two = {"two_phase": {"density": [1.0, 2.0], "viscosity": [0.1, 0.1], "initial": "0.5 - x"}}
    given = [{"phase": 1, **table} if table["type"] == "inflow" else table for table in openings]
    with pytest.raises(BadInput) as error:
        Case(**opened(*given, fluid=..., **two))
    assert line in str(error.value)


def test_only_inflows_are_refused_by_name():
    upper = {**SLOT, "name": "upper", "box": [[0, 0, 0.5], [0, 0.25, 0.75]]}
    setup = RunSetup(Case(**opened(SLOT, upper)), (1, 1, 1))
    with pytest.raises(BadInput, match=r"slot in x_min lets 0.0625 in, upper in x_min lets 0.0625 in.*no side lets it"):
        setup.system.check()


def test_a_body_behind_an_opening_is_refused():
    body = {"type": "box", "low": [0.0, 0.0, 0.375], "high": [0.25, 0.25, 0.75]}
    with pytest.raises(BadInput, match=r"openings\[1\]: obstacles\[1\] covers 8 of the 16 cells behind slot"):
        RunSetup(Case(**opened(SLOT, EXIT, obstacles=[body])), (1, 1, 1)).system.check()
    beside = {**body, "low": [0.0, 0.0, 0.5]}
    RunSetup(Case(**opened(SLOT, EXIT, obstacles=[beside])), (1, 1, 1)).system.check()


def test_faces_are_those_whose_centres_are_inside():
    slot, disk = Case(**opened(SLOT, {**DISK, "disk": {"centre": [0.5, 0.125, 0], "radius": 0.1}})).openings
    grid = Case(**cavity()).staggered
    covered = slot.covers(grid)  # [z, y]
    assert covered.sum() == 4 * 4
    assert covered[4:8].all()
    x, y = np.meshgrid((np.arange(16) + 0.5) / 16, (np.arange(4) + 0.5) / 16)
    np.testing.assert_array_equal(disk.covers(grid), np.hypot(x - 0.5, y - 0.125) <= 0.1)


def test_a_case_is_written_as_it_is(tmp_path):
    slot = {**SLOT, "velocity": ["1 + sin(t)", 0, 0], "temperature": 1.0}
    case = Case(**opened(slot, DISK, heat={"diffusivity": 1.0}))
    file = tmp_path / "case.toml"
    file.write_text(case.to_toml())
    assert Case.load(file) == case
    assert case.openings[1].temperature == case.heat.reference
