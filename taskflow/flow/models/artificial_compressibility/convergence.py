"""When a march to a steady state is over: it has converged, it falls no further, or its numbers are none any more."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from taskflow.common.errors import RunFailed

LEAST_FALL = 0.1
ROUNDING = 1e-12  # of the largest residual of all equations
PATIENCE = 5000  # explicit steps in which residuals have to fall by that share

Look = tuple[int, float]  # after a step, what was left of the worst residual


@dataclass
class Convergence:
    """The residuals of each equation after some steps. The state is steady when each has fallen to `tolerance` times
    its `largest` value so far: fluid at rest begins with next to none. `accept`: residuals that fall no further are the
    end, too, and no error. `history` has the looks that count since a residual was last larger than ever before: the
    least of the older ones, and those of the last steps. `norms` are the residuals now. Multiplied by their `weights`
    (default: 1) residuals have the same unit.
    """

    tolerance: float
    accept: bool = False
    patience: int = PATIENCE
    weights: Mapping[str, float] = field(default_factory=dict)
    largest: dict[str, float] = field(default_factory=dict)
    norms: dict[str, float] = field(default_factory=dict)
    history: list[Look] = field(default_factory=list)

    def note(self, step: int, norms: Mapping[str, float]) -> bool:
        """Note the residuals after a step; return whether the march is over.

        Raises RunFailed where one is not finite, or where the worst has fallen by less than a tenth in so many steps.
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
            f" than a tenth in {self.patience} steps; {self.tolerance:.2g} was to be reached. The flow may be unsteady:"
            ' leave time.steady out, or take what there is with method.stall = "accept"'
        )

    def fallen(self) -> dict[str, float]:
        """The rest of each residual, of its largest value so far; 0 of one that has never been above rounding."""
        counting = self._counting
        return {n: value / self.largest[n] if n in counting else 0.0 for n, value in self.norms.items()}

    @property
    def _counting(self) -> set[str]:
        """The equations that have been above rounding."""
        sizes = {name: value * self.weights.get(name, 1.0) for name, value in self.largest.items()}
        least = ROUNDING * max(sizes.values(), default=0.0)
        return {name for name, size in sizes.items() if size > least}

    def _stalled(self) -> bool:
        """Whether what is left of the worst residual has at no look of the last steps been a tenth below what was the
        least before: a march swings on its way. Of the looks before, forget all but the least.
        """
        begin = self.history[-1][0] - self.patience
        old = [look for look in self.history if look[0] <= begin]
        if not old:
            return False
        least, last = min(old, key=lambda look: look[1]), [look for look in self.history if look[0] > begin]
        self.history = [least, *last]
        return min(left for _, left in last) > (1 - LEAST_FALL) * least[1]
