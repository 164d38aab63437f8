"""Grids and maps that cannot be used: all that is wrong, by line or chart, with the remedy."""

import numpy as np
import pytest

from taskflow.geometry.grids import BadGrid, Chart, MultiBlockGrid, Patch, gaps, read_grid, shape, write_grid
from taskflow.geometry.grids.files.plot3d_writing import write_plot3d
from taskflow.geometry.grids.multiblock.assembly import Part, assembled

KEYS = {"cells": (8, 6, 5), "lengths": (1, 2, 3), "charts": (2, 1, 1)}
BAFFLE = [("left", 0, "i_max"), ("right", 1, "i_min")]
HEADER = ["four", "lines", "of a", "header", "2", "1 5 7 6", "2 5 7 6", "three", "more", "lines"]
ENTRIES = [
    "ONE_TO_ONE 1 4 1 7 1 6  2 3 1 7 1 6 FALSE",
    "wall 1 3 1 7 1 6",
    "wall 2 4 1 7 1 6",
    "sym 1 1 1 5 1 7",
    "sym 2 1 1 5 1 7",
    "sym 1 2 1 5 1 7",
    "sym 2 2 1 5 1 7",
    "far 1 5 1 6 1 5",
    "far 2 5 1 6 1 5",
    "far 1 6 1 6 1 5",
    "far 2 6 1 6 1 5",
]


@pytest.fixture
def read(tmp_path):
    """Reads a box of two charts with a map of these lines."""
    write_plot3d(tmp_path / "box.xyz", shape("box", KEYS).grid().charts)

    def with_map(entries, header=HEADER):
        (tmp_path / "box.nmf").write_text("\n".join([*header, *entries]) + "\n")
        return read_grid(tmp_path / "box.xyz", tmp_path / "box.nmf")

    return with_map


def test_the_map_of_another_program(read):
    """With a header that is no comment, comments and blank lines, quotes, any case."""
    quoted = ["# a comment", "", "'one_to_one' 1 4 1 7 1 6 2 3 1 7 1 6 .false. ! joined", *ENTRIES[1:]]
    for entries in (ENTRIES, quoted):
        grid = read(entries)
        assert list(grid.sides) == ["wall_1", "wall_2", *(f"{kind}_{n}" for kind in ("sym", "far") for n in "1234")]
        assert grid.seams == shape("box", KEYS).grid().seams
    header = ["# comments alone", "2", "1 5 7 6", "2 5 7 6"]
    assert read(ENTRIES, header).seams == grid.seams


@pytest.mark.parametrize(
    "seam",
    [
        "2 3 1 7 1 6  1 4 1 7 1 6 FALSE",
        "1 4 7 1 1 6  2 3 7 1 1 6 FALSE",
        "1 4 7 1 6 1  2 3 7 1 6 1 FALSE",
    ],
)
def test_a_seam_may_be_listed_from_either_side_and_run_backwards(read, seam):
    assert read([f"ONE_TO_ONE {seam}", *ENTRIES[1:]]).seams == shape("box", KEYS).grid().seams


