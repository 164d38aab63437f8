"""Small parts: numbers in words, meters, lines from a log that is being written, the ends of commands."""

import json

import pytest

from taskflow.cases.timing.intervals import Every
from taskflow.cases.timing.schedule import Clock
from taskflow.cli import watch
from taskflow.cli.watch import Display, LogLines, ProgressMeter, stage
from taskflow.common.errors import BadInput, Interrupted, RunFailed
from taskflow.common.units import clock, duration, plural, rate, size
from taskflow.flow.stability import StepLimit
from taskflow.runs.directory.record import heading
from taskflow.terminal import exit_codes
from taskflow.terminal.exit_codes import complain, ended_by

NUMBERS = {"dt": 0.1, "cfl": 0.5, "divergence": 1e-9, "residual": None, "iterations": 30}


@pytest.mark.parametrize(("text", "expected"), [
    (size(0), "0 bytes"), (size(999), "999 bytes"), (size(1000), "1.00 kB"), (size(24.7e9), "24.7 GB"),
    (size(3.2e13), "32.0 TB"),
    (rate(25.3e6), "25.3 Mcell/s"), (rate(2.87e11), "287 Gcell/s"), (rate(5e3), "5.00 kcell/s"),
    (duration(3e-5), "30.0 us"), (duration(0.012), "12.0 ms"), (duration(1), "1.00 s"), (duration(61), "0:01:01"),
    (clock(90061), "1 day 1:01:01"), (clock(0.4), "0:00:00"), (plural(1, "step"), "1 step"),
    (plural(2, "process"), "2 processes"),
])
def test_numbers_for_people(text, expected):
    assert text == expected


def meter(cells=1000):
    return ProgressMeter(cells, Clock(StepLimit(), end=10.0, monitor=Every(steps=10)))


def test_a_meter_judges_by_the_last_seconds():
    result = meter()
    assert (result.speed, result.left, result.share) == ("", "", 0.0)
    for second in range(101):  # 10 steps a second, then, from second 50 on, 20
        step = 10 * second + 10 * max(0, second - 50)
        result.take(float(second), step, step / 200.0)
    assert result.speed == "20.0 kcell/s"
    assert result.share == pytest.approx(0.75)
    assert result.left == "0:00:25 left"


def test_lines_of_a_log_that_is_being_written(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(watch, "APART", 0.0)
    log = tmp_path / "log.jsonl"
    with LogLines("a run", meter(), log) as view:
        view({})
        text = "".join(json.dumps({"step": n, "time": float(n), "wall": float(n), **NUMBERS}) + "\n" for n in range(3))
        log.write_text(text[:-10])
        view({"step": 1})
        assert [line[:6] for line in capsys.readouterr().out.splitlines()] == ["a run", "step 0", "step 1"]
        view({"step": 1})
        assert capsys.readouterr().out == ""
        log.write_text(text)
    last = capsys.readouterr().out
    assert last.startswith("step 2  time 2  dt 0.1  CFL 0.500  divergence 1.00e-09  residual nan  1.00 k")


def test_pseudo_time_is_no_time():
    """A run to a steady state counts steps, and may end before the last one."""
    steady = ProgressMeter(1000, Clock(StepLimit(), steps=100), pseudo_time=True)
    line = {"step": 20, "time": 20.0, "cfl": 1.5, "residual_u": 0.1}
    assert steady.facts(line) == ["step 20", "CFL 1.500", "residual 1.00e-01"]
    assert steady.facts(line, goals=True)[0] == "step 20 of 100"
    for second in range(3):
        steady.take(float(second), 10 * second, 10.0 * second)
    assert steady.left == "at most 0:00:08 left"
    report = {"ended": "steady", "time": 20.0, "steps": 20}
    assert heading(report) == "steady at time 20, after 20 steps"
    assert heading({**report, "pseudo_time": True}) == "steady after 20 steps"


def test_the_log_of_an_older_run_is_not_shown(tmp_path, capsys):
    (tmp_path / "log.jsonl").write_text('{"step": 1}\n')
    with pytest.raises(BadInput), LogLines("a run", meter(), tmp_path / "log.jsonl"):
        raise BadInput("this directory exists")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(("told", "words"), [
    ({"stopping": False}, "compiling"),
    ({"step": 3, "stopping": False}, "computing"),
    ({"step": 3, "stopping": True}, "Ctrl-C again"),
    ({"step": 3, "stopping": True, "ended": "interrupted"}, "writing"),
])
def test_stages(told, words):
    assert words in stage(told)


def test_a_display_takes_whatever_a_run_tells(capsys):
    with Display("a run", meter()) as view:
        view({"stopping": False})
        view({"step": 0, "time": 0.0, "seconds": 0.0, "stopping": False, **NUMBERS})
        view({"step": 5, "time": 1.0, "seconds": 2.0, "stopping": True, **NUMBERS, "divergence": float("nan")})
        view({"step": 5, "time": 1.0, "seconds": 2.0, "stopping": True, **NUMBERS, "ended": "interrupted"})


@pytest.mark.parametrize(("error", "code", "words"), [
    (BadInput("a.b = 1: wrong\nc.d = 2: wrong"), 2, "Error: a.b = 1: wrong\nError: c.d = 2: wrong\n"),
    (RunFailed("it broke"), 1, "Error: it broke\n"),
    (Interrupted("interrupted at time 1"), 130, "interrupted at time 1\n"),
    (KeyboardInterrupt(), 130, "interrupted\n"),
    (OSError(28, "No space left on device", "run/log.jsonl"), 1, "Error: run/log.jsonl: No space left on device\n"),
    (OSError("odd"), 1, "Error: odd\n"),
    (MemoryError(), 1, "Error: not enough memory\n"),
])
def test_errors_become_codes_and_lines(capsys, error, code, words):
    assert ended_by(error) == code
    assert capsys.readouterr().err == words


def test_the_unexpected_leaves_its_traceback_in_a_file(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(exit_codes.tempfile, "tempdir", str(tmp_path))
    with pytest.raises(ZeroDivisionError) as caught:
        raise ZeroDivisionError("one over nothing")
    assert ended_by(caught.value) == 1
    first, second = capsys.readouterr().err.splitlines()
    assert first == "Error: unexpected ZeroDivisionError: one over nothing"
    (path,) = tmp_path.iterdir()
    assert str(path) in second
    assert "raise ZeroDivisionError" in path.read_text()


def test_debug_shows_the_traceback(give, monkeypatch):
    assert "Traceback" not in give("info", "/nowhere").stderr
    assert "Traceback" in give("--debug", "info", "/nowhere").stderr


def test_every_line_is_marked(capsys):
    complain("one\ntwo", "three")
    assert capsys.readouterr().err == "Error: one\nError: two\nError: three\n"
