"""The papers' campaign: scaling of steps of a cavity, memory, and pressure solvers."""

import json
from dataclasses import replace
from itertools import pairwise

import pytest

from examples.papers.jacobsen_senocak_2013 import memory, tables
from examples.papers.jacobsen_senocak_2013.convergence import METHODS, truncated
from examples.papers.jacobsen_senocak_2013.memory import Fitting
from taskflow.bench.projection.flows import Flow
from taskflow.bench.steps import Pressure
from taskflow.flow import StaggeredGrid
from taskflow.runtime.host import look
from taskflow.runtime.regions import Box

PAPER = "examples.papers.jacobsen_senocak_2013"
BRIEF = ("--seconds", 0.01)
STEPS = (*BRIEF, "--warm", 1)


@pytest.fixture
def measured(start, here):
    """Give a command of the study for CPUs; what it said, and the numbers it wrote."""

    def call(*words):
        result = start(PAPER, *words, "--device", "cpu", "-o", "bench.json")
        assert (result.exit_code, result.stderr) == (0, "")
        return result.stdout, json.loads((here / "bench.json").read_text())

    return call


@pytest.mark.slow
def test_scaling(measured, here):
    words = ["cavity", "--shapes", "2d,strong", "--counts", "2", "--scale", 32, "--overlap", "none,full"]
    told, result = measured(*words, *STEPS, "--price", 2.5, "--picture", "cavity.svg")
    assert (here / "cavity.svg").read_text().startswith("<?xml")
    assert "30 jacobi iterations, double precision" in told
    assert "2d (the papers: 4.9 TFLOPS on 256 GPUs)\n" in told
    assert "\nstrong\n" in told
    rows = {(row["shape"], row["blocks"], row["name"]): row for row in result["results"]}
    ways = [(1, "none"), (2, "none"), (2, "full")]
    assert list(rows) == [(shape, *way) for shape in ("2d", "strong") for way in ways]
    assert rows["2d", 2, "full"]["cells"] == [32, 2, 64]
    assert rows["strong", 2, "full"]["cells"] == [32, 2, 32]
    for (shape, blocks, name), row in rows.items():
        assert f"{blocks} x {'x'.join(map(str, row['cells_per_block']))}{f' {name}' if blocks > 1 else ''}" in told
        x, y, z = row["cells"]
        rate = x * y * z / row["seconds"]
        assert row["cells_per_second_per_block"] * blocks == pytest.approx(rate)
        assert row["cells_per_dollar"] == pytest.approx(rate / blocks * 3600 / 2.5)
        assert row["flops"] == pytest.approx(row["operations_per_cell"] * rate)
        assert row["bytes_per_second"] == pytest.approx(row["bytes_per_cell"] * rate)
        assert row["share_of_copy"] == pytest.approx(row["bytes_per_second"] / row["copy_bandwidth"])
        assert row["efficiency"] * blocks == pytest.approx(row["speedup"])
        assert row["efficiency"] == pytest.approx(rate / blocks / rows[shape, 1, "none"]["cells_per_second_per_block"])
        assert (row["messages"] > 0) == (blocks > 1)
        assert row["joules_per_cell"] is None
    assert "energy     unknown" in told


@pytest.mark.slow
def test_energy_has_a_column_where_it_is_known(measured, capsys, tmp_path):
    def shown(result, columns):
        """The last columns of the heading and of the row."""
        tables.show_cavity(result)
        pairs = pairwise(capsys.readouterr().out.splitlines())
        return [line.split()[-columns:] for line in next(pair for pair in pairs if "of copy" in pair[0])]

    _, result = measured("cavity", "--shapes", "2d", "--counts", "1", "--scale", 32, "--overlap", "none", *STEPS)
    [row] = result["results"]
    row |= {"joules_per_cell": 7.5e-8, "flops": 5e9, "operations_per_cell": 450.0}
    assert shown(result, 3) == [["GFLOPS", "nJ", "GFLOPS/W"], ["5.00", "75.0", "6.00"]]
    row |= {"flops": None, "operations_per_cell": None}
    assert shown(result, 2) == [["speedup", "nJ"], ["1.00", "75.0"]]
    assert tables.draw_cavity(result, tmp_path / "energy.svg").stat().st_size > 1000


@pytest.mark.slow
def test_shares_of_a_solution(measured):
    """One Jacobi sweep sends one face of doubles: 30 of them, 32 x 32 cells each."""
    told, result = measured("cavity", "--study", "shares", "--shapes", "1d", "--counts", "2", "--scale", 16, *STEPS)
    assert "the paper  copies at 1.82 GB/s, messages at 406 MB/s" in told
    alone, two = result["results"]
    assert (alone["messages"], alone["sent"], alone["rates"]) == (0, 0, {"copy": None, "communication": None})
    assert (two["messages"], two["sent"]) == (30, 30 * 32 * 32 * 8)
    for row in (alone, two):
        assert list(row["shares"]) == ["compute", "copy", "communication", "rest"]
        assert sum(row["shares"].values()) == pytest.approx(1)
    for kind, rate in two["rates"].items():
        assert rate == pytest.approx(two["sent"] / (two["shares"][kind] * two["seconds"]))


@pytest.mark.slow
def test_memory(measured):
    told, result = measured("cavity", "--study", "memory", "--counts", "2,4", "--precision", "single")
    assert "1 block " in told
    assert [row["blocks"] for row in result["memory"]] == [1, 2, 4]
    for row in result["memory"]:
        x, y, z = row["cells"]
        assert (x, y) == (z, 64)
        assert x * y * z * row["bytes_per_cell"] < row["free"]
        assert 48 <= row["fields_per_cell"] < row["bytes_per_cell"] <= 60
        assert row["papers_bytes"] <= 60 * 16384 * 64 * 16384


