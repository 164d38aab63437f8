"""Repetitions as programs yield them: what is planned, what is recorded, and what is refused."""

from dataclasses import dataclass
from functools import partial

import pytest

from taskflow.common.errors import BadInput
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Loop, Read, ReadWrite, Roles, Stretch, Write, plan, record, repeat, task

OVER = Box.of((2, 2, 2))
ROLES = Roles.of(("p", "q", "r"))


@task
def duplicate(p: Read, q: Write):
    """q = p"""


@dataclass(frozen=True)
class Pair:
    one: float
    other: int


@task
def scaled(p: ReadWrite, *, by: float, pair: Pair):
    """p = by p"""


def sweep(roles):
    """One sweep, after which p and q have changed parts."""
    yield duplicate(roles.p, roles.q, over=OVER)
    roles.swap("p", "q")


def two(roles):
    """Two sweeps, after which every field has its part again."""
    yield from sweep(roles)
    yield from sweep(roles)


def shape(part):
    """A part as the fields of its launches, and of those that follow; a loop as (times, its parts)."""
    if isinstance(part, Loop):
        return part.repeat.times, [shape(inner) for inner in part.body]
    return [[launch.fields for launch in launches] for launches in (part.launches, part.following)]


def test_stretches_lie_between_repetitions():
    def program(roles):
        yield duplicate(roles.r, roles.p, over=OVER)
        yield repeat(two, 3)
        yield duplicate(roles.p, roles.r, over=OVER)
        yield duplicate(roles.r, roles.q, over=OVER)

    parts, after = plan(program, ROLES)
    present, back = ("p", "q"), ("q", "p")
    assert [shape(part) for part in parts] == [
        [[("r", "p")], [present, back]],  # followed by what is repeated
        (3, [[[present, back], [present, back]]]),  # by itself
        [[("p", "r"), ("r", "q")], [("r", "p")]],  # by the next pass
    ]
    assert after.key() == ROLES.key()


def test_nothing_is_certain_to_follow_what_the_host_waits_for():
    """Another round may, or what comes behind them."""

    def program(roles, **options):
        yield duplicate(roles.r, roles.p, over=OVER)
        yield repeat(two, 3, until=bool, **options)
        yield duplicate(roles.p, roles.r, over=OVER)

    def following(**options):
        before, loop, _ = plan(partial(program, **options), ROLES)[0]
        return bool(before.following), bool(loop.body[-1].following)

    assert following(lag=True) == (True, True)
    assert following(lag=False) == (True, False)
    assert following(lag=False, further=True) == (False, False)


def test_repetitions_in_repetitions_and_roles_that_change():
    def outer(roles):
        yield repeat(two, 2)
        yield duplicate(roles.q, roles.r, over=OVER)

    def program(roles):
        yield from sweep(roles)
        yield repeat(outer, 5)

    parts, after = plan(program, ROLES)
    present, back = ("p", "q"), ("q", "p")  # after the sweep p is played by the field q
    assert [shape(part) for part in parts] == [
        [[present], [back, present]],
        (5, [(2, [[[back, present], [back, present]]]), [[("p", "r")], [back, present]]]),
    ]
    assert after.key() == (("p", "q"), ("q", "p"), ("r", "r"))
    assert ROLES.key() == (("p", "p"), ("q", "q"), ("r", "r"))


def test_a_program_without_repetitions_is_one_stretch():
    (stretch,), after = plan(sweep, ROLES)
    assert isinstance(stretch, Stretch)
    assert shape(stretch) == [[("p", "q")], [("q", "p")]], "it is followed by itself, with the roles that it left"
    assert after.p == "q"
    assert plan(lambda roles: iter(()), ROLES)[0] == ()


def test_what_is_repeated_in_two_places_is_one_stretch():
    """Where it does the same to the bit, with whatever objects, and what follows is the same, too."""
    factors = [(0.0, Pair(1.0, 2)), (0.0, Pair(1.0, 2)), (-0.0, Pair(1.0, 2)), (0.0, Pair(1.5, 2)), (0.0, Pair(1.0, 2))]

    def program(roles):
        for by, pair in factors:
            yield repeat(lambda f, by=by, pair=pair: iter([scaled(f.p, over=OVER, by=by, pair=pair)]), 2)
            yield duplicate(roles.p, roles.q, over=OVER)

    parts, _ = plan(program, ROLES)
    inner = [part.body[0] for part in parts[::2]]
    assert [[one is other for other in inner] for one in inner[:2]] == 2 * [[True, True, False, False, True]]
    between = parts[1::2]
    assert between[0] is between[3] is between[4], "they are followed by the same: the program by itself"
    assert len({id(stretch) for stretch in between}) == 3


def test_record_has_what_is_repeated_once():
    def program(roles):
        yield repeat(two, 7)
        yield duplicate(roles.p, roles.r, over=OVER)

    launches, _ = record(program, ROLES)
    assert [launch.fields for launch in launches] == [("p", "q"), ("q", "p"), ("p", "r")]


def test_a_body_that_swaps_once_is_refused():
    def program(roles):
        yield repeat(sweep, 4)

    for analysed in (plan, record):
        with pytest.raises(BadInput, match="the program program repeats something that leaves p, q with exchanged fie"):
            analysed(program, ROLES)


def test_what_cannot_be_repeated():
    for times in (0, -1, 2.0, True, "3"):
        with pytest.raises(BadInput, match=r"repeat\(times=.*: give an integer, 1 or more"):
            repeat(two, times)
    with pytest.raises(BadInput, match=r"repeat\(times=-1\): give an integer, 0 or more"):
        repeat(two, -1, further=True)
    with pytest.raises(BadInput, match=r"repeat\(further=True\): .* of the current round; give lag=False"):
        repeat(two, 0, further=True, until=bool)
    with pytest.raises(BadInput, match=r"repeat\(every=0\): give an integer"):
        repeat(two, 2, every=0)
    with pytest.raises(BadInput, match=r"repeat\(.*: give a program, a function of the roles"):
        repeat([duplicate("p", "q", over=OVER)], 2)
    with pytest.raises(BadInput, match=r"repeat\(until=0.5\): give a function of the scalars"):
        repeat(two, 2, until=0.5)
    with pytest.raises(BadInput, match=r"repeat\(count=3\): give the name of a scalar"):
        repeat(two, 2, count=3)
    with pytest.raises(BadInput, match=r"repeat\(otherwise=0.5\): give a function of the scalars of all rounds"):
        repeat(two, 2, until=bool, lag=False, otherwise=0.5)
    for unseen in ({"lag": False}, {"until": bool}, {"until": bool, "lag": False, "every": 2, "times": 3}):
        with pytest.raises(BadInput, match=r"repeat\(otherwise=...\): every round has to be asked about"):
            repeat(two, **{"times": 2, "otherwise": list, **unseen})
    with pytest.raises(BadInput, match="the program wrong yielded 3, which is no launch"):
        plan(lambda roles: iter([repeat(wrong, 2)]), ROLES)


def wrong(roles):
    """A body that yields a number."""
    yield 3
