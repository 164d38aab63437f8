"""Waiting for gangs, for so long and no longer."""

import time


def until_ended(team, seconds=60.0):
    """The status of every block once all have finished or failed."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        statuses = team.status()
        if {status.state for status in statuses} <= {"finished", "failed"}:
            return statuses
        time.sleep(0.02)
    raise AssertionError(f"still {[status.state for status in statuses]} after {seconds} s")
