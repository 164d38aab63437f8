"""Open boundaries in a case: what is read, what is refused, what enters."""

from __future__ import annotations

import math

import numpy as np
import pytest

from taskflow.cases import Case
from taskflow.cases.formulas.expression import Expression
from taskflow.common.errors import BadInput
from taskflow.flow.grid import on_face
from taskflow.runs.state.setup import RunSetup
from taskflow.systems.base.pressure import described
from tests.cases.sound import cavity

STREAM = {"type": "inflow", "velocity": [1, 0, 0]}
LAW = {"roughness": 0.1, "friction_velocity": 0.41}
RELEASED, ADVECTED = ({"type": "outflow", "pressure": pressure} for pressure in (0, "advected"))
SPHERE = {"type": "sphere", "centre": [0.5, 0.1, 0.5], "radius": 0.1}


def windy(**law) -> dict:
    return {"type": "inflow", "log_law": {**LAW, **law}}


def stream(**changes) -> dict:
    """The tables of a flow from x_min to x_max."""
    sides = {"boundaries__x_min": STREAM, "boundaries__x_max": "outflow"}
    return cavity(**{**sides, **changes})


@pytest.mark.parametrize(("changes", "line"), [
    ({"boundaries__x_min": "inflow"},
     "boundaries.x_min.velocity: missing; give three numbers or expressions; or a log_law, or a table"),
    ({"boundaries__x_min": {**STREAM, "log_law": LAW}},
     "boundaries.x_min.log_law = { roughness = 0.1, friction_velocity = 0.41 }: velocity is given as well; "
     "give one of them"),
    ({"boundaries__x_min": {**STREAM, "heat_flux": 1}},
     'boundaries.x_min.heat_flux = 1: an inflow boundary has none; omit it, or give type = "wall"'),
    ({"boundaries__x_min": {"type": "inflow", "velocity": ["2*s", 0, 0]}},
     'boundaries.x_min.velocity = ["2*s", 0, 0]: give three numbers or expressions, in the order x, y, z '
     "(x: 's' in '2*s' is not allowed: there is no s; known are x, y, z, t, pi, e, sin, cos, tan, exp, log, sqrt, "
     "sinh, cosh, tanh, abs, minimum, maximum, where)"),
    ({"boundaries__x_min": {**STREAM, "temperature": "x"}},
     'boundaries.x_min.temperature = "x": this case has no temperature; add a [heat] table with diffusivity, '
     "or omit it"),
    ({"boundaries__x_min": windy(roughness=0)}, "boundaries.x_min.log_law.roughness = 0: give a number > 0"),
    ({"boundaries__x_min": {"type": "inflow", "log_law": {"roughness": 0.1}}},
     "boundaries.x_min.log_law.friction_velocity: missing; "
     "give it, or a speed and the height above ground where it is"),
    ({"boundaries__x_min": {"type": "inflow", "log_law": {"roughness": 0.1, "speed": 3}}},
     "boundaries.x_min.log_law.height: missing; give the speed, and the height above ground where it is"),
    ({"boundaries__x_min": windy(up="x")},
     'boundaries.x_min.log_law.up = "x": the wind would not blow through x_min'),
    ({"boundaries__x_min": windy(direction=[-1, 0, 0])}, "boundaries.x_min.log_law.direction = [-1.0, 0.0, 0.0]: "
     "the wind has to enter at x_min; give a direction with x > 0"),
    ({"boundaries__x_min": windy(direction=[1, 0, 1])}, "boundaries.x_min.log_law.direction = [1.0, 0.0, 1.0]: "
     "the wind blows along the ground; give 0 as its z component"),
    ({"boundaries__x_min": {"type": "inflow", "table": "nowhere.csv"}},
     'boundaries.x_min.table = "nowhere.csv": file not found; paths are relative to the case file'),
    ({"boundaries__x_max": {"type": "outflow", "pressure": "given"}},
     "boundaries.x_max.pressure = \"given\": 'given' is not allowed: there is no given; known are x, y, z, t, pi, e,"
     ' sin, cos, tan, exp, log, sqrt, sinh, cosh, tanh, abs, minimum, maximum, where; or "advected"'),
    ({"boundaries__x_min": "wall", "boundaries__x_max": ADVECTED},
     'boundaries.x_max = { type = "outflow", pressure = "advected" }: '
     "nothing enters that could leave; give an inflow, or the outflow pressure = 0"),
    ({"boundaries__z_min": RELEASED, "boundaries__x_max": ADVECTED},
     'boundaries.x_max = { type = "outflow", pressure = "advected" }: '
     "with 2 outflows their pressures set the flow through each; give all of them a pressure, such as 0"),
    ({"boundaries__x_min": "wall"},
     'boundaries.x_max = "outflow": nothing enters that could leave; give an inflow, or the outflow pressure = 0'),
    ({"boundaries__z_min": RELEASED}, 'boundaries.x_max = "outflow": '
     "with 2 outflows their pressures set the flow through each; give all of them a pressure, such as 0"),
    ({"grid__cells": [1, 4, 16], "boundaries__x_max": "slip"},
     'boundaries.x_min = { type = "inflow", velocity = [1.0, 0.0, 0.0] }: one cell in x has no room for an inflow; '
     'give x = "periodic" for 2D, or more cells'),
    ({"boundaries__x_max": {"type": "outflow", "pressure": "z"}},
     'boundaries.x_max.pressure = "z": it is the same everywhere, in this version; give an expression of t, without'
     ' z; or "advected"'),
    ({"boundaries__z_max": {"type": "wall", "heat_transfer": 3}, "heat": {"diffusivity": 1}},
     "boundaries.z_max.outside_temperature: missing; "
     "heat_transfer is given; heat passes by heat_transfer (outside_temperature - T)"),
    ({"boundaries__z_max": {"type": "wall", "heat_transfer": 3, "outside_temperature": 1, "heat_flux": 1},
      "heat": {"diffusivity": 1}}, "boundaries.z_max.heat_transfer = 3: heat_flux is given as well; give one of them"),
    ({"boundaries__z_max": {"type": "wall", "heat_transfer": 3, "outside_temperature": 1}, "heat": {"diffusivity": 0}},
     "boundaries.z_max.heat_transfer = 3.0: no heat flows without heat.diffusivity; give one"),
])  # fmt: skip
def test_a_mistake_is_told_in_one_line(changes, line):
    with pytest.raises(BadInput) as error:
        Case(**stream(**changes))
    assert str(error.value) == line


