"""Repetitions on shards have the bits of the same launches one after the other, and end where their numbers say so."""

from functools import partial

import numpy as np
import pytest

from taskflow.common.errors import RunFailed
from taskflow.runtime.machine import Mapper, run_threads
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.regions import Box, Partition
from taskflow.runtime.tasks import Read, ReadWrite, Reduce, Roles, Scalar, box, record, repeat, serial, task
from tests.runtime.machine.programs import NAMES, noise, region, relax

SPACE = region((6, 4, 9), (True, True, False))
COMM = Mapper("comm")
BLOCKS = pytest.mark.parametrize("shape", [(1, 1, 1), (1, 1, 2), (2, 2, 1)])


@task
def weigh(q: Read[box(1)], p: ReadWrite, *, factor: Scalar, top: Reduce[max]) -> None:
    """p = factor (p + corners of q), and its maximum"""
    p[...] = factor * (p[...] + q[1, 1, 0] + q[-1, -1, 0])
    top.fold(abs(p[...]))


def there_and_back(f):
    """Two launches after which fields have their parts again: the second halves p, more or less."""
    yield relax(f.p, f.b, f.q, over=SPACE.cells, weight=0.01)
    yield weigh(f.q, f.p, over=SPACE.cells, factor="factor", top="top")


def swapping(f):
    """The same with fields that change parts on the way."""
    for _ in range(2):
        yield relax(f.p, f.b, f.q, over=SPACE.cells, weight=0.01)
        f.swap("p", "q")
    yield weigh(f.q, f.p, over=SPACE.cells, factor="factor", top="top")


def unrolled(program, times):
    """Fields by role and scalars after a program in one memory, `times` times."""
    memory, scalars, roles = noise(SPACE), {"factor": 0.5}, Roles.of(NAMES)
    for _ in range(times):
        launches, roles = record(program, roles)
        serial.run_program(SPACE, memory, launches, scalars)
    return {role: memory[roles[role]] for role in NAMES}, scalars


def on_blocks(shape, job, mapper=COMM):
    """What `job(shard)` returns on every block, and the fields of all afterwards, as one memory."""
    start, partition = noise(SPACE), Partition(SPACE, shape)
    origin = SPACE.cells.grow(SPACE.ghost).lo
    fields = {name: np.full_like(array, np.nan) for name, array in start.items()}

    def main(shard):
        for name in NAMES:
            shard.instances.array(name)[...] = start[name][shard.instances.box.slices(origin)]
        result, owned = job(shard), partition.owned[shard.block]
        for role in NAMES:
            fields[role][owned.slices(origin)] = shard.read(role, owned)
        return result, dict(shard.scalars)

    return run_threads(partition, main, cpu(1), mapper), fields


def assert_results(results, fields, expected):
    memory, scalars = expected
    inside = SPACE.bounds.slices(SPACE.cells.grow(SPACE.ghost).lo)
    for role in NAMES:
        np.testing.assert_array_equal(fields[role][inside], memory[role][inside], err_msg=role)
    assert [result["top"] for _, result in results] == [scalars["top"]] * len(results)


def tops(body, count):
    """The maxima after each of so many passes of a body."""
    return [unrolled(body, n)[1]["top"] for n in range(1, count + 1)]


@BLOCKS
@pytest.mark.parametrize("body", [there_and_back, swapping])
@pytest.mark.parametrize("overlap", ["none", "comm", "auto"])
def test_a_repetition_has_the_bits_of_what_is_repeated(shape, body, overlap):
    def program(f):
        yield repeat(body, 5)

    def job(shard):
        for _ in range(2):
            shard.run(program, factor=0.5)

    assert_results(*on_blocks(shape, job, Mapper(overlap)), unrolled(body, 10))


@BLOCKS
def test_between_other_launches_and_in_each_other(shape):
    def inner(f):
        yield weigh(f.b, f.p, over=SPACE.cells, factor="factor", top="top")
        yield repeat(there_and_back, 2)

    def program(f):
        yield weigh(f.u, f.w, over=SPACE.cells, factor="factor", top="top")
        yield repeat(inner, 3)
        f.swap("p", "w")
        yield repeat(there_and_back, 1)

    def flat(f):
        yield weigh(f.u, f.w, over=SPACE.cells, factor="factor", top="top")
        for _ in range(3):
            yield weigh(f.b, f.p, over=SPACE.cells, factor="factor", top="top")
            for _ in range(2):
                yield from there_and_back(f)
        f.swap("p", "w")
        yield from there_and_back(f)

    def job(shard):
        for _ in range(3):
            shard.run(program, factor=0.5)

    assert_results(*on_blocks(shape, job), unrolled(flat, 3))


