"""Waiting for block groups, for so long and no longer; and what Dask would compute arrays with meanwhile."""

import os
import signal
import threading
import time
from contextlib import suppress

import dask
from distributed import default_client


def until_ended(group, seconds=300.0):
    """The status of every block once all have finished or failed."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        statuses = group.status()
        if {status.state for status in statuses} <= {"finished", "failed"}:
            return statuses
        time.sleep(0.02)
    raise AssertionError(f"still {[status.state for status in statuses]} after {seconds} s")


def computes():
    """The client with which Dask computes arrays in this process, if any, and the scheduler that it is told to use."""
    with suppress(ValueError):
        return default_client(), dask.config.get("scheduler", None)
    return None, dask.config.get("scheduler", None)


def press_ctrl_c(seconds=0.5):
    """Press Ctrl-C, so long after blocks have begun to work: before, it would end the tests."""
    usual, deadline = signal.getsignal(signal.SIGINT), time.monotonic() + 300.0

    def press():
        while signal.getsignal(signal.SIGINT) is usual:
            if time.monotonic() > deadline:
                return
            time.sleep(0.01)
        time.sleep(seconds)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()


def until_failed(group):
    """Run the jobs of a group of which one fails; the status of every block once all have ended for that."""
    group.connect()
    group.start(group.jobs)
    while "failed" not in {status.state for status in group.status()}:
        time.sleep(0.01)
    group.abort("another block failed")
    return until_ended(group)
