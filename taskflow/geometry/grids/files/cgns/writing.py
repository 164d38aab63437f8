"""Write grids as CGNS files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from taskflow.common.errors import BadInput
from taskflow.geometry.grids.files.cgns.nodes import LONGEST, NEEDED, add_node, root
from taskflow.geometry.grids.files.cgns.reading import COORDINATES, ONE_TO_ONE, TRANSFORM
from taskflow.geometry.grids.files.cgns.units import UNITS
from taskflow.geometry.grids.multiblock.grid import Chart, GridSeam, MultiBlockGrid
from taskflow.geometry.solids.libraries import library
from taskflow.runtime.regions import Box, Patch

VERSION = 3.3  # of the format, the first with all features used here
BASE = "Base"


def write_cgns(path: Path, grid: MultiBlockGrid) -> None:
    """Write a grid in double precision, so that it is read back bitwise identical.

    A zone for each chart, seams as one-to-one connectivity from both sides, sides as families. Raises BadInput for
    invalid names of sides or without h5py, and OSError if the file cannot be written.
    """
    for name in grid.sides:
        if len(name.encode()) > LONGEST or "/" in name or name != name.strip():
            raise BadInput(f"{path}: the side {name!r}; CGNS takes names of at most {LONGEST} bytes without a slash")
    h5py = library("h5py", *NEEDED)
    zones = [f"chart_{n:0{len(str(len(grid.charts)))}}" for n in range(1, len(grid.charts) + 1)]  # in order by name
    with path.open("w+b") as out, h5py.File(out, "w", track_order=True) as file:
        root(file)
        add_node(file, "CGNSLibraryVersion", "CGNSLibraryVersion_t", np.array([VERSION], "<f4"))
        base = add_node(file, BASE, "CGNSBase_t", np.array([3, 3], "<i4"))
        if grid.unit:
            words = "".join(word.ljust(LONGEST) for word in ("Null", grid.unit, "Null", "Null", "Null"))
            add_node(base, "DimensionalUnits", UNITS, np.frombuffer(words.encode(), np.int8).reshape(5, LONGEST))
        for name in grid.sides:
            add_node(add_node(base, name, "Family_t"), "FamilyBC", "FamilyBC_t", "UserDefined")
        for n, (name, chart) in enumerate(zip(zones, grid.charts, strict=True)):
            zone = _zone(base, name, chart)
            joints = [seam for seam in grid.joins() if seam.one.chart == n]
            if joints:
                holder = add_node(zone, "ZoneGridConnectivity", "ZoneGridConnectivity_t")
                for number, seam in enumerate(joints, start=1):
                    _joint(holder, f"seam_{number}", seam, zones[seam.other.chart])
            _conditions(zone, [(name, p) for name, patches in grid.sides.items() for p in patches if p.chart == n])


def _zone(base: Any, name: str, chart: Chart) -> Any:
    vertices = [n + 1 for n in chart.cells]
    zone = add_node(base, name, "Zone_t", np.array([vertices, chart.cells, [0, 0, 0]], "<i4"))
    add_node(zone, "ZoneType", "ZoneType_t", "Structured")
    holder = add_node(zone, "GridCoordinates", "GridCoordinates_t")
    for axis, values in zip(COORDINATES, chart.vertices, strict=True):
        add_node(holder, axis, "DataArray_t", np.ascontiguousarray(values, "<f8"))
    return zone


def _joint(holder: Any, name: str, seam: GridSeam, donor: str) -> None:
    node = add_node(holder, name, ONE_TO_ONE, donor)
    begin, end = _ends(seam.one.vertices)
    low, high = _ends(seam.other.vertices)
    for axis in seam.axes:
        b = abs(axis) - 1
        if axis < 0:
            low[b], high[b] = high[b], low[b]
    add_node(node, "PointRange", "IndexRange_t", np.array([begin, end], "<i4"))
    add_node(node, "PointRangeDonor", "IndexRange_t", np.array([low, high], "<i4"))
    add_node(node, "Transform", TRANSFORM, np.array(seam.axes, "<i4"))
    if any(seam.translation):
        about = add_node(node, "GridConnectivityProperty", "GridConnectivityProperty_t")
        periodic = add_node(about, "Periodic", "Periodic_t")
        by = {"RotationCenter": (0, 0, 0), "RotationAngle": (0, 0, 0), "Translation": seam.translation}
        for key, vector in by.items():
            add_node(periodic, key, "DataArray_t", np.array(vector, "<f4"))


def _ends(vertices: Box) -> tuple[list[int], list[int]]:
    """Return the first and last vertex, from 1."""
    return [n + 1 for n in vertices.lo], list(vertices.hi)


def _conditions(zone: Any, patches: list[tuple[str, Patch]]) -> None:
    if not patches:
        return
    holder = add_node(zone, "ZoneBC", "ZoneBC_t")
    for number, (name, patch) in enumerate(patches, start=1):
        node = add_node(holder, f"patch_{number}", "BC_t", "FamilySpecified")
        add_node(node, "PointRange", "IndexRange_t", np.array(_ends(patch.vertices), "<i4"))
        add_node(node, "FamilyName", "FamilyName_t", name)
