"""Operators on a uniform staggered grid (F. H. Harlow, J. E. Welch 1965, Phys. Fluids 8, 2182).

A velocity is a list [u, v, w] of `Shifted`, and h = (dx, dy, dz) are the spacings. u[i] lives on the low face of cell i
across x, between the cells i - 1 and i. v and w likewise.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.reference.shifted import Shifted

Vector = Sequence[float]
AXES = (0, 1, 2)


def mean(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(a + b) / 2, halfway between the locations of a and b."""
    return (a + b) / 2


def step(q: Shifted, tendency: np.ndarray, old: Shifted, dt: float, ratio: float) -> np.ndarray:
    """q_new = q + dt ((1 + r/2) H - r/2 H_old), wherever q lives: Adams-Bashforth of second order for steps that vary.

    `ratio` r is dt / dt_old. The first step, with r = 0, is Euler's.
    """
    if ratio == 0:
        return q() + dt * tendency
    return q() + dt * ((1 + ratio / 2) * tendency - ratio / 2 * old())


def momentum_tendency(velocity: Sequence[Shifted], a: int, h: Vector, viscosity: float) -> np.ndarray:
    """H_a = -div(q U) + viscosity Laplacian(q) of the component q = velocity[a], on the faces across a.

    The flux q U is a product of two means, in cells along a, otherwise on edges.
    """
    q = velocity[a]
    total = np.zeros_like(q())
    for d in AXES:
        carrier = velocity[d]
        if d == a:  # in the cells on both sides of the face
            high, low = mean(q(), q(1, a)) ** 2, mean(q(-1, a), q()) ** 2
        else:  # on the edges above and below the face
            high = mean(q(), q(1, d)) * mean(carrier(1, d), carrier(1, d, -1, a))
            low = mean(q(-1, d), q()) * mean(carrier(), carrier(-1, a))
        total += -(high - low) / h[d] + viscosity * (q(1, d) - 2 * q() + q(-1, d)) / h[d] ** 2
    return total


def buoyancy(T: Shifted, a: int, expansion: float, reference: float, gravity: Vector) -> np.ndarray:
    """-expansion (T - reference) gravity_a on the faces across a, T being the mean of the two cells beside each."""
    return -expansion * (mean(T(-1, a), T()) - reference) * gravity[a]


def transport_tendency(q: Shifted, velocity: Sequence[Shifted], h: Vector, diffusivity: float) -> np.ndarray:
    """-div(U q) + diffusivity Laplacian(q) in cells, q on a face being the mean of the two cells beside it."""
    total = np.zeros_like(q())
    for d in AXES:
        high, low = velocity[d](1, d) * mean(q(), q(1, d)), velocity[d]() * mean(q(-1, d), q())
        total += -(high - low) / h[d] + diffusivity * (q(1, d) - 2 * q() + q(-1, d)) / h[d] ** 2
    return total


def divergence(velocity: Sequence[Shifted], h: Vector) -> np.ndarray:
    """div(u) = (u[i+1] - u[i]) / dx + ... in cells."""
    return sum((velocity[d](1, d) - velocity[d]()) / h[d] for d in AXES)


def laplacian_with_walls(p: Shifted, h: Vector, cells: Sequence[int], walls: Sequence[bool]) -> np.ndarray:
    """Laplacian(p) in cells, as the sum of the fluxes through the six faces of each; nothing passes through a wall."""
    total = np.zeros_like(p())
    for d in AXES:
        index = np.arange(p.box.lo[d], p.box.hi[d]).reshape([-1 if n == 2 - d else 1 for n in range(3)])
        low = np.where(walls[d] & (index == 0), 0.0, p() - p(-1, d))
        high = np.where(walls[d] & (index == cells[d] - 1), 0.0, p(1, d) - p())
        total += (high - low) / h[d] ** 2
    return total


def jacobi(p: Shifted, rhs: Shifted, h: Vector, cells: Sequence[int], walls: Sequence[bool]) -> np.ndarray:
    """p + (Laplacian(p) - rhs) / diagonal in cells, the diagonal 2 (1/dx^2 + 1/dy^2 + 1/dz^2) being that of all cells,
    beside walls too.
    """
    diagonal = sum(2 / h[d] ** 2 for d in AXES)
    return p() + (laplacian_with_walls(p, h, cells, walls) - rhs()) / diagonal


def correct(q: Shifted, p: Shifted, a: int, h: Vector, dt: float) -> np.ndarray:
    """q - dt dp/da on the faces across a."""
    return q() - dt * (p() - p(-1, a)) / h[a]


def advective_rate(velocity: Sequence[Shifted], h: Vector) -> np.ndarray:
    """|u|/dx + |v|/dy + |w|/dz in cells, each with the larger of the cell's two faces."""
    terms = (np.maximum(abs(velocity[d]()), abs(velocity[d](1, d))) / h[d] for d in AXES)
    return sum(terms, np.zeros(()))


def kinetic_energy(velocity: Sequence[Shifted]) -> np.ndarray:
    """|u|^2 / 2 in cells, each square being the mean of those on the cell's two faces."""
    return sum((mean(velocity[d]() ** 2, velocity[d](1, d) ** 2) / 2 for d in AXES), np.zeros(()))


def largest_speed(velocity: Sequence[Shifted]) -> np.ndarray:
    """|u| in cells, the square root of twice the kinetic energy."""
    return np.sqrt(2 * kinetic_energy(velocity))


def heat_flux(T: Shifted, q: Shifted, a: int, h: Vector, diffusivity: float) -> np.ndarray:
    """q T - diffusivity dT/da on the faces across a, q being the velocity along a: heat per area and time, over density
    and heat capacity.
    """
    return q() * mean(T(-1, a), T()) - diffusivity * (T() - T(-1, a)) / h[a]
