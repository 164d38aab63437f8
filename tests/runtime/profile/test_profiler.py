"""The profiler on shards of this process: it sees what is done, changes nothing, and leaves nothing behind."""

import time

import numpy as np
import pytest

from taskflow.common.errors import BadInput
from taskflow.runtime.machine import Mapper, run_threads
from taskflow.runtime.machine.device import Lane, cpu
from taskflow.runtime.profile import Profiler, Ranges, profiled
from taskflow.runtime.profile.stamp import Offset, host_offset, narrowest
from taskflow.runtime.regions import Partition
from tests.runtime.machine.programs import NAMES, Everything, noise, region

SPACE = region((6, 4, 9))
PROGRAM, START = Everything(SPACE), noise(SPACE)
ORIGIN = SPACE.cells.grow(SPACE.ghost).lo


def on_blocks(job, overlap="comm", shape=(1, 1, 2), channel=""):
    """What `job` returns on each block, begun with the same values."""

    def begin(shard):
        for name in NAMES:
            shard.instances.array(name)[...] = START[name][shard.instances.box.slices(ORIGIN)]
        return job(shard)

    return run_threads(Partition(SPACE, shape), begin, cpu(1), Mapper(overlap), patience=20.0, channel=channel)


def steps(shard, count):
    for _ in range(count):
        shard.run(PROGRAM, dt=0.5)


@pytest.mark.parametrize("overlap", ["none", "comm"])
def test_results_are_the_same(overlap):
    def marked(shard):
        steps(shard, 2)
        with profiled(shard):
            steps(shard, 6)
        steps(shard, 2)
        return {name: shard.read(name) for name in NAMES}

    def bare(shard):
        steps(shard, 10)
        return {name: shard.read(name) for name in NAMES}

    for result, expected in zip(on_blocks(marked, overlap), on_blocks(bare, overlap), strict=True):
        for name in NAMES:
            np.testing.assert_array_equal(result[name], expected[name])


KINDS = {
    "local": {("grant", "signal"), ("claim", "await"), ("send", "pack"), ("send", "signal"), ("receive", "await")},
    "peer": {("send", "free"), ("send", "pack"), ("send", "send"), ("receive", "receive"), ("receive", "unpack")},
}


@pytest.mark.parametrize("channel", KINDS)
def test_every_operation_is_seen_in_order_and_in_time(channel):
    """A channel needs neither grants nor claims; copies into the ghost cells of others need both."""

    def job(shard):
        steps(shard, 1)
        begin = time.time_ns()
        with profiled(shard) as profiler:
            steps(shard, 9)
        return profiler.timeline, begin, time.time_ns(), shard.block

    for timeline, begin, end, block in on_blocks(job, channel=channel):
        assert timeline.block == block
        assert len(timeline.passes) == 9
        assert sum(p.fresh for p in timeline.passes) == len(timeline.graphs)
        moments = []
        for p in timeline.passes:
            assert p.program == "Everything"
            graph = timeline.graphs[p.graph]
            done = {n for span in p.spans for n in span.nodes}
            unused = () if channel == "local" else ("grant", "claim")
            assert {n for n, vertex in enumerate(graph) if vertex.type not in unused} == done
            moments += [p.start, *(moment for s in p.spans for moment in (s.start, s.end)), p.issued]
            assert p.calls == len(p.spans)
            assert {span.track for span in p.spans} == {"host"}
            kinds = {(graph[n].type, span.kind) for span in p.spans for n in span.nodes}
            assert kinds <= KINDS[channel] | {("compute", "compute"), ("refresh", "copy"), ("allreduce", "reduce")}
        assert moments == sorted(moments)
        assert begin - 100_000_000 < moments[0] <= moments[-1] < end + 100_000_000


class Enqueuing(Lane):
    """A lane that claims to be a stream of a GPU."""

    asynchronous = True


class Written:
    """Stamps of a device whose clock is a second late."""

    late = 1_000_000_000

    def __init__(self, device, lane):
        self.log = []

    def stamp(self):
        self.log.append(time.perf_counter_ns() - self.late)

    def calibrate(self):
        return Offset(self.late, 7), 11

    def read(self):
        return self.log


@pytest.fixture
def device(monkeypatch):
    """A device with two streams that do at once what is enqueued."""
    lanes = "taskflow.runtime.machine.shard.lanes"
    monkeypatch.setattr(lanes, lambda device: (Enqueuing(device.alarm), Enqueuing(device.alarm)))
    monkeypatch.setattr("taskflow.runtime.profile.profiler.Stamps", Written)
    monkeypatch.setattr(
        "taskflow.runtime.machine.trace.traces.calls", lambda operations, lanes, graphs: [op.call for op in operations]
    )


