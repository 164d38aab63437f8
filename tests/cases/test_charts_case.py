"""Cases on charts: what is wrong is told by key, value and remedy, all at once; what is right is written and read back.
"""
# ruff: noqa: E501, SIM117

import tomllib

import numpy as np
import pytest

from taskflow.cases import Case
from taskflow.common.errors import BadInput
from taskflow.runs.state.setup import RunSetup
from tests.cases.on_charts import CYLINDER, LID, TURNED, case

NOT = 'not supported by the model "artificial-compressibility"; omit it, or use the model "projection"'
UNDAMPED = 'walls of body-fitted grids damp no eddy viscosity; give turbulence.damping = "none"'
REAL = {"time": {"steps": 3, "step": 0.1}}


def problems(tables=CYLINDER, **changes):
    """The lines of the message with which a case is refused."""
    with pytest.raises(BadInput) as error:
        case(tables, **changes)
    return str(error.value).splitlines()


@pytest.mark.parametrize("tables", [CYLINDER, LID, TURNED])
def test_a_case_is_read_back_as_it_was_written(tables):
    full = case(tables)
    again = Case(**tomllib.loads(full.to_toml()))
    assert again == full
    assert again.to_toml() == full.to_toml()


@pytest.mark.parametrize(("changes", "line"), [
    # 6: grids and their sides
    ({"grid__foo": 3}, "grid.foo = 3: unknown key; o-grid has cells, periodic, radius, far, first, growth, height"),
    ({"grid__far": 0.25}, "grid.far = 0.25: give more than the radius 0.5"),
    ({"grid__shape": "cgrid"}, 'grid.shape = "cgrid": unknown shape; did you mean c-grid?'),
    ({"grid__shape": "c-grid", "grid__wake": 0.1}, "grid.wake = 0.1: give at least 0.3448, for 5 cells as long as those at the trailing edge, or more cells"),
    ({"grid__shape": "c-grid", "grid__wake": 5, "grid__section": "naca12"},
     'grid.section = "naca12": give "naca" and four digits, as "naca0012", or a file of coordinates with suffix, as'
     ' "wing.dat"'),
    ({"grid__shape": "c-grid", "grid__wake": 5, "grid__section": "9101", "grid__cells": [64, 8, 1]},
     'grid: section = "9101": lines outwards meet, cells turn inside out; give one with less camber, or a grid from a file'),
    ({"grid": {"file": "wing.cgns", "map": "wing.nmf"}},
     'grid.map = "wing.nmf": a CGNS file has its own seams and sides; omit it'),
    ({"grid__scale": 2.0}, "grid.scale = 2.0: it belongs to a file; omit it, or give grid.file"),
    ({"grid__sides": {"bdy": "wing"}}, 'grid.sides.bdy = "wing": unknown side of the grid; did you mean "body"?'),
    # 10: boundaries and sides
    ({"boundaries__ends": None},
     'boundaries.ends: missing; the grid has this side; give it a type, one of "wall", "slip", "symmetry", "inflow",'
     ' "outflow", "far-field"'),
    ({"boundaries__wing": "wall"},
     'boundaries.wing = { type = "wall", velocity = [0.0, 0.0, 0.0] }: unknown side of the grid; it has body, far, ends'),
    ({"boundaries__ends": "periodic"},
     'boundaries.ends = "periodic": periodic sides are seams of the grid; omit it, and give grid.periodic of a'
     " shape, or a map with the seam"),
    ({"boundaries__ends": "wal"}, 'boundaries.ends = "wal": give "wall", "slip", "symmetry", "inflow", "outflow" or'
                                  ' "far-field"; did you mean "wall"?'),
    ({"boundaries__ends": "wall"},
     'boundaries.ends = { type = "wall", velocity = [0.0, 0.0, 0.0] }: chart 1 is one cell thick there; give "symmetry"'
     " for two dimensions, or more cells"),
    ({"boundaries__body": {"type": "wall", "velocity": ["x", "y", 0]}},
     'boundaries.body.velocity = ["x", "y", 0.0]: a wall moves in its own plane only, and this points out of it by 0.494;'
     " give an inflow"),
    ({"boundaries__body": {"type": "wall", "velocity": ["1/x", 0, "log(0-1)"]}},
     'boundaries.body.velocity = ["1/x", 0.0, "log(0-1)"]: '),
    ({"boundaries__body": {"type": "wall", "roughness": 0.1}}, f"boundaries.body.roughness = 0.1: {NOT}"),
    ({"boundaries__body": {"type": "wall", "temperature": 1}},
     "boundaries.body.temperature = 1.0: this case has no temperature; add a [heat] table with diffusivity, or omit it"),
    ({"boundaries__far": {"type": "far-field", "velocity": ["y", 0, 0]}},
     'boundaries.far.velocity = ["y", 0.0, 0.0]: on a side of the type far-field it may not change with the place; give'
     " three numbers"),
    ({"boundaries__far": {"type": "inflow", "velocity": ["t", 0, 0]}},
     'boundaries.far.velocity = ["t", 0.0, 0.0]: a steady run has no time; omit t, or time.steady'),
    ({"boundaries__far": {"type": "inflow", "velocity": ["y", 0, 0], "profile": "parabolic"}},
     'boundaries.far.profile = "parabolic": velocity already varies on the side; give it as three numbers'),
    # 11, 12: tables and keys of others
    ({"turbulence": {"model": "wale"}},
     'turbulence = { model = "wale", constant = 0.5, prandtl = 0.85 }: large eddies are followed in real time; omit it'
     ", or time.steady"),
    ({**REAL, "turbulence": {"model": "smagorinsky"}}, f'turbulence.model = "smagorinsky": {UNDAMPED}'),
    ({**REAL, "turbulence": {"model": "smagorinsky", "damping": "van-driest"}},
     f'turbulence.damping = "van-driest": {UNDAMPED}'),
    ({**REAL, "boundaries__body": {"type": "wall", "roughness": 0.1}, "turbulence": {"model": "wale"}},
     f"boundaries.body.roughness = 0.1: {NOT}"),
    ({"spectra": [{"name": "s", "along": "x"}]},
     'spectra = [{ name = "s", along = "x" }]: it needs a Cartesian grid; omit it'),
    ({"pressure": {"solver": "fft"}},
     'pressure = { solver = "fft" }: the pressure is marched with the velocity, without a separate solver; omit it'),
    ({"fluid__scheme": "quick"},
     f'fluid.scheme = "quick": {NOT} or "two_phase"'),
    ({"body": {"rotation": [0, 0, 1]}}, f"body.rotation = [0.0, 0.0, 1.0]: {NOT}"),
    ({"body": {"force": ["t", 0, 0]}},
     'body.force = ["t", 0.0, 0.0]: a steady run has no time; omit t, or time.steady'),
    # 13, 14, 15
    ({"method__compressibility": 0},
     'method.compressibility = 0: give a number > 0, a velocity squared, "auto", or { local = true }'),
    ({"method__compressibility": {"local": False}},
     'method.compressibility.local = false: give true, or compressibility = "auto", which is the same everywhere'),
    ({"method__compressibility": {"local": True, "factor": 0}}, "method.compressibility.factor = 0: give a number > 0"),
    ({"boundaries__far": "slip", "initial": {}},
     'method.reference_speed = "auto": everything is at rest; give a speed that the flow will reach, a number > 0'),
    ({"boundaries__far": {"type": "inflow", "velocity": ["x", "y", 0]}},
     "boundaries: 154.5 per time leaves through far, and all other sides are closed; give one of them as an outflow with"
     " its pressure, or velocities whose fluxes sum to 0"),
    # 16
    ({"time": {"steps": 3}}, "time.step: missing; give the length of a step, or time.cfl"),
    ({"time": {"step": 0.1}}, "time.end: missing; give the time at which to stop, or time.steps; or time.steady, as 1e-8, for a steady state"),
    ({"time": {"steps": 3, "step": 0.1, "cfl": 2.0}}, "time.cfl = 2.0: step is given as well; give one of them"),
    ({"time__steps": None}, "time.steps: missing; give the largest number of steps"),
    ({"time__end": 1.0}, "time.end = 1.0: time.steady marches to the steady state, without real time; omit one of them"),
    ({"time__steady": {"rate": 1}}, "time.steady = { rate = 1 }: a table is for the projection; give"
                                    " a number, the relative residual"),
    ({"method__inner": {"iterations": 9}}, "method.inner = { tolerance = 0.001, iterations = 9 }: it is for unsteady runs; omit"
                                           " it, or time.steady"),
    ({**REAL, "method__inner": {"iterations": 0}}, "method.inner.iterations = 0: give an integer >= 1"),
    ({**REAL, "method__inner": {"tolerance": 1.5}}, "method.inner.tolerance = 1.5: give a number < 1, the residual over"
                                                    " that at the beginning of the step"),
    ({**REAL, "method__stall": "accept"}, 'method.stall = "accept": it is for steady runs; omit it, or give'
                                          " time.steady"),
    ({"time": {"steps": 3, "step": 0.1, "diffusion": 0.3}}, "time.diffusion = 0.3: method.cfl bounds pseudo-time, and real time has no such"
                                       " bound; omit it"),
    ({"boundaries__body": {"type": "wall", "velocity": ["-y*cos(t)", "x*cos(t)", 0]}},
     'boundaries.body.velocity = ["-y*cos(t)", "x*cos(t)", 0.0]: a steady run has no time; omit t, or time.steady'),
    ({"motion": {"angle": {"z": "t"}}}, 'motion = { angle = { x = 0.0, y = 0.0, z = "t" }, centre = [0.0, 0...: a grid moves'
                                        " in real time; omit it, or time.steady"),
    ({**REAL, "motion": {"angle": {"x": 0.1}}}, "motion.angle.x = 0.1: a grid in two dimensions stays in its plane; omit it"),
    ({**REAL, "motion": {"displacement": ["x", 0, 0]}}, 'motion.displacement = ["x", 0, 0]: \'x\' has x: a rigid motion is an'
                                                        " expression in t alone"),
    ({**REAL, "grid": {"cells": [8, 8, 1], "lengths": [1, 2, 1], "periodic": ["y"]}, "motion": {"angle": {"z": "0.1*t"}},
      "boundaries": {"x_min": "wall", "x_max": "wall", "z_min": "symmetry", "z_max": "symmetry"}},
     'motion.angle.z = "0.1*t": the grid is periodic along (0, 2, 0), which may not turn; turn it about that alone, or'
     " give sides instead"),
    ({**REAL, "motion": {}}, "motion: nothing moves; give angle or displacement, or omit the table"),
    ({**REAL, "motion": {"angle": {"z": "t"}}, "boundaries__body": "symmetry"},
     'boundaries.body = "symmetry": not supported together with motion; give a wall, or omit motion'),
    ({**REAL, "motion": {"angle": {"z": "t"}}, "boundaries__body": {"type": "wall", "velocity": ["-y", "x", 0]}},
     'boundaries.body.velocity = ["-y", "x", 0.0]: not supported together with motion; walls move with the grid; omit'
     " velocity"),
    ({"statistics": {}},
     "statistics = { start = 0.0, every = { steps = 10 }, order = 2, budget ...: averages are over real time; omit"
     " it, or time.steady"),
    ({**REAL, "statistics": {"budget": True}},
     f"statistics.budget = true: {NOT}"),
    ({**REAL, "statistics": {"fields": ["u", "p"]}},
     'statistics.fields = ["u", "p"]: give all of u, v and w, or none of them'),
    ({**REAL, "statistics": {"fields": ["nu_t"]}}, 'statistics.fields = ["nu_t"]: '),
    ({"output__every": 0.5}, "output.every = { time = 0.5 }: a steady run counts steps; give { steps = n }"),
    ({"machine__precision": "single"},
     'time.steady = 1e-08: single precision gets no further than 1e-05; give that, or machine.precision = "double"'),
    # 17 and what else does not go together
    ({"method__march": "euler"},
     'method.march = "euler": unstable with reconstruction = "third"; give "first", flux = "central", or another march'),
    ({"method__march": "lu-sgs"}, 'method.march = "lu-sgs": give "euler", "rk3", "rk4", "rk5" or "implicit"'),
    ({"method__inner": {}}, "method.inner = { tolerance = 0.001 }: it is for unsteady runs; omit it, or time.steady"),
    ({"method__damping": {"type": "jst"}}, 'method.damping = { type = "jst" }: upwind fluxes need none; omit it, or'
                                           ' give flux = "central"'),
    ({"method__pressure_at": [0, 0, 0]},
     "method.pressure_at = [0.0, 0.0, 0.0]: boundaries.far prescribes the pressure; omit it"),
    # 19
    ({"machine__blocks": [1, 1, 2]}, "machine.blocks = [1, 1, 2]: on charts blocks are counted, as pieces of several"
                                     ' charts make one: give an integer, or "auto"'),
    ({"machine__cuts": {"3": [1, 1, 1]}},
     'machine.cuts."3" = [1, 1, 1]: unknown chart; charts have the numbers 1 to 2'),
    # 24
    ({"boundaries__far": "outflow"}, "boundaries.far.pressure: missing; give the pressure there, such as 0"),
])  # fmt: skip
def test_what_is_wrong_is_told_with_its_remedy(changes, line):
    lines = problems(**changes)
    assert len(lines) == 1
    assert lines[0] == line or (line.endswith(": ") and lines[0].startswith(line))


