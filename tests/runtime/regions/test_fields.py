"""Fields and field spaces."""

import re
import warnings

import numpy as np
import pytest

from taskflow.common.errors import BadInput
from taskflow.runtime.regions import Field, FieldSpace


def test_defaults():
    assert Field("p") == Field("p", "f8", "c")


@pytest.mark.parametrize(("dtype", "nbytes"), [("f8", 8), ("f4", 4), ("i4", 4), ("u1", 1)])
def test_bytes_per_cell(dtype, nbytes):
    assert Field("p", dtype).nbytes == nbytes


@pytest.mark.parametrize("location", ["", "x", "fxy", "C"])
def test_unknown_location(location):
    with pytest.raises(ValueError, match=rf"field 'p': location '{location}' is not one of c, fx, fy, fz"):
        Field("p", location=location)


@pytest.mark.parametrize(("dtype", "values"), [
    ("u1", [0, 255]), ("u1", [0.0, 3.0]), ("u1", [True, False]), ("i8", [-(2**63), 2**63 - 1]), ("?", [0.0, 1.0]),
    ("f4", [0.1, np.inf, np.nan, -1e38]), ("f8", [2**62 + 1, 3]), ("c8", [1, 2.5, 1j]), ("f4", []),
])  # fmt: skip
def test_values_that_a_field_holds(dtype, values):
    held = Field("p", dtype).held(np.array(values), "p")
    np.testing.assert_array_equal(np.array(values).astype(dtype), held)


@pytest.mark.parametrize(("dtype", "value", "message"), [
    ("u1", 300, "p = 300; a field of the type uint8 holds integers from 0 to 255: fill it with such values, or"),
    ("u1", -1, "p = -1; "),
    ("u1", 2.7, "p = 2.7; "),
    ("i4", np.nan, "p = nan; a field of the type int32 holds integers from -2147483648 to 2147483647"),
    ("i8", 2**64 - 1, "p = 18446744073709551615; "),
    ("?", 2, "p = 2; a field of the type bool holds True and False"),
    ("f8", 1j, "p = 1j; a field of the type float64 holds real numbers up to 1.798e+308"),
    ("f4", 1e39, "p = 1e+39; a field of the type float32 holds real numbers up to 3.403e+38"),
    ("f8", "abc", "p = 'abc'; "),
    ("c16", None, "p = None; a field of the type complex128 holds numbers"),
])  # fmt: skip
def test_values_that_a_field_does_not_hold(dtype, value, message):
    with warnings.catch_warnings(action="error"), pytest.raises(BadInput, match=re.escape(message)):
        Field("p", dtype).held(np.array([value, value]), "p")


def test_values_of_the_type_of_a_field_cost_nothing():
    values = np.ones(3, "f4")
    assert Field("p").held(values, "p") is Field("q", "f4").held(values, "q") is values


def test_unknown_dtype():
    with pytest.raises(TypeError, match="double precision"):
        Field("p", "double precision")


def test_values_are_counted():
    with pytest.raises(ValueError, match=r"field 'p': values = 1.5; give an integer, 1 or more"):
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


@pytest.mark.parametrize(("options", "message"), [
    ({"constant": True, "private": True}, "field 'p' is constant, which neighbours may read, and private"),
    ({"rows": True}, "field 'p' has rows=True, which only private fields have"),
    ({"tile": (8, 8, 8)}, "field 'p' has a tile, which private fields have that are not in rows"),
    ({"private": True, "rows": True, "tile": (8, 8, 8)}, "field 'p' has a tile, which private fields have"),
    ({"private": True, "tile": (8, 6, 8)}, "field 'p': tile = (8, 6, 8); give three powers of two"),
    ({"private": True, "tile": (8, 0, 8)}, "field 'p': tile = (8, 0, 8); give three powers of two"),
])  # fmt: skip
def test_storage_that_excludes_another(options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        Field("p", **options)
