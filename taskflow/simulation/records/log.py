"""What is measured of a run's states, on one block: a line of the log, which block 0 writes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from taskflow.flow import Monitor, NavierStokes
from taskflow.flow.poisson import relative_residual
from taskflow.machine import Shard
from taskflow.output import Guard, RunLog, unguarded
from taskflow.simulation.schedule import Tick


class StateLog:
    """The log at `path`, which is written after a call of `guard`."""

    def __init__(self, model: NavierStokes, shard: Shard, path: Path, guard: Guard = unguarded) -> None:
        self._model, self._monitor, self._shard = model, Monitor(model), shard
        self._log = RunLog(path, guard) if shard.block == 0 else None
        self._unplanned = 0

    def take(self, tick: Tick, wall: float, stopped: Tick | None) -> dict[str, Any]:
        """The numbers of the present state, so many seconds after the first one; a line of the log where one is due.
        `stopped` is what would have been due where the run ends because somebody asked for it. All blocks have to call.
        """
        numbers = self._numbers(tick, wall)
        if self._log is not None and tick.monitor:
            self._log.write(numbers)
            self._unplanned = int(stopped is not None and not stopped.monitor)
        return numbers

    def insane(self, numbers: Mapping[str, Any]) -> str | None:
        """The name of one of these numbers that has to be finite and is not."""
        names = ("kinetic_energy", "divergence", "residual", *self._monitor.integrals(self._shard.scalars))
        return next((name for name in names if not math.isfinite(numbers[name])), None)

    @property
    def planned(self) -> int:
        """How many lines there are without one that is only there because the run was stopped."""
        return self._log.lines - self._unplanned if self._log is not None else 0

    @property
    def checksum(self) -> int:
        """Of these lines."""
        return self._log.checksum(self.planned) if self._log is not None else 0

    def _numbers(self, tick: Tick, wall: float) -> dict[str, Any]:
        """See CASE in the reference. `change` is max |du| / dt relative to the largest speed."""
        model, monitor = self._model, self._monitor
        self._shard.run(monitor)
        found, cells = self._shard.scalars, self._shard.region.cells.volume
        numbers: dict[str, Any] = {
            "step": tick.step,
            "time": tick.time,
            "dt": tick.dt,
            "cfl": tick.dt * found["rate"],
            "divergence": found["divergence"],
            "residual": relative_residual(found),
            "iterations": model.pressure.taken(found) if tick.step else 0,
            "kinetic_energy": found["energy"] / cells,
            "wall": wall,
            "change": monitor.change(found, tick.dt),
        }
        numbers |= model.driving.forces(found, model.scheme, tick.dt, cells)
        if model.turbulence:
            numbers["eddy_viscosity"] = found["eddy"]
        if model.heat:
            numbers |= {f"nusselt_{face}": value for face, value in monitor.nusselt(found).items()}
        if model.obstacles:
            numbers["bodies"] = model.obstacles.found(found)
        return numbers | monitor.integrals(found)
