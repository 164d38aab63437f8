"""Unit of length of the coordinates in a CGNS file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from taskflow.common.errors import BadInput
from taskflow.geometry.grids.files.cgns.nodes import LONGEST, Node

UNITS, KIND, CONVERSION = "DimensionalUnits_t", "DataClass_t", "DataConversion_t"
PURE = ("NondimensionalParameter", "NormalizedByUnknownDimensional", "DimensionlessConstant")
UNNAMED = ("Null", "UserDefined", "")
LENGTH = 1  # index, after mass


def length_unit(holders: Iterable[Sequence[Node]]) -> str:
    """Return the common unit of all coordinates as named in the file, or "" if none is named.

    `holders` are, for each array, the nodes from the base down to the array. The deepest node with a unit applies.
    Raises BadInput if arrays have different units or need conversion.
    """
    units = {nodes[-1].within(): _unit(nodes) for nodes in holders}
    if len(set(units.values())) > 1:
        unlike = {unit or "no unit": place for place, unit in reversed(units.items())}
        named = ", ".join(f"{unit} in {place}" for unit, place in sorted(unlike.items()))
        raise BadInput(f"its coordinates have different units: {named}; write all of them in one unit of length")
    return next(iter(units.values()), "")


def _unit(nodes: Sequence[Node]) -> str:
    unit, kind = "", ""
    for node in nodes:
        for child in node.children(UNITS, KIND):
            if child.label == KIND:
                kind = child.text
            elif child.shape is not None and np.prod(child.shape) <= 10 * LONGEST:
                words = child.array.tobytes().decode("latin-1")
                unit = words[LENGTH * LONGEST : (LENGTH + 1) * LONGEST].strip("\0 ")
    if any(_converts(child) for child in nodes[-1].children(CONVERSION)):
        problem = f"{nodes[-1].within()}: numbers that are to be converted ({CONVERSION})"
        raise BadInput(f"{problem} are not available in this version; write the coordinates themselves")
    return "" if unit in UNNAMED or kind in PURE else unit


def _converts(node: Node) -> bool:
    """Return True unless a conversion is the identity, by 1 and 0."""
    return node.shape != (2,) or node.array.tolist() != [1.0, 0.0]
