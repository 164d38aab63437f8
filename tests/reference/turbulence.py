"""Eddy viscosities in NumPy, as the papers write them, and what varies with them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.reference.operators import AXES, Vector, mean
from tests.reference.shifted import Shifted


def gradient(velocity: Sequence[Shifted], h: Vector) -> np.ndarray:
    """g[i, j] = du_i / dx_j in the middle of cells: the mean of central differences on both faces across i."""
    g = np.zeros((3, 3, *velocity[0]().shape))
    for i in AXES:
        for j in AXES:
            if i == j:
                g[i, j] = (velocity[i](1, i) - velocity[i]()) / h[i]
            else:
                low = (velocity[i](1, j) - velocity[i](-1, j)) / (2 * h[j])
                high = (velocity[i](1, i, 1, j) - velocity[i](1, i, -1, j)) / (2 * h[j])
                g[i, j] = mean(low, high)
    return g


def smagorinsky(g: np.ndarray, h: Vector, constant: float) -> np.ndarray:
    """(C Delta)^2 |S|"""
    S = (g + g.swapaxes(0, 1)) / 2
    return (constant * np.cbrt(np.prod(h))) ** 2 * np.sqrt(2 * (S * S).sum((0, 1)))


def wale(g: np.ndarray, h: Vector, constant: float) -> np.ndarray:
    """Nicoud & Ducros (1999), equations 10 and 13."""
    S = (g + g.swapaxes(0, 1)) / 2
    squared = np.einsum("ik...,kj...->ij...", g, g)
    Sd = (squared + squared.swapaxes(0, 1)) / 2
    Sd = Sd - np.einsum("ij,...->ij...", np.eye(3) / 3, np.einsum("kk...->...", squared))
    SS, SdSd = (S * S).sum((0, 1)), (Sd * Sd).sum((0, 1))
    return (constant * np.cbrt(np.prod(h))) ** 2 * SdSd**1.5 / (SS**2.5 + SdSd**1.25)


def vreman(g: np.ndarray, h: Vector, constant: float) -> np.ndarray:
    """Vreman (2004), equations 5 to 8."""
    alpha = g.swapaxes(0, 1)
    b = np.einsum("m,mi...,mj...->ij...", np.square(h), alpha, alpha)
    B = b[0, 0] * b[1, 1] - b[0, 1] ** 2 + b[0, 0] * b[2, 2] - b[0, 2] ** 2 + b[1, 1] * b[2, 2] - b[1, 2] ** 2
    return constant * np.sqrt(np.maximum(B, 0.0) / (alpha * alpha).sum((0, 1)))


def van_driest(y: np.ndarray, speed: np.ndarray, viscosity: float) -> np.ndarray:
    """1 - exp(-y+ / 26), y+ from the law of the wall of Werner & Wengle (1991)."""
    reynolds = y * speed / viscosity
    y_plus = np.where(reynolds < 11.81**2, np.sqrt(reynolds), (reynolds / 8.3) ** (7 / 8))
    return -np.expm1(-y_plus / 26)


def friction(velocity: Sequence[Shifted], nu_t: Shifted, a: int, h: Vector, viscosity: float) -> np.ndarray:
    """div(nu (grad u + grad u^T)) of the component a on its faces, nu = viscosity + nu_t."""
    q = velocity[a]
    total = 2 * (viscosity + nu_t()) * (q(1, a) - q()) / h[a] ** 2
    total -= 2 * (viscosity + nu_t(-1, a)) * (q() - q(-1, a)) / h[a] ** 2
    for d in AXES:
        if d != a:
            for n, sign in ((1, 1), (0, -1)):  # the edges above and below the face
                around = mean(mean(nu_t(n, d), nu_t(n - 1, d)), mean(nu_t(n, d, -1, a), nu_t(n - 1, d, -1, a)))
                r = velocity[d]
                shear = (q(n, d) - q(n - 1, d)) / h[d] + (r(n, d) - r(n, d, -1, a)) / h[a]
                total += sign * (viscosity + around) * shear / h[d]
    return total


def conduction(T: Shifted, nu_t: Shifted, h: Vector, diffusivity: float, prandtl: float) -> np.ndarray:
    """div((diffusivity + nu_t / prandtl) grad T)"""
    total = np.zeros_like(T())
    for d in AXES:
        high = (diffusivity + mean(nu_t(), nu_t(1, d)) / prandtl) * (T(1, d) - T())
        low = (diffusivity + mean(nu_t(-1, d), nu_t()) / prandtl) * (T() - T(-1, d))
        total += (high - low) / h[d] ** 2
    return total
