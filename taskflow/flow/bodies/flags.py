"""Flags of bodies for kernels, for every cell, computed once from the mask of solid cells.

Flags are read in the cell itself only and never exchanged between blocks. The exception is `solid`, which is exchanged
once if two Jacobi sweeps share a pass. All functions take `solid`, a mask [z, y, x] of cells with one more layer on
every side (nothing is solid outside the domain), and return arrays without that layer. For immersed bodies see
`taskflow.flow.bodies.cuts`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

NEIGHBOURS = tuple((axis, side) for axis in range(3) for side in (-1, 1))  # west, east, south, north, below, above
ITSELF = 64  # bit of a solid cell; bit n is for its neighbour n
CLOSED = 1 << 12  # nothing crosses the low face across x; y and z follow
INSULATED, ISOTHERMAL = 1, 2  # face without heat flux, or of a body with a given temperature
KEEPS = 1 << 12  # a solid cell keeps its temperature
STORED, HOLDS = 1 << 13, 1 << 14  # where bodies move: a cell without an open face, or with the temperature of a body


def solid_bits(solid: np.ndarray) -> np.ndarray:
    """Return bits of solid cells: bit n for neighbour n, ITSELF for the cell."""
    bits = np.where(moved(solid), np.uint8(ITSELF), np.uint8(0))
    for n, (axis, side) in enumerate(NEIGHBOURS):
        bits |= np.where(moved(solid, (axis, side)), np.uint8(1 << n), np.uint8(0))
    return bits


def face_bits(solid: np.ndarray) -> np.ndarray:
    """Return four bits for each low face of a cell, across x, y and z: which neighbouring faces in its plane are solid.

    A face is solid if it lies between two solid cells. Order: the lower and the higher neighbour along the first of the
    other two axes, then along the second. Faces of solid cells have only CLOSED, shifted by the number of the axis.
    """
    bits = np.zeros(moved(solid).shape, np.uint16)
    for axis in range(3):
        closed = moved(solid) | moved(solid, (axis, -1))
        state = np.zeros(bits.shape, np.uint16)
        for place, along in enumerate(other for other in range(3) if other != axis):
            for high, side in enumerate((-1, 1)):
                solid_face = moved(solid, (along, side)) & moved(solid, (along, side), (axis, -1))
                state |= solid_face.astype(np.uint16) << np.uint16(4 * axis + 2 * place + high)
        bits |= np.where(closed, np.uint16(CLOSED << axis), state)
    return bits


def edge_bits(solid: np.ndarray) -> np.ndarray:
    """Return four bits for each low face of a cell, across x, y and z: which of its edges touch a solid cell.

    Order: the lower and the higher edge along the first of the other two axes, then along the second.
    """
    bits = np.zeros(moved(solid).shape, np.uint16)
    for axis in range(3):
        for place, along in enumerate(other for other in range(3) if other != axis):
            for high, side in enumerate((-1, 1)):
                here = moved(solid) | moved(solid, (axis, -1))
                beside = moved(solid, (along, side)) | moved(solid, (along, side), (axis, -1))
                bits |= (here | beside).astype(np.uint16) << np.uint16(4 * axis + 2 * place + high)
    return bits


def heat_bits(solid: np.ndarray, isothermal: np.ndarray) -> np.ndarray:
    """Return two bits for each of the six faces of a cell: 0, INSULATED or ISOTHERMAL. Solid cells have only KEEPS.

    `isothermal` is the mask of solid cells with a given temperature.
    """
    inside = moved(solid)
    bits = np.zeros(inside.shape, np.uint16)
    for n, (axis, side) in enumerate(NEIGHBOURS):
        behind = np.where(moved(isothermal, (axis, side)), np.uint16(ISOTHERMAL), np.uint16(INSULATED))
        bits |= np.where(moved(solid, (axis, side)), behind, np.uint16(0)) << np.uint16(2 * n)
    return np.where(inside, np.uint16(KEEPS), bits)


def opened(masks: Mapping[str, np.ndarray], cells: np.ndarray, axis: int, side: int) -> None:
    """Remove the flags of a body where fluid may pass between it and a cell, across the cell's face (axis, side).
    `cells` has a layer around.
    """
    own = moved(cells)
    _replace_heat_bits(masks, own, axis, side, 0)
    for along in (other for other in range(3) if other != axis):
        place = [other for other in range(3) if other != along].index(axis)
        bit = np.uint16(~(1 << 4 * along + 2 * place + (side > 0)) & 0xFFFF)
        for role in masks.keys() & {"faces", "edges"}:
            masks[role][own & moved(cells, (along, -1))] &= bit


def insulated(masks: Mapping[str, np.ndarray], cells: np.ndarray, axis: int, side: int) -> None:
    """Insulate a body from a cell across the cell's face (axis, side). `cells` has a layer around."""
    _replace_heat_bits(masks, moved(cells), axis, side, INSULATED)


def _replace_heat_bits(masks: Mapping[str, np.ndarray], own: np.ndarray, axis: int, side: int, kind: int) -> None:
    place = 2 * NEIGHBOURS.index((axis, side))
    for role in masks.keys() & {"T_faces", "scalar_faces"}:
        masks[role][own] &= np.uint16(~(3 << place) & 0xFFFF)
        masks[role][own] |= np.uint16(kind << place)


def owners(bodies: np.ndarray, axis: int) -> np.ndarray:
    """Return the body of each low face across an axis: the body of the cell, else of the previous cell, or 0.

    `bodies` has a body number per cell.
    """
    here = moved(bodies)
    return np.where(here != 0, here, moved(bodies, (axis, -1)))


def moved(values: np.ndarray, *steps: tuple[int, int]) -> np.ndarray:
    """Return the values some steps (axis, by) away, in all cells except the outermost layer."""
    shift = [0, 0, 0]
    for axis, by in steps:
        shift[axis] += by
    x, y, z = (slice(1 + by, size - 1 + by) for by, size in zip(shift, values.shape[::-1], strict=True))
    return values[z, y, x]
