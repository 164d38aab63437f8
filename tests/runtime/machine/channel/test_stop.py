"""The bell loses no ring, drives its engines, and a stop ends a wait quickly."""

import gc
import os
import threading
import time

import pytest

from taskflow.common.errors import Aborted, ChannelTimeout
from taskflow.runtime.machine.channel import Deadline, Pending, Stop
from taskflow.runtime.machine.channel.base import Envelope
from taskflow.runtime.machine.channel.stop import Bell
from tests.speed import SOON


class Never(Pending):
    """A message that never comes."""

    done = False

    def settle(self) -> None:
        raise AssertionError("nothing to settle")


def never(stop: Stop) -> Never:
    return Never(stop, Envelope("test", 0, 1, 5, False))


def test_a_ring_before_the_sleep_ends_it_at_once() -> None:
    bell = Bell()
    bell.ring()
    begin = time.monotonic()
    bell.sleep(300.0)
    assert time.monotonic() - begin < SOON


def test_a_ring_during_the_sleep_ends_it() -> None:
    bell = Bell()
    threading.Timer(0.1, bell.ring).start()
    begin = time.monotonic()
    bell.sleep(300.0)
    assert time.monotonic() - begin < SOON


def test_rings_are_not_remembered_beyond_one_sleep() -> None:
    bell = Bell()
    for _ in range(100_000):  # more than a pipe holds, if each were written to it
        bell.ring()
    bell.sleep(0.0)
    begin = time.monotonic()
    bell.sleep(0.05)
    assert time.monotonic() - begin >= 0.05


def test_an_engine_with_work_keeps_the_thread_awake() -> None:
    class Engine:
        descriptor = None
        steps = 3

        def progress(self) -> bool:
            self.steps -= 1
            return self.steps >= 0

        def arm(self) -> bool:
            return False

    bell, engine = Bell(), Engine()
    bell.attach(engine)
    for _ in range(5):
        bell.sleep(60.0)
    steps = engine.steps
    assert steps < 0, "it was driven until it had nothing to do"
    bell.detach(engine)
    bell.detach(engine)
    bell.sleep(0.0)
    assert engine.steps == steps


def test_a_thread_whose_sleeps_are_long_looks_less_often_before_the_next() -> None:
    class Engine:
        descriptor = None
        looks = 0

        def progress(self) -> bool:
            self.looks += 1
            return False

        def arm(self) -> bool:
            return True

    bell, engine, looks = Bell(), Engine(), []
    bell.attach(engine)
    for _ in range(12):
        engine.looks = 0
        bell.sleep(1e-3)
        looks.append(engine.looks)
    assert max(looks[:3]) > 1
    assert max(looks[-2:]) <= 2


def test_an_engine_descriptor_ends_the_sleep() -> None:
    inlet, outlet = os.pipe()

    class Engine:
        descriptor = inlet

        def progress(self) -> bool:
            return False

        def arm(self) -> bool:
            return True

    bell = Bell()
    bell.attach(Engine())
    threading.Timer(0.1, os.write, (outlet, b"x")).start()
    begin = time.monotonic()
    bell.sleep(300.0)
    assert time.monotonic() - begin < SOON
    os.close(inlet)
    os.close(outlet)


def test_a_stop_ends_waits_within_50_ms() -> None:
    delays = []
    for _ in range(9):
        stop = Stop()
        moments: list[float] = []

        def press(stop: Stop = stop, moments: list[float] = moments) -> None:
            moments.append(time.monotonic())
            stop.set("enough")

        threading.Timer(0.05, press).start()
        with pytest.raises(Aborted, match="enough"):
            never(stop).wait(Deadline.after(300.0))
        delays.append(time.monotonic() - moments[0])
    assert min(delays) < 0.05  # others may have the processors in some of them


def test_a_bell_without_spin_gives_the_core_away_at_once() -> None:
    """As where there are more blocks than cores: what a block waits for needs the core on which it would look again."""
    looks = []

    class Idle:
        descriptor = None

        def progress(self) -> bool:
            looks.append(True)
            return False

        def arm(self) -> bool:
            return True

    bell = Stop(spin=0.0).bell
    bell.attach(Idle())
    for _ in range(20):
        bell.sleep(0.0)
    assert len(looks) == 20


def test_the_first_reason_stands_and_later_waits_fail_too() -> None:
    stop = Stop()
    assert stop.reason is None
    stop.check()
    stop.set("disk full")
    stop.set("and something else")
    assert stop.reason == "disk full"
    with pytest.raises(Aborted, match=r"^disk full$"):
        never(stop).wait(Deadline.after(0.0))


def test_what_else_has_to_end_is_called_once_by_whoever_stops_the_block() -> None:
    """Or at once, where the block has been stopped already."""
    stop, called = Stop(), []
    stop.also(lambda: called.append("before"))
    assert called == []
    stop.set("first")
    stop.set("second")
    assert called == ["before"]
    stop.also(lambda: called.append("after"))
    assert called == ["before", "after"]


def test_a_deadline_names_the_message() -> None:
    with pytest.raises(ChannelTimeout, match=r"^message 5 from block 1 to block 0 \(test\) was not there after 0.1 s$"):
        never(Stop()).wait(Deadline.after(0.1))


def test_a_bell_gives_its_descriptors_back(monkeypatch: pytest.MonkeyPatch) -> None:
    closed, close = [], os.close
    monkeypatch.setattr(os, "close", lambda descriptor: (closed.append(descriptor), close(descriptor)))
    bell = Bell()
    descriptors = {bell._inlet, bell._outlet}
    del bell
    gc.collect()
    assert descriptors <= set(closed)