LINES = [
    (1, "ONE_TO_ONE 1 4 1 7 1 6  2 3 1 7 1 6 MAYBE", "line 11: unknown word MAYBE; give TRUE or FALSE"),
    (1, "ONE_TO_ON 1 4 1 7 1 6  2 3 1 7 1 6 FALSE", "unknown word ONE_TO_ON with faces of two blocks; did you mean"),
    (1, "glue 1 4 1 7 1 6  2 3 1 7 1 6 FALSE", "unknown word glue with faces of two blocks; give ONE_TO_ONE, or"),
    (1, "ONE_TO_ONE 1 4 1 7 1 6  2 3 1 7 1 6", "13 words; ONE_TO_ONE takes two times six numbers and TRUE or FALSE"),
    (1, "ONE_TO_ONE 1 4 1 7 1 6  2 3 1 6 1 6 FALSE", "6 cells along j of block 1 are joined to 5 of the other;"),
    (1, "ONE_TO_ONE 1 4 1 7 1 6  2 3 7 1 1 6 FALSE", "joins a right-handed chart to a left-handed one"),
    (1, "ONE_TO_ONE 1 4 1 7 1 6  1 4 1 7 1 6 FALSE", "joins a right-handed chart to a left-handed one"),
    (1, "PATCHED 1 4 1 7 1 6  2 3 1 7 1 6 FALSE", "PATCHED: patched seams are not available in this version; join"),
    (1, "pole 1 4 1 7 1 6", "pole: poles are not available in this version"),
    (1, "COLLAPSED 1 4 1 7 1 6", "COLLAPSED: collapsed faces are not available in this version"),
    (1, "collapsed-edge 1 4 1 7 1 6", "collapsed-edge: collapsed faces are not available in this version; join whole"),
    (2, "wall 3 3 1 7 1 6", "line 12: block 3; the grid has blocks 1 to 2"),
    (2, "wall 1 7 1 7 1 6", "face 7; give 1 to 6 for k min, k max, i min, i max, j min, j max"),
    (2, "wall 1 3 1 7 1 8", "vertices 1 to 8 along k of block 1, which has 6; give ranges of vertices of that face"),
    (2, "wall 1 3 0 7 1 6", "vertices 0 to 7 along j of block 1, which has 7"),
    (2, "wall 1 3 1 1 1 6", "a range from 1 to 1 has no faces; give its first and its last vertex"),
    (2, "wall 1 3 1 7 1", "'1 3 1 7 1'; give six integers"),
    (2, "wall 1 3 1 7 1 x", "'1 3 1 7 1 x'; give six integers"),
    (2, "wall 1 1 1 7 1 6", "as i min, i max, j min, j max; here 1 and 2 are k min and k max, 3 to 6 those: give 3 in"),
    (2, "wall 1 3 1 7 1 5", "chart 1, i_min, cells j 1 to 6, k 5 to 5: these faces are on no seam and no side; add"),
    (2, "wall 1 4 1 7 1 6", "chart 1, i_max, cells j 1 to 6, k 1 to 5: these faces are covered more than once; remove"),
    (1, "ONE_TO_ONE 1 4 1 7 1 6  1 4 7 1 1 6 FALSE", "line 11: joins faces to themselves; give two patches without"),
]


@pytest.mark.parametrize(("line", "text", "message"), LINES)
def test_bad_line(read, line, text, message):
    with pytest.raises(BadGrid) as caught:
        read([*ENTRIES[: line - 1], text, *ENTRIES[line:]])
    assert message in str(caught.value)
    assert "box.nmf" in str(caught.value)


def test_all_bad_lines_are_told_at_once(read):
    with pytest.raises(BadGrid) as caught:
        read([text for _, text, _ in LINES[:18]])
    assert len(caught.value.problems) == 18


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (["no", "numbers"], "the number of blocks is missing after the header; give a neutral map file"),
        (["3", "1 5 7 6"], "line 1: 3 blocks, and the grid has 2; give the map of this grid"),
        (["2", "1 5 7 6", "2 5 7 7"], "line 3: '2 5 7 7', and block 2 has 5 x 7 x 6 vertices; give '2 5 7 6'"),
        (["2", "1 5 7 6"], "and block 2 has 5 x 7 x 6 vertices"),
    ],
)
def test_bad_table_of_blocks(read, header, message):
    with pytest.raises(BadGrid) as caught:
        read(ENTRIES, header)
    assert message in str(caught.value)


def test_a_table_of_blocks_that_ends_too_early(read):
    with pytest.raises(BadGrid, match=r"box\.nmf: block 2 is missing in the table of blocks; write the map again"):
        read([], ["2", "1 5 7 6"])


def test_of_a_file_that_is_something_else_not_every_line_is_told(read, monkeypatch):
    monkeypatch.setattr("taskflow.geometry.grids.files.neutral_map.PROBLEMS", 3)
    with pytest.raises(BadGrid) as caught:
        read([text for _, text, _ in LINES[:18]])
    assert [problem.split(":")[0].split()[-1] for problem in map(str, caught.value.problems)] == ["11", "12", "13"]


def test_no_map(tmp_path):
    write_grid(tmp_path / "box.xyz", shape("box", KEYS).grid())
    with pytest.raises(Exception, match=r"none\.nmf: file not found; give a neutral map file"):
        read_grid(tmp_path / "box.xyz", tmp_path / "none.nmf")


def parts(**keys):
    """The vertices of charts of a box."""
    return [chart.vertices.copy() for chart in shape("box", {**KEYS, **keys}).grid().charts]


