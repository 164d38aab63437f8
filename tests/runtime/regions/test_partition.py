"""Partitions are disjoint and complete; halo plans bring every ghost cell the value of its owner."""

import re
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskflow.common.errors import BadInput
from taskflow.runtime.regions import Atlas, Box, Copy, Field, FieldSpace, Partition, Region, cuts, difference

from .cells import cells, count, flags, regions, shapes, together

FIELDS = FieldSpace([Field("a")])


@st.composite
def partitions(draw, most=5):
    region = draw(regions(most=most))
    return Partition(region, draw(shapes(region)))


def partition(shape, cells, periodic=(False, False, False), ghost=1):
    return Partition(Region(Box.of(cells), FIELDS, periodic, ghost), shape)


# ---------------------------------------------------------------------------------------------------------------- cuts


@pytest.mark.parametrize(
    ("cells", "blocks", "expected"),
    [
        (8, 1, (0, 8)),
        (8, 2, (0, 4, 8)),
        (8, 3, (0, 3, 6, 8)),
        (10, 4, (0, 3, 6, 9, 10)),
        (5, 4, (0, 1, 2, 3, 5)),  # 0, 2, 4, 6 would leave nothing for the last block
        (4, 3, (0, 1, 2, 4)),
        (3, 3, (0, 1, 2, 3)),
    ],
)
def test_cuts(cells, blocks, expected):
    assert cuts(cells, blocks) == expected


@pytest.mark.parametrize(
    ("cells", "blocks", "least", "expected"),
    [
        (14, 4, 2, (0, 4, 8, 12, 14)),
        (14, 4, 3, (0, 3, 7, 10, 14)),  # 0, 4, 8, 12 would leave 2 for the last block
        (14, 4, 9, (0, 3, 7, 10, 14)),
        (8, 2, 9, (0, 4, 8)),
        (5, 1, 9, (0, 5)),
    ],
)
def test_cuts_for_ghost_layers(cells, blocks, least, expected):
    assert cuts(cells, blocks, least) == expected