@pytest.mark.fast("1-shape0", "2-shape2", "3-shape1")
@BLOCKS
@pytest.mark.parametrize("every", [1, 2, 3])
def test_until_is_asked_about_the_numbers_of_one_round_before(shape, every):
    """It stops one round after the numbers are as wanted, whatever they are afterwards."""
    known = tops(there_and_back, 12)
    limit = (known[2 * every - 1] + known[2 * every - 2]) / 2
    assert known[every - 1] > limit > known[2 * every - 1], "the second round is enough"

    def job(shard):
        asked = []

        def enough(scalars):
            asked.append((scalars["top"], scalars["factor"]))
            return scalars["top"] < limit

        shard.run(lambda f: iter([repeat(there_and_back, 100, until=enough, every=every)]), factor=0.5)
        return asked

    results, fields = on_blocks(shape, job)
    assert_results(results, fields, unrolled(there_and_back, 3 * every))
    for asked, _ in results:
        assert asked == [(known[every - 1], 0.5), (known[2 * every - 1], 0.5)]


@pytest.mark.parametrize(
    ("times", "every", "questions"), [(1, 1, 0), (2, 1, 1), (5, 1, 4), (5, 2, 1), (5, 3, 0), (3, 7, 0)]
)
def test_what_is_never_enough_is_done_as_often_as_it_may_be(times, every, questions):
    def job(shard):
        asked = []
        never = repeat(there_and_back, times, until=lambda scalars: asked.append(scalars["top"]), every=every)
        shard.run(lambda f: iter([never]), factor=0.5)
        return asked

    results, fields = on_blocks((1, 1, 2), job)
    assert_results(results, fields, unrolled(there_and_back, times))
    known = tops(there_and_back, times)
    for asked, _ in results:
        assert asked == known[every - 1 :: every][:questions]


@pytest.mark.fast("1-shape0", "2-shape2")
@BLOCKS
@pytest.mark.parametrize("every", [1, 2])
def test_without_lag_it_stops_with_the_round_that_was_enough_and_says_how_many_passes_were_done(shape, every):
    known = tops(there_and_back, 12)
    limit = (known[2 * every - 1] + known[2 * every - 2]) / 2

    def job(shard):
        asked = []

        def enough(scalars):
            asked.append(scalars["top"])
            return scalars["top"] < limit

        body = repeat(there_and_back, 100, until=enough, every=every, lag=False, count="passes")
        shard.run(lambda f: iter([body]), factor=0.5)
        assert shard.scalars["passes"] == 2 * every
        return asked

    results, fields = on_blocks(shape, job)
    assert_results(results, fields, unrolled(there_and_back, 2 * every))
    for asked, _ in results:
        assert asked == known[every - 1 : 2 * every : every]


@BLOCKS
@pytest.mark.parametrize("enough_after", [1, 3])
def test_further_passes_are_asked_about_before_the_first(shape, enough_after):
    """What the program did before counts as a round: perhaps it was enough."""
    known = tops(there_and_back, 4)
    limit = (known[enough_after - 1] + known[enough_after - 2]) / 2 if enough_after > 1 else known[0] * 2

    def job(shard):
        asked = []

        def enough(scalars):
            asked.append(scalars["top"])
            return scalars["top"] < limit

        def program(f):
            yield from there_and_back(f)
            yield repeat(there_and_back, 9, until=enough, lag=False, further=True, count="passes")

        shard.run(program, factor=0.5)
        return asked, shard.scalars["passes"]

    results, fields = on_blocks(shape, job)
    assert_results(results, fields, unrolled(there_and_back, enough_after))
    assert [result for result, _ in results] == [(known[:enough_after], enough_after - 1)] * len(results)


@pytest.mark.parametrize(("times", "asked"), [(0, 1), (2, 3)])
def test_further_passes_that_were_not_enough_are_an_error_with_what_was_before(times, asked):
    def job(shard):
        def missed(rounds):
            raise RunFailed(f"{[now['top'] for now in rounds]}")

        def program(f):
            yield from there_and_back(f)
            yield repeat(
                there_and_back, times, until=lambda now: False, lag=False, further=True, otherwise=missed
            )  # fmt: skip

        with pytest.raises(RunFailed) as caught:
            shard.run(program, factor=0.5)
        return str(caught.value)

    results, fields = on_blocks((1, 1, 2), job)
    assert_results(results, fields, unrolled(there_and_back, times + 1))
    assert {result for result, _ in results} == {str(tops(there_and_back, asked))}


def test_no_further_pass_may_be_wanted():
    def program(f):
        yield from there_and_back(f)
        yield repeat(there_and_back, 0, further=True, count="passes")

    def job(shard):
        shard.run(program, factor=0.5)
        return shard.scalars["passes"]

    results, fields = on_blocks((1, 1, 2), job)
    assert_results(results, fields, unrolled(there_and_back, 1))
    assert [result for result, _ in results] == [0, 0]