def refused(blocks, message):
    with pytest.raises(BadGrid) as caught:
        assembled([Part(block, {}) for block in blocks])
    assert message in str(caught.value)
    return caught.value


def test_left_handed_charts_are_told_of_all_at_once():
    first, second = parts()
    error = refused([first[..., ::-1], second[:, ::-1]], "chart 1: all volumes are negative, the chart is left-handed;")
    assert "chart 2: all volumes are negative" in str(error)
    assert "reverse an index of it" in str(error)


def test_a_cell_inside_out():
    first, second = parts()
    second[0, 2, 3, 1] += 0.7
    refused([first, second], "chart 2, cell (2, 3, 2): volume -0.01, not > 0, as 4 of 120 are; correct the grid there")


def test_a_vertex_that_is_no_number():
    first, second = parts()
    second[2, 5, 3, 1] = np.inf
    refused([first, second], "chart 2, vertex (2, 4, 6): not finite")


def test_a_pole():
    """A cylinder in polar coordinates, from its axis."""
    r, angle, z = np.linspace(0, 1, 6), np.linspace(0, 2 * np.pi, 17)[:, None], np.linspace(0, 1, 5)[:, None, None]
    polar = np.stack(np.broadcast_arrays(r * np.cos(angle), r * np.sin(angle), z))
    refused([polar], "chart 1, i_min: collapsed faces (poles) are not available in this version; make a grid with")


def test_vertices_that_do_not_coincide():
    first, second = parts()
    second[1, 2, 3, 0] += 1e-5
    refused([first, second], "chart 1, i_max, cells j 1 to 6, k 1 to 5 with chart 2, i_min")
    refused([first, second], "at (0.5, 1, 1.2) they are 1e-05 apart, 3e-05 of the edge there")


def test_vertices_that_nearly_coincide_are_made_one():
    first, second = parts()
    second[1, 2, 3, 0] += 1e-10
    grid = assembled([Part(block, {}) for block in (first, second)])
    np.testing.assert_array_equal(grid.charts[1].vertices[..., 0], first[..., -1])


def test_sides_that_nearly_coincide():
    """One vertex of a seam elsewhere leaves a hole in it; both faces of a flat cell are no gap."""
    first, second = parts()
    second[1, 2, 3, 0] += 0.02
    (gap,) = gaps(assembled([Part(block, {}) for block in (first, second)]))
    assert (gap.one, gap.other, gap.faces, gap.apart) == ("i_max_1", "i_min_2", 4, pytest.approx(0.02))
    assert "sides i_max_1 and i_min_2 nearly coincide in 4 faces, at most 0.02 apart, and are not joined" in str(gap)
    second[0] += 0.01
    (gap,) = gaps(assembled([Part(block, {}) for block in (first, second)]))
    assert gap.faces == 30
    second[0] += 0.1
    assert gaps(assembled([Part(block, {}) for block in (first, second)])) == []
    second[0] -= 0.12
    (gap,) = gaps(assembled([Part(block, {}) for block in (first, second)]))
    assert (gap.faces, gap.apart) == (30, pytest.approx(np.hypot(0.01, 0.02))), "they overlap a little"


@pytest.mark.parametrize(("across", "charts"), [(1, 1), (2, 1), (4, 2)])
def test_sides_of_a_thin_slice_are_no_seam(across, charts):
    """Of a hundredth of what faces may be apart that were meant to be one."""
    box = shape("box", {"cells": (8, 6, across), "lengths": (8, 6, 1e-5), "charts": (charts, 1, 1)}).grid()
    grid = assembled([Part(chart.vertices, {}) for chart in box.charts])
    assert len(grid.seams) == charts - 1
    assert "k_min_1" in grid.sides


@pytest.mark.parametrize("across", [1, 2, 5])
def test_sides_of_a_thin_slice_are_no_gap(across):
    """Its ends look away from each other, however many cells lie between them, of one chart or of two."""
    for keys in (
        {"shape": "box", "cells": (9, 8, across), "lengths": (1, 1, 1e-3)},
        {"shape": "box", "cells": (9, 8, 8 * across), "lengths": (1, 1, 1e-3), "charts": (1, 1, 2)},
        {"shape": "annulus", "cells": (6, 16, across), "radii": (1, 5), "height": 1e-3},
    ):
        name = keys.pop("shape")
        assert gaps(shape(name, keys).grid()) == []


