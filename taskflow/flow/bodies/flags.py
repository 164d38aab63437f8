"""Flags of bodies for kernels, of every cell: found once from which cells are solid.

Each field of flags is read at the cell itself only, but for `solid` where two sweeps of Jacobi's iteration are done in
one pass: no other is ever exchanged between blocks, and that one once. All functions take `solid`, a mask [z, y, x] of
cells with one more layer on every side (beyond the domain nothing is solid), and give arrays of the cells without that
layer. Those of immersed bodies: `taskflow.flow.bodies.cuts`.
"""

from __future__ import annotations

import numpy as np

NEIGHBOURS = tuple((axis, side) for axis in range(3) for side in (-1, 1))  # west, east, south, north, below, above
ITSELF = 64  # the bit of a cell that is solid; bit n is that of its neighbour n
CLOSED = 1 << 12  # nothing crosses the low face across x; y and z follow
INSULATED, ISOTHERMAL = 1, 2  # what heat meets behind a face: nothing, or a body whose temperature is given
KEEPS = 1 << 12  # a solid cell keeps its temperature
STORED, HOLDS = 1 << 13, 1 << 14  # where bodies move: a cell without an open face, or with the temperature of a body


def solid_bits(solid: np.ndarray) -> np.ndarray:
    """Bits of solid cells among a cell and its neighbours: bit n of the neighbour n, ITSELF of the cell."""
    bits = np.where(moved(solid), np.uint8(ITSELF), np.uint8(0))
    for n, (axis, side) in enumerate(NEIGHBOURS):
        bits |= np.where(moved(solid, (axis, side)), np.uint8(1 << n), np.uint8(0))
    return bits


def face_bits(solid: np.ndarray) -> np.ndarray:
    """Return, of the low faces of a cell across x, y, z, in four bits each, which neighbours in its own plane are
    solid, between two solid cells: along the first of the other two axes the lower and the higher one, then along the
    second. CLOSED, moved on by the number of the axis, where it is one of a solid cell; then nothing else is said.
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
    """Bits of the edges of a cell's low faces across x, y, z that touch a solid cell, four each: along the first of
    the other two axes the lower and the higher edge, then along the second.
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
    """Bits of what heat meets behind the six faces of a cell, two each: 0, INSULATED, or ISOTHERMAL. `isothermal` is
    the mask of solid cells whose temperature is given. Of a solid cell only KEEPS.
    """
    inside = moved(solid)
    bits = np.zeros(inside.shape, np.uint16)
    for n, (axis, side) in enumerate(NEIGHBOURS):
        behind = np.where(moved(isothermal, (axis, side)), np.uint16(ISOTHERMAL), np.uint16(INSULATED))
        bits |= np.where(moved(solid, (axis, side)), behind, np.uint16(0)) << np.uint16(2 * n)
    return np.where(inside, np.uint16(KEEPS), bits)


def owners(bodies: np.ndarray, axis: int) -> np.ndarray:
    """The body to which the low face of a cell across an axis belongs, 0 for none: that of the cell, or else of the one
    before. `bodies` has a number for each cell.
    """
    here = moved(bodies)
    return np.where(here != 0, here, moved(bodies, (axis, -1)))


def moved(values: np.ndarray, *steps: tuple[int, int]) -> np.ndarray:
    """The values of cells some steps (axis, by) away, in all cells but the outermost layer."""
    shift = [0, 0, 0]
    for axis, by in steps:
        shift[axis] += by
    x, y, z = (slice(1 + by, size - 1 + by) for by, size in zip(shift, values.shape[::-1], strict=True))
    return values[z, y, x]
