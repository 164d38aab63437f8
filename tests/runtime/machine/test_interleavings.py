"""Lanes may do what is enqueued in any order that events allow: every order has the bits of one memory."""

import numpy as np
import pytest

from taskflow.runtime.machine import Mapper, Shard, run_threads
from taskflow.runtime.regions import Partition
from taskflow.runtime.tasks import Roles, offsets, record, serial
from tests.runtime.machine import lazy
from tests.runtime.machine.programs import Everything, noise, region
from tests.runtime.tasks.palette import sweep

LARGE = pytest.param((2, 2, 2), marks=pytest.mark.slow)

STEPS = 3
MORE = 10  # until all states have been met, and then some


def given(step):
    """The scalars that the host gives before a step."""
    return {"dt": 0.5 + 0.25 * step, "s": 0.3 * step, "t": 0.7}


def program_of(kind, space, step):
    """What is done in a step: a program, or one of several, which take turns."""
    programs = kind(space)
    return programs[step % len(programs)] if isinstance(programs, tuple) else programs


def oracle(space, kind, steps):
    """Fields by role and scalars after the same steps in one memory."""
    memory, scalars, roles = noise(space), {}, Roles.of(tuple(space.fields))
    for step in range(steps):
        launches, roles = record(program_of(kind, space, step), roles)
        scalars |= given(step)
        serial.run_program(space, memory, launches, scalars)
    return {role: memory[roles[role]] for role in space.fields}, scalars


class Sweeps:
    """Messages go one way, and there is no reduction: the lowest block has nothing to wait for but messages."""

    pairs = 1

    def __init__(self, space):
        self.space = space

    def __call__(self, f):
        upwind = sweep(offsets(z=(0, 1)))
        for _ in range(self.pairs):
            yield upwind(f.p, f.q, over=self.space.cells)
            yield upwind(f.q, f.p, over=self.space.cells)


class Many(Sweeps):
    """So many messages that they take turns with buffers."""

    pairs = 3


def run(space, shape, mapper, kind, steps):
    """Fields and scalars of every block after some steps."""
    start, partition = noise(space), Partition(space, shape)
    programs = [program_of(kind, space, step) for step in range(2)]
    origin = space.cells.grow(space.ghost).lo

    def job(shard):
        for name in space.fields:
            shard.instances.array(name)[...] = start[name][shard.instances.box.slices(origin)]
        for step in range(steps):
            shard.run(programs[step % 2], **given(step))
        owned = partition.owned[shard.block]
        result = {role: shard.read(role, owned) for role in space.fields}
        return owned, result, dict(shard.scalars)

    return run_threads(partition, job, lazy.LazyCpu(1), mapper, patience=20)


def same(space, shape, mapper, kind=Everything):
    """Whether everything has the bits of one memory (a sum of reals may end otherwise: it depends on the blocks)."""
    steps = MORE if isinstance(kind, type) and issubclass(kind, Sweeps) else STEPS
    expected, scalars = oracle(space, kind, steps)
    origin, total = space.cells.grow(space.ghost).lo, scalars.pop("total", 0.0)
    return all(
        result.pop("total", 0.0) == pytest.approx(total, rel=1e-13)
        and result == scalars
        and all(np.array_equal(values, expected[role][owned.slices(origin)]) for role, values in fields.items())
        for owned, fields, result in run(space, shape, mapper, kind, steps)
    )


@pytest.mark.parametrize("overlap", ["none", "comm", "full"])
@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 1, 2), (2, 1, 2), LARGE], ids=str)
@pytest.mark.parametrize("periodic", [(False, True, False), (True, True, True)], ids=["walls", "periodic"])
def test_every_order_has_the_same_bits(monkeypatch, shape, overlap, periodic):
    for seed in range(3 if overlap == "full" else 1):
        lazy.install(monkeypatch, seed)
        assert same(region((6, 4, 9), periodic), shape, Mapper(overlap)), seed


def test_poison_is_in_order_too(monkeypatch):
    for seed in range(4):
        lazy.install(monkeypatch, seed)
        assert same(region((6, 4, 9)), (2, 1, 2), Mapper("full", debug=True)), seed


@pytest.mark.parametrize("kind", [Sweeps, Many])
@pytest.mark.parametrize("overlap", ["none", "comm", "full", "auto"])
def test_without_anything_to_wait_for(monkeypatch, overlap, kind):
    for seed in range(5):
        lazy.install(monkeypatch, seed)
        assert same(region((4, 4, 9)), (1, 1, 3), Mapper(overlap), kind), seed


def test_messages_that_come_too_early_are_noticed(monkeypatch):
    """A receive that is posted while the last message is still being unpacked has other bits in some order."""
    monkeypatch.setattr(Shard, "_entry", property(lambda self: self.lanes[1], lambda self, lane: None), raising=False)
    different = []
    for seed in range(10):
        lazy.install(monkeypatch, seed)
        different.append(not same(region((4, 4, 9)), (1, 1, 3), Mapper("none"), Sweeps))
    assert any(different)


def test_without_its_waits_some_order_has_other_bits(monkeypatch):
    """What the lanes of these tests may do is enough to show that a wait is missing."""
    different = []
    for seed in range(10):
        lazy.install(monkeypatch, seed, drop=lambda operation: operation.kind == "wait")
        different.append(not same(region((6, 4, 9)), (1, 1, 2), Mapper("full")))
    assert sum(different) > 2
