"""Artificial compressibility in NumPy: arrays [z, y, x] of the cells of a chart with two layers around them.

`at(q, 1, 0)` is q in the next cell along x; results are those of the cells without layers. Faces are those on the low
side of cells: `at` of a face is asked for with one cell more. The flux difference splitting is written with unit
normals and eigenvectors, as the specification of the method prints it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

LAYERS = 2
INTERIOR, CLOSED, GIVEN, OPEN, FAR = range(5)
NAMES = ("p", "u", "v", "w")


@dataclass(frozen=True)
class Discretisation:
    """The choices for the residual: numbers, and the names of schemes: "third", "limited", "second", "first",
    "central" or "pressure". `planar`: nothing passes along z; `prandtl`: of eddies.
    """

    viscosity: float
    compressibility: float
    scheme: str = "third"
    diffusivity: float = 0.0
    fourth: float = 1 / 64
    planar: bool = False
    prandtl: float = 1.0

    @property
    def axes(self) -> range:
        """The directions across which something passes."""
        return range(2 if self.planar else 3)


def at(q: np.ndarray, *steps: tuple[int, int], more: int = -1) -> np.ndarray:
    """q some steps (by, axis) away, [..., z, y, x]; with one place more along the axis `more`."""
    shift = [0, 0, 0]
    for by, axis in steps:
        shift[2 - axis] += by
    wider = [int(more == 2 - n) for n in range(3)]
    sizes = zip(shift, q.shape[-3:], wider, strict=True)
    z, y, x = (slice(LAYERS + by, size - LAYERS + by + wide) for by, size, wide in sizes)
    return q[..., z, y, x]


def van_albada(before: np.ndarray, behind: np.ndarray) -> np.ndarray:
    """max(0, 2 a b / (a^2 + b^2)), 1 where both are 0."""
    return np.maximum(0, (2 * before * behind + 1e-30) / (before**2 + behind**2 + 1e-30))


@dataclass(frozen=True)
class Surfaces:
    """Bodies in cells: open shares of low faces [axis, z, y, x], walls [value, z, y, x], open shares of volumes."""

    open: np.ndarray
    wall: np.ndarray
    fluid: np.ndarray


Row = tuple[np.ndarray, ...]


def row(q: np.ndarray, axis: int, kind: np.ndarray | None = None, surfaces: Surfaces | None = None) -> Row:
    """The four cells around faces; behind closed faces values are those on the line through the two next to the face,
    at a side that of the cell.
    """
    a, b, c, d = (at(q, (n, axis), more=axis) for n in (-2, -1, 0, 1))
    if surfaces is not None:
        low, high = (at(surfaces.open[axis], (n, axis), more=axis) == 0 for n in (-1, 1))
        a = np.where(low, np.where(kind == INTERIOR, 2 * b - c, b), a)
        d = np.where(high, np.where(kind == INTERIOR, 2 * c - b, c), d)
    return a, b, c, d


def reconstructed(cells: Row, scheme: str) -> tuple[np.ndarray, np.ndarray]:
    """The values on the low and the high side of faces, by the kappa scheme along lines of cells."""
    a, b, c, d = cells
    if scheme in ("first", "central", "pressure"):
        return b, c
    kappa = -1.0 if scheme == "second" else 1 / 3
    s, t = (van_albada(b - a, c - b), van_albada(c - b, d - c)) if scheme == "limited" else (1.0, 1.0)
    low = b + s / 4 * ((1 - kappa * s) * (b - a) + (1 + kappa * s) * (c - b))
    high = c - t / 4 * ((1 - kappa * t) * (d - c) + (1 + kappa * t) * (c - b))
    return low, high


def splitting(low: np.ndarray, high: np.ndarray, n: np.ndarray, b: np.ndarray, slide: np.ndarray) -> np.ndarray:
    """|A| (high - low) of states [p, u, v, w], with the matrix of the arithmetic mean and unit normals n, on faces that
    move at `slide` along these.
    """
    mean, d = (low + high) / 2, high - low
    theta, jump = (n * mean[1:]).sum(0), (n * d[1:]).sum(0)
    across = theta - slide
    result = np.abs(across) * d
    for sign in (1, -1):
        speed = ((across + theta) + sign * np.sqrt((across + theta) ** 2 + 4 * b)) / 2
        strength = (d[0] + speed * jump) / (b / speed + speed)
        vector = np.stack([b / speed, *((n * b / speed + mean[1:]) / (speed - across))])
        result = result + (np.abs(speed) - np.abs(across)) * strength * vector
    return result


def flux(state: np.ndarray, n: np.ndarray, shut: np.ndarray, slide: np.ndarray) -> np.ndarray:
    """(theta, u (theta - slide) + n p), theta = u.n, or `slide` where nothing passes."""
    theta = np.where(shut, slide, (n * state[1:]).sum(0))
    return np.stack([theta, *(state[1:] * (theta - slide) + n * state[0])])


def third_difference(q: np.ndarray, axis: int) -> np.ndarray:
    """q_{+1} - 3 q + 3 q_{-1} - q_{-2} on faces."""
    a, b, c, d = (at(q, (n, axis), more=axis) for n in (-2, -1, 0, 1))
    return d - 3 * c + 3 * b - a


def kinds(sides: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Return what lies on faces, and whether it is beyond their high side."""
    low, high = at(sides, (-1, axis), more=axis), at(sides, more=axis)
    return low | high, high > 0


