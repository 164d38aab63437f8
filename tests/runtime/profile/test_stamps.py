"""Stamps of a GPU's lane, which is played: a log, its offset from the host's clock, and the cost of a stamp."""

import time
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

from taskflow.runtime.profile import stamp
from taskflow.runtime.profile.stamp import Stamps

LATE, COST = 12_345_678_901, 700  # nanoseconds


class Gpu:
    """A GPU whose clock is late. A kernel runs when it is enqueued, or when the lane is no longer held."""

    def __init__(self):
        self.logs, self.moment = {}, None

    def allocate(self, shape, dtype):
        log = np.full(shape, 9, dtype)
        log[0] = 0
        self.logs[self.pointer(log)] = log
        return log

    def pointer(self, log):
        return log.ctypes.data

    def to_host(self, log):
        return np.array(log)

    def call(self, name, shape, values, lane, log):
        """What a launch of one of the two kernels does."""
        assert shape == ((1, 1, 1), (1, 1, 1))

        def stamped():
            written, capacity = self.logs[int(values[0])], int(values[1])
            if self.moment is not None:
                self.moment += COST  # one after the other
            if written[0] < capacity:
                written[int(written[0]) + 1] = self.moment or time.perf_counter_ns() - LATE
            written[0] += 1

        def held():
            self.moment = time.perf_counter_ns() - LATE + int(values[0])

        return {"stamp": stamped, "hold": held}[name]


@contextmanager
def active():
    yield


@pytest.fixture
def stamps(monkeypatch):
    gpu = Gpu()
    monkeypatch.setattr(stamp.compile_cuda, "module", lambda text: SimpleNamespace(get_function=lambda name: name))
    monkeypatch.setattr(stamp, "cuda_call", gpu.call)
    return Stamps(gpu, SimpleNamespace(active=active, synchronize=lambda: None))


def test_stamps_are_read_in_order_and_cleared(stamps):
    for _ in range(3):
        stamps.stamp()
    read = stamps.read()
    assert len(read) == 3
    assert read == sorted(read)
    stamps.clear()
    assert stamps.read() == []
    stamps.stamp()
    assert len(stamps.read()) == 1


def test_a_full_log_keeps_the_first_stamps(monkeypatch, stamps):
    monkeypatch.setattr(stamp, "CAPACITY", 4)
    small = Stamps(stamps.device, stamps.lane)
    small.stamp()
    first = small.read()
    for _ in range(9):
        small.stamp()
    assert len(small.read()) == 4
    assert small.read()[:1] == first


def test_the_offset_of_the_clock_and_the_cost_of_a_stamp_are_found(stamps):
    """The cost is of stamps that follow each other on a lane that was held meanwhile. The log is empty afterwards."""
    offset, cost = stamps.calibrate()
    assert abs(offset.add - LATE) <= offset.accuracy + 1
    assert cost == COST
    assert stamps.read() == []
