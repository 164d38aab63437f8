"""Two phases in NumPy: arrays [z, y, x] of the cells with three layers around them, those of the grid, or
mirrored by walls.

`at(q, 1, 0)` is q in the next cell along x; all results are those of the cells without layers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from taskflow.flow.reference.bounded import carried_value
from taskflow.flow.reference.shifted import Shifted
from taskflow.runtime.regions import triple

LAYERS = 3
Flags = tuple[bool, bool, bool]


def surrounded(q: np.ndarray, walls: Flags) -> np.ndarray:
    """The values of cells, mirrored beyond walls and repeated along other directions, in three more layers."""
    for axis, wall in enumerate(walls):
        width = [(0, 0)] * 3
        width[2 - axis] = (LAYERS, LAYERS)
        q = np.pad(q, width, mode="symmetric" if wall else "wrap")
    return q


def at(q: np.ndarray, *steps: tuple[int, int]) -> np.ndarray:
    """q some steps (by, axis) away."""
    shift = [0, 0, 0]
    for by, axis in steps:
        shift[2 - axis] += by
    return q[tuple(slice(LAYERS + by, size - LAYERS + by) for by, size in zip(shift, q.shape, strict=True))]


def weno(v: Sequence[np.ndarray]) -> np.ndarray:
    """The derivative from five differences, of which the third is beside the point, upwind (Jiang & Peng)."""
    a, b, c, d, e = v
    candidates = a / 3 - 7 * b / 6 + 11 * c / 6, -b / 6 + 5 * c / 6 + d / 3, c / 3 + 5 * d / 6 - e / 6
    rough = (
        13 / 12 * (a - 2 * b + c) ** 2 + (a - 4 * b + 3 * c) ** 2 / 4,
        13 / 12 * (b - 2 * c + d) ** 2 + (b - d) ** 2 / 4,
        13 / 12 * (c - 2 * d + e) ** 2 + (3 * c - 4 * d + e) ** 2 / 4,
    )
    least = 1e-6 * np.max([w**2 for w in v], axis=0) + (1e-99 if a.dtype == np.float64 else 1e-18)
    weights = [share / (s + least) ** 2 for share, s in zip((0.1, 0.6, 0.3), rough, strict=True)]
    return sum(w * q for w, q in zip(weights, candidates, strict=True)) / sum(weights)


def slopes(q: np.ndarray, axis: int, h: float, near: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """dq/dx from the low and from the high side: of fifth order where it is `near`, else of first."""
    d = [(at(q, (n + 1, axis)) - at(q, (n, axis))) / h for n in range(-3, 3)]
    low, high = weno(d[:5]), weno(d[:0:-1])
    return np.where(near, low, d[2]), np.where(near, high, d[3])


def advected(q: np.ndarray, velocity: Sequence[np.ndarray], h: Sequence[float], dt: float, band: float) -> np.ndarray:
    """q - dt u . grad(q), with the velocity in the centres of cells."""
    rate, near = np.zeros_like(at(q)), np.abs(at(q)) < band
    for axis, u in enumerate(velocity):
        low, high = slopes(q, axis, h[axis], near)
        rate += u * np.where(u > 0, low, high)
    return at(q) - dt * rate


def nearer_to_distance(d: np.ndarray, phi: np.ndarray, h: Sequence[float], tau: float, band: float) -> np.ndarray:
    """d - tau S (|grad d| - 1), S = phi / sqrt(phi^2 + sum of (h dphi/dx)^2), with Godunov's |grad d|."""
    near, positive, steep = np.abs(at(d)) < band, at(phi) > 0, 0.0
    for axis in range(3):
        low, high = slopes(d, axis, h[axis], near)
        outward = np.maximum(np.maximum(low, 0) ** 2, np.minimum(high, 0) ** 2)
        inward = np.maximum(np.minimum(low, 0) ** 2, np.maximum(high, 0) ** 2)
        steep = steep + np.where(positive, outward, inward)
    across = sum(((at(phi, (1, a)) - at(phi, (-1, a))) / 2) ** 2 for a in range(3))
    size = np.sqrt(at(phi) ** 2 + across)
    sign = np.divide(at(phi), size, out=np.zeros_like(size), where=size > 0)
    return at(d) - tau * sign * (np.sqrt(steep) - 1)


def step(x: np.ndarray) -> np.ndarray:
    """H(x) = (1 + x + sin(pi x) / pi) / 2 for |x| < 1."""
    inside = (1 + x + np.sin(np.pi * x) / np.pi) / 2
    return np.where(np.abs(x) < 1, inside, np.where(x < 0, 0.0, 1.0))


def step_slope(x: np.ndarray) -> np.ndarray:
    """H'(x)."""
    return np.where(np.abs(x) < 1, (1 + np.cos(np.pi * x)) / 2, 0.0)


def gradient(phi: np.ndarray, h: Sequence[float]) -> list[np.ndarray]:
    """Central differences of second order."""
    return [(at(phi, (1, a)) - at(phi, (-1, a))) / (2 * h[a]) for a in range(3)]


