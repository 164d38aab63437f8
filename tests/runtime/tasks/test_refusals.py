"""Launches that are impossible are refused, with a message that says why; and no others."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskflow.common.errors import BadInput
from taskflow.runtime.machine.kernel.includes import REAL
from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region
from taskflow.runtime.tasks import ForeignAny, Read, Refresh, Send, Write, analyse, offsets, star, task
from taskflow.runtime.tasks.check import COMPILED

from .known import (
    adjust,
    duplicate,
    fill,
    implicit,
    jacobi,
    partition,
    whole,
)
from .palette import mix, partitions, races, ranges, reach, readable, relax, stencils, sweep


@pytest.mark.parametrize(
    ("launch", "message"),
    [
        (
            lambda cells: fill("p", over=cells.grow(2)),
            "fill(p) is launched over [-2,6)x[-2,6)x[-2,6), outside the region's bounds [-1,5)x[-1,5)x[-1,5)",
        ),
        (
            lambda cells: fill("p", over=[cells, cells.grow(1).layer(0, 0, 0, 1), cells.layer(2, 1, 0, 2)]),
            "fill(p) is launched over [0,4)x[0,4)x[0,4) and [0,4)x[0,4)x[2,4), which overlap; a cell would be done"
            " twice: launch it over disjoint boxes",
        ),
        (lambda cells: fill("s", over=cells), "fill(s) uses the field 's'; the region has p, q, r, rhs"),
        (
            lambda cells: sweep(star(2))("p", "q", over=cells),
            "sweep(p, q) reads 'p' 2 cells away; the region has 1 ghost layers: give it ghost=2",
        ),
        (
            lambda cells: jacobi("p", "rhs", "q", over=cells.expand((1, 0, 0), (0, 0, 0))),
            "jacobi(p, rhs, q) is launched over [-1,4)x[0,4)x[0,4) and reads 'p' in [-2,5)x[0,4)x[0,4), beyond the"
            " region's bounds [-1,5)x[-1,5)x[-1,5): launch it over fewer cells",
        ),
        (
            lambda cells: implicit("p", over=cells),
            "implicit(p) reads 'p' at the offset (0, 0, 1), where it also writes it: use a second field",
        ),
    ],
)
def test_impossible_launches(launch, message):
    part = partition((1, 1, 2), (4, 4, 4))
    for launches, following in (([launch(whole(part))], []), ([], [launch(whole(part))])):
        with pytest.raises(BadInput, match=re.escape(message)):
            analyse(launches, part, following=following)


def test_a_stencil_does_not_reach_beyond_the_next_block():
    """Its ghost cells would come from three blocks in a row."""
    narrow, wide = partition((1, 2, 3), (4, 4, 5), ghost=2), partition((1, 2, 2), (4, 4, 5), ghost=2)
    message = (
        "sweep(p, q) reads 'p' 2 cells away along z, beyond the next block: the narrowest of 3 blocks there is 1 wide;"
        " use fewer blocks along z or more cells"
    )
    for stencil in (star(2), offsets(z=(0, 2)), offsets(x=(-1, 0), z=(-2, -2))):
        over = Box((1, 1, 2), (3, 3, 3))
        with pytest.raises(BadInput, match=re.escape(message)):
            analyse([sweep(stencil)("p", "q", over=over)], narrow)
        assert analyse([sweep(stencil)("p", "q", over=over)], wide).graph.nodes
    assert analyse([sweep(offsets(x=(-2, 2), y=(-1, 1)))("p", "q", over=whole(narrow))], narrow).graph.nodes


def test_a_row_of_one_block_may_be_narrower_than_the_stencil():
    """Its ghost cells are its own cells, some of them more than once."""
    part = partition((2, 1, 1), (4, 4, 1), (False, False, True), ghost=2)
    assert list(analyse([sweep(offsets(z=(-2, 2)))("p", "q", over=whole(part))], part).graph.of(Refresh))


def test_a_kernel_text_has_one_precision():
    @task(kernel="TASK twice(Range r, In p, Out q) {\n}\n")
    def twice(p: Read, q: Write):
        """q = 2 p"""

    fields = FieldSpace([Field("p", "f4"), Field("q", "f8"), Field("r", "f4")])
    part = Partition(Region(Box.of((4, 4, 4)), fields), (1, 1, 1))
    with pytest.raises(BadInput, match=r"twice\(p, q\): p is float32, q is float64; a kernel text is compiled for one"):
        analyse([twice("p", "q", over=part.region.cells)], part)
    assert analyse([twice("p", "r", over=part.region.cells)], part).graph.nodes
    assert analyse([duplicate("p", "q", over=part.region.cells)], part).graph.nodes


@pytest.mark.parametrize("dtype", ["i4", "f2", "c16", "?"])
def test_a_kernel_takes_fields_of_some_types(dtype):
    @task(kernel="TASK clear(Range r, Out p) {\n}\n")
    def clear(p: Write): ...

    @task
    def clear_in_python(p: Write):
        p[...] = 0

    part = Partition(Region(Box.of((4, 4, 4)), FieldSpace([Field("p", dtype)])), (1, 1, 1))
    message = rf"clear\(p\): 'p' is {np.dtype(dtype).name}, but a kernel takes float32, float64, uint8, uint16: declare"
    with pytest.raises(BadInput, match=message):
        analyse([clear("p", over=part.region.cells)], part)
    assert analyse([clear_in_python("p", over=part.region.cells)], part).graph.nodes
    assert set(COMPILED) == set(REAL)


def test_a_foreign_field_of_any_precision_has_real_numbers():
    @task(kernel="TASK widen(Range r, ForeignOf<Real_p> p, Out q) {\n}\n")
    def widen(p: ForeignAny, q: Write):
        """q = p"""

    cells = Box.of((4, 4, 4))
    beside = Region(cells, FieldSpace([Field("p4", "f4"), Field("p8", "f8"), Field("flags", "u1")]))
    part = Partition(Region(cells, FieldSpace([Field("q")])), (1, 1, 1), beside=(Partition(beside, (1, 1, 1)),))
    assert analyse([widen("p4", "q", over=cells)], part).graph.nodes
    assert analyse([widen("p8", "q", over=cells)], part).graph.nodes
    with pytest.raises(BadInput, match=r"'flags' is uint8, but the task takes it as float32 or float64"):
        analyse([widen("flags", "q", over=cells)], part)


def test_what_belongs_to_another_partition():
    part, other = partition((1, 1, 2)), partition((1, 1, 4))
    launches = [jacobi("p", "rhs", "q", over=whole(part))]
    with pytest.raises(BadInput, match="there is no block 2: the partition has blocks 0 to 1"):
        analyse(launches, part, blocks=[0, 2])
    with pytest.raises(BadInput, match="there is no block 2: the partition has blocks 0 to 1"):
        analyse(launches, part, valid=analyse(launches, other).valid)
    message = "valid ghost cells of 'p' on block 0, .*: they are not of this partition, where the block has memory for"
    with pytest.raises(BadInput, match=message):
        analyse(launches, other, valid=analyse(launches, part).valid)
    with pytest.raises(BadInput, match="valid ghost cells of 's' on block 0"):
        analyse(launches, part, valid={(0, "s"): ()})


def test_a_layer_may_read_the_next_layer_of_its_own_field():
    part = partition((1, 1, 2), (4, 4, 4))
    assert analyse([implicit("p", over=whole(part).layer(2, 0, -1, 0))], part).graph.nodes


def test_a_periodic_row_of_one_cell_reads_itself():
    part = partition((1, 1, 1), (4, 4, 1), (False, False, True))
    with pytest.raises(BadInput, match="where it also writes it"):
        analyse([implicit("p", over=whole(part))], part)


def test_no_bounds_across_periodic_faces():
    part = partition((1, 1, 2), (4, 4, 4), (True, True, True))
    assert list(analyse([jacobi("p", "rhs", "q", over=whole(part))], part).graph.of(Send))
    with pytest.raises(BadInput, match="outside the region's bounds"):
        analyse([fill("p", over=whole(part).grow(1))], part)


@settings(max_examples=settings.default.max_examples * 2)
@given(st.data())
def test_refused_is_what_races_or_reads_beyond_bounds(data):
    part = data.draw(partitions())
    region = part.region
    stencil, over = data.draw(stencils(region.ghost)), data.draw(ranges(region))
    beyond = readable(over, stencil, region) != over and bool(over)
    accepted = {}
    for name, launch in {
        "mix": mix(stencil, star(0))("a", "b", "c", over=over),
        "relax": relax(stencil)("a", over=over),
    }.items():
        try:
            analyse([launch], part)
            accepted[name] = True
        except BadInput:
            accepted[name] = False
    assert accepted["mix"] == (not beyond)
    assert accepted["relax"] == (not beyond and not races(over, stencil, region))
    assert all(max(map(abs, o)) <= region.ghost for o in reach(stencil))


def test_ghost_cells_are_computed_where_there_is_memory_beside_them():
    part = partition((1, 1, 2), (4, 4, 8))
    deep = replace(part, redundant=1)
    with pytest.raises(BadInput, match=r"on 1 layers of ghost cells reads 'p' in .* let the partition reach there"):
        analyse([jacobi("p", "rhs", "q", over=whole(part)).with_ghosts(1)], deep)
    analyse([duplicate("p", "q", over=whole(part)).with_ghosts(1)], deep)


def test_what_counts_each_cell_once_is_not_done_on_ghost_cells():
    with pytest.raises(TypeError, match="does no ghost cells"):
        adjust("p", over=whole(partition()), s="s").with_ghosts(1)
    with pytest.raises(ValueError, match="-1 layers of ghost cells; give 0 or more"):
        duplicate("p", "q", over=whole(partition())).with_ghosts(-1)