@pytest.mark.slow
def test_the_largest_is_run(measured, monkeypatch):
    monkeypatch.setattr(memory, "LARGEST", 64)
    words = ["cavity", "--study", "memory", "--largest", "--counts", 2, "--overlap", "full", "--iterations", 2]
    told, result = measured(*words, *STEPS)
    [row] = result["results"]
    assert (row["blocks"], row["cells"]) == (2, [64, 64, 64])
    assert "Steps of cavity, 64 x 64 x 64 cells, 2 jacobi iterations" in told


@pytest.mark.slow
def test_pressure_solvers(measured, here):
    words = ["cavity", "--study", "pressure", "--sizes", "9", "--methods", "all", "--counts", 2, "--decades", 2]
    told, result = measured(*words, *BRIEF, "--overlap", "none", "--picture", "pressure.svg", "--price", 2)
    assert (here / "pressure.svg").read_text().startswith("<?xml")
    assert "9 x 9 x 9 cells" in told
    for method in METHODS:
        assert f"{method}, 2 blocks" in told
        alone, together = (
            [row for row in result["results"] if (row["method"], row["blocks"]) == (method, count)] for count in (1, 2)
        )
        assert [len(alone), len(together)] == ([1, 1] if method == "fft" else [2, 2])
        for rows in (alone, together):
            assert all(row["residual"] <= 10.0**-decade for decade, row in enumerate(rows, 1))
            for row in rows:
                assert row["cells_per_dollar"] == pytest.approx(1800 * row["cells_per_second_per_block"])
            assert sorted(row["iterations"] for row in rows) == [row["iterations"] for row in rows]
        if method != "truncated":
            assert [row["iterations"] for row in alone] == [row["iterations"] for row in together]


@pytest.mark.parametrize(("words", "said"), [
    (["cavity", "--scale", "3", "--counts", "1"], ["--scale 3: does not divide the 512 x 512 x 256"]),
    (["cavity", "--shapes", "4d"], ["--shapes 4d: give one or more of 1d, 2d, 3d, strong"]),
    (["cavity", "--study", "pressure", "--methods", "magic"], ["--methods magic: give one or more of"]),
    (["cavity", "--study", "pressure", "--sizes", "8", "--counts", "1", "--methods", "jacobi,mixed", "--precision",
      "single"], ["--methods mixed: ", "give --precision double"]),
    (["cavity", "--study", "pressure", "--sizes", "a"], ["--sizes a: give numbers of cells"]),
    (["cavity", "--picture", "a.doc"], ["a.doc", "cannot draw this format"]),
    (["cavity", "--largest"], ["--largest: not used by the study scaling; omit it"]),
    (["cavity", "--study", "pressure", "--set", "time.step=1"], ["--set: not used by the study pressure; omit it"]),
    (["cavity", "--study", "pressure", "--overlap", "none,full"], ["--overlap none,full: the study pressure takes"]),
    (["cavity", "--study", "memory", "--workers", "1"], ["--workers: not used by the study memory; omit it"]),
    (["cavity", "--study", "memory", "--warm", "1"], ["--warm: not used by the study memory without --largest"]),
])  # fmt: skip
def test_what_cannot_be_measured_is_refused(start, refused, here, words, said):
    result = start(PAPER, *words, "--device", "cpu")
    refused(result.exit_code, result.stderr, *said)
    assert result.stdout == ""


@pytest.mark.parametrize("words", [("--price", 0), ("--watts", -1)])
def test_prices_and_powers_are_positive(start, words):
    result = start(PAPER, "cavity", *words)
    assert result.exit_code == 2
    assert f"'{words[0]}': Input should be greater than or equal to 0.000001" in result.stderr


@pytest.mark.parametrize(("cells", "slabs", "coarsest"), [(513, 8, 17), (257, 1, 3), (256, 1, 2), (9, 9, 9)])
def test_a_truncated_cycle_ends_with_two_planes_for_each_block(cells, slabs, coarsest):
    """The first is the papers' own."""
    grid = StaggeredGrid((cells,) * 3, (1.0, 1.0, 1.0)).constants
    assert truncated(grid, (1, 1, slabs)).levels[-1].mesh.cells == (coarsest,) * 3


@pytest.mark.parametrize("blocks", [1, 3])
def test_the_largest_that_fits(blocks):
    here = replace(look("here"), memory=10**9)
    fitting = Fitting(Flow("cavity", Pressure(iterations=4)), [here] * blocks, "cpu", "single")
    x, y, z = fitting.largest()
    assert (x, y, x % (64 * blocks)) == (z, 64, 0)
    assert fitting.problem((x, y, z)) is None
    assert fitting.problem((x + 64 * blocks, 64, z + 64 * blocks)) is not None
    assert Box.of((x, y, z)).volume * 48 > 0.5 * 10**9 / blocks


@pytest.mark.multigpu
def test_scaling_on_two_gpus(start, here):
    words = ["cavity", "--shapes", "1d", "--counts", 2, "--scale", 4, "--overlap", "full", "--seconds", 0.5]
    result = start(PAPER, *words, "--device", "gpu", "-o", "bench.json")
    assert (result.exit_code, result.stderr) == (0, "")
    one, two = json.loads((here / "bench.json").read_text())["results"]
    assert (one["blocks"], two["blocks"]) == (1, 2)
    assert 0 < two["efficiency"] < 1.2
    assert (one["joules_per_cell"] is None) == (two["joules_per_cell"] is None)
