"""Transfers between GPUs that see each other's memory: bits, and waits on the device that end.

Two processes share one GPU where there is only one: slow, but the same memory, flags and waits.
"""

import os
import signal
import threading
import time
import uuid

import numpy as np
import pytest

from taskflow.common.errors import Aborted, ChannelError, ChannelTimeout, RunFailed
from taskflow.flow import Monitor
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.cluster import BlockGroup, cause
from taskflow.runtime.host import survey
from taskflow.runtime.machine import Mapper, Plan, run_threads
from taskflow.runtime.machine.device import gpu
from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region
from taskflow.runtime.tasks import Read, Reduce, Write, repeat, task
from tests.runtime.cluster.waiting import until_ended
from tests.runtime.machine.programs import NAMES, Everything, noise, region
from tests.runtime.machine.test_shard import oracle
from tests.speed import SOON
from tests.test_gpu import flow

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def cluster():
    """Two processes that see the same GPUs; not dask-cuda's, so that one GPU is enough."""
    from distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": ":0"}
    with LocalCluster(**options, protocol="tcp") as lent, Client(lent, direct_to_workers=True) as client:
        client.wait_for_workers(2)
        yield client


def block_group(client, partition, *, overlap="full", graphs=True, message=30.0, blocks=2):
    plan = Plan(
        f"direct-{uuid.uuid4().hex[:8]}", partition, "gpu", 1, "peer", Mapper(overlap, graphs=graphs), message
    )
    workers = sorted(client.scheduler_info(n_workers=-1)["workers"])
    team = BlockGroup(client, plan, workers[:blocks])
    team.connect()
    return team


class Flow:
    """Steps of a flow from random fields; returns the fields, the scalars and how the steps were carried."""

    def __init__(self, model, steps):
        self.model, self.steps = model, steps

    def __call__(self, shard, control=None):
        shape, rng = shard.region.cells.shape[::-1], np.random.default_rng(3)
        for name in ("u", "v", "w", "T", "p"):
            shard.write({name: rng.random(shape)[shard.cells.slices((0, 0, 0))]})
        shard.run(self.model.start, dt=1.0)
        for step in range(self.steps):
            shard.run(self.model.step, dt=1e-3, ratio=1.0 if step else 0.0)
        shard.run(Monitor(self.model))
        kinds = {operation.kind for operation in shard.traces[-2].operations}
        return {name: shard.read(name) for name in self.model.fields}, dict(shard.scalars), kinds


@pytest.mark.parametrize("graphs", [True, False], ids=["graphs", "launches"])
@pytest.mark.parametrize("overlap", ["none", "comm", "full", "auto"])
@pytest.mark.parametrize("sides", ["walls", "periodic"])
def test_two_processes_have_the_bits_of_one_block(cluster, sides, overlap, graphs):
    case = flow(sides)
    steps = 60 if overlap == "auto" else 4
    alone = RunSetup(case, (1, 1, 1))
    fields, scalars, _ = run_threads(alone.partition, Flow(alone.model, steps), gpu())[0]
    made = RunSetup(case, (1, 1, 2))
    with block_group(cluster, made.partition, overlap=overlap, graphs=graphs) as team:
        team.start([Flow(made.model, steps)] * 2)
        statuses = until_ended(team)
        assert cause(statuses) is None, cause(statuses)
        results = team.results()
    for box, (result, numbers, kinds) in zip(made.partition.blocks, results, strict=True):
        assert {"await", "signal", "pack"} <= kinds
        assert not kinds & {"send", "receive", "free"}
        for name, values in result.items():
            np.testing.assert_array_equal(values, fields[name][box.slices((0, 0, 0))], err_msg=name)
        assert numbers == results[0][1]  # folded on the devices: the same bits
        for name, value in numbers.items():
            assert value == pytest.approx(scalars[name], rel=1e-12), name


class PythonBodies:
    """A program without kernels; returns what each block owns."""

    def __init__(self, space):
        self.space, self.program = space, Everything(space)

    def __call__(self, shard, control=None):
        start, origin = noise(self.space), self.space.cells.grow(1).lo
        shard.write({n: start[n][shard.instances.box.slices(origin)] for n in NAMES}, shard.instances.box)
        for _ in range(4):
            shard.run(self.program, dt=0.5)
        owned = shard.partition.owned[shard.block]
        return owned, {role: shard.read(role, owned) for role in NAMES}


def test_tasks_with_python_bodies_exchange_directly_too(cluster):
    space = region((6, 4, 9))
    expected, _ = oracle(space)
    origin = space.cells.grow(space.ghost).lo
    with block_group(cluster, Partition(space, (1, 1, 2))) as team:
        team.start([PythonBodies(space)] * 2)
        statuses = until_ended(team)
        assert cause(statuses) is None, cause(statuses)
        for owned, fields in team.results():
            for role, values in fields.items():
                np.testing.assert_allclose(values, expected[role][owned.slices(origin)], rtol=1e-12, err_msg=role)


