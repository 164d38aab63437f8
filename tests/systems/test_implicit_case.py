"""Cases that march implicitly: what their tables may say; runs go on after a break, on other blocks, to the bit."""

from __future__ import annotations

import pytest

from taskflow.common.errors import BadInput
from taskflow.runs.state.restart import newest_restart
from taskflow.runs.state.setup import RunSetup
from tests.cases.on_charts import CYLINDER, LID, TURNED, case, changed
from tests.cases.test_charts_case import problems
from tests.runs.going_on import go
from tests.runs.test_charts_real_time import WARM
from tests.runs.test_charts_run import SAVED, assert_same_run, contents

IMPLICIT = {"method__march": "implicit"}
COUPLED = changed(LID, method={"type": "artificial-compressibility", "linear": {"coupled": ["T"]}})


@pytest.mark.parametrize(("tables", "changes", "line"), [
    (CYLINDER, {"method__cfl": 5},
     'method.cfl = 5: with march = "implicit" it is a table; give { start = 5.0 }, or omit it'),
    (CYLINDER, {"method__cfl": {"start": 5.0}, "method__march": "rk4"},
     'method.cfl = { start = 5.0 }: a table belongs to march = "implicit"; give a number'),
    (CYLINDER, {"method__cfl": {"start": 5.0, "most": 1.0}},
     "method.cfl.most = 1.0: less than start = 5.0; give that, or more"),
    (CYLINDER, {"method__steps": "global"},
     'method.steps = "global": march = "implicit" has steps of each cell; omit it'),
    (CYLINDER, {"method__linear": {"ordering": "jacobi"}, "method__march": "rk4"},
     'method.linear = { ordering = "jacobi" }: it belongs to march = "implicit"; omit it'),
    (CYLINDER, {"method__linear": {"sweeps": 3}},
     'method.linear.sweeps = 3: with solver = "gmres" it has no effect; omit it'),
    (CYLINDER, {"method__linear": {"solver": "correction", "vectors": 3}},
     'method.linear.vectors = 3: with solver = "correction" it has no effect; omit it'),
    (CYLINDER, {"method__linear": {"vectors": 50}}, "method.linear.vectors = 50: give at most 40"),
    (CYLINDER, {"method__linear": {"tolerance": 1.0}},
     "method.linear.tolerance = 1.0: give a number < 1, of the residual that the linear equations begin with"),
    (CYLINDER, {"method__linear": {"ordering": "colours"}},
     'method.linear.ordering = "colours": cells in two colours take 2 to 3 times the products of "tiles"; give that'),
    (CYLINDER, {"method__linear": {"lag": 5}},
     "method.linear.lag = 5: the CFL number triples between the iterations of a steady march; omit it, or"
     " time.steady"),
    (CYLINDER, {"method__linear": {"lag": 0}, "time": {"steps": 4, "step": 0.1}},
     "method.linear.lag = 0: give an integer >= 1"),
    (CYLINDER, {"method__linear": {"coupled": ["T"]}},
     'method.linear.coupled = ["T"]: there is no heat; give [heat], or omit it'),
    (WARM, {"method__linear": {"coupled": ["T", "T"]}}, 'method.linear.coupled = ["T", "T"]: name T once'),
    (WARM, {"method__linear": {"coupled": ["ink"]}},
     'method.linear.coupled = ["ink"]: the case has no scalar ink; give T alone, or omit it'),
    (WARM, {"method__linear": {"coupled": ["T", "dye"]}},
     'method.linear.coupled = ["T", "dye"]: the flow does not depend on dye, which follows it; give T alone, or omit'
     " it"),
])  # fmt: skip
def test_what_is_wrong_is_told_with_its_remedy(tables, changes, line):
    assert problems(tables, **{**IMPLICIT, **changes}) == [line]


def test_a_number_of_hundreds_of_digits_is_compared_and_shown():
    lines = problems(**IMPLICIT, method__cfl={"start": 10**400})
    assert [line.partition(" = ")[0] for line in lines] == ["method.cfl.start", "method.cfl.most"]


