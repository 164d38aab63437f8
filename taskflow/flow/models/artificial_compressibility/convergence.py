"""The end of a march to a steady state: converged, stalled or diverged."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from taskflow.common.errors import RunFailed

LEAST_FALL = 0.1
ROUNDING = 1e-12  # of the largest residual of all equations
PATIENCE = 5000  # explicit steps in which residuals have to fall by that share

Look = tuple[int, float]  # a step, and the relative worst residual after it


@dataclass
class Convergence:
    """Residuals of each equation during a march. The state is steady when each has fallen to `tolerance` times its
    `largest` value so far, as a fluid at rest starts with small residuals.

    - `accept`: stalled residuals also end the march, without error.
    - `norms`: the present residuals. Multiplied by `weights` (default 1) they have the same unit.
    - `history`: samples since a residual last exceeded its largest value: the least older one, and all of the last
      `patience` steps.
    """

    tolerance: float
    accept: bool = False
    patience: int = PATIENCE
    weights: Mapping[str, float] = field(default_factory=dict)
    largest: dict[str, float] = field(default_factory=dict)
    norms: dict[str, float] = field(default_factory=dict)
    history: list[Look] = field(default_factory=list)

    def note(self, step: int, norms: Mapping[str, float]) -> bool:
        """Record the residuals after a step and return True if the march has ended.

        Raises RunFailed if a residual is not finite, or if the worst has fallen by less than a tenth in `patience`
        steps.
        """
        if wrong := [name for name, value in norms.items() if not math.isfinite(value)]:
            raise RunFailed(
                f"step {step}: the residual of {', '.join(wrong)} is not finite: the march has diverged; give a lower"
                ' method.cfl, or begin with method.reconstruction = "first"'
            )
        self.norms = dict(norms)
        risen = {name for name, value in norms.items() if value > self.largest.get(name, -1.0)}
        self.largest |= {name: norms[name] for name in risen}
        if risen and risen & self._counting:
            self.history = []
        fallen = self.fallen()
        self.history.append((step, max(fallen.values())))
        if all(share <= self.tolerance for share in fallen.values()):
            return True
        if not self._stalled():
            return False
        if self.accept:
            return True
        worst = max(fallen, key=lambda name: fallen[name])
        raise RunFailed(
            f"step {step}: the residual of {worst} has fallen to {fallen[worst]:.2g} of its largest value, and by less"
            f" than a tenth in {self.patience} steps; {self.tolerance:.2g} was required. The flow may be unsteady:"
            ' omit time.steady, or accept the present state with method.stall = "accept"'
        )

    def fallen(self) -> dict[str, float]:
        """Return each residual over its largest value so far; 0 if it has never exceeded rounding."""
        counting = self._counting
        return {n: value / self.largest[n] if n in counting else 0.0 for n, value in self.norms.items()}

    @property
    def _counting(self) -> set[str]:
        """The equations whose residuals have exceeded rounding."""
        sizes = {name: value * self.weights.get(name, 1.0) for name, value in self.largest.items()}
        least = ROUNDING * max(sizes.values(), default=0.0)
        return {name for name, size in sizes.items() if size > least}

    def _stalled(self) -> bool:
        """Return True if the worst residual, in all samples of the last steps, exceeds 0.9 times the least earlier
        sample.

        Residuals oscillate during a march. Earlier samples except the least are dropped.
        """
        begin = self.history[-1][0] - self.patience
        old = [look for look in self.history if look[0] <= begin]
        if not old:
            return False
        least, last = min(old, key=lambda look: look[1]), [look for look in self.history if look[0] > begin]
        self.history = [least, *last]
        return min(left for _, left in last) > (1 - LEAST_FALL) * least[1]
