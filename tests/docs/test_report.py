"""The pages on performance are made from the results in the same folder."""

import json
from pathlib import Path

import pytest

from docs.performance import artificial_compressibility, projection, report, two_phase
from tests.bench.conftest import give, here, refused, start

__all__ = ["give", "here", "refused", "start"]

DOCS = Path(__file__).resolve().parents[2] / "docs"
RESULTS = sorted((DOCS / "performance" / "results").glob("*.json"))
SOURCE = {"benchmark", "git_commit", "started", "command", "gpu", "processor", "threads", "results"}
STEP = {
    "benchmark": "step", "git_commit": "1234567890abcdef-dirty", "started": "2027-01-02T03:04:05+00:00",
    "command": ["/usr/bin/taskflow", "bench", "step"], "gpu": "A GPU", "processor": "a CPU", "threads": None,
    "copy_bandwidth": 1e12, "case": "cavity", "pressure": "fft", "precision": "single", "settings": [],
}  # fmt: skip
ROW = {
    "name": "none", "blocks": 1, "workers": 1, "cells": [64, 64, 64], "cells_per_block": [64, 64, 64],
    "overlap": "none", "seconds": 1e-3, "cells_per_second_per_block": 2.62144e8, "share_of_copy": 0.5,
    "bytes_per_cell": 100.0, "iterations": 1.0, "divergence": 1.25e-7, "joules_per_cell": None,
}  # fmt: skip


PAGES = ["performance.md", *(f"performance/{page.name}" for page in sorted((DOCS / "performance").glob("*.md")))]


@pytest.mark.parametrize("page", PAGES)
def test_pages_are_what_the_command_makes_of_the_results(page):
    """`python -m docs.performance.report docs/performance/results/*.json -o docs/PAGE` writes them."""
    text = (DOCS / page).read_text()
    assert report.updated(text, report.read(RESULTS), report.TABLES) == text


def test_the_page_has_all_five_tables():
    text = (DOCS / "performance.md").read_text()
    assert [place[2] for place in report.PLACE.finditer(text)] == ["kernels", "steps", "solvers", "gpus", "cpus"]
    for page in (projection, two_phase, artificial_compressibility):
        text = Path(page.__file__).with_suffix(".md").read_text()
        assert sorted(place[2] for place in report.PLACE.finditer(text)) == sorted(page.TABLES)


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_results_carry_machine_date_commit_and_command(path):
    [result] = report.read([path])
    assert set(result) >= SOURCE
    assert result["gpu"] or (result["processor"] and result["threads"])


