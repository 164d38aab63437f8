"""Transport of a scalar that stays within its bounds, by Koren's limited fluxes on the low faces of cells.

B. Koren 1993, in Numerical Methods for Advection-Diffusion Problems, Vieweg, 117.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.reference.shifted import Shifted

Flags = tuple[bool, bool, bool]


def limiter(r: np.ndarray) -> np.ndarray:
    """phi(r) = max(0, min(2 r, (2 + r) / 3, 2)), r being the change behind the upwind cell over that ahead of it."""
    return np.maximum(0.0, np.minimum(np.minimum(2 * r, (2 + r) / 3), 2.0))


def carried_value(q: Shifted, speed: np.ndarray, d: int, cells: int, walls: bool) -> np.ndarray:
    """q_face = q_U + phi(r) / 2 (q_D - q_U) on the low faces across d, U being the cell that the flow comes from and D
    the one that it goes to, r = (q_U - q_UU) / (q_D - q_U).

    `cells` is the number of cells of the domain along d. With `walls` at both ends min(phi, r) is taken where UU lies
    beyond one of them. On the wall itself q is the mean of both cells where fluid enters, and q_U where it leaves.
    """
    index = np.arange(q.box.lo[d], q.box.hi[d]).reshape([-1 if n == 2 - d else 1 for n in range(3)])
    values = {}
    for forward, (up, down, behind, beside, entering, leaving) in {
        True: (q(-1, d), q(), q(-2, d), index == 1, index == 0, index == cells),
        False: (q(), q(-1, d), q(1, d), index == cells - 1, index == cells, index == 0),
    }.items():
        with np.errstate(divide="ignore", invalid="ignore"):
            r = (up - behind) / (down - up)
        phi = limiter(np.nan_to_num(r, nan=0.0, posinf=np.inf, neginf=-np.inf))
        phi = np.where(walls & beside, np.minimum(phi, np.maximum(r, 0.0)), phi)
        with np.errstate(invalid="ignore"):
            inner = np.where(down == up, up, up + phi / 2 * (down - up))
        values[forward] = np.where(walls & entering, (up + down) / 2, np.where(walls & leaving, up, inner))
    return np.where(speed > 0, values[True], values[False])


def bounded_tendency(
    q: Shifted, velocity: Sequence[Shifted], h: Sequence[float], cells: Sequence[int], walls: Flags, diffusivity: float
) -> np.ndarray:
    """-div(u q) + diffusivity Laplacian(q) in cells, with q on faces from `carried_value`."""
    total = np.zeros_like(q())
    for d in range(3):
        fluxes = []
        for n in (0, 1):
            x, y, z = (n if a == d else 0 for a in range(3))
            on_face = Shifted(q.array, q.box.shift((x, y, z)), q.origin)
            speed = velocity[d](n, d)
            value = carried_value(on_face, speed, d, cells[d], walls[d])
            fluxes.append(speed * value - diffusivity * (on_face() - on_face(-1, d)) / h[d])
        total -= (fluxes[1] - fluxes[0]) / h[d]
    return total