@pytest.mark.parametrize(("changes", "line"), [
    ({"boundaries__x_min": {"type": "inflow", "velocity": ["1/(t - 1)", 0, 0]}},
     r"boundaries.x_min.velocity: the expression '1/\(t - 1\)' is not finite at x = 0"),
    ({"boundaries__x_min": {**STREAM, "temperature": "log(z - 2)"}, "heat": {"diffusivity": 1}},
     r"boundaries.x_min.temperature: the expression 'log\(z - 2\)' is not finite"),
    ({"boundaries__x_max": "slip"},
     "boundaries: 0.25 .volume per time. more enters than leaves, and no side lets it out; give a side"),
    ({"boundaries__x_max": {"type": "inflow", "velocity": ["1 + t", 0, 0]}},
     "boundaries: -0.03125 .* at time 0.125, and no side lets it out"),
])  # fmt: skip
def test_what_formulas_say_is_looked_at_before_a_step(changes, line):
    with pytest.raises(BadInput, match=line):
        RunSetup(Case(**stream(**changes)), (1, 1, 1)).system.check()


def test_what_enters_on_one_side_may_leave_on_another():
    """By velocities that are given on both."""
    case = Case(**stream(boundaries__x_max={"type": "inflow", "velocity": ["1", 0.5, 0]}))
    RunSetup(case, (1, 1, 1)).system.check()
    assert case.boundary("x_max").velocity == (Expression("1", timed=True), 0.5, 0.0)


def test_what_is_written_is_read_again(tmp_path):
    (tmp_path / "wind.csv").write_text("z, u\n0, 0\n1, 2\n")
    file = tmp_path / "case.toml"
    for side in (STREAM, windy(direction=[2, 1, 0], ground=-1.0), {"type": "inflow", "velocity": ["sin(t)", 0, "x"]},
                 {"type": "inflow", "table": "wind.csv"}):  # fmt: skip
        tables = {**stream(), "boundaries": {**stream()["boundaries"], "x_min": side}}
        if "table" in side:
            tables["boundaries"]["x_min"] = {"type": "inflow", "table": str(tmp_path / "wind.csv")}
        case = Case(**tables)
        file.write_text(case.to_toml())
        assert Case.load(file) == case


def test_an_outflow_is_written_as_it_is(tmp_path):
    file = tmp_path / "case.toml"
    for side in ("outflow", RELEASED, ADVECTED):
        case = Case(**stream(boundaries__x_max=side))
        file.write_text(case.to_toml())
        assert Case.load(file) == case


def test_tables_lie_beside_the_case_file(tmp_path):
    (tmp_path / "wind.csv").write_text("z, u\n0, 0\n1, 2\n")
    file = tmp_path / "case.toml"
    file.write_text(Case(**stream()).to_toml())
    case = Case.load(file, ["boundaries.x_min={type='inflow', table='wind.csv'}"])
    assert case.boundary("x_min").table.path == str(tmp_path / "wind.csv")


def test_inflows_have_the_reference_temperature():
    case = Case(**stream(heat={"diffusivity": 1.0, "reference": 2.5}))
    assert case.boundary("x_min").temperature == 2.5


