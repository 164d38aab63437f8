"""The study `outer`: outer iterations on one block and on two, and the shares of their parts."""

import json

import pytest

from examples.papers.luo_2014.goals import of_outer
from examples.papers.luo_2014.march import ImplicitFlow
from examples.papers.luo_2014.shares import used
from examples.papers.xue_roy_2020.ssspnt import HeatedBox

PAPER = "examples.papers.luo_2014"
PARTS = (
    "matrix", "factors", "solves", "derivative", "sums", "vectors", "residual", "update", "ghosts", "messages", "rest",
)  # fmt: skip
BRIEF = ("--iterations", 2, "--seconds", 0.05, "--device", "cpu", "-o", "bench.json")


@pytest.mark.slow
def test_one_block_beside_two(start, here):
    words = ("--cells", 16, "--counts", "1,2", "--overlap", "none", "--price", 2, "--watts", 10)
    result = start(PAPER, "outer", *words, *BRIEF)
    assert (result.exit_code, result.stderr) == (0, "")
    rows = json.loads((here / "bench.json").read_text())["results"]
    assert [(row["solver"], row["blocks"]) for row in rows] == [
        (solver, blocks) for solver in ("gmres", "correction") for blocks in (1, 2)
    ]
    for row in rows:
        assert tuple(row["parts"]) == PARTS
        assert sum(part["share"] for part in row["parts"].values()) == pytest.approx(1)
        assert sum(part["bytes_per_cell"] for part in row["parts"].values()) == pytest.approx(row["bytes_per_cell"])
        assert row["same"] is True
        assert row["joules_per_cell"] == pytest.approx(10 * row["seconds"] / 16**3)
        assert row["cells_per_dollar"] == pytest.approx(16**3 / row["blocks"] / row["seconds"] * 1800)
    gmres, _, correction, _ = rows
    assert correction["products"] == 4
    assert correction["parts"]["solves"]["bytes_per_cell"] == 4 * 576
    single = 576 - 48  # the vectors of its solves are in single precision, as the factors are
    assert gmres["parts"]["solves"]["bytes_per_cell"] == pytest.approx(single * (gmres["products"] + 1))
    (here / "page.md").write_text("<!-- table of outer -->\n\n<!-- end -->\n")
    assert start("docs.performance.report", "bench.json", "-o", "page.md").exit_code == 0
    assert "| cavity | 16 x 16 x 16 | gmres | tiles | 2 | 2 | none |" in (here / "page.md").read_text()


@pytest.mark.slow
def test_six_charts_with_another_key(start, here):
    words = ("--case", "channel", "--cells", "48x8x8", "--solvers", "correction", "--set", "method.linear.sweeps=3")
    assert start(PAPER, "outer", *words, *BRIEF).exit_code == 0
    result = json.loads((here / "bench.json").read_text())
    assert result["settings"] == ["method.linear.sweeps=3"]
    assert [(row["products"], row["cells"]) for row in result["results"]] == [(3, [48, 8, 8])]


def test_of_vectors_those_count_that_are_there():
    whole = 20 * 12  # of twelve launches
    assert used("products", "vectors", 12, made=3, present=6) * whole == pytest.approx(6)
    assert used("products", "later", 12, made=3, present=6) == 0
    assert used("combined", "vectors", 12, made=3, present=6) * whole == pytest.approx(3)
    tasks = ("forward", "backward", "invert", "matrix")
    assert [used(task, "coupling_low", 12, 3, 6) for task in tasks] == [1, 0, 1, 1]
    assert [used(task, "coupling_high", 12, 3, 6) for task in tasks] == [0, 1, 0, 1]


@pytest.mark.parametrize("precision", ["single", "double"])
def test_there_are_cases_in_both_precisions(precision):
    assert HeatedBox((8, 8, 8)).case(precision).machine.precision == precision
    case = ImplicitFlow("channel", "gmres", "hyperplanes").of((48, 8, 8), precision)
    assert (case.machine.precision, case.own.linear.ordering) == (precision, "hyperplanes")


def test_goals_know_their_rows():
    row = {"blocks": 2, "ordering": "tiles", "solver": "gmres", "cells": [128] * 3, "efficiency": 0.91, "seconds": 1e-2}
    row["parts"] = {"sums": {"share": 0.3}}
    assert of_outer(row, "cavity", gpu=True) == {"goal": "90 %", "met": True}
    assert of_outer({**row, "blocks": 1}, "cavity", gpu=True) == {"goal": "sums 25 %", "met": False}
    assert of_outer({**row, "blocks": 1, "solver": "correction"}, "channel", gpu=True) == {"goal": "12 ms", "met": True}
    assert of_outer({**row, "blocks": 1}, "cavity", gpu=False) == {"goal": None, "met": None}


@pytest.mark.parametrize("words", [("--iterations", 3), ("--solvers", "direct"), ("--counts", "0")])
def test_words_that_say_nothing_are_refused(start, refused, words):
    result = start(PAPER, "outer", *words, "--device", "cpu")
    refused(result.exit_code, result.stderr, words[0], "give")
