"""Scalars in a case: what is accepted, what is refused and in which words, and what a run tells of them."""

import json

import numpy as np
import pytest

import taskflow as tf
from taskflow.cases import Case
from taskflow.flow.stability import StepLimit
from taskflow.flow.time.schemes import ADAMS_BASHFORTH, RUNGE_KUTTA, DiffusiveRates
from tests.cases.sound import cavity, heated
from tests.cases.test_case_refusals import problems

SMOKE = {"name": "smoke", "diffusivity": 0.1}


def test_defaults():
    [scalar] = Case(**cavity(scalars=[SMOKE])).scalars
    assert (scalar.source, scalar.scheme, scalar.sources) == (0.0, "koren", ())
    assert scalar.initial(0.0, 0.0, 0.0) == 0.0
    assert Case(**cavity(scalars=[SMOKE])).output_fields == ("u", "v", "w", "p", "smoke")


def test_a_file_has_all_of_it(tmp_path):
    """Written and read again, a case is the same."""
    case = Case(**heated(
        heat__scheme="koren", heat__sources=[{"box": [[-0.5, 0, 0], [0, 1, 1]], "rate": 2}],
        output__fields=["T", "smoke"],
        scalars=[
            {**SMOKE, "source": 1, "initial": "x*z", "sources": [{"point": [0, 0.5, 0.5], "rate": -1}]},
            {"name": "dye", "diffusivity": 1e-9, "scheme": "central",
             "boundaries": {"x_min": {"value": 1}, "z_max": {"flux": 0.5}}},
        ],
    ))  # fmt: skip
    file = tmp_path / "case.toml"
    file.write_text(case.to_toml())
    assert file.read_text().count("[[scalars]]") == 2
    assert Case.load(file) == case


@pytest.mark.parametrize(("scalars", "line"), [
    ({"diffusivity": 1}, "scalars[1].name: missing; give the name of its field"),
    ({"name": "smoke"}, "scalars[1].diffusivity: missing; give the diffusivity, a number >= 0"),
    ({**SMOKE, "diffusivity": -1}, "scalars[1].diffusivity = -1: give a number >= 0"),
    ({**SMOKE, "scheme": "tvd"}, 'scalars[1].scheme = "tvd": give "central" or "koren"'),
    ({**SMOKE, "initial": "sin(q)"},
     """scalars[1].initial = "sin(q)": 'q' in 'sin(q)' is not allowed: there is no q"""),
    ({**SMOKE, "rate": 1}, "scalars[1].rate = 1: unknown key"),
    ({**SMOKE, "sources": [{"rate": 1}]},
     "scalars[1].sources[1].point: missing; give the place of the source, or its box"),
    ({**SMOKE, "sources": [{"point": [0, 0, 0]}]},
     "scalars[1].sources[1].rate: missing; give the amount released per time, a number"),
    ({**SMOKE, "sources": [{"point": [0, 0, 0], "rate": 1}, {"point": [2, 0, 0], "rate": 1}]},
     "scalars[1].sources[2].point = [2.0, 0.0, 0.0]: "
     "beyond the domain [[0.0, 0.0, 0.0], [1.0, 0.25, 1.0]]; move it inside"),
    ({**SMOKE, "sources": [{"box": [[0, 0, 0], [1, 0, 1]], "rate": 1}]},
     "scalars[1].sources[1].box = [[0, 0, 0], [1, 0, 1]]: "
     "give the lowest corner, then one that is higher in every direction"),
    ({**SMOKE, "sources": {"rate": 1}},
     "scalars[1].sources = { rate = 1 }: give a list of { point = [x, y, z], rate = r }"),
    ({**SMOKE, "boundaries": {"y_min": {"value": 1}}},
     "scalars[1].boundaries.y_min = { value = 1.0 }: y is periodic; omit y_min"),
    ({**SMOKE, "boundaries": {"x_min": {"value": 1, "flux": 1}}},
     "scalars[1].boundaries.x_min.flux = 1: value is given as well; give one of them"),
    ({**SMOKE, "boundaries": {"x_mn": {"value": 1}}},
     'scalars[1].boundaries.x_mn = { value = 1.0 }: unknown side of the grid; did you mean "x_min"?'),
    ({"name": "smoke", "diffusivity": 0, "boundaries": {"x_min": {"flux": 1}}},
     "scalars[1].boundaries.x_min.flux = 1.0: nothing diffuses without diffusivity; give one, or a source"),
    (3, "scalars[1] = 3: give a table"),
])  # fmt: skip
def test_a_mistake_is_told_in_one_line(scalars, line):
    [told] = problems(cavity(scalars=[scalars]))
    assert told.startswith(line)