def test_all_that_is_wrong_is_told_at_once():
    lines = problems(
        grid__foo=3, boundaries__far={"type": "outflow"}, time__end=1.0, method__march="lu-sgs",
        planes=[{"name": "a", "side": "body"}], machine__blocks=0,
    )  # fmt: skip
    assert {line.partition(" ")[0] for line in lines} == {
        "grid.foo", "boundaries.far.pressure:", "time.end", "method.march", "planes[1].every:", "machine.blocks",
    }  # fmt: skip


def test_a_pressure_point_lies_in_the_grid():
    lines = problems(LID, method__pressure_at=[0.5, 0.5, 2.0])
    assert lines == ["method.pressure_at = [0.5, 0.5, 2.0]: beyond the grid, which reaches from [0.0, 0.0, 0.0] to [1.0,"
                     " 1.0, 1.0]; give a point in it"]  # fmt: skip


CHARTS = 'not supported by the model "projection"; omit it, or use the model "artificial-compressibility"'


@pytest.mark.parametrize(("changes", "line"), [
    ({"shape": "box"}, f'grid.shape = "box": {CHARTS}'),
    ({"file": "wing.xyz"}, f'grid.file = "wing.xyz": {CHARTS}'),
])  # fmt: skip
def test_a_projection_has_no_charts(changes, line):
    """Nor does it say that those lack the keys of a box."""
    tables = {"fluid": {"viscosity": 1}, "boundaries": dict.fromkeys("xyz", "periodic"), "time": {"steps": 1}}
    box = {"cells": [8, 8, 8], "lengths": [1, 1, 1]}
    for grid in ({**box, **changes}, changes):
        with pytest.raises(BadInput) as error:
            Case(grid=grid, **tables)
        assert str(error.value).splitlines() == [line]
    with pytest.raises(BadInput, match=f'method.march = "rk4": {CHARTS}'):
        Case(grid=box, method={"march": "rk4"}, **tables)


