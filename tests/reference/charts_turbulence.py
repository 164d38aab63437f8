"""Eddy viscosities on charts in NumPy. Arrays are as in `tests.reference.artificial_compressibility`."""

from __future__ import annotations

import numpy as np

from tests.reference import turbulence
from tests.reference.artificial_compressibility import Discretisation, at

CUBE = (1.0, 1.0, 1.0)


def gradient(velocity: np.ndarray, areas: np.ndarray, volumes: np.ndarray, how: Discretisation) -> np.ndarray:
    """g[i, j] = du_i / dx_j in the centres of cells, by Gauss' theorem for u less its value there, with the means of
    both sides on faces.
    """
    total = np.zeros((3, 3, *at(volumes).shape))
    for axis in how.axes:
        for sign, step, face in ((-1, (-1, axis), at(areas[axis])), (1, (1, axis), at(areas[axis], (1, axis)))):
            total += sign * ((at(velocity, step) - at(velocity)) / 2)[:, None] * face[None]
    return total / at(volumes)


def along(velocity: np.ndarray, how: Discretisation) -> np.ndarray:
    """d[i, a] = (u_i(+1) - u_i(-1)) / 2 along the lines of a grid."""
    d = np.zeros((3, 3, *at(velocity[0]).shape))
    for axis in how.axes:
        d[:, axis] = (at(velocity, (1, axis)) - at(velocity, (-1, axis))) / 2
    return d


def smagorinsky(g: np.ndarray, volumes: np.ndarray, constant: float) -> np.ndarray:
    """nu_t = (C V^(1/3))^2 (2 S_ij S_ij)^(1/2)."""
    return np.cbrt(volumes) ** 2 * turbulence.smagorinsky(g, CUBE, constant)


def wale(g: np.ndarray, volumes: np.ndarray, constant: float) -> np.ndarray:
    """nu_t = (C V^(1/3))^2 (Sd_ij Sd_ij)^(3/2) / ((S_ij S_ij)^(5/2) + (Sd_ij Sd_ij)^(5/4))."""
    return np.cbrt(volumes) ** 2 * turbulence.wale(g, CUBE, constant)


def vreman(g: np.ndarray, d: np.ndarray, constant: float) -> np.ndarray:
    """nu_t = C (B / (alpha_ij alpha_ij))^(1/2), alpha = g^T, beta_ij = sum of d_ia d_ja, B as that of
    `turbulence.vreman`: on upright cells d_ia = dx_a du_i / dx_a.
    """
    b = np.einsum("ia...,ja...->ij...", d, d)
    B = b[0, 0] * b[1, 1] - b[0, 1] ** 2 + b[0, 0] * b[2, 2] - b[0, 2] ** 2 + b[1, 1] * b[2, 2] - b[1, 2] ** 2
    return constant * np.sqrt(np.maximum(B, 0.0) / (g * g).sum((0, 1)))
