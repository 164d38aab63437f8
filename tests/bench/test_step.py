"""`taskflow bench step`: whole steps of flows."""

import json

import pytest


@pytest.fixture
def measured(give, here):
    """Give a command of bench for CPUs; what it said, and the numbers it wrote."""

    def call(*words):
        result = give("bench", *words, "--seconds", 0.01, "--warm", 1, "--device", "cpu", "-o", "bench.json")
        assert (result.exit_code, result.stderr) == (0, "")
        return result.stdout, json.loads((here / "bench.json").read_text())

    return call


@pytest.mark.slow
@pytest.mark.parametrize("case", ["cavity", "taylor-green"])
def test_a_step(measured, case):
    words = ["step", "--case", case, "--cells", "16x8x12", "--blocks", "1x2x1", "--overlap", "none,comm"]
    told, result = measured(*words, "--precision", "single", "--iterations", 4)
    assert f"Steps of {case}, 16 x 8 x 12 cells, 4 jacobi iterations, single precision" in told
    assert [row["name"] for row in result["results"]] == ["none", "comm"]
    for row in result["results"]:
        assert row["iterations"] == 4
        assert row["divergence"] > 0
        assert 0 < row["residual"] < 1


def test_what_an_iteration_costs(measured):
    few, many = (
        measured("step", "--cells", "8", "--precision", "single", "--iterations", n)[1]["results"][0] for n in (4, 6)
    )
    assert (few["iterations"], many["iterations"]) == (4, 6)
    assert many["bytes_per_cell"] - few["bytes_per_cell"] == 2 * 3 * 4
    # three sums of two neighbours, three coefficients, their sum less the right-hand side, times one over the diagonal
    assert many["operations_per_cell"] - few["operations_per_cell"] == 2 * 10


def test_a_step_in_use(measured):
    """Beside the other in the table: the same step with the loop of a run."""
    told, result = measured("step", "--cells", 8, "--iterations", 2, "--in-use")
    [row] = result["results"]
    assert row["seconds_in_use"] > 0
    assert "ms   ms in use" in told


def test_another_value_of_the_case(measured):
    _, result = measured("step", "--cells", 8, "--iterations", 2, "--set", "time.scheme=rk3")
    _, plain = measured("step", "--cells", 8, "--iterations", 2)
    assert result["settings"] == ["time.scheme=rk3"]
    assert result["results"][0]["operations_per_cell"] > 2 * plain["results"][0]["operations_per_cell"]


@pytest.mark.slow
@pytest.mark.parametrize(("solver", "words", "left"), [("fft", [], 1e-12), ("multigrid", ["--tolerance", 1e-6], 1e-6)])
def test_other_solvers(measured, solver, words, left):
    words = ("--overlap", "full", "--solver", solver, *words)
    told, result = measured("step", "--cells", "16x8x12", "--blocks", 2, *words)
    [row] = result["results"]
    assert row["residual"] <= left
    assert row["iterations"] == 1 if solver == "fft" else row["iterations"] > 1
    assert ("operations that are not counted" in told) == (row["flops"] is None) == (solver == "fft")


def test_a_step_to_a_tolerance(measured):
    told, result = measured("step", "--case", "taylor-green", "--cells", "16", "--tolerance", 1e-2)
    assert "jacobi to 0.01" in told
    [row] = result["results"]
    assert row["residual"] <= 1e-2
    rounds, word = row["rounds"]["rounds"], 8
    sweeps = row["iterations"] / rounds  # of a round, after which the residual is looked at
    fixed = {"momentum": 12, "divergence": 4, "correct": 7, "rate": 3, "norm": 1}
    assert row["bytes_per_cell"] == pytest.approx(word * (sum(fixed.values()) + rounds * (3 * sweeps + 2)))


@pytest.mark.parametrize(("words", "said"), [
    (["step", "--solver", "magic"], ["pressure.solver", "magic"]),
    (["step", "--set", "time.scheme=magic"], ["time.scheme", "magic"]),
    (["step", "--cells", "many"], ["--cells many: give a number of cells along x, y and z"]),
    (["step", "--cells", "8", "--blocks", "9", "--workers", "1"], ["9 blocks along z do not fit 8 planes"]),
    (["sweep", "--in-use"], ["bench sweep --in-use: no run consists of sweeps alone", "taskflow bench step --in-use"]),
    (["channels", "--in-use"], ["bench channels --in-use: no run consists of messages alone"]),
    (["step", "--cells", "9000"], ["9000 x 9000 x 9000 cells: needs", "use fewer cells"]),
])  # fmt: skip
def test_what_cannot_be_measured_is_refused(give, refused, here, words, said):
    result = give("bench", *words, "--device", "cpu")
    refused(result.exit_code, result.stderr, *said)
    assert result.stdout == ""


@pytest.mark.gpu
def test_a_step_on_a_gpu(give, here):
    words = ["step", "--cells", "64", "--seconds", 1, "--device", "gpu", "-o", "bench.json"]
    result = give("bench", *words)
    assert (result.exit_code, result.stderr) == (0, "")
    actual = json.loads((here / "bench.json").read_text())
    [row] = actual["results"]
    assert actual["gpu"] in result.stdout
    assert row["joules_per_cell"] is None or 1e-9 < row["joules_per_cell"] < 1e-5
