"""Two phases in NumPy: arrays [z, y, x] of the cells with three layers around them, those of the grid, or
mirrored by walls.

`at(q, 1, 0)` is q in the next cell along x; all results are those of the cells without layers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from taskflow.runtime.regions import triple
from tests.reference.bounded import carried_value
from tests.reference.shifted import Shifted
from tests.reference.weno import weno

LAYERS = 3
Flags = tuple[bool, bool, bool]
SolidFaces = Mapping[tuple[int, int], np.ndarray]


def surrounded(q: np.ndarray, walls: Flags, *, leaning: bool = False) -> np.ndarray:
    """The values of cells in three more layers: repeated along directions without walls, mirrored beyond walls, or on
    the line through the last two cells.
    """
    for axis, wall in enumerate(walls):
        width = [(0, 0)] * 3
        width[2 - axis] = (LAYERS, LAYERS)
        if wall and leaning and q.shape[2 - axis] > 1:
            q = _on_lines(q, 2 - axis)
        else:
            q = np.pad(q, width, mode="symmetric" if wall else "wrap")
    return q


def _on_lines(q: np.ndarray, axis: int) -> np.ndarray:
    """Three more layers at both ends of an axis, on the line through the last two."""
    low, next_low, next_high, high = (q.take([n], axis) for n in (0, 1, -2, -1))
    before = [low + n * (low - next_low) for n in range(LAYERS, 0, -1)]
    behind = [high + n * (high - next_high) for n in range(1, LAYERS + 1)]
    return np.concatenate([*before, q, *behind], axis)


def at(q: np.ndarray, *steps: tuple[int, int]) -> np.ndarray:
    """q some steps (by, axis) away."""
    shift = [0, 0, 0]
    for by, axis in steps:
        shift[2 - axis] += by
    return q[tuple(slice(LAYERS + by, size - LAYERS + by) for by, size in zip(shift, q.shape, strict=True))]


def slopes(q: np.ndarray, axis: int, h: float, near: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """dq/dx from the low and from the high side: of fifth order where it is `near`, else of first."""
    d = [(at(q, (n + 1, axis)) - at(q, (n, axis))) / h for n in range(-3, 3)]
    low, high = weno(d[:5]), weno(d[:0:-1])
    return np.where(near, low, d[2]), np.where(near, high, d[3])


def nearly_distance(phi: np.ndarray, h: Sequence[float]) -> np.ndarray:
    """phi / |grad phi|, with the steeper of both one-sided differences along each axis; phi where it is even."""
    steep = 0.0
    for axis in range(3):
        low, high = ((at(phi, (n + 1, axis)) - at(phi, (n, axis))) / h[axis] for n in (-1, 0))
        steep = steep + np.maximum(low**2, high**2)
    return np.divide(at(phi), np.sqrt(steep), out=at(phi).copy(), where=steep > 0)


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


def way_to_foot(phi: np.ndarray, h: Sequence[float]) -> list[np.ndarray]:
    """-phi grad(phi) / |grad(phi)|^2 in cells; nan without a slope."""
    g = gradient(phi, h)
    size = np.sum([slope**2 for slope in g], axis=0)
    return [np.divide(-at(phi) * each, size * h[a], out=np.full_like(size, np.nan), where=size > 0)
            for a, each in enumerate(g)]  # fmt: skip


def feet_missed(phi: np.ndarray, h: Sequence[float], width: float, band: float) -> np.ndarray:
    """Whether a cell with |phi| < width is beyond the band, or its foot is farther than two cells, or nowhere."""
    reached = (np.abs(way_to_foot(phi, h)) <= 2).all(axis=0) & (np.abs(at(phi)) < band)
    return (np.abs(at(phi)) < width) & ~reached


def curvature_at_foot(kappa: np.ndarray, phi: np.ndarray, h: Sequence[float], band: float) -> np.ndarray:
    """kappa at x - phi grad(phi) / |grad(phi)|^2, at most two cells away, linear between centres; 0 beyond the band."""
    way = [np.clip(np.nan_to_num(each), -2, 2) for each in way_to_foot(phi, h)]
    below = [np.minimum(np.floor(each), 1).astype(int) for each in way]
    index, value = np.indices(way[0].shape)[::-1], np.zeros_like(way[0])
    for corner in np.ndindex(2, 2, 2):
        weight = np.ones_like(value)
        for a, n in enumerate(corner):
            part = way[a] - below[a]
            weight = weight * (part if n else 1 - part)
        z, y, x = (index[a] + LAYERS + below[a] + corner[a] for a in (2, 1, 0))
        value += weight * kappa[z, y, x]
    return np.where(np.abs(at(phi)) < band, value, 0.0)


def fall_to_foot(
    phi: np.ndarray, h: Sequence[float], band: float, gravity: Sequence[float], walls: Flags
) -> np.ndarray:
    """g.(x - foot), infinite beyond the band: phi is taken again where the first step ends, linear between the centres
    of cells, inside of walls, not where that is more than three cells away.
    """
    g = gradient(phi, h)
    size = np.sum([slope**2 for slope in g], axis=0)
    way, shape = way_to_foot(phi, h), at(phi).shape
    reached = (np.abs(way) <= 3).all(axis=0)
    index, there = np.indices(shape)[::-1], np.zeros(shape)
    place, cells = [np.where(reached, each, 0.0) for each in way], shape[::-1]
    below = [np.clip(np.floor(each), -3, 2).astype(int) for each in place]
    for a in range(3):
        if walls[a]:
            below[a] = np.maximum(np.minimum(below[a], cells[a] - 2 - index[a]), -index[a])
    for corner in np.ndindex(2, 2, 2):
        weight, where = np.ones(shape), []
        for a, n in enumerate(corner):
            part = place[a] - below[a]
            weight = weight * (part if n else 1 - part)
            cell = index[a] + below[a] + n
            where.append(LAYERS + (np.minimum(cell, cells[a] - 1) if walls[a] else cell))
        there += weight * phi[where[2], where[1], where[0]]
    down = sum(g[a] * gravity[a] for a in range(3))
    with np.errstate(divide="ignore", invalid="ignore"):
        fall = (at(phi) + np.where(reached, there, 0.0)) * down / size
    return np.where((np.abs(at(phi)) < band) & (size > 0), fall, np.inf)


def viscosity(f: np.ndarray, mu_1: float, mu_2: float, *, arithmetic: bool) -> np.ndarray:
    """1/mu = s/mu_1 + (1-s)/mu_2, or the arithmetic mean, s being 2f - 1/2 from 0 to 1."""
    f = np.clip(2 * f - 0.5, 0, 1)
    if arithmetic:
        return f * mu_1 + (1 - f) * mu_2
    across = f * mu_2 + (1 - f) * mu_1
    return np.divide(mu_1 * mu_2, across, out=np.zeros_like(across), where=across > 0)


def density(f: np.ndarray, phases: Any) -> np.ndarray:
    """rho_2 + (rho_1 - rho_2) f."""
    return phases.density_2 + (phases.density_1 - phases.density_2) * f


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
    bent = carried_value(beside(q, axis, n), mass, axis, 0, False)
    at_end = np.where(mass > 0, cell == 0, cell == cells - 1) & wall
    return np.where(at_end, (low + high) / 2, bent)


def beside(q: Shifted, axis: int, n: int) -> Shifted:
    """q seen from n cells further along an axis."""
    return Shifted(q.array, q.box.shift(triple(n if d == axis else 0 for d in range(3))), q.origin)


def outflow(
    middle: Shifted, mass: Sequence[Shifted], a: int, h: Sequence[float], cells: Sequence[int], walls: Flags
) -> tuple[np.ndarray, np.ndarray]:
    """Mass, and momentum along the axis a, that leave the volumes around its faces, per volume and time; `middle` is
    the velocity that is carried.
    """
    net_mass, net_momentum = (np.zeros_like(middle()) for _ in range(2))
    for b in range(3):
        for n, sign in ((0, -1), (1, 1)):
            if a == b:
                m = (mass[a](n - 1, a) + mass[a](n, a)) / 2
                value = along(middle, m, a, n, cells[a], walls[a])
            else:
                m = (mass[b](n, b, -1, a) + mass[b](n, b)) / 2
                value = carried_value(beside(middle, b, n), m, b, cells[b], walls[b])
            net_mass, net_momentum = net_mass + sign * m / h[b], net_momentum + sign * m * value / h[b]
    return net_mass, net_momentum


def friction(
    velocity: Sequence[Shifted], f: Shifted, a: int, h: Sequence[float], phases: Any, steep: SolidFaces | None = None
) -> np.ndarray:
    """div(mu (grad u + grad u^T)) along the axis a, on its faces. Where `steep` has a mask by axis and side (0 or 1) a
    velocity falls to 0 within half a cell.
    """

    def mu(share: np.ndarray) -> np.ndarray:
        return viscosity(share, phases.viscosity_1, phases.viscosity_2, arithmetic=phases.arithmetic)

    u, stress = velocity[a], np.zeros_like(velocity[a]())
    for b in range(3):
        for n, sign in ((0, -1), (1, 1)):
            if a == b:
                sheared = 2 * mu(f(n - 1, a)) * (u(n, a) - u(n - 1, a)) / h[a]
            else:
                edge = (f(n, b) + f(n - 1, b) + f(n, b, -1, a) + f(n - 1, b, -1, a)) / 4
                times = np.where((steep or {}).get((b, n), False), 2, 1)
                v = velocity[b]
                sheared = mu(edge) * (times * (u(n, b) - u(n - 1, b)) / h[b] + (v(n, b) - v(n, b, -1, a)) / h[a])
            stress = stress + sign * sheared / h[b]
    return stress


def friction_rate(f: Shifted, h: Sequence[float], walls: Sequence[bool], phases: Any) -> float:
    """The most, over faces that are not on boundaries, that mu / h^2 over the six sides of their volumes is over twice
    their density.
    """

    def mu(share: np.ndarray) -> np.ndarray:
        return viscosity(share, phases.viscosity_1, phases.viscosity_2, arithmetic=phases.arithmetic)

    rates = []
    for a in range(3):
        total = (mu(f(-1, a)) + mu(f())) / h[a] ** 2
        for b in {0, 1, 2} - {a}:
            edges = ((f(n, b) + f(n - 1, b) + f(n, b, -1, a) + f(n - 1, b, -1, a)) / 4 for n in (0, 1))
            total = total + sum(mu(edge) for edge in edges) / h[b] ** 2
        rate = total / (density(f(-1, a), phases) + density(f(), phases))
        rates.append(rate.take(range(int(walls[a]), rate.shape[2 - a]), 2 - a).max())
    return float(max(rates))


def tension(kappa: Shifted, f_new: Shifted, a: int, h: Sequence[float], phases: Any) -> np.ndarray:
    """sigma kappa df/dx on faces across the axis a, kappa being that of cells that have one."""
    return tension_of(kappa, np.ones_like(kappa()), np.ones_like(kappa()), f_new, a, h, phases)


def tension_of_planes(kappa: Shifted, f_new: Shifted, a: int, h: Sequence[float], phases: Any) -> np.ndarray:
    """The same with the weights f (1 - f) of cells."""
    low, high = f_new(-1, a), f_new()
    return tension_of(kappa, low * (1 - low), high * (1 - high), f_new, a, h, phases)


def tension_of(
    kappa: Shifted, low: np.ndarray, high: np.ndarray, f_new: Shifted, a: int, h: Sequence[float], phases: Any
) -> np.ndarray:
    """sigma kappa df/dx with weights of the cells on the low and the high side that have a curvature."""
    low, high = low * (kappa(-1, a) != 0), high * (kappa() != 0)
    total = low + high
    mean = np.divide(low * kappa(-1, a) + high * kappa(), total, out=np.zeros_like(total), where=total > 0)
    return phases.surface_tension * mean * (f_new() - f_new(-1, a)) / h[a]


def weight_jump(fall: Shifted, f_new: Shifted, a: int, h: Sequence[float], phases: Any) -> np.ndarray:
    """(rho_1 - rho_2) g.(x - place) df/dx on faces across the axis a, g.(x - place) being the mean of what both cells
    say of the face: `fall`, infinite in cells without a place, and the way of half a cell.
    """
    half = phases.gravity[a] * h[a] / 2
    both = np.stack([fall(-1, a) + half, fall() - half])
    known = np.isfinite(both)
    mean = np.where(known, both, 0.0).sum(axis=0) / np.maximum(1, known.sum(axis=0))
    return (phases.density_1 - phases.density_2) * mean * (f_new() - f_new(-1, a)) / h[a]


def momentum(
    velocity: Sequence[Shifted], before: Sequence[Shifted], mass: Sequence[Shifted], f: Shifted, f_new: Shifted,
    kappa: Shifted, fall: Shifted, earlier: Sequence[Shifted], h: Sequence[float], dt: float, ratio: float,
    cells: Sequence[int], walls: Flags, phases: Any, steep: Sequence[SolidFaces] = ({}, {}, {}),
) -> tuple[list[np.ndarray], list[np.ndarray]]:  # fmt: skip
    """The velocities without the pressure, and the friction, of all faces, as if none lay on a wall; `phases` has the
    densities and viscosities of both, the surface tension, gravity, and whether viscosities are arithmetic means.
    """
    velocities: list[np.ndarray] = []
    frictions: list[np.ndarray] = []
    for a in range(3):
        u, old = velocity[a], before[a]
        middle = Shifted(u.array + ratio / 2 * (u.array - old.array), u.box, u.origin)
        net_mass, net_momentum = outflow(middle, mass, a, h, cells, walls)
        stress = friction(velocity, f, a, h, phases, steep[a])
        rho, rho_new = ((density(s(-1, a), phases) + density(s(), phases)) / 2 for s in (f, f_new))
        force = tension(kappa, f_new, a, h, phases) + weight_jump(fall, f_new, a, h, phases)
        carried = (rho * u() - dt * net_momentum) / (rho - dt * net_mass)
        rubbed = ((1 + ratio / 2) * stress - ratio / 2 * earlier[a]()) / rho_new
        velocities.append(carried + dt * (rubbed + force / rho_new + phases.gravity[a]))
        frictions.append(stress)
    return velocities, frictions


def force(
    velocity: Sequence[Shifted], mass: Sequence[Shifted], f: Shifted, p: Shifted, solid: Shifted, a: int,
    h: Sequence[float], cells: Sequence[int], walls: Flags, phases: Any,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Return what pressure, with the weight of half a cell, and all else bring to faces across the axis a, over the
    volume around them, as if all were faces of bodies.
    """
    before, here = solid(-1, a) > 0, solid() > 0
    fall = phases.gravity[a] * h[a] / 2
    low, high = p(-1, a) + fall * density(f(-1, a), phases), p() - fall * density(f(), phases)
    pressure = (np.where(before, 0, low) - np.where(here, 0, high)) / h[a]
    inside = dict.fromkeys(((b, n) for b in range(3) for n in (0, 1)), before & here)
    _, momentum_out = outflow(velocity[a], mass, a, h, cells, walls)
    return pressure, friction(velocity, f, a, h, phases, inside) - momentum_out


def extended(q: Shifted, solid: Shifted, cells: Sequence[int], walls: Flags) -> np.ndarray:
    """q, but in solid cells the mean of those of its neighbours, none beyond walls, that are not solid, or of all."""
    in_fluid, in_all = [], []
    for axis in range(3):
        index = np.arange(cells[axis]).reshape([-1 if d == 2 - axis else 1 for d in range(3)])
        for by in (-1, 1):
            beyond = walls[axis] & (index == (0 if by < 0 else cells[axis] - 1))
            in_all.append(np.where(beyond, np.nan, q(by, axis)))
            in_fluid.append(np.where(solid(by, axis) > 0, np.nan, in_all[-1]))
    known = ~np.isnan(in_fluid).all(axis=0)
    mean = [np.nansum(values, axis=0) / np.maximum(1, (~np.isnan(values)).sum(axis=0)) for values in (in_fluid, in_all)]
    return np.where(solid() > 0, np.where(known, *mean), q())