def test_functions_are_not_for_charts():
    assert problems(initial={"velocity": [np.sin, 0, 0]}) == [
        'initial.velocity = ["numpy.sin", 0.0, 0.0]: not supported by the model "artificial-compressibility"; give an'
        " expression in x, y, z"
    ]


def test_two_dimensions_are_a_plane_across_any_axis():
    """The single cell lies along k of a chart, whatever its direction is in the file; cuts are given as in the file."""
    grid = {"shape": "box", "cells": [1, 8, 6], "lengths": [1, 1, 1], "periodic": ["x"]}
    sides = dict.fromkeys(("y_min", "z_min", "z_max"), "wall") | {"y_max": {"type": "wall", "velocity": [0, 0, 1]}}
    made = case(grid=grid, boundaries=sides, initial={}, machine={"blocks": 2, "cuts": {"1": [1, 2, 1]}})
    charts = made.table("grid").grid()
    assert charts.charts[0].cells == (8, 6, 1)
    assert charts.given(0) == (1, 8, 6)
    pieces = RunSetup(made, (1, 1, 2)).partition.pieces
    assert [box.shape for block in pieces for box in block] == [(4, 6, 1), (4, 6, 1)]


def test_blocks_find_pieces():
    """Item 19: no piece is thinner than the layers of ghost cells."""
    from taskflow.runs.state.remedies import as_keys

    setup = RunSetup(case(machine__blocks=100), (1, 1, 100))
    with pytest.raises(BadInput, match=r"machine.blocks = 100: 2 charts make pieces for \d+ blocks at most; use 1 to"):
        with as_keys():
            _ = setup.partition


