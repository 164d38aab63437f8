"""Which blocks open each other's memory, what they see there, and the watch over waits on a GPU. The GPU is played."""

import ctypes
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from taskflow.common.errors import Aborted, ChannelError, ChannelTimeout
from taskflow.runtime.machine.channel import Stop
from taskflow.runtime.machine.device.memory import Arena
from taskflow.runtime.machine.direct import link
from taskflow.runtime.machine.direct.link import Links, Watch
from tests.runtime.machine.played_gpu import CudaError, GpuArray, Memory, played_cupy
from tests.speed import SOON


class Block:
    """A block with two allocations on a GPU, in a process of a host."""

    def __init__(self, process="one", host="a", gpu=b"a", ordinal=0):
        self.process, self.host, self.memory = process, host, Memory(uuid=gpu)
        cupy = played_cupy(self.memory)
        self.device = SimpleNamespace(xp=cupy, ordinal=ordinal)
        self.arenas = Arena(cupy, 1024), Arena(cupy, 64)

    def offer(self, monkeypatch):
        """What it sends to all, as its process on its host does."""
        with monkeypatch.context() as patch:
            patch.setattr(link, "PROCESS", self.process)
            patch.setattr(link, "Path", lambda _: SimpleNamespace(read_text=lambda encoding: self.host))
            return link._offer(self.device, self.arenas).view(np.uint8)


def linked(blocks, monkeypatch):
    """The links of all blocks, which meet twice."""
    offers = np.array([block.offer(monkeypatch) for block in blocks])
    monkeypatch.setattr(link, "_offer", lambda device, memories: np.zeros(1, link.OFFER))
    answers, meeting, found = {}, threading.Barrier(len(blocks)), {}

    def join(n):
        def gather(mine):
            if mine.size != len(blocks):  # the offers
                return offers
            answers[n] = mine
            meeting.wait(SOON)
            return np.array([answers[m] for m in range(len(blocks))])

        found[n] = Links(blocks[n].device, blocks[n].arenas, n, gather)

    threads = [threading.Thread(target=join, args=(n,)) for n in range(len(blocks))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [found[n] for n in range(len(blocks))]


def byte(address):
    return ctypes.c_ubyte.from_address(address)


def test_processes_of_a_host_open_both_allocations_of_each_other(monkeypatch):
    one, two = blocks = Block("one", gpu=b"a"), Block("two", gpu=b"b")
    links = linked(blocks, monkeypatch)
    assert all(each.complete for each in links)
    assert [*links[0].peers] == [1]
    byte(links[0].peers[1].fields).value, byte(links[1].peers[0].board).value = 11, 22
    assert byte(two.arenas[0].pointer).value == 11
    assert byte(one.arenas[1].pointer).value == 22
    assert len(one.memory.opened) == len(two.memory.opened) == 2
    links[0].close()
    links[0].close()
    assert (one.memory.opened, len(two.memory.opened)) == ([], 2)


def test_blocks_of_a_process_see_each_other_without_handles(monkeypatch):
    one, two = blocks = Block(gpu=b"a", ordinal=0), Block(gpu=b"b", ordinal=1)
    two.memory.opened.append(0)  # it sees the first GPU already
    links = linked(blocks, monkeypatch)
    assert links[0].peers[1] == link.MemoryLink(*(arena.pointer for arena in two.arenas))
    assert links[1].peers[0].fields == one.arenas[0].pointer
    assert (one.memory.opened, two.memory.opened) == ([1], [0])


@pytest.mark.parametrize(("blocks", "pairs"), [
    ([("one", "a", b"a"), ("two", "b", b"b")], []),
    ([("one", "a", b"a"), ("one", "a", b"a")], []),
    ([("one", "a", b"a"), ("one", "a", b"a"), ("two", "a", b"b"), ("three", "a", b"b")], [(2, 3)]),
], ids=["hosts", "one GPU", "some"])  # fmt: skip
def test_not_between_hosts_nor_where_two_share_a_gpu_in_a_process(blocks, pairs, monkeypatch):
    """Waiting kernels of one could keep those of the other from starting. Processes do share GPUs."""
    links = linked([Block(*block) for block in blocks], monkeypatch)
    assert [(n, m) for n, each in enumerate(links) for m in each.peers if m > n] == pairs
    assert not any(each.complete for each in links)


def test_a_link_that_one_side_cannot_open_is_none_for_both(monkeypatch):
    one, two = blocks = Block("one", gpu=b"a"), Block("two", gpu=b"b")
    one.memory.refused.add(two.arenas[1].pointer)
    links = linked(blocks, monkeypatch)
    assert [each.peers for each in links] == [{}, {}]
    assert not links[1].complete
    links[0].close()
    assert one.memory.opened == []  # the first allocation had been opened


def test_gpus_of_a_process_that_do_not_reach_each_other(monkeypatch):
    blocks = Block(gpu=b"a", ordinal=0), Block(gpu=b"b", ordinal=1)
    blocks[0].memory.refused.add(1)
    assert [each.peers for each in linked(blocks, monkeypatch)] == [{}, {}]


def test_memory_without_handles_is_for_its_own_process(monkeypatch):
    def none(pointer):
        raise CudaError("NotSupported")

    block = Block()
    block.memory.ipcGetMemHandle = none
    offer = block.offer(monkeypatch).view(link.OFFER)[0]
    assert not any(offer["handle"].tobytes())
    assert [*offer["pointer"]] == [arena.pointer for arena in block.arenas]


class Line:
    """A receive that completes if a peer dies."""

    done = False

    def settle(self):
        raise ChannelError("block 1 is gone")


@pytest.fixture
def watch():
    cupy = played_cupy(Memory())
    device = SimpleNamespace(xp=cupy, allocate=lambda shape, dtype: np.zeros(shape, dtype).view(GpuArray))
    made = Watch(device, Stop(), 3.0, [Line()])
    made.line = made._lifelines[0]
    return made


def words(watch):
    """The words `stop` and `failed` at the addresses that kernels get."""
    return [ctypes.c_uint32.from_address(int(watch.argument[key])) for key in ("stop", "failed")]


def test_a_wait_ends_when_it_is_done(watch):
    polls = iter([False, False, True])
    watch.wait(lambda: next(polls))
    assert [word.value for word in words(watch)] == [0, 0]
    assert int(watch.argument["limit"]) == 3_000_000_000


def test_the_device_reports_what_was_not_there_by_number(watch):
    assert [watch.name("the grant of block 1"), watch.name("the cells of p from block 2")] == [1, 2]
    words(watch)[1].value = 2
    with pytest.raises(ChannelTimeout, match=r"the cells of p from block 2 \(peer\) was not there after 3 s"):
        watch.check()


def test_a_lost_peer_ends_waits_on_the_device(watch):
    """The work enqueued ends then, and the reason is the peer's."""
    watch.line.done = True
    with pytest.raises(ChannelError, match="block 1 is gone"):
        watch.wait(lambda: words(watch)[0].value == 1)


def test_a_block_that_is_stopped_ends_waits_at_once(watch):
    """Also while its own thread is in a call of the driver: the thread that stops it does."""
    watch._stop.set("enough")
    assert words(watch)[0].value == 1
    with pytest.raises(Aborted, match="enough"):
        watch.wait(lambda: True)


def test_a_long_wait_drives_the_channels(watch, monkeypatch):
    driven = []
    monkeypatch.setattr(watch._stop.bell, "sleep", driven.append)
    begun = time.monotonic()
    watch.wait(lambda: bool(driven))
    assert driven == [0.0]
    assert time.monotonic() - begun > link.SPIN
