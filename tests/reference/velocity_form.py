"""Momentum of two phases in velocity form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.reference.shifted import Shifted
from tests.reference.two_phase import Flags, density, friction, tension, weight_jump
from tests.reference.weno import upwind_slope


def advection_by_weno(
    velocity: Sequence[Shifted], a: int, h: Sequence[float], cells: Sequence[int], walls: Flags
) -> np.ndarray:
    """-(u . grad) u of the component a by WENO5, on its faces."""
    u, total = velocity[a], np.zeros_like(velocity[a]())
    for b, v in enumerate(velocity):
        speed = u() if a == b else (v(-1, a) + v() + v(-1, a, 1, b) + v(1, b)) / 4
        known = (0 if a == b else -1, cells[b] - 1) if walls[b] else None
        total = total - speed * upwind_slope(u, speed, b, h[b], known)
    return total


def momentum(
    velocity: Sequence[Shifted], carried: Sequence[np.ndarray], f: Shifted, f_new: Shifted, kappa: Shifted,
    fall: Shifted, earlier: Sequence[Shifted], h: Sequence[float], dt: float, ratio: float, phases: Any,
) -> tuple[list[np.ndarray], list[np.ndarray]]:  # fmt: skip
    """The velocities without the pressure in velocity form, and H = `carried` + friction / rho, as
    `tests.reference.two_phase.momentum`; what is carried is -(u . grad) u of each component.
    """

    def on_faces(share: Shifted, a: int) -> np.ndarray:
        return (density(share(-1, a), phases) + density(share(), phases)) / 2

    velocities: list[np.ndarray] = []
    tendencies: list[np.ndarray] = []
    for a, u in enumerate(velocity):
        tendency = carried[a] + friction(velocity, f, a, h, phases) / on_faces(f, a)
        jump = tension(kappa, f_new, a, h, phases) + weight_jump(fall, f_new, a, h, phases)
        force = jump / on_faces(f_new, a) + phases.gravity[a]
        velocities.append(u() + dt * ((1 + ratio / 2) * tendency - ratio / 2 * earlier[a]() + force))
        tendencies.append(tendency)
    return velocities, tendencies
