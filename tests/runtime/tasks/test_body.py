"""What a Python body may do, and how reductions fold."""

import math
from itertools import permutations

import numpy as np
import pytest

from taskflow.runtime.regions import Box, Partition, region
from taskflow.runtime.tasks import (
    IDENTITY,
    Coloured,
    Compute,
    Read,
    ReadWrite,
    Reduce,
    Scalar,
    Swept,
    View,
    Write,
    combine,
    offsets,
    run_body,
    task,
)

ORIGIN = (-1, -1, -1)
BOX = Box((0, 1, 2), (2, 3, 4))


def numbers():
    """x + 10 y + 100 z over [-1, 5) in every direction."""
    row = np.arange(-1.0, 5.0)
    return row[None, None, :] + 10 * row[None, :, None] + 100 * row[:, None, None]


def view(privilege):
    return View("p", privilege, numbers(), ORIGIN, BOX)


def test_offsets_are_x_y_z_of_an_array_z_y_x():
    here = np.array([[[210.0, 211.0], [220.0, 221.0]], [[310.0, 311.0], [320.0, 321.0]]])
    p = view(Read[offsets((-1, 1), (-1, 1), (-1, 1))])
    assert np.array_equal(p[...], here)
    assert np.array_equal(p[1, 0, 0], here + 1)
    assert np.array_equal(p[0, -1, 0], here - 10)
    assert np.array_equal(p[-1, 0, 1], here + 99)


def test_reading_what_was_declared_write():
    with pytest.raises(PermissionError, match="field 'p' was declared Write: its old values cannot be read"):
        view(Write)[...]


@pytest.mark.parametrize("offset", [(0, 0, 1), (1, 1, 0), (-1, 0, 0), (2, 0, 0)])
def test_reading_outside_the_stencil(offset):
    allowed = view(Read[offsets(x=(0, 1))])
    assert allowed[1, 0, 0].shape == (2, 2, 2)
    with pytest.raises(PermissionError, match=r"field 'p' is read at the offset \(.*\), outside its declared stencil"):
        allowed[offset]


def test_the_cell_itself_may_be_outside_the_stencil():
    with pytest.raises(PermissionError, match=r"read at the offset \(0, 0, 0\)"):
        view(Read[offsets(x=(1, 1))])[...]


def test_writing_what_was_declared_read():
    with pytest.raises(PermissionError, match="field 'p' was declared Read: it cannot be written"):
        view(Read)[...] = 0.0


def test_writing_through_what_was_read():
    values = view(Read)[...]
    with pytest.raises(ValueError, match="read-only"):
        values += 1.0


@pytest.mark.parametrize("privilege", [ReadWrite[1], Coloured[1], Swept["up"]])
def test_writing_a_neighbour_through_what_was_read(privilege):
    p = view(privilege)
    for offset in ((1, 0, 0), (0, 0, -1)):
        neighbours = p[offset]
        with pytest.raises(ValueError, match="read-only"):
            neighbours *= 10.0
    here = p[0, 0, 0]
    here += 1.0
    assert np.array_equal(p[...], numbers()[BOX.slices(ORIGIN)] + 1.0)


@pytest.mark.parametrize("privilege", [Write, ReadWrite])
@pytest.mark.parametrize("offset", [(1, 0, 0), (0, 0, 0), 0])
def test_writing_a_neighbour(privilege, offset):
    with pytest.raises(PermissionError, match="a task writes no cells but its own"):
        view(privilege)[offset] = 0.0


def test_a_write_stays_inside_the_box():
    array, before = numbers(), numbers()
    View("p", Write, array, ORIGIN, BOX)[...] = -1.0
    inside = np.zeros(array.shape, bool)
    inside[BOX.slices(ORIGIN)] = True
    assert np.all(array[inside] == -1.0)
    assert np.array_equal(array[~inside], before[~inside])


# ---------------------------------------------------------------------------------------------------------- reductions


@pytest.mark.parametrize(("operator", "result"), [("sum", 6.0), ("max", 3.0), ("min", 1.0)])
def test_combine(operator, result):
    for values in permutations((1.0, 2.0, 3.0)):
        assert combine(operator, values) == result
    assert combine(operator, [2.0, IDENTITY[operator]]) == 2.0
    assert combine(operator, []) == IDENTITY[operator]


@pytest.mark.parametrize("operator", ["sum", "max", "min"])
def test_nan_stays(operator):
    for values in permutations((1.0, math.nan, 3.0)):
        assert math.isnan(combine(operator, values))


def test_sums_are_folded_in_order():
    assert combine("sum", [1e16, 1.0, -1e16]) == 0.0
    assert combine("sum", [1e16, -1e16, 1.0]) == 1.0


@task
def statistics(
    p: Read, q: ReadWrite, *, dt: Scalar, factor: float, total: Reduce[sum], low: Reduce[min], high: Reduce[max]
):
    q[...] = q[...] + factor * dt * p[...]
    total.fold(p[...])
    low.fold(p[...])
    low.fold(q[...])
    high.fold(p[...])


def test_run_body_passes_every_parameter_and_returns_every_result():
    arrays = {"p": numbers(), "q": np.zeros((6, 6, 6))}
    launch = statistics("p", "q", over=BOX, dt="step", factor=2.0, total="sum", low="least", high="most")
    node = Compute(0, launch, BOX, "whole", Partition(region(BOX.hi, ["p", "q"]), (1, 1, 1)), 0, BOX)
    result = run_body(node, arrays, {"p": ORIGIN, "q": ORIGIN}, {"step": -0.5, "other": 1.0})
    here = numbers()[BOX.slices(ORIGIN)]
    assert np.array_equal(arrays["q"][BOX.slices(ORIGIN)], -here)
    assert np.count_nonzero(arrays["q"]) == BOX.volume
    assert result == {"sum": here.sum(), "least": -here.max(), "most": here.max()}