@given(st.integers(1, 100), st.integers(1, 5), st.data())
def test_blocks_are_as_wide_as_the_ghost_layers_where_that_can_be(cells, least, data):
    blocks = data.draw(st.integers(1, max(1, cells // least)))
    assert min(b - a for a, b in pairwise(cuts(cells, blocks, least))) >= min(least, cells)


@given(st.integers(1, 500), st.data())
def test_no_block_is_wider_than_one_has_to_be(cells, data):
    blocks = data.draw(st.integers(1, cells))
    edges = cuts(cells, blocks)
    widths = [b - a for a, b in pairwise(edges)]
    assert (edges[0], edges[-1], len(widths)) == (0, cells, blocks)
    assert min(widths) >= 1
    assert max(widths) == -(-cells // blocks)
    assert len(set(widths[:-1])) <= 1 or max(widths) - min(widths) <= 1


# -------------------------------------------------------------------------------------------------------------- blocks


@given(partitions())
def test_blocks_are_a_disjoint_and_complete_partition(part):
    assert together(part.blocks) == cells(part.region.cells)
    assert count(part.blocks) == part.region.cells.volume
    assert len(part) == len(part.blocks) == np.prod(part.shape)
    assert all(part.blocks)


@given(partitions())
def test_every_cell_of_the_bounds_has_one_owner(part):
    assert together(part.owned) == cells(part.region.bounds)
    assert count(part.owned) == part.region.bounds.volume
    assert all(block in owned for block, owned in zip(part.blocks, part.owned, strict=True))


def test_blocks_are_numbered_with_x_fastest():
    blocks = partition((2, 3, 2), (4, 6, 8)).blocks
    assert blocks[1].lo == (2, 0, 0)
    assert blocks[2].lo == (0, 2, 0)
    assert blocks[6].lo == (0, 0, 4)
    assert blocks[11] == Box((2, 4, 4), (4, 6, 8))


@given(partitions())
def test_a_block_has_a_place_in_its_row(part):
    for block, box in enumerate(part.blocks):
        assert box.lo == tuple(cuts[n] for cuts, n in zip(part.cuts, part.place(block), strict=True))


def test_boundary_layers_belong_to_the_block_beside_them():
    part = Partition(Region(Box((1, 1, 1), (5, 5, 5)), FIELDS, (False, True, False), 2), (2, 1, 1))
    assert part.owned == (Box((-1, 1, -1), (3, 5, 7)), Box((3, 1, -1), (7, 5, 7)))


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((1, 1, 7), "blocks = [1, 1, 7]: 7 blocks along z do not fit 6 planes of cells; use 1 to 6 there"),
        ((5, 1, 1), "blocks = [5, 1, 1]: 5 blocks along x do not fit 4 planes of cells; use 1 to 4 there"),
        ((1, 0, 1), "blocks = [1, 0, 1]: 0 blocks along y do not fit 5 planes of cells; use 1 to 5 there"),
        ((1, -2, 1), "blocks = [1, -2, 1]: -2 blocks along y do not fit 5 planes of cells; use 1 to 5 there"),
    ],
)
def test_more_blocks_than_planes(shape, message):
    with pytest.raises(BadInput, match=re.escape(message)):
        partition(shape, (4, 5, 6))


@pytest.mark.parametrize("shape", [(1, 2), (1, 1, 2.0), (1, 1, 1, 1), ("1", "1", "1")])
def test_what_is_no_number_of_blocks(shape):
    with pytest.raises(BadInput, match=r"give three integers, of blocks along x, y and z"):
        partition(shape, (4, 5, 6))
    assert len(partition(np.array([1, 1, 2]), (4, 5, 6))) == 2


# --------------------------------------------------------------------------------------------------- bloated partitions


def bloated_blocks(part, width):
    """Each block with so many more cells on every side, as far as there are any."""
    return [part.clip(block.grow(width)) for block in part.blocks]


@given(partitions(), st.integers(0, 3))
def test_bloat_ends_at_walls_and_reaches_over_periodic_faces(part, width):
    bounds, periodic = part.region.bounds, part.region.periodic
    for block, bloated in zip(part.blocks, bloated_blocks(part, width), strict=True):
        expected = {
            c
            for c in cells(block.grow(width))
            if all(periodic[a] or bounds.lo[a] <= c[a] < bounds.hi[a] for a in range(3))
        }
        assert cells(bloated) == expected


# --------------------------------------------------------------------------------------------------------------- halos


def halo(part, width):
    """The plan that fills so many ghost layers of every block."""
    return [
        copy
        for block, box in enumerate(bloated_blocks(part, width))
        for copy in part.sources(block, difference([box], [part.owned[block]]))
    ]


def labels(region):
    """A different number in every cell of the bounds, and in every ghost cell across a periodic face that of its image:
    over the cells and all ghost layers.
    """
    bounds = np.arange(region.bounds.volume).reshape(region.bounds.shape[::-1])
    return np.pad(bounds, [(region.ghost,) * 2 if p else (0, 0) for p in region.periodic[::-1]], mode="wrap")


@settings(max_examples=settings.default.max_examples * 2)
@given(partitions(), st.data())
def test_a_halo_plan_fills_every_ghost_cell_once_with_its_owners_value(part, data):
    """Against one labelled array that NumPy padded: all neighbours, uneven blocks, walls, images of tiny periodic
    domains.
    """
    region = part.region
    width = data.draw(st.integers(0, region.ghost))
    origin = region.cells.grow(region.ghost).lo
    truth = labels(region)
    arrays = []
    for block, owned in zip(part.blocks, part.owned, strict=True):
        array = np.full(block.grow(region.ghost).shape[::-1], -1)
        array[owned.slices(block.grow(region.ghost).lo)] = truth[owned.slices(origin)]
        arrays.append(array)
    for copy in halo(part, width):
        source, target = (part.blocks[n].grow(region.ghost).lo for n in (copy.source, copy.target))
        assert copy.source_box in part.owned[copy.source]
        values = arrays[copy.source][copy.source_box.slices(source)]
        assert np.all(arrays[copy.target][copy.target_box.slices(target)] == -1), "filled twice, or owned"
        arrays[copy.target][copy.target_box.slices(target)] = values
    for block, owned, array, bloated in zip(part.blocks, part.owned, arrays, bloated_blocks(part, width), strict=True):
        local = block.grow(region.ghost).lo
        assert np.array_equal(array[bloated.slices(local)], truth[bloated.slices(origin)])
        assert np.count_nonzero(array >= 0) == len(cells(owned) | cells(bloated))


def test_two_slabs_exchange_one_plane_each():
    part = partition((1, 1, 2), (3, 4, 6))
    low, high = Box((-1, -1, 2), (4, 5, 3)), Box((-1, -1, 3), (4, 5, 4))
    assert sorted(halo(part, 1), key=lambda c: c.target) == [Copy(1, high, 0, high), Copy(0, low, 1, low)]


def test_a_single_block_copies_its_own_cells_across_periodic_faces():
    part = partition((1, 1, 1), (3, 1, 1), (True, False, False))
    plane = Box((0, -1, -1), (1, 2, 2))
    assert set(halo(part, 1)) == {
        Copy(0, plane.shift((2, 0, 0)), 0, plane.shift((-1, 0, 0))),
        Copy(0, plane, 0, plane.shift((3, 0, 0))),
    }


def test_all_26_neighbours():
    part = partition((3, 3, 3), (6, 6, 6), (True, True, True))
    assert all(len(part.neighbours[n]) == 26 for n in range(27))
    assert len([copy for copy in halo(part, 1) if copy.target == 13]) == 26
    assert sorted(copy.target_box.volume for copy in halo(part, 1) if copy.target == 13) == [1] * 8 + [2] * 12 + [4] * 6


@pytest.mark.parametrize(
    ("shape", "periodic", "expected"),
    [
        ((1, 1, 1), (True, True, True), ((),)),
        ((1, 1, 3), (False, False, False), ((1,), (0, 2), (1,))),
        ((1, 1, 3), (False, False, True), ((1, 2), (0, 2), (0, 1))),
        ((2, 1, 2), (False, False, False), ((1, 2, 3), (0, 2, 3), (0, 1, 3), (0, 1, 2))),
    ],
)
def test_neighbours(shape, periodic, expected):
    assert partition(shape, (4, 4, 4), periodic).neighbours == expected


def test_a_ghost_wider_than_a_block_reaches_the_next_but_one():
    assert partition((1, 1, 4), (2, 2, 4), ghost=2).neighbours == ((1, 2), (0, 2, 3), (0, 1, 3), (1, 2))


@given(partitions())
def test_neighbourhood_is_mutual_and_holds_all_that_a_halo_comes_from(part):
    pairs = {(copy.source, copy.target) for copy in halo(part, part.region.ghost) if copy.source != copy.target}
    assert {(a, b) for b, others in enumerate(part.neighbours) for a in others} == pairs
    assert {(b, a) for a, b in pairs} == pairs
    assert all(list(others) == sorted(others) for others in part.neighbours)


@given(partitions())
def test_overlapping_finds_the_owners(part):
    assert part.overlapping(part.region.bounds) == list(range(len(part)))
    for a, b in combinations(range(len(part)), 2):
        assert part.overlapping(part.owned[a]) == [a]
        assert part.overlapping(part.blocks[b]) == [b]


@given(partitions(), flags)
def test_blocks_do_not_depend_on_what_is_periodic(part, periodic):
    region = part.region
    assert Partition(Region(region.cells, FIELDS, periodic, region.ghost), part.shape).blocks == part.blocks


# ---------------------------------------------------------------------------------------------------------- redundance


def test_blocks_compute_ghost_cells_of_neighbours_but_none_across_periodic_faces():
    part = Partition(Region(Box.of((4, 6, 8)), FIELDS, (False, True, False)), (1, 2, 2), redundant=2)
    assert part.computed(0, 0) == (part.owned[0],)
    assert part.computed(0, 1) == (Box((-1, 0, -1), (5, 4, 5)),)
    assert part.computed(3, 9) == (Box((-1, 1, 2), (5, 6, 9)),)
    assert part.narrowest == 3


@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 1, 2)])
def test_every_block_of_a_replicated_partition_computes_all(shape):
    part = Partition(Region(Box.of((4, 6, 8)), FIELDS), shape, replicated=True, redundant=2)
    assert {part.computed(block, 2) for block in range(len(part))} == {(part.region.bounds,)}


