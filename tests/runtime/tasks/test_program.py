"""Roles, and the recording of programs."""

import copy
import pickle

import pytest

from taskflow.common.errors import BadInput
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Read, Roles, Write, record, task

OVER = Box.of((2, 2, 2))


@task
def duplicate(p: Read, q: Write):
    """q = p"""


def test_every_field_plays_its_own_name_at_first():
    roles = Roles.of(("p", "q"))
    assert (roles.p, roles["q"]) == ("p", "q")
    assert roles.key() == (("p", "p"), ("q", "q"))


def test_swap_changes_parts():
    roles = Roles(p="a", q="b", r="c")
    roles.swap("p", "q")
    assert (roles.p, roles.q, roles.r) == ("b", "a", "c")
    roles.swap("q", "p")
    assert roles.key() == Roles(p="a", q="b", r="c").key()


def test_unknown_roles_are_named_with_the_known_ones():
    roles = Roles(p="a", q="b")
    for use in (lambda: roles.r, lambda: roles["r"], lambda: roles.swap("p", "r"), lambda: roles.swap("r", "p")):
        with pytest.raises(AttributeError, match="no field plays 'r'; there are p, q"):
            use()
    assert roles.key() == (("p", "a"), ("q", "b")), "a refused swap changes nothing"


def test_a_copy_is_independent():
    roles = Roles(p="a", q="b")
    other = roles.copy()
    other.swap("p", "q")
    assert (roles.p, other.p) == ("a", "b")


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda roles: pickle.loads(pickle.dumps(roles))])
def test_roles_travel(duplicate):
    roles = Roles(p="b", q="a")
    assert duplicate(roles).key() == roles.key()


def test_record_leaves_the_given_roles_as_they_are():
    def program(roles):
        for _ in range(3):
            yield duplicate(roles.p, roles.q, over=OVER)
            roles.swap("p", "q")

    roles = Roles.of(("p", "q"))
    launches, after = record(program, roles)
    assert [launch.fields for launch in launches] == [("p", "q"), ("q", "p"), ("p", "q")]
    assert roles.key() == (("p", "p"), ("q", "q"))
    assert after.key() == (("p", "q"), ("q", "p"))


@pytest.mark.parametrize("name", ["swap", "copy", "key", "of", "__dict__"])
def test_a_part_does_not_hide_what_roles_can_do(name):
    with pytest.raises(BadInput, match=f"a field cannot be called '{name}', as roles.{name} is something else"):
        Roles(**{name: "p"})
    with pytest.raises(BadInput, match="rename it"):
        Roles.of(("p", name))


def test_a_program_yields_launches():
    def forgetful(roles):
        duplicate(roles.p, roles.q, over=OVER)

    def mistaken(roles):
        yield duplicate(roles.p, roles.q, over=OVER)
        yield duplicate

    with pytest.raises(BadInput, match=r"the program forgetful returned None; it has to yield launches: yield a_task"):
        record(forgetful, Roles.of(("p", "q")))
    with pytest.raises(BadInput, match=r"the program mistaken yielded Task\(.*, which is no launch: yield a_task\("):
        record(mistaken, Roles.of(("p", "q")))


def test_record_of_nothing():
    launches, after = record(lambda roles: iter(()), Roles(p="p"))
    assert launches == ()
    assert after.p == "p"
