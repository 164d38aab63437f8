"""A cycle of multigrid in NumPy: arrays [z, y, x], a matrix per direction for every transfer.

`faces` are, per axis x, y, z, what lies beyond the low and the high end: "wall", "open" (p = 0 on the face) or
"periodic".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

MIRROR = {"wall": 1.0, "open": -1.0}
Faces = Sequence[tuple[str, str]]


def neighbours(p: np.ndarray, axis: int, ends: tuple[str, str]) -> tuple[np.ndarray, np.ndarray]:
    """The values on the low and on the high side of every cell."""
    q = np.moveaxis(p, 2 - axis, 0)
    before, behind = q[-1:], q[:1]
    if ends[0] != "periodic":
        before, behind = MIRROR[ends[0]] * q[:1], MIRROR[ends[1]] * q[-1:]
    low, high = np.concatenate([before, q[:-1]]), np.concatenate([q[1:], behind])
    return np.moveaxis(low, 0, 2 - axis), np.moveaxis(high, 0, 2 - axis)


def laplacian(p: np.ndarray, h: Sequence[float], faces: Faces) -> np.ndarray:
    """(p[i-1] - 2 p[i] + p[i+1]) / dx^2 + ... in cells."""
    total = np.zeros_like(p)
    for axis in range(3):
        low, high = neighbours(p, axis, faces[axis])
        total += (low - 2 * p + high) / h[axis] ** 2
    return total


def diagonal(shape: tuple[int, ...], h: Sequence[float], faces: Faces) -> np.ndarray:
    """Return what laplacian(p) has of each cell's own value, over minus that."""
    total = np.zeros(shape)
    for axis, ends in enumerate(faces):
        n = shape[2 - axis]
        own = np.full(n, 2.0)
        if ends[0] == "periodic":
            own -= 2 * (n == 1)
        else:
            own[0] -= MIRROR[ends[0]]
            own[-1] -= MIRROR[ends[1]]
        total += (own / h[axis] ** 2).reshape([-1 if a == 2 - axis else 1 for a in range(3)])
    return total


def relaxed(p: np.ndarray, rhs: np.ndarray, h: Sequence[float], faces: Faces, weight: float) -> np.ndarray:
    """p after Jacobi's sweep."""
    d = diagonal(p.shape, h, faces)
    return p + weight * np.where(d > 1e-12, 1, 0) / np.where(d > 1e-12, d, 1) * (laplacian(p, h, faces) - rhs)


def colour(shape: tuple[int, ...]) -> np.ndarray:
    """(i + j + k) mod 2 in cells."""
    return np.indices(shape).sum(axis=0) % 2


def interpolation(n: int, m: int, ends: tuple[str, str]) -> np.ndarray:
    """n x m: values of m cells, linearly to the centres of n cells of the same domain."""
    matrix = np.zeros((n, m))
    for i in range(n):
        x = (i + 0.5) * m / n - 0.5
        low = int(np.floor(x))
        for k, weight in ((low, low + 1 - x), (low + 1, x - low)):
            if 0 <= k < m:
                matrix[i, k] += weight
            elif ends[0] == "periodic":
                matrix[i, k % m] += weight
            elif k < 0:
                matrix[i, 0] += MIRROR[ends[0]] * weight
            else:
                matrix[i, m - 1] += MIRROR[ends[1]] * weight
    return matrix


def mean(n: int, m: int) -> np.ndarray:
    """m x n: means over m cells of what is constant in each of n cells of the same domain."""
    a, b = np.arange(m)[:, None] * n / m, np.arange(n)[None, :]
    return np.clip(np.minimum(a + n / m, b + 1) - np.maximum(a, b), 0, None) * m / n


def applied(matrices: Sequence[np.ndarray], p: np.ndarray) -> np.ndarray:
    """One matrix per axis x, y, z."""
    x, y, z = matrices
    return np.einsum("ai,bj,ck,kji->cba", x, y, z, p, optimize=True)


@dataclass
class MultigridReference:
    """V cycles with red-black Gauss-Seidel, or with weighted Jacobi, on levels of so many cells and such spacings."""

    levels: Sequence[tuple[Sequence[int], Sequence[float]]]
    faces: Faces
    weights: Sequence[float]
    before: int = 1
    after: int = 1
    colours: bool = True
    symmetric: bool = False

    def smoothed(self, p: np.ndarray, rhs: np.ndarray, n: int, after: bool) -> np.ndarray:
        """p after the sweeps before or after the correction on a level."""
        h, weight = self.levels[n][1], self.weights[n]
        for _ in range(self.after if after else self.before):
            if not self.colours:
                p = relaxed(p, rhs, h, self.faces, weight)
                continue
            for which in (1, 0) if after and self.symmetric else (0, 1):
                p = np.where(colour(p.shape) == which, relaxed(p, rhs, h, self.faces, weight), p)
        return p

    def cycle(self, rhs: np.ndarray, n: int = 0) -> np.ndarray:
        """An approximate solution of laplacian(p) = rhs, from 0."""
        cells, h = self.levels[n]
        p = np.zeros_like(rhs)
        if n == len(self.levels) - 1:
            return relaxed(p, rhs, h, self.faces, 1.0)
        coarse = self.levels[n + 1][0]
        p = self.smoothed(p, rhs, n, after=False)
        residual = applied([mean(a, b) for a, b in zip(cells, coarse, strict=True)], rhs - laplacian(p, h, self.faces))
        up = [interpolation(a, b, ends) for a, b, ends in zip(cells, coarse, self.faces, strict=True)]
        p = p + applied(up, self.cycle(residual, n + 1))
        return self.smoothed(p, rhs, n, after=True)
