"""Two phases: densities and viscosities as functions of the share f of phase 1 in a cell.

    rho = rho_2 + (rho_1 - rho_2) f,    1/mu = s/mu_1 + (1 - s)/mu_2,    s = 2f - 1/2, clipped to [0, 1]
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from taskflow.flow.grid import Vector


@dataclass(frozen=True)
class Phases:
    """Densities, dynamic viscosities, surface tension and gravity of two phases.

    On faces, densities are arithmetic means of both cells. Viscosities are harmonic means, or arithmetic if
    `arithmetic`.
    """

    density_1: float
    density_2: float
    viscosity_1: float
    viscosity_2: float
    surface_tension: float = 0.0
    gravity: Vector = (0.0, 0.0, 0.0)
    arithmetic: bool = False

    @property
    def ratio(self) -> float:
        """Larger over smaller density."""
        low, high = sorted((self.density_1, self.density_2))
        return high / low

    @property
    def weighed_apart(self) -> bool:
        """True if gravity acts differently on the phases."""
        return any(self.gravity) and self.density_1 != self.density_2

    @property
    def kinematic_viscosity(self) -> float:
        """Larger kinematic viscosity of the two phases."""
        return max(self.viscosity_1 / self.density_1, self.viscosity_2 / self.density_2)

    def capillary_step(self, spacing: float) -> float:
        """Return sqrt((rho_1 + rho_2) d^3 / (2 pi sigma)), the time in which the shortest capillary waves cross a cell.

        The limit of J. U. Brackbill, D. B. Kothe and C. Zemach (1992, J. Comput. Phys. 100, 335) is 0.7 of it.
        """
        if self.surface_tension == 0:
            return math.inf
        return math.sqrt((self.density_1 + self.density_2) * spacing**3 / (2 * math.pi * self.surface_tension))
