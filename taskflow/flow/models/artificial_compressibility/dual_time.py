"""Physical time steps by BDF2 with variable steps, and pseudo-time within each of them ("dual time"; A. Jameson 1991,
AIAA 91-1596; as in L. Luo et al. 2014).

    du/dtau + rate u - past + R(u) / V = 0,    rate = c_0 / dt,    past = -(c_1 u^n + c_2 u^(n-1)) / dt

c_0 = (1 + 2 r) / (1 + r), c_1 = -(1 + r), c_2 = r^2 / (1 + r), with r = dt / (the previous step). The first step is an
Euler step: 1, -1, 0. T and passive scalars have the same terms, the pressure has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

CHANGE, NOW, BEFORE, RATIO = "change", "now", "before", "ratio"


def weights(ratio: float) -> tuple[float, float, float]:
    """Return c_0, c_1, c_2 of a step `ratio` times as long as the previous one; 0 for the first step."""
    return (1 + 2 * ratio) / (1 + ratio), -(1 + ratio), ratio**2 / (1 + ratio)


@dataclass(frozen=True)
class DualTime:
    """Criteria that end a physical time step: the residuals of momentum, heat and scalars have fallen to `tolerance`
    times their initial values, and max |div u| is at most 1e-4 reference speed / `length`, or `iterations` of
    pseudo-time are done.

    - Residuals of transported quantities need not fall below 1e-4 (reference speed / length) max |q|, the size due to
      such a divergence.
    - `rounding`: rounding error of a momentum balance, relative to its largest terms
    - `rest`: the rate that sets the step as long as nothing moves
    """

    tolerance: float = 1e-3
    iterations: int = 500
    length: float = 1.0
    rounding: float = 1e-12
    rest: float = 1.0

    def fields(self, state: tuple[str, ...]) -> list[str]:
        """Return the fields of previous levels, and of their contributions to a step."""
        return [f"old_{name}" for name in state] + [f"past_{name}" for name in state if name != "p"]

    def scalars(self, dt: float, ratio: float) -> dict[str, float]:
        """Return the numbers of a step of dt, `ratio` times as long as the previous one (0 for the first)."""
        c = weights(ratio)
        return {CHANGE: c[0] / dt, NOW: -c[1] / dt, BEFORE: -c[2] / dt, RATIO: ratio}

    def rate(self, speed: float, scalars: Mapping[str, float]) -> float:
        """Return the largest sum of |u.S| / V, at least reference `speed` / length."""
        fastest = scalars["rate"]
        return max(fastest, speed / self.length) if fastest else self.rest