def test_no_more_is_redundant_than_the_neighbour_has():
    region = Region(Box.of((4, 4, 5)), FIELDS)
    assert Partition(region, (1, 1, 2), redundant=2).narrowest == 2
    with pytest.raises(ValueError, match="3 layers are redundant; the narrowest block has 2"):
        Partition(region, (1, 1, 2), redundant=3)


TWO = Region(Box.of((4, 5, 6)), FIELDS)
CHARTS = Atlas((Box.of((4, 4, 4)), Box((8, 0, 0), (12, 4, 4))), ())
CHARTED = Region(CHARTS.hull, FIELDS, ghost=2, atlas=CHARTS)


@pytest.mark.parametrize(("region", "arguments", "message"), [
    (TWO, {"shape": (1, 1, 1), "multiple": (0, 1, 1)}, "multiple = (0, 1, 1): give three integers from 1"),
    (TWO, {"shape": (1, 1, 4), "multiple": (1, 1, 2)}, "4 blocks along z do not fit 3 groups of 2 planes of cells"),
    (TWO, {"shape": (1, 1, 1), "pieces": ((TWO.cells,),)}, "a region on an atlas is cut into pieces, one on a box is"),
    (CHARTED, {"shape": (1, 1, 1)}, "a region on an atlas is cut into pieces, one on a box is not"),
    (CHARTED, {"shape": (1, 1, 1), "pieces": ((CHARTS.charts[0],), (CHARTS.charts[1],))}, "pieces for 2 blocks, in"),
    (CHARTED, {"shape": (1, 1, 2), "pieces": (CHARTS.charts, ())}, "every block has one or more"),
    (CHARTED, {"shape": (1, 1, 1), "pieces": ((CHARTS.charts[0],),)}, "the pieces are not the cells of the charts"),
    (CHARTED, {"shape": (1, 1, 1), "pieces": (CHARTS.charts * 2,)}, "the pieces are not the cells of the charts, each"),
    (TWO, {"shape": (1, 1, 1), "beside": (partition((1, 1, 2), (4, 4, 4)),)}, "have the same number of blocks"),
    (TWO, {"shape": (1, 1, 2), "beside": (partition((1, 1, 2), (4, 4, 4)),)}, "two regions have a field of one name"),
    (TWO, {"shape": (1, 1, 2), "at": ((0, 4), (0, 5), (0, 7, 6))}, "do not cut [0,4)x[0,5)x[0,6) into (1, 1, 2)"),
    (TWO, {"shape": (1, 1, 2), "at": ((0, 4), (0, 5), (0, 6))}, "do not cut [0,4)x[0,5)x[0,6) into (1, 1, 2)"),
    (TWO, {"shape": (1, 1, 2), "reach": (TWO.cells,)}, "1 boxes reached by 2 blocks: give one for each"),
    (TWO, {"shape": (1, 1, 3), "redundant": 3}, "3 layers are redundant; the narrowest block has 2"),
])  # fmt: skip
def test_a_partition_that_cannot_be(region, arguments, message):
    with pytest.raises((ValueError, BadInput), match=re.escape(message)):
        Partition(region, **arguments)


@given(partitions(most=4), st.data())
def test_targets_are_the_blocks_whose_memory_has_cells_of_some(part, data):
    """As the plan of copies has it, across periodic faces too."""
    some = data.draw(st.sets(st.integers(0, len(part) - 1)))
    assert part.targets(some) == some | {copy.target for copy in halo(part, part.region.ghost) if copy.source in some}
