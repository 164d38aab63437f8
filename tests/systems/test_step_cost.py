"""What a step is said to move, task by task, is what its launches read and write."""

import pytest

from examples.papers.luo_2014.march import ImplicitFlow
from taskflow.cases import Case
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.tasks import Loop, Stretch, repeat, settled
from taskflow.systems.base.step_cost import LAYERS, often, table
from tests.cases.sound import cavity


def rows(setup, rounds):
    return {row.task: row for row in table(setup.step_cost.parts, rounds, setup.partition)}


@pytest.mark.parametrize(("precision", "real"), [("single", 4), ("double", 8)])
def test_a_step_of_fixed_sweeps(precision, real):
    case = Case(**cavity(machine={"precision": precision}, pressure={"iterations": 9}))
    setup = RunSetup(case, (1, 1, 2))
    result, cells = rows(setup, {}), setup.grid.box.volume
    values = {name: row.nbytes / real / cells for name, row in result.items() if name != LAYERS}
    assert values == {
        "momentum": 12, "divergence": 4, "jacobi": 8 * 3, "jacobi_half": 3, "correct": 7, "advective_rate": 3,
    }  # fmt: skip
    assert (result["jacobi"].launches, result["jacobi"].reads, result["jacobi"].writes) == (8, ("p", "rhs"), ("p_new",))
    assert result["correct"].reads == ("u", "v", "w", "p")
    assert list(result)[-1] == LAYERS
    assert 0 < result[LAYERS].nbytes / real / cells < 1.5
    assert sum(row.nbytes for row in result.values()) == setup.step_cost.nbytes({})
    assert setup.step_cost.nbytes({}) == setup.step_cost.bytes_of(settled(setup.model.step, setup.partition).launches)
    assert setup.step_cost.counted == ()


def test_a_step_that_repeats_and_does_not_count_moves_at_most_something():
    counted = Case(**cavity(pressure={"solver": "jacobi", "tolerance": 1e-3}))
    assert not RunSetup(counted, (1, 1, 2)).step_cost.bounded
    marched = ImplicitFlow("cavity", "gmres").of((4, 4, 4), "double")
    assert RunSetup(marched, (1, 1, 1)).step_cost.bounded


def test_rounds_count_as_often_as_they_are_done():
    setup = RunSetup(Case(**cavity(pressure={"solver": "jacobi", "tolerance": 1e-3})), (1, 1, 2))
    assert setup.step_cost.counted == ("rounds",)
    three, none = rows(setup, {"rounds": 3}), rows(setup, {"rounds": 0})
    assert (three["jacobi"].launches, three["jacobi_half"].launches, three["residual_square"].launches) == (45, 3, 3)
    assert three["rhs_sums"].launches == none["rhs_sums"].launches == 1
    item = (16 * 3 + 2) * 8 * setup.grid.box.volume
    assert setup.step_cost.nbytes({"rounds": 3}) - setup.step_cost.nbytes({"rounds": 0}) == 3 * item
    assert setup.step_cost.nbytes({"rounds": 2.5}) == setup.step_cost.nbytes({"rounds": 0}) + 2.5 * item


def test_runge_kutta_does_all_three_times():
    cases = (Case(**cavity(time__scheme=scheme, pressure={"iterations": 30})) for scheme in ("ab2", "rk3"))
    one, three = (RunSetup(case, (1, 1, 1)) for case in cases)
    rate = rows(one, {})["advective_rate"].nbytes
    assert three.step_cost.nbytes({}) - rate == 3 * (one.step_cost.nbytes({}) - rate)


def test_repetitions_in_repetitions():
    setup = RunSetup(Case(**cavity()), (1, 1, 1))
    inner = repeat(lambda f: iter(()), 4, count="inner")
    body = Loop(inner, (Stretch(setup.step_cost.launches, ()),))
    outer = Loop(repeat(lambda f: iter(()), 3), (body, body))
    assert [times for _, times in often((outer,), {})] == [12, 12]
    assert [times for _, times in often((outer,), {"inner": 2})] == [6, 6]
