"""Control of many blocks by few messages: the client talks to one process of every host, and this one to the others."""

import os
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from distributed import Actor, Client, Scheduler, SpecCluster, Worker

from taskflow.common.errors import RunFailed
from taskflow.runtime.cluster import BlockGroup, cause, embedded
from taskflow.runtime.cluster.block_group import by_host
from taskflow.runtime.cluster.watch import PATIENCE as LOOK
from taskflow.runtime.cluster.watch import watch
from taskflow.runtime.host import Heartbeats, survey
from taskflow.runtime.machine import Mapper, Plan
from taskflow.runtime.machine.channel import DaskHome
from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region
from taskflow.runtime.tasks import Read, Write, task
from tests.speed import SOON

PATIENCE = 1800.0  # seconds: many threads share two cores
ROOT = Path(__file__).parents[3]


@task
def blur(a: Read[1], b: Write) -> None:
    """b = mean of a and its neighbours, exact for some steps of small integers"""
    b[...] = (a[...] * 2 + a[-1, 0, 0] + a[1, 0, 0] + a[0, -1, 0] + a[0, 1, 0] + a[0, 0, -1] + a[0, 0, 1]) / 8


def blurred(values):
    """The same in NumPy, in the same order."""
    shifted = [np.roll(values, -step, axis) for axis in (2, 1, 0) for step in (-1, 1)]
    total = values * 2
    for other in shifted:
        total = total + other
    return total / 8


class Blurring:
    """Steps from small integers; the flag of a stop is agreed on after every two of them."""

    def __init__(self, space, steps, fails=None):
        self.space, self.steps, self.fails = space, steps, fails

    def __call__(self, shard, control):
        box = shard.partition.blocks[shard.block]
        shard.write({"a": start(self.space)[box.slices((0, 0, 0))]})
        for step in range(0, self.steps, 2):
            shard.run(self.program)
            shard.run(self.program)
            control.report(step=step + 2)
            if shard.block == self.fails:
                raise RunFailed(f"block {shard.block} was told to fail")
            if shard.allreduce([control.stop], "max")[0]:
                break
        return control.progress["step"], shard.read("a")

    def program(self, f):
        yield blur(f.a, f.b, over=self.space.cells)
        f.swap("a", "b")

    def __hash__(self):
        return hash(self.steps)

    def __eq__(self, other):
        return isinstance(other, Blurring) and self.steps == other.steps


def start(space):
    i, j, k = np.ogrid[tuple(slice(0, n) for n in space.cells.shape)]
    return ((i + 2 * j + 3 * k) % 7.0).transpose(2, 1, 0)


def region(blocks):
    return Region(Box.of((4 * blocks,) * 3), FieldSpace([Field("a"), Field("b")]), (True,) * 3, ghost=1)


@contextmanager
def grouped(client, job, blocks):
    partition = Partition(job.space, (blocks,) * 3)
    plan = Plan(f"hosts-{time.monotonic_ns()}", partition, "cpu", 1, "auto", Mapper("none"), PATIENCE, crowded=True)
    with BlockGroup(client, plan, [place.worker for place in survey(client, embedded=False)]) as group:
        group.connect()
        yield group


@pytest.fixture(scope="module")
def hosts():
    """Eight hosts of two workers each, all of them in this process."""
    silent = {"dashboard": False, "dashboard_address": ":0"}
    workers = {
        (host, number): {"cls": Worker, "options": {"host": f"127.0.0.{host + 2}", "nthreads": 1, **silent}}
        for host in range(8)
        for number in range(2)
    }
    scheduler = {"cls": Scheduler, "options": {"host": "127.0.0.1", **silent}}
    with (
        SpecCluster(workers, scheduler, silence_logs=50) as cluster,
        Client(cluster, direct_to_workers=True, set_as_default=False) as client,
    ):
        client.wait_for_workers(16)
        yield client


@pytest.fixture
def messages(monkeypatch):
    """The calls that the client makes, and those that leaders make, by name."""
    client, leaders = Counter(), Counter()
    attribute, run, call = Actor.__getattr__, Client.run, DaskHome.call

    def to_leader(self, name):
        client[name] += not name.startswith("_")
        return attribute(self, name)

    def to_worker(self, *arguments, **options):
        client["run"] += 1
        return run(self, *arguments, **options)

    def to_crew(self, address, key, method, *arguments):
        leaders[method] += 1
        return call(self, address, key, method, *arguments)

    monkeypatch.setattr(Actor, "__getattr__", to_leader)
    monkeypatch.setattr(Client, "run", to_worker)
    monkeypatch.setattr(DaskHome, "call", to_crew)
    return client, leaders


def test_the_leader_of_a_host_is_the_worker_of_its_first_block():
    workers = ["tcp://a:1", "tcp://a:1", "tcp://a:2", "tcp://b:3", "tcp://b:4"]
    assert by_host(workers) == {
        "tcp://a:1": {"tcp://a:1": (0, 1), "tcp://a:2": (2,)}, "tcp://b:3": {"tcp://b:3": (3,), "tcp://b:4": (4,)},
    }  # fmt: skip