def inviscid(
    q: np.ndarray, sides: np.ndarray, area: np.ndarray, axis: int, b: np.ndarray, how: Discretisation,
    swept: np.ndarray | None = None, surfaces: Surfaces | None = None,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Fluxes [p, u, v, w] through faces across an axis, times their areas, of a state [p, u, v, w]: what is carried,
    and what the scheme adds. `swept`: what faces sweep per time, where they move.
    """
    kind, beyond = kinds(sides, axis)
    size = np.sqrt((area**2).sum(0))
    n, slide = area / size, np.zeros_like(size) if swept is None else swept / size
    rows = [row(value, axis, kind, surfaces) for value in q]
    low, high = (np.stack(values) for values in zip(*(reconstructed(one, how.scheme) for one in rows), strict=True))
    c2, c1, d1, d2 = (np.stack(values) for values in zip(*rows, strict=True))
    mean = (c1 + d1) / 2
    wall = mean.copy()
    wall[0] = np.where(beyond, 1.5 * c1[0] - 0.5 * c2[0], 1.5 * d1[0] - 0.5 * d2[0])
    low, high = (np.where(kind == FAR, far, inside) for far, inside in ((c1, low), (d1, high)))
    for where, value in (((kind == CLOSED) | (kind == GIVEN), wall), (kind == OPEN, mean)):
        low, high = np.where(where, value, low), np.where(where, value, high)
    shut, face_b = kind == CLOSED, (at(b, (-1, axis), more=axis) + at(b, more=axis)) / 2
    f = (flux(low, n, shut, slide) + flux(high, n, shut, slide)) / 2
    theta = np.where(shut, slide, (n * (low + high)[1:]).sum(0) / 2)
    across = theta - slide
    entering = (kind == OPEN) & np.where(beyond, across < 0, across > 0)
    f[1:] -= np.where(entering, across**2, 0.0) * n
    if how.scheme in ("central", "pressure"):
        damped = how.fourth * (np.abs(theta + across) + np.sqrt((theta + across) ** 2 + 4 * face_b)) / 2
        rough = np.stack([third_difference(value, axis) for value in q]) * damped
        rough[0] /= face_b
        rough[1:] *= how.scheme == "central"
        return f * size, np.where(kind == INTERIOR, rough, 0.0) * size
    d = splitting(low, high, n, face_b, slide)
    d[0] /= face_b
    return f * size, -d / 2 * size


def gradient_on(q: np.ndarray, areas: np.ndarray, volumes: np.ndarray, axis: int, how: Discretisation) -> np.ndarray:
    """grad q [xyz] on faces across an axis: the sum of S_a times the difference along a, over the mean volume."""
    volume = (at(volumes, (-1, axis), more=axis) + at(volumes, more=axis)) / 2
    total = at(areas[axis], more=axis) * (at(q, more=axis) - at(q, (-1, axis), more=axis))
    for other in (a for a in how.axes if a != axis):
        cells = (-1, 0)
        beside = sum(at(areas[other], (m, axis), (e, other), more=axis) for m in cells for e in (0, 1)) / 4
        change = sum(s * at(q, (m, axis), (s, other), more=axis) for m in cells for s in (-1, 1)) / 4
        total = total + beside * change
    return total / volume


def gradient_through(
    q: np.ndarray, areas: np.ndarray, volumes: np.ndarray, axis: int, how: Discretisation
) -> np.ndarray:
    """grad q . S on faces across an axis."""
    return (at(areas[axis], more=axis) * gradient_on(q, areas, volumes, axis, how)).sum(0)


def friction_through(
    velocity: np.ndarray, areas: np.ndarray, volumes: np.ndarray, axis: int, how: Discretisation,
    nu_t: np.ndarray | None,
) -> np.ndarray:  # fmt: skip
    """viscosity grad u . S on faces across an axis, or with eddies (viscosity + nu_t) (grad u + (grad u)^T) . S."""
    area = at(areas[axis], more=axis)
    g = np.stack([gradient_on(u, areas, volumes, axis, how) for u in velocity])  # [component, direction]
    if nu_t is None:
        return how.viscosity * (g * area).sum(1)
    return (how.viscosity + on_faces(nu_t, axis)) * ((g + g.swapaxes(0, 1)) * area).sum(1)


def on_faces(q: np.ndarray, axis: int) -> np.ndarray:
    """The mean of both sides of faces."""
    return (at(q, (-1, axis), more=axis) + at(q, more=axis)) / 2


def outward(faces: np.ndarray, axis: int) -> np.ndarray:
    """High less low: what leaves cells through their faces across an axis."""
    along = np.moveaxis(faces, -1 - axis, -1)
    return np.moveaxis(along[..., 1:] - along[..., :-1], -1, -1 - axis)


def residual(
    q: Mapping[str, np.ndarray], sides: np.ndarray, areas: np.ndarray, volumes: np.ndarray, how: Discretisation,
    *, b: np.ndarray | None = None, swept: np.ndarray | None = None, nu_t: np.ndarray | None = None,
    surfaces: Surfaces | None = None,
) -> dict[str, np.ndarray]:  # fmt: skip
    """Return what leaves cells of p (mass), u, v, w and, where it is there, T; areas are [axis, component, z, y, x].
    T is carried by the mass fluxes, by limited parabolas from the upwind side, or, where the pressure alone is damped,
    as the mean of both sides; T times the mass that leaves is taken off, so that a uniform T stays. `swept` [axis, z,
    y, x] is what low faces sweep per time, on a grid that moves.
    """
    state = np.stack([q[name] for name in NAMES])
    b = np.full_like(volumes, how.compressibility) if b is None else b
    total = {name: np.zeros_like(at(volumes)) for name in q}
    for axis in how.axes:
        moved = None if swept is None else at(swept[axis], more=axis)
        through, added = inviscid(state, sides, at(areas[axis], more=axis), axis, b, how, moved, surfaces)
        f = through + added
        f[1:] -= friction_through(state[1:], areas, volumes, axis, how, nu_t)
        f *= 1.0 if surfaces is None else at(surfaces.open[axis], more=axis)
        for name, out in zip(NAMES, f, strict=True):
            total[name] += outward(out, axis)
        if "T" in q:
            relative = f[0] if moved is None else f[0] - moved
            carrying = relative * carried_heat(q["T"], sides, relative, axis, how)
            diffusivity = how.diffusivity + (0.0 if nu_t is None else on_faces(nu_t, axis) / how.prandtl)
            conducted = diffusivity * gradient_through(q["T"], areas, volumes, axis, how)
            total["T"] += outward(carrying - conducted, axis) - at(q["T"]) * outward(f[0], axis)
    if surfaces is not None:
        swept = at(surfaces.wall)[17]
        total["p"] += swept
        for name, taken in zip(NAMES[1:], sum(on_surfaces(state, surfaces, how)), strict=True):
            total[name] += taken + swept * at(q[name])
    return total


def on_surfaces(state: np.ndarray, surfaces: Surfaces, how: Discretisation) -> tuple[np.ndarray, np.ndarray]:
    """Pressure and friction [u, v, w] that the surfaces in cells take, see `taskflow.flow.bodies.cut_cells`."""
    wall = at(surfaces.wall)
    directions, reach = wall[4:7], wall[7]

    def away(q: np.ndarray, shares: np.ndarray) -> np.ndarray:
        value = at(q)
        for axis in how.axes:
            next_one = np.where(directions[axis] > 0, at(q, (1, axis)), at(q, (-1, axis)))
            value = value + shares[axis] * (next_one - at(q))
        return value

    sliding = np.stack([away(u, reach * np.abs(directions)) for u in state[1:]])
    return away(state[0], wall[8:11]) * wall[:3], how.viscosity * wall[3] * (sliding - wall[14:17])


def carried(
    q: Mapping[str, np.ndarray], sides: np.ndarray, areas: np.ndarray, volumes: np.ndarray, how: Discretisation,
    *, b: np.ndarray, swept: np.ndarray | None = None,
) -> dict[str, np.ndarray]:  # fmt: skip
    """The part of the residual of p, u, v and w that neither friction nor the scheme adds."""
    state, total = np.stack([q[name] for name in NAMES]), np.zeros((4, *at(volumes).shape))
    for axis in how.axes:
        moved = None if swept is None else at(swept[axis], more=axis)
        total += outward(inviscid(state, sides, at(areas[axis], more=axis), axis, b, how, moved)[0], axis)
    return dict(zip(NAMES, total, strict=True))


def carried_heat(T: np.ndarray, sides: np.ndarray, mass: np.ndarray, axis: int, how: Discretisation) -> np.ndarray:
    """T on faces through which mass flows."""
    kind, _ = kinds(sides, axis)
    b, c = at(T, (-1, axis), more=axis), at(T, more=axis)
    low, high = reconstructed(row(T, axis), "first" if how.scheme == "pressure" else "limited")
    inside = (b + c) / 2 if how.scheme == "pressure" else np.where(mass > 0, low, high)
    return np.where(kind == INTERIOR, inside, np.where(kind == FAR, np.where(mass > 0, b, c), (b + c) / 2))


def step_per_volume(
    u: np.ndarray, areas: np.ndarray, volumes: np.ndarray, b: np.ndarray, spread: float, how: Discretisation,
    swept: np.ndarray | None = None, nu_t: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """1 / (sum over directions of |m| + root(m^2 + b |S|^2) + 4 spread |S|^2 / V), S the mean of both faces, m = u.S
    less half of what they sweep; with eddies the mean of nu_t on both faces, times 2 or one over `prandtl` if that is
    more, is added to spread.
    """
    total = np.zeros_like(at(volumes))
    for axis in how.axes:
        s = (at(areas[axis]) + at(areas[axis], (1, axis))) / 2
        theta, square = (s * at(u)).sum(0), (s**2).sum(0)
        if swept is not None:
            theta = theta - (at(swept[axis]) + at(swept[axis], (1, axis))) / 4
        eddies = 0.0 if nu_t is None else (at(nu_t, (-1, axis)) + 2 * at(nu_t) + at(nu_t, (1, axis))) / 4
        spreading = spread + max(2.0, 1 / how.prandtl) * eddies
        total += np.abs(theta) + np.sqrt(theta**2 + at(b) * square) + 4 * spreading * square / at(volumes)
    return 1 / total
