"""A column of ideal fluid that collapses on a floor: potential flow by boundary elements, which share nothing with the
solvers.

The column is 1 wide and 2 high, and gravity 1. The floor and the wall at its back are planes of mirror images, so that
elements are on the free surface alone, from the floor (the first node) to the wall (the last). The potential is known
there, and its normal derivative follows from Green's third identity with elements of linear shape, whose integrals are
exact. Nodes move with the fluid, d phi/dt = u^2/2 - z - kappa / Bo along them (Bernoulli), by four stages of
Runge-Kutta, and are shared out again after each step. Bo = rho g a^2 / sigma is the Bond number, kappa the curvature.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.interpolate import CubicSpline

SLOPES = ((0.0, -1.0), (1.0, 0.0), (0.0, 0.0))  # of x, z and potential along the surface, at its ends
IMAGES = ((1, -1), (-1, 1), (1, 1))  # their signs beyond the floor and beyond the wall
ROUND = 0.05  # radius of the upper corner, where nothing happens
DENSER = 4.0  # elements at the floor are about exp(4) times as short as at the wall


def front(nodes: int, step: float, end: float, bond: float = np.inf) -> np.ndarray:
    """Rows of time, place of the front and height at the wall until a time, by so many nodes and steps so long.

    With 71 and 0.005 it fails soon after 1: the front gets too thin for the elements.
    """
    state, rows, rate = _begun(nodes), [(0.0, 1.0, 2.0)], partial(_rate, tension=1 / bond)
    while rows[-1][0] < end:
        first = rate(state)
        second = rate(state + step / 2 * first)
        third = rate(state + step / 2 * second)
        state = state + step / 6 * (first + 2 * second + 2 * third + rate(state + step * third))
        state = _smoothed(_shared_out(state, nodes))
        rows.append((rows[-1][0] + step, state[0].max(), state[1, -1]))
    return np.array(rows)


def _begun(nodes: int) -> np.ndarray:
    """x, z and the potential on the surface of the column at rest."""
    turn = np.linspace(0, np.pi / 2, 60)[1:]
    side, top = np.linspace(0, 2 - ROUND, 800), np.linspace(1 - ROUND, 0, 400)[1:]
    x = np.concatenate([1 + 0 * side, 1 - ROUND + ROUND * np.cos(turn), top])
    z = np.concatenate([side, 2 - ROUND + ROUND * np.sin(turn), 2 + 0 * top])
    at = _length(x, z)
    places = _places(at[-1], nodes)
    return np.array([np.interp(places, at, x), np.interp(places, at, z), 0 * places])


def _length(x: np.ndarray, z: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.hypot(np.diff(x), np.diff(z)))])


def _places(length: float, nodes: int) -> np.ndarray:
    return length * np.expm1(DENSER * np.linspace(0, 1, nodes)) / np.expm1(DENSER)


def _held(state: np.ndarray) -> np.ndarray:
    state[1, 0] = state[0, -1] = 0
    return state


def _splines(at: np.ndarray, state: np.ndarray) -> list[CubicSpline]:
    return [CubicSpline(at, q, bc_type=((1, a), (1, b))) for q, (a, b) in zip(state, SLOPES, strict=True)]


def _shared_out(state: np.ndarray, nodes: int) -> np.ndarray:
    at = _length(*state[:2])
    places = np.minimum(_places(at[-1], nodes), at[-1])
    return _held(np.array([spline(places) for spline in _splines(at, state)]))


def _smoothed(state: np.ndarray) -> np.ndarray:
    """A fifth of what takes off the shortest waves (M. S. Longuet-Higgins, E. D. Cokelet 1976)."""
    q = np.array([[a * v[2], a * v[1], *v, b * v[-2], b * v[-3]] for v, (a, b) in zip(state, IMAGES, strict=True)])
    return _held(state - 0.2 / 16 * (q[:, :-4] - 4 * q[:, 1:-3] + 6 * q[:, 2:-2] - 4 * q[:, 3:-1] + q[:, 4:]))


def _rate(state: np.ndarray, tension: float) -> np.ndarray:
    """The velocity of the nodes, and how their potential changes."""
    x, z, potential = state
    at = _length(x, z)
    splines = _splines(at, state)
    along, (bent_x, bent_z, _) = (np.array([spline(at, order) for spline in splines]) for order in (1, 2))
    curvature = (along[0] * bent_z - along[1] * bent_x) / np.hypot(along[0], along[1]) ** 3
    (tx, tz, slope), steep = along / np.hypot(along[0], along[1]), _normal_derivative(x, z, potential)
    u, w = slope * tx + steep * tz, slope * tz - steep * tx
    w[0] = u[-1] = 0
    return np.array([u, w, 0.5 * (u**2 + w**2) - z - tension * curvature])


def _normal_derivative(x: np.ndarray, z: np.ndarray, potential: np.ndarray) -> np.ndarray:
    single, double = np.zeros((2, len(x), len(x)))
    for sign in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
        _add_image(single, double, x, z, *sign)
    inside = -double.sum(axis=1)  # a potential that is the same everywhere has no derivative
    return np.linalg.solve(single, inside * potential + double @ potential)


def _add_image(single: np.ndarray, double: np.ndarray, x: np.ndarray, z: np.ndarray, a: int, b: int) -> None:
    """Adds what the nodes feel of the elements, mirrored by these signs: integrals of G = -ln r / 2 pi and of dG/dn
    times the shape of each node.
    """
    begin, end = (np.stack([a * x[part], b * z[part]], axis=1) for part in (slice(None, -1), slice(1, None)))
    length = np.linalg.norm(end - begin, axis=1)
    tangent = (end - begin) / length[:, None]
    normal = a * b * np.stack([tangent[:, 1], -tangent[:, 0]], axis=1)
    from_begin = np.stack([x, z], axis=1)[:, None] - begin
    foot, apart = (from_begin * tangent).sum(axis=-1), (from_begin * normal).sum(axis=-1)
    on_it = abs(apart) < 1e-13
    low, high = -foot, length - foot
    log_low, log_high = (np.log(np.maximum(s**2 + apart**2, 1e-300)) for s in (low, high))
    angle = partial(np.divide, out=np.zeros_like(foot), where=~on_it)
    seen = np.where(on_it, 0, np.arctan(angle(high, apart)) - np.arctan(angle(low, apart)))
    logs = 0.5 * (high * log_high - low * log_low) - length + apart * seen
    far, near = high**2 + apart**2, low**2 + apart**2
    moments = 0.25 * (far * log_high - near * log_low - (far - near)), 0.5 * apart * (log_high - log_low)
    for matrix, plain, moment, sign in ((single, logs, moments[0], -1), (double, seen, moments[1], 1)):
        second = (moment + foot * plain) / length
        matrix[:, :-1] += sign * (plain - second) / (2 * np.pi)
        matrix[:, 1:] += sign * second / (2 * np.pi)
