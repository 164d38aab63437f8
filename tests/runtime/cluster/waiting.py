"""Waiting for block groups, for so long and no longer."""

import time


def until_ended(group, seconds=60.0):
    """The status of every block once all have finished or failed."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        statuses = group.status()
        if {status.state for status in statuses} <= {"finished", "failed"}:
            return statuses
        time.sleep(0.02)
    raise AssertionError(f"still {[status.state for status in statuses]} after {seconds} s")


def until_failed(group):
    """Run the jobs of a group of which one fails; the status of every block once all have ended for that."""
    group.connect()
    group.start(group.jobs)
    while "failed" not in {status.state for status in group.status()}:
        time.sleep(0.01)
    group.abort("another block failed")
    return until_ended(group)
