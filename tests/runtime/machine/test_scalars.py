"""Scalars that are read later, on a device that does nothing before somebody waits for it."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from taskflow.runtime.machine.trace.scalars import NESTED, Scalars


class Memory(np.ndarray):
    """Memory of a device: copies out of it are enqueued."""

    queue: list

    def get(self, out, stream, blocking):
        assert not blocking
        stream.append(lambda: np.copyto(out, self.view(np.ndarray)))


class Device:
    """One lane; `work(n)` does the first n things on it."""

    kind = "gpu"

    def __init__(self):
        self.stream, self.finished = [], 0

    def allocate(self, shape, dtype):
        return np.zeros(shape, dtype).view(Memory)

    def work(self):
        while self.stream:
            self.stream.pop(0)()
            self.finished += 1

    def reached(self):
        goal = self.finished + len(self.stream)
        return lambda: self.finished >= goal

    def wait(self, reached):
        while not reached():
            self.stream.pop(0)()
            self.finished += 1


@pytest.fixture
def device(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupyx", SimpleNamespace(empty_pinned=lambda shape, dtype: np.full(shape, np.nan)))
    return Device()


def made(device):
    """Scalars, and what enqueues a new value of one."""
    scalars = Scalars(device, device, device.wait)
    top = scalars.array("top")

    def produce(value):
        device.stream.append(lambda: top.fill(value))
        scalars.changed(["top"])

    return scalars, produce


def test_what_is_read_later_is_what_it_was_then(device):
    scalars, produce = made(device)
    produce(1.0)
    first = scalars.later()
    produce(2.0)
    assert dict(first()) == {"top": 1.0}


def test_a_question_may_stay_open_while_others_are_asked_and_answered(device):
    """As one repetition's does while another one inside of it goes round and round."""
    scalars, produce = made(device)
    produce(1.0)
    outer, inner = scalars.later(), None
    for value in range(2, 8):
        produce(float(value))
        if inner is not None:
            assert inner() == {"top": value - 1.0}
        inner = scalars.later()
    device.work()
    assert outer() == {"top": 1.0}
    assert inner() == {"top": 7.0}


def test_buffers_are_used_again(device):
    scalars, produce = made(device)
    for value in range(20):
        produce(float(value))
        assert scalars.later()() == {"top": value}
    assert len(scalars._pinned) == NESTED


def test_more_questions_may_be_open_than_buffers_were_made(device):
    scalars, produce = made(device)
    asked = []
    for value in range(2 * NESTED):
        produce(float(value))
        asked.append(scalars.later())
    assert [question()["top"] for question in asked] == list(range(2 * NESTED))


def test_nothing_waits_for_what_the_host_gave(device, monkeypatch):
    """Until the device has made something else of it."""
    scalars, produce = made(device)
    monkeypatch.setattr(scalars, "_put", lambda values: device.stream.append(lambda: None))
    produce(1.0)
    scalars.set({"count": 3})
    assert scalars["count"] == 3.0
    assert len(device.stream) == 1, "nothing was waited for, nor sent: no kernel reads it"
    scalars.set({"top": 7})
    assert scalars["top"] == 7.0
    produce(2.0)
    assert scalars["top"] == 2.0
    assert not device.stream


def test_what_the_host_gave_reaches_a_kernel_that_is_bound_later(device, monkeypatch):
    scalars, _ = made(device)
    monkeypatch.setattr(scalars, "_put", lambda values: [scalars._memory.put(*item) for item in values.items()])
    scalars.set({"scale": 0.5})
    assert scalars.array("scale") == [0.5]
    scalars.set({"scale": 0.25})
    assert scalars.array("scale") == [0.25]


def test_many_are_read_with_one_question(device, monkeypatch):
    scalars, produce = made(device)
    produce(5.0)
    scalars.set({"scale": 0.5})
    asked, ask = [], scalars._fetch
    monkeypatch.setattr(scalars, "_fetch", lambda: asked.append(1) or ask())
    with pytest.raises(KeyError, match="bottom"):
        scalars.together(("top", "bottom"))
    assert not asked
    assert scalars.together(("scale", "top", "scale")) == [0.5, 5.0, 0.5]
    assert scalars.together(("top",)) == [5.0]
    assert len(asked) == 1
