"""Files of well-known formats that are not read: named as what they are, each with what to do with it."""

import pytest

from taskflow.common.errors import BadInput
from taskflow.common.foreign import GRID, foreign
from taskflow.geometry import read_surface
from taskflow.geometry.grids import read_grid, shape, write_grid
from taskflow.output import saved_state

IGES = "one shape" + " " * 63 + "S      1\n"
CONTENTS = {
    "wing.msh": ("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n", "Gmsh"),
    "fluent.msh": ('(0 "made by a mesher")\n(2 3)\n', "Fluent"),
    "old.vtk": ("# vtk DataFile Version 3.0\nwing\nASCII\n", "VTK"),
    "new.vtu": ('<?xml version="1.0"?>\n<VTKFile type="UnstructuredGrid">\n', "VTK"),
    "mesh.su2": ("% a comment\nNDIME= 2\n", "SU2"),
    "part.step": ("ISO-10303-21;\nHEADER;\n", "STEP"),
    "part.igs": (IGES, "IGES"),
    "points": ("/*---*\\\n  =====\n\\*---*/\nFoamFile\n{\n", "OpenFOAM"),
    "unnamed": ("$MeshFormat\n2.2 0 8\n", "Gmsh"),
    "mesh.neu": ("        CONTROL INFO 2.4.6\n", "GAMBIT"),
    "flow.szplt": ("\x00\x01", "Tecplot"),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_grids(name, tmp_path):
    text, words = CONTENTS[name]
    (tmp_path / name).write_text(text)
    with pytest.raises(BadInput, match=rf"{name}: this is .*{words}.*, a format that is not read; .*CGNS.*PLOT3D"):
        read_grid(tmp_path / name)


def test_a_case_of_openfoam_is_a_folder(tmp_path):
    (tmp_path / "constant" / "polyMesh").mkdir(parents=True)
    with pytest.raises(BadInput, match=r"this is an OpenFOAM case, .*structured zones"):
        read_grid(tmp_path)
    (tmp_path / "constant" / "polyMesh" / "points").touch()
    with pytest.raises(BadInput, match="this is a polyMesh of OpenFOAM"):
        read_grid(tmp_path / "constant" / "polyMesh")


def test_what_is_read_is_read_whatever_its_name(tmp_path):
    """As a file of PLOT3D that somebody called a mesh."""
    grid = shape("box", {"cells": [2, 3, 4], "lengths": [1, 1, 1]}).grid()
    write_grid(tmp_path / "box.msh", grid, text=True)
    assert read_grid(tmp_path / "box.msh").cells == 24


def test_a_file_that_is_not_there_is_none(tmp_path):
    assert foreign(tmp_path / "mesh.msh", GRID) is None
    with pytest.raises(BadInput, match="file not found"):
        read_grid(tmp_path / "mesh.msh")


@pytest.mark.parametrize("name", ["part.step", "part.igs", "wing.msh", "old.vtk"])
def test_shapes(name, tmp_path):
    text, words = CONTENTS[name]
    (tmp_path / name).write_text(text)
    with pytest.raises(BadInput, match=rf"this is .*{words}.*; save its surface as STL"):
        read_surface(tmp_path / name, 1.0, (0.0, 0.0, 0.0))


@pytest.mark.parametrize("name", ["new.vtu", "flow.szplt"])
def test_states(name, tmp_path):
    text, words = CONTENTS[name]
    (tmp_path / name).write_text(text)
    with pytest.raises(BadInput, match=rf"this is .*{words}.*; give a run directory, or write the fields as NetCDF"):
        saved_state(tmp_path / name, None)
