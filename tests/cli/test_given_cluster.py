"""Runs on a cluster that somebody else began, and of which something dies: what is left goes on, or the run can."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack

import psutil
import pytest
from distributed import Client

from tests.cli.test_resume import assert_same_run, steps

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
LIMIT = 400.0  # seconds for what takes some, on a machine that others use too
WORKERS, STEPS = 3, 400
WORDS = (
    "--set", "output.every={steps=50}", "--set", 'output.fields=["u"]', "--set", "checkpoint.every={steps=20}",
    "--set", f"time.steps={STEPS}", "--set", f"machine.blocks=[1,1,{WORKERS}]",
)  # fmt: skip
LOOPBACK = ("--host", "127.0.0.1", "--no-dashboard", "--dashboard-address", "127.0.0.1:0")


class Cluster:
    """A scheduler and workers, with or without nannies, each a process of its own."""

    def __init__(self, folder, stack, *, nannies=True):
        self.file, self._stack = folder / "scheduler.json", stack
        self.scheduler = self._begin("dask_scheduler", "--protocol", "tcp", "--port", "0", *LOOPBACK)
        wait_until(self.file.exists, self.scheduler)
        words = ("--nthreads", "1", "--memory-limit", "0", "--nanny" if nannies else "--no-nanny", *LOOPBACK)
        self.workers = [self._begin("dask_worker", *words) for _ in range(WORKERS)]
        self.nannies = nannies
        with Client(scheduler_file=str(self.file)) as client:
            client.wait_for_workers(WORKERS, timeout=LIMIT)

    def _begin(self, name, *words):
        command = [sys.executable, "-m", f"distributed.cli.{name}", "--scheduler-file", self.file, *words]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._stack.callback(end, process)
        return process

    def computing(self, worker):
        """The process that computes."""
        result = psutil.Process(worker.pid)
        if not self.nannies:
            return result
        return next(item for item in result.children(recursive=True) if "spawn_main" in " ".join(item.cmdline()))


def end(process):
    """A process with all that it began, also where it is frozen."""
    try:
        for child in psutil.Process(process.pid).children(recursive=True):
            child.kill()
    except psutil.Error:
        pass
    process.kill()
    process.communicate()


def wait_until(reached, needed):
    until = time.monotonic() + LIMIT
    while not reached():
        assert needed.poll() is None, needed.communicate()
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.fixture
def begun(shell, here):
    """A cluster, and a run on it that has written checkpoints. Gives another cluster when called again."""
    with ExitStack() as stack:

        def begin(*words, nannies=True):
            cluster = Cluster(here, stack, nannies=nannies)
            running = shell.begin("run", "cavity.toml", *WORDS, *words, "--scheduler-file", cluster.file)
            stack.callback(end, running)
            wait_until(lambda: steps(here) and steps(here)[-1] >= 60, running)
            return cluster, running

        yield begin


@pytest.fixture
def whole(shell, here):
    """What the same run leaves that nothing has disturbed, on as many blocks."""

    def run():
        code, _, err = shell.end(shell.begin("run", "cavity.toml", *WORDS, "-o", "whole", "--quiet"), LIMIT)
        assert (code, err) == (0, "")
        return here / "whole"

    return run


@pytest.mark.parametrize("nannies", [True, False], ids=["nanny", "alone"])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "frozen"])
def test_a_lost_worker_is_replaced_or_done_without(how, nannies, begun, shell, here, whole, report_of):
    cluster, running = begun(nannies=nannies)
    cluster.computing(cluster.workers[1]).send_signal(how)
    code, _, err = shell.end(running, LIMIT)
    assert code == 0, err
    assert "Traceback" not in err
    report = report_of(here / "cavity")
    assert len(report["restarts"]) == 1
    assert len({place["worker"] for place in report["hardware"]}) == (WORKERS if nannies else WORKERS - 1)
    assert_same_run(here / "cavity", whole())


def test_a_worker_that_is_killed_with_its_nanny_is_done_without(begun, shell, here, whole, report_of):
    cluster, running = begun()
    worker = cluster.workers[1]
    for process in (worker, cluster.computing(worker)):
        os.kill(process.pid, signal.SIGKILL)
    code, _, err = shell.end(running, LIMIT)
    assert code == 0, err
    assert len({place["worker"] for place in report_of(here / "cavity")["hardware"]}) == WORKERS - 1
    assert_same_run(here / "cavity", whole())


@pytest.mark.parametrize("what", ["scheduler", "workers"])
def test_without_a_scheduler_or_any_worker_the_run_ends_and_another_cluster_goes_on(what, begun, shell, here, whole):
    """With a named error, in a minute; what was written can be read."""
    cluster, running = begun(nannies=False)
    for process in [cluster.scheduler] if what == "scheduler" else cluster.workers:
        process.kill()
    code, _, err = shell.end(running, LIMIT)
    assert code == 1, err
    assert "Traceback" not in err
    assert ("the scheduler" if what == "scheduler" else "no worker is left") in err.splitlines()[-1]
    assert json.loads((here / "cavity" / "report.json").read_text())["ended"] == "failed"
    cluster.file.unlink(missing_ok=True)
    _, again = begun("--resume", nannies=False)
    code, _, err = shell.end(again, LIMIT)
    assert code == 0, err
    assert_same_run(here / "cavity", whole())
