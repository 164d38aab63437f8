"""Signals that end a run: noted while blocks compute, raised otherwise, and handled as before afterwards."""

import os
import signal

import pytest

from taskflow.common.errors import Terminated
from taskflow.runtime.host.signals import SYSTEM, noted, terminable

WATCHED = (signal.SIGINT, *SYSTEM)


def send(number):
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("first", WATCHED)
def test_the_first_signal_is_noted_and_the_second_is_raised(first):
    handlers = [signal.getsignal(number) for number in WATCHED]
    with terminable(), noted(WATCHED) as came:
        send(first)
        assert came == [first]
        send(signal.SIGHUP)  # closed terminals repeat it
        with pytest.raises(Terminated, match="SIGTERM"):
            send(signal.SIGTERM)
    assert [signal.getsignal(number) for number in WATCHED] == handlers


def test_signals_are_raised_before_and_after_the_blocks_compute():
    with terminable():
        for _ in range(2):
            with pytest.raises(Terminated, match="SIGTERM"):
                send(signal.SIGTERM)
            with noted(WATCHED) as came, terminable(), noted([signal.SIGINT]):  # a run in a callback of another
                pass
            assert not came
        with noted(WATCHED) as came:
            send(signal.SIGHUP)
        assert came == [signal.SIGHUP]


def test_an_ignored_hang_up_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with terminable(), noted(WATCHED) as came:
            send(signal.SIGHUP)
        assert not came
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
