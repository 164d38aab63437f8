"""The study `two-phase`: the seed's bubble, on few cells."""

import json
import re
from types import SimpleNamespace

import pytest

from docs.performance import two_phase as report
from examples.papers.zaspel_griebel_2011 import step
from examples.papers.zaspel_griebel_2011.bubble import Bubble, Rise
from examples.papers.zaspel_griebel_2011.step import halved
from taskflow.bench.steps import Pressure
from taskflow.common.errors import BadInput
from taskflow.runs.state.setup import RunSetup

PAPER = "examples.papers.zaspel_griebel_2011"
SCALING = ("--study", "scaling", "--shapes", "weak-128", "--counts", "1", "--scale", "16")


@pytest.fixture
def measured(start, here):
    """Give a command of the benchmark for CPUs; what it said, and the numbers it wrote."""

    def call(*words):
        brief = "--steps", 2, "--seconds", 0.01, "--device", "cpu"
        result = start(PAPER, "two-phase", *brief, *words, "-o", "bench.json")
        assert (result.exit_code, result.stderr) == (0, "")
        return result.stdout, json.loads((here / "bench.json").read_text())

    return call


def lines(table, *results):
    """The rows of a table of the page that is made of results, as texts by column, without columns that all share."""
    head, _, *rows = [line for line in report.TABLES[table](results).markdown([]).splitlines() if line[:1] == "|"]
    names, *cells = ([text.strip() for text in line.strip("|").split("|")] for line in (head, *rows))
    return [dict(zip(names, line, strict=True)) for line in cells]


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


@pytest.mark.parametrize("method", ["levelset", "vof"])
def test_blocks_compute_the_initial_fields_of_each_method(method):
    setup = RunSetup(Bubble(Pressure("multigrid", None, 1e-6), method=method).of((16, 16, 8), "double"), (1, 1, 1))
    assert None not in Rise.of(setup).initial.profiles.values()


def test_blocks_are_halves():
    assert [halved(count) for count in (1, 2, 3, 4, 8, 16)] == [
        (1, 1, 1), (1, 1, 2), (1, 1, 3), (1, 2, 2), (2, 2, 2), (2, 2, 4),
    ]  # fmt: skip


@pytest.mark.slow
def test_a_step(measured):
    words = "--cells", "16x16x24", "--blocks", 2, "--overlap", "none,full", "--watts", 50, "--price", 2
    told, result = measured(*words)
    assert "The first 2 steps of a bubble, 16 x 16 x 24 cells, multigrid to 1e-06, double precision" in told
    assert "energy per cell and step at 50 W" in told
    assert result["benchmark"] == "two-phase step"
    assert [row["name"] for row in result["results"]] == ["none", "full"]
    for row in result["results"]:
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
    [line] = lines("bubble_steps", result)
    assert (line["cells"], line["blocks"], line["pressure"]) == ("16x16x24", "2", "multigrid to 1e-06")
    assert "No results." in report.TABLES["bubble_machines"]([result]).markdown([])  # several blocks


@pytest.mark.slow
def test_values_of_the_case(measured):
    words = "--cells", 16, "--precision", "single", "--tolerance", 1e-3
    told, result = measured(*words, "--set", "two_phase.surface_tension=0")
    _, plain = measured(*words)
    assert "multigrid to 0.001, two_phase.surface_tension=0, single precision" in told
    assert result["settings"] == ["two_phase.surface_tension=0"]
    [row], [other] = result["results"], plain["results"]
    assert row["rest_bytes_per_cell"] < other["rest_bytes_per_cell"]
    assert row["joules_per_cell"] is None
    assert row["residual"] <= 1e-3
    first, second = lines("bubble_steps", result, plain)
    assert (first["changed"], second["changed"]) == ("", "`two_phase.surface_tension=0`")
    assert "No results." in report.TABLES["bubble_energy"]([result]).markdown([])


