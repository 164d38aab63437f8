"""Profiles of a flow on a GPU, with CUDA graphs and without: results as ever."""

from itertools import pairwise

import numpy as np
import pytest

from taskflow.cases import Case
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.machine import Mapper, run_threads
from taskflow.runtime.machine.device import gpu
from taskflow.runtime.profile import chrome, profiled, summarise

pytestmark = pytest.mark.gpu

SETTINGS = ["grid.cells=[128,64,128]", "grid.lengths=[1.0,0.5,1.0]", "machine.precision=single"]



@pytest.mark.parametrize("graphs", [True, False])
@pytest.mark.parametrize("overlap", ["none", "comm", "full"])
@pytest.mark.parametrize("blocks", [(1, 1, 1), (1, 1, 2)])
def test_a_flow(blocks, overlap, graphs):
    setup = RunSetup(Case.load("examples/lid_driven_cavity.toml", SETTINGS), blocks)

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
    result = summarise(timelines)
    assert sum(result["shares"].values()) == pytest.approx(1)
    assert result["shares"]["compute"] > 0
    assert 0 < result["critical_path"]["share"] < 1.05
    assert (result["overlap"]["fraction"] is None) == (blocks == (1, 1, 1))
    if graphs and blocks == (1, 1, 1):
        assert result["host"]["calls_per_pass"] < 10
    events = [event for event in chrome(timelines)["traceEvents"] if event["ph"] != "M"]
    assert [event["ts"] for event in events] == sorted(event["ts"] for event in events)

    def bare(shard):
        shard.run(setup.model.start, dt=1.0)
        for _ in range(13):
            shard.run(setup.model.step, dt=1e-3, ratio=1.0)
        return shard.read("p")

    for (_, marked), expected in zip(results, run_threads(setup.partition, bare, gpu(), Mapper(overlap)), strict=True):
        np.testing.assert_array_equal(marked, expected)

