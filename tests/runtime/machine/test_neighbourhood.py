"""What blocks on GPUs know of each other's memory: boards, fields, shares of reductions. The GPUs are played."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest

from taskflow.runtime.machine.channel import Stop
from taskflow.runtime.machine.device.memory import Arena
from taskflow.runtime.machine.direct import exchange, link
from taskflow.runtime.machine.direct.exchange import Neighbourhood
from taskflow.runtime.machine.kernel.instance import Instances
from taskflow.runtime.regions import Partition, region
from tests.runtime.machine.played_gpu import GpuArray, Memory, played_cupy
from tests.speed import SOON


class Gpu:
    """The only GPU of a process."""

    kind, tiled, ordinal, threads = "gpu", False, 0, 1

    def __init__(self, block):
        self.memory = Memory(room=1 << 28, uuid=bytes([block + 1]))
        self.xp = played_cupy(self.memory)
        self.xp.array = lambda numbers, dtype: np.array(numbers, dtype).view(GpuArray)

    def arena(self, nbytes):
        return Arena(self.xp, nbytes)

    def allocate(self, shape, dtype):
        return np.zeros(shape, dtype).view(GpuArray)

    def synchronize(self):
        self.memory.done.append("zeros are there")

    def pointer(self, array):
        return array.ctypes.data


@pytest.fixture
def blocks(monkeypatch):
    """The neighbourhoods of three blocks in a row, each in a process."""
    partition = Partition(region((8, 4, 9), ("p", "q")), (1, 1, 3))
    mine = threading.local()
    monkeypatch.setattr(link, "_digest", lambda text: mine.block if text is link.PROCESS else b"host")
    meeting, answers, found = threading.Barrier(3), {}, {}

    def join(n):
        mine.block, gpu = bytes([n + 1]), Gpu(n)

        def gather(values):
            answers[n] = values
            meeting.wait(SOON)
            together = np.array([answers[m] for m in range(3)])
            meeting.wait(SOON)
            return together

        channel = SimpleNamespace(block=n, peers=(), stop=Stop())
        found[n] = Neighbourhood(partition, gpu, Instances(partition, n, gpu), channel, gather, 1.0)

    threads = [threading.Thread(target=join, args=(n,)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [found[n] for n in range(3)]


def test_all_see_the_boards_and_the_fields_of_all(blocks):
    """A value that one writes into the field of another is where that one has it."""
    assert all(near.complete for near in blocks)
    for near in blocks:
        assert [near.boards[n].pointer for n in range(3)] == [other.board.pointer for other in blocks]
        for n, fields in near.fields.items():
            fields.view("q", fields.partition.memory[n], n)[:] = 10 * near.block + n
            own = blocks[n].instances
            assert (own.view("q", own.partition.memory[n], n) == 10 * near.block + n).all()
            assert not own.view("p", own.partition.memory[n], n).any()


def test_shares_of_a_reduction_go_to_the_boards_of_all(blocks, monkeypatch):
    """The n-th one of a trace has its places on each board, and each block its own among them."""
    folds = []
    monkeypatch.setattr(exchange.flags, "fold", lambda shares, watch, lane, keep: folds.append((shares.copy(), keep)))
    for near in blocks:
        trace = near.exchange(())
        node = SimpleNamespace(scalars={"rate": "max", "mass": "sum"})
        values = [np.array([1.5]).view(GpuArray), np.array([2.5]).view(GpuArray)]
        for contributes in (True, False):
            trace.fold(node, values, contributes, None)
    places = []
    for block in range(3):
        for number in range(2):
            shares, (values, slots, flags) = folds[2 * block + number]
            assert [*shares["value"][:2]] == [value.ctypes.data for value in values]
            assert [*shares["identity"][:2]] == [-np.inf, 0.0]
            assert (shares["numbers"], shares["blocks"], shares["contributes"]) == (2, 3, number == 0)
            assert [*slots] == [near.board.share(number, block) for near in blocks]
            assert [*flags] == [near.board.shared(number, block) for near in blocks]
            assert shares["mine"] == blocks[block].board.share(number, 0)
            places += [*slots]
    assert len(set(places)) == len(places)


def test_memory_is_let_go_of(blocks):
    """At the end, and after a failure, when waits on the device end first."""
    one, two, _ = blocks
    assert [len(near.device.memory.opened) for near in blocks] == [4, 4, 4]
    one.close()
    assert one.device.memory.opened == []
    stopped = []
    two.device.memory.deviceSynchronize = lambda: stopped.append(int(two.watch._words[0]))
    two.abandon()
    assert (two.device.memory.opened, stopped) == ([], [1])
