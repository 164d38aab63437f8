"""div(b grad p) as a sparse matrix, and coefficients to try it with: b on faces is an array [z, y, x] per axis x, y, z,
one longer than the cells along its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.csgraph import connected_components

Faces = Sequence[tuple[str, str]]


def on_faces(b: Callable, cells: Sequence[int], faces: Faces) -> list[np.ndarray]:
    """b(x, y, z) in a unit cube, on the faces of its cells."""
    result = []
    for axis in range(3):
        places = [np.arange(n + 1) / n if a == axis else (np.arange(n) + 0.5) / n for a, n in enumerate(cells)]
        x, y, z = np.meshgrid(*places, indexing="ij")
        values = np.array(np.broadcast_to(b(x, y, z), x.shape), float)
        if faces[axis][0] == "periodic":
            values = np.moveaxis(values, axis, 0)
            values[-1] = values[0]
            values = np.moveaxis(values, 0, axis)
        result.append(np.ascontiguousarray(values.T))
    return result


def between(solid: np.ndarray, faces: Faces) -> list[np.ndarray]:
    """1 on faces between two fluid cells, or between one and the domain's end, and 0 on those of solid ones."""
    result = []
    for axis in range(3):
        fluid = np.moveaxis(~solid, 2 - axis, 0)
        ends = fluid[:1], fluid[-1:]
        if faces[axis][0] == "periodic":
            ends = 2 * (ends[0] & ends[1],)
        values = np.concatenate([ends[0], fluid[1:] & fluid[:-1], ends[1]])
        result.append(np.ascontiguousarray(np.moveaxis(values, 0, 2 - axis), float))
    return result


def boxes(cells: Sequence[int], count: int, seed: int = 0, thin: bool = False) -> np.ndarray:
    """Which cells lie in one of some boxes at random; `thin` ones are plates of one cell."""
    random, solid = np.random.default_rng(seed), np.zeros(cells[::-1], bool)
    for _ in range(count):
        size = [int(random.integers(1, max(2, n // 5) + 1)) for n in cells]
        if thin:
            size[int(random.integers(3))] = 1
        x, y, z = (slice(at := int(random.integers(n - s + 1)), at + s) for n, s in zip(cells, size, strict=True))
        solid[z, y, x] = True
    return solid


def operator(b: Sequence[np.ndarray], spacing: Sequence[float], faces: Faces) -> sparse.csr_matrix:
    """The matrix of p -> div(b grad p)."""
    shape = b[0].shape[0], b[0].shape[1], b[0].shape[2] - 1
    numbers = np.arange(np.prod(shape)).reshape(shape)
    total = sparse.csr_matrix((numbers.size, numbers.size))
    for axis, (values, h) in enumerate(zip(b, spacing, strict=True)):
        q, n = np.moveaxis(values, 2 - axis, 0) / h**2, np.moveaxis(numbers, 2 - axis, 0)
        low, high, through = n[:-1].ravel(), n[1:].ravel(), q[1:-1].ravel()
        if faces[axis][0] == "periodic" and len(n) > 1:
            low, high = np.append(low, n[-1]), np.append(high, n[0])
            through = np.append(through, q[0])
        for one, other in ((low, high), (high, low)):
            total += sparse.csr_matrix((through, (one, other)), total.shape)
            total -= sparse.csr_matrix((through, (one, one)), total.shape)
        for end, kind in enumerate(faces[axis]):
            if kind == "open":
                one = n[-end].ravel()  # 0 or the last
                total -= sparse.csr_matrix((2 * q[-end].ravel(), (one, one)), total.shape)
    return total.tocsr()


def parts(matrix: sparse.csr_matrix) -> tuple[np.ndarray, int]:
    """To which part of the fluid each cell belongs, -1 for cells without an open face; and how many parts there are."""
    _, actual = connected_components(matrix, directed=False)
    sought = matrix.diagonal() < 0
    names, numbers = np.unique(actual[sought], return_inverse=True)
    result = np.full(len(actual), -1)
    result[sought] = numbers
    return result, len(names)


def solvable(matrix: sparse.csr_matrix, seed: int = 0) -> np.ndarray:
    """Random numbers whose sum is 0 in each part that has no face with p = 0; 0 in cells without an equation."""
    rhs, (part, count) = np.random.default_rng(seed).uniform(-1, 1, matrix.shape[0]), parts(matrix)
    leaks = abs(matrix @ np.ones(len(rhs)))
    for n in range(count):
        if leaks[part == n].max() <= 1e-10 * abs(matrix.diagonal()).max():
            rhs[part == n] -= rhs[part == n].mean()
    rhs[part < 0] = 0
    return rhs
