"""Profiles of a GPU: stamps in order and on the host's clock, with CUDA graphs and without; results as ever."""

import time
from itertools import pairwise

import numpy as np
import pytest

from taskflow.machine import Mapper, run_threads
from taskflow.machine.device import gpu, lanes
from taskflow.machine.profile import chrome, profiled, summarise
from taskflow.machine.profile.stamp import Stamps
from taskflow.regions import Partition
from taskflow.simulation.build.simulation import Simulation
from taskflow.simulation.case import Case
from tests.machine.test_shard import NAMES, Everything, noise, region

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(300)]

SETTINGS = ["grid.cells=[128,64,128]", "grid.lengths=[1.0,0.5,1.0]", "machine.precision=single"]


def test_stamps_are_in_order_and_on_the_hosts_clock():
    device = gpu()
    plain, _ = lanes(device)
    stamps = Stamps(device, plain)
    offset, cost = stamps.calibrate()
    assert 0 < offset.accuracy < 1_000_000
    assert 0 <= cost < 100_000
    before = time.perf_counter_ns()
    for _ in range(100):
        stamps.stamp()
    found = np.array(stamps.read()) + offset.add
    after = time.perf_counter_ns()
    assert len(found) == 100
    assert (np.diff(found) >= 0).all()
    assert before - offset.accuracy <= found[0] <= found[-1] <= after + offset.accuracy


@pytest.mark.parametrize("graphs", [True, False])
@pytest.mark.parametrize("overlap", ["none", "comm", "full"])
@pytest.mark.parametrize("blocks", [(1, 1, 1), (1, 1, 2)])
def test_a_flow(blocks, overlap, graphs):
    setup = Simulation(Case.load("examples/lid_driven_cavity.toml", SETTINGS), blocks)

    def job(shard):
        shard.run(setup.model.start, dt=1.0)
        shard.synchronize()
        with profiled(shard) as profiler:
            for _ in range(12):
                shard.run(setup.model.step, dt=1e-3, ratio=1.0)
        shard.run(setup.model.step, dt=1e-3, ratio=1.0)
        return profiler.timeline, shard.read("p")

    results = run_threads(setup.partition, job, gpu(), Mapper(overlap, graphs=graphs))
    timelines = [timeline for timeline, _ in results]
    for timeline in timelines:
        assert len(timeline.passes) == 12
        assert len(timeline.typical) >= 6
        tracks = {span.track for p in timeline.passes for span in p.spans}
        assert {"plain", "urgent"} & tracks == {"plain", *({"urgent"} if overlap == "full" else ())}
        for track in ("plain", "urgent"):
            ends = [(s.start, s.end) for p in timeline.passes for s in p.spans if s.track == track]
            assert all(start <= end for start, end in ends)
            assert all(end <= start for (_, end), (start, _) in pairwise(ends))
        slack = timeline.accuracy["device"] + timeline.accuracy["host"]
        for p in timeline.passes:
            assert p.start <= p.issued <= p.end
            assert all(span.start >= p.start - slack for span in p.spans)
    found = summarise(timelines)
    assert sum(found["shares"].values()) == pytest.approx(1)
    assert found["shares"]["compute"] > 0
    assert 0 < found["critical_path"]["share"] < 1.05
    assert (found["overlap"]["fraction"] is None) == (blocks == (1, 1, 1))
    if graphs and blocks == (1, 1, 1):
        assert found["host"]["calls_per_pass"] < 10
    events = [event for event in chrome(timelines)["traceEvents"] if event["ph"] != "M"]
    assert [event["ts"] for event in events] == sorted(event["ts"] for event in events)

    def bare(shard):
        shard.run(setup.model.start, dt=1.0)
        for _ in range(13):
            shard.run(setup.model.step, dt=1e-3, ratio=1.0)
        return shard.read("p")

    for (_, marked), expected in zip(results, run_threads(setup.partition, bare, gpu(), Mapper(overlap)), strict=True):
        np.testing.assert_array_equal(marked, expected)


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
