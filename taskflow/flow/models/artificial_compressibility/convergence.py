"""When a march to a steady state is over: it has converged, it falls no further, or its numbers are none any more."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from taskflow.errors import RunFailed

FIRST = 5  # looks of which the largest residuals count
LEAST_FALL = 0.1
ROUNDING = 1e-12  # of the largest first residual of all equations
PATIENCE = 5000  # explicit steps in which residuals have to fall by that share


@dataclass
class Convergence:
    """The residuals of each equation after some steps. The state is steady when each has fallen to `tolerance` times
    its largest value of the first looks. `accept`: residuals that fall no further are the end, too, and no error.
    """

    tolerance: float
    accept: bool = False
    patience: int = PATIENCE
    history: list[tuple[int, dict[str, float]]] = field(default_factory=list)

    def note(self, step: int, norms: Mapping[str, float]) -> bool:
        """Note the residuals after a step; return whether the march is over.

        Raises RunFailed where one is not finite, or where none has fallen by a tenth in so many steps.
        """
        if wrong := [name for name, value in norms.items() if not math.isfinite(value)]:
            raise RunFailed(
                f"step {step}: the residual of {', '.join(wrong)} is not finite: the march has diverged; give a lower"
                ' method.cfl, or begin with method.reconstruction = "first"'
            )
        self.history.append((step, dict(norms)))
        fallen = self.fallen()
        if all(share <= self.tolerance for share in fallen.values()):
            return True
        if not self._stalled():
            return False
        if self.accept:
            return True
        worst = max(fallen, key=lambda name: fallen[name])
        raise RunFailed(
            f"step {step}: the residual of {worst} has fallen to {fallen[worst]:.2g} of its first value, and by less"
            f" than a tenth in {self.patience} steps; {self.tolerance:.2g} was to be reached. The flow may be unsteady:"
            ' leave time.steady out, or take what there is with method.stall = "accept"'
        )

    def fallen(self) -> dict[str, float]:
        """What is left of each residual, of its largest value of the first looks; 0 of one that began with rounding."""
        return self._left(self.history[-1][1])

    def _left(self, norms: Mapping[str, float]) -> dict[str, float]:
        begun = {name: max(looked[name] for _, looked in self.history[:FIRST]) for name in norms}
        rounding = ROUNDING * max(begun.values(), default=0.0)
        return {name: norm / begun[name] if begun[name] > rounding else 0.0 for name, norm in norms.items()}

    def _stalled(self) -> bool:
        """Whether what is left of the worst residual has at no look of the last steps been a tenth below what was the
        least before: a march swings on its way.
        """
        step = self.history[-1][0]
        worst = [(n, max(self._left(norms).values())) for n, norms in self.history]
        before = [left for n, left in worst if n <= step - self.patience]
        since = [left for n, left in worst if n > step - self.patience]
        return bool(before) and min(since) > (1 - LEAST_FALL) * min(before)
