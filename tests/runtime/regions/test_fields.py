"""Fields and field spaces."""

import pytest

from taskflow.runtime.regions import Field, FieldSpace


def test_defaults():
    assert Field("p") == Field("p", "f8", "c")


@pytest.mark.parametrize(("dtype", "nbytes"), [("f8", 8), ("f4", 4), ("i4", 4), ("u1", 1)])
def test_bytes_per_cell(dtype, nbytes):
    assert Field("p", dtype).nbytes == nbytes


@pytest.mark.parametrize("location", ["", "x", "fxy", "C"])
def test_unknown_location(location):
    with pytest.raises(ValueError, match=rf"field 'p': location '{location}' is none of c, fx, fy, fz"):
        Field("p", location=location)


def test_unknown_dtype():
    with pytest.raises(TypeError, match="double precision"):
        Field("p", "double precision")


def test_values_are_counted():
    with pytest.raises(ValueError, match=r"field 'p': values = 1.5; give a whole number, 1 or more"):
        Field("p", values=1.5)


def test_a_field_space_is_a_mapping_in_order():
    u, p = Field("u", location="fx"), Field("p", "f4")
    space = FieldSpace([u, p])
    assert list(space) == ["u", "p"]
    assert list(space.values()) == [u, p]
    assert space["p"] is p
    assert len(space) == 2
    assert "q" not in space
    assert repr(space) == f"FieldSpace([{u!r}, {p!r}])"


def test_a_name_occurs_once():
    with pytest.raises(ValueError, match="field 'p' is declared twice"):
        FieldSpace([Field("p"), Field("q"), Field("p", "f4")])
