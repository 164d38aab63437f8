"""The group of block actors on a real cluster: control by a handful of calls, errors with names, nothing that waits
for ever.
"""

import ctypes
import gc
import os
import signal
import sys
import threading
import time
import traceback
from contextlib import ExitStack
from types import SimpleNamespace

import numpy as np
import pytest
from distributed import Client

from taskflow.common.errors import Aborted, BadInput, Lost, RunFailed
from taskflow.runtime.cluster import BlockGroup, cause, embedded
from taskflow.runtime.host import run_on_workers, survey
from taskflow.runtime.machine import Mapper, Plan
from taskflow.runtime.machine.channel import channel_problem
from taskflow.runtime.machine.kernel import compile_host
from taskflow.runtime.machine.shard import Shard
from taskflow.runtime.regions import Partition
from tests.runtime.cluster.waiting import until_ended, until_failed
from tests.runtime.machine.programs import NAMES, Everything, noise, region
from tests.runtime.machine.test_shard import oracle
from tests.speed import SOON


class Work:
    """Some steps of the program, then a report of the fields; waits, fails or is slow on demand."""

    def __init__(self, space, steps, *, fails=None, slow=0.0):
        self.space, self.steps, self.fails, self.slow = space, steps, fails, slow
        self.program = Everything(space)

    def __call__(self, shard, control):
        start, origin = noise(self.space), self.space.cells.grow(1).lo
        for name in NAMES:
            shard.instances.array(name)[...] = start[name][shard.instances.box.slices(origin)]
        for step in range(self.steps):
            if self.fails == (shard.block, step):
                raise RunFailed(f"block {shard.block} was told to fail")
            shard.run(self.program, dt=0.5)
            control.report(step=step + 1, pid=os.getpid())
            if shard.allreduce([control.stop], "max")[0]:
                break
            time.sleep(self.slow)
        owned = shard.partition.owned[shard.block]
        control.report(**control.progress, owned=owned, fields={role: shard.read(role, owned) for role in NAMES})


def block_group(client, job, *, blocks=(1, 1, 2), channel="auto", message=30.0):
    partition = Partition(job.space, blocks)
    plan = Plan(f"test-{time.monotonic_ns()}", partition, "cpu", 1, channel, Mapper("full"), message)
    group = BlockGroup(client, plan, [place.worker for place in survey(client, embedded=True)])
    group.jobs = [job] * len(partition)
    return group


@pytest.fixture(scope="module")
def cluster():
    with embedded(2, gpu=False) as client:
        yield client


def test_dask_shows_blocks_under_the_name_of_their_run(cluster: Client):
    partition = Partition(region((6, 4, 9)), (1, 1, 2))
    plan = Plan("my-cavity_2-1a2b3c4d", partition, "cpu", 1, "auto", Mapper("full"))
    with BlockGroup(cluster, plan, [place.worker for place in survey(cluster, embedded=True)]):
        names = cluster.run_on_scheduler(lambda dask_scheduler: [t.prefix.name for t in dask_scheduler.tasks.values()])
    assert names.count("my_cavity_2-host") == 1


def test_blocks_beyond_the_cores_do_not_spin():
    """Neither they nor their OpenMP threads; on enough cores they do for a moment."""
    job, counts = Work(region((6, 4, 9)), 1), []
    for crowded in (True, False):
        with embedded(2, gpu=False) as client:
            partition = Partition(job.space, (1, 1, 2))
            plan = Plan(f"test-{crowded}", partition, "cpu", 1, "auto", Mapper("full"), crowded=crowded)
            with BlockGroup(client, plan, [place.worker for place in survey(client, embedded=True)]) as group:
                group.connect()
                counts += client.run(lambda: [*compile_host._spins.values()]).values()
    assert counts == [["0"], ["0"], [compile_host.PATIENCE], [compile_host.PATIENCE]]


def test_what_is_there_before_a_run_is_not_looked_through_for_garbage(cluster: Client):
    with block_group(cluster, Work(region((6, 4, 9)), 1)):
        assert min(cluster.run(gc.get_freeze_count).values()) > 10_000
    assert set(cluster.run(gc.get_freeze_count).values()) == {0}


def test_the_process_of_a_script_is_afterwards_as_it_was():
    """Runs in its threads end in any order."""
    gc.freeze()  # as a server does before it begins others
    before, frozen = sys.getswitchinterval(), gc.get_freeze_count()
    with embedded(1, gpu=False) as client, ExitStack() as first, ExitStack() as second:
        first.enter_context(block_group(client, Work(region((6, 4, 9)), 1)))
        assert sys.getswitchinterval() < 0.001 < before
        second.enter_context(block_group(client, Work(region((6, 4, 9)), 1)))
        first.close()
        assert sys.getswitchinterval() < 0.001
    assert sys.getswitchinterval() == before
    assert gc.get_freeze_count() > frozen / 2  # but for what is no more


