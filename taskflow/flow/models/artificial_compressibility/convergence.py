"""When a march to a steady state is over: it has converged, it falls no further, or its numbers are none any more."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from taskflow.errors import RunFailed

FIRST = 5  # looks of which the largest residuals count
LEAST_FALL = 0.1
ROUNDING = 1e-12  # of the largest first residual of all equations
PATIENCE = 5000  # explicit steps in which residuals have to fall by that share

Look = tuple[int, dict[str, float]]  # the residuals of each equation after a step


@dataclass
class Convergence:
    """The residuals of each equation after some steps. The state is steady when each has fallen to `tolerance` times
    its largest value of the first looks. `accept`: residuals that fall no further are the end, too, and no error.
    `history` has the looks that count: the first ones, the least of the older ones, and those of the last steps.
    """

    tolerance: float
    accept: bool = False
    patience: int = PATIENCE
    history: list[Look] = field(default_factory=list)

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
        return self._left(self.history[-1:])[0]

    def _left(self, looks: Sequence[Look]) -> list[dict[str, float]]:
        """What is left of each residual at these looks."""
        names = self.history[-1][1]
        begun = {name: max(norms[name] for _, norms in self.history[:FIRST]) for name in names}
        large = {name: value for name, value in begun.items() if value > ROUNDING * max(begun.values())}
        nothing = dict.fromkeys(names, 0.0)
        return [nothing | {name: norms[name] / value for name, value in large.items()} for _, norms in looks]

    def _stalled(self) -> bool:
        """Whether what is left of the worst residual has at no look of the last steps been a tenth below what was the
        least before: a march swings on its way. Of the looks before, forget those that can no longer count.
        """
        begin = self.history[-1][0] - self.patience
        worst = [max(left.values()) for left in self._left(self.history)]
        old = [n for n, (step, _) in enumerate(self.history) if step <= begin]
        if not old:
            return False
        least = min(old, key=worst.__getitem__)
        kept = [n for n in range(len(worst)) if n < FIRST or n == least or n > old[-1]]
        stalled = min(worst[old[-1] + 1 :]) > (1 - LEAST_FALL) * worst[least]
        self.history = [self.history[n] for n in kept]
        return stalled
