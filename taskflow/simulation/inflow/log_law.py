"""The logarithmic profile of the wind over rough ground."""

from __future__ import annotations

from dataclasses import dataclass
from math import log1p
from typing import Any

import numpy as np

from taskflow.flow.boundaries.rough_wall import KARMAN


@dataclass(frozen=True)
class LogProfile:
    """A velocity component over rough ground (P. J. Richards, R. P. Hoxey 1993, J. Wind Eng. Ind. Aerodyn. 46, 145):

        share (friction_velocity / 0.41) ln((s - ground + roughness) / roughness)

    where s is the coordinate along `up`, a direction by its number, and 0 below the ground. `share` is the component
    of the wind's direction, a unit vector.
    """

    friction_velocity: float
    roughness: float
    up: int
    ground: float
    share: float

    varies = False

    def __call__(self, x: Any, y: Any, z: Any, t: float = 0.0) -> np.ndarray:
        """Values in float64, in the shape to which x, y and z broadcast."""
        height = np.maximum((x, y, z)[self.up] - self.ground, 0.0)
        speed = self.friction_velocity / KARMAN * np.log1p(height / self.roughness)
        return np.broadcast_to(self.share * speed, np.broadcast_shapes(np.shape(x), np.shape(y), np.shape(z)))


def friction_velocity(speed: float, height: float, roughness: float) -> float:
    """That of the profile with a speed at a height above the ground."""
    return speed * KARMAN / log1p(height / roughness)
