"""Regions: which cells can hold a value."""

import pytest

from taskflow.common.errors import BadInput
from taskflow.runtime.regions import Box, Field, FieldSpace, Region, region

FIELDS = FieldSpace([Field("p")])
CELLS = Box((1, 2, 3), (5, 6, 7))


def test_boundary_layers_lie_beyond_faces_that_are_not_periodic():
    region = Region(CELLS, FIELDS, (False, True, False), 2)
    assert region.margin == (2, 0, 2)
    assert region.bounds == Box((-1, 2, 1), (7, 6, 9))


def test_defaults():
    region = Region(CELLS, FIELDS)
    assert region.bounds == CELLS.grow(1)


@pytest.mark.parametrize("ghost", [0, 1, 3])
def test_a_periodic_region_ends_with_its_cells(ghost):
    assert Region(CELLS, FIELDS, (True, True, True), ghost).bounds == CELLS


def test_a_region_has_cells():
    with pytest.raises(ValueError, match=r"at least one cell in every direction, not \(4, 0, 4\)"):
        Region(Box.of((4, 0, 4)), FIELDS)


def test_a_ghost_width_is_not_negative():
    with pytest.raises(ValueError, match="the ghost width is -1; it must be an integer, 0 or more"):
        Region(CELLS, FIELDS, ghost=-1)


def test_a_region_in_plain_words():
    made = region((4, 5, 6), ["a", Field("n", "i4")], dtype="f4", ghost=2, periodic="xz")
    assert made.cells == Box((0, 0, 0), (4, 5, 6))
    assert [(f.name, f.dtype) for f in made.fields.values()] == [("a", "f4"), ("n", "i4")]
    assert (made.periodic, made.ghost) == ((True, False, True), 2)


@pytest.mark.parametrize(("arguments", "message"), [
    ({"cells": (4, 5)}, r"region\(cells=\(4, 5\)"),
    ({"cells": (4, 0, 5)}, "at least one cell"),
    ({"fields": ["a", "a"]}, "declared twice"),
    ({"fields": ["a", ""]}, "a field has the name ''; give it one"),
    ({"dtype": "f3"}, "f3"),
    ({"ghost": -1}, "the ghost width is -1"),
    ({"ghost": 1.5}, "the ghost width is 1.5; it must be an integer"),
    ({"periodic": "xw"}, "periodic = 'xw' is not some of the letters x, y and z"),
    ({"periodic": True}, "periodic = True is not some of the letters"),
    ({"fields": "speed"}, r"fields = 'speed'; give a list of names: \['speed'\]"),
    ({"cells": (4, 4.5, 4)}, "'float' object cannot be interpreted as an integer"),
])  # fmt: skip
def test_a_region_that_cannot_be(arguments, message):
    with pytest.raises(BadInput, match=message):
        region(**{"cells": (4, 4, 4), "fields": ["a"], **arguments})