def curvature(phi: np.ndarray, h: Sequence[float], band: float, most: float) -> np.ndarray:
    """-div(grad(phi) / |grad(phi)|), 0 beyond the band."""
    g = gradient(phi, h)
    total, size = np.zeros_like(g[0]), np.sum([slope**2 for slope in g], axis=0)
    for a in range(3):
        second = (at(phi, (1, a)) - 2 * at(phi) + at(phi, (-1, a))) / h[a] ** 2
        total += second * (size - g[a] ** 2)
        for b in range(3):
            if a != b:
                corners = [s * t * at(phi, (s, a), (t, b)) for s in (1, -1) for t in (1, -1)]
                total -= g[a] * g[b] * sum(corners) / (4 * h[a] * h[b])
    kappa = np.divide(-total, size**1.5, out=np.zeros_like(total), where=size > 0)
    return np.where(np.abs(at(phi)) < band, np.clip(kappa, -most, most), 0.0)


def curvature_at_foot(kappa: np.ndarray, phi: np.ndarray, h: Sequence[float], band: float) -> np.ndarray:
    """kappa at x - phi grad(phi) / |grad(phi)|^2, at most two cells away, linear between centres; 0 beyond the band."""
    g = gradient(phi, h)
    size = np.sum([slope**2 for slope in g], axis=0)
    way = [np.divide(-at(phi) * each, size * h[a], out=np.zeros_like(size), where=size > 0) for a, each in enumerate(g)]
    way = [np.clip(each, -2, 2) for each in way]
    below = [np.minimum(np.floor(each), 1).astype(int) for each in way]
    index, value = np.indices(size.shape)[::-1], np.zeros_like(size)
    for corner in np.ndindex(2, 2, 2):
        weight = np.ones_like(size)
        for a, n in enumerate(corner):
            part = way[a] - below[a]
            weight = weight * (part if n else 1 - part)
        z, y, x = (index[a] + LAYERS + below[a] + corner[a] for a in (2, 1, 0))
        value += weight * kappa[z, y, x]
    return np.where(np.abs(at(phi)) < band, value, 0.0)


def viscosity(f: np.ndarray, mu_1: float, mu_2: float, *, arithmetic: bool) -> np.ndarray:
    """1/mu = f/mu_1 + (1-f)/mu_2, or the arithmetic mean."""
    f = np.clip(f, 0, 1)
    if arithmetic:
        return f * mu_1 + (1 - f) * mu_2
    across = f * mu_2 + (1 - f) * mu_1
    return np.divide(mu_1 * mu_2, across, out=np.zeros_like(across), where=across > 0)


def mass_flux(
    f: Shifted, speed: np.ndarray, axis: int, densities: tuple[float, float], cells: int, wall: bool
) -> np.ndarray:
    """w rho on low faces, rho from the upwind side with Koren's limiter."""
    rho_1, rho_2 = densities
    return speed * (rho_2 + (rho_1 - rho_2) * carried_value(f, speed, axis, cells, wall))


def along(q: Shifted, mass: np.ndarray, axis: int, n: int, cells: int, wall: bool) -> np.ndarray:
    """q in the cell before (n = 0) or behind (1) a face across its own axis, from the upwind side; on the line between
    both faces of a cell where it comes from a boundary.
    """
    cell = np.arange(q.box.lo[axis], q.box.hi[axis]).reshape([-1 if d == 2 - axis else 1 for d in range(3)]) + n - 1
    low, high = q(n - 1, axis), q(n, axis)
    # A face across x lies between two faces as a face of cells does between two cells.
    there = Shifted(q.array, q.box.shift(triple(n if d == axis else 0 for d in range(3))), q.origin)
    bent = carried_value(there, mass, axis, 0, False)
    at_end = np.where(mass > 0, cell == 0, cell == cells - 1) & wall
    return np.where(at_end, (low + high) / 2, bent)


def density_on_face(f: Shifted, axis: int, phases: Any) -> np.ndarray:
    """The plain mean of both cells beside a face across an axis."""
    share = (f(-1, axis) + f()) / 2
    return phases.density_2 + (phases.density_1 - phases.density_2) * share


def friction(velocity: Sequence[Shifted], f: Shifted, a: int, h: Sequence[float], phases: Any) -> np.ndarray:
    """div(mu (grad u + grad u^T)) on faces across axis a."""

    def mu(share: np.ndarray) -> np.ndarray:
        return viscosity(share, phases.viscosity_1, phases.viscosity_2, arithmetic=phases.arithmetic)

    u = velocity[a]
    stress = np.zeros_like(u())
    for b, v in enumerate(velocity):
        for n, sign in ((0, -1), (1, 1)):
            if a == b:
                sheared = 2 * mu(f(n - 1, a)) * (u(n, a) - u(n - 1, a)) / h[a]
            else:
                edge = (f(n, b) + f(n - 1, b) + f(n, b, -1, a) + f(n - 1, b, -1, a)) / 4
                sheared = mu(edge) * ((u(n, b) - u(n - 1, b)) / h[b] + (v(n, b) - v(n, b, -1, a)) / h[a])
            stress = stress + sign * sheared / h[b]
    return stress