def test_who_is_lost_is_not_surveyed(cluster: Client):
    first, second = survey(cluster, embedded=True)
    assert [place.worker for place in survey(cluster, embedded=True, lost=[first.worker])] == [second.worker]


@pytest.mark.parametrize("channel", ["peer", "ucx", "actor"])
def test_blocks_in_processes_agree_with_the_oracle(cluster: Client, channel):
    if (problem := channel_problem(channel)) is not None:
        pytest.skip(problem)
    space = region((6, 4, 9))
    expected, _ = oracle(space)
    with block_group(cluster, Work(space, 4), channel=channel) as group:
        assert {name for peers in group.connect() for name in peers.values()} == {channel}
        group.start(group.jobs)
        statuses = until_ended(group)
    assert [status.state for status in statuses] == ["finished", "finished"], cause(statuses)
    assert len({status.progress["pid"] for status in statuses}) == 2
    for status in statuses:
        owned = status.progress["owned"]
        for role, values in status.progress["fields"].items():
            np.testing.assert_array_equal(values, expected[role][owned.slices(space.cells.grow(1).lo)])


def test_several_blocks_in_one_process_use_the_local_channel(cluster: Client):
    with block_group(cluster, Work(region((6, 4, 9)), 2), blocks=(2, 2, 1)) as group:
        routes = group.connect()
        assert routes[0][1] == "local"
        assert routes[0][2] in ("peer", "ucx", "actor")
        group.start(group.jobs)
        assert [status.state for status in until_ended(group)] == ["finished"] * 4


def test_blocks_of_two_hosts_find_each_other(cluster: Client):
    """Their processes take themselves for hosts."""

    def name_hosts(by_process):
        from taskflow.runtime.machine.channel import peer

        peer.usual = getattr(peer, "usual", peer.host)
        peer.host = (lambda: str(os.getpid())) if by_process else peer.usual

    cluster.run(name_hosts, by_process=True)
    try:
        with block_group(cluster, Work(region((6, 4, 9)), 2), blocks=(2, 2, 1)) as group:
            routes = group.connect()
            beyond = "actor" if channel_problem("ucx") else "ucx"
            assert (routes[0][1], routes[0][2]) == ("local", beyond)
            group.start(group.jobs)
            assert [status.state for status in until_ended(group)] == ["finished"] * 4
    finally:
        cluster.run(name_hosts, by_process=False)


def test_status_is_answered_while_the_block_computes(cluster: Client):
    """Within 50 ms, or, where others have the processors, within ten times as long as blocks take that do nothing."""

    def answered(state):
        seconds = []
        for _ in range(40):
            begin = time.perf_counter()
            states = {status.state for status in group.status()}
            seconds.append(time.perf_counter() - begin)
            assert states == {state}
        return np.median(seconds)

    with block_group(cluster, Work(region((32, 32, 32)), 10_000_000)) as group:
        group.connect()
        idle = answered("ready")
        group.start(group.jobs)
        busy = answered("running")
        group.stop()
        until_ended(group)
    assert busy < max(0.05, 10 * idle)


def test_stop_ends_all_blocks_after_the_same_step(cluster: Client):
    with block_group(cluster, Work(region((6, 4, 9)), 1_000_000)) as group:
        group.connect()
        group.start(group.jobs)
        time.sleep(0.3)
        group.stop()
        statuses = until_ended(group)
    assert [status.state for status in statuses] == ["finished", "finished"]
    assert len({status.progress["step"] for status in statuses}) == 1


def test_the_cause_is_the_block_that_failed_and_not_the_one_that_missed_it(cluster: Client):
    with block_group(cluster, Work(region((6, 4, 9)), 50, fails=(1, 3))) as group:
        statuses = until_failed(group)
    assert isinstance(statuses[0].error, Aborted)
    assert str(cause(statuses)) == "block 1 was told to fail"


def shards():
    """How many blocks a process has in memory."""
    gc.collect()
    return sum(isinstance(result, Shard) for result in gc.get_objects())


def test_blocks_that_failed_keep_no_fields(cluster: Client):
    """Dask may keep their actors, and these their errors."""
    with block_group(cluster, Work(region((6, 4, 9)), 50, fails=(1, 3))) as group:
        until_failed(group)
        assert sum(cluster.run(shards).values()) == 2
    assert sum(cluster.run(shards).values()) == 0


