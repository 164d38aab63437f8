"""Read zones of a CGNS file as charts, connectivity as seams, and boundary conditions as sides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from taskflow.common import files
from taskflow.common.errors import BadInput
from taskflow.geometry.grids.files.cgns.nodes import GIVE, Node, tree
from taskflow.geometry.grids.files.cgns.units import length_unit
from taskflow.geometry.grids.multiblock.assembly import Part, assembled, joined, malformed
from taskflow.geometry.grids.multiblock.grid import FARTHEST, Chart, GridSeam, MultiBlockGrid, all_right
from taskflow.geometry.grids.multiblock.matching import coincident, covered
from taskflow.geometry.grids.multiblock.merging import translated
from taskflow.runtime.regions import SIDES, Box, Patch, Triple, Turn, triple

FACES = {"IFaceCenter": 0, "JFaceCenter": 1, "KFaceCenter": 2}


def patch_of(node: Node, chart: int, cells: Triple, location: str = "Vertex") -> tuple[Patch, Triple, Triple]:
    """Return the patch of a PointRange, and its first and last vertex, from 1. Raises BadInput if it is not a patch."""
    if node.shape != (2, 3):
        raise BadInput(f"{node.name} has not two times three numbers; give the first and the last vertex of a side")
    begin, end = node.integers.tolist()
    if location in FACES:
        for a in range(3):
            if a != FACES[location]:
                begin[a], end[a] = (begin[a], end[a] + 1) if begin[a] <= end[a] else (begin[a] + 1, end[a])
    elif location != "Vertex":
        raise BadInput(f"GridLocation = {location}; give Vertex, or one of {', '.join(FACES)}")
    lo, hi = ([f(pair) for pair in zip(begin, end, strict=True)] for f in (min, max))
    problem = f"{node.name} from ({', '.join(map(str, begin))}) to ({', '.join(map(str, end))})"
    for a, name in enumerate("ijk"):
        if lo[a] < 1 or hi[a] > cells[a] + 1:
            raise BadInput(f"{problem}: the zone has vertices 1 to {cells[a] + 1} along {name}; give some of these")
    thin = [a for a in range(3) if lo[a] == hi[a]]
    if len(thin) != 1 or lo[thin[0]] not in (1, cells[thin[0]] + 1):
        raise BadInput(f"{problem}: no side of the zone; give vertices with one index at its first or its last value")
    axis, last = thin[0], int(lo[thin[0]] > 1)
    side = Patch.whole(chart, SIDES[2 * axis + last], cells).cells
    low = [side.lo[a] if a == axis else lo[a] - 1 for a in range(3)]
    high = [side.hi[a] if a == axis else hi[a] - 1 for a in range(3)]
    return Patch(chart, SIDES[2 * axis + last], Box(triple(low), triple(high))), triple(begin), triple(end)


ONE_TO_ONE, TRANSFORM = "GridConnectivity1to1_t", '"int[IndexDimension]"'
CONNECTIVITY = (ONE_TO_ONE, "GridConnectivity_t", "OversetHoles_t")
ABSENT = {"Abutting": "patched seams are", "Overset": "overset grids are"}
REFLECTED = "joins a right-handed chart to a left-handed one, a reflection; reverse an index of one"


def seam(node: Node, chart: int, names: Mapping[str, int], cells: Sequence[Triple]) -> tuple[GridSeam, bool]:
    """Return the seam of a connectivity node of a zone, and whether it is periodic. Raises BadInput if it is invalid.
    """
    if node.label != ONE_TO_ONE:
        kind = node.child("GridConnectivityType_t")
        what = ABSENT.get(kind.text if kind else "Overset", "lists of points are")
        raise BadInput(f"{what} not available in this version; join whole faces by {ONE_TO_ONE}")
    donor = names.get(node.text, names.get(node.text.replace(" ", "_")))  # Gmsh writes blanks in names of donors only
    if donor is None:
        near = get_close_matches(node.text, names, 1)
        remedy = f"did you mean {near[0]}?" if near else f"the file has {', '.join([*names][:8])}"
        raise BadInput(f"the donor zone {node.text!r} is not there; {remedy}")
    ranges = {child.name: child for child in node.children("IndexRange_t")}
    for name in ("PointRange", "PointRangeDonor"):
        if name not in ranges:
            raise BadInput(f"no {name}; give the first and the last vertex of the faces")
    one, begin, end = patch_of(ranges["PointRange"], chart, cells[chart])
    other, donor_begin, donor_end = patch_of(ranges["PointRangeDonor"], donor, cells[donor])
    axes = _axes(node, one, other)
    for a, axis in enumerate(axes):
        b = abs(axis) - 1
        here, there = end[a] - begin[a], (donor_end[b] - donor_begin[b]) * (1 if axis > 0 else -1)
        if here != there:
            problem = f"{here} cells along {'ijk'[a]} are joined to {there} of the donor zone along {'ijk'[b]}"
            raise BadInput(f"{problem}, by the transform; give as many, in its direction")
    if (one.chart, one.side) == (other.chart, other.side) and one.cells.meets(other.cells):
        raise BadInput("joins faces to themselves; give two ranges without common faces")
    return GridSeam(one, other, axes).in_order, _periodic(node)


def _axes(node: Node, one: Patch, other: Patch) -> Triple:
    """Return the transform, with a zero across the faces completed."""
    child = next((child for child in node.children(TRANSFORM) if child.name == "Transform"), None)
    if child is not None and child.shape != (3,):
        raise BadInput("a Transform of other than three numbers; give a signed permutation of 1, 2, 3")
    axes = [1, 2, 3] if child is None else child.integers.tolist()
    problem = f"Transform = [{', '.join(map(str, axes))}]"
    across = (1 if one.end != other.end else -1) * (other.axis + 1)
    if axes[one.axis] == 0:
        axes[one.axis] = across
    if sorted(map(abs, axes)) != [1, 2, 3]:
        raise BadInput(f"{problem} is no signed permutation; give one of 1, 2, 3")
    if axes[one.axis] != across:
        raise BadInput(f"{problem} does not match {one.side} and {other.side}; give {across} along {'ijk'[one.axis]}")
    if not Turn(triple(axes)).rotates:
        raise BadInput(f"{problem} {REFLECTED}")
    return triple(axes)


def _periodic(node: Node) -> bool:
    """Return True if a seam is periodic. Raises BadInput for a rotation."""
    properties = node.child("GridConnectivityProperty_t")
    periodic = properties.child("Periodic_t") if properties else None
    if periodic is None:
        return False
    for child in periodic.children("DataArray_t"):
        if child.name == "RotationAngle" and np.any(child.array):
            raise BadInput("periodic by a rotation, which is not available in this version; make a grid of all of it")
    return True


COORDINATES = ("CoordinateX", "CoordinateY", "CoordinateZ")
POLES = ("BCDegenerateLine", "BCDegeneratePoint", "BCSymmetryPolar", "BCAxisymmetricWedge")


@dataclass(frozen=True)
class Zone:
    """Structured zone."""

    node: Node
    cells: Triple


def read_cgns(path: Path, scale: float) -> MultiBlockGrid:
    """Return the grid of a file, with lengths times `scale`.

    Boundary conditions are sides, named by family or by themselves. If no zone has connectivity, coincident faces
    become seams. If boundary conditions are absent too, sides are named by side and chart: k_min_1. Raises BadInput if
    the file cannot be read, and BadGrid with all problems of the grid.
    """
    with tree(path) as root:
        zones = _zones(root)
        unit = "" if scale != 1.0 else length_unit(_arrays(root, zones))
        charts = [Chart(_coordinates(zone) * scale) for zone in zones]
        all_right(malformed(charts))
        problems = list[BadInput]()
        seams = sorted({*_seams(zones, charts, problems)})
        connected = any(zone.node.child("ZoneGridConnectivity_t") for zone in zones)
        sides = _sides(root, zones, problems)
    all_right(problems)
    if not connected and not sides:
        return replace(assembled([Part(chart.vertices, {}) for chart in charts]), unit=unit)
    if not connected:
        seams, _ = coincident(charts)
    covered(path, charts, seams, sides)
    return replace(joined(charts, seams, sides), unit=unit)


def _arrays(root: Node, zones: Sequence[Zone]) -> Iterator[list[Node]]:
    """Yield, for each coordinate array, the nodes that may hold its units: from the base down to the array."""
    for base in root.children("CGNSBase_t"):
        for zone in zones:
            for holder in zone.node.children("GridCoordinates_t"):
                for array in holder.children("DataArray_t"):
                    if array.name in COORDINATES:
                        yield [base, zone.node, holder, array]


def _zones(root: Node) -> list[Zone]:
    bases = list(root.children("CGNSBase_t"))
    if len(bases) != 1:
        problem = f"{len(bases)} bases ({', '.join(base.name for base in bases)})" if bases else "no base"
        raise BadInput(f"{root.within()}: {problem}; give a file with one")
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
    vertices, cells = node.integers[:2]
    if (vertices != cells + 1).any() or (cells < 1).any() or (cells > 2**24).any():
        problem = f"{' x '.join(map(str, vertices))} vertices and {' x '.join(map(str, cells))} cells"
        raise BadInput(f"{node.within()}: {problem}; give one vertex more than cells, of which there are some")
    return Zone(node, triple(cells.tolist()))


def _coordinates(zone: Zone) -> np.ndarray:
    """Return the vertices [xyz, k, j, i]."""
    holder = zone.node.child("GridCoordinates_t")
    arrays = {node.name: node for node in holder.children("DataArray_t")} if holder else {}
    absent = [name for name in COORDINATES if name not in arrays]
    if holder is None or absent:
        has = f"; it has {', '.join(arrays)}" if arrays else ""
        raise BadInput(f"{zone.node.within()}: no {', '.join(absent)}{has}; write the coordinates of its vertices")
    if holder.child("Rind_t"):
        problem = f"{holder.within()}: rind planes are not available in this version"
        raise BadInput(f"{problem}; write the vertices of the zone alone")
    shape = tuple(n + 1 for n in reversed(zone.cells))
    result = np.empty((3, *shape))
    for row, name in zip(result, COORDINATES, strict=True):
        if arrays[name].shape != shape:
            dims = " x ".join(str(n) for n in reversed(arrays[name].shape or ()))
            problem = f"{dims or 'no'} values for {' x '.join(map(str, reversed(shape)))} vertices"
            raise BadInput(f"{arrays[name].within()}: {problem}; write the file again")
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


def _sides(root: Node, zones: Sequence[Zone], problems: list[BadInput]) -> dict[str, list[Patch]]:
    """Return the patches of boundary conditions, by families first, then by their own order."""
    base = root.child("CGNSBase_t")
    sides: dict[str, list[Patch]] = {family.name: [] for family in (base.children("Family_t") if base else ())}
    for n, zone in enumerate(zones):
        for holder in zone.node.children("ZoneBC_t"):
            for node in holder.children("BC_t"):
                family = node.child("FamilyName_t")
                if not family and node.text == "Null":  # as written by Gmsh on seams
                    continue
                try:
                    sides.setdefault(family.text if family else node.name, []).append(_patch(node, n, zone.cells))
                except BadInput as error:
                    problems.append(BadInput(f"{node.within()}: {error}"))
    return {name: patches for name, patches in sides.items() if patches}


def _patch(node: Node, chart: int, cells: Triple) -> Patch:
    if node.text in POLES:
        raise BadInput(f"{node.text}: poles are not available in this version; make a grid without them")
    ranges = next((child for child in node.children("IndexRange_t") if child.name == "PointRange"), None)
    if ranges is None:
        raise BadInput("no PointRange; give one, of vertices of a side")
    location = node.child("GridLocation_t")
    return patch_of(ranges, chart, cells, location.text if location else "Vertex")[0]