def entering(case: Case, name: str, time: float = 0.0) -> np.ndarray:
    """The values at x_min along z."""
    setup = RunSetup(case, (1, 1, 1))
    return setup.inflows.at("x_min", name, time, on_face("x_min", setup.grid.constants))[:, 0, 0]


def test_the_log_law():
    """0.41 / 0.41 ln((z + z0) / z0) along the direction, whichever way the speed is said."""
    z, z0 = (np.arange(16) + 0.5) / 16, 0.1
    law = np.log((z + z0) / z0)
    np.testing.assert_allclose(entering(Case(**stream(boundaries__x_min=windy())), "u"), law, rtol=1e-14)
    turned = windy(direction=[3, 4, 0], ground=0.25)
    case = Case(**stream(boundaries__x_min=turned))
    above = np.log((np.maximum(z - 0.25, 0) + z0) / z0)
    np.testing.assert_allclose(entering(case, "v"), 0.8 * above, rtol=1e-14)
    assert not entering(case, "w").any()
    by_speed = {"type": "inflow", "log_law": {"roughness": z0, "height": 0.4, "speed": math.log(5)}}
    np.testing.assert_allclose(entering(Case(**stream(boundaries__x_min=by_speed)), "u"), law, rtol=1e-14)


def test_a_table_is_interpolated(tmp_path):
    file = tmp_path / "wind.csv"
    file.write_text("# measured\nz, w, u\n1.0, 0, 2\n0.0, 1, 0\n0.5, 0, 1.5\n")
    case = Case(**stream(boundaries__x_min={"type": "inflow", "table": str(file)}))
    z = (np.arange(16) + 0.5) / 16
    np.testing.assert_allclose(entering(case, "u"), np.interp(z, [0, 0.5, 1], [0, 1.5, 2]), rtol=1e-14)
    np.testing.assert_allclose(entering(case, "w"), np.interp(np.arange(16) / 16, [0, 0.5], [1, 0]), atol=1e-15)
    assert not entering(case, "v").any()


def test_a_table_over_two_directions(tmp_path):
    lines = [f"{y},{z},{1 + 2 * y - z + 3 * y * z}" for y in (0, 0.1, 0.25) for z in (0, 0.4, 1)]
    file = tmp_path / "wind.csv"
    file.write_text("\n".join(["y,z,u", *lines[::-1]]))
    case = Case(**stream(boundaries__x_min={"type": "inflow", "table": str(file)}))
    z = (np.arange(16) + 0.5) / 16
    y = 0.25 / 8
    np.testing.assert_allclose(entering(case, "u"), 1 + 2 * y - z + 3 * y * z, rtol=1e-13)


@pytest.mark.parametrize(("text", "problem"), [
    ("", "the first line is"), ("z, q\n1, 2\n", "the first line is z, q; give each name once"),
    ("z, z, u\n", "each name once"), ("u, v\n1, 2\n", "give a column for one or two of x, y and z"),
    ("y, z\n0, 1\n1, 1\n", "no column u, v, w, T"), ("z, u\n0, 1\n1, one\n",
    "line 3, value 2 is 'one'; give a finite number"),
    ("z, u\n0, 1\n1\n", "line 3: 1 values for 2 names"), ("z, u\n0, nan\n1, 1\n", "give a finite number"),
    ("z, u\n0, 1\n0, 1\n1, 1\n", "1 lines have the position of others"), ("z, u\n0, 1\n", "two or more positions"),
    ("y, z, u\n0, 0, 1\n1, 1, 1\n", "not every pair of values of y and z"),
    ("x, u\n0, 1\n1, 1\n", "x_min has one x; omit the column x"),
    ("z, u, T\n0, 1, 1\n1, 1, 1\n", "it has T, but this case has no temperature"),
])  # fmt: skip
def test_a_table_that_is_none(tmp_path, text, problem):
    file = tmp_path / "wind.csv"
    file.write_text(text)
    with pytest.raises(BadInput, match=f"boundaries.x_min.table = .*{problem}"):
        Case(**stream(boundaries__x_min={"type": "inflow", "table": str(file)}))


def test_a_table_that_ends_too_soon(tmp_path):
    file = tmp_path / "wind.csv"
    file.write_text("z, u\n0.2, 1\n1, 1\n")
    case = Case(**stream(boundaries__x_min={"type": "inflow", "table": str(file)}))
    with pytest.raises(BadInput, match=r"needed at z = 0.03125, the table goes from 0.2 to 1; give lines that cover"):
        RunSetup(case, (1, 1, 1)).system.check()


def test_who_solves_for_the_pressure_is_told():
    assert "between walls)" in described(Case(**stream()))
    released = stream(boundaries__x_max=RELEASED)
    assert described(Case(**released)).endswith("periodic or between walls or sides with p = 0)")
