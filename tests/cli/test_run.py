"""`taskflow run` to its end, good or bad: what it prints, writes and returns."""

import re
from pathlib import Path

import pytest

from taskflow.output import dataset, read_log

GRID = ["grid.cells=[32,2,32]", "fluid.viscosity=0.05", "output.every=0.1"]
DIVERGING = [*GRID, "time.end=60", "time.cfl=5", "time.diffusion=5"]


def test_lines_and_report(shell, here, report_of):
    code, out, err = shell("run", "cavity.toml")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "A small cavity: 16 x 2 x 16 cells, to 40 steps, into cavity"
    log = read_log(here / "cavity" / "log.jsonl")
    assert [entry["step"] for entry in log] == list(range(0, 41, 4))
    assert [line.split()[1] for line in lines if line.startswith("step ")] == ["0", "40"]  # within some seconds
    assert all(word in lines[3] for word in ("time ", "dt ", "CFL ", "divergence ", "residual ", "cell/s", "left"))
    end = "\n".join(lines[-5:])
    for word in ("Finished at time", "after 40 steps", "loop", "T_eff", "results    cavity", "plot "):
        assert word in end
    assert "of the copy" not in end  # which is for runs of ten seconds or more
    assert "\x1b" not in out
    assert report_of(here / "cavity")["ended"] == "end"


@pytest.mark.slow
def test_quiet_and_force(shell, give, here, report_of):
    target = here / "runs" / "again"
    words = ["run", "cavity.toml", "-o", target, "-q", "--set", "time.steps=3"]
    assert shell(*words) == (0, "", "")
    again = give(*words, "--force")
    assert (again.exit_code, again.stdout, again.stderr) == (0, "", "")
    assert report_of(target)["steps"] == 3
    names = {"case.toml", "fields.zarr", "log.jsonl", "report.json", "checkpoints"}
    assert {path.name for path in target.iterdir()} == names
    assert [path.name for path in target.parent.iterdir()] == ["again"]


@pytest.mark.slow
def test_a_diverging_run_says_when_and_what_to_change(shell, here, report_of):
    code, _, err = shell("run", "cavity.toml", "--quiet", *(word for value in DIVERGING for word in ("--set", value)))
    assert code == 1
    *warnings, error = err.splitlines()
    for word in ("Error: the run diverged: at step ", ", time ", "time.cfl (now 5)", "time.diffusion (now 5)"):
        assert word in error
    assert re.search(r", [uw] is \S+ \(the case explains 1\) in cell \(\d+, [01], \d+\) of block 0, at x = ", error)
    report = report_of(here / "cavity")
    assert report["ended"] == "failed"
    assert report["reason"] in error
    assert [f"Warning: {words}" for words in report["warnings"]] == warnings
    assert 'Warning: time.diffusion = 5: time.scheme = "ab2" is stable up to 0.25' in warnings[0]
    with dataset(here / "cavity" / "fields.zarr") as result:
        assert len(result.time) > 1
        assert float(result.time[1]) == pytest.approx(0.1)
        assert bool((abs(result.isel(time=-1).u) < 1e30).all())


def test_a_diverging_fixed_step(give, here):
    ended = give("run", "cavity.toml", "--quiet", "--set", "time.step=0.5", "--set", "time.steps=2000")
    assert ended.exit_code == 1
    assert "the run diverged: at step" in ended.stderr
    assert "smaller time.step (now 0.5)" in ended.stderr
    assert "Warning: time.step = 0.5 is longer than is stable" in ended.stderr


def test_a_step_that_gets_too_long_is_told_while_the_run_goes_on(give, here, report_of):
    """Nothing moves at first, so that nobody can know; it is said once, and the run goes on."""
    tables = (here / "cavity.toml").read_text()
    for line in ('x_min = "wall"\n', 'x_max = "wall"\n'):
        tables = tables.replace(line, "")
    (here / "channel.toml").write_text(tables.replace('y = "periodic"', 'x = "periodic"\ny = "periodic"'))
    words = ["body.force=[1,0,0]", 'boundaries.z_max="wall"', "time.step=0.03", "fluid.viscosity=1e-3", "time.steps=60"]
    ended = give("run", "channel.toml", "-q", *(word for value in words for word in ("--set", value)))
    assert ended.exit_code == 0
    [warning] = ended.stderr.splitlines()
    told = r"Warning: at step \d+, time \S+, the step is longer than is stable: with the CFL number 0\.5"
    assert re.match(told, warning)
    assert report_of(here / "channel")["warnings"] == [warning.removeprefix("Warning: ")]


@pytest.mark.slow
def test_nobody_reads_the_lines(shell, here, report_of):
    running = shell.begin("run", "cavity.toml")
    running.stdout.close()
    running.stdout = None
    assert shell.end(running)[::2] == (0, "")
    assert report_of(here / "cavity")["ended"] == "end"


def test_the_unforeseen_in_a_block_is_one_line_and_a_traceback_in_the_report(give, here, monkeypatch, report_of):
    monkeypatch.setattr("taskflow.systems.base.flow.FlowMeasures.line", lambda *_: {}["nothing"])
    monkeypatch.setattr("tempfile.tempdir", str(here))
    result = give("run", "cavity.toml", "-q")
    assert result.exit_code == 1
    reason, where = result.stderr.splitlines()
    assert reason == "Error: block 0: KeyError: 'nothing'"
    assert "in _look" in Path(where.split()[-1]).read_text()
    assert "in _look" in report_of(here / "cavity")["traceback"]
    assert "in _look" in give("--debug", "run", "cavity.toml", "-q", "--force").stderr
