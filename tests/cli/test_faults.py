"""Runs of which a part dies: they go on by themselves, and leave what a run leaves that nothing has disturbed."""

import json
import os
import random
import shutil
import signal
import time

import psutil
import pytest

import taskflow as tf
from taskflow.runtime.cluster import embedded
from tests.cli.test_resume import assert_same_run, steps

pytestmark = pytest.mark.timeout(900)
ENDS = 300.0  # seconds that a run may take, with what it recovers from, on a machine that others use too
TRY_AGAIN = 75
WORDS = ["--set", "output.every={steps=50}", "--set", 'output.fields=["u"]', "--set", "checkpoint.every={steps=20}"]


def words(count, blocks):
    return ["cavity.toml", *WORDS, "--set", f"time.steps={count}", "--set", f"machine.blocks=[1,1,{blocks}]"]


def workers(running):
    """The processes of the blocks."""
    try:
        children = psutil.Process(running.pid).children(recursive=True)
        return [item for item in children if "spawn_main" in " ".join(item.cmdline())]
    except psutil.Error:
        return []


def strike(running, known, chance, how=signal.SIGKILL):
    """Kill one of the workers, as `kill -9` does; whether there was one."""
    present = [item for item in workers(running) if item.pid not in known]
    if not present or running.poll() is not None:
        return False
    victim = chance.choice(present)
    known.add(victim.pid)
    victim.send_signal(how)
    return True


def wait_for_step(running, here, step):
    until = time.monotonic() + ENDS
    while not steps(here) or steps(here)[-1] < step:
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < until, f"step {step} is not reached"
        time.sleep(0.01)


@pytest.fixture
def undisturbed(here):
    """What a run over so many blocks leaves, in this process."""

    def run(count, blocks):
        name, *settings = words(count, blocks)
        with embedded(1, gpu=False) as client:
            return tf.run(tf.Case.load(name, settings[1::2]), here / "whole", client).directory

    return run


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "frozen"])
def test_a_lost_worker_is_replaced_and_the_run_goes_on(how, shell, here, undisturbed, report_of):
    """Killed, or frozen: no answer comes, and no sign of death."""
    running = shell.begin("run", *words(120, 2))
    wait_for_step(running, here, 40)
    assert strike(running, set(), random.Random(1), how)
    code, out, err = shell.end(running, ENDS)
    assert code == 0, err
    assert "Traceback" not in err
    restarts = report_of(here / "cavity")["restarts"]
    assert [restart["step"] % 20 for restart in restarts] == [0]
    assert err.startswith("Warning: block ")
    assert f"the run restarts from step {restarts[0]['step']}\n" in err
    assert "Finished at time" in out
    assert_same_run(here / "cavity", undisturbed(120, 2))


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_killed_at_random_moments(shell, here, undisturbed, report_of):
    """Twenty in all, up to four in a run: while blocks begin, compute, write; and while the run recovers."""
    chance, struck, whole = random.Random(0), 0, undisturbed(400, 4)
    while struck < 20:
        shutil.rmtree(here / "cavity", ignore_errors=True)
        running, known = shell.begin("run", *words(400, 4), "--set", "machine.restarts=20"), set()
        shell.wait_for(running, here / "cavity", 1)
        while len(known) < 4 and running.poll() is None:
            time.sleep(chance.uniform(0, 4))
            strike(running, known, chance)
        code, _, err = shell.end(running, 600)
        assert code == 0, err
        assert "Traceback" not in err
        assert len(report_of(here / "cavity").get("restarts", [])) <= len(known)
        assert_same_run(here / "cavity", whole)
        struck += len(known)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(2))
def test_killed_while_a_checkpoint_is_written(seed, shell, here, undisturbed):
    """As soon as its draft is there, four times."""
    chance, known = random.Random(seed), set()
    running = shell.begin("run", *words(400, 4), "--set", "machine.restarts=20")
    for n in range(4):
        wait_for_step(running, here, 20 + 20 * n)
        until = time.monotonic() + ENDS
        while not any((here / "cavity" / "checkpoints").glob(".step-*")) or not workers(running):
            assert running.poll() is None, running.communicate()
            assert time.monotonic() < until
        assert strike(running, known, chance)
        time.sleep(1)
    code, _, err = shell.end(running, 600)
    assert code == 0, err
    assert_same_run(here / "cavity", undisturbed(400, 4))


@pytest.mark.slow
def test_without_restarts_a_loss_ends_the_run(shell, here, report_of, give):
    """In seconds, with the name of what was lost; and what was written can be read and gone on with."""
    running = shell.begin("run", *words(100_000, 2), "--set", "machine.restarts=0")
    wait_for_step(running, here, 40)
    assert strike(running, set(), random.Random(2))
    code, _, err = shell.end(running, ENDS)
    assert code == 1
    assert err.startswith("Error: block ")
    assert "resume it: taskflow run cavity/case.toml -o cavity --resume, or resume=True; machine.restarts" in err
    assert len(err.splitlines()) == 1
    assert report_of(here / "cavity")["ended"] == "failed"
    last = steps(here)[-1] + 20
    assert give("run", *words(last, 2), "--resume", "--quiet").exit_code == 0
    assert give("run", *words(last, 2), "-o", "whole", "--quiet").exit_code == 0
    assert_same_run(here / "cavity", here / "whole")


@pytest.mark.slow
def test_the_client_alone_is_killed(shell, here, give):
    """Its workers do not outlive it, and what they leave is gone on with, at once."""
    running = shell.begin("run", *words(100_000, 2))
    wait_for_step(running, here, 40)
    orphans = workers(running)
    running.kill()
    last = steps(here)[-1] + 30
    again = give("run", *words(last, 2), "--resume", "--quiet")
    assert again.exit_code == 0, again.stderr
    assert not any(orphan.is_running() for orphan in orphans)
    running.communicate()
    assert give("run", *words(last, 2), "-o", "whole", "--quiet").exit_code == 0
    assert_same_run(here / "cavity", here / "whole")


@pytest.mark.parametrize("seconds", [0.2, *(pytest.param(s, marks=pytest.mark.slow) for s in (0.7, 1.5, 2.5, 4.0))])
def test_sigterm_before_the_first_step(seconds, shell, here):
    """While Python imports, workers begin, blocks open: try again, and the same command does."""
    running = shell.begin("run", *words(1_000_000, 2), "--resume")
    time.sleep(seconds)
    os.killpg(running.pid, signal.SIGTERM)
    code, _, err = shell.end(running, ENDS)
    if seconds < 0.5 and code == -signal.SIGTERM:
        pytest.skip("Python itself had not begun")
    assert code == TRY_AGAIN, err
    assert len(err.splitlines()) == 1, err
    assert [path.name for path in here.iterdir() if path.name.startswith(".")] == []
    if seconds > 0.5:
        code, _, err = shell("run", *words(20, 2), "--resume", "--quiet")
        assert code == 0, err
        assert json.loads((here / "cavity" / "report.json").read_text())["ended"] == "end"
