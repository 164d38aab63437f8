"""Shards over the local channel do what the serial oracle does, bit for bit, whatever the mapper decides."""

import threading

import numpy as np
import pytest

from taskflow.common.errors import BadInput, RunFailed
from taskflow.runtime.machine import Mapper, Shard, run_threads
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.machine.trace.mapper import SMALL
from taskflow.runtime.regions import Box, Partition
from taskflow.runtime.tasks import Roles, analyse, record, serial
from tests.runtime.machine.programs import NAMES, Everything, noise, region, relax, shrink

STEPS = 4
OVERLAPS = ("none", "comm", "full")


def oracle(space, steps=STEPS):
    """Fields by role and scalars after some steps in one memory."""
    memory, scalars, roles = noise(space), {"dt": 0.5}, Roles.of(NAMES)
    for _ in range(steps):
        launches, roles = record(Everything(space), roles)
        serial.run_program(space, memory, launches, scalars)
    return {role: memory[roles[role]] for role in NAMES}, scalars


def on_blocks(space, shape, overlap, steps=STEPS):
    """The same from blocks."""
    start, program, partition = noise(space), Everything(space), Partition(space, shape)
    origin = space.cells.grow(space.ghost).lo

    def job(shard):
        for name in NAMES:
            shard.instances.array(name)[...] = start[name][shard.instances.box.slices(origin)]
        for _ in range(steps):
            shard.run(program, dt=0.5)
        owned = partition.owned[shard.block]
        return owned, {role: shard.read(role, owned) for role in NAMES}, dict(shard.scalars)

    return run_threads(partition, job, cpu(1), Mapper(overlap))


@pytest.mark.parametrize("overlap", OVERLAPS)
@pytest.mark.parametrize("shape", [
    (1, 1, 1), (1, 1, 2), (1, 1, 3), (2, 1, 2), pytest.param((2, 2, 2), marks=pytest.mark.slow), (5, 1, 1),
])  # fmt: skip
@pytest.mark.parametrize("periodic", [(False, True, False), (True, True, True)])
def test_blocks_agree_with_the_oracle(shape, overlap, periodic):
    space = region((6, 4, 9), periodic)
    expected, scalars = oracle(space)
    origin = space.cells.grow(space.ghost).lo
    for owned, fields, result in on_blocks(space, shape, overlap):
        assert result["largest"] == scalars["largest"]
        assert result["total"] == pytest.approx(scalars["total"], rel=1e-13)
        for role, values in fields.items():
            np.testing.assert_array_equal(values, expected[role][owned.slices(origin)], err_msg=role)


def test_a_program_is_analysed_once_per_state(monkeypatch):
    space, calls = region((6, 4, 9)), []
    program = Everything(space)
    counted = lambda *a, **k: calls.append(1) or analyse(*a, **k)  # noqa: E731
    monkeypatch.setattr("taskflow.runtime.machine.trace.traces.analyse", counted)

    def job(shard):
        for _ in range(8):  # until the valid ghost cells recur, for both roles of p and q
            shard.run(program, dt=0.5)
        met = len(calls)
        for _ in range(20):
            shard.run(program, dt=0.5)
        return met, len(calls)

    ((met, later),) = run_threads(Partition(space, (1, 1, 1)), job, cpu(1))
    assert met == later <= 5


def test_a_state_that_differs_in_what_is_not_read_needs_no_analysis(monkeypatch):
    """Ghost cells of p are read, those of q are not: what was written of q is as it was with p alone."""
    space, calls = region((4, 4, 8)), []
    counted = lambda *a, **k: calls.append(k["blocks"]) or analyse(*a, **k)  # noqa: E731
    monkeypatch.setattr("taskflow.runtime.machine.trace.traces.analyse", counted)
    once = lambda f: iter([relax_once(f, space)])  # noqa: E731

    def job(shard):
        for _ in range(2):  # without and with ghost cells of p
            shard.run(once)
        met, read = calls.count([shard.block]), []
        for name in ("q", "p", "q"):
            shard.write({name: np.full(shard.cells.shape[::-1], 1.0 + shard.block)})
            shard.run(once)
            read.append(float(shard.read("q")[-1 if shard.block == 0 else 0, 1, 1]))
        return met, calls.count([shard.block]), read

    for block, (met, later, read) in enumerate(run_threads(Partition(space, (1, 1, 2)), job, cpu(1))):
        assert met == later
        assert read == [0, 7 + 4 * block, 7 + 4 * block]  # of p five neighbours here, and one across the cut


