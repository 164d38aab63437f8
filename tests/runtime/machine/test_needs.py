"""The memory that blocks are said to need for programs is what they hold, to the byte."""

import pytest

from taskflow.runtime.machine import Mapper, run_threads
from taskflow.runtime.machine.device import Cpu
from taskflow.runtime.machine.direct import Board
from taskflow.runtime.machine.needs import MemoryCount, Passes
from taskflow.runtime.regions import Partition
from taskflow.runtime.tasks import Geometries
from tests.runtime.machine.programs import Everything, Variants, region


class Counting(Cpu):
    """Counts the bytes of all arrays that it makes."""

    nbytes = 0

    def allocate(self, shape, dtype):
        array = super().allocate(shape, dtype)
        self.nbytes += array.nbytes
        return array


def counted(partition, programs, device="cpu", direct=None):
    """What each block needs for some programs, any of which may follow any other."""
    blocks = range(len(partition))
    passes = Passes(partition, blocks, Geometries(partition), programs[0], dict.fromkeys(programs, programs))
    count = MemoryCount(partition, device, passes, direct)
    return [count.of(block) for block in blocks]


@pytest.mark.fast("none-shape1-peer", "comm-shape2-local")
@pytest.mark.parametrize("channel", ["local", "peer"])
@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 1, 3), (2, 1, 2)])
@pytest.mark.parametrize("overlap", ["none", "comm"])
def test_blocks_hold_what_was_counted(shape, overlap, channel):
    """Blocks of one process that copy into each other's ghost cells have no buffers."""
    space = region((6, 4, 9))
    partition, programs = Partition(space, shape), [Everything(space), Variants(space)]
    devices = [Counting(1) for _ in range(len(partition))]

    def job(shard):
        for n in (0, 0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0):
            shard.run(programs[n], dt=0.5)
        return shard.memory

    held = run_threads(partition, job, devices, Mapper(overlap), channel=channel)
    direct = (lambda one, other: True) if channel == "local" else None
    for device, memory, need in zip(devices, held, counted(partition, programs, direct=direct), strict=True):
        assert (memory["fields"], memory["buffers"], memory["board"]) == (need.fields, need.buffers, need.board)
        assert device.nbytes == need.total
        assert (need.buffers > 0) == (len(partition) > 1 and channel == "peer")


def test_blocks_that_see_each_other_need_boards_in_place_of_buffers():
    space = region((6, 4, 9))
    partition = Partition(space, (1, 1, 2))
    near = counted(partition, [Everything(space)], "gpu", lambda one, other: True)
    far = counted(partition, [Everything(space)], "gpu", lambda one, other: False)
    assert all(need.board >= Board(2).nbytes for need in (*near, *far))
    assert all(need.buffers == 0 for need in near)
    assert [need.buffers for need in far] == [need.buffers for need in counted(partition, [Everything(space)])]
