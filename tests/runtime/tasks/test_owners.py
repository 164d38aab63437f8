"""Scalars with owners: programs that use the same names do not collide."""

import numpy as np
import pytest

from taskflow.common.errors import BadInput
from taskflow.runtime.machine import run_threads
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.regions import Partition, region
from taskflow.runtime.tasks import (
    Loop,
    OwnedScalars,
    Read,
    ReadWrite,
    Reduce,
    Roles,
    called,
    counts,
    owned,
    plan,
    record,
    reduced,
    repeat,
    task,
    together,
)

BOX = region((6, 5, 4), ["p", "q"])


@task
def halve(p: ReadWrite, *, largest: Reduce["max"], total: Reduce["exact sum"]):
    """p = p / 2; largest = max p, total = sum of p"""
    p[...] = p[...] / 2
    largest.fold(p[...])
    total.fold(p[...], bound=100.0)


@task
def touch(p: Read, *, largest: Reduce["max"]):
    """largest = max p"""
    largest.fold(p[...])


class Halving:
    """Halves a field until it is as small as wanted: a solver with names of its own."""

    def __init__(self, role, enough):
        self.role, self.enough, self.seen = role, enough, []

    def solve(self, f):
        yield repeat(self.body, 9, until=self.reached, lag=False, count="rounds", otherwise=self.seen.extend)

    def body(self, f):
        names = f.scalars("largest", "total")
        yield halve(f[self.role], over=BOX.cells, **names)

    def reached(self, scalars):
        return scalars["largest"] <= self.enough


def test_roles_name_scalars_after_their_owner():
    roles = Roles(p="a", q="b")
    assert roles.scalar("residual") == "residual"
    mine = roles.owned("solver")
    assert mine.scalar("residual") == "solver.residual"
    assert mine.owned("coarse").scalar("residual") == mine.owned("coarse").copy().scalar("residual")
    assert mine.owned("coarse").scalar("residual") == "solver.coarse.residual"
    mine.swap("p", "q")
    assert (roles.p, roles.q) == ("b", "a"), "an owner sees the same parts"


@pytest.mark.parametrize("blocks", [(1, 1, 1), (2, 1, 2)])
def test_two_solvers_in_one_program_do_not_collide(blocks):
    """Nor do they with one whose scalars have no owner."""
    first, second, third = Halving("p", 1.0), Halving("q", 4.0), Halving("p", 0.25)

    def program(f):
        yield from owned("first", first.solve)(f)
        yield from owned("second", second.solve)(f)
        yield from owned("first", owned("inner", third.solve))(f)
        yield touch(f.q, over=BOX.cells, largest=f.scalar("largest"))

    def job(shard):
        shard.write({name: np.full(shard.read(name).shape, 16.0) for name in "pq"})
        shard.run(program)
        return dict(shard.scalars)

    for scalars in run_threads(Partition(BOX, blocks), job, cpu(1)):
        assert scalars["first.rounds"] == 4
        assert scalars["second.rounds"] == 2
        assert scalars["first.inner.rounds"] == 2
        assert (scalars["first.largest"], scalars["second.largest"], scalars["largest"]) == (1.0, 4.0, 4.0)
        inner = OwnedScalars("inner", OwnedScalars("first", scalars))
        assert together(inner, ("rounds", "largest")) == [2.0, 0.25]
        assert (inner["largest"], reduced(inner, "total")) == (0.25, (0.25 * BOX.cells.volume,))
        assert {*inner} == {"rounds", "largest", *halve.numbers["total"].of("total")}


def test_what_counts_and_what_is_told_belong_to_the_owner():
    solver = Halving("p", 0.0)
    parts, _ = plan(owned("solver", solver.solve), Roles.of(("p", "q")))
    [loop] = parts
    assert isinstance(loop, Loop)
    assert [*counts(parts)] == ["solver.rounds"]
    assert loop.repeat.until({"solver.largest": 0.0, "largest": 1.0})
    loop.repeat.otherwise([{"solver.largest": 2.0, "largest": 1.0}])
    assert [dict(scalars) for scalars in solver.seen] == [{"largest": 2.0}]
    [launch] = record(owned("solver", solver.solve), Roles.of(("p", "q")))[0]
    assert launch.reductions["largest"] == ("solver.largest", "max")


def test_an_owned_program_is_called_like_itself():
    assert called(owned("solver", Halving("p", 1.0).solve)) == "solve"


@pytest.mark.parametrize("owner", ["", "a.b", None, 1])
def test_owners_have_names(owner):
    with pytest.raises(BadInput, match="give the name of an owner, without a dot"):
        owned(owner, Halving("p", 1.0).solve)