def test_a_step_and_what_a_checkpoint_holds():
    """Matrix and factors follow from the state: it alone is carried."""
    sim = RunSetup(case(**IMPLICIT), (1, 1, 1))
    assert set(sim.carried) == {"p", "u", "v", "w"}
    text = " ".join(row.text for row in sim.system.solver_rows())
    assert "implicit with CFL 5 to 1e+06, GMRES(40), to 0.02 to 0.2 of the residual, at most 280 products, til" in text
    assert sim.domain.ordering == "tiles"
    assert sim.domain.tile == sim.model.tile == (8, 8, 8)
    jacobi = RunSetup(case(**IMPLICIT, method__linear={"ordering": "jacobi", "solver": "correction"}), (1, 1, 1))
    assert jacobi.domain.ordering == "jacobi"
    blocks = RunSetup(case(**IMPLICIT, method__linear={"ordering": "blocks"}), (1, 1, 2))
    assert "blocks, on which bits depend" in " ".join(row.text for row in blocks.system.solver_rows())
    assert blocks.domain.ordering == "blocks"
    whole = RunSetup(case(**IMPLICIT, method__linear={"ordering": "hyperplanes"}), (1, 1, 3))
    with pytest.raises(BadInput, match=r'method.linear.ordering = "hyperplanes": .* give "tiles", or machine.blocks'):
        _ = whole.partition
    names = {"coupling_low", "coupling_high", "pivot", "inverse", "own"}
    assert {field.name for field in jacobi.model.extra_fields("f8")} == names


def test_real_time_has_longer_steps_of_pseudo_time_and_two_levels():
    sim = RunSetup(case(**IMPLICIT, time={"steps": 4, "step": 0.1}, output__every={"steps": 2}), (1, 1, 1))
    assert set(sim.carried) == {"p", "u", "v", "w", "old_u", "old_v", "old_w", "old_p"}
    text = " ".join(row.text for row in sim.system.solver_rows())
    assert "implicit with CFL 1e+06, GMRES(40), to 0.01" in text
    assert sim.model.real.iterations == 50


@pytest.mark.parametrize("solver", ["gmres", "correction"])
def test_no_scalar_has_the_name_of_a_field_of_the_model(solver):
    """With heat, in real time, with a scalar."""
    own = {"name": "dye", "diffusivity": 0.1}
    changes = {**IMPLICIT, "method__linear": {"solver": solver}, "time": {"steps": 4, "step": 0.1}}
    sim = RunSetup(case(WARM, **changes, scalars=[own]), (1, 1, 1))
    names = [name for name in sim.partition.fields if not name.startswith("dye")]
    assert len(names) > 40
    allowed = [name for name in names if not problems(WARM, **changes, scalars=[{**own, "name": name}])]
    assert allowed == []


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("tables", "cuts"),
    [
        (CYLINDER, {"1": [2, 1, 1]}), (TURNED, {}), (changed(LID, method__steps="local", method__march="implicit"), {}),
        (COUPLED, {}),
    ],
)
def test_runs_have_the_same_bits_for_any_blocks_and_go_on_after_a_break(tmp_path, tables, cuts):
    go(case(tables, **IMPLICIT), tmp_path / "whole")
    go(case(tables, **IMPLICIT, machine__cuts=cuts), tmp_path / "cut", (1, 1, 2))
    assert_same_run(tmp_path / "cut", tmp_path / "whole")
    broken = tmp_path / "broken"
    go(case(tables, **IMPLICIT, **SAVED), broken, (1, 1, 2), kill=9)
    assert newest_restart(broken, case(tables, **IMPLICIT, **SAVED))[0].tick.step == 8
    go(case(tables, **IMPLICIT, **SAVED), broken, (1, 1, 1), resume=True)
    assert_same_run(broken, tmp_path / "whole")
    line = contents(tmp_path / "whole")[1][-1]
    assert {"cfl", "linear", "left", "share", "refused"} <= set(line)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("tables", [CYLINDER, changed(LID, method__steps="local"), COUPLED])
def test_an_outer_iteration_is_proved(tables):
    """With heat and scalars, too."""
    from taskflow.runs.estimate.estimate import estimate

    proof = estimate(case(tables, **IMPLICIT, machine__blocks=2, machine__overlap="none")).prove()
    proof.hold()
    assert proof.reads > 0
