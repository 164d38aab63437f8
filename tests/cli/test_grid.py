"""`taskflow grid`: grids made, told of, drawn and converted; and all that is wrong at once."""

import numpy as np
import pytest

from taskflow.geometry.grids import Chart, read_grid
from taskflow.geometry.grids.files.plot3d_writing import write_plot3d

PIPE = ["grid", "new", "pipe", "--set", "grid.cells=[6,5,4]", "--set", "grid.length=2"]


@pytest.fixture
def pipe(give, here):
    """The files of a pipe."""
    result = give(*PIPE)
    assert (result.exit_code, result.stdout) == (0, "pipe.xyz and pipe.nmf are written: 5 charts, 624 cells\n")
    return here / "pipe.xyz"


def test_a_grid_is_told_of(give, pipe):
    result = give("grid", "info", "pipe.xyz")
    assert result.exit_code == 0, result.stderr
    lines = [line.split(maxsplit=1) for line in result.stdout.splitlines()[1:]]
    told = {line[0]: line[1] for line in lines}
    assert told["charts"] == "1: 6 x 6 x 4 cells"
    assert told["cells"] == "624"
    assert told["seams"] == "8"
    assert told["singular"] == "16 edges with 3 cells around"
    assert told["wall:"] == "4 patches, 96 faces"
    assert told["volume"].startswith("at least 0.00")


@pytest.mark.parametrize("with_map", [True, False])
def test_a_grid_is_valid(give, pipe, with_map):
    if not with_map:
        pipe.with_suffix(".nmf").unlink()
    result = give("grid", "check", "pipe.xyz")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("pipe.xyz: the grid is valid\n")
    assert ("wall: " in result.stdout) == with_map
    assert ("j_max_2: " in result.stdout) != with_map


def test_sides_that_nearly_coincide_are_told_of(give, here):
    assert give("grid", "new", "box", "--set", "grid.cells=[4,4,4]", "--set", "grid.lengths=[1,1,1]").exit_code == 0
    one = read_grid(here / "box.xyz").charts[0]
    write_plot3d(here / "two.xyz", [one, Chart(one.vertices + np.reshape([1.01, 0, 0], (3, 1, 1, 1)))])
    for command in ("check", "info"):
        told = give("grid", command, "two.xyz").stdout
        assert "warning    sides i_max_1 and i_min_2 nearly coincide in 16 faces, at most 0.01 apart" in told


def test_all_that_is_wrong_is_told_at_once(give, refused, pipe):
    lines = pipe.with_suffix(".nmf").read_text().replace("FALSE", "NO").replace("wall", "pole")
    pipe.with_name("bad.nmf").write_text(lines)
    result = give("grid", "check", "pipe.xyz", "--map", "bad.nmf")
    refused(result.exit_code, result.stderr, "unknown word NO; give TRUE or FALSE", "poles are not available")
    assert len(result.stderr.splitlines()) > 5


@pytest.mark.parametrize(("words", "told"), [
    (["new", "pip"], ["SHAPE = \"pip\": unknown shape; did you mean pipe?"]),
    (["new", "c-grid", "--set", "grid.cells=[32,8,1]", "--set", "grid.far=5", "--set", "grid.wake=0.01"],
     ["grid.wake = 0.01: give at least 0.2491, for 8 cells as long as those at the trailing edge, or more cells"]),
    (["new", "pipe"], ["grid.cells is missing; give three integers", "grid.length is missing"]),
    (["new", "pipe", "--set", "grid.core=1", "--set", "grid.cells=[1,2]", "--set", "grid.length=1"],
     ["grid.core = 1: give a number > 0 and < 1", "grid.cells = [1, 2]"]),
    (["new", "pipe", "--set", "time.end=1"], ["--set time: give keys of the grid alone"]),
    (["new", "pipe", "--set", "grid.cells=[99999,9999,9999]", "--set", "grid.length=1"], ["of which", "are free"]),
    ([*PIPE[1:], "-o", "cavity.toml"], ["cavity.toml exists; choose another name"]),
    ([*PIPE[1:], "-o", "pipe.nmf"], ["pipe.nmf: its map would overwrite it"]),
    ([*PIPE[1:], "-o", "pipe.cgns", "--text"], ["--text: pipe.cgns is binary; omit it, or choose"]),
    (["check", "cavity.cgns"], ["cavity.cgns: file not found; give a CGNS file of structured zones"]),
    ([*PIPE[1:], "-o", "/proc/nowhere/pipe.xyz"], ["/proc/nowhere/pipe.xyz: cannot be written"]),
    (["info", "none.xyz"], ["none.xyz: file not found"]),
    (["check", "cavity.toml"], ["cavity.toml, line 1: "]),
    (["plot", "none.xyz"], ["none.xyz: file not found"]),
    (["convert", "none.xyz", "b.xyz"], ["none.xyz: file not found"]),
])  # fmt: skip
def test_refusals(give, refused, here, words, told):
    result = give("grid", *words)
    refused(result.exit_code, result.stderr, *told)


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_a_picture(give, pipe, suffix):
    result = give("grid", "plot", "pipe.xyz", *([] if suffix == "png" else ["-o", "pipe.svg"]))
    assert (result.exit_code, result.stdout) == (0, f"pipe.{suffix}\n")
    assert pipe.with_suffix(f".{suffix}").stat().st_size > 10_000


