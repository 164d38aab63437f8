"""What studies of several papers measure with: this machine, copies of its memory, and the solve of a step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, Literal

from taskflow.bench.team import Team
from taskflow.bench.timing import TimingConditions, bandwidths, moving
from taskflow.flow import NavierStokes
from taskflow.flow.boundaries.boundary import Value, impose
from taskflow.flow.models.two_phase.two_phase import TwoPhase
from taskflow.flow.poisson import relative_residual
from taskflow.runtime.host import Place, choose_device, look
from taskflow.runtime.machine import Shard
from taskflow.runtime.machine.device import Device, open_device
from taskflow.runtime.machine.trace.staging import Staging
from taskflow.runtime.tasks import Launch, Repeat, Roles
from taskflow.terminal.exit_codes import refuse

Halos = Literal["direct", "packed", "host", "rows"]
HALOS: dict[Halos, Staging] = {"direct": "device", "packed": "device", "host": "host", "rows": "rows"}
OF_DRIVER = {"cpu": 0, "gpu": 1 << 30}  # bytes of the driver for a process (H200: 0.6 GB)


def open_here(requested: str) -> tuple[Place, Device]:
    """Return this machine and a device of it, or all its cores. Raises BadInput if the device is not usable."""
    here = look("this machine")
    return here, open_device("gpu" if choose_device(requested, [here]) == "gpu" else "cpu", here.cores)


def beside_copies(device: Device, measure: Callable[[], list[dict[str, Any]]]) -> dict[str, Any]:
    """Return rows with their rates, and the bandwidths of copies: medians of measurements before and after."""
    before, rows = bandwidths(device), measure()
    copies = {name: median([before[name], after]) for name, after in bandwidths(device).items()}
    rates = [moving({**row, **copies}, row["bytes"]) for row in rows]
    return {**copies, "results": [{**row, **rate} for row, rate in zip(rows, rates, strict=True)]}


def one_overlap(conditions: TimingConditions, what: str) -> None:
    """Raise BadInput for several overlaps if `what` takes only one."""
    if len(conditions.overlaps) > 1:
        refuse(f"--overlap {','.join(conditions.overlaps)}: {what} takes one of them; give one")


def with_halos(conditions: TimingConditions, halos: Halos, team: Team) -> TimingConditions:
    """Return the conditions for halos that go in this way. Between GPUs whatever has a channel of its own is packed.
    Rows are too many for CUDA graphs.
    """
    if halos == "packed" and team.device == "gpu":
        conditions = replace(conditions, channel="local" if len(team.places) == 1 else "ucx")
    return replace(conditions, staging=HALOS[halos], graphs=conditions.graphs and halos != "rows")


@dataclass(frozen=True, eq=False)
class Solve:
    """Program that solves for the pressure of a step from p = 0, given its right-hand side."""

    model: NavierStokes | TwoPhase

    def __call__(self, f: Roles) -> Iterator[Launch | Repeat]:
        yield impose(f.p, over=self.model.staggered.box, value=Value(0.0))
        yield from self.model.pressure.solve(f)

    def end(self, shard: Shard) -> dict[str, Any]:
        """Return the iterations of the last solve, and its residual."""
        taken = self.model.pressure.taken(shard.scalars)
        shard.run(self.model.residual)
        return {"iterations": taken, "residual": relative_residual(shard.scalars)}
