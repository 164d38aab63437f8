"""Eddy viscosities as their papers write them, and friction and conduction with what varies from cell to cell.

g[i, j] = du_i / dx_j is an array [i, j, z, y, x], and nu_t lives in cells.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.reference.operators import AXES, Vector, mean
from tests.reference.shifted import Shifted


def gradient(velocity: Sequence[Shifted], h: Vector) -> np.ndarray:
    """g[i, j] = du_i / dx_j in cells: for i = j from the cell's two faces, otherwise the mean of the central
    differences on both faces across i.
    """
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
    """nu_t = (C Delta)^2 (2 S_ij S_ij)^(1/2) in cells, S = (g + g^T) / 2, Delta = (dx dy dz)^(1/3).

    J. Smagorinsky 1963, Mon. Weather Rev. 91, 99.
    """
    S = (g + g.swapaxes(0, 1)) / 2
    return (constant * np.cbrt(np.prod(h))) ** 2 * np.sqrt(2 * (S * S).sum((0, 1)))


def wale(g: np.ndarray, h: Vector, constant: float) -> np.ndarray:
    """nu_t = (C Delta)^2 (Sd_ij Sd_ij)^(3/2) / ((S_ij S_ij)^(5/2) + (Sd_ij Sd_ij)^(5/4)) in cells, Sd being the
    traceless symmetric part of g^2.

    F. Nicoud, F. Ducros 1999, Flow Turbul. Combust. 62, 183, equations 10 and 13.
    """
    S = (g + g.swapaxes(0, 1)) / 2
    squared = np.einsum("ik...,kj...->ij...", g, g)
    Sd = (squared + squared.swapaxes(0, 1)) / 2
    Sd = Sd - np.einsum("ij,...->ij...", np.eye(3) / 3, np.einsum("kk...->...", squared))
    SS, SdSd = (S * S).sum((0, 1)), (Sd * Sd).sum((0, 1))
    return (constant * np.cbrt(np.prod(h))) ** 2 * SdSd**1.5 / (SS**2.5 + SdSd**1.25)


def vreman(g: np.ndarray, h: Vector, constant: float) -> np.ndarray:
    """nu_t = C (B / (alpha_ij alpha_ij))^(1/2) in cells, alpha = g^T, beta_ij = sum of dx_m^2 alpha_mi alpha_mj,
    B = beta_11 beta_22 - beta_12^2 + beta_11 beta_33 - beta_13^2 + beta_22 beta_33 - beta_23^2.

    A. W. Vreman 2004, Phys. Fluids 16, 3670, equations 5 to 8.
    """
    alpha = g.swapaxes(0, 1)
    b = np.einsum("m,mi...,mj...->ij...", np.square(h), alpha, alpha)
    B = b[0, 0] * b[1, 1] - b[0, 1] ** 2 + b[0, 0] * b[2, 2] - b[0, 2] ** 2 + b[1, 1] * b[2, 2] - b[1, 2] ** 2
    return constant * np.sqrt(np.maximum(B, 0.0) / (alpha * alpha).sum((0, 1)))


def amd(g: np.ndarray, h: Vector, constant: float) -> np.ndarray:
    """nu_t = C max(0, -(dx_k d_k u_i) (dx_k d_k u_j) S_ij) / (d_l u_m d_l u_m) in cells.

    W. Rozema, H. J. Bae, P. Moin, R. Verstappen 2015, Phys. Fluids 27, 085107, equation 23.
    """
    return minimum_dissipation(g, np.einsum("j,ij...->ij...", h, g), constant)


def minimum_dissipation(g: np.ndarray, d: np.ndarray, constant: float) -> np.ndarray:
    """The same of the changes d[i, k] of u_i over a cell along line k of a grid."""
    S = (g + g.swapaxes(0, 1)) / 2
    produced = -np.einsum("ik...,jk...,ij...->...", d, d, S)
    return constant * np.maximum(produced, 0.0) / (g * g).sum((0, 1))


def van_driest(y: np.ndarray, speed: np.ndarray, viscosity: float) -> np.ndarray:
    """D = 1 - exp(-y+ / 26) in cells at the distance y from a smooth wall, where the speed relative to it is `speed`.

    y+ solves u+ = y+, or beyond y+ = 11.81 u+ = 8.3 y+^(1/7), with y+ u+ = y speed / viscosity (H. Werner, H. Wengle
    1991, 8th Symp. Turbulent Shear Flows).
    """
    reynolds = y * speed / viscosity
    y_plus = np.where(reynolds < 11.81**2, np.sqrt(reynolds), (reynolds / 8.3) ** (7 / 8))
    return -np.expm1(-y_plus / 26)


def friction(velocity: Sequence[Shifted], nu_t: Shifted, a: int, h: Vector, viscosity: float) -> np.ndarray:
    """div(nu (grad u + grad u^T))_a on the faces across a, nu = viscosity + nu_t: that of cells for normal stresses,
    the mean of four cells on edges for shear stresses.
    """
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
    """div((diffusivity + nu_t / prandtl) grad T) in cells, nu_t on a face being the mean of the two cells beside it."""
    total = np.zeros_like(T())
    for d in AXES:
        high = (diffusivity + mean(nu_t(), nu_t(1, d)) / prandtl) * (T(1, d) - T())
        low = (diffusivity + mean(nu_t(-1, d), nu_t()) / prandtl) * (T() - T(-1, d))
        total += (high - low) / h[d] ** 2
    return total
