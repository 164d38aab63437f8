"""Profiles of a GPU: stamps in order and on the host's clock, with CUDA graphs and without; results as ever."""

import time

import numpy as np
import pytest

from taskflow.runtime.machine import run_threads
from taskflow.runtime.machine.device import gpu, lanes
from taskflow.runtime.profile import profiled, summarise
from taskflow.runtime.profile.stamp import Stamps
from taskflow.runtime.regions import Partition
from tests.runtime.machine.test_shard import NAMES, Everything, noise, region

pytestmark = pytest.mark.gpu


def test_stamps_are_in_order_and_on_the_hosts_clock():
    device = gpu()
    plain, _ = lanes(device)
    stamps = Stamps(device, plain)
    for _ in range(20):  # other processes may have turns on the GPU, of milliseconds
        offset, cost = stamps.calibrate()
        if offset.accuracy < 1_000_000 and cost < 100_000:
            break
    assert 0 < offset.accuracy < 1_000_000
    assert 0 <= cost < 100_000
    before = time.perf_counter_ns()
    for _ in range(100):
        stamps.stamp()
    result = np.array(stamps.read()) + offset.add
    after = time.perf_counter_ns()
    assert len(result) == 100
    assert (np.diff(result) >= 0).all()
    assert before - offset.accuracy <= result[0] <= result[-1] <= after + offset.accuracy


def test_tasks_with_python_bodies():
    space = region((6, 4, 9))
    start, program = noise(space), Everything(space)

    def job(shard):
        shard.write({name: start[name][shard.instances.box.slices(space.cells.grow(1).lo)] for name in NAMES},
                    shard.instances.box)  # fmt: skip
        with profiled(shard) as profiler:
            for _ in range(8):
                shard.run(program, dt=0.5)
        return profiler.timeline

    timelines = run_threads(Partition(space, (1, 1, 2)), job, gpu())
    assert summarise(timelines)["passes"]["Everything"] >= 3