def tension(kappa: Shifted, f_new: Shifted, a: int, h: Sequence[float], phases: Any) -> np.ndarray:
    """sigma kappa df/dx on faces across axis a, kappa being that of cells that have one."""
    low, high = kappa(-1, a), kappa()
    mean = np.where((low != 0) & (high != 0), (low + high) / 2, low + high)
    return phases.surface_tension * mean * (f_new() - f_new(-1, a)) / h[a]


def momentum(
    velocity: Sequence[Shifted], before: Sequence[Shifted], mass: Sequence[Shifted], f: Shifted, f_new: Shifted,
    kappa: Shifted, earlier: Sequence[Shifted], h: Sequence[float], dt: float, ratio: float, cells: Sequence[int],
    walls: Flags, phases: Any,
) -> tuple[list[np.ndarray], list[np.ndarray]]:  # fmt: skip
    """The velocities without the pressure, and the friction, of all faces, as if none lay on a wall; `phases` has the
    densities and viscosities of both, the surface tension, gravity, and whether viscosities are arithmetic means.
    """
    middle = [
        Shifted(u.array + ratio / 2 * (u.array - old.array), u.box, u.origin)
        for u, old in zip(velocity, before, strict=True)
    ]
    velocities: list[np.ndarray] = []
    frictions: list[np.ndarray] = []
    for a in range(3):
        u = velocity[a]
        net_mass, net_momentum = np.zeros_like(u()), np.zeros_like(u())
        for b in range(3):
            for n, sign in ((0, -1), (1, 1)):
                if a == b:
                    m = (mass[a](n - 1, a) + mass[a](n, a)) / 2
                    value = along(middle[a], m, a, n, cells[a], walls[a])
                else:
                    m = (mass[b](n, b, -1, a) + mass[b](n, b)) / 2
                    box = u.box.shift(triple(n if d == b else 0 for d in range(3)))
                    value = carried_value(Shifted(middle[a].array, box, u.origin), m, b, cells[b], walls[b])
                net_mass, net_momentum = net_mass + sign * m / h[b], net_momentum + sign * m * value / h[b]
        rho, rho_new = density_on_face(f, a, phases), density_on_face(f_new, a, phases)
        stress = friction(velocity, f, a, h, phases)
        carried = (rho * u() - dt * net_momentum) / (rho - dt * net_mass)
        force = (1 + ratio / 2) * stress - ratio / 2 * earlier[a]() + tension(kappa, f_new, a, h, phases)
        velocities.append(carried + dt * (force / rho_new + phases.gravity[a]))
        frictions.append(stress)
    return velocities, frictions


def upwind_slope(q: Shifted, speed: np.ndarray, b: int, h: float, known: tuple[int, int] | None) -> np.ndarray:
    """dq/db by WENO5 from the side that the flow comes from; `known` are the places of the first and of the last
    difference of neighbours, that with the next one along b, which beyond them repeat.
    """
    axis, place = 2 - b, np.arange(q.box.lo[b], q.box.hi[b])
    z, y, _, x = q.box.slices(q.origin)
    rows = tuple(slice(None) if n == axis else inside for n, inside in enumerate((z, y, x)))
    changes = np.diff(q.array.astype(np.float64), axis=axis)[rows]
    places = (place + n if known is None else np.clip(place + n, *known) for n in range(-3, 3))
    d = [np.take(changes, at - q.origin[b], axis=axis) / h for at in places]
    return np.where(speed > 0, weno(d[:5]), weno(d[:0:-1]))


def momentum_by_weno(
    velocity: Sequence[Shifted], f: Shifted, f_new: Shifted, kappa: Shifted, earlier: Sequence[Shifted],
    h: Sequence[float], dt: float, ratio: float, cells: Sequence[int], walls: Flags, phases: Any,
) -> tuple[list[np.ndarray], list[np.ndarray]]:  # fmt: skip
    """The velocities without the pressure in velocity form, and H = -(u . grad) u + friction / rho, as `momentum`."""
    velocities: list[np.ndarray] = []
    tendencies: list[np.ndarray] = []
    for a, u in enumerate(velocity):
        tendency = friction(velocity, f, a, h, phases) / density_on_face(f, a, phases)
        for b, v in enumerate(velocity):
            speed = u() if a == b else (v(-1, a) + v() + v(-1, a, 1, b) + v(1, b)) / 4
            known = (0 if a == b else -1, cells[b] - 1) if walls[b] else None
            tendency = tendency - speed * upwind_slope(u, speed, b, h[b], known)
        force = tension(kappa, f_new, a, h, phases) / density_on_face(f_new, a, phases) + phases.gravity[a]
        velocities.append(u() + dt * ((1 + ratio / 2) * tendency - ratio / 2 * earlier[a]() + force))
        tendencies.append(tendency)
    return velocities, tendencies
