"""The algebra of privileges, as tables."""

from itertools import product

import pytest

from taskflow.runtime.tasks import POINT, Privilege, Read, ReadWrite, Reduce, Write, box, offsets, star

R, W, RW = Read, Write, ReadWrite
MAX, MIN, SUM = Reduce[max], Reduce[min], Reduce[sum]
EVERY = [R, W, RW, MAX, MIN, SUM, R[1], RW[box(1)]]


@pytest.mark.parametrize(
    ("privilege", "reads", "writes", "changes"),
    [
        (R, True, False, False),
        (W, False, True, True),
        (RW, True, True, True),
        (MAX, False, False, True),
        (SUM, False, False, True),
    ],
)
def test_what_a_privilege_allows(privilege, reads, writes, changes):
    assert (privilege.reads, privilege.writes, privilege.changes) == (reads, writes, changes)


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        (R, R, R),
        (W, W, W),
        (RW, RW, RW),
        (R, W, RW),
        (R, RW, RW),
        (W, RW, RW),
        (MAX, MAX, MAX),
        (SUM, SUM, SUM),
        (MAX, MIN, RW),
        (MAX, SUM, RW),
        (MAX, R, RW),
        (MAX, W, RW),
        (MAX, RW, RW),
        (R[1], R[1], R[1]),
        (R[1], RW[1], RW[1]),
        (R[1], W, RW[1]),
        (R[1], R, R[1]),
        (RW, R[1], RW[1]),
        (R[box(1)], R[offsets(x=(0, 2))], R[box(1) | offsets(x=(0, 2))]),
    ],
)
def test_sum_is_the_least_that_allows_both(one, other, both):
    assert one + other == both
    assert other + one in (both, Privilege(both.reads, both.writes, other.stencil | one.stencil))


@pytest.mark.parametrize(("one", "other"), [*product(EVERY, EVERY)])
def test_sum_allows_what_either_allows(one, other):
    both = one + other
    assert both.reads >= max(one.reads, other.reads)
    assert both.writes >= max(one.writes, other.writes)
    assert both.changes >= max(one.changes, other.changes)
    assert all(o in both.stencil for p in (one, other) for o in product((-1, 0, 1), repeat=3) if o in p.stencil)


@pytest.mark.parametrize("privilege", EVERY)
def test_sum_with_itself_changes_nothing(privilege):
    assert privilege + privilege == privilege


def test_a_number_is_the_width_of_a_star():
    assert R[1] == R[star(1)]
    assert RW[2].stencil == star(2)
    assert R.stencil == POINT


@pytest.mark.parametrize("privilege", [W, MAX])
def test_only_what_is_read_has_a_stencil(privilege):
    with pytest.raises(TypeError, match="only Read, ReadWrite, Coloured and Foreign take a stencil"):
        privilege[1]


def test_operators_by_name_or_as_builtins():
    assert Reduce["max"] == MAX == Privilege(reduction="max")
    assert Reduce["min"] == MIN
    assert Reduce["sum"] == SUM


@pytest.mark.parametrize("operator", ["mean", "", abs, None, 1])
def test_unknown_operator(operator):
    with pytest.raises(TypeError, match=r"the operators are sum, min, max"):
        Reduce[operator]


def test_privileges_are_values():
    assert len({R[1], R[star(1)], Read[1]}) == 1
    assert repr(R[1]) == repr(R[star(1)])


@pytest.mark.parametrize("stencil", [-1, 1.5, "1", None, (1, 1, "1")])
def test_what_is_no_stencil(stencil):
    with pytest.raises(TypeError, match="is no stencil: give the width of a star, 0 or more, or star"):
        Read[stencil]
