"""[[forcing]]: what is refused, what is said of it before a run, and runs that go on from a checkpoint."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import taskflow as tf
from taskflow.common.errors import BadInput
from taskflow.common.rows import Row
from taskflow.runs.estimate.estimate import estimate
from taskflow.runs.state.setup import RunSetup
from taskflow.systems.base.expressions import initial_forces
from tests.flows import compute

EXAMPLES = Path(__file__).parents[2] / "examples"


def case(*forcing: dict, **tables) -> tf.Case:
    return tf.Case(**{
        "grid": {"cells": [8, 4, 6], "lengths": [2, 1, 1]}, "fluid": {"viscosity": 0.01},
        "boundaries": {"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "slip"},
        "time": {"steps": 6, "step": 0.02}, "scalars": [{"name": "dust", "diffusivity": 0.01}],
        "forcing": list(forcing), **tables,
    })  # fmt: skip


WARM = {"heat": {"diffusivity": 0.01}, "initial": {"temperature": "z"}}


@pytest.mark.parametrize(("force", "words"), [
    ({"on": "q", "expression": "1"}, 'forcing[1].on = "q": it acts on u, v, w, dust; give one of these'),
    ({"on": "p", "expression": "1"}, 'forcing[1].on = "p"'),
    ({"on": "T", "expression": "1"}, "T needs a [heat] table"),
    ({"on": 3, "expression": "1"}, "forcing[1].on = 3"),
    ({"on": "u"}, "forcing[1].expression: missing; give an expression"),
    ({"expression": "u"}, "forcing[1].on: missing; give the quantity it acts on"),
    ({"on": "u", "expression": "-q"}, "there is no q; known are x, y, z, t, u, v, w, dust, pi"),
    ({"on": "u", "expression": "T"}, "there is no T"),
    ({"on": "u", "expression": "dusty"}, "there is no dusty; did you mean dust?"),
    ({"on": "u", "expression": "gamma(u)"}, "there is no function gamma"),
    ({"on": "u", "expression": "sin(u, v)"}, "sin takes 1 argument"),
    ({"on": "u", "expression": "u; return"}, "is not an expression"),
    ({"on": "u", "expression": "__import__('os')"}, "is not allowed"),
    ({"on": "u", "expression": 0.5}, 'forcing[1].expression = 0.5: give an expression in quotes'),
    ({"on": "u", "expression": "u", "where": "z >"}, "forcing[1].where"),
    ({"on": "u", "expression": "u", "where": "1, 2) + (3"}, "forcing[1].where"),
    ({"on": "u", "expression": "u", "box": [[0, 0, 0], [1, 1, 1.5]]}, "beyond the domain"),
    ({"on": "w", "expression": "u", "box": [[0, 0, 0.52], [1, 1, 0.6]]}, "no face across z, where w is stored"),
    ({"on": "dust", "expression": "u", "box": [[0.3, 0, 0], [0.32, 1, 1]]}, "no centre of a cell, where dust is"),
    ({"on": "u", "expression": "u", "box": [[0, 0, 0]]}, "give the lowest and the highest corner"),
    ({"on": "u", "expression": "u", "rate": 1}, "forcing[1].rate"),
])  # fmt: skip
def test_what_is_wrong_is_told_with_its_key(force, words):
    with pytest.raises(BadInput) as caught:
        case(force)
    assert words in str(caught.value)
    assert str(caught.value).startswith("forcing[1]")


def test_a_scalar_with_the_name_of_a_coordinate_is_in_no_expression():
    scalars = [{"name": "e", "diffusivity": 0.01}]
    case({"on": "e", "expression": "-u"}, scalars=scalars)
    with pytest.raises(BadInput, match="e is a field here, and a coordinate, a constant or a function"):
        case({"on": "e", "expression": "-e"}, scalars=scalars)


def test_a_budget_has_no_term_for_forces():
    case({"on": "dust", "expression": "1"}, statistics={"budget": True})
    with pytest.raises(BadInput, match=r"budget = true: not supported together with forcing\[1\].on = "):
        case({"on": "v", "expression": "-v"}, statistics={"budget": True})
    with pytest.raises(BadInput, match=r"budget = true: not supported together with body\.force = "):
        case(statistics={"budget": True}, body={"force": ["sin(t)", 0, 0]})


def test_another_model_does_not_read_it():
    waves = tf.Case.load(EXAMPLES / "capillary_wave.toml")
    told = r'^forcing = .*: not supported by the model "two_phase"; omit it, or use the model "projection"$'
    with pytest.raises(BadInput, match=told):
        waves.replace(forcing=[{"on": "u", "expression": "1"}])


@pytest.mark.parametrize(("expression", "where"), [
    ("1/u", "x = 0, y = 0.125, z = "), ("log(dust)", "at time 0"), ("1/(t - 0.06)", "at time 0.06"),
    ("exp(1000*x)", "x = "),
])  # fmt: skip
def test_what_is_not_finite_at_the_start_is_refused(expression, where):
    sim = RunSetup(case({"on": "u", "expression": expression}), (1, 1, 1))
    with pytest.raises(BadInput) as caught:
        sim.system.check()
    assert str(caught.value).startswith(f'forcing[1].expression = "{expression}": at time ')
    assert "is not finite at " in str(caught.value)
    assert where in str(caught.value)


def test_nothing_is_said_of_fields_of_another_run(tmp_path):
    """They are not 0, as those are that no case gives."""
    force = {"on": "u", "expression": "-100*(u - 1)/u"}
    system = RunSetup(case(force, initial={"source": str(tmp_path)}), (1, 1, 1)).system
    assert system.warnings == ()
    for item in initial_forces(system.sim.case, system.sim.grid):
        item.check()


def test_an_initial_field_that_is_not_finite_is_named_before_a_force_that_reads_it():
    initial = {"velocity": ["sqrt(x - 1)", 0.0, 0.0]}
    with pytest.raises(BadInput, match=r"^initial.velocity: the expression 'sqrt\(x - 1\)' is not finite at x = 0"):
        RunSetup(case({"on": "w", "expression": "u"}, initial=initial), (1, 1, 1)).system.check()


def test_a_condition_keeps_away_from_what_is_not_finite():
    RunSetup(case({"on": "w", "expression": "1/(z - 0.5)", "where": "z != 0.5"}), (1, 1, 1)).system.check()
    RunSetup(case({"on": "w", "expression": "1/z"}), (1, 1, 1)).system.check()  # no force acts on the wall


@pytest.mark.parametrize(("rate", "scheme", "told"), [
    (40, "ab2", False), (60, "ab2", True), (100, "rk3", False), (150, "rk3", True),
])  # fmt: skip
def test_a_relaxation_that_steps_cannot_follow_is_told(rate, scheme, told):
    time = {"steps": 6, "step": 0.02, "scheme": scheme}
    force = {"on": "u", "expression": f"-{rate}*(u - 1) + sin(v)"}
    cautions = RunSetup(case(force, time=time), (1, 1, 1)).system.warnings
    assert bool(cautions) == told
    if told:
        assert cautions[0].startswith(f'forcing[1].expression = "{force["expression"]}"')
        assert f"relaxes u at a rate of {rate}, and steps of 0.02 are stable up to" in cautions[0]


@pytest.mark.parametrize(("time", "words"), [
    ({"end": 2.0}, "cannot follow; give a time.step of at most 0.025"), ({"end": 2.0, "step": 0.02}, None),
])  # fmt: skip
def test_a_growth_that_steps_cannot_follow_is_told(time, words):
    """Nothing else bounds the steps of a fluid that hardly moves."""
    force = {"on": "u", "expression": "20*(u - 3*abs(u)*u)"}
    made = case(force, initial={"velocity": ["1e-6*sin(2*pi*z)", 0, 0]}, time=time, fluid={"viscosity": 1e-9})
    cautions = RunSetup(made, (1, 1, 1)).system.warnings
    assert len(cautions) == (words is not None)
    if words:
        assert cautions[0].endswith(words)
        assert "at the start it makes u grow at a rate of 20" in cautions[0]


@pytest.mark.parametrize(("rates", "scheme", "words"), [
    (("40*v", "-40*u"), "ab2", "they turn u, v at a rate of 40, and steps of 0.02 are stable up to 25"),
    (("20*v", "-20*u"), "ab2", None),
    (("80*v", "-80*u"), "rk3", None),
    (("90*v", "-90*u"), "rk3", "they turn u, v at a rate of 90, and steps of 0.02 are stable up to 86.5"),
    (("30*v", "30*u"), "ab2", "they make u, v grow at a rate of 30, which steps of 0.02 cannot follow"),
    (("-30*(u - v)", "30*(u - v)"), "ab2", "they relax u, v at a rate of 60, and steps of 0.02 are stable up to 50"),
    (("30*v", "0.1*u"), "ab2", None),
])  # fmt: skip
def test_forces_on_each_other_are_judged_together(rates, scheme, words):
    """A rotation, a growth and an exchange, which no force has alone."""
    forces = [{"on": name, "expression": rate} for name, rate in zip("uv", rates, strict=True)]
    cautions = RunSetup(case(*forces, time={"steps": 6, "step": 0.02, "scheme": scheme}), (1, 1, 1)).system.warnings
    assert len(cautions) == (words is not None), cautions
    if words:
        assert cautions[0].startswith(f"forcing, all expressions together: at the start {words}")


def test_forces_on_one_field_add_up_where_both_act():
    halves = [{"on": "u", "expression": "-30*u", "box": [[low, 0, 0], [low + 0.9, 1, 1]]} for low in (0, 1)]
    whole = {"on": "u", "expression": "-30*(u - 1)"}
    assert RunSetup(case(*halves), (1, 1, 1)).system.warnings == ()
    assert "they relax u at a rate of 60" in RunSetup(case(halves[1], whole), (1, 1, 1)).system.warnings[0]


@pytest.mark.parametrize(("rate", "grows"), [(10, False), (40, True)])
def test_a_rotation_grows_that_steps_cannot_follow(rate, grows):
    """The flow that the warning is about: 40 steps of 0.02 with `ab2`."""
    forces = [{"on": "u", "expression": f"{rate}*v"}, {"on": "v", "expression": f"-{rate}*u"}]
    made = case(*forces, initial={"velocity": [1.0, 0.0, 0.0]}, time={"steps": 40, "step": 0.02},
                boundaries={"x": "periodic", "y": "periodic", "z_min": "slip", "z_max": "slip"})  # fmt: skip
    flow = compute(made)
    speed = np.hypot(flow["u"].mean(), flow["v"].mean())
    assert speed > 1000 if grows else speed < 1.1


def test_check_says_it():
    force = {"on": "T", "expression": "-80*(T - z)", "where": "z > 0.5", "box": [[0, 0, 0], [1, 1, 1]]}
    sim = RunSetup(case(force, **WARM), (1, 1, 1))
    words = "T: -80*(T - z) in the box [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]] where z > 0.5"
    assert Row("forcing", words) in [*sim.system.rows(sim.step_cost)]
    for words in ("relaxes T at a rate of 80", "'T - z' is of unlike things, temperature and length"):
        assert any(words in warning for warning in sim.system.warnings)


def test_a_model_with_forces_goes_to_other_processes():
    sim = RunSetup(case({"on": "u", "expression": "-t*u*dust"}), (1, 1, 1))
    again = pickle.loads(pickle.dumps(sim.spec)).model
    assert again.forces == sim.model.forces
    assert again.stage_times(1.0, 0.5) == {"begins": 1.0, "ends": 1.5}


@pytest.mark.slow
def test_a_run_goes_on_to_the_bit_and_is_not_taken_for_one_that_diverges(tmp_path):
    """A fluid at rest that a force sets in motion later on, which nothing in its initial fields explains."""
    forcing = [
        {"on": "dust", "expression": "t**2"}, {"on": "u", "expression": "dust*sin(3*x)"},
        {"on": "T", "expression": "t"},
        {"on": "w", "expression": "dust*cos(t)*z", "box": [[0.5, 0, 0], [1.5, 1, 1]]},
    ]
    warm = {"heat": {"diffusivity": 0.01, "expansion": 1.0}, "body": {"gravity": [0, 0, -1]}}
    whole = case(*forcing, checkpoint={"every": {"steps": 3}}, output={"precision": "double"}, **warm)
    tf.run(whole, output=tmp_path / "whole")
    half = whole.replace(**{"time.steps": 3})
    tf.run(half, output=tmp_path / "half")
    tf.run(whole, output=tmp_path / "half", resume=True)
    one, two = (xr.open_zarr(tmp_path / name / "fields.zarr").isel(time=-1) for name in ("whole", "half"))
    for name in ("u", "v", "w", "p", "dust"):
        np.testing.assert_array_equal(one[name], two[name])
    assert float(abs(one.u).max()) > 0


@pytest.mark.slow
def test_templates_of_forced_steps_are_proved():
    forces = [{"on": name, "expression": "t*u*dust"} for name in ("u", "w", "dust", "T")]
    proof = estimate(case(*forces, **WARM, machine={"blocks": [1, 1, 2]})).prove()
    proof.hold()
    assert proof.templates > 0
