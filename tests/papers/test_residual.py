"""The study `residual`: a row for each case and precision, with the bytes that a stage has to move."""

import json

import pytest

PAPER = "examples.papers.xue_roy_2020"
NAMES = [f"Runge-Kutta, {cells}" for cells in ("uniform", "skewed", "skewed, 64 charts")]


@pytest.fixture(autouse=True)
def copied(brief):
    brief()


@pytest.mark.slow
def test_stages(start, here):
    result = start(PAPER, "residual", "--cells", 8, "--device", "cpu", "-o", "bench.json")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "8^3 cells on" in result.stdout
    rows = json.loads((here / "bench.json").read_text())["results"]
    names = ["Euler, heat, uniform", *NAMES]
    assert [(row["name"], row["precision"]) for row in rows] == [(n, p) for n in names for p in ("double", "single")]
    assert [row["bytes_per_cell"] for row in rows] == [81, 41, 97, 49, 177, 89, 177, 89]
    for row in rows:
        assert row["name"] in result.stdout
        assert row["samples"] >= 5
        assert row["cells_per_second"] == pytest.approx(8**3 / row["seconds"])
        assert row["share_of_copy"] == pytest.approx(row["bytes"] / row["seconds"] / 2e10)


def test_cells_that_do_not_make_charts_are_refused(start, refused):
    result = start(PAPER, "residual", "--cells", 10, "--device", "cpu")
    refused(result.exit_code, result.stderr, "--cells 10", "a multiple of 4")