def made(start, here, *results):
    """The tables of results, as lines."""
    paths = [here / f"{n}.json" for n in range(len(results))]
    for path, result in zip(paths, results, strict=True):
        path.write_text(json.dumps(result))
    done = start("docs.performance.report", *paths)
    assert (done.exit_code, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_a_row_has_its_source(start, here):
    lines = made(start, here, {**STEP, "results": [ROW]})
    assert "| cavity | 64^3 | fft | single | 100 | 1 | 0.262 | 50 % | 1 | 1.2e-7 | 1 |" in lines
    session = lines.index("A GPU, 2027-01-02, commit 1234567890 with changes:")
    assert lines[session + 1 : session + 3] == ["", "1. `taskflow bench step`, copy 1.00 TB/s"]


def test_sources_of_one_session_follow_one_line(start, here):
    other, third = (
        {**STEP, "command": ["taskflow", "bench", "step", "--cells", n], "results": [{**ROW, "cells": [int(n)] * 3}]}
        for n in ("32", "16")
    )
    lines = made(start, here, {**STEP, "results": [ROW]}, other, {**third, "git_commit": "0" * 40})
    assert sum(line.startswith("A GPU, ") for line in lines) == 2
    assert [line[:2] for line in lines if line[:1].isdigit()] == ["1.", "2.", "3."]


def test_files_are_no_part_of_a_command(start, here):
    command = ["python", "-m", "taskflow", "bench", "step", "--picture", "a.png", "--cells", "8", "-o", "a.json"]
    assert any(
        "`taskflow bench step --cells 8`" in line
        for line in made(start, here, {**STEP, "command": command, "results": [ROW]})
    )


def test_the_command_of_a_module_is_shown_as_it_was_given(start, here):
    command = ["python", "-m", "examples.papers.luo_2014", "outer"]
    lines = made(start, here, {**STEP, "command": command, "results": [ROW]})
    assert any("`python -m examples.papers.luo_2014 outer`" in line for line in lines)


def test_of_two_results_the_newer_one_counts(start, here):
    older = {**STEP, "started": "2026-01-02", "results": [{**ROW, "seconds": 2e-3}]}
    for results in ([{**STEP, "results": [ROW]}, older], [older, {**STEP, "results": [ROW]}]):
        lines = made(start, here, *results)
        assert sum(line.startswith("| cavity ") for line in lines) == 1
        assert not any("2026-01-02" in line for line in lines)


def test_numbers_that_nobody_noted_are_left_out(start, here):
    row = {**ROW, "seconds": [1e-3, 2.5e-3], "share_of_copy": None, "divergence": None}
    lines = made(start, here, {**STEP, "copy_bandwidth": None, "results": [row], "remark": "A remark"})
    assert "| cavity | 64^3 | fft | single | 100 | 1 to 2.5 | 0.262 | 1 | 1 |" in lines
    assert any(line.endswith("`. A remark") for line in lines)


@pytest.mark.parametrize("name", ["git_commit", "started", "command"])
def test_results_need_their_commit_date_and_command(start, here, name):
    (here / "a.json").write_text(json.dumps({**STEP, "results": [ROW], name: None}))
    told = start("docs.performance.report", "a.json")
    assert (told.exit_code, told.stderr) == (
        2, f"Error: a.json: has no {name}; give files that a benchmark wrote with -o\n",
    )  # fmt: skip


def test_the_efficiency_of_a_step_is_that_against_one_gpu(start, here):
    two = {**ROW, "blocks": 2, "cells": [64, 64, 128], "cells_per_second_per_block": 2.5e8, "overlap": "full",
           "workers": 2}  # fmt: skip
    lines = made(start, here, {**STEP, "results": [ROW]}, {**STEP, "results": [two]})
    assert "| step of cavity, fft | single |  | 64^3 | 2 | 1 | 0.25 | 50 % | full | 95.4 % | 1 |" in lines


@pytest.mark.slow
def test_what_benchmarks_write_becomes_tables(give, start, here):
    """On CPUs: a sweep and the whole step; the others have the columns of results of GPUs in the documentation."""
    brief = "--seconds", 0.01, "--device", "cpu"
    for words in (
        ["sweep", "--blocks", 2, "--cells", "8x8x8", "--overlap", "none", *brief, "-o", "0.json"],
        ["step", "--cells", 8, "--iterations", 2, "--warm", 0, *brief, "-o", "1.json"],
    ):
        assert give("bench", *words).exit_code == 0
    words = ["--study", "pressure", "--sizes", 9, "--methods", "cg,fft", "--decades", 3, "--counts", 1]
    words += ["--overlap", "none", *brief, "-o", "2.json"]
    assert start("examples.papers.jacobsen_senocak_2013", "cavity", *words).exit_code == 0
    results = [json.loads((here / f"{n}.json").read_text()) for n in range(3)]
    assert [result["benchmark"] for result in results] == ["sweep", "step", "pressure"]
    assert all(set(result) >= SOURCE for result in results)
    assert [row["tolerance"] for row in results[2]["results"]] == [pytest.approx(10.0**-n) for n in (1, 2, 3)] + [None]
    lines = made(start, here, *results, {**results[2], "gpu": "A GPU"}, {**results[1], "gpu": "A GPU"})
    text = "\n".join(lines)
    assert "| Jacobi sweep | 8^3 | double | 2, none |" in text
    assert "| step of cavity, 2 jacobi iterations | 8^3 | double | 1 |" in text
    assert "| 9^3 | 1 | conjugate gradients | double |" in text
    assert "| cavity | 8^3 | 2 jacobi iterations | double |" in text


def test_a_page_keeps_its_prose(start, here):
    (here / "0.json").write_text(json.dumps({**STEP, "results": [ROW]}))
    page = here / "page.md"
    page.write_text("# A page\n\n<!-- table of steps -->\n\nan old table\n\n<!-- end -->\n\nProse.\n")
    assert start("docs.performance.report", "0.json", "-o", "page.md").stdout == "page.md\n"
    text = page.read_text()
    assert text.startswith("# A page\n\n<!-- table of steps -->\n\n| flow |")
    assert "<!-- end -->\n\nProse.\n\n## Sources\n\n<!-- sources -->\n\nA GPU" in text
    assert "an old table" not in text
    assert start("docs.performance.report", "0.json", "-o", "new.md").exit_code == 0
    assert (here / "new.md").read_text().count("<!-- table of ") == 5


@pytest.mark.parametrize(("text", "said"), [
    ("{}", ["has no benchmark", "wrote with -o"]),
    ("no JSON", ["0.json", "damaged"]),
    (json.dumps({**STEP, "results": [{"blocks": 1}]}), ["table of steps", "has no 'bytes_per_cell'", "again"]),
])  # fmt: skip
def test_results_that_are_none_are_refused(start, refused, here, text, said):
    (here / "0.json").write_text(text)
    result = start("docs.performance.report", "0.json")
    refused(result.exit_code, result.stderr, *said)


def test_what_cannot_be_made_is_refused(start, refused, here):
    result = start("docs.performance.report", "nowhere.json")
    refused(result.exit_code, result.stderr, "nowhere.json: cannot be read")
    (here / "0.json").write_text(json.dumps({**STEP, "results": [ROW]}))
    (here / "page.md").write_text("<!-- table of nothing -->\n\n<!-- end -->\n")
    result = start("docs.performance.report", "0.json", "-o", "page.md")
    refused(result.exit_code, result.stderr, "table of nothing", "no such table; use one of kernels")
    result = start("docs.performance.report", "0.json", "-o", "nowhere/page.md")
    refused(result.exit_code, result.stderr, "nowhere/page.md: cannot be written", "choose another file")
