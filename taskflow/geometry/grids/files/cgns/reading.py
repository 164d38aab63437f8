"""Zones of a CGNS file as charts, their connectivity as seams, their boundary conditions as sides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from taskflow import files
from taskflow.errors import BadInput
from taskflow.geometry.grids.assembled import Part, assembled, joined, malformed
from taskflow.geometry.grids.coincide import coincident
from taskflow.geometry.grids.cover import uncovered
from taskflow.geometry.grids.files.cgns.joints import CONNECTIVITY, seam
from taskflow.geometry.grids.files.cgns.nodes import GIVE, Node, tree
from taskflow.geometry.grids.files.cgns.ranges import patch_of
from taskflow.geometry.grids.grid import FARTHEST, Chart, GridSeam, MultiBlockGrid, Patch
from taskflow.geometry.grids.periodic import translated
from taskflow.geometry.grids.problems import all_right
from taskflow.runtime.regions import Triple, triple

COORDINATES = ("CoordinateX", "CoordinateY", "CoordinateZ")
POLES = ("BCDegenerateLine", "BCDegeneratePoint", "BCSymmetryPolar", "BCAxisymmetricWedge")


@dataclass(frozen=True)
class Zone:
    """A structured zone."""

    node: Node
    cells: Triple


def read_cgns(path: Path, scale: float) -> MultiBlockGrid:
    """Return the grid of a file, its lengths times `scale`. Boundary conditions are sides by the names of their
    families, or by their own ones. Where no zone has connectivity, seams are found from faces that coincide, and
    without boundary conditions as well, sides are called by side and chart: k_min_1.

    Raises BadInput where the file cannot be read, BadGrid with all that is wrong with the grid.
    """
    with tree(path) as root:
        zones = _zones(root)
        charts = [Chart(_coordinates(zone) * scale) for zone in zones]
        all_right(malformed(charts))
        problems = list[BadInput]()
        seams = sorted({*_seams(zones, charts, problems)})
        connected = any(zone.node.child("ZoneGridConnectivity_t") for zone in zones)
        sides = _sides(root, zones, problems)
    all_right(problems)
    if not connected and not sides:
        return assembled([Part(chart.vertices, {}) for chart in charts])
    if not connected:
        seams, _ = coincident(charts)
    cover = [patch for one in seams for patch in (one.one, one.other)]
    cover += [patch for patches in sides.values() for patch in patches]
    all_right(BadInput(f"{path}: {problem}") for problem in uncovered(charts, cover))
    return joined(charts, seams, sides)


def _zones(root: Node) -> list[Zone]:
    bases = list(root.children("CGNSBase_t"))
    if len(bases) != 1:
        said = f"{len(bases)} bases ({', '.join(base.name for base in bases)})" if bases else "no base"
        raise BadInput(f"{root.within()}: {said}; give a file with one")
    nodes = list(bases[0].children("Zone_t"))
    if not nodes:
        raise BadInput(f"{bases[0].within()}: no zones; {GIVE}")
    zones, problems = [], []
    for node in nodes:
        try:
            zones.append(_zone(node))
        except BadInput as error:
            problems.append(error)
    all_right(problems)
    files.fits(3 * 8 * sum(int(np.prod([n + 1 for n in zone.cells])) for zone in zones), root.within())
    return zones


def _zone(node: Node) -> Zone:
    kind = node.child("ZoneType_t")
    if kind is not None and kind.text != "Structured":
        raise BadInput(f"{node.within()}: a zone that is {kind.text.lower()}; {GIVE}")
    if node.shape != (3, 3):
        raise BadInput(f"{node.within()}: a zone that is not in three dimensions; give one that is one cell thick")
    vertices, cells = node.array[:2].astype(int)
    if (vertices != cells + 1).any() or (cells < 1).any() or (cells > 2**24).any():
        said = f"{' x '.join(map(str, vertices))} vertices and {' x '.join(map(str, cells))} cells"
        raise BadInput(f"{node.within()}: {said}; give one vertex more than cells, of which there are some")
    return Zone(node, triple(cells.tolist()))


def _coordinates(zone: Zone) -> np.ndarray:
    """The vertices [xyz, k, j, i]."""
    holder = zone.node.child("GridCoordinates_t")
    arrays = {node.name: node for node in holder.children("DataArray_t")} if holder else {}
    absent = [name for name in COORDINATES if name not in arrays]
    if holder is None or absent:
        has = f"; it has {', '.join(arrays)}" if arrays else ""
        raise BadInput(f"{zone.node.within()}: no {', '.join(absent)}{has}; write the coordinates of its vertices")
    if holder.child("Rind_t"):
        said = f"{holder.within()}: rind planes are not available in this version"
        raise BadInput(f"{said}; write the vertices of the zone alone")
    shape = tuple(n + 1 for n in reversed(zone.cells))
    result = np.empty((3, *shape))
    for row, name in zip(result, COORDINATES, strict=True):
        if arrays[name].shape != shape:
            dims = " x ".join(str(n) for n in reversed(arrays[name].shape or ()))
            said = f"{dims or 'no'} values for {' x '.join(map(str, reversed(shape)))} vertices"
            raise BadInput(f"{arrays[name].within()}: {said}; write the file again")
        row[...] = arrays[name].array
    if not (np.abs(result) <= FARTHEST).all():
        raise BadInput(f"{holder.within()}: not finite, or larger than {FARTHEST:g}; write the grid again")
    return result


def _seams(zones: Sequence[Zone], charts: Sequence[Chart], problems: list[BadInput]) -> Iterator[GridSeam]:
    names = {zone.node.name: n for n, zone in enumerate(zones)}
    for n, zone in enumerate(zones):
        for holder in zone.node.children("ZoneGridConnectivity_t"):
            for node in holder.children(*CONNECTIVITY):
                try:
                    made, periodic = seam(node, n, names, [zone.cells for zone in zones])
                    yield translated(charts, made) if periodic else made
                except BadInput as error:
                    problems.append(BadInput(f"{node.within()}: {error}"))


def _sides(root: Node, zones: Sequence[Zone], problems: list[BadInput]) -> dict[str, tuple[Patch, ...]]:
    """The patches of boundary conditions, in the order of families, and then in their own."""
    base = root.child("CGNSBase_t")
    sides: dict[str, list[Patch]] = {family.name: [] for family in (base.children("Family_t") if base else ())}
    for n, zone in enumerate(zones):
        for holder in zone.node.children("ZoneBC_t"):
            for node in holder.children("BC_t"):
                family = node.child("FamilyName_t")
                if not family and node.text == "Null":  # as Gmsh has them on seams
                    continue
                try:
                    sides.setdefault(family.text if family else node.name, []).append(_patch(node, n, zone.cells))
                except BadInput as error:
                    problems.append(BadInput(f"{node.within()}: {error}"))
    return {name: tuple(patches) for name, patches in sides.items() if patches}


def _patch(node: Node, chart: int, cells: Triple) -> Patch:
    if node.text in POLES:
        raise BadInput(f"{node.text}: poles are not available in this version; make a grid without them")
    ranges = next((child for child in node.children("IndexRange_t") if child.name == "PointRange"), None)
    if ranges is None:
        raise BadInput("no PointRange; give one, of vertices of a side")
    location = node.child("GridLocation_t")
    return patch_of(ranges, chart, cells, location.text if location else "Vertex")[0]