@pytest.mark.slow
def test_machines_and_energy(measured):
    """As if the few cells were those of the paper, on a GPU: rates are of the cells that are told."""
    _, result = measured("--cells", "8x8x4", "--watts", 4)
    [row] = result["results"]
    row |= {"cells": [256, 256, 128], "seconds": 0.01, "steps": 20, "cells_per_second_per_block": 838860800.0}
    row |= {"joules_per_cell": 1e-7, "initialisation_seconds": 0.5}
    assert lines("bubble_machines", result)[0]["of the six-core Xeon"] == "15,300 x"
    [energy] = lines("bubble_energy", result)
    assert (energy["J"], energy["nJ per cell-step"], energy["stated power"]) == ("16.8", "100", "4 W")
    result["gpu"], row["cells"] = "NVIDIA H200", [512, 512, 512]
    assert lines("bubble_machines", result)[0]["peak: TB/s"] == "4.8"


@pytest.mark.slow
def test_ways_to_carry_momentum(measured):
    """The velocity form is refused at the ratio of air and water, so its row has another."""
    told, result = measured("--cells", 16, "--schemes", "all", "--watts", 4)
    assert [row["scheme"] for row in result["results"]] == ["koren", "weno5"]
    assert "weno5: fluid.scheme=weno5, two_phase.density=[998,99.8]" in told
    own = "`fluid.scheme=weno5`, `two_phase.density=[998,99.8]`"
    assert [line["changed"] for line in lines("bubble_steps", result)] == ["", own]
    assert [line["changed"] for line in lines("bubble_energy", result)] == ["", own]
    assert len(lines("bubble_machines", result)) == 1  # that of the paper's case


@pytest.mark.slow
def test_sizes(measured, here):
    told, result = measured("--study", "sizes", "--sizes", "16,8", "--price", 1, "--picture", "sizes.svg")
    assert [row["cells"] for row in result["results"]] == [[8, 8, 8], [16, 16, 16]]
    assert (here / "sizes.svg").read_text().startswith("<?xml")
    assert "1 x 16x16x16" in told
    assert [line["cells"] for line in lines("bubble_sizes", result)] == ["8^3", "16^3"]


def test_sizes_that_fit(monkeypatch):
    """Those that are listed as far as they fit, and the largest below the next."""
    most = {"bytes": 100}
    monkeypatch.setattr(step, "SIZES", {"cpu": (8, 16, 32), "gpu": ()})
    monkeypatch.setattr(step, "BETWEEN", 4)

    def check(self, n, blocks):
        if n**3 > most["bytes"] ** 3:
            raise BadInput(f"{n} x {n} x {n} cells: too many")

    monkeypatch.setattr(step.BubbleTiming, "_check", check)
    timing = step.BubbleTiming(SimpleNamespace(device="cpu"), None, None)
    for most["bytes"], fit in ((100, [8, 16, 32]), (31, [8, 16, 28]), (16, [8, 16]), (12, [8, 12])):
        assert timing.fitting((1, 1, 1)) == fit
    most["bytes"] = 7
    with pytest.raises(BadInput, match="8 x 8 x 8 cells: too many"):
        timing.fitting((1, 1, 1))


@pytest.mark.slow
def test_pressure(measured, here):
    words = "--study", "pressure", "--cells", 16, "--methods", "multigrid,mixed", "--picture", "pressure.svg"
    told, result = measured(*words)
    assert (here / "pressure.svg").read_text().startswith("<?xml")
    assert "Solvers for the pressure of a bubble, 16 x 16 x 16 cells, to 1e-06, double precision" in told
    assert result["refused"] == {}
    full, mixed = result["results"]
    assert [full["method"], mixed["method"]] == ["multigrid", "mixed"]
    assert mixed["bytes_per_cell"] / mixed["iterations"] < full["bytes_per_cell"] / full["iterations"]
    for row in (full, mixed):
        assert row["solve_iterations"] >= row["iterations_of_steps"][-1]  # from p = 0, and not from the last p
        assert row["solve_seconds"] > 0
    assert [line["method"] for line in lines("bubble_pressure", result)] == ["multigrid", "mixed"]