def test_scalars_are_given_on_sides_by_their_names():
    faces = {"bdy": {"value": 1}, "body": {"flux": 1}, "ends": {"value": 1}, "far": {"flux": 2}}
    assert problems(scalars=[{"name": "dye", "diffusivity": 0, "boundaries": faces, "source": 1}]) == [
        'scalars[1].boundaries.bdy = { value = 1.0 }: unknown side of the grid; did you mean "body"?',
        "scalars[1].boundaries.body.flux = 1.0: nothing diffuses without diffusivity; give one",
        "scalars[1].boundaries.ends = { value = 1.0 }: a side of type symmetry takes no scalar; omit it",
        "scalars[1].boundaries.far.flux = 2.0: a flux is given on walls; give the value that enters",
        f'scalars[1].source = 1.0: {NOT} or "two_phase"',
    ]
    assert problems(scalars=[{"name": "dye", "diffusivity": 1, "boundaries": {"body": {"value": "t"}, "far": {}}}]) == [
        "scalars[1].boundaries.far.value: missing; give a value, or a flux",
        'scalars[1].boundaries.body.value = "t": not supported by the model "artificial-compressibility"; give'
        " a constant",
    ]
    full = case(scalars=[{"name": "dye", "diffusivity": 0.1, "initial": "x", "boundaries": {"body": {"flux": 1}}}])
    assert Case(**tomllib.loads(full.to_toml())) == full
    assert set(full.written()["scalars"][0]) == {"name", "diffusivity", "initial", "boundaries"}, "what is read here"
    assert set(full.written()["fluid"]) == {"viscosity"}
    sides = {side.name: side.scalars["dye"] for side in RunSetup(full, (1, 1, 1)).model.sides}
    assert (sides["body"].flux, sides["body"].warm, sides["far"].warm) == (1.0, False, True)