def test_write_read_and_ghosts_that_follow():
    space = region((4, 4, 8))

    def job(shard):
        for _ in range(2):
            shard.write(
                {"p": np.full(shard.cells.shape[::-1], float(shard.block + 1)), "b": np.zeros(shard.cells.shape[::-1])}
            )
            shard.run(lambda f: iter([relax_once(f, space)]))
        return shard.read("q")

    low, high = run_threads(Partition(space, (1, 1, 2)), job, cpu(1))
    assert (low[-1, 1, 1], high[0, 1, 1]) == (5 * 1 + 2, 5 * 2 + 1)  # one neighbour across the cut


def test_parts_of_fields_are_written_as_often_as_a_block_likes():
    space = region((4, 4, 8))

    def job(shard):
        here, ones = shard.cells, np.ones((1, 1, 1))
        layers = [here.layer(2, 0, n, n + 1) & here for n in range(1 + 2 * shard.block)]
        parts = [(here, {"p": 0 * ones, "b": 3 * ones}), *((item, {"p": (2 + shard.block) * ones}) for item in layers)]
        shard.write_parts(["p", "b"], parts)
        shard.run(lambda f: iter([relax_once(f, space)]))
        return shard.read("p"), shard.read("b")

    for block, (p, b) in enumerate(run_threads(Partition(space, (1, 1, 2)), job, cpu(1))):
        assert (b == 3).all()
        assert p[:, 1, 1].tolist() == [2.0 + block] * (1 + 2 * block) + [0.0] * (3 - 2 * block)


def relax_once(f, space):
    return relax(f.p, f.b, f.q, over=Box((1, 0, 1), (3, 4, 7)), weight=1.0)


def test_allreduce_is_ordered_and_equal_everywhere():
    space = region((4, 4, 8))

    def job(shard):
        return shard.allreduce([10.0**-shard.block, shard.block, -shard.block], ("sum", "max", "min"))

    results = run_threads(Partition(space, (1, 1, 4)), job, cpu(1))
    for result in results:
        np.testing.assert_array_equal(result, [((1.0 + 0.1) + 0.01) + 0.001, 3, -3])


@pytest.mark.parametrize("name", ["self", "program"])
def test_a_scalar_may_have_any_name(name):
    def job(shard):
        shard.run(lambda f: iter([shrink(f.u, over=shard.cells, largest=name)]), **{name: 2.0})
        return shard.scalars[name]

    assert run_threads(Partition(region((4, 4, 8)), (1, 1, 1)), job, cpu(1)) == [2.0]


def test_a_failing_block_ends_the_others():
    space = region((4, 4, 8))
    program = Everything(space)

    def job(shard):
        if shard.block == 1:
            raise RunFailed("no more")
        shard.run(program, dt=0.5)

    with pytest.raises(RunFailed, match="no more"):
        run_threads(Partition(space, (1, 1, 2)), job, cpu(1), patience=20.0)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("taskflow-block")]


@pytest.mark.parametrize(("field", "over", "words"), [
    ("p", Box((0, 0, 0), (6, 4, 8)), "outside the region"),
    ("zz", Box((0, 0, 0), (4, 4, 8)), "uses the field 'zz'"),
])  # fmt: skip
def test_impossible_programs_are_refused(field, over, words):
    def job(shard: Shard):
        shard.run(lambda f: iter([relax(field, f.b, f.q, over=over, weight=1.0)]))

    with pytest.raises(BadInput, match=words):
        run_threads(Partition(region((4, 4, 8)), (1, 1, 2)), job, cpu(1))


def test_auto_overlap_needs_neighbours_and_size():
    def on(cells: int, blocks: int) -> Partition:
        return Partition(region((blocks * cells, 1, 1)), (blocks, 1, 1))

    assert Mapper("auto").decide(on(SMALL + 1, 2)).overlap == "full"
    assert Mapper("auto").decide(on(SMALL + 1, 1)).overlap == "none"
    assert Mapper("auto").decide(on(SMALL, 4)).overlap == "none"
    assert Mapper("comm").decide(on(1, 2)).overlap == "comm"
