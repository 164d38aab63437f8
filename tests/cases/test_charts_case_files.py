"""Cases on charts whose grids, or sections of wings, are read from files."""

import numpy as np
import pytest

from taskflow.cases import Case
from taskflow.cases.language.table import document
from taskflow.geometry.grids import SIDES, read_grid, shape, write_grid
from taskflow.geometry.grids.files.plot3d_writing import write_plot3d
from taskflow.geometry.grids.generators.c_grid import on, section
from taskflow.runs.state.setup import RunSetup
from tests.cases.on_charts import CYLINDER, case, changed
from tests.cases.test_charts_case import problems

FAR = {"type": "far-field", "velocity": [1, 0, 0]}


def test_grids_come_from_cgns(tmp_path):
    grid = shape("o-grid", {"cells": (20, 8, 1), "far": 5.0}).grid()
    write_grid(tmp_path / "wing.cgns", grid)
    made = case(grid={"file": str(tmp_path / "wing.cgns")}).grid
    assert made.grid().sides == grid.sides
    assert made.files == (tmp_path / "wing.cgns",)


def test_a_section_comes_from_a_file_beside_the_case(tmp_path):
    """And is read again when that has changed."""
    (x, y), _ = on(section("0012")[0], np.linspace(0, 1, 20))
    for thickness in (1.0, 1.5):
        points = [*zip(x[::-1], thickness * y[::-1], strict=True), *zip(x[1:], -thickness * y[1:], strict=True)]
        (tmp_path / "wing.dat").write_text("\n".join(f"{a:.12f} {b:.12f}" for a, b in points) + "\n" * int(thickness))
        tables = changed(CYLINDER, boundaries__outlet="symmetry")
        tables["grid"] = {"shape": "c-grid", "section": "wing.dat", "cells": [32, 8, 1], "far": 5.0, "wake": 5.0}
        (tmp_path / "case.toml").write_text(document(tables))
        made = Case.load(tmp_path / "case.toml").grid
        assert made.files == (tmp_path / "wing.dat",)
        height = made.grid().charts[1].vertices[1, 0, 0].max()
        assert height == pytest.approx(0.06 * thickness, rel=0.02)


def test_grids_come_from_files_with_names_of_their_own(tmp_path):
    path = tmp_path / "ring.xyz"
    keys = {key: value for key, value in CYLINDER["grid"].items() if key != "shape"}
    write_grid(path, shape("o-grid", keys).grid())
    boundaries = {"wing": "wall", "far": FAR, "ends": "symmetry"}
    full = case(grid={"file": str(path), "sides": {"body": "wing"}}, boundaries=boundaries)
    assert set(full.grid.grid().sides) == {"wing", "far", "ends"}
    text = changed(CYLINDER, grid={"file": "ring.xyz"})
    (tmp_path / "case.toml").write_text(document(text))
    assert Case.load(tmp_path / "case.toml").grid.grid().cells == 160  # relative to the case file
    assert problems(grid={"file": str(path), "cells": [1, 1, 1]}) == [
        "grid.cells = [1, 1, 1]: the file has the cells; omit it, or grid.file"
    ]
    path.write_bytes(path.read_bytes()[:-20])
    assert len(problems(grid={"file": str(path)})) == 1
    assert problems(grid={"file": str(path)})[0].startswith("grid.file: ")
    assert "file not found" in problems(grid={"file": str(tmp_path / "none.xyz")})[0]


def test_sides_that_nearly_coincide_are_told_of(tmp_path):
    """Where one has no boundary, and else as a warning; not where a map says that they are sides."""
    one, two = (shape("box", {"cells": (4, 4, 4), "lengths": (1, 1, 1), "origin": (x, 0, 0)}).grid() for x in (0, 1.01))
    write_plot3d(tmp_path / "two.xyz", [*one.charts, *two.charts])
    grid, near = {"file": str(tmp_path / "two.xyz")}, "sides i_max_1 and i_min_2 nearly coincide in 16 faces, at most"
    told = problems(grid=grid, boundaries={"body": "wall"})
    assert sum(near in line for line in told) == 2
    assert not any("at rest" in line for line in told)
    sides = {f"{side}_{chart}": FAR for side in SIDES for chart in (1, 2)}
    (caution,) = RunSetup(case(grid=grid, boundaries=sides), (1, 1, 1)).system.warnings
    assert caution.startswith(f"grid.file: {near}")
    mapped = write_grid(tmp_path / "mapped.xyz", read_grid(tmp_path / "two.xyz"))
    assert mapped == tmp_path / "mapped.nmf"
    assert not case(grid={"file": str(tmp_path / "mapped.xyz")}, boundaries=sides).grid.gaps()
