"""Runs that are stopped or killed from outside, as processes, and gone on with."""

import os
import re
import shlex
import signal
import time

import numpy as np
import pytest

from taskflow.output import dataset, read_log

TRY_AGAIN = 75
ROWS = ["--set", "output.every={steps=50}", "--set", 'output.fields=["u"]', "--set", "checkpoint.every={steps=20}"]


def assert_same_run(path, other):
    with dataset(path / "fields.zarr") as result, dataset(other / "fields.zarr") as expected:
        np.testing.assert_array_equal(result.time.values, expected.time.values)
        np.testing.assert_array_equal(result.u.values, expected.u.values)
    logs = [[(line["step"], line["divergence"]) for line in read_log(item / "log.jsonl")] for item in (path, other)]
    assert logs[0] == logs[1]


def words(steps, blocks=1):
    return ["cavity.toml", *ROWS, "--set", f"time.steps={steps}", "--set", f"machine.blocks=[1,1,{blocks}]"]


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [1, 2])
def test_sigterm_is_exit_code_75_and_the_run_goes_on(shell, here, give, report_of, blocks):
    """To the whole process group, as a batch system sends it."""
    running = shell.begin("run", *words(1_000_000, blocks))
    shell.wait_for(running, here / "cavity")
    os.killpg(running.pid, signal.SIGTERM)
    code, _, err = shell.end(running)
    assert code == TRY_AGAIN, err
    assert err.startswith("Error: stopped by SIGTERM at time ")
    assert len(err.splitlines()) == 1
    reached = report_of(here / "cavity")["steps"]
    assert report_of(here / "cavity")["ended"] == "stopped"
    told = give("info", "cavity").stdout
    assert "stopped at time" in told
    assert str(reached) in told.split("checkpoint", 1)[1].splitlines()[0]
    steps, told = reached + 30, re.search(r"; resume it: taskflow (run .*), or resume=True$", err)
    again = give(*shlex.split(told[1]), "--set", f"time.steps={steps}")
    assert again.exit_code == 0, again.stderr
    assert report_of(here / "cavity")["resumed"]["step"] == reached
    first = next(line for line in again.stdout.splitlines() if line.startswith("step "))
    assert int(first.split()[1]) > reached
    assert give("run", *words(steps, blocks), "-o", "whole", "--quiet").exit_code == 0
    assert_same_run(here / "cavity", here / "whole")


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, 6])
def test_killed_at_any_moment(shell, here, give, times):
    """The client, and with it all that it began, has no time to say a word."""
    running = shell.begin("run", *words(1_000_000))
    for n in range(times):
        until = time.monotonic() + shell.limit
        known = steps(here)
        while steps(here) == known or not steps(here):
            assert running.poll() is None, running.communicate()
            assert time.monotonic() < until
            time.sleep(0.01)
        time.sleep(0.013 * n)  # before, within or behind the writing of a checkpoint
        os.killpg(running.pid, signal.SIGKILL)
        running.communicate()
        if n < times - 1:
            running = shell.begin("run", *words(1_000_000), "--resume")
    last = steps(here)[-1] + 30
    again = give("run", *words(last), "--resume", "--quiet")
    assert again.exit_code == 0, again.stderr
    assert give("run", *words(last), "-o", "whole", "--quiet").exit_code == 0
    assert_same_run(here / "cavity", here / "whole")


def steps(here):
    return sorted(int(path.name[5:]) for path in (here / "cavity" / "checkpoints").glob("step-*"))


def test_begun_finished_and_gone_on_with(give, here, refused, report_of):
    """Without a directory a run begins; with nothing left to do nothing is done; damage is told."""
    case = ["run", "cavity.toml", "--resume", "--set", "time.steps=8", "--set", "checkpoint.every={steps=4}"]
    assert give(*case).exit_code == 0
    before = (here / "cavity" / "report.json").stat().st_mtime_ns
    again = give(*case)
    assert again.exit_code == 0
    assert "Finished at time" in again.stdout
    assert (here / "cavity" / "report.json").stat().st_mtime_ns == before
    (here / "cavity" / "checkpoints" / "step-000000008" / "block-00000.bin").unlink()
    more = give(*case[:-4], "--set", "time.steps=10", "--quiet")
    assert more.exit_code == 0
    assert more.stderr.startswith("Warning: a checkpoint is skipped: ")
    assert "step-000000008/block-00000.bin: No such file" in more.stderr
    assert report_of(here / "cavity")["resumed"]["step"] == 4
    assert report_of(here / "cavity")["steps"] == 10