def test_a_neighbour_that_never_sends_is_a_named_error(cluster: Client):
    with block_group(cluster, Work(region((6, 4, 9)), 50, fails=(1, 3)), message=1.0) as group:
        group.connect()
        group.start(group.jobs)
        statuses = until_ended(group)
    assert "block 1" in str(statuses[0].error)


class Fails:
    """One block fails with this error, while the others are at work."""

    def __init__(self, space, error):
        self.space, self.error = space, error

    def __call__(self, shard, control):
        control.report(step=1)
        if shard.block == 1:
            raise self.error
        shard.meet()


@pytest.mark.parametrize(("error", "lost", "words"), [
    (719, True, "CudaError: cudaErrorLaunchFailure"), (2, False, "CudaError: cudaErrorMemoryAllocation"),
    (MemoryError("8 GB"), False, "block 1 has not enough memory: 8 GB"),
    (ZeroDivisionError("0"), False, "ZeroDivisionError"),
    (SystemExit("not converged"), False, "block 1: SystemExit: not converged"),
    (Lost("the GPU could not launch a kernel"), True, "block 1: the GPU could not launch a kernel"),
], ids=["GPU", "GPU memory", "memory", "bug", "exit", "driver"])  # fmt: skip
def test_what_a_lost_gpu_costs_and_what_would_happen_again(error, lost, words, monkeypatch):
    """CuPy is played, in the process of the client. After a lost GPU the worker is to blame: it needs a new process."""
    played = SimpleNamespace(runtime=SimpleNamespace(CUDARuntimeError=CudaError))
    played.driver = SimpleNamespace(CUDADriverError=type("CUDADriverError", (CudaError,), {}))
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=played))
    raised = CudaError(error) if isinstance(error, int) else error
    with embedded(1, gpu=False) as client, block_group(client, Fails(region((6, 4, 9)), raised)) as group:
        statuses = until_failed(group)
    result = cause(statuses)
    assert words in str(result)
    assert isinstance(result, Lost) == lost
    assert isinstance(statuses[0].error, Aborted)
    assert (group.blamed(statuses) == set(group.workers)) == lost


class CudaError(RuntimeError):
    """As CuPy raises what the driver says."""

    def __init__(self, status):
        names = {2: "cudaErrorMemoryAllocation", 719: "cudaErrorLaunchFailure"}
        super().__init__(f"{names[status]}: no")
        self.status = status


class Quiet:
    """Reports nothing for some seconds, in which it holds the interpreter, or lets it go."""

    def __init__(self, space, seconds, *, held=True):
        self.space, self.seconds, self.held = space, seconds, held

    def __call__(self, shard, control):
        (ctypes.PyDLL if self.held else ctypes.CDLL)(None).sleep(self.seconds)
        shard.meet()


@pytest.mark.slow
def test_whose_interpreter_is_held_is_not_lost():
    """As long as a library is loaded, say, nothing answers; but the process lives."""
    with embedded(2, gpu=False) as client, block_group(client, Quiet(region((6, 4, 9)), 12)) as group:
        group.connect()
        begin = time.monotonic()
        group.start(group.jobs)  # which may be answered late, too
        statuses = until_ended(group)
        assert time.monotonic() - begin > 10
    assert [status.state for status in statuses] == ["finished", "finished"], cause(statuses)


def frozen_while(phase, group):
    """What the client is at when it finds out, with the process that does not answer."""
    if phase == "connecting":
        return group.connect
    group.connect()
    if phase == "beginning":
        return lambda: group.start(group.jobs)
    group.start(group.jobs)
    while phase == "computing" and not all(status.progress for status in group.status()):
        time.sleep(0.02)
    return lambda: next(status for status in group.status() if status.error is not None)


@pytest.mark.slow
@pytest.mark.parametrize("phase", ["connecting", "beginning", "before the first report", "computing"])
def test_a_frozen_worker_is_lost_within_five_seconds(phase):
    """It neither answers nor dies. Who still answers hears of it at once, and closing waits for nobody else."""
    job = Quiet(region((6, 4, 9)), 60, held=False) if phase == "before the first report" else None
    with (
        embedded(2, gpu=False) as client,
        block_group(client, job or Work(region((6, 4, 9)), 1_000_000, slow=0.01)) as group,
    ):
        act = frozen_while(phase, group)
        frozen = client.run(os.getpid, workers=[group.workers[1]])[group.workers[1]]
        time.sleep(1.0)
        os.kill(frozen, signal.SIGSTOP)
        try:
            begin = time.monotonic()
            try:
                lost = act().error
            except Lost as error:
                lost = error
            assert time.monotonic() - begin < SOON
            assert "no sign of life for 4 s" in str(lost)
            assert lost.workers == {group.workers[1]}
            begin = time.monotonic()
            group.abort("a block was lost")
            group.close()
            assert time.monotonic() - begin < SOON
        finally:
            os.kill(frozen, signal.SIGCONT)


