"""Runs that differ in parameters, from a file."""

import os
import signal

import pytest


@pytest.mark.slow
def test_sigterm_leaves_a_checkpoint_of_each_run(shell, here):
    (here / "viscosities.toml").write_text('case = "cavity.toml"\n[parameters]\n"fluid.viscosity" = [0.01, 0.02]\n')
    running = shell.begin("sweep", "viscosities.toml", "--set", "time.end=1e9", "--at-once", 1, "--quiet")
    shell.wait_for(running, here / "viscosities" / "0000")
    os.killpg(running.pid, signal.SIGTERM)
    code, _, err = shell.end(running)
    assert code == 75
    assert err == "Error: the sweep was stopped by SIGTERM, 0 of 2 runs have ended; the same call resumes them\n"
    assert list((here / "viscosities" / "0000" / "checkpoints").glob("step-*"))
    assert not (here / "viscosities" / "0001").exists()


@pytest.mark.slow
def test_a_sweep_from_a_file(give, here):
    sweep = here / "viscosities.toml"
    sweep.write_text('case = "cavity.toml"\n[parameters]\n"fluid.viscosity" = [0.01, 0.02]\n')
    told = give("sweep", "viscosities.toml", "--set", "time.steps=2")
    assert told.exit_code == 0, told.stderr
    assert "viscosities/0001: fluid.viscosity = 0.02: " in told.stdout
    assert "2 runs are in viscosities" in told.stdout
    assert give("sweep", "viscosities.toml", "--set", "time.steps=2", "--quiet").stdout == ""
    unstable = give("sweep", "viscosities.toml", "-o", "unstable", "--set", "time.steps=1", "--set", "time.step=0.5")
    for run in ("0000", "0001"):
        assert f"Warning: unstable/{run}: time.step = 0.5 is longer than is stable" in " ".join(unstable.stderr.split())
    sweep.write_text('case = "cavity.toml"\n[parameters]\n"fluid.viscosity" = [-1.0]\n')
    refused = give("sweep", "viscosities.toml")
    assert refused.exit_code == 2
    assert "fluid.viscosity = -1.0: give a number >= 0" in refused.stderr
