"""The outcome of a run's attempts so far, from which it goes on by itself after a loss."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from taskflow.errors import Lost, RunFailed
from taskflow.runtime.regions import Triple


@dataclass(frozen=True)
class Deployment:
    """The beginning of a run: its blocks, which decide its last bits, its kind of device, and its number of workers."""

    blocks: Triple
    device: str
    workers: int


@dataclass(eq=False)
class Recovery:
    """The outcome of a run's attempts so far, and how often in a row it may go on from one step: `allowed`.

    `remedy` says how somebody can go on with it later. `attempts` counts those that had machines, `deployment` is that
    of the first, `begun` says whether the run directory is the run's own already, `lost` has the workers of the last
    loss. `restarts` is for the report: the step from which the run went on, and why.
    """

    allowed: int
    remedy: str
    attempts: int = 0
    deployment: Deployment | None = None
    begun: bool = False
    lost: frozenset[str] = frozenset()
    restarts: list[dict[str, Any]] = field(default_factory=list)

    def note(self, loss: Lost, step: int) -> None:
        """The run goes on from this step. Raises RunFailed where it has done so as often as it may."""
        if sum(restart["step"] == step for restart in self.restarts) >= self.allowed:
            raise RunFailed(f"{loss}; {self._words(step)}") from loss
        self.restarts.append({"step": step, "reason": str(loss)})
        self.lost = loss.workers

    def _words(self, step: int) -> str:
        if not self.allowed:
            return f"{self.remedy}; machine.restarts lets a run go on by itself"
        return (
            f"the run has begun again from step {step} as often as it may without coming to another checkpoint"
            f" (machine.restarts = {self.allowed}); when the reason is mended, {self.remedy}"
        )