@pytest.mark.slow
def test_a_frozen_worker_is_lost_while_all_are_asked_for_something():
    with embedded(2, gpu=False) as client:
        workers = [place.worker for place in survey(client, embedded=True)]
        frozen = client.run(os.getpid, workers=[workers[1]])[workers[1]]
        time.sleep(1.0)
        os.kill(frozen, signal.SIGSTOP)
        try:
            begin = time.monotonic()
            with pytest.raises(Lost, match="no sign of life for 4 s") as lost:
                run_on_workers(client, os.getpid, workers)
            assert time.monotonic() - begin < SOON
            assert lost.value.workers == {workers[1]}
        finally:
            os.kill(frozen, signal.SIGCONT)


def test_blocks_whose_client_is_gone_give_up(cluster: Client):
    """Nobody tells them."""
    with Client(cluster.cluster, direct_to_workers=True, set_as_default=False) as other:
        group = block_group(other, Work(region((6, 4, 9)), 10_000_000))
        group.connect()
        group.start(group.jobs)
        while not all(status.progress for status in group.status()):
            time.sleep(0.02)
        assert sum(cluster.run(at_work).values()) == 2
    until = time.monotonic() + SOON
    while sum(cluster.run(at_work).values()):
        assert time.monotonic() < until
        time.sleep(0.1)


def at_work():
    """Blocks of this process that compute."""
    frames = [sys._current_frames().get(thread.ident) for thread in threading.enumerate()]
    names = [[frame.f_code.co_qualname for frame, _ in traceback.walk_stack(item)] for item in frames if item]
    return sum("BlockActor._run" in item for item in names)


def actors(dask_worker):
    """Those that Dask has on a worker."""
    return set(dask_worker.state.actors)


def test_close_ends_a_running_job_and_the_actors_go(cluster: Client):
    """At once, not when the client's process collects garbage: Dask would speak of it amid another run."""
    gc.collect()
    gc.disable()
    try:
        with block_group(cluster, Work(region((6, 4, 9)), 1_000_000)) as group:
            group.connect()
            group.start(group.jobs)
            time.sleep(0.2)
            assert sum(cluster.run(at_work).values()) == 2
            mine = {future.key for future in group._futures.values()}
            assert mine <= set().union(*cluster.run(actors).values())
            begin = time.monotonic()
        assert time.monotonic() - begin < SOON
        assert sum(cluster.run(at_work).values()) == 0
        while mine & set().union(*cluster.run(actors).values()):
            assert time.monotonic() - begin < SOON
            time.sleep(0.01)
    finally:
        gc.enable()


def test_a_run_is_a_handful_of_calls(cluster: Client, monkeypatch):
    from distributed import Actor

    calls = []
    usual = Actor.__getattr__
    monkeypatch.setattr(Actor, "__getattr__", lambda self, name: calls.append(name) or usual(self, name))
    with block_group(cluster, Work(region((6, 4, 9)), 200)) as group:
        group.connect()
        group.start(group.jobs)
        time.sleep(0.3)
        until_ended(group)
    assert (
        not set(calls)
        - {"open", "call", "connect", "start", "statuses", "close"}
        - {name for name in calls if name.startswith("_")}
    )
    assert calls.count("start") == 1  # of the leader of this host


def test_forcing_local_between_processes_is_refused(cluster: Client):
    with (
        block_group(cluster, Work(region((6, 4, 9)), 1), channel="local") as group,
        pytest.raises(BadInput, match="different processes"),
    ):
        group.connect()


@pytest.mark.slow
def test_a_killed_worker_is_a_named_error_within_seconds(cluster: Client):
    """It is the last that uses the cluster, which loses a process."""
    with block_group(cluster, Work(region((6, 4, 9)), 1_000_000, slow=0.01)) as group:
        group.connect()
        group.start(group.jobs)
        while not all(status.progress for status in group.status()):
            time.sleep(0.02)
        os.kill(group.status()[1].progress["pid"], signal.SIGKILL)
        begin = time.monotonic()
        statuses = until_ended(group)
        assert time.monotonic() - begin < SOON
        assert "does not answer" in str(statuses[1].error)
        assert statuses[0].error is not None
