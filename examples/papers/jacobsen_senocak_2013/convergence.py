"""The time that solvers of the pressure equation take against the residual they leave: that of a step, from p = 0."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from examples.papers.measuring import Solve
from taskflow.bench.projection.flows import Flow, InitialVelocity, velocity_of
from taskflow.bench.projection.step import WarmUp
from taskflow.bench.scaling import Growth
from taskflow.bench.steps import Pressure, check_memory, priced
from taskflow.bench.team import Request, open_team
from taskflow.bench.timing import PassJob, PassTiming, TimingConditions, describe, nothing
from taskflow.common.caching import cached_property
from taskflow.common.errors import BadInput
from taskflow.common.units import plural
from taskflow.flow import Grid, NavierStokes
from taskflow.flow.poisson import (
    FFT,
    ConjugateGradients,
    ConvergedJacobi,
    Cycle,
    Multigrid,
    NotConverged,
    Operator,
    Solver,
    Tolerance,
)
from taskflow.flow.poisson.multigrid.cycle import GATHERED
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.machine import Control, Shard
from taskflow.runtime.regions import Triple
from taskflow.systems.base.pressure import REDUNDANT
from taskflow.systems.projection import Projection

SWEEPS = 4  # on the last level of a truncated cycle, as in the papers
PLANES = 2  # of a block on that level
MOST = 2000  # iterations, after which a solver is given up
SIZES = {"cpu": (65, 129), "gpu": (257, 385, 513)}  # the papers' on GPUs, and one between them


@dataclass(frozen=True)
class Comparison:
    """A comparison of methods by name, on n^3 cells (by default `SIZES` of the device), down to residuals of 1/10,
    1/100, ... of the right-hand side, so many `decades` of them. Cycles are amalgamated at levels of at most
    `amalgamate` cells, one after the other.
    """

    sizes: tuple[int, ...] | None
    methods: tuple[str, ...]
    decades: int
    amalgamate: tuple[int, ...] = (GATHERED,)

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        """From the loosest to the tightest."""
        return tuple(Tolerance(10.0**-decade, MOST) for decade in range(1, self.decades + 1))

    def solvers(self, grid: Grid, blocks: Triple, device: str) -> Iterator[tuple[dict[str, Any], list[Solver]]]:
        """Yield the labels of each method, and its solver for each tolerance."""
        for method in self.methods:
            tolerances = self.tolerances[: 1 if method == "fft" else None]
            for cells in self.amalgamate if method in GATHERING else (None,):
                levels = {"gathered": cells, "redundant": REDUNDANT[device], "blocks": blocks}
                solvers = [METHODS[method](grid, blocks, tolerance, levels) for tolerance in tolerances]
                yield {"method": method, "amalgamate": cells}, solvers


@dataclass(frozen=True, eq=False)
class Solved(RunSetup):
    """A case whose pressure is solved for by another solver than its own."""

    pressure: Solver

    @cached_property
    def model(self) -> NavierStokes:
        """The case's equations with that solver."""
        return replace(Projection.of(self.system).model, pressure=self.pressure)


@dataclass(frozen=True, eq=False)
class Series:
    """The job of a block: one step, whose equation is then solved again and again, to each tolerance in turn."""

    begin: WarmUp
    solves: Sequence[Solve]
    seconds: float

    def __call__(self, shard: Shard, control: Control) -> list[dict[str, Any]]:
        """A report for each tolerance, up to the first that the solver does not reach."""
        self.begin(shard)
        reports = []
        for solve in self.solves:
            try:
                reports.append(PassJob(nothing, solve, solve.end, seconds=self.seconds)(shard, control))
            except NotConverged:
                break
        return reports


def measure_convergence(
    device: str, comparison: Comparison, growth: Growth, conditions: TimingConditions, price: float | None
) -> dict[str, Any]:
    """A row per size, number of blocks (slabs in z), method and `tolerance`, which is None for a direct solver.

    Raises BadInput where there are fewer GPUs than blocks, a method cannot be had in this precision, or the memory is
    not enough.
    """
    counts = growth.counted(device)
    rows: list[dict[str, Any]] = []
    with open_team(Request(device, (1, 1, max(counts)))) as team:
        timing, asked = PassTiming(team, conditions), []
        if timing.precision == "single" and "mixed" in comparison.methods:
            raise BadInput(
                "--methods mixed: only its levels are in single precision; give --precision double, or omit it"
            )
        sizes = comparison.sizes or SIZES[team.device]
        for size, count in product(sizes, counts):
            case = Flow("cavity", Pressure()).of((size, size, size), timing.precision, conditions.channel)
            grid, blocks = RunSetup(case, (1, 1, count)).grid.constants, (1, 1, count)
            for labels, solvers in comparison.solvers(grid, blocks, team.device):
                setups = [Solved(case, blocks, solver, device=team.device) for solver in solvers]
                check_memory(team, setups[0])
                asked.append((labels, setups))
        for labels, setups in asked:
            method = labels["method"]
            rows += [
                {**labels, "tolerance": None if method == "fft" else tolerance.relative, **row}
                for row, tolerance in zip(_measured(timing, method, setups), comparison.tolerances, strict=False)
            ]
    rows = [priced(row, price) for row in rows]
    return {**describe(team, timing.precision, rows), "price": price, "results": rows}


def _measured(timing: PassTiming, method: str, setups: Sequence[Solved]) -> list[dict[str, Any]]:
    """A row per solver that converges."""
    first = setups[0]
    cells = first.case.grid.cells
    dt = first.clock.limit.longest(first.system.advective_rate)
    begin = WarmUp(first.model, InitialVelocity(first.grid, velocity_of("cavity", cells)), dt, 0)
    job = Series(begin, [Solve(setup.model) for setup in setups], timing.conditions.seconds)
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


def levels(row: Mapping[str, Any]) -> str:
    """Return the largest levels that a row amalgamates as text, if they are not the usual ones."""
    cells = row.get("amalgamate")
    return "" if cells in (None, GATHERED) else f" at {plural(cells, 'cell')}"


def truncated(grid: Grid, blocks: Triple) -> Cycle:
    """A V-cycle that ends where the blocks have two planes of cells left: nothing is gathered."""
    thinnest = min(n // count for n, count in zip(grid.cells, blocks, strict=True))
    depth = max(1, (thinnest // PLANES).bit_length())
    return Cycle(Operator(grid), gathered=0, depth=depth, coarsest=SWEEPS)


METHODS: Mapping[str, Callable[[Grid, Triple, Tolerance, dict[str, Any]], Solver]] = {
    "truncated": lambda grid, blocks, tolerance, _: Multigrid(truncated(grid, blocks), tolerance),
    "amalgamated": lambda grid, _, tolerance, levels: Multigrid(Cycle(Operator(grid), **levels), tolerance),
    "cg": lambda grid, _, tolerance, levels: ConjugateGradients(Cycle(Operator(grid), **levels), tolerance),
    # The levels in single precision, for a pressure in double precision.
    "mixed": lambda grid, _, tolerance, levels: ConjugateGradients(
        Cycle(Operator(grid), **levels, single=True), tolerance
    ),
    "fft": lambda grid, blocks, *_: FFT(grid, blocks),  # exact but for rounding
    "jacobi": lambda grid, _, tolerance, __: ConvergedJacobi(Operator(grid), tolerance),
}
GATHERING = "amalgamated", "cg", "mixed"  # whose coarse levels are stored on every block