@pytest.mark.parametrize("name", ["T", "a b", "1st", ""])
def test_what_is_no_name_of_a_scalar(name):
    """All names of other fields: `test_field_names.py`."""
    [told] = problems(cavity(scalars=[{**SMOKE, "name": name}]))
    assert told.startswith("scalars[1].name = ")


def test_heat_above_a_background_has_no_bounds():
    assert problems(heated(heat__scheme="koren", heat__background_gradient=[0, 0, 1])) == [
        'heat.scheme = "koren": a departure from a background has no bounds to keep; '
        "omit it, or background_gradient"
    ]


def test_names_differ_and_scalars_are_a_list():
    assert problems(cavity(scalars=[SMOKE, SMOKE])) == [
        'scalars[2].name = "smoke": another scalar has this name; give each its own'
    ]
    [told] = problems(cavity(scalars=SMOKE))
    assert told.endswith("give a list of tables, each under [[scalars]]")
    [told] = problems(cavity(output__fields=["smoke"]))
    assert "this case has no field" in told


@pytest.mark.parametrize(("scheme", "stage"), [(ADAMS_BASHFORTH, 1.0), (RUNGE_KUTTA, 8 / 15)])
def test_steps_are_short_enough_for_bounds(scheme, stage):
    """dt (2 advection + 3 spread) <= 0.9 in the longest stage."""
    limit = StepLimit(cfl=10.0, diffusion=10.0, spread=2.0, scheme=scheme, bounded=1.5)
    assert limit.longest(4.0) == pytest.approx(0.9 / (stage * (2 * 4.0 + 3 * 1.5)))
    assert StepLimit(cfl=0.1, diffusion=10.0, spread=2.0, scheme=scheme, bounded=1.5).longest(4.0) == 0.1 / 4.0
    assert StepLimit(fixed=7.0, bounded=1.5).longest(4.0) == 7.0
    eddies = DiffusiveRates(5.0, 4.5)
    assert limit.longest(4.0, eddies) == pytest.approx(0.9 / (stage * (2 * 4.0 + 3 * 4.5)))


def test_a_run_tells_of_them(tmp_path):
    """The integral is in every line of the log, the field in the store, and a run whose scalar is not finite ends."""
    scalar = {**SMOKE, "initial": "where(x < 0.5, 1, 0)", "sources": [{"point": [0.5, 0.1, 0.5], "rate": 0.5}]}
    monitor, machine = {"every": {"steps": 2}}, {"device": "cpu"}
    tables = cavity(scalars=[scalar], time={"steps": 4, "step": 1e-3}, monitor=monitor, machine=machine)
    run = tf.run(Case(**tables), tmp_path / "run")
    lines = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    volume = 0.25
    expected = [volume / 2 + 0.5 * line["time"] for line in lines]
    np.testing.assert_allclose([line["integral_smoke"] for line in lines], expected, rtol=1e-12)
    smoke = run.dataset()["smoke"]
    assert smoke.dims == ("time", "z_c", "y_c", "x_c")
    assert smoke.isel(time=0).mean() == pytest.approx(0.5)
    still = {**tables, "time": {"steps": 400, "step": 1.0}, "boundaries": {**tables["boundaries"], "z_max": "wall"}}
    ended = r"integral_smoke is nan: smoke is (nan|-?inf) in cell \(\d+, \d+, \d+\) of block 0, at x = "
    with pytest.warns(UserWarning, match="time.step = 1 is longer"), pytest.raises(tf.RunFailed, match=ended):
        tf.run(Case(**still), tmp_path / "other")
