"""Flags and coefficients of immersed bodies for kernels: closed faces, cut faces, distances of the surface.

A face is closed if its centre is inside a body, and cut if it is open and a neighbour of the same kind is closed.
Functions take arrays [z, y, x] with one more layer on every side, unless they state another number, and return arrays
without it. See `taskflow.flow.bodies.flags` for the bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from taskflow.flow.bodies.flags import HOLDS, INSULATED, ITSELF, KEEPS, NEIGHBOURS, STORED, moved

Faces = tuple[np.ndarray, ...]
"""Indices of some faces along z, y and x, without layers."""

BESIDE = 128  # bit of a cell with a low face at most two steps from a closed one: cut, or adjacent to a cut face
ON_FACE = 1e-3  # of a spacing: centres of faces and cells closer to a body at rest are inside
LEAST = 1e-6  # of a spacing: least distance of a surface
LEAST_OPEN = 0.25  # least open share of a face with an open centre, also in gaps between bodies: bounds `blockage`


def cut(inside: np.ndarray, axis: int, side: int) -> np.ndarray:
    """Mark the points outside of bodies whose next point along an axis to this side is inside a body."""
    return ~moved(inside) & moved(inside, (axis, side))


def conductance(share: np.ndarray, step: np.ndarray, extent: np.ndarray) -> np.ndarray:
    """Return 1 / (share step extent), the weight of a surface value in the Laplacian in a volume of this `extent`.

    The surface is at this `share` of the `step` to the next point.
    """
    return 1 / (np.maximum(share, LEAST) * step * extent)


def friction(share: np.ndarray, step: np.ndarray, extent: np.ndarray) -> np.ndarray:
    """Return (1 / share - 1) / (step extent), the weight in excess of a value at the full step."""
    return conductance(share, step, extent) - 1 / (step * extent)


def blockage(open_share: np.ndarray) -> np.ndarray:
    """Return 1 / open_share - 1: the difference between the velocity at the face centre and the stored one, over the
    latter.
    """
    return 1 / np.maximum(open_share, LEAST_OPEN) - 1


def covered_share(inside: np.ndarray, edges: Sequence[np.ndarray], axis: int, faces: Faces) -> np.ndarray:
    """Return the share of the area of some low faces across an axis inside bodies bounded by straight lines.

    `inside`: True if the low corner of a cell is inside. `edges`, by axis: the covered share of the edge from there to
    the next corner. If two opposite corners are inside, the centre of the face is not.
    """
    a, b = (other for other in range(3) if other != axis)
    low, right, left, high = (_beside(inside, faces, *steps) for steps in ((), (a,), (b,), (a, b)))
    bottom, top = _beside(edges[a], faces), _beside(edges[a], faces, b)
    west, east = _beside(edges[b], faces), _beside(edges[b], faces, a)
    along_a, along_b = bottom + top, west + east
    corners = low.astype(np.uint8) + right + left + high
    whole = [
        (corners == 0, np.zeros(corners.shape)),
        (corners == 1, along_a * along_b / 2),
        (corners == 3, 1 - (2 - along_a) * (2 - along_b) / 2),
        (corners == 4, np.ones(corners.shape)),
        (low & high, (bottom * west + top * east) / 2),
        (right & left, (bottom * east + top * west) / 2),
        (low == right, along_b / 2),
    ]
    return np.asarray(np.select([case for case, _ in whole], [share for _, share in whole], along_a / 2))


def _beside(values: np.ndarray, cells: Faces, *along: int) -> np.ndarray:
    """Return the values of some cells, or of the next cells along some axes, from an array with one more layer."""
    z, y, x = (at + 1 + (2 - n in along) for n, at in enumerate(cells))
    return np.asarray(values[z, y, x])


def near(closed: np.ndarray) -> np.ndarray:
    """Mark points at most two steps from a `closed` point. Takes two more layers."""
    for _ in range(2):
        closed = moved(closed) | np.any([moved(closed, step) for step in NEIGHBOURS], axis=0)
    return closed


def closed_faces(closed: Sequence[np.ndarray]) -> Iterator[np.ndarray]:
    """Yield masks of closed faces for the six faces of cells, low before high, across x, y and z."""
    for axis, side in NEIGHBOURS:
        yield moved(closed[axis], (axis, 1)) if side > 0 else moved(closed[axis])


def solid_bits(closed: Sequence[np.ndarray], on_wall: Sequence[np.ndarray], beside: np.ndarray) -> np.ndarray:
    """Return bits of the six closed faces, ITSELF if all faces except those on walls are closed, and BESIDE from
    `beside`.
    """
    bits, alone = np.zeros(beside.shape, np.uint8), True
    for n, (face, wall) in enumerate(zip(closed_faces(closed), closed_faces(on_wall), strict=True)):
        bits |= np.where(face, np.uint8(1 << n), np.uint8(0))
        alone = alone & (face | wall)
    return bits | np.where(alone, np.uint8(ITSELF), np.uint8(0)) | np.where(beside, np.uint8(BESIDE), np.uint8(0))


def edge_bits(closed: Sequence[np.ndarray]) -> np.ndarray:
    """Return bits of the edges of low faces where at least one of the four adjoining faces is closed.

    The order is the same as in `taskflow.flow.bodies.flags.edge_bits`.
    """
    bits = np.zeros(moved(closed[0]).shape, np.uint16)
    for axis in range(3):
        for place, along in enumerate(other for other in range(3) if other != axis):
            for high, side in enumerate((-1, 1)):
                behind = (along, high)
                beside = moved(closed[along], behind) | moved(closed[along], behind, (axis, -1))
                touched = moved(closed[axis]) | moved(closed[axis], (along, side)) | beside
                bits |= touched.astype(np.uint16) << np.uint16(4 * axis + 2 * place + high)
    return bits


def heat_bits(closed: Sequence[np.ndarray], shut: np.ndarray, isothermal: np.ndarray) -> np.ndarray:
    """Return INSULATED for faces that are closed or adjacent to an `isothermal` cell, whose heat is added later.

    Cells that are isothermal or `shut`, without an open face, have KEEPS.
    """
    inside = moved(isothermal) | shut
    bits = np.zeros(inside.shape, np.uint16)
    for n, (face, (axis, side)) in enumerate(zip(closed_faces(closed), NEIGHBOURS, strict=True)):
        through = face | moved(isothermal, (axis, side))
        bits |= np.where(through, np.uint16(INSULATED), np.uint16(0)) << np.uint16(2 * n)
    return np.where(inside, np.uint16(KEEPS), bits)


def moving_heat_bits(closed: Sequence[np.ndarray], shut: np.ndarray, isothermal: np.ndarray) -> np.ndarray:
    """Return `heat_bits` for moving bodies: in cells inside, all faces are INSULATED, with HOLDS if isothermal, else
    STORED.
    """
    bits = heat_bits(closed, shut, isothermal)
    around = np.uint16(sum(INSULATED << 2 * n for n in range(len(NEIGHBOURS))))
    inside = np.where(moved(isothermal), np.uint16(HOLDS), np.uint16(STORED)) | around
    return np.where(bits & KEEPS, inside, bits).astype(np.uint16)


def owners(bodies: np.ndarray, layers: int = 1) -> np.ndarray:
    """Return the body at each point, or else a body at most `layers` steps away, or 0.

    `bodies` has a body number per point and `layers` more layers.
    """
    for _ in range(layers):
        numbers = moved(bodies)
        for axis, side in NEIGHBOURS:
            numbers = np.where(numbers != 0, numbers, moved(bodies, (axis, side)))
        bodies = numbers
    return bodies
