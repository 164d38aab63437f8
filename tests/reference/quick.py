"""Momentum carried by QUICK (B. P. Leonard 1979, Comput. Methods Appl. Mech. Eng. 19, 59), on a uniform grid."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.reference.shifted import Shifted


def advection(
    velocity: Sequence[Shifted], a: int, h: Sequence[float], cells: Sequence[int], walls: Sequence[bool]
) -> np.ndarray:
    """-div(u q) of the component a, q, on its faces: q on the parabola through both neighbours and the one before that
    which the flow comes from; on the line between the two on walls, and where that one would lie beyond a wall.
    """
    q, total = velocity[a], np.zeros_like(velocity[a]())
    for b in range(3):
        index = np.arange(q.box.lo[b], q.box.hi[b]).reshape([-1 if d == 2 - b else 1 for d in range(3)])
        for m, sign in ((0, 1), (1, -1)):  # between q(m - 1) and q(m)
            by = velocity[b]
            speed = (q(m - 1, a) + q(m, a)) / 2 if b == a else (by(m, b, -1, a) + by(m, b)) / 2
            parabola = {
                True: (3 * q(m, b) + 6 * q(m - 1, b) - q(m - 2, b)) / 8,
                False: (3 * q(m - 1, b) + 6 * q(m, b) - q(m + 1, b)) / 8,
            }
            if b == a:  # the cell before the face is index - 1, the one behind it index
                central = {True: index + m - 1 == 0, False: index + m - 1 == cells[b] - 1}
            else:
                central = dict.fromkeys((True, False), np.isin(index + m, (0, cells[b])))
            mean = (q(m - 1, b) + q(m, b)) / 2
            value = {way: np.where(walls[b] & central[way], mean, parabola[way]) for way in (True, False)}
            total = total + sign * speed * np.where(speed > 0, value[True], value[False]) / h[b]
    return total
