"""Log and report: valid JSON whatever the numbers, readable at any moment."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from taskflow.output import RunLog, read_log, read_report, write_report
from taskflow.output.log import largest_residual, residuals

RECORD = {"step": 10, "time": 0.5, "dt": 0.01, "cfl": 0.4, "divergence": 1e-9, "residual": 1e-3, "iterations": 30,
          "kinetic_energy": 0.1, "wall": 1.5, "nusselt": {"x_min": 2.2, "x_max": 2.2}}


def strict(text: str):
    """Parse JSON as its standard has it."""
    return json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))


def test_a_log_returns_what_was_written(tmp_path):
    log = RunLog(tmp_path / "log.jsonl")
    log.write(RECORD)
    log.write({**RECORD, "step": 20})
    assert read_log(tmp_path / "log.jsonl") == [RECORD, {**RECORD, "step": 20}]


def test_a_line_is_there_as_soon_as_it_was_written(tmp_path):
    log = RunLog(tmp_path / "log.jsonl")
    for n in range(3):
        log.write({"step": n})
        assert len(read_log(tmp_path / "log.jsonl")) == n + 1


def test_not_a_number_is_null_and_read_back_as_nan(tmp_path):
    path = tmp_path / "log.jsonl"
    RunLog(path).write({"step": np.int64(3), "cfl": np.float32(np.nan), "dt": math.inf, "two": np.array([1, -np.inf])})
    assert strict(path.read_text()) == {"step": 3, "cfl": None, "dt": None, "two": [1.0, None]}
    assert math.isnan(read_log(path)[0]["cfl"])


def test_a_continued_log_drops_the_line_that_was_cut_off(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text('{"step": 1}\n{"step": 2, "ti')
    assert read_log(path) == [{"step": 1}]
    RunLog(path).write({"step": 2})
    assert read_log(path) == [{"step": 1}, {"step": 2}]


def test_a_report_is_complete_or_absent(tmp_path):
    path = tmp_path / "report.json"
    write_report(path, {"versions": {"numpy": "2"}, "rate": np.float64("nan"), "blocks": (1, 1, 2), "dir": Path("a")})
    assert strict(path.read_text()) == {"versions": {"numpy": "2"}, "rate": None, "blocks": [1, 1, 2], "dir": "a"}
    write_report(path, {"steps": 200})
    assert read_report(path) == {"steps": 200}
    assert [file.name for file in tmp_path.iterdir()] == ["report.json"]


def test_who_has_lost_the_directory_writes_into_no_log_of_another(tmp_path):
    """Though it was asked before: another run goes on from an earlier line meanwhile."""
    path = tmp_path / "log.jsonl"
    log = RunLog(path)
    log.write({"step": 1})
    log.write({"step": 2})

    def lose():
        RunLog(path).cut(1)

    RunLog(path, lose).write({"step": 3})
    assert read_log(path) == [{"step": 1}]


def test_residuals_of_equations_are_found_by_name():
    line = {"step": 3, "residual_continuity": 1e-3, "residual_heat": 2e-3, "residual": 5.0}
    assert residuals(line) == {"continuity": 1e-3, "heat": 2e-3}
    assert largest_residual(line) == {"residual": 2e-3}
    assert largest_residual({"step": 3, "residual": 5.0}) == {}
    assert math.isnan(residuals({"residual_heat": None})["heat"])
