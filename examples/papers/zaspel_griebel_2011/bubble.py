"""The benchmark of P. Zaspel and M. Griebel (2011) on a block: a number of steps from rest, again and again.

Speed is that of the main loop. Initial fields and the first projection are told apart: they count in energy alone.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from examples.papers.measuring import Solve
from taskflow.bench.energy import EnergyMeter
from taskflow.bench.steps import Pressure, flow_state
from taskflow.bench.timing import SAMPLES, PassJob, nothing, rehearse, slowest
from taskflow.cases import Case
from taskflow.cases.source import override
from taskflow.cases.timing.intervals import Tick
from taskflow.cases.timing.schedule import Clock
from taskflow.flow.models.two_phase.two_phase import TwoPhase
from taskflow.flow.poisson import Solver
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.machine import Control, Shard
from taskflow.runtime.regions import Location, Partition, Triple
from taskflow.runtime.tasks import FACES, Launch, Program, Repeat, Roles, counts, plan
from taskflow.systems.initial.fields import COMPUTED, CellMeans, InitialFields

SIDE, RADIUS, HEIGHT = 0.2, 0.03, 0.06  # metres: longest side of the tank, the bubble, its centre above the floor
STEPS = 20  # that the seed timed
FEWEST = 2  # repetitions of the benchmark: one has no spread
STILL = 1e-12  # of a step: so short a one moves nothing
SCHEMES: Mapping[str, tuple[str, ...]] = {  # ways to carry momentum, with what the case has for them
    "koren": (),
    "weno5": ("fluid.scheme=weno5", "two_phase.density=[998,99.8]"),
}


@dataclass(frozen=True)
class Bubble:
    """The case to measure: its solver, other `settings` of it (`table.key=VALUE`), the method for the interface, the
    `steps` that are timed, and the price of a device-hour.
    """

    pressure: Pressure
    steps: int = STEPS
    price: float | None = None
    method: str = "levelset"
    settings: tuple[str, ...] = ()

    def of(self, cells: Triple, precision: str, channel: str = "auto") -> Case:
        """The case with so many cubic cells, in water and air. Raises BadInput where there is none such."""
        x, y, z = lengths = [SIDE * n / max(cells) for n in cells]
        centre = x / 2, y / 2, min(HEIGHT, z / 2)
        square = " + ".join(f"({name} - {place!r})**2" for name, place in zip("xyz", centre, strict=True))
        tables: dict[str, Any] = {
            "title": "bubble",
            "grid": {"cells": list(cells), "lengths": lengths},
            "two_phase": {
                "density": [998.0, 1.2],
                "viscosity": [1.0e-3, 1.8e-5],
                "surface_tension": 0.0728,
                "method": self.method,
                "initial": f"sqrt({square}) - {RADIUS}",
            },
            "body": {"gravity": [0.0, 0.0, -9.81]},
            "boundaries": dict.fromkeys(FACES, "wall"),
            "time": {"steps": self.steps},
            "pressure": self.pressure.table,
            "machine": {"precision": precision, "channel": channel},
        }
        override(tables, self.settings)
        return Case(**tables)


@dataclass(frozen=True)
class Unsolved(Solver):
    """The fields of a solver, and nothing of what it does: a step with it is all but the pressure."""

    solver: Solver

    @property
    def fields(self) -> dict[str, Location]:
        """Those of the solver."""
        return self.solver.fields

    @property
    def ghost(self) -> int:
        """As the solver needs it."""
        return self.solver.ghost

    def partitions(self, main: Partition) -> tuple[Partition, ...]:
        """Those of the solver."""
        return self.solver.partitions(main)

    def solve(self, f: Roles) -> Iterator[Launch | Repeat]:
        """Nothing: p stays."""
        yield from ()

    def taken(self, scalars: Mapping[str, float]) -> int:
        """None was."""
        return 0


@dataclass(frozen=True)
class Rise:
    """The first steps of a case, from its initial fields, each as long as a run would make it.

    `means` are the initial means over cells of each block, which take longer than the steps: computed once.
    """

    model: TwoPhase
    initial: InitialFields
    clock: Clock
    monitor: Program
    means: dict[int, dict[str, np.ndarray]] = field(default_factory=dict)

    @classmethod
    def of(cls, setup: RunSetup) -> Rise:
        """Those of a case whose initial fields are formulas."""
        assert isinstance(setup.model, TwoPhase)
        fields = {name: p if isinstance(p, COMPUTED) else None for name, p in setup.system.initial.items()}
        initial = InitialFields(setup.grid.points, fields, Path(), setup.system.noise)
        return cls(setup.model, initial, setup.clock, setup.monitor)

    def begin(self, shard: Shard) -> float:
        """Make the first state, with the fields in the roles of the start; the seconds of the slowest block."""
        shard.meet()
        start = time.perf_counter()
        shard.roles = Roles.of(tuple(shard.partition.fields))
        means = self._means(shard)
        self.initial.fill(shard, [name for name in self.initial.profiles if name not in means])
        shard.write(means)
        shard.run(self.model.start, dt=1.0)
        return slowest(shard, start)

    def _means(self, shard: Shard) -> dict[str, np.ndarray]:
        if shard.block not in self.means:
            names = [name for name, profile in self.initial.profiles.items() if isinstance(profile, CellMeans)]
            self.initial.fill(shard, names)
            self.means[shard.block] = {name: shard.read(name) for name in names}
        return self.means[shard.block]

    def steps(self, shard: Shard) -> Iterator[Tick]:
        """Do the steps; after each, where it led."""
        tick = self.clock.start()
        while not tick.finished:
            tick = self.clock.advance(tick, shard.scalars["rate"], self.model.diffusive_rates(shard.scalars))
            shard.run(self.model.step, **self.model.scalars(tick.dt, tick.ratio))
            yield tick

    def once(self, shard: Shard) -> None:
        """Begin, and do all steps."""
        shard.prepare((self.model.start, self.model.step, self.monitor))
        self.begin(shard)
        for _ in self.steps(shard):
            pass


@dataclass(frozen=True)
class RiseJob:
    """The job of a block: the first steps timed again and again, then the solution of the last pressure equation from
    p = 0, if `solve` is given, and then a step without its pressure.
    """

    rise: Rise
    rest: TwoPhase
    seconds: float = 1.0
    solve: Solve | None = None

    @classmethod
    def of(cls, setup: RunSetup, seconds: float, *, solved: bool = False) -> RiseJob:
        """That of a case, for at least so many seconds; the solution of an equation is timed where it is to be."""
        rise = Rise.of(setup)
        rest = replace(rise.model, pressure=Unsolved(rise.model.pressure))
        return cls(rise, rest, seconds, Solve(rise.model) if solved else None)

    def __call__(self, shard: Shard, control: Control) -> dict[str, Any]:
        """As `PassJob` reports it: `seconds` are those of a step of the main loop, a mean over the loop, one value for
        each repetition; `joules` are of the whole, per step. Besides, what the steps took.
        """
        model, rise = self.rise.model, self.rise
        rehearse(shard, partial(rise.once, shard))
        loops: list[float] = []
        begun: list[float] = []
        dt, names = 0.0, list(counts(plan(model.step, shard.roles)[0]))
        with EnergyMeter(shard.device) as meter:
            while len(loops) < FEWEST or (sum(loops) < self.seconds and len(loops) < SAMPLES[1]):
                begun.append(rise.begin(shard))
                taken, rounds = list[int](), {name: list[float]() for name in names}
                start = time.perf_counter()
                for tick in rise.steps(shard):
                    taken.append(model.pressure.taken(shard.scalars))
                    for name, done in rounds.items():
                        done.append(shard.scalars[name])
                    dt = tick.dt
                loops.append(slowest(shard, start))
        steps = len(taken)
        shard.run(rise.monitor)
        state = {"steps": steps, "time": tick.time, "iterations_of_steps": taken, **flow_state(shard, taken, rounds)}
        if self.solve is not None:
            alone = PassJob(nothing, self.solve, self.solve.end, seconds=self.seconds)(shard, control)
            state |= {"solve_seconds": median(alone["seconds"]), "solve_iterations": alone["iterations"]}
        still = {"dt": STILL * dt, "ratio": 1.0}
        rest = PassJob(nothing, self.rest.step, scalars=still, seconds=self.seconds)(shard, control)
        return {
            **rest,
            "seconds": [seconds / steps for seconds in loops],
            "joules": None if meter.joules is None else meter.joules / (len(loops) * steps),
            "host_seconds": None,
            "initialisation_seconds": median(begun),
            "rest_seconds": median(rest["seconds"]),
            **state,
        }
