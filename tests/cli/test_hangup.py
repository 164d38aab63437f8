"""SIGHUP, as a terminal that is closed sends it, does what SIGTERM does."""

import fcntl
import os
import pty
import signal
import subprocess
import sys
import termios
import time

import pytest

ENDLESS = ["run", "cavity.toml", "--set", "time.steps=1000000"]
STOPPED = 75


def stopped(here, report_of):
    assert report_of(here / "cavity")["ended"] == "stopped"
    assert list((here / "cavity" / "checkpoints").glob("step-*"))
    assert not (here / "cavity" / "lock").exists()


@pytest.mark.slow
def test_a_run_ends_with_a_checkpoint(shell, here, report_of):
    running = shell.begin(*ENDLESS)
    shell.wait_for(running, here / "cavity")
    for _ in range(2):  # a shell repeats what the terminal has sent
        os.killpg(running.pid, signal.SIGHUP)
        time.sleep(0.02)
    code, _, err = shell.end(running)
    assert code == STOPPED, err
    assert "stopped by SIGHUP at time" in err
    stopped(here, report_of)


@pytest.mark.parametrize("blocks", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_run_whose_terminal_is_closed(shell, here, report_of, blocks):
    """Whatever is written to the terminal fails from then on; the checkpoint is written all the same."""
    master, slave = pty.openpty()

    def own_terminal():
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

    words = [*shell.command, *ENDLESS, "--set", f"machine.blocks=[1,1,{blocks}]"]
    running = subprocess.Popen(words, stdin=slave, stdout=slave, stderr=slave, preexec_fn=own_terminal)
    os.close(slave)
    os.set_blocking(master, False)
    end = time.monotonic() + shell.limit
    log = here / "cavity" / "log.jsonl"
    while not log.exists() or log.read_bytes().count(b"\n") < 3:
        assert running.poll() is None
        assert time.monotonic() < end
        try:
            os.read(master, 1 << 16)
        except BlockingIOError:
            time.sleep(0.05)
    os.close(master)
    assert running.wait(shell.limit) == STOPPED
    stopped(here, report_of)


@pytest.mark.slow
def test_a_run_after_nohup_goes_on(shell, here):
    running = shell.begin(*ENDLESS, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    shell.wait_for(running, here / "cavity")
    os.killpg(running.pid, signal.SIGHUP)
    time.sleep(1.0)
    assert running.poll() is None
    os.killpg(running.pid, signal.SIGTERM)
    code, _, err = shell.end(running)
    assert (code, "stopped by SIGTERM" in err) == (STOPPED, True)


@pytest.mark.parametrize("seconds", [0.5, pytest.param(1.5, marks=pytest.mark.slow)])
def test_before_the_first_step(shell, here, seconds):
    running = shell.begin(*ENDLESS, "--set", "machine.blocks=[1,1,2]")
    time.sleep(seconds)
    os.killpg(running.pid, signal.SIGHUP)
    code, _, err = shell.end(running)
    assert code in (STOPPED, -signal.SIGHUP), err  # the latter while Python itself begins
    assert "Traceback" not in err


BROADCAST = """
import asyncio, os, signal
from distributed.scheduler import Scheduler
from taskflow.cli import main

usual = Scheduler.broadcast

async def broadcast(self, *args, **options):
    answer = await usual(self, *args, **options) if {after} else None
    os.kill(os.getpid(), signal.SIGTERM)
    await asyncio.sleep(0.1)
    return answer or await usual(self, *args, **options)

Scheduler.broadcast = broadcast
main()
"""


@pytest.mark.parametrize("after", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_amid_a_call_to_the_workers(here, after):
    """The client leaves while the scheduler, in the same process, still sends to workers, or has their answers."""
    words = [*ENDLESS, "--set", "machine.blocks=[1,1,2]"]
    done = subprocess.run([sys.executable, "-c", BROADCAST.format(after=after), *words], text=True, capture_output=True)
    assert done.returncode == STOPPED, done.stderr
    lines = done.stderr.splitlines()
    assert lines[-1].startswith("Error: stopped by SIGTERM while no blocks computed; give the same command again")
    assert all(line.startswith(("Warning:", "Error:")) for line in lines)
