"""The sweep by which machines are compared, the shapes it is measured on, and what is made of its times."""

import contextlib

import numpy as np
import pytest

from taskflow import BadInput
from taskflow.bench import team
from taskflow.bench.machine import jacobi
from taskflow.bench.machine.sweep import compared
from taskflow.bench.scaling import Size
from taskflow.runtime.cluster import BlockGroup, cause, embedded
from taskflow.runtime.host import survey
from taskflow.runtime.machine import Mapper, Plan, run_threads
from taskflow.runtime.machine.device import cpu, open_device
from tests.performance.runtime_costs import CountMessagesJob
from tests.runs.test_placement import pinned
from tests.runtime.host.messages import dask_messages


def swept(kind, precision, blocks, cells=(6, 5, 4), sweeps=5, overlap="none", blocked=False):
    """Some sweeps from random numbers, in blocks of so many cells: (before, after) of p, and d, everywhere."""
    partition = jacobi.partition(cells, blocks, precision, blocked=blocked)
    program = jacobi.Sweeps(partition.region.cells, sweeps, blocked=blocked)

    def job(shard):
        jacobi.fill(shard)
        before = {name: shard.read(name) for name in ("p", "d")}
        shard.run(program)
        return shard.cells, before, shard.read("p")

    shape = partition.region.cells.shape[::-1]
    p, d, after = (np.zeros(shape, partition.region.fields["p"].dtype) for _ in range(3))
    for cells, before, result in run_threads(partition, job, open_device(kind, 1), Mapper(overlap)):
        where = cells.slices((0, 0, 0))
        p[where], d[where], after[where] = before["p"], before["d"], result
    return p, d, after


def reference(p, d, sweeps=5):
    """NumPy's. Beyond the domain p is 0."""
    q = np.pad(p, 1)
    for _ in range(sweeps):
        around = q[1:-1, 1:-1, :-2] + q[1:-1, 1:-1, 2:] + q[1:-1, :-2, 1:-1] + q[1:-1, 2:, 1:-1]
        around = around + q[:-2, 1:-1, 1:-1] + q[2:, 1:-1, 1:-1]
        q[1:-1, 1:-1, 1:-1] = (around - d) * p.dtype.type(1 / 6)
    return q[1:-1, 1:-1, 1:-1]


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize(("blocks", "overlap"), [((1, 1, 1), "none"), ((1, 1, 3), "full"), ((2, 2, 2), "comm")])
@pytest.mark.parametrize("blocked", [False, True])
def test_the_sweep_is_jacobis(precision, blocks, overlap, blocked):
    p, d, after = swept("cpu", precision, blocks, overlap=overlap, blocked=blocked)
    assert len(np.unique(p)) > p.size / 2
    np.testing.assert_array_equal(after, reference(p, d))


@pytest.mark.gpu
@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("blocked", [False, True])
def test_the_sweep_is_jacobis_on_a_gpu(precision, blocked):
    p, d, after = swept("gpu", precision, (1, 1, 2), overlap="full", blocked=blocked)
    np.testing.assert_array_equal(after, reference(p, d))


@pytest.mark.gpu
@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("blocks", [(1, 1, 1), (1, 1, 2), (1, 1, 3), (2, 1, 1), (2, 2, 2)])
def test_blocks_that_are_cut_between_marches_have_the_same_bits(precision, blocks):
    """Each has 3 x 4 tiles and several marches behind its edges."""
    p, d, after = swept("gpu", precision, blocks, cells=(150, 44, 40), overlap="full", blocked=True)
    np.testing.assert_array_equal(after, reference(p, d))


@pytest.mark.parametrize(("channel", "kind"), [("local", "await"), ("peer", "receive")])
@pytest.mark.parametrize("blocked", [False, True])
def test_without_exchange_there_are_no_messages(blocked, channel, kind):
    """Neither those that a channel passes nor copies into the ghost cells of others."""

    def job(shard):
        for exchange in (True, False):
            shard.run(jacobi.Sweeps(shard.region.cells, 4, exchange=exchange, blocked=blocked))
        kinds = [{op.kind for op in trace.operations} for trace in shard.traces]
        return [kind in kinds[0], bool(kinds[1] - {"compute", "copy"})]

    partition = jacobi.partition((4, 4, 4), (1, 1, 2), "double", blocked=blocked)
    assert run_threads(partition, job, cpu(), channel=channel) == [[True, False]] * 2


