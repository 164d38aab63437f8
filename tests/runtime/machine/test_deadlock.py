"""Buffers that messages take turns with: as few as can be, and never so few that blocks wait in a circle."""

import numpy as np
import pytest

from taskflow.runtime.machine import Mapper, run_threads
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.machine.trace import deadlock
from taskflow.runtime.proof import prove
from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region
from taskflow.runtime.tasks import Read, ReadWrite, Send, Write, star, task
from tests.runtime.proof.test_proof import means
from tests.runtime.tasks.palette import sweep

FIELDS = 8
SPACE = Region(Box.of((4, 4, 8)), FieldSpace(Field(name) for name in ("t", *(f"a{n}" for n in range(FIELDS)))))
PARTITION = Partition(SPACE, (1, 1, 2))


@task
def number(a: Write, *, value: float) -> None:
    """a = value"""
    a[...] = value


@task
def gather(a: Read[star(1)], t: ReadWrite) -> None:
    """t += a below and above"""
    t[...] = t[...] + a[0, 0, -1] + 10 * a[0, 0, 1]


def sent_ahead(f):
    """Every block can send all fields, of one size, before it needs any."""
    yield number(f.t, over=SPACE.bounds, value=0.0)
    for n in range(FIELDS):
        yield number(f[f"a{n}"], over=SPACE.cells, value=float(n))
    for n in range(FIELDS):
        yield gather(f[f"a{n}"], f.t, over=SPACE.cells)


def back_and_forth(f):
    """Every message answers the last one."""
    for _ in range(3 * FIELDS):
        yield sweep(star(1))(f.a0, f.a1, over=SPACE.cells)
        f.swap("a0", "a1")


def slots(shard):
    """How many buffers the sends of the last trace take turns with."""
    trace = shard.traces[-1]
    return len({trace.slots[node.message] for node in trace.graph.of(Send)})


def ran(program):
    def job(shard):
        for _ in range(3):
            shard.run(program)
        return slots(shard), shard.read("t")

    return run_threads(PARTITION, job, cpu(1), Mapper("comm"), patience=20, channel="peer")  # it has buffers


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_a_ring_is_as_deep_as_it_has_to_be(monkeypatch, depth):
    monkeypatch.setattr(deadlock, "DEPTH", depth)
    for result, t in ran(sent_ahead):
        assert result == FIELDS
        assert t.any()
    assert {result for result, _ in ran(back_and_forth)} == {depth}


@pytest.mark.fast("1-*-comm", "4-*-full", "1-*-cpu")
@pytest.mark.parametrize("policy", ["cpu", "none", "comm", "full"])
@pytest.mark.parametrize("program", [sent_ahead, back_and_forth])
@pytest.mark.parametrize("depth", [1, 4])
def test_nobody_waits_in_a_circle(monkeypatch, depth, program, policy):
    monkeypatch.setattr(deadlock, "DEPTH", depth)
    prove(PARTITION, {program: ()}, *means(policy, "buffers", PARTITION)).hold()


def test_without_the_window_they_would(monkeypatch):
    monkeypatch.setattr(deadlock, "DEPTH", 1)
    monkeypatch.setattr(deadlock, "_clear", lambda *_: lambda *_: True)
    proof = prove(PARTITION, {sent_ahead: ()}, *means("comm", "buffers", PARTITION))
    assert proof.faults


def test_sharing_changes_no_bit(monkeypatch):
    fields = []
    for depth in (1, 100):
        monkeypatch.setattr(deadlock, "DEPTH", depth)
        fields.append([t for _, t in ran(sent_ahead)])
    np.testing.assert_array_equal(*fields)