def test_tables_of_a_list_keep_their_numbers():
    """Where one of them is wrong, what others and they say against each other waits."""
    scalars = [{"diffusivity": 0.1}, {"name": "dye", "diffusivity": 0.1, "boundaries": {"bdy": {"value": 1}}}]
    assert problems(scalars=scalars) == ["scalars[1].name: missing; give the name of its field"]
    assert problems(scalars=[{"nam": "dye", "diffusivity": 0.1}]) == [
        'scalars[1].nam = "dye": unknown key; did you mean name?'
    ]


def test_formulas_are_tried_on_every_chart():
    """Item 21: a value that is no number, on some chart alone."""
    setup = RunSetup(case(initial={"velocity": ["where(y < 0 - 4, log(0 - 1), 1)", 0, 0]}), (1, 1, 1))
    message = r"initial.velocity: on chart \d the expression .* is not finite at x = "
    with pytest.raises(BadInput, match=message):
        assert setup.system.speed
    with pytest.raises(BadInput, match=message):
        setup.system.check()


def test_formulas_may_be_infinite_at_a_vertex():
    """No value lies there: a vortex around the corner of a cell is a start."""
    setup = RunSetup(case(initial={"velocity": ["0.1/((x - 0.5)**2 + y**2)", 0, 0]}), (1, 1, 1))
    setup.system.check()
    assert 1.0 < setup.system.speed < 10.0


