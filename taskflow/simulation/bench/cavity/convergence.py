"""The time that solvers of the pressure equation take against the residual they leave: that of a step, from p = 0."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

from taskflow.flow import NavierStokes
from taskflow.flow.boundaries.boundary import Value, impose
from taskflow.flow.poisson import NotConverged, Solver, Tolerance, measure_residual, measure_rhs, relative_residual
from taskflow.machine import Control, Shard
from taskflow.simulation.bench.cavity.cases import Flow, Pressure, velocity_of
from taskflow.simulation.bench.cavity.initial_velocity import InitialVelocity
from taskflow.simulation.bench.cavity.methods import METHODS
from taskflow.simulation.bench.cavity.step import Begin, check_memory
from taskflow.simulation.bench.passes import Conditions, PassJob, Timing
from taskflow.simulation.bench.scaling import Growth
from taskflow.simulation.bench.sweep import describe
from taskflow.simulation.bench.team import Request, team
from taskflow.simulation.estimate import advective_rate
from taskflow.simulation.setup import Setup
from taskflow.tasks import Launch, Repeat, Roles

MOST = 2000  # iterations, after which a solver is given up
SIZES = {"cpu": (65, 129), "gpu": (257, 385, 513)}  # the papers' on GPUs, and one between them


@dataclass(frozen=True)
class Comparison:
    """What is compared: methods by name, on n^3 cells (by default `SIZES` of the device), down to residuals of 1/10,
    1/100, ... of the right-hand side, so many `decades` of them.
    """

    sizes: tuple[int, ...] | None
    methods: tuple[str, ...]
    decades: int

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        """From the loosest to the tightest."""
        return tuple(Tolerance(10.0**-decade, MOST) for decade in range(1, self.decades + 1))


@dataclass(frozen=True, eq=False)
class Solved(Setup):
    """A case whose pressure is solved for by a solver that is given."""

    pressure: Solver

    @cached_property
    def model(self) -> NavierStokes:
        """The case's equations with that solver."""
        return replace(super().model, pressure=self.pressure)


@dataclass(frozen=True, eq=False)
class Solve:
    """A program: from p = 0 to the pressure of a step."""

    model: NavierStokes

    def __call__(self, f: Roles) -> Iterator[Launch | Repeat]:
        yield impose(f.p, over=self.model.staggered.box, value=Value(0.0))
        yield from self.model.pressure.solve(f)

    def left(self, f: Roles) -> Iterator[Launch]:
        """A program: the residual that is left, with the right-hand side."""
        yield measure_rhs(f, self.model.grid)
        yield measure_residual(f, self.model.grid)

    def end(self, shard: Shard) -> dict[str, Any]:
        """What the last solve took, and what it left."""
        taken = self.model.pressure.taken(shard.scalars)
        shard.run(self.left)
        return {"iterations": taken, "residual": relative_residual(shard.scalars)}


@dataclass(frozen=True, eq=False)
class Series:
    """The job of a block: one step, whose equation is then solved again and again, to each tolerance in turn."""

    begin: Begin
    solves: Sequence[Solve]
    seconds: float

    def __call__(self, shard: Shard, control: Control) -> list[dict[str, Any]]:
        """A report for each tolerance, up to the first that the solver does not reach."""
        self.begin(shard)
        found = []
        for solve in self.solves:
            try:
                found.append(PassJob(_nothing, solve, solve.end, seconds=self.seconds)(shard, control))
            except NotConverged:
                break
        return found


def _nothing(shard: Shard) -> None:
    """The fields are as the last job left them."""


def measure_convergence(wanted: str, comparison: Comparison, growth: Growth, conditions: Conditions) -> dict[str, Any]:
    """A row per size, number of blocks (slabs in z), method and residual.

    Raises BadInput where there are fewer GPUs than blocks, a method cannot be had in this precision, or the memory is
    not enough.
    """
    counts, precision = growth.counted(wanted), conditions.precision or "double"
    rows: list[dict[str, Any]] = []
    with team(Request(wanted, (1, 1, max(counts)))) as people:
        timing, asked = Timing(people, conditions), []
        sizes = comparison.sizes or SIZES[people.device]
        for size, count, method in product(sizes, counts, comparison.methods):
            case = Flow("cavity", Pressure()).of((size, size, size), precision, conditions.channel)
            grid, blocks = Setup(case, (1, 1, count)).grid.constants, (1, 1, count)
            solvers = METHODS[method](grid, blocks, comparison.tolerances)
            setups = [Solved(case, blocks, solver, device=people.device) for solver in solvers]
            check_memory(people, setups[0])
            asked.append((method, setups))
        for method, setups in asked:
            rows += [{"method": method, **row} for row in _measured(timing, method, setups)]
    return {**describe(people, precision, rows), "results": rows}


def _measured(timing: Timing, method: str, setups: Sequence[Solved]) -> list[dict[str, Any]]:
    """A row per solver that converges."""
    first = setups[0]
    case, cells = first.case, first.case.grid.cells
    dt = case.clock().limit.longest(advective_rate(first))
    begin = Begin(first.model, InitialVelocity(first.grid, velocity_of("cavity", cells)), dt, 0)
    job = Series(begin, [Solve(each.model) for each in setups], timing.conditions.seconds)
    reports, transports = timing.run(first.partition, job, timing.conditions.overlaps[0])
    return [
        {
            "cells": list(cells),
            **timing.row(method, first.partition, of_solver, transports),
            "iterations": of_solver[0]["iterations"],
            "residual": of_solver[0]["residual"],
        }
        for of_solver in zip(*reports, strict=True)
    ]
