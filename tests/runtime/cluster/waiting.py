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


def until_failed(team):
    """Run the jobs of a team of which one fails; the status of every block once all have ended for that."""
    team.connect()
    team.start(team.jobs)
    while "failed" not in {status.state for status in team.status()}:
        time.sleep(0.01)
    team.abort("another block failed")
    return until_ended(team)