@pytest.mark.slow
def test_methods_that_a_case_refuses_are_left_out(measured):
    words = "--study", "pressure", "--cells", 8, "--methods", "multigrid,mixed", "--precision", "single"
    told, result = measured(*words, "--tolerance", 1e-3, "--set", "pressure.precision=double")
    assert [row["method"] for row in result["results"]] == ["mixed"]
    assert "pressure.precision" in result["refused"]["multigrid"]
    assert "\n  multigrid  pressure.precision" in told


@pytest.mark.slow
def test_shares(measured, here):
    words = "--study", "shares", "--cells", 16, "--steps", 8, "--picture", "shares.svg"
    told, result = measured(*words)
    assert (here / "shares.svg").read_text().startswith("<?xml")
    [row] = result["results"]
    assert list(row["parts"]) == ["interface", "pressure", "momentum", "rest"]
    assert sum(row["parts"].values()) == pytest.approx(1)
    of = {task["name"]: task for task in row["tasks"]}
    assert sum(task["bytes_per_cell"] for task in of.values()) == pytest.approx(row["bytes_per_cell"])
    assert sum(task["launches"] for task in of.values()) == pytest.approx(row["launches"])
    parts = {"advect_level_set": "interface", "curvature_at_foot": "interface", "relax": "pressure"}
    assert {name: of[name]["part"] for name in parts} == parts
    assert {of[name]["part"] for name in ("momentum_of_phases_x", "divergence", "inverse_density")} == {"momentum"}
    assert of["advect_level_set"]["launches"] == 3
    assert "  advect_level_set " in told
    [line] = lines("bubble_parts", result)
    assert line["solver"] == "multigrid to 1e-06, double"
    assert {line["task"] for line in lines("bubble_tasks", result)} <= of.keys()


@pytest.mark.slow
def test_scaling(measured, here):
    words = "--study", "scaling", "--shapes", "weak-128,strong-256", "--scale", 16, "--counts", 2, "--overlap", "none"
    told, result = measured(*words, "--picture", "scaling.svg")
    assert (here / "scaling.svg").read_text().startswith("<?xml")
    rows = {(row["shape"], row["blocks"]): row for row in result["results"]}
    assert [(*key, row["cells"]) for key, row in rows.items()] == [
        ("weak-128", 1, [16, 16, 8]), ("weak-128", 2, [16, 16, 16]),
        ("strong-256", 1, [16, 16, 16]), ("strong-256", 2, [16, 16, 16]),
    ]  # fmt: skip
    for (shape, blocks), row in rows.items():
        alone = rows[shape, 1]
        item = row["cells_per_second_per_block"] / alone["cells_per_second_per_block"]
        assert row["efficiency"] == pytest.approx(item)
        assert row["speedup"] == pytest.approx(item * blocks)
    assert rows["weak-128", 2]["iterations_of_steps"] == rows["strong-256", 1]["iterations_of_steps"]
    assert "\nstrong-256\n" in told
    growth = [(line["growth"], line["blocks"], line["overlap"]) for line in lines("bubble_scaling", result)]
    assert growth == [("strong", "1", ""), ("strong", "2", "none"), ("weak", "1", ""), ("weak", "2", "none")]


