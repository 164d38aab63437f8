"""Trials: the fastest way is found, on all blocks the same, and no way changes a bit."""

import numpy as np
import pytest

from taskflow.runtime.machine import Mapper, run_threads
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.machine.trace.mapper import GAIN, KINDS, SAMPLES, WARM, Trial, search
from taskflow.runtime.regions import Partition
from tests.runtime.machine.programs import NAMES, Everything, noise, region
from tests.runtime.machine.test_shard import oracle

AUTO = Mapper("auto")
WAYS = AUTO.ways(alone=False, streams=True)
PASSES = WARM + SAMPLES


def searched(seconds, cut=lambda way: (), ways=WAYS):
    """What a search returns where a way takes so many seconds, and the ways that it tried."""
    trying, tried = search(ways, cut), []
    way = next(trying)
    while True:
        tried.append(way)
        try:
            way = trying.send(seconds(way))
        except StopIteration as end:
            return end.value, tried


def test_ways():
    assert [way.overlap for way in WAYS] == ["none", "comm", "full"]
    assert [way.overlap for way in AUTO.ways(alone=False, streams=False)] == ["none", "comm"]
    assert [way.overlap for way in AUTO.ways(alone=True, streams=True)] == ["none"]
    assert Mapper("comm").ways(alone=False, streams=True) == [Mapper("comm")]


@pytest.mark.parametrize("best", ["none", "comm", "full"])
def test_the_fastest_way_is_found(best):
    way, tried = searched(lambda way: 1.0 if way.overlap == best else 2.0)
    assert way.overlap == best
    assert tried == WAYS


def test_another_way_has_to_be_clearly_faster():
    close = {"none": 1.0, "comm": 1.0 - GAIN / 2, "full": 1.0 - 0.9 * GAIN}
    assert searched(lambda way: close[way.overlap])[0].overlap == "none"
    assert searched(lambda way: {**close, "full": 1.0 - 1.1 * GAIN}[way.overlap])[0].overlap == "full"


def test_tasks_are_tried_uncut_one_after_the_other():
    """What helps is kept while the next one is tried; only what the best way cuts is tried."""

    def seconds(way):
        if way.overlap != "comm":
            return 5.0
        return 4.0 + sum({"a": -1.0, "b": 0.5, "c": -1.0}[name] for name in way.whole)

    way, tried = searched(seconds, lambda way: {"c", "a", "b"} if way.overlap == "comm" else ())
    assert (way.overlap, way.whole) == ("comm", {"a", "c"})
    assert [sorted(way.whole) for way in tried[3:]] == [["a"], ["a", "b"], ["a", "c"]]


def test_so_many_tasks_are_tried_and_no_more():
    names = {f"task{n:02}" for n in range(3 * KINDS)}
    assert len(searched(lambda way: 1.0, lambda way: names)[1]) == len(WAYS) + KINDS


def test_a_trial_takes_the_median_of_the_slowest_block():
    """Each way is done so often; what is compiled in its first passes, and what comes in between, does not count."""
    asked = []

    def slowest(seconds):
        asked.append(seconds)
        return {0: 3.0, 1: 1.0, 2: 2.0}[len(asked) - 1]

    trial, ways = Trial(WAYS, lambda way: (), slowest), []
    while not trial.over:
        for n in range(PASSES):
            ways.append(trial.way)
            over = trial.note(100.0 if n < WARM or n == PASSES - 1 else 0.1 * len(asked))
            assert over == trial.over
            assert not over or n == PASSES - 1
    assert ways == [way for way in WAYS for _ in range(PASSES)]
    assert asked == pytest.approx([0.0, 0.1, 0.2])
    assert trial.way.overlap == "comm"


@pytest.mark.parametrize(("mapper", "shape"), [(Mapper("comm"), (1, 1, 2)), (AUTO, (1, 1, 1))])
def test_where_there_is_no_choice_nothing_is_tried(mapper, shape):
    """A way that is asked for is that way, with every task cut that it cuts."""
    space = region((6, 4, 9), (True, True, False))
    start, program = noise(space), Everything(space)

    def job(shard):
        shard.write(
            {name: start[name][shard.cells.grow(1).slices((-1, -1, -1))] for name in NAMES}, shard.instances.box
        )
        shard.run(program, dt=0.5)
        return shard.trying, shard.overlap, [trial.way.whole for trial in shard._trials.values()]

    expected = (False, "none" if mapper is AUTO else "comm", [frozenset()])
    assert run_threads(Partition(space, shape), job, cpu(1), mapper) == [expected] * (shape[2])


def test_blocks_that_try_ways_have_the_bits_of_one_memory():
    """Also while the ways change, whichever is chosen; all blocks choose the same, and keep nothing of the others."""
    space, shape = region((6, 4, 9), (True, True, False)), (2, 1, 2)
    most = PASSES * (2 + KINDS) * 2 + 3  # the roles of p and q change from pass to pass: there are two stretches
    start, program, partition = noise(space), Everything(space), Partition(space, shape)
    origin = space.cells.grow(space.ghost).lo

    def job(shard):
        for name in NAMES:
            shard.instances.array(name)[...] = start[name][shard.instances.box.slices(origin)]
        steps, seen = 0, []
        while steps < 4 or not all(trial.over for trial in shard._trials.values()):
            shard.run(program, dt=0.5)
            steps += 1
            seen.append(shard._state)
            assert steps <= most
        chosen = [trial.way for trial in shard._trials.values()]
        kept = {(key[0], key[1]) for key in shard._traces.recorded}
        owned = partition.owned[shard.block]
        fields = {role: shard.read(role, owned) for role in NAMES}
        return steps, seen, chosen, len(kept), owned, fields, shard.scalars["largest"], shard.overlap

    results = run_threads(partition, job, cpu(1), AUTO)
    steps, seen, chosen, *_, overlap = results[0]
    expected, scalars = oracle(space, steps)
    assert steps >= 2 * 2 * PASSES
    assert overlap in ("none", "comm", "comm, none")
    for result in results:
        assert (result[0], result[1], result[2]) == (steps, seen, chosen)
        assert result[3] == len(chosen) == 2, "the chosen way of result stretch is all that is kept"
        assert result[6] == scalars["largest"]
        for role, values in result[5].items():
            np.testing.assert_array_equal(values, expected[role][result[4].slices(origin)], err_msg=role)
