"""What kernels know of immersed bodies: which faces they close, which they cut, and how far away the surface is there.

A face is closed if its centre is inside a body, and cut if it is open and a neighbour of the same kind closed. All
functions take arrays [z, y, x] with one more layer on every side, and give arrays without it; see
`taskflow.flow.obstacles.flags` for the bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from taskflow.flow.obstacles.flags import CLOSED, INSULATED, ITSELF, KEEPS, NEIGHBOURS, moved

BESIDE = 128  # the bit of a cell with a low face that is closed or cut
LEAST = 1e-6  # of a spacing: a surface closer than that is taken to be so far away


def cut(inside: np.ndarray, axis: int, side: int) -> np.ndarray:
    """Which points are outside of bodies, and the next one along an axis to this side inside of one."""
    return ~moved(inside) & moved(inside, (axis, side))


def bond(share: np.ndarray, step: np.ndarray, extent: np.ndarray) -> np.ndarray:
    """1 / (share step extent): what a value at a surface, this `share` of the `step` to the next point away, weighs in
    the Laplacian in a volume of this `extent`.
    """
    return 1 / (np.maximum(share, LEAST) * step * extent)


def stick(share: np.ndarray, step: np.ndarray, extent: np.ndarray) -> np.ndarray:
    """(1 / share - 1) / (step extent): what it weighs more than it would a whole step away."""
    return bond(share, step, extent) - 1 / (step * extent)


def closed_faces(closed: Sequence[np.ndarray]) -> Iterator[np.ndarray]:
    """For the six faces of cells, from the low ones across x, y and z: whether each is closed."""
    for axis, side in NEIGHBOURS:
        yield moved(closed[axis], (axis, 1)) if side > 0 else moved(closed[axis])


def solid_bits(closed: Sequence[np.ndarray], on_wall: Sequence[np.ndarray]) -> np.ndarray:
    """Which of the six faces are closed; ITSELF where all are, but for those on walls; BESIDE."""
    bits, alone = np.zeros(moved(closed[0]).shape, np.uint8), True
    for n, (face, wall) in enumerate(zip(closed_faces(closed), closed_faces(on_wall), strict=True)):
        bits |= np.where(face, np.uint8(1 << n), np.uint8(0))
        alone = alone & (face | wall)
    near = np.any([moved(each) | _beside(each) for each in closed], axis=0)
    return bits | np.where(alone, np.uint8(ITSELF), np.uint8(0)) | np.where(near, np.uint8(BESIDE), np.uint8(0))


def face_bits(closed: Sequence[np.ndarray]) -> np.ndarray:
    """Which low faces of cells are closed; nothing is said of their neighbours, which `stick` knows."""
    bits = np.zeros(moved(closed[0]).shape, np.uint16)
    for axis, each in enumerate(closed):
        bits |= np.where(moved(each), np.uint16(CLOSED << axis), np.uint16(0))
    return bits


def edge_bits(closed: Sequence[np.ndarray]) -> np.ndarray:
    """Which edges of the low faces of cells have a closed one among the four faces that meet there, in the order of
    `taskflow.flow.obstacles.flags.edge_bits`.
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


def heat_bits(closed: Sequence[np.ndarray], shut: np.ndarray, held: np.ndarray) -> np.ndarray:
    """INSULATED for faces that are closed, or behind which a cell is `held` at a temperature of its own: what comes
    from there is added later. KEEPS of cells that are held, or `shut`, without an open face.
    """
    inside = moved(held) | shut
    bits = np.zeros(inside.shape, np.uint16)
    for n, (face, (axis, side)) in enumerate(zip(closed_faces(closed), NEIGHBOURS, strict=True)):
        through = face | moved(held, (axis, side))
        bits |= np.where(through, np.uint16(INSULATED), np.uint16(0)) << np.uint16(2 * n)
    return np.where(inside, np.uint16(KEEPS), bits)


def owners(bodies: np.ndarray) -> np.ndarray:
    """The body that has a point, or else one that has a neighbour; 0 for none. `bodies` has a number for each point."""
    found = moved(bodies)
    for axis, side in NEIGHBOURS:
        found = np.where(found != 0, found, moved(bodies, (axis, side)))
    return found


def _beside(closed: np.ndarray) -> np.ndarray:
    """Which faces are cut."""
    return np.any([cut(closed, axis, side) for axis, side in NEIGHBOURS], axis=0)