def test_sides_with_the_same_vertices_are_no_gap():
    """A baffle: faces that a file has twice, and does not join."""
    first, second = parts()
    charts = tuple(Chart(block) for block in (first, second))
    sides = {name: (Patch.whole(n, side, charts[n].cells),) for name, n, side in BAFFLE}
    assert gaps(MultiBlockGrid(charts, (), sides)) == []
    second[1, 2, 3, 0] += 0.02
    (gap,) = gaps(MultiBlockGrid(charts, (), sides))
    assert (gap.one, gap.other, gap.faces) == ("left", "right", 4)


def test_the_file_of_a_bad_chart_is_named(tmp_path, read):
    first, second = parts()
    write_plot3d(tmp_path / "box.xyz", [Chart(first), Chart(second[..., ::-1])])
    for grid in (lambda: read(ENTRIES), lambda: read_grid(tmp_path / "box.xyz")):
        with pytest.raises(BadGrid, match=r"^\S*box\.xyz: chart 2: all volumes are negative"):
            grid()


def test_three_charts_at_one_place():
    first, second = parts()
    refused([first, second, second.copy()], "coincide; at most two may: remove")


def test_few_cells_between_seams():
    blocks = [chart.vertices for chart in (shape("box", {**KEYS, "charts": (1, 1, 1)}).grid().charts)]
    thin = [blocks[0][..., :4], blocks[0][..., 3:]]
    refused(thin, "chart 1: 3 cells along i, a direction with a seam; give at least 4, or join it to its neighbour")


def test_a_sector_joined_to_itself(tmp_path):
    sector = shape("sector", {"cells": (5, 6, 4), "radii": (1, 2), "angle": 60})
    write_grid(tmp_path / "s.xyz", sector.grid())
    lines = (tmp_path / "s.nmf").read_text().splitlines()
    kept = [line for line in lines if "wall_" not in line]
    (tmp_path / "s.nmf").write_text("\n".join([*kept, "ONE_TO_ONE 1 5 1 5 1 6 1 6 1 5 1 6 FALSE"]))
    with pytest.raises(BadGrid, match="periodic by a rotation, which is not available in this version; make a grid of"):
        read_grid(tmp_path / "s.xyz", tmp_path / "s.nmf")


@pytest.mark.parametrize("slope", [0.0, 1.0], ids=["shifted", "tilted"])
def test_faces_that_are_less_than_half_a_cell_apart_are_not_periodic(slope, tmp_path):
    """They ought to coincide, also where all are as far apart, or all distances in one are those in the other."""
    grid = shape("box", {"cells": (8, 4, 4), "lengths": (2, 1, 1), "charts": (2, 1, 1)}).grid()
    write_grid(tmp_path / "two.xyz", grid)
    first, second = (chart.vertices.copy() for chart in grid.charts)
    second[0] += 1e-3 * (1 + slope * (second[1] - 1))
    write_plot3d(tmp_path / "two.xyz", [Chart(first), Chart(second)])
    with pytest.raises(BadGrid, match=r"do not coincide, at .* they are 0\.001 apart, 0\.004 of the edge"):
        read_grid(tmp_path / "two.xyz", tmp_path / "two.nmf")


def test_faces_a_translation_apart_are_periodic(read):
    outer = [ENTRIES[0].replace("1 4 1 7 1 6  2 3", "1 3 1 7 1 6  2 4"), "wall 1 4 1 7 1 6", "wall 2 3 1 7 1 6"]
    (seam,) = read([*outer, *ENTRIES[3:]]).seams
    assert seam.translation == (1.0, 0.0, 0.0)


def test_a_seam_of_faces_elsewhere(tmp_path):
    """With the largest distance and its place."""
    first, second = parts()
    second[2] *= 1.5
    write_plot3d(tmp_path / "box.xyz", [Chart(first), Chart(second)])
    (tmp_path / "box.nmf").write_text("\n".join([*HEADER, *ENTRIES]))
    with pytest.raises(BadGrid, match=r"do not coincide, at \(0.5, 0, 3\) they are 1.5 apart, 4.5 of the edge"):
        read_grid(tmp_path / "box.xyz", tmp_path / "box.nmf")
