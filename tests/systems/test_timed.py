"""Numbers of a case that change in time: read, refused, the same as numbers where they are constant, gone on with."""

import pickle

import numpy as np
import pytest

import taskflow as tf
from taskflow.cases import Case
from taskflow.cases.formulas.expression import Expression
from taskflow.cases.tables.timed import TimeFunction, TimeTable, at_time
from taskflow.common.errors import BadInput
from taskflow.flow.grid import StaggeredGrid
from taskflow.runs.estimate.estimate import estimate
from taskflow.runs.interactive.setting import settings
from taskflow.runs.state.setup import RunSetup
from taskflow.systems.base.timed import largest, times
from taskflow.systems.initial.side_profiles import largest_on_wall
from tests.cases import two_phases
from tests.flows import compute
from tests.runs.going_on import assert_same_run, go

FIELDS = ("u", "v", "w", "T", "dye", "smoke")


def moved(lid, side, hot, flux, outside, dye, smoke, force, rate, spin, **changes) -> Case:
    """A warm fluid with two scalars, driven in all ways that may change in time."""
    tables = {
        "grid": {"cells": [6, 5, 7], "lengths": [1.0, 0.7, 1.3]},
        "fluid": {"viscosity": 0.02},
        "heat": {"diffusivity": 0.03, "expansion": 1.0, "sources": [{"point": [0.4, 0.3, 0.5], "rate": rate}]},
        "scalars": [
            {"name": "dye", "diffusivity": 0.01, "initial": "x", "scheme": "central",
             "boundaries": {"z_min": {"value": dye}}},
            {"name": "smoke", "diffusivity": 0.01, "initial": "z", "boundaries": {"z_max": {"flux": smoke}},
             "sources": [{"box": [[0.1, 0.1, 0.1], [0.5, 0.5, 0.7]], "rate": rate}]},
        ],
        "body": {"gravity": [0, 0, -1.0], "force": [0.1, force, force], "rotation": [0.2, spin, spin]},
        "boundaries": {
            "x_min": {"type": "wall", "velocity": [0.0, side, 0.3], "temperature": hot},
            "x_max": {"type": "wall", "heat_flux": flux},
            "y": "periodic",
            "z_min": {"type": "wall", "heat_transfer": 0.2, "outside_temperature": outside},
            "z_max": {"type": "wall", "velocity": [lid, 0.2, 0.0], "temperature": 0.0},
        },
        "initial": {"velocity": ["sin(6*x) * cos(z)", 0.0, "x * z"], "temperature": "x"},
        "time": {"steps": 6, "step": 0.01},
        "pressure": {"solver": "jacobi", "iterations": 8},
        "output": {"precision": "double", "every": {"steps": 3}},
        "checkpoint": {"every": {"steps": 3}},
        "machine": {"device": "cpu", "threads": 1},
    }
    for path, value in changes.items():
        table, _, key = path.partition("__")
        tables[table] = {**tables.get(table, {}), key: value} if key else value
    return Case(**tables)


NUMBERS = {"lid": 0.7, "side": -0.4, "hot": 1.1, "flux": 0.05, "outside": 0.6, "dye": 0.9, "smoke": 0.02, "force": 0.3,
           "rate": 0.04, "spin": 0.3}  # fmt: skip
MOVING = {name: f"{value} + 0.5*sin(40*t)" for name, value in NUMBERS.items()}


def same_text(value: float) -> str:
    return f"{value} + 0*t"


@pytest.mark.parametrize("scheme", ["ab2", pytest.param("rk3", marks=pytest.mark.slow)])
def test_expressions_that_are_constant_are_numbers(scheme):
    """Ghost values of walls with a velocity or temperature to the bit; fluxes and forces round otherwise."""
    expected = compute(moved(**NUMBERS, time__scheme=scheme))
    some = {name: same_text(NUMBERS[name]) for name in ("lid", "side", "hot", "dye")}
    result = compute(moved(**{**NUMBERS, **some}, time__scheme=scheme))
    for name in FIELDS:
        np.testing.assert_array_equal(result[name], expected[name], err_msg=name)
    result = compute(moved(**{name: same_text(value) for name, value in NUMBERS.items()}, time__scheme=scheme))
    for name in FIELDS:
        np.testing.assert_allclose(result[name], expected[name], rtol=1e-12, atol=1e-14, err_msg=name)


PLACED = {"lid": "sin(6*x)*cos(40*t) + y", "hot": "z + t*y", "side": "0.3*z"}


