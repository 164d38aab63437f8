"""Stability limits of pseudo-time steps by von Neumann analysis: waves of (p, u) on uniform Cartesian cells."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from taskflow.flow.models.artificial_compressibility.method import MethodOptions

ROUNDING = 1e-9
KAPPA = {"third": 1 / 3, "second": -1.0}
SHORT = np.pi * np.array([-3 / 4, -1 / 2, 1 / 2, 3 / 4, 1.0])  # phases from cell to cell, of waves of 2 to 4 cells
LONG = np.pi * np.array([-1 / 16, 1 / 16])
HALVINGS = 12


def through(method: MethodOptions, phase: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the flux differences of a wave: of the mean of both sides of faces, and of the dissipation."""
    e = np.exp(1j * phase)
    if method.flux == "central":
        return (e - 1 / e) / 2, method.fourth * (1 - 1 / e) * (e * e - 1 / e - 3 * (e - 1))
    k = KAPPA.get(method.reconstruction)
    share = (0.0, 0.0) if k is None else ((1 - k) / 4, (1 + k) / 4)
    low = 1 + share[0] * (1 - 1 / e) + share[1] * (e - 1)
    high = e - share[0] * (e * e - e) - share[1] * (e - 1)
    return (1 - 1 / e) * (low + high) / 2, -(1 - 1 / e) * (high - low) / 2


def growth(
    method: MethodOptions,
    phases: np.ndarray,
    u: tuple[float, ...],
    b: float,
    viscosity: float,
    spread: float | None = None,
) -> float:
    """Return the largest amplification in a step of waves with these phases along each direction, in a stream u on
    cells of size 1. `spread`: the largest of viscosity and diffusivities, which sets the step.
    """
    dims = len(u)
    waves = [axis.ravel() for axis in np.meshgrid(*[phases] * dims)]
    size, carried = 0.0, np.zeros((1, 1 + dims, 1 + dims), complex)
    damping = carried
    for axis, phase in enumerate(waves):
        A = np.zeros((1 + dims, 1 + dims))
        A[0, 1 + axis], A[1 + axis, 0] = b, 1.0
        A[1:, 1:] += u[axis] * np.eye(dims)
        A[1:, 1 + axis] += u
        fastest = abs(u[axis]) + np.sqrt(u[axis] ** 2 + b)
        speeds, vectors = np.linalg.eig(A)
        upwind = (vectors * abs(speeds)) @ np.linalg.inv(vectors)
        damped = fastest * np.diag([1.0] + [float(method.damping == "jst")] * dims)
        mean, more = through(method, phase)
        carried = carried + mean[:, None, None] * A
        damping = damping + more[:, None, None] * (damped if method.flux == "central" else upwind)
        damping = damping + viscosity * (2 - 2 * np.cos(phase))[:, None, None] * np.diag([0.0] + [1.0] * dims)
        size += fastest + 4 * (viscosity if spread is None else spread)
    state, mixed = np.eye(1 + dims) + 0j, damping * 0
    for fraction, fresh in zip(method.stages.fractions, method.stages.fresh, strict=True):
        mixed = fresh * (damping @ state) + (1 - fresh) * mixed
        state = np.eye(1 + dims) - fraction * method.courant / size * (carried @ state + mixed)
    return float(abs(np.linalg.eigvals(state)).max())


def longest(method: MethodOptions, dims: int, viscosity: float, spread: float) -> float:
    """Return the largest CFL number, at most the method's, without growth of short waves in a fluid at rest, for
    single-stage schemes also of long waves. Viscosity and `spread` are divided by the speed of sound and the cell
    size.

    In several stages long waves grow little or not at all, and boundaries may damp them.
    """
    phases = SHORT if len(method.stages.fractions) > 1 else np.concatenate([SHORT, LONG])

    def grows(cfl: float) -> bool:
        return growth(replace(method, cfl=cfl), phases, (0.0,) * dims, 1.0, viscosity, spread) > 1 + ROUNDING

    low, high = 0.0, method.courant
    if not grows(high):
        return high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if grows(middle) else (middle, high)
    return low