@pytest.mark.usefixtures("device")
def test_stamps_become_spans_of_their_lane():
    def job(shard):
        with profiled(shard) as profiler:
            steps(shard, 8)
        return profiler.timeline

    for timeline in on_blocks(job, "full"):
        assert timeline.accuracy["device"] == 7
        assert timeline.accuracy["stamp"] == 11
        assert len(timeline.passes) == 8
        for p in timeline.passes:
            graph = timeline.graphs[p.graph]
            lane = {track: [s for s in p.spans if s.track == track] for track in ("host", "plain", "urgent")}
            for spans in lane.values():
                moments = [moment for span in spans for moment in (span.start, span.end)]
                assert moments == sorted(moments)
                assert p.start <= moments[0] <= moments[-1] <= p.issued
            assert {s.kind for s in lane["host"]} == {"free", "send", "receive", "reduce"}
            assert {s.kind for s in lane["plain"]} == {"compute"}
            assert {s.kind for s in lane["urgent"]} == {"compute", "pack", "unpack", "copy"}
            assert {graph[s.nodes[0]].part for s in lane["urgent"] if s.kind == "compute"} == {"edge"}
            computed = [n for s in p.spans if s.kind == "compute" for n in s.nodes]
            assert sorted(computed) == [n for n, vertex in enumerate(graph) if vertex.type == "compute"]


def test_phases_are_the_tasks_that_results_come_from():
    def job(shard):
        with profiled(shard) as profiler:
            steps(shard, 1)
        return profiler.timeline

    graph = on_blocks(job)[0].graphs[0]
    assert [v.phase for v in graph if v.type == "compute"] == [
        v.name.partition("(")[0] for v in graph if v.type == "compute"
    ]
    before = None
    for vertex in graph:
        if vertex.type in ("send", "receive", "refresh", "allreduce") and before is not None:
            assert vertex.phase == before
        before = vertex.phase if vertex.type == "compute" else before


def test_a_step_with_a_fresh_pass_is_not_typical():
    """Steps of two passes, of which the first has been seen and the second has not."""
    other = Everything(SPACE)

    def job(shard):
        with profiled(shard) as profiler:
            steps(shard, 6)
            profiler.step()
            for _ in range(6):
                shard.run(PROGRAM, dt=0.5)
                shard.run(other, dt=0.5)
                profiler.step()
        return profiler.timeline

    for timeline in on_blocks(job):
        assert len(timeline.passes) == 18
        fresh = [p.fresh for p in timeline.passes]
        later = fresh[6:]
        assert fresh[:6] == [True] * 6
        assert later[::2] == later[1::2]
        assert True in later
        assert later[-2:] == [False, False]
        assert len(timeline.typical) == later.count(False)


def test_nothing_is_left_behind():
    def job(shard):
        steps(shard, 6)
        before = shard.traces
        with profiled(shard):
            steps(shard, 3)
            within = len(shard.traces)
        return before == shard.traces, within > len(before)

    assert on_blocks(job) == [(True, True)] * 2


def test_an_error_within_ends_the_profile():
    def job(shard):
        try:
            with profiled(shard) as profiler:
                steps(shard, 1)
                raise ZeroDivisionError
        except ZeroDivisionError:
            with pytest.raises(RuntimeError, match="stopped"):
                _ = profiler.timeline
        traces = len(shard.traces)
        steps(shard, 1)
        return len(shard.traces) > traces

    assert on_blocks(job) == [True] * 2


def test_a_pass_that_an_error_ended_is_left_out():
    def job(shard):
        profiler = Profiler(shard)
        profiler.start()
        steps(shard, 2)
        profiler._replays.append(profiler._replays[-1])  # begun, and never ended
        profiler.stop()
        return len(profiler.timeline.passes)

    assert on_blocks(job, shape=(1, 1, 1)) == [2]


def test_ranges_name_every_operation():
    said = []

    def job(shard):
        shard.instrument(Ranges(said.append, lambda: said.append(None)))
        steps(shard, 1)
        return len(shard.traces[-1].operations)

    (count,) = on_blocks(job, shape=(1, 1, 1))
    assert said.count(None) == count == len(said) - count
    assert "compute relax(p, b, q) whole" in said
    assert all(name is not None for name in said[::2])


def test_without_a_library_ranges_are_refused(monkeypatch):
    monkeypatch.setattr("taskflow.runtime.profile.profiler.HOMES", (("no_such_module", "push", "pop"),))
    with pytest.raises(BadInput, match="neither nvtx nor CuPy"):
        Ranges.open()


def test_clocks():
    assert narrowest([(0, 1000, 100), (200, 1250, 210), (300, 1400, 330)]).add == 205 - 1250
    assert narrowest([(0, 0, 7)]).accuracy == 4
    offset = host_offset()
    apart = (abs(time.perf_counter_ns() + offset.add - time.time_ns()) for _ in range(9))
    assert min(apart) < 50_000_000  # others may have the processor between two looks at clocks
    assert offset.accuracy < 50_000_000
