"""`taskflow bench two-phase`: the seed's bubble, on few cells."""

import json

import pytest

from taskflow.benchmarks.steps import Pressure
from taskflow.benchmarks.two_phase.bubble import Bubble
from taskflow.benchmarks.two_phase.step import halved

pytestmark = pytest.mark.timeout(300)  # processes are begun again and again


@pytest.fixture
def measured(give, here):
    """Give a command of the benchmark for CPUs; what it said, and the numbers it wrote."""

    def call(*words):
        brief = "--steps", 2, "--seconds", 0.01, "--device", "cpu"
        result = give("bench", "two-phase", *words, *brief, "-o", "bench.json")
        assert (result.exit_code, result.stderr) == (0, "")
        return result.stdout, json.loads((here / "bench.json").read_text())

    return call


@pytest.mark.parametrize(
    ("cells", "lengths", "centre"),
    [((256, 256, 128), (0.2, 0.2, 0.1), 0.05), ((64, 64, 64), (0.2, 0.2, 0.2), 0.06)],
    ids=str,
)
def test_the_bubble_is_in_the_tank(cells, lengths, centre):
    case = Bubble(Pressure("multigrid", None, 1e-6)).of(cells, "double")
    assert case.grid.lengths == lengths
    x, y, z = 0.1, 0.1, centre
    initial = case.own.initial
    assert initial(x, y, z + 0.02) < 0 < initial(x, y, z + 0.04)
    assert abs(initial(x + 0.03, y, z)) < 1e-15
    assert (case.time.steps, case.pressure.tolerance, case.own.method) == (20, 1e-6, "levelset")


def test_blocks_are_halves():
    assert [halved(count) for count in (1, 2, 3, 4, 8, 16)] == [
        (1, 1, 1), (1, 1, 2), (1, 1, 3), (1, 2, 2), (2, 2, 2), (2, 2, 4),
    ]  # fmt: skip


def test_a_step(measured):
    words = "--cells", "16x16x24", "--blocks", 2, "--overlap", "none,full", "--watts", 50, "--price", 2
    told, found = measured(*words)
    assert "The first 2 steps of a bubble, 16 x 16 x 24 cells, multigrid to 1e-06, double precision" in told
    assert "energy per cell and step at 50 W" in told
    assert found["benchmark"] == "two-phase step"
    assert [row["name"] for row in found["results"]] == ["none", "full"]
    for row in found["results"]:
        assert row["samples"] == 2
        assert len(row["iterations_of_steps"]) == 2
        assert 1 <= row["iterations"] == sum(row["iterations_of_steps"]) / 2
        assert 0 < row["residual"] <= 1e-6
        assert row["rest_bytes_per_cell"] < row["bytes_per_cell"]
        assert row["rest_launches"] + row["rest_layers"] < row["launches"]
        assert row["bytes_per_second"] == pytest.approx(row["share_of_copy"] * row["copy_bandwidth"])
        whole = row["initialisation_seconds"] + 2 * row["seconds"]
        assert row["joules_per_cell"] == pytest.approx(50 * whole / 2 / (16 * 16 * 24))
        assert row["cells_per_dollar"] == pytest.approx(row["cells_per_second_per_block"] * 3600 / 2)


def test_values_of_the_case(measured):
    words = "--cells", 16, "--precision", "single", "--tolerance", 1e-3
    told, found = measured(*words, "--set", "two_phase.surface_tension=0")
    _, plain = measured(*words)
    assert "multigrid to 0.001, two_phase.surface_tension=0, single precision" in told
    assert found["settings"] == ["two_phase.surface_tension=0"]
    [row], [other] = found["results"], plain["results"]
    assert row["rest_bytes_per_cell"] < other["rest_bytes_per_cell"]
    assert row["joules_per_cell"] is None
    assert row["residual"] <= 1e-3


def test_sizes(measured, here):
    told, found = measured("--study", "sizes", "--sizes", "16,8", "--price", 1, "--picture", "sizes.svg")
    assert [row["cells"] for row in found["results"]] == [[8, 8, 8], [16, 16, 16]]
    assert (here / "sizes.svg").read_text().startswith("<?xml")
    assert "1 x 16x16x16" in told
    assert found["more"] is None


@pytest.mark.parametrize(("words", "said"), [
    (["--solver", "magic"], ["pressure.solver", "magic"]),
    (["--method", "vof"], ["two_phase.method", "vof", "not available in this version"]),
    (["--set", "two_phase.density=1"], ["two_phase.density"]),
    (["--cells", "9000"], ["9000 x 9000 x 9000 cells: needs", "use fewer cells"]),
    (["--study", "sizes", "--sizes", "a"], ["--sizes a: give numbers of cells"]),
])  # fmt: skip
def test_what_cannot_be_measured_is_refused(give, refused, here, words, said):
    result = give("bench", "two-phase", *words, "--device", "cpu")
    refused(result.exit_code, result.stderr, *said)
    assert result.stdout == ""