@pytest.mark.fast("2")
@pytest.mark.parametrize("steps", [2, 8], ids=str)
def test_64_blocks_on_8_hosts_take_messages_of_hosts(hosts, messages, steps):
    """Their number depends neither on blocks nor on steps, and the fields have the values of one block."""
    job = Blurring(region(4), steps)
    expected = start(job.space)
    for _ in range(steps):
        expected = blurred(expected)
    with grouped(hosts, job, 4) as group:
        statuses, _ = watch(group, [job] * 64)
        assert {status.state for status in statuses} == {"finished"}, cause(statuses)
        assert {status.progress["step"] for status in statuses} == {steps}
        for box, (_, values) in zip(group.plan.partition.blocks, group.results(), strict=True):
            np.testing.assert_array_equal(values, expected[box.slices((0, 0, 0))])
    client, leaders = messages
    assert client.pop("status", 0) < 5 * 600  # of the host of the first block, five times a second
    assert client.pop("run") <= 16  # the survey, and heartbeats
    assert client == {"open": 8, "call": 16, "connect": 8, "start": 8, "close": 8}
    assert leaders.pop("status") < 16 + 600 / 10 * 8
    assert leaders == {"call": 16, "connect": 8, "start": 8, "close": 8, "led": 8}


def sleep(shard, control):
    """Longer than the client waits for a first answer."""
    time.sleep(2 * LOOK)


def test_the_end_of_a_job_is_not_taken_for_that_of_the_next():
    partition = Partition(region(1), (1, 1, 1))
    plan = Plan("hosts-1", partition, "cpu", 1, "auto", Mapper("none"))
    with embedded(1, gpu=False) as here, BlockGroup(here, plan, [here.address]) as group:
        group.connect()
        for _ in range(3):
            began = time.monotonic()
            statuses, _ = watch(group, [sleep])
            assert [status.state for status in statuses] == ["finished"]
            assert time.monotonic() - began >= 2 * LOOK


@pytest.mark.slow
def test_a_failure_anywhere_ends_all_hosts(hosts):
    job = Blurring(region(4), 1000, fails=63)
    with grouped(hosts, job, 4) as group:
        statuses, _ = watch(group, [job] * 64)
    assert {status.state for status in statuses} == {"failed"}
    assert str(cause(statuses)) == "block 63 was told to fail"


@pytest.mark.slow
def test_a_stop_reaches_all_hosts(hosts):
    job = Blurring(region(4), 100_000)
    with grouped(hosts, job, 4) as group:
        group.start([job] * 64)
        while not group.poll(0.1)[0].progress.get("step"):
            pass
        group.stop()
        statuses = group.poll(0.1)
        while {status.state for status in statuses} != {"finished"}:
            assert cause(statuses) is None
            statuses = group.poll(0.1)
    assert len({status.progress["step"] for status in statuses}) == 1


@pytest.mark.slow
def test_other_processes_end_with_their_leader(hosts, monkeypatch):
    """A client that has vanished closes nothing; crews hear from their leader."""
    job = Blurring(region(4), 100_000)
    monkeypatch.setattr(BlockGroup, "close", lambda _: None)
    with grouped(hosts, job, 4) as group:
        group.start([job] * 64)
    hosts.cancel(list(group._futures.values()))
    until = time.monotonic() + SOON
    while any("taskflow-block" in thread.name and thread.is_alive() for thread in threading.enumerate()):
        assert time.monotonic() < until
        time.sleep(0.1)


@contextmanager
def processes(hosts, folder):
    """A scheduler and workers with their own addresses, one for each host, in processes apart from the client."""
    file, none = folder / "scheduler.json", ["--no-dashboard", "--dashboard-address", ":0"]
    commands = [["scheduler", "--host", "127.0.0.1", "--port", "0"]]
    commands += [["worker", "--host", f"127.0.0.{n + 2}", "--nthreads", "1", "--no-nanny"] for n in range(hosts)]
    begun = [
        subprocess.Popen([sys.executable, "-m", "dask", *command, *none, "--scheduler-file", file],
                         stderr=subprocess.DEVNULL, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)})
        for command in commands
    ]  # fmt: skip
    try:
        while not file.exists():
            time.sleep(0.1)
        with Client(scheduler_file=file, timeout=PATIENCE, direct_to_workers=True, set_as_default=False) as client:
            client.wait_for_workers(hosts, timeout=PATIENCE)
            yield client
    finally:
        for process in begun:
            process.kill()
            process.wait()


@contextmanager
def patient(client):
    """Wait for heartbeats, whose thread is one of thousands."""
    Heartbeats.of(client).bound = PATIENCE
    yield


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_4096_blocks_from_start_to_end_and_stopped_in_the_middle(tmp_path, capsys):
    """In one process: 16 would need 20 GB for their rings. The client hardly works meanwhile."""
    whole, endless = Blurring(region(16), 2), Blurring(region(16), 1000)
    expected = blurred(blurred(start(whole.space)))

    def say(*words):
        with capsys.disabled():
            print(*words, flush=True)

    with processes(1, tmp_path) as client, patient(client), grouped(client, whole, 16) as group:
        say("4096 blocks are connected")
        began, used = time.monotonic(), time.process_time()
        statuses, _ = watch(group, [whole] * 4096)
        seconds, used = time.monotonic() - began, time.process_time() - used
        say(f"they took {seconds:.0f} s, of which the client's processor time is {100 * used / seconds:.2f} %")
        assert {status.state for status in statuses} == {"finished"}, cause(statuses)
        for box, (_, values) in zip(group.plan.partition.blocks, group.results(), strict=True):
            np.testing.assert_array_equal(values, expected[box.slices((0, 0, 0))])

        def stop(progress):
            if progress.get("step", 0) >= 2 and not progress["stopping"]:
                raise KeyError("enough")

        stopped, came = watch(group, [endless] * 4096, stop)
        steps = {status.progress["step"] for status in stopped}
        assert {status.state for status in stopped} == {"finished"}, cause(stopped)
        assert isinstance(came, KeyError)
        assert len(steps) == 1
        say(f"stopped after step {max(steps)} of 1000")
        assert max(steps) < 1000
        assert used < 0.02 * seconds
