"""Blocks that fill each other's ghost cells: every order that the flags allow has the bits of one memory."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskflow.runtime.machine import Mapper
from taskflow.runtime.machine.direct import board
from taskflow.runtime.machine.direct.exchange import DirectExchange
from taskflow.runtime.machine.direct.flags import Flag
from tests.runtime.machine import lazy, lazy_direct
from tests.runtime.machine.programs import region
from tests.runtime.machine.test_interleavings import LARGE, Many, Sweeps, same
from tests.runtime.tasks.palette import partitions, scripts

WAYS = ["none", "comm", "full"]


def install(monkeypatch, seed, sees=lambda one, other: True, drop=lambda operation: False):
    lazy.install(monkeypatch, seed, drop, lazy.World(seed, shared=True))
    lazy_direct.install(monkeypatch, sees)


@pytest.mark.parametrize("overlap", WAYS)
@pytest.mark.parametrize("shape", [(1, 1, 1), (2, 1, 1), (1, 1, 2), (2, 1, 2), LARGE], ids=str)
@pytest.mark.parametrize("periodic", [(False, True, False), (True, True, True)], ids=["walls", "periodic"])
def test_every_order_has_the_same_bits(monkeypatch, shape, overlap, periodic):
    """Rows of 10 cells go straight into ghost cells, shorter ones through inboxes."""
    for seed in range(3 if overlap == "full" else 1):
        install(monkeypatch, seed)
        assert same(region((10, 4, 9), periodic), shape, Mapper(overlap)), seed


@pytest.mark.parametrize("overlap", WAYS)
def test_hosts_that_do_not_see_each_other(monkeypatch, overlap):
    """Messages of both kinds, and reductions by the hosts."""
    for seed in range(3):
        install(monkeypatch, seed, lambda one, other: one // 2 == other // 2)
        assert same(region((10, 4, 9)), (2, 1, 2), Mapper(overlap)), seed


@pytest.mark.fast("4-none-*", "10-comm-*", "10-full-*")
@pytest.mark.parametrize("kind", [Sweeps, Many])
@pytest.mark.parametrize("overlap", WAYS)
@pytest.mark.parametrize("width", [4, 10])
def test_messages_that_go_one_way(monkeypatch, overlap, kind, width):
    for seed in range(4):
        install(monkeypatch, seed)
        assert same(region((width, 4, 9)), (1, 1, 3), Mapper(overlap), kind), seed


def test_poison_is_in_order_too(monkeypatch):
    for seed in range(3):
        install(monkeypatch, seed)
        assert same(region((10, 4, 9)), (2, 1, 2), Mapper("full", debug=True)), seed


@settings(max_examples=settings.default.max_examples, derandomize=True, deadline=None)
@given(st.data(), partitions(), st.sampled_from([*WAYS, "auto"]), st.sampled_from((3, 8)), st.integers(0, 99))
def test_random_programs(data, partition, overlap, narrow, seed):
    """Two that take turns, so that what is in an inbox is overwritten by other messages."""
    programs = data.draw(scripts(partition.region, most=3)), data.draw(scripts(partition.region, most=3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(board, "NARROW", narrow)
        patch.setattr(board, "AT_ONCE", 1)  # for some there is no room
        install(patch, seed)
        assert same(partition.region, partition.shape, Mapper(overlap), lambda space: programs)


# ------------------------------------------------------------------------------------------- what is wrong is noticed


def different(monkeypatch, width, kind=Sweeps, **options):
    """In how many of some orders there are other bits."""
    result = 0
    for seed in range(8):
        install(monkeypatch, seed, **options)
        result += not same(region((width, 4, 9)), (1, 1, 3), Mapper("full"), kind)
    return result


@pytest.mark.parametrize("width", [4, 10])
def test_without_permission_some_order_has_other_bits(monkeypatch, width):
    always, counts = np.full(1, 2**31, np.uint32), np.zeros(1, np.uint32)
    monkeypatch.setattr(DirectExchange, "claim", lambda *_: Flag(always.ctypes.data, counts.ctypes.data))
    assert different(monkeypatch, width) > 0


@pytest.mark.parametrize("width", [4, 10])
def test_without_waiting_for_arrivals_some_order_has_other_bits(monkeypatch, width):
    always, counts = np.full(1, 2**31, np.uint32), np.zeros(1, np.uint32)
    monkeypatch.setattr(DirectExchange, "arrival", lambda *_: Flag(always.ctypes.data, counts.ctypes.data))
    assert different(monkeypatch, width) > 0


def test_what_is_not_unpacked_is_missed(monkeypatch):
    assert different(monkeypatch, 4, drop=lambda operation: operation.kind == "unpack") == 8