@pytest.mark.parametrize(("words", "said"), [
    (["--solver", "magic"], ["pressure.solver", "magic"]),
    (["--solver", "fft"], ["pressure.solver", "fft", "densities of a ratio up to 10"]),
    (["--method", "clsvof"], ["two_phase.method", "clsvof", 'give "levelset" or "vof"']),
    (["--set", "two_phase.density=1"], ["two_phase.density"]),
    (["--cells", "9000"], ["9000 x 9000 x 9000 cells: needs", "use fewer cells"]),
    (["--study", "sizes", "--sizes", "a"], ["--sizes a: give numbers of cells"]),
    (["--schemes", "quick"], ["--schemes quick: give one or more of koren, weno5, separated by commas, or all"]),
    (["--study", "pressure", "--methods", "magic"], ["--methods magic: give one or more of cg, multigrid, mixed"]),
    (["--study", "scaling", "--shapes", "1d"], ["--shapes 1d: give one or more of weak-128"]),
    (["--study", "scaling", "--scale", "3", "--counts", "1"], ["--scale 3: weak-128 on 1 blocks", "a power of two"]),
    (["--study", "shares", "--picture", "a.doc"], ["a.doc", "cannot draw this format"]),
    pytest.param(["--study", "shares", "--steps", "3", "--cells", "8", "--seconds", "0.01"],
                 ["--steps 3: each was the first of"], marks=pytest.mark.slow),
    (["--study", "scaling", "--cells", "8"], ["--cells: not used by the study scaling; omit it"]),
    (["--study", "scaling", "--blocks", "2"], ["--blocks: not used by the study scaling; omit it"]),
    (["--study", "sizes", "--sizes", "8", "--workers", "1"], ["--workers: not used by the study sizes; omit it"]),
    (["--study", "sizes", "--overlap", "none,full"], ["--overlap none,full: the study sizes takes one of them"]),
    (["--study", "pressure", "--solver", "multigrid"], ["--solver: not used by the study pressure; omit it"]),
    (["--counts", "1"], ["--counts: not used by the study step; omit it"]),
    (["--picture", "a.png"], ["--picture: not used by the study step; omit it"]),
])  # fmt: skip
def test_what_cannot_be_measured_is_refused(start, refused, here, words, said):
    result = start(PAPER, "two-phase", *words, "--device", "cpu")
    refused(result.exit_code, result.stderr, *said)
    assert result.stdout == ""


@pytest.mark.slow
def test_shares_of_a_step_that_was_not_replayed_are_refused(start):
    """Or no share is 0."""
    words = ("--study", "shares", "--cells", "32x32x16", "--device", "cpu", "--steps", 3)
    result = start(PAPER, "two-phase", *words)
    shares = [float(value) for value in re.findall(r"([\d.]+) ?%", result.stdout)]
    assert result.exit_code != 0 or (shares and min(shares[:4]) > 0), shares


@pytest.mark.parametrize("words", [
    (*SCALING, "--cells", "32x32x16"), (*SCALING, "--blocks", "2"),
    ("--study", "sizes", "--sizes", "16", "--cells", "32x32x16"),
    ("--study", "pressure", "--methods", "multigrid", "--cells", "16x16x16", "--workers", "2"),
], ids=lambda words: f"{words[1]} {words[-2]}")  # fmt: skip
def test_options_that_a_study_does_not_use_are_refused(start, refused, words):
    result = start(PAPER, "two-phase", "--device", "cpu", "--steps", 1, *words)
    refused(result.exit_code, result.stderr, words[-2])


@pytest.mark.gpu
@pytest.mark.parametrize("study", ["step", "pressure", "shares"])
def test_studies_on_a_gpu(start, here, study):
    words = "--study", study, "--cells", 64, "--seconds", 1, "--device", "gpu"
    result = start(PAPER, "two-phase", *words, "-o", "bench.json")
    assert (result.exit_code, result.stderr) == (0, "")
    actual = json.loads((here / "bench.json").read_text())
    row = actual["results"][-1]
    assert actual["gpu"] in result.stdout
    assert row["joules_per_cell"] is None or 1e-9 < row["joules_per_cell"] < 1e-4
    assert study != "shares" or sum(row["parts"].values()) == pytest.approx(1)


@pytest.mark.multigpu
def test_scaling_on_two_gpus(start, here):
    words = "--study", "scaling", "--shapes", "weak-128", "--counts", 2, "--scale", 4, "--overlap", "full"
    result = start(PAPER, "two-phase", *words, "--seconds", 0.5, "--device", "gpu", "-o", "bench.json")
    assert (result.exit_code, result.stderr) == (0, "")
    one, two = json.loads((here / "bench.json").read_text())["results"]
    assert (one["blocks"], two["blocks"]) == (1, 2)
    assert 0 < two["efficiency"] < 1.2