class Endless:
    """Steps for ever; a block may stop to take part, without a word."""

    def __init__(self, model, *, silent=None):
        self.model, self.silent = model, silent

    def __call__(self, shard, control):
        shard.run(self.model.start, dt=1.0)
        step = 0
        while True:
            if self.silent == shard.block and step == 20:
                shard.synchronize()
                threading.Event().wait(12.0)
                return
            shard.run(self.model.step, dt=1e-3, ratio=1.0)
            step += 1
            if step % 10 == 0:
                shard.synchronize()
                control.report(step=step, pid=os.getpid())


def begun(team, steps=30, seconds=300.0):
    """The process of each block, once all have done some steps."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        progress = [status.progress for status in team.status()]
        if all(told.get("step", 0) >= steps for told in progress):
            return [told["pid"] for told in progress]
        time.sleep(0.02)
    raise AssertionError(f"blocks did not begin: {team.status()}")


def test_a_block_that_is_told_to_give_up_does_so_at_once(cluster):
    made = RunSetup(flow("walls"), (1, 1, 2))
    with block_group(cluster, made.partition) as team:
        team.start([Endless(made.model)] * 2)
        begun(team)
        team.abort("the test says so")
        told = time.monotonic()
        statuses = until_ended(team)
        assert time.monotonic() - told < SOON
    assert all(isinstance(status.error, Aborted | ChannelError) for status in statuses)
    assert any("the test says so" in str(status.error) for status in statuses)


def test_a_wait_on_the_device_has_a_limit(cluster):
    """A block that no longer takes part is named, with the message that did not come."""
    made = RunSetup(flow("walls"), (1, 1, 2))
    with block_group(cluster, made.partition, message=3.0) as team:
        team.start([Endless(made.model, silent=1)] * 2)
        deadline = time.monotonic() + 300.0
        while time.monotonic() < deadline and team.status()[0].state == "running":
            time.sleep(0.05)
        error = team.status()[0].error
    assert isinstance(error, ChannelTimeout), error
    assert "block 1" in str(error)
    assert "3 s" in str(error)


def test_the_death_of_a_neighbour_ends_the_run_with_its_name():
    """Within 5 seconds, while the device waits for it."""
    from distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": ":0"}
    made = RunSetup(flow("walls"), (1, 1, 2))
    with LocalCluster(**options, protocol="tcp") as lent, Client(lent, direct_to_workers=True) as client:
        with block_group(client, made.partition) as team:
            team.start([Endless(made.model)] * 2)
            os.kill(begun(team)[1], signal.SIGKILL)
            killed = time.monotonic()
            while team.status()[0].state == "running":
                assert time.monotonic() - killed < SOON
                time.sleep(0.02)
            error = team.status()[0].error
        assert isinstance(error, ChannelError | RunFailed), error
        assert "block 1" in str(error)


@task(
    kernel="""
#include "cell.h"
TASK relaxed(Range range, In p, Out q, Partial change) {
  STRIDES(range)
  reduce_cells(range, change, Max(), CELL(c) {
    q[c] = (p[c - X] + p[c + X] + p[c - Y] + p[c + Y] + p[c - Z] + p[c + Z]) / 6;
    return double(magnitude(q[c] - p[c]));
  });
}
"""
)
def relaxed(p: Read[1], q: Write, *, change: Reduce[max]) -> None:
    """q = mean of the neighbours of p; change = max |q - p|"""


class Until:
    """Sweeps until the change is small; returns how many they were, what is left, and the field."""

    def __init__(self, cells):
        self.cells = cells

    def sweeps(self, f):
        yield relaxed(f.p, f.q, over=self.cells, change="change")
        yield relaxed(f.q, f.p, over=self.cells, change="change")

    def __call__(self, shard, control=None):
        asked = []

        def enough(scalars):
            asked.append(scalars["change"])
            return scalars["change"] < 0.02

        def program(f):
            yield repeat(self.sweeps, 100, until=enough, every=2)

        shard.write({"p": np.random.default_rng(shard.block).random(shard.cells.shape[::-1])})
        shard.run(program)
        return asked, shard.scalars["change"], shard.read("p")


def test_a_repetition_ends_alike_on_all_blocks(cluster):
    space = Region(Box.of((9, 5, 8)), FieldSpace([Field("p"), Field("q")]), (True, True, False))
    with block_group(cluster, Partition(space, (1, 1, 2))) as team:
        team.start([Until(space.cells)] * 2)
        statuses = until_ended(team)
        assert cause(statuses) is None, cause(statuses)
        one, two = team.results()
    assert one[0] == two[0]
    assert one[1] == two[1] < 0.02 <= one[0][-2]


def test_survey_sees_gpus(cluster):
    assert all(place.gpu_problem is None for place in survey(cluster, embedded=False))