def test_a_formula_of_a_side_is_refused_by_its_key():
    blown = {"type": "inflow", "velocity": ["log(x - 100)", 0, 0]}
    with pytest.raises(BadInput, match=r"boundaries.body.velocity: the expression .* is not finite"):
        assert RunSetup(case(boundaries__body=blown), (1, 1, 1)).system.speed


def test_what_the_case_says_reaches_the_model():
    setup = RunSetup(case(LID), (1, 1, 1))
    model = setup.model
    assert model.spacing == pytest.approx((0.1, 0.125, 1 / 6))
    assert (model.method.local, model.method.global_steps, model.method.courant) == (True, True, 0.4)
    assert setup.system.speed == pytest.approx(np.sqrt(1.0), rel=1e-2)  # root(1 * 1 * 1 * 1); the lid is slower
    assert [side.name for side in model.sides if side.varying] == ["z_max"]
    assert model.sides[0].condition.warm == (model.sides[0].name == "x_min")
    assert "smaller method.cfl (now 0.4) or method.reference_speed, or another march" in setup.system.remedy
    assert not RunSetup(case(TURNED), (1, 1, 1)).model.spacing
    assert RunSetup(case(), (1, 1, 1)).model.planar


def test_what_helps_a_creeping_flow():
    """b is told that makes sound as fast as friction in the thinnest cells, where the present one is far below."""
    assert not RunSetup(case(), (1, 1, 1)).system.steady_criterion.creeping
    creeping = RunSetup(case(LID, fluid__viscosity=50.0), (1, 1, 1)).system.steady_criterion.creeping
    assert creeping.endswith("give a larger method.compressibility (now 1), up to 2.5e+05")  # (50 / 0.1)^2
    channel = {"cells": [8, 8, 1], "lengths": [1.0, 1.0, 0.1], "stretching": [0.0, 5.0, 0.0]}
    ends = {"x_min": {"type": "inflow", "velocity": [1, 0, 0]}, "x_max": {"type": "outflow", "pressure": 0}}
    sides = {**ends, **dict.fromkeys(("y_min", "y_max"), "wall"), **dict.fromkeys(("z_min", "z_max"), "symmetry")}
    for viscosity, equations in ((0.1, {"continuity"}), (50.0, {"continuity", "momentum_x"}), (1e-4, set())):
        of = case(grid=channel, boundaries=sides, initial={}, fluid__viscosity=viscosity, method__march="implicit")
        settled = RunSetup(of, (1, 1, 1)).system.steady_criterion
        assert {name for name in ("continuity", "momentum_x") if settled.advice(name)} == equations


@pytest.mark.parametrize(("tables", "changes", "words"), [
    (CYLINDER, {"method__cfl": 9.0}, ("9: it is stable up to 2.28 in cells 1.35 thick", "give less, or omit it, which is 1.5")),
    (CYLINDER, {"method__cfl": {"start": 9.0}, "method__march": "implicit"}, None),
    (CYLINDER, {"method__cfl": 2.5, "method__march": "rk5"}, None), (LID, {}, None),
    (LID, {"fluid__viscosity": 2e-4, "heat__diffusivity": 2e-4}, ("0.4 by default: it is stable", "give less, or another method.march")),
])  # fmt: skip
def test_steps_of_pseudo_time_that_are_too_long_are_told_of(tables, changes, words):
    told = RunSetup(case(tables, **changes), (1, 1, 1)).system.warnings
    assert len(told) == (words is not None)
    for line in told:
        assert line.startswith(f"method.cfl = {words[0]}")
        assert line.endswith(words[1])
