"""The algebra of privileges, as tables."""

import pytest

from taskflow.runtime.tasks import POINT, Privilege, Read, ReadWrite, Reduce, Write, star

R, W, RW = Read, Write, ReadWrite
MAX, MIN, SUM = Reduce[max], Reduce[min], Reduce[sum]


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
