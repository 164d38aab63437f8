"""Ctrl-C, as a terminal sends it: to the whole process group of a command."""

import os
import signal
import time

import numpy as np
import pytest

from taskflow.output import dataset, read_log

ENDLESS = ["run", "cavity.toml", "--set", "time.steps=1000000", "--set", "output.every={steps=50}"]
INTERRUPTED = 130


@pytest.mark.parametrize("blocks", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_run_ends_after_the_step_with_its_state_written(shell, here, give, report_of, blocks):
    running = shell.begin(*ENDLESS, "--set", f"machine.blocks=[1,1,{blocks}]")
    shell.wait_for(running, here / "cavity")
    os.killpg(running.pid, signal.SIGINT)
    code, _, err = shell.end(running)
    assert code == INTERRUPTED, err
    assert err.startswith("interrupted at time ")
    assert "resume it: taskflow run cavity/case.toml -o cavity --resume" in err
    assert len(err.splitlines()) == 1
    report, log = report_of(here / "cavity"), read_log(here / "cavity" / "log.jsonl")
    assert report["ended"] == "interrupted"
    assert report["steps"] == log[-1]["step"]
    with dataset(here / "cavity" / "fields.zarr") as result:
        assert result.sizes["time"] == report["snapshots"] >= 2
        assert float(result.time[-1]) == report["time"] == log[-1]["time"]
        assert np.isfinite(result.u.values).all()
    assert "interrupted at time" in give("info", "cavity").stdout


@pytest.mark.slow
def test_a_second_one_ends_it_at_once(shell, here, give, report_of):
    running = shell.begin(*ENDLESS)
    shell.wait_for(running, here / "cavity")
    for _ in range(2):
        os.killpg(running.pid, signal.SIGINT)
        time.sleep(0.02)
    code, _, err = shell.end(running)
    assert code == INTERRUPTED
    assert "Traceback" not in err
    assert report_of(here / "cavity")["ended"] in ("failed", "interrupted")
    assert not (here / "cavity" / "lock").exists()
    assert give("info", "cavity").exit_code == 0
    with dataset(here / "cavity" / "fields.zarr") as result:
        assert np.isfinite(result.time.values).all()


@pytest.mark.parametrize("seconds", [1.0, pytest.param(2.0, marks=pytest.mark.slow)])
def test_before_the_first_step(shell, here, seconds):
    """Whatever is going on then: Python importing, workers beginning, kernels being compiled."""
    running = shell.begin(*ENDLESS, "--set", "machine.blocks=[1,1,2]")
    time.sleep(seconds)
    os.killpg(running.pid, signal.SIGINT)
    code, _, err = shell.end(running)
    assert code == INTERRUPTED, err
    assert len(err.splitlines()) <= 1, err
    assert [path.name for path in here.iterdir() if path.name.startswith(".")] == []
