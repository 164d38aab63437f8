"""Outer iterations of implicit marching as one program that can be timed again and again: its case, and its first state
at rest or in uniform motion.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from taskflow.bench.timing import PassJob
from taskflow.cases import Case
from taskflow.cases.source import override
from taskflow.flow.boundaries.boundary import Value, impose
from taskflow.flow.models.artificial_compressibility.implicit.gmres import Gmres
from taskflow.flow.models.artificial_compressibility.implicit.model import OWNER, ImplicitCompressibility
from taskflow.runtime.machine import Shard
from taskflow.runtime.regions import Triple
from taskflow.runtime.tasks import FACES, Derive, Launch, Ordering, OwnedScalars, Repeat, Roles, derive
from taskflow.systems.artificial_compressibility.constants import MetricFields

Scalars = Mapping[str, float]
THROUGH = {
    "x_min": {"type": "inflow", "velocity": [1.0, 0.0, 0.0]},
    "x_max": {"type": "outflow", "pressure": 0.0},
}
SIDES: dict[str, dict[str, Any]] = {
    "cavity": {"y_max": {"type": "wall", "velocity": [1.0, 0.0, 0.0]}},
    "channel": THROUGH,
}  # fmt: skip
CHARTS: dict[str, Triple] = {"cavity": (1, 1, 1), "channel": (6, 1, 1)}  # L. Luo et al. cut their channel into six
SPEED = {"cavity": 0.0, "channel": 1.0}  # of the first state, along x
COUNTS = "taken", "made", "present"  # of products and vectors
REYNOLDS, DISTORTION = 100.0, 0.05


@dataclass(frozen=True)
class ImplicitFlow:
    """A flow by name: the `solver` of its linear equations, the ordering of their preconditioner, and other `settings`
    of the case (`table.key=VALUE`).
    """

    case: str
    solver: str
    ordering: Ordering = "tiles"
    settings: tuple[str, ...] = ()

    def of(self, cells: Triple, precision: str, channel: str = "auto") -> Case:
        """The case on so many cells in all, which are not uniform. Raises BadInput where there is none such."""
        tables: dict[str, Any] = {
            "title": "bench",
            "fluid": {"viscosity": 1 / REYNOLDS},
            "grid": {
                "shape": "box", "cells": list(cells), "lengths": [n / min(cells) for n in cells],
                "charts": list(CHARTS[self.case]), "distortion": DISTORTION,
            },
            "method": {
                "type": "artificial-compressibility", "march": "implicit", "reference_speed": 1.0,
                "linear": {"solver": self.solver, "ordering": self.ordering},
            },
            "boundaries": {face: {"type": "wall"} for face in FACES} | SIDES[self.case],
            "time": {"steady": 1e-5, "steps": 1},  # nothing runs to a steady state
            "machine": {"precision": precision, "channel": channel},
        }  # fmt: skip
        override(tables, self.settings)
        return Case(**tables)


@dataclass(frozen=True, eq=False)
class March:
    """A program: a first state whose u has a `speed`, and an even number of outer iterations from there."""

    model: ImplicitCompressibility
    speed: float
    iterations: int

    def __call__(self, f: Roles) -> Iterator[Launch | Repeat | Derive]:
        for name in self.model.state:
            speed = self.speed if name == "u" else 0.0
            yield impose(f[name], over=self.model.cells, value=Value(speed))
        yield from self.model.start(f)
        yield derive(lambda _: dict.fromkeys(COUNTS, 0.0), COUNTS)
        yield Repeat(self._two, self.iterations // 2)

    def _two(self, f: Roles) -> Iterator[Launch | Repeat | Derive]:
        """Two iterations, after which fields are in their own roles again."""
        for _ in range(2):
            yield from self.model.step(f)
            yield derive(self._counted, COUNTS)

    def _counted(self, scalars: Scalars) -> dict[str, float]:
        """The products, or corrections, of all iterations so far, `taken`; the vectors that were `made`, and the sum of
        the vectors that were `present` each time: 1 for the first one after a restart, 2 for the next.
        """
        taken, solver = scalars[f"{OWNER}.taken"], self.model.solver
        present = list(solver.present(OwnedScalars(OWNER, scalars))) if isinstance(solver, Gmres) else [1] * int(taken)
        counted = {"taken": taken, "made": float(len(present)), "present": float(sum(present))}
        return {name: scalars[name] + counted[name] for name in COUNTS}

    def job(self, constants: MetricFields, seconds: float) -> PassJob:
        """The job that times it, an iteration being a unit."""
        return PassJob(constants.fill, self, self._end, self.iterations, seconds=seconds)

    def _end(self, shard: Shard) -> dict[str, Any]:
        told = {name: shard.scalars[f"{OWNER}.{name}"] for name in ("cfl", "refused")}
        return {**{name: shard.scalars[name] for name in COUNTS}, **told}
