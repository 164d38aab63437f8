"""Runs whose pressure is iterated to a tolerance: what the log says of them, and how they end where it is missed."""

import json

import pytest

import taskflow as tf
from taskflow.runs.state.setup import RunSetup
from tests.cases.sound import cavity


@pytest.fixture
def moving():
    """A cavity of few steps on two blocks of one process, with settings of the pressure."""

    def case(steps=4, **pressure):
        return tf.Case(**cavity(
            time={"steps": steps}, pressure=pressure, monitor={"every": {"steps": 1}},
            machine={"blocks": [1, 1, 2], "workers": 1, "threads": 1, "device": "cpu"},
        ))  # fmt: skip

    return case


def test_the_log_says_what_was_done(moving, tmp_path):
    run = tf.run(moving(solver="jacobi", tolerance=1e-2), tmp_path / "run")
    log = run.log()
    assert log[0]["iterations"] == log[0]["residual"] == 0
    assert all(0 < line["residual"] <= 1e-2 for line in log[1:])
    assert all(line["iterations"] % 16 == 0 for line in log)
    assert len({line["iterations"] for line in log[1:]}) > 1, "as many as it takes, and not as many in each step"
    rounds = sum(line["iterations"] for line in log) / 16 / 4
    setup = RunSetup(moving(solver="jacobi", tolerance=1e-2), (1, 1, 2))
    assert run.report["bytes_per_step"] == setup.step_cost.nbytes({"rounds": rounds})


def test_what_is_not_reached_ends_the_run(moving, tmp_path):
    with pytest.raises(tf.RunFailed) as caught:
        tf.run(moving(solver="jacobi", tolerance=1e-4, max_iterations=32), tmp_path / "run")
    told = str(caught.value)
    assert told.startswith("in step 1, time 0.0")
    for words in (
        "32 iterations did not reduce the relative residual to 0.0001; it was ", " after 16, ", " after 32; ",
        "give a larger pressure.tolerance or pressure.max_iterations, another pressure.solver, or, where it stopped fa",
    ):  # fmt: skip
        assert words in told
    assert json.loads((tmp_path / "run" / "report.json").read_text())["reason"] == told