@pytest.mark.slow
@pytest.mark.parametrize("walls", [{}, PLACED], ids=["even", "placed"])
@pytest.mark.parametrize("scheme", ["ab2", "rk3"])
@pytest.mark.parametrize("blocks", [(2, 1, 1), (2, 2, 3)])
def test_blocks_change_nothing(scheme, blocks, walls):
    case = moved(**{**MOVING, **walls}, time__scheme=scheme)
    expected, result = compute(case), compute(case, blocks)
    for name in FIELDS[:5]:  # koren's blocks are two cells wide
        np.testing.assert_array_equal(result[name], expected[name], err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize("walls", [{}, PLACED, {"lid": "x", "hot": "z"}], ids=["even", "placed", "still"])
@pytest.mark.parametrize("scheme", ["ab2", "rk3"])
def test_a_run_that_is_resumed_goes_on_to_the_bit(tmp_path, scheme, walls):
    case = moved(**{**MOVING, **walls}, time__scheme=scheme)
    go(case, tmp_path / "whole")
    go(case, tmp_path / "run", kill=5)
    go(case, tmp_path / "run", resume=True)
    assert_same_run(tmp_path / "run", tmp_path / "whole")


def test_tables_and_functions_are_values_of_the_time(tmp_path):
    (tmp_path / "lid.csv").write_text("# by hand\ntime, speed\n0, 0\n0.03, 3.0\n0.06, 1.5\n")
    table = moved(**{**NUMBERS, "lid": str(tmp_path / "lid.csv")})
    assert isinstance(table.boundaries.z_max.velocity[0], TimeTable)
    at = np.array([at_time(table.boundaries.z_max.velocity[0], t) for t in (0.0, 0.015, 0.045)])
    np.testing.assert_allclose(at, [0.0, 1.5, 2.25])
    scale = 100.0
    function = moved(**{**NUMBERS, "lid": lambda t: scale * min(t, 0.03) - 50 * max(t - 0.03, 0.0)})
    for case in (table, function):
        assert Case(**case.model_dump()) == case
    result, expected = compute(function), compute(table)
    np.testing.assert_allclose(result["u"], expected["u"], atol=1e-13)
    travelled = pickle.loads(pickle.dumps(TimeFunction(lambda t: scale * t)))
    assert travelled.at(0.5) == 50.0
    text = table.to_toml().replace(str(tmp_path / "lid.csv"), "lid.csv")
    (tmp_path / "case.toml").write_text(text)
    assert Case.load(tmp_path / "case.toml").boundaries == table.boundaries


def test_the_largest_value_on_a_wall_is_that_of_its_cells_with_its_sign():
    """Short waves are not missed, and a cold wall is cold."""
    case = moved(**{**NUMBERS, "lid": "2*sin(16*pi*x)"})
    grid = StaggeredGrid((32, 4, 4), (1.0, 0.7, 1.3))
    waves = case.boundaries.sides["z_max"].velocity[0]
    assert abs(largest_on_wall("velocity", waves, case, grid, "z_max")) == pytest.approx(2)
    assert largest_on_wall("temperature", Expression("-1 - 0*x"), case, grid, "z_min") == -1


def test_without_an_end_numbers_count_up_to_a_time_that_no_step_passes():
    """A rotation that grows was taken for that at time 1e6, which made steps a million times too short."""
    case = moved(**{**NUMBERS, "spin": "0.3 + t", "hot": "1 + t"}, time={"steps": 6, "cfl": 0.5})
    latest = times(case)[-1]
    assert latest == pytest.approx(6 * 0.2 / 0.03 / (6**2 + (5 / 0.7) ** 2 + (7 / 1.3) ** 2))
    assert largest(case.body.rotation[1], case) == pytest.approx(0.3 + latest)
    assert times(moved(**NUMBERS, time={"steps": 6, "cfl": 0.5}, output={"every": 0.01}))[-1] == pytest.approx(0.06)


@pytest.mark.parametrize(("changes", "message"), [
    ({"lid": "log(x - 0.2)*t"}, "z_max.*velocity: the expression .* is not finite"),
    ({"hot": "1/z"}, "x_min.temperature: the expression .* is not finite"),
    ({"flux": "y"}, "x_max.heat_flux = .*the same everywhere, in this version"),
    ({"lid": "sin(q)"}, "there is no q"),
    ({"dye": "nowhere.csv"}, r"scalars\[1\].boundaries.z_min.value = .*nowhere.csv"),
    ({"force": "1/t"}, r"body.force\[2\]: '1/t' is not finite at time 0"),
    ({"hot": lambda t: "warm"}, "x_min.temperature: the .* no number at time 0: it returned 'warm'; return"),
    ({"boundaries__z_max": {"type": "wall", "velocity": [0.0, 0.0, "t"], "temperature": 0.0}}, "in its own plane only"),
    ({"time__steps": 6, "lid": "SHORT"}, "short.csv: a value is needed at time 0.0"),
    ({"lid": "BROKEN"}, "broken.csv: line 2 is '1,fast'"),
    ({"lid": "GAP"}, "gap.csv: line 3 is ',3'"),
    ({"turbulence": {"model": "smagorinsky"}, "lid": "t"},
     r'turbulence.model = .*not supported together with boundaries.z_max.velocity.*; give turbulence.damping = "none"'),
    ({"turbulence": {"model": "wale"}, "lid": "x"}, r"z_max.velocity = .*not supported together with turbulence"),
    ({"turbulence": {"model": "wale"}, "smoke": "t"}, r"z_max.flux = .* not supported together with turbulence"),
    ({"body": {"rotation": [0, 0, "t"], "geostrophic_wind": [1, 0, 0]}},
     "body.geostrophic_wind = .*not supported together with body.rotation = "),
    ({"rate": "x*t"}, "rate = .*the same everywhere, in this version"),
    ({"spin": "log(t)"}, r"body.rotation\[2\]: 'log\(t\)' is not finite at time 0"),
    ({"body__bulk_velocity": {"y": 1.0}, "force": "t"}, "give 0 for body.force along y"),
])  # fmt: skip
def test_bad_input_is_told(tmp_path, changes, message):
    (tmp_path / "short.csv").write_text("0,1\n0.01,2\n")
    (tmp_path / "broken.csv").write_text("0,1\n1,fast\n")
    (tmp_path / "gap.csv").write_text("0,1\n\n,3\n2,5\n")
    files = {name.upper(): str(tmp_path / f"{name}.csv") for name in ("short", "broken", "gap")}
    changes = {key: files.get(value, value) if isinstance(value, str) else value for key, value in changes.items()}
    with pytest.raises(BadInput, match=message):
        RunSetup(moved(**{**NUMBERS, **changes}), (1, 1, 1)).system.check()


@pytest.mark.slow
def test_inflows_have_tables_and_functions(tmp_path):
    """As expressions have it; functions travel to other processes by value."""
    (tmp_path / "in.csv").write_text("0,0.5\n1,1.5\n")
    offset = 0.5

    def made(speed, across):
        enters = {"type": "inflow", "velocity": [speed, 0.0, 0.0], "temperature": across}
        sides = {"x_min": enters, "x_max": "outflow", "y": "periodic", "z_min": "wall", "z_max": "wall"}
        return moved(**NUMBERS, boundaries=sides, scalars=[], body={})

    expected = compute(made("0.5 + t", "z + t"))
    function = made(str(tmp_path / "in.csv"), lambda x, y, z, t: z + t)
    for case in (function, made(lambda x, y, z, t: offset + t, "z + t")):
        result = compute(case)
        for name in ("u", "w", "T"):
            np.testing.assert_allclose(result[name], expected[name], rtol=1e-12, atol=1e-13, err_msg=name)
    run = tf.run(function.replace(**{"machine.blocks": [2, 1, 1]}), output=tmp_path / "run")
    np.testing.assert_allclose(run.dataset()["T"][-1], expected["T"], rtol=1e-9, atol=1e-9)


@pytest.mark.slow
def test_fields_on_walls_that_are_constant_are_numbers():
    """But for rounding in corners, where what lies beyond two walls is of no account."""
    expected = compute(moved(**NUMBERS))
    some = {name: f"{NUMBERS[name]} + 0*x*y*z" for name in ("lid", "side", "hot")}
    result = compute(moved(**{**NUMBERS, **some}))
    for name in FIELDS:
        np.testing.assert_allclose(result[name], expected[name], rtol=1e-12, atol=1e-14, err_msg=name)


def test_two_phases_have_no_fields_on_walls():
    with pytest.raises(BadInput, match=r"z_max.velocity = .*not supported .*\"two_phase\"; give expressions of t"):
        two_phases.case(boundaries={"z_max": {"type": "wall", "velocity": [0.0, "x", 0.0]}})


@pytest.mark.slow
def test_two_phases_have_walls_that_move_in_time():

    def ended(speed):
        return compute(two_phases.case(boundaries={"z_max": {"type": "wall", "velocity": [0.0, speed, 0.0]}}))

    for name in ("u", "v", "w", "f"):
        np.testing.assert_array_equal(ended("0.3 + 0*t")[name], ended(0.3)[name])


@pytest.mark.slow
def test_values_are_set_between_steps(tmp_path):
    """What is set is there from the next step on, and when the run is resumed, to the bit."""
    case = moved(**{**NUMBERS, "lid": "sin(40*t)", "hot": "1 + t"})

    def begun(name, stop=None):
        with tf.Simulation(case, output=tmp_path / name) as simulation:
            simulation.step(3)
            simulation.set("boundaries.x_min.temperature", "2 - t")
            simulation.set("boundaries.z_max.velocity", [0.25, 0.2, 0.0])
            simulation.run(steps=stop)
            for key, value, message in () if stop is None else REFUSED:
                with pytest.raises(BadInput, match=message):
                    simulation.set(key, value)
        return tf.Run.open(tmp_path / name)

    whole = begun("whole")
    begun("part", stop=1)
    resumed = tf.run(case, output=tmp_path / "part", resume=True)
    plain = compute(case)
    for name in ("u", "T"):
        result, expected = (run.dataset()[name].isel(time=-1).values for run in (resumed, whole))
        np.testing.assert_array_equal(result, expected)
        assert abs(result[tuple(slice(n) for n in plain[name].shape)] - plain[name]).max() > 1e-3


def test_components_that_are_constant_stay_what_they_are():
    case = moved(**{**NUMBERS, "force": "sin(t)"})
    known = RunSetup(case, (1, 1, 1)).system.timed.keys
    with pytest.raises(BadInput, match=r"component 1 does not change in time; give 0.1 for it"):
        settings("body.force", [0.0, "2*t", 0.5], case, known, 0.0)
    assert settings("body.force", [0.1, 1.0, 0.5], case, known, 0.0) == {"body.force[2]": 1.0, "body.force[3]": 0.5}


@pytest.mark.parametrize(("function", "error"), [(lambda t: 1 / t, "ZeroDivisionError"), (lambda: 1.0, "TypeError")])
def test_functions_that_fail_are_told_of(function, error):
    with pytest.raises(BadInput, match=f"the function .* failed at time 0 with {error}"):
        RunSetup(moved(**{**NUMBERS, "force": function}), (1, 1, 1)).system.check()
    with pytest.raises(BadInput, match=r"failed at time 0 with TypeError.*it takes x, y, z and the time"):
        TimeFunction(function)(np.zeros(3), 0.0, 0.0)


@pytest.mark.slow
def test_steps_with_numbers_of_the_time_are_proved():
    proof = estimate(moved(**MOVING, machine__blocks=[1, 1, 2])).prove()
    proof.hold()
    assert proof.templates > 0


REFUSED = [
    ("boundaries.z_max.velocity", [1.0, 0.0, 5.0], "component 3 does not change in time"),
    ("boundaries.z_max.velocity", 1.0, "give three values"),
    ("boundaries.x_max.heat_flux", 1.0, "it does not change in time in this case; .*these do: boundaries"),
    ("boundaries.x_min.temperature", "log(0*t)", "not finite"),
    ("boundaries.x_min.temperature", lambda t: 1.0 if t < 0.05 else "warm", "no number at time .*returned 'warm'"),
    ("boundaries.x_min", {"temperature": 1.0, "type": "slip"}, r"x_min.type.*does not change in time in this case"),
]


def test_functions_and_tables_are_set_and_resumed(tmp_path):
    """A checkpoint has the content of a table, and the name of a function: the case that is resumed has it."""
    (tmp_path / "hot.csv").write_text("0, 1\n1, 2\n")
    entering = {"type": "inflow", "velocity": ["1 + 0*t", 0.0, 0.0], "temperature": "0*t"}
    sides = {"x_min": entering, "x_max": "outflow", "y": "periodic", "z_min": "wall", "z_max": "wall"}
    case = moved(**NUMBERS, boundaries=sides, scalars=[], body={"force": [0.0, "0*t", 0.0]})

    def begun(name, stop=None):
        with tf.Simulation(case, output=tmp_path / name) as simulation:
            simulation.step(3)
            hot = str(tmp_path / "hot.csv")
            simulation.set("boundaries.x_min", {"velocity": [pulse, 0.0, 0.0], "temperature": hot})
            simulation.set("body.force[2]", push)
            simulation.run(steps=stop)
        return tf.Run.open(tmp_path / name)

    whole = begun("whole")
    begun("part", stop=1)
    (tmp_path / "hot.csv").write_text("0, 5\n1, 5\n")
    with pytest.raises(BadInput, match=r"x_min.velocity\[1\] was set to the function .*pulse, .*case.replace"):
        tf.run(case, output=tmp_path / "part", resume=True)
    entering["velocity"] = [pulse, 0.0, 0.0]
    again = case.replace(boundaries={**sides, "x_min": entering}, body={"force": [0.0, push, 0.0]})
    resumed = tf.run(again, output=tmp_path / "part", resume=True)
    for name in ("u", "v", "T"):
        result, expected = (run.dataset()[name].isel(time=-1).values for run in (resumed, whole))
        np.testing.assert_array_equal(result, expected)
    assert abs(whole.dataset()["u"].isel(time=-1).values[..., 0] - 1).max() > 0.1


def pulse(x, y, z, t):
    return 1 + 10 * t + 0 * z


def push(t):
    return 10 * t
