"""Waiting for answers: no longer than others may be silent, and not at all for what this process slept."""

import time

import pytest

from taskflow.runtime.cluster import block_group
from taskflow.runtime.cluster.block_group import await_all


class Call:
    """Answers after some waits; `sleeps`: the process is stopped in each of them for so long."""

    def __init__(self, waits, sleeps=0.0):
        self.waits, self.sleeps, self.asked = waits, sleeps, 0

    def done(self):
        return self.asked >= self.waits

    def result(self, timeout):
        assert 0 < timeout <= block_group.SLICE
        self.asked += 1
        time.sleep(self.sleeps)
        raise TimeoutError


def test_all_are_waited_for_together():
    """Silent ones share the time: many cost no more than one."""
    calls = [Call(2), Call(10**9), Call(10**9)]
    await_all(calls, 10 * block_group.SLICE)
    assert [call.done() for call in calls] == [True, False, False]
    assert sum(call.asked for call in calls) in (11, 12)  # the wait that brings an answer is not counted


def test_an_answer_that_is_there_is_not_waited_for():
    present, silent = Call(0), Call(10**9)
    await_all([present, silent], 2 * block_group.SLICE)
    assert (present.asked, silent.asked) == (0, 2)


@pytest.mark.parametrize("waits", [3, 5])
def test_sleep_of_this_process_is_nobodys_silence(waits, monkeypatch):
    """Each wait takes many times as long as it should, as after Ctrl-Z."""
    monkeypatch.setattr(block_group, "SLICE", 1e-3)
    call = Call(waits, sleeps=0.02)
    await_all([call], 4e-3)
    assert call.done() == (waits == 3)
