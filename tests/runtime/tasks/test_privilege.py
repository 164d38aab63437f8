"""The algebra of privileges, as tables."""

import pytest

from taskflow.runtime.tasks import POINT, Foreign, Privilege, Read, ReadWrite, Reduce, Write, anywhere, star

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


@pytest.mark.parametrize(("declare", "message"), [
    (lambda: Read[anywhere(1)], r"anywhere\(w\): only a Foreign field can be read anywhere in the block"),
    (lambda: Read * 1, "1 is not a number of values per cell; give 2 or more"),
    (lambda: Read * 2.5, "2.5 is not a number of values per cell; give 2 or more"),
    (lambda: Foreign * 2, "only Read, Write, ReadWrite and Swept take several values per cell"),
    (lambda: MAX * 2, "only Read, Write, ReadWrite and Swept take several values per cell"),
    (lambda: Foreign.any, "only Read, Write, ReadWrite, Coloured and Swept take fields of any precision"),
    (lambda: MAX.any, "only Read, Write, ReadWrite, Coloured and Swept take fields of any precision"),
    (lambda: Read[1].private, "a private field is Read, Write or ReadWrite in a point's own cell"),
    (lambda: Foreign.private, "a private field is Read, Write or ReadWrite in a point's own cell"),
    (lambda: Read.rows, r"rows are an option of private fields: Read.private.rows"),
    (lambda: Read.private[1], "only Read, ReadWrite, Coloured and Foreign take a stencil"),
])  # fmt: skip
def test_declarations_that_contradict_themselves(declare, message):
    with pytest.raises(TypeError, match=message):
        declare()


def test_private_fields_may_have_any_precision_several_values_and_rows():
    privilege = ReadWrite.private.rows * 16
    assert (privilege.unshared, privilege.in_rows, privilege.precision, privilege.values) == (True, True, "any", 16)
    assert (Read[1] | None).optional