@pytest.mark.parametrize(("shape", "domains"), [
    ("1d", {1: (512, 512, 256), 2: (512, 512, 512), 4: (512, 512, 1024), 8: (512, 512, 2048)}),
    ("2d", {1: (1024, 64, 1024), 2: (1024, 64, 2048), 4: (2048, 64, 2048), 8: (2048, 64, 4096)}),
    ("3d", {1: (416, 416, 416), 2: (832, 416, 416), 4: (416, 832, 832), 8: (832, 832, 832)}),
    ("strong", dict.fromkeys((1, 2, 4, 8), (1024, 64, 1024))),
])  # fmt: skip
def test_domains_are_those_of_the_papers(shape, domains):
    for count, domain in domains.items():
        x, y, z = Size(shape).of((1, 1, count), "gpu")
        assert (x, y, z * count) == domain
        assert Size(shape, scale=8).of((1, 1, count), "gpu") == (x // 8, y // 8, z // 8)


@pytest.mark.parametrize(("size", "blocks", "words"), [
    (Size("1d", scale=3), (1, 1, 2), "--scale 3: does not divide the 512 x 512 x 256 cells of '1d'"),
    (Size("3d"), (1, 1, 3), "3 blocks: shape 3d is known for 1, 2, 4 and 8"),
    (Size("strong"), (1, 1, 3), "3 blocks: 1024 planes cannot be shared"),
    (Size("1d"), (2, 1, 2), "--blocks 2x1x2: named shapes are cut into slabs along z; give the --cells"),
    (Size("4d"), (1, 1, 1), "--shape 4d: unknown shape; use one of 1d, 2d, 3d, strong"),
])  # fmt: skip
def test_shapes_that_cannot_be_are_refused(size, blocks, words):
    with pytest.raises(BadInput) as refused:
        size.of(blocks, "gpu")
    assert words in str(refused.value)


def test_more_blocks_than_gpus_are_refused(monkeypatch):
    monkeypatch.setattr(team, "cluster_client", lambda *_: contextlib.nullcontext((None, True)))
    monkeypatch.setattr(team, "survey", lambda *_, **__: pinned(4))
    request = team.Request("gpu", (2, 2, 2))
    with pytest.raises(BadInput, match="8 blocks: this machine has 4 GPUs"), team.open_team(request):
        pass


def test_what_is_made_of_the_times():
    times = {"one block": 10.0, "no exchange": 12.0, "none": 20.0, "comm": 16.0, "full": 12.0}
    rows = [{"name": name, "workers": 2, "seconds": seconds, "spread": 0.1} for name, seconds in times.items()]
    result = {row["name"]: (row["efficiency"], row["hidden"]) for row in compared(rows)}
    assert result == {"one block": (1.0, None), "no exchange": (10 / 12, None), "none": (0.5, None),
                     "comm": (10 / 16, 0.5), "full": (10 / 12, 1.0)}  # fmt: skip


def test_an_exchange_that_costs_less_than_times_spread_tells_nothing():
    times = {"no exchange": 12.0, "none": 12.4, "full": 12.1}
    rows = [{"name": name, "workers": 2, "seconds": seconds, "spread": 0.02} for name, seconds in times.items()]
    assert [row["hidden"] for row in compared(rows)] == [None, None, None]


@pytest.fixture(scope="module")
def cluster():
    with embedded(2, gpu=False) as client:
        yield client


@pytest.mark.slow
@pytest.mark.parametrize("channel", ["auto", "actor"])
def test_dask_sends_nothing_during_steps(cluster, channel):
    """Unless its actors carry the messages: then they are counted."""
    partition = jacobi.partition((8, 8, 8), (1, 1, 2), "double")
    plan = Plan(f"test-messages-{channel}", partition, "cpu", 1, channel, Mapper("full"))
    program = jacobi.Sweeps(partition.region.cells, 4)
    with BlockGroup(cluster, plan, [place.worker for place in survey(cluster, embedded=True)]) as group:
        group.connect()
        group.start([CountMessagesJob(program, 0.5)] * 2)
        assert cause(group.poll(60.0)) is None
        result = group.results()
    assert result[0]["passes"] == result[1]["passes"] > 1
    for item in result:
        if channel == "auto":
            assert item["messages"] == {}
        else:
            assert item["messages"]["actor_execute"] >= 4 * item["passes"]


def test_counting_ends():
    from distributed.comm.tcp import TCP

    usual = TCP.write
    with dask_messages():
        assert TCP.write is not usual
    assert TCP.write is usual
