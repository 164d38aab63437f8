"""Blocks of one process on cores copy into each other's ghost cells, and sleep while they wait."""

import threading
import time

import numpy as np
import pytest

from taskflow.common.errors import Aborted, ChannelTimeout, RunFailed
from taskflow.runtime.machine import Mapper, run_threads
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.regions import Partition
from taskflow.runtime.tasks import Read, Reduce, task
from tests.runtime.machine.programs import NAMES, Everything, noise, region
from tests.speed import SOON

SPACE = region((6, 4, 12), (True, True, True))
LATE = 0.3  # seconds


@task
def judge(q: Read, *, total: Reduce[sum], most: Reduce[max], least: Reduce[min]) -> None:
    """The sum and the extremes of q."""
    total.fold(q[...])
    most.fold(q[...])
    least.fold(q[...])


def states(channel, shape):
    """Fields and scalars of all blocks after some steps, and the operations that they did."""
    start, program, partition = noise(SPACE), Everything(SPACE), Partition(SPACE, shape)
    origin = SPACE.cells.grow(SPACE.ghost).lo

    def job(shard):
        for name in NAMES:
            shard.instances.array(name)[...] = start[name][shard.instances.box.slices(origin)]
        for _ in range(5):
            shard.run(program, dt=0.5)
        kinds = {operation.kind for trace in shard.traces for operation in trace.operations}
        return {role: shard.read(role) for role in NAMES}, dict(shard.scalars), kinds

    return run_threads(partition, job, cpu(1), Mapper("none"), channel=channel)


@pytest.mark.parametrize("shape", [(1, 1, 4), (2, 2, 3)])
def test_the_bits_are_those_of_a_channel(shape):
    pairs = zip(states("local", shape), states("peer", shape), strict=True)
    for (fields, scalars, kinds), (other, others, usual) in pairs:
        assert scalars == others
        for role, values in fields.items():
            np.testing.assert_array_equal(values, other[role])
        assert "send" not in kinds
        assert "await" not in usual


@pytest.mark.parametrize("values", [(0.1, -0.0, 1e16, -1e16), (-0.0, -0.0, -0.0, -1.0), (0.1, 3.0, -np.nan, 1.0)])
def test_reductions_are_those_of_a_channel(values):
    """In the order of the blocks, with one zero and one NaN."""

    def job(shard):
        for scale in (1.0, -1.0):
            shard.write({"q": np.full(shard.cells.shape[::-1], values[shard.block] * scale)})
            shard.run(lambda f: iter([judge(f.q, over=SPACE.cells, total="total", most="most", least="least")]))
            yield [shard.scalars[name] for name in ("total", "most", "least")]
            yield shard.allreduce([values[shard.block] * scale] * 3, ("sum", "max", "min")).tolist()

    direct, usual = (
        run_threads(Partition(SPACE, (1, 1, 4)), lambda shard: [*job(shard)], cpu(1), Mapper("none"), channel=channel)
        for channel in ("local", "peer")
    )
    np.testing.assert_array_equal(np.array(direct).view(np.int64), np.array(usual).view(np.int64))


def test_more_numbers_than_a_task_has_are_folded():
    def job(shard):
        return [shard.allreduce([shard.block + 0.1 * n for n in range(count)], "sum").tolist() for count in (40, 2)]

    for many, few in run_threads(Partition(SPACE, (1, 1, 4)), job, cpu(1), Mapper("none")):
        assert many == [(0.1 * n + (1 + 0.1 * n)) + (2 + 0.1 * n) + (3 + 0.1 * n) for n in range(40)]
        assert few == many[:2]


def test_a_block_that_waits_sleeps():
    waits = threading.Event()

    def job(shard):
        shard.run(Everything(SPACE), dt=0.5)
        if shard.block == 0:
            waits.wait()
            time.sleep(LATE)
        began = time.thread_time(), time.perf_counter()
        waits.set()
        shard.run(Everything(SPACE), dt=0.5)
        return time.thread_time() - began[0], time.perf_counter() - began[1]

    (_, _), (spent, wall) = run_threads(Partition(SPACE, (1, 1, 2)), job, cpu(1), Mapper("none"))
    assert wall > LATE / 2
    assert spent < LATE / 3


def test_a_wait_ends_and_names_what_was_not_there():
    def job(shard):
        if shard.block == 1:
            time.sleep(3 * LATE)
        shard.run(Everything(SPACE), dt=0.5)

    with pytest.raises(ChannelTimeout, match=r"block 1.*\(local\) was not there after 0.3 s"):
        run_threads(Partition(SPACE, (1, 1, 2)), job, cpu(1), Mapper("none"), patience=LATE)


def test_a_failing_block_ends_a_wait():
    ended = []

    def job(shard):
        shard.run(Everything(SPACE), dt=0.5)
        if shard.block == 1:
            raise RunFailed("no more")
        began = time.perf_counter()
        try:
            shard.run(Everything(SPACE), dt=0.5)
        except Aborted:
            ended.append(time.perf_counter() - began)
            raise

    with pytest.raises(RunFailed, match="no more"):
        run_threads(Partition(SPACE, (1, 1, 2)), job, cpu(1), Mapper("none"), patience=600.0)
    assert ended[0] < SOON
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("taskflow-block")]
