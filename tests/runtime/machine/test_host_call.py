"""Calls of compiled functions in a row, done by one call of C."""

import ctypes

import numpy as np
import pytest

from taskflow.runtime.machine import run_threads
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.machine.kernel.compile_host import library
from taskflow.runtime.machine.kernel.host_call import CallSequence, HostCall, host_call, joined, list_call
from taskflow.runtime.regions import Partition, region
from taskflow.runtime.tasks import ReadWrite, Reduce, Scalar, task

TEXT = """
extern "C" void call_grow(void** block) { double* x = (double*)block[0]; *x = 2 * *x + *(const double*)block[1]; }
extern "C" void call_add(void** block, const long long* begins, int count, int threads) {
  *(double*)block[0] += 1000 * begins[count] + 100 * count + threads;
}
extern "C" int call_wait(double* left) { return *left > 0 ? int((*left)--) : 0; }
"""


@pytest.fixture
def number():
    return np.array([1.0])


def grow(number, more):
    return host_call(library(TEXT), "grow", [np.uint64(number.ctypes.data), np.array(more)], number)


def add(number):
    table = (ctypes.c_void_p * 1)(number.ctypes.data)
    return list_call(library(TEXT).call_add, ctypes.addressof(table), np.array([0, 3, 7]), 5, (table, number))


def test_calls_in_a_row_are_one(number):
    calls = list(joined([grow(number, 1.0), add(number), lambda: number.__imul__(-1), grow(number, 4.0)]))
    assert [isinstance(call, CallSequence) for call in calls] == [True, False, True]
    for call in calls:
        call()
    assert number[0] == 2 * -(3 + 7205) + 4


def test_each_alone_does_the_same(number):
    for call in (grow(number, 1.0), add(number)):
        call()
    assert number[0] == 3 + 7205


def test_replays_end_where_a_number_says_so(number):
    stop, replay = np.zeros(1), CallSequence([grow(number, 1.0)])
    assert replay.repeat(4, stop.ctypes.data) == 4
    assert number[0] == 31
    stop[0] = -1
    assert replay.repeat(4, stop.ctypes.data) == 1
    assert replay.repeat(2, None) == 2
    assert number[0] == 255


def test_a_replay_waits_for_one_call_and_goes_on_from_there(number):
    left, late = np.array([3.0]), []
    wait = HostCall(library(TEXT).call_wait, left.ctypes.data, left, late=lambda *given: late.append(given))
    replay = CallSequence([grow(number, 0.0), wait, grow(number, 1.0)])
    replay()
    assert late == [(3, True), (2, False), (1, False)]
    assert number[0] == 5
    left[0] = 1
    assert replay.repeat(2, None) == 2
    assert late[3:] == [(1, True)]
    assert number[0] == 4 * (4 * 5 + 1) + 1


KERNEL = """
TASK double_and_look(Range range, InOut p, In64 most, Partial beyond) {
  for_cells(range, CELL(c) { p[c] = 2 * p[c]; });
  reduce_cells(range, beyond, MAX, CELL(c) { return p[c] > *most ? 1.0 : 0.0; });
}
"""


@task(kernel=KERNEL)
def double_and_look(p: ReadWrite, *, most: Scalar, beyond: Reduce[max]) -> None:
    """p = 2 p, and whether it is beyond a number somewhere"""
    p[...] = 2 * p[...]
    beyond.fold(p[...] > most)


SPACE = region((4, 4, 2), ("p",))


def doubled(f):
    yield double_and_look(f.p, over=SPACE.cells, most="most", beyond="beyond")


@pytest.mark.parametrize(("most", "times", "expected"), [(100.0, 20, 128.0), (100.0, 3, 8.0), (1.0, 5, 2.0)])
@pytest.mark.parametrize("blocks", [(1, 1, 1), (1, 1, 2)], ids=str)
def test_passes_end_where_a_scalar_says_so(most, times, expected, blocks):
    """In C, also where blocks wait for each other."""

    def job(shard):
        shard.write({"p": np.ones(shard.read("p").shape)})
        shard.run_often(doubled, times, "beyond", most=most)
        assert all([type(call) for call in trace.calls] == [CallSequence] for trace in shard.traces)
        return shard.read("p").max(), shard.scalars["beyond"], shard.scalars["most"]

    for found in run_threads(Partition(SPACE, blocks), job, cpu(1)):
        assert found == (expected, float(expected > most), most)
