"""Numbers that the host derives from others between two launches, in any place of a program."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.common.errors import BadInput
from taskflow.runtime.machine import Mapper, run_threads
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.proof import Hardware, prove
from taskflow.runtime.regions import Partition, region
from taskflow.runtime.tasks import Read, ReadWrite, Reduce, Repeat, Scalar, derive, owned, task

SPACE = region((8, 3, 2), ["q"], periodic="xyz")


@task
def total(q: Read, *, most: Reduce[max]):
    """most = max q"""
    most.fold(q[...])


@task
def scale(q: ReadWrite, *, by: Scalar):
    """q = by q"""
    q[...] = by * q[...]


def halved(f):
    """q = q / (2 max q), twice."""

    def body(f):
        yield total(f.q, over=SPACE.cells, most=f.scalar("most"))
        yield derive(lambda scalars: {"by": 0.5 / scalars["most"]}, (f.scalar("by"),))
        yield scale(f.q, over=SPACE.cells, by=f.scalar("by"))

    yield derive(lambda _: {"by": 3.0}, (f.scalar("by"),))
    yield scale(f.q, over=SPACE.cells, by=f.scalar("by"))
    yield Repeat(body, 2)


def values(program, blocks):
    def job(shard):
        shard.write({"q": np.full(shard.cells.shape[::-1], 1.0 + shard.block)})
        shard.run(program)
        return float(shard.read("q").max()), dict(shard.scalars)

    return run_threads(Partition(SPACE, blocks), job, cpu(1))


@pytest.mark.parametrize("blocks", [(1, 1, 1), (2, 1, 1)])
def test_numbers_follow_from_those_of_all_blocks(blocks):
    shares = values(halved, blocks)
    assert [largest for largest, _ in shares] == ([0.5] if len(shares) == 1 else [0.25, 0.5])
    assert all(scalars["by"] == 1.0 for _, scalars in shares)


def owners(f):
    yield derive(lambda _: {"a": 2.0}, (f.scalar("a"),))
    yield derive(lambda scalars: {"b": scalars["a"] + 1}, (f.scalar("b"),))


def mine(f):
    yield derive(lambda _: {"a": 2.0}, ("a",))
    yield derive(lambda scalars: {"b": scalars["a"] + 1}, ("b",))


def test_an_owner_derives_its_own():
    ((_, scalars),) = values(owned("mine", mine), (1, 1, 1))
    assert (scalars["mine.a"], scalars["mine.b"]) == (2.0, 3.0)


def nothing(f):
    yield derive(lambda _: {}, ("by",))
    yield scale(f.q, over=SPACE.cells, by="by")


def counted_later(f):
    yield scale(f.q, over=SPACE.cells, by="rounds")
    yield Repeat(halved, 2, count="rounds")


def folded_later(f):
    yield scale(f.q, over=SPACE.cells, by="most")
    yield total(f.q, over=SPACE.cells, most="most")


@pytest.mark.parametrize(("program", "name"), [(nothing, "by"), (counted_later, "rounds"), (folded_later, "most")])
def test_a_number_that_nobody_has_made_yet_is_not_read(program, name):
    with pytest.raises(BadInput, match=rf"scale reads '{name}', which has no value yet: .* run\(..., {name}="):
        values(program, (2, 1, 1))


def test_what_has_a_value_keeps_it_where_none_is_derived():
    def job(shard):
        shard.write({"q": np.ones(shard.cells.shape[::-1])})
        shard.run(nothing, by=2.0)
        shard.run(nothing)
        return float(shard.read("q").max())

    assert run_threads(Partition(SPACE, (2, 1, 1)), job, cpu(1)) == [4.0, 4.0]


def test_the_proof_knows_that_the_host_gives_them():
    prove(Partition(SPACE, (2, 1, 1)), {halved: ()}, Mapper(), Hardware(True, (0, 0))).hold()


@pytest.mark.parametrize(
    ("function", "names", "words"),
    [
        (3, ("a",), "a function"),
        (dict, (), "a tuple with the names"),
        (lambda _: {"b": 1}, ("a",), "returned b; it has to return a"),
    ],
)
def test_what_derives_nothing_is_refused(function, names, words):
    with pytest.raises(BadInput, match=words):
        derive(function, names)({})
