"""Connectivity of zones one to one, as a seam: two ranges of vertices and a transform of indices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

import numpy as np

from taskflow.errors import BadInput
from taskflow.geometry.grids.files.cgns.nodes import Node
from taskflow.geometry.grids.files.cgns.ranges import patch_of
from taskflow.geometry.grids.grid import GridSeam, Patch
from taskflow.runtime.regions import Triple, Turn, triple

ONE_TO_ONE, TRANSFORM = "GridConnectivity1to1_t", '"int[IndexDimension]"'
CONNECTIVITY = (ONE_TO_ONE, "GridConnectivity_t", "OversetHoles_t")
ABSENT = {"Abutting": "patched seams are", "Overset": "overset grids are"}
REFLECTED = "joins a right-handed chart to a left-handed one, a reflection; reverse an index of one"


def seam(node: Node, chart: int, names: Mapping[str, int], cells: Sequence[Triple]) -> tuple[GridSeam, bool]:
    """The seam of a node of connectivity of a zone, and whether it is periodic. Raises BadInput where it is none."""
    if node.label != ONE_TO_ONE:
        kind = node.child("GridConnectivityType_t")
        what = ABSENT.get(kind.text if kind else "Overset", "lists of points are")
        raise BadInput(f"{what} not available in this version; join whole faces by {ONE_TO_ONE}")
    donor = names.get(node.text, names.get(node.text.replace(" ", "_")))  # Gmsh has blanks in names of donors alone
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
            said = f"{here} cells along {'ijk'[a]} are joined to {there} of the donor zone along {'ijk'[b]}"
            raise BadInput(f"{said}, by the transform; give as many, in its direction")
    if (one.chart, one.side) == (other.chart, other.side) and one.cells.meets(other.cells):
        raise BadInput("joins faces to themselves; give two ranges without common faces")
    made = GridSeam(one, other, axes)
    return min(made, made.reverse, key=lambda seam: (seam.one, seam.other)), _periodic(node)


def _axes(node: Node, one: Patch, other: Patch) -> Triple:
    """The transform; where it has a zero across the faces, that is completed."""
    child = next((child for child in node.children(TRANSFORM) if child.name == "Transform"), None)
    if child is not None and child.shape != (3,):
        raise BadInput("a Transform of other than three numbers; give a signed permutation of 1, 2, 3")
    axes = [1, 2, 3] if child is None else child.array.astype(int).tolist()
    said = f"Transform = [{', '.join(map(str, axes))}]"
    across = (1 if one.end != other.end else -1) * (other.axis + 1)
    if axes[one.axis] == 0:
        axes[one.axis] = across
    if sorted(map(abs, axes)) != [1, 2, 3]:
        raise BadInput(f"{said} is no signed permutation; give one of 1, 2, 3")
    if axes[one.axis] != across:
        raise BadInput(f"{said} does not fit to {one.side} and {other.side}; give {across} along {'ijk'[one.axis]}")
    if not Turn(triple(axes)).rotates:
        raise BadInput(f"{said} {REFLECTED}")
    return triple(axes)


def _periodic(node: Node) -> bool:
    """Whether it is periodic. Raises BadInput where it is by a rotation."""
    properties = node.child("GridConnectivityProperty_t")
    periodic = properties.child("Periodic_t") if properties else None
    if periodic is None:
        return False
    for child in periodic.children("DataArray_t"):
        if child.name == "RotationAngle" and np.any(child.array):
            raise BadInput("periodic by a rotation, which is not available in this version; make a grid of all of it")
    return True