@pytest.mark.parametrize("lag", [True, False])
def test_passes_are_counted_where_it_was_never_enough_and_nobody_is_asked_in_vain(lag):
    def job(shard):
        asked = []
        never = repeat(there_and_back, 4, until=lambda now: asked.append(now["top"]), lag=lag, count="passes")
        shard.run(lambda f: iter([never]), factor=0.5)
        return asked, shard.scalars["passes"]

    results, fields = on_blocks((1, 1, 2), job)
    assert_results(results, fields, unrolled(there_and_back, 4))
    assert [result for result, _ in results] == [(tops(there_and_back, 3), 4)] * 2


@task
def add(p: ReadWrite, *, amount: Scalar) -> None:
    """p = p + amount"""
    p[...] = p[...] + amount


def test_tasks_read_the_count():
    def program(f):
        yield repeat(there_and_back, 3, count="passes")
        yield add(f.p, over=SPACE.cells, amount="passes")

    def flat(f):
        for _ in range(3):
            yield from there_and_back(f)
        yield add(f.p, over=SPACE.cells, amount="three")

    def job(shard):
        shard.run(program, factor=0.5)
        return shard.read("p")

    memory, scalars = noise(SPACE), {"factor": 0.5, "three": 3.0}
    serial.run_program(SPACE, memory, record(flat, Roles.of(NAMES))[0], scalars)
    results, fields = on_blocks((1, 1, 2), job)
    assert_results(results, fields, (memory, scalars))


@BLOCKS
def test_what_was_not_enough_is_an_error_of_all_blocks(shape):
    """`otherwise` sees the numbers of every round, and is not called where the last one was enough."""
    known = tops(there_and_back, 6)

    def job(shard):
        def missed(rounds):
            raise RunFailed(f"{[now['top'] for now in rounds]} after {shard.scalars['passes']:g}")

        def program(f, limit):
            yield repeat(
                there_and_back, 4, until=lambda now: now["top"] < limit, every=2, lag=False, count="passes",
                otherwise=missed,
            )  # fmt: skip

        with pytest.raises(RunFailed) as caught:
            shard.run(partial(program, limit=0.0), factor=0.5)
        shard.run(partial(program, limit=(known[4] + known[5]) / 2))
        return str(caught.value)

    results, fields = on_blocks(shape, job)
    assert_results(results, fields, unrolled(there_and_back, 6))
    assert {result for result, _ in results} == {f"{[known[1], known[3]]} after 4"}


def test_each_repetition_asks_about_its_own_rounds():
    """The outer one about the numbers after its last but one round, however often the inner one has asked since."""

    def job(shard):
        outer, inner = [], []

        def body(f):
            yield repeat(there_and_back, 3, until=lambda scalars: inner.append(scalars["top"]))

        def program(f):
            yield repeat(body, 3, until=lambda scalars: outer.append(scalars["top"]))

        shard.run(program, factor=0.5)
        return outer, inner

    results, fields = on_blocks((1, 1, 2), job)
    assert_results(results, fields, unrolled(there_and_back, 9))
    known = tops(there_and_back, 9)
    for (outer, inner), _ in results:
        assert outer == [known[2], known[5]]
        assert inner == [known[n] for n in (0, 1, 3, 4, 6, 7)]


@pytest.mark.parametrize("shape", [(6, 1, 1), (1, 4, 3)])
def test_blocks_without_cells_decide_as_all_others(shape):
    """Most blocks, one cell wide, have nothing to do: they take part in what all of them agree on, and end alike."""
    corner = Box((1, 1, 0), (4, 2, 2))

    def body(f):
        yield relax(f.p, f.b, f.q, over=corner, weight=0.01)
        yield weigh(f.q, f.p, over=corner, factor="factor", top="top")

    def program(f):
        yield repeat(body, 40, until=lambda scalars: scalars["top"] > limit, every=2)
        yield relax(f.p, f.b, f.u, over=SPACE.cells, weight=0.1)

    def flat(f):
        for _ in range(6):
            yield from body(f)
        yield relax(f.p, f.b, f.u, over=SPACE.cells, weight=0.1)

    known = tops(body, 4)
    limit = (known[1] + known[3]) / 2
    assert known[1] < limit < known[3], "the second round is enough"

    def job(shard):
        shard.run(program, factor=0.5)
        return shard._state, len(shard._states._valid), shard.trying

    results, fields = on_blocks(shape, job, Mapper("auto"))
    assert_results(results, fields, unrolled(flat, 1))
    assert len({result for result, _ in results}) == 1


def test_roles_that_are_changed_between_passes_do_not_change_what_passes_do():
    """A pass leaves the roles to whoever wants them otherwise: the next time it is done as it was the first time."""

    def program(f):
        yield from there_and_back(f)

    def job(shard):
        for _ in range(2):
            shard.run(program, factor=0.5)
            shard.roles.swap("p", "w")
            shard.run(program, factor=0.5)
            shard.roles.swap("p", "w")

    def flat(f):
        for _ in range(2):
            yield from there_and_back(f)
            f.swap("p", "w")

    assert_results(*on_blocks((1, 1, 2), job), unrolled(flat, 2))
