"""Well-known formats of meshes, shapes and fields that are not supported: what a file is, and the remedy."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

Kind = Literal["mesh", "shape", "fields"]

BEGINNING = 4096  # bytes for detecting a format
SUFFIXES: dict[str, tuple[str, Kind]] = {
    ".msh": ("a mesh of Gmsh or of Fluent", "mesh"),
    ".geo": ("a script of Gmsh", "mesh"),
    ".cas": ("a case of Fluent", "mesh"),
    ".su2": ("a mesh of SU2", "mesh"),
    ".ccm": ("a mesh of STAR-CCM+", "mesh"),
    ".sim": ("a simulation of STAR-CCM+", "mesh"),
    ".ugrid": ("an unstructured mesh in AFLR3's format UGRID", "mesh"),
    ".neu": ("a mesh of GAMBIT", "mesh"),
    ".med": ("a mesh of SALOME", "mesh"),
    ".unv": ("a mesh in I-DEAS's universal format", "mesh"),
    ".exo": ("a mesh in the format Exodus", "mesh"),
    ".inp": ("an input of Abaqus", "mesh"),
    ".bdf": ("a mesh of Nastran", "mesh"),
    ".nas": ("a mesh of Nastran", "mesh"),
    ".vtk": ("a file of VTK", "fields"),
    ".vtu": ("an unstructured grid of VTK", "fields"),
    ".vts": ("a structured grid of VTK", "fields"),
    ".vtr": ("a rectilinear grid of VTK", "fields"),
    ".vti": ("an image of VTK", "fields"),
    ".vtp": ("a surface of VTK", "shape"),
    ".vtm": ("blocks of VTK", "fields"),
    ".pvd": ("a series of ParaView", "fields"),
    ".vtkhdf": ("a file of VTK", "fields"),
    ".xmf": ("a description in the format XDMF", "fields"),
    ".xdmf": ("a description in the format XDMF", "fields"),
    ".case": ("a case of EnSight", "fields"),
    ".plt": ("a file of Tecplot", "fields"),
    ".szplt": ("a file of Tecplot", "fields"),
    ".foam": ("a marker of an OpenFOAM case", "mesh"),
    ".openfoam": ("a marker of an OpenFOAM case", "mesh"),
    ".step": ("a shape in the CAD format STEP", "shape"),
    ".stp": ("a shape in the CAD format STEP", "shape"),
    ".iges": ("a shape in the CAD format IGES", "shape"),
    ".igs": ("a shape in the CAD format IGES", "shape"),
    ".brep": ("a shape of OpenCASCADE", "shape"),
    ".x_t": ("a shape of Parasolid", "shape"),
    ".x_b": ("a shape of Parasolid", "shape"),
    ".sldprt": ("a part of SolidWorks", "shape"),
    ".fcstd": ("a document of FreeCAD", "shape"),
    ".3mf": ("a shape in the format 3MF", "shape"),
    ".dxf": ("a drawing in the format DXF", "shape"),
    ".ply": ("a surface in the format PLY", "shape"),
    ".off": ("a surface in the format OFF", "shape"),
}
SIGNS: tuple[tuple[bytes, str, Kind], ...] = (
    (b"$MeshFormat", "a mesh of Gmsh", "mesh"),
    (b'(0 "', "a mesh of Fluent", "mesh"),
    (b"# vtk DataFile", "a file of VTK", "fields"),
    (b"<VTKFile", "a file of VTK", "fields"),
    (b"NDIME=", "a mesh of SU2", "mesh"),
    (b"FoamFile", "a file of OpenFOAM", "mesh"),
    (b"ISO-10303-21", "a shape in the CAD format STEP", "shape"),
    (b"#!TDV", "a file of Tecplot", "fields"),
    (b"DBRep_DrawableShape", "a shape of OpenCASCADE", "shape"),
    (b"CONTROL INFO", "a mesh of GAMBIT", "mesh"),
    (b"ply\n", "a surface in the format PLY", "shape"),
    (b"<Xdmf", "a description in the format XDMF", "fields"),
)
IGES = 72  # the column of the letter S in the first line
FOLDERS = {"constant/polyMesh": "an OpenFOAM case", "points": "a polyMesh of OpenFOAM"}
GRID: dict[Kind, str] = {
    "mesh": "save it as CGNS (.cgns) with structured zones, or as PLOT3D",
    "shape": "make a structured grid around it, and save that as CGNS (.cgns) or PLOT3D",
    "fields": "save its grid as CGNS (.cgns) with structured zones, or as PLOT3D",
}
SHAPE: dict[Kind, str] = dict.fromkeys(("mesh", "shape", "fields"), "save its surface as STL (.stl)")
STATE: dict[Kind, str] = dict.fromkeys(
    ("mesh", "shape", "fields"), "give a run directory, or write the fields as NetCDF (.nc)"
)


def foreign(path: Path, remedies: dict[Kind, str]) -> str | None:
    """Return the message for a file or folder of a well-known unsupported format, with its remedy, or None for others.

    `remedies` depend on the reader: `GRID`, `SHAPE` or `STATE`.
    """
    found = (_by_content(path) or SUFFIXES.get(path.suffix.lower())) if path.exists() else None
    return f"this is {found[0]}, a format that is not read; {remedies[found[1]]}" if found else None


def _by_content(path: Path) -> tuple[str, Kind] | None:
    for inside, name in FOLDERS.items() if path.is_dir() else ():
        if any((path / f"{inside}{end}").exists() for end in ("", ".gz")):
            return name, "mesh"
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            head = file.read(BEGINNING)
    except (OSError, ValueError):
        return None
    if head[IGES : IGES + 1] == b"S" and head[IGES + 1 : IGES + 8].strip() == b"1":
        return "a shape in the CAD format IGES", "shape"
    return next(((name, kind) for sign, name, kind in SIGNS if _begins(head, sign)), None)


def _begins(head: bytes, sign: bytes) -> bool:
    """Return True if one of the first lines starts with a sign. Comments and declarations may precede it."""
    return any(line.lstrip().startswith(sign.strip()) for line in head.splitlines(keepends=True)[:24])