def test_a_picture_in_two_dimensions(give, here):
    give("grid", "new", "o-grid", "--set", "grid.cells=[32,8,1]", "--set", "grid.far=5", "-o", "o.xyz")
    result = give("grid", "plot", "o.xyz", "-o", "o.svg")
    assert (result.exit_code, result.stdout) == (0, "o.svg\n")
    picture = (here / "o.svg").read_text()
    assert all(f"<!-- {name} -->" in picture for name in ("body", "far", "1", "2", "x", "y"))
    assert "<!-- ends -->" not in picture


def test_converted_to_text_and_back(give, pipe, here):
    assert give("grid", "convert", "pipe.xyz", "text.xyz", "--text").exit_code == 0
    assert (here / "text.xyz").read_text().startswith("5\n7 7 5\n")
    assert give("grid", "convert", "text.xyz", "back.xyz").exit_code == 0
    assert (here / "back.xyz").read_bytes() == pipe.read_bytes()
    assert (here / "back.nmf").read_bytes() == pipe.with_suffix(".nmf").read_bytes()


def test_converted_to_cgns_and_back(give, pipe, here):
    """Nothing that is there is replaced."""
    result = give("grid", "convert", "pipe.xyz", "pipe.cgns")
    assert (result.exit_code, result.stdout) == (0, "pipe.cgns is written: 5 charts, 624 cells\n")
    assert "pipe.cgns exists; choose another name" in give("grid", "convert", "pipe.xyz", "pipe.cgns").stderr
    told = give("grid", "check", "pipe.cgns")
    assert told.stdout.startswith("pipe.cgns: the grid is valid\n")
    assert give("grid", "convert", "pipe.cgns", "back.xyz").exit_code == 0
    assert (here / "back.xyz").read_bytes() == pipe.read_bytes()
    assert (here / "back.nmf").read_bytes() == pipe.with_suffix(".nmf").read_bytes()
    refused = give("grid", "info", "pipe.cgns", "--map", "pipe.nmf")
    assert "pipe.nmf: pipe.cgns has its own seams and sides; omit the map" in refused.stderr


def test_where_a_converted_grid_goes(give, refused, pipe, here):
    """As -o says, like all commands that write; by default beside the grid, in the other format."""
    assert give("grid", "convert", "pipe.xyz", "-o", "a.cgns").exit_code == 0
    assert give("grid", "convert", "pipe.xyz").stdout.startswith("pipe.cgns is written")
    assert (here / "a.cgns").exists()
    assert give("grid", "convert", "a.cgns").stdout.startswith("a.xyz and a.nmf are written")
    result = give("grid", "convert", "pipe.xyz", "b.cgns", "-o", "c.cgns")
    refused(result.exit_code, result.stderr, "b.cgns -o c.cgns: give the file to write once")


SHAPES = [
    ("c-grid", ["cells=[32,8,1]", "far=5", "wake=5", "section='4412'"], 256),
    ("duct-bend", ["cells=[16,4,4]", "side=1", "mean_radius=2", "upstream=3", "downstream=3"], 256),
    ("wavy-channel", ["cells=[16,8,1]", "wavelength=2", "amplitude=0.1", "height=1"], 128),
    ("bifurcation", ["cells=[16,8,1]", "widths=[1,0.6,0.6]", "angle=60", "upstream=2", "downstream=2"], 128),
]


@pytest.mark.parametrize(("name", "keys", "cells"), SHAPES)
def test_shapes_are_made_and_told_of(give, here, name, keys, cells):
    settings = [word for key in keys for word in ("--set", f"grid.{key}")]
    result = give("grid", "new", name, *settings, "-o", "g.cgns")
    assert result.exit_code == 0, result.stderr
    assert f"{cells} cells" in result.stdout
    assert give("grid", "check", "g.cgns").exit_code == 0
    assert give("grid", "plot", "g.cgns").stdout == "g.png\n"
