"""Steps of the rising bubble: what they take, move and cost, on one grid, on cubes of many sizes, on several blocks;
and solvers of their pressure equation beside each other: figure 4 of the seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from math import prod
from operator import mul
from typing import Any

from examples.papers.measuring import OF_DRIVER
from examples.papers.zaspel_griebel_2011.bubble import SCHEMES, Bubble, RiseJob
from taskflow.bench.scaling import Growth, compared
from taskflow.bench.steps import Pressure, check_memory, check_state, costs, needed
from taskflow.bench.team import Request, open_team
from taskflow.bench.timing import BESIDE, PassTiming, TimingConditions, describe, moving
from taskflow.common.errors import BadInput
from taskflow.flow.models.two_phase.two_phase import TwoPhase
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.machine.trace.mapper import Overlap
from taskflow.runtime.regions import Triple, triple
from taskflow.systems.base.step_cost import LAYERS, StepCost, often, table

SIZES = {"cpu": (32, 48, 64, 96, 128), "gpu": (32, 64, 96, 128, 192, 256, 384, 512, 640, 768, 896, 1024)}  # of cubes
BETWEEN = 64  # cells from one size to the next, where the largest that fits is looked for
CELLS: dict[str, Triple] = {"cpu": (128, 128, 64), "gpu": (256, 256, 128)}  # of the step: on GPUs the seed's
STATE = (
    "steps", "time", "iterations", "iterations_of_steps", "rounds", "divergence", "residual", "kinetic_energy",
    "initialisation_seconds", "rest_seconds",
)  # fmt: skip
SOLVED = "solve_seconds", "solve_iterations"
WEAK: dict[str, Triple] = {"weak-128": (256, 256, 128), "weak-256": (256, 256, 256), "weak-512": (512, 512, 512)}
STRONG: dict[str, Triple] = {"strong-256": (256, 256, 256), "strong-512": (512, 512, 512)}
SHAPES = (*WEAK, *STRONG)
SCALE = {"gpu": 1, "cpu": 8}


@dataclass(frozen=True)
class BubbleTiming(PassTiming):
    """Measures steps of the bubble on the processes of a team."""

    bubble: Bubble

    def setup(self, cells: Triple, blocks: Triple) -> RunSetup:
        """The case on so many cells in all. Raises BadInput where there is none such."""
        case = self.bubble.of(cells, self.precision, self.conditions.channel)
        return RunSetup(case, blocks, device=self.team.device)

    def measure(
        self, name: str, cells: Triple, blocks: Triple, overlap: Overlap, *, solved: bool = False
    ) -> dict[str, Any]:
        """A row of a table, which tells of one solution for the pressure, too, where that is to be timed.

        Raises BadInput where the memory is not enough, RunFailed where the flow diverges.
        """
        setup = self.setup(cells, blocks)
        check_memory(self.team, setup)
        job = RiseJob.of(setup, self.conditions.seconds, solved=solved)
        reports, transports = self.run(setup.partition, job, overlap)
        row = self.row(name, setup.partition, reports, transports)
        state = {name: reports[0][name] for name in (*STATE, *(SOLVED if solved else ()))}
        check_state(state, "bubble", cells)
        if row["watts"] is not None:
            seconds = state["initialisation_seconds"] / state["steps"] + row["seconds"]
            row["joules_per_cell"] = row["watts"] * seconds / setup.grid.box.volume
        spent = costs(setup, row, state["rounds"], self.bubble.price)
        memory = needed(self.team, setup) * len(setup.partition) / setup.grid.box.volume
        return {**row, "cells": list(cells), **state, **spent, **_rest(setup, job.rest, row, state), "memory": memory}

    def fitting(self, blocks: Triple) -> list[int]:
        """The `SIZES` of cubes that fit, and the largest one. Raises BadInput where none does."""
        known = SIZES[self.team.device]
        fit = list(takewhile(lambda n: self._fits(n, blocks), known))
        if not fit:
            self._check(known[0], blocks)
        following = known[len(fit) : len(fit) + 1]
        between = (n for last in following for n in range(last - BETWEEN, fit[-1], -BETWEEN) if self._fits(n, blocks))
        return [*fit, *islice(between, 1)]

    def _fits(self, n: int, blocks: Triple) -> bool:
        try:
            self._check(n, blocks)
        except BadInput:
            return False
        return True

    def _check(self, n: int, blocks: Triple) -> None:
        """Raises BadInput where the memory is not enough for n^3 cells, also once the driver has what it takes."""
        need = needed(self.team, self.setup((n, n, n), blocks)) + BESIDE[self.team.device] + OF_DRIVER[self.team.device]
        self.team.check_memory(need, prod(blocks), f"{n} x {n} x {n} cells")


def _rest(setup: RunSetup, rest: TwoPhase, row: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
    """The launches of a step in all, and without the solution for the pressure, where those that fill boundary layers
    stand for themselves; and the rates of that part.
    """
    cost = StepCost(rest.step, setup.partition)
    nbytes, tasks = cost.nbytes({}), table(cost.parts, {}, setup.partition)
    rates = moving({**row, "seconds": state["rest_seconds"]}, nbytes)
    return {
        "launches": sum(times * len(launches) for launches, times in often(setup.step_cost.parts, state["rounds"])),
        "rest_launches": sum(task.launches for task in tasks if task.task != LAYERS),
        "rest_layers": sum(task.launches for task in tasks if task.task == LAYERS),
        "rest_bytes_per_cell": nbytes / setup.grid.box.volume,
        "rest_share_of_copy": rates["share_of_copy"],
    }


def measure_step(
    device: str,
    cells: Triple | None,
    blocks: Triple,
    conditions: TimingConditions,
    bubble: Bubble,
    schemes: Sequence[str] = ("koren",),
    workers: int | None = None,
) -> dict[str, Any]:
    """A row per way to carry momentum, of `SCHEMES`, and overlap, for so many cells in all, by default `CELLS` of the
    device.

    Raises BadInput where there are fewer GPUs than blocks, the case or its solver cannot be had, or the memory is not
    enough; RunFailed where the flow diverges.
    """
    with open_team(Request(device, blocks, workers or "auto")) as team:
        timing = BubbleTiming(team, conditions, bubble)
        rows = []
        for scheme in schemes:
            settings = SCHEMES[scheme]
            one = replace(timing, bubble=replace(bubble, settings=(*settings, *bubble.settings)))
            for overlap in conditions.apart(blocks):
                row = one.measure(overlap, cells or CELLS[team.device], blocks, overlap)
                rows.append({**row, "scheme": scheme, "settings": list(settings)})
        return {**described(timing, rows), "results": rows}


def measure_sizes(
    device: str, sizes: tuple[int, ...] | None, blocks: Triple, conditions: TimingConditions, bubble: Bubble
) -> dict[str, Any]:
    """A row per cube of so many cells along each direction, by default those of `SIZES` that fit, and the largest that
    does.

    Raises as `measure_step` does.
    """
    with open_team(Request(device, blocks)) as team:
        timing, overlap = BubbleTiming(team, conditions, bubble), conditions.overlaps[0]
        rows = [timing.measure(overlap, (n, n, n), blocks, overlap) for n in sizes or timing.fitting(blocks)]
        return {**described(timing, rows), "results": rows}


def measure_scaling(
    device: str, growth: Growth, conditions: TimingConditions, bubble: Bubble, workers: int | None = None
) -> dict[str, Any]:
    """A row per shape, number of blocks and overlap: of those in `WEAK` each block has as many cells, those in `STRONG`
    are shared by all blocks.

    Raises as `measure_step` does.
    """
    counts = growth.counted(device)
    with open_team(Request(device, (1, 1, max(counts)), workers or "auto")) as team:
        timing = BubbleTiming(team, conditions, bubble)
        rows = [
            {"shape": shape, **timing.measure(overlap, cells, blocks, overlap)}
            for shape, cells, blocks in _grown(growth, counts, team.device)
            for overlap in conditions.apart(blocks)
        ]
        return {**described(timing, rows), "results": compared(rows)}


def _grown(growth: Growth, counts: tuple[int, ...], device: str) -> Iterator[tuple[str, Triple, Triple]]:
    """The shapes, each with all its cells and its blocks."""
    scale = growth.scale or SCALE[device]
    for shape in growth.shapes:
        for count in counts:
            blocks = halved(count)
            cells = STRONG[shape] if shape in STRONG else triple(map(mul, WEAK[shape], blocks))
            if any(n % (scale * count) for n, count in zip(cells, blocks, strict=True)):
                raise BadInput(f"--scale {scale}: {shape} on {count} blocks has no such cells; give a power of two")
            yield shape, triple(n // scale for n in cells), blocks


def halved(count: int) -> Triple:
    """Blocks along x, y and z: along z twice as many first, then along y, then along x."""
    blocks, axis = [1, 1, 1], 2
    while count > 1 and count % 2 == 0:
        blocks[axis], count, axis = 2 * blocks[axis], count // 2, (axis - 1) % 3
    blocks[2] *= count
    return triple(blocks)


def described(timing: BubbleTiming, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Where and with what the rows were measured."""
    bubble = timing.bubble
    return {
        **describe(timing.team, timing.precision, rows),
        "case": "bubble",
        "method": bubble.method,
        "pressure": str(bubble.pressure),
        "tolerance": bubble.pressure.tolerance,
        "settings": list(bubble.settings),
        "price": bubble.price,
        "watts": timing.conditions.watts,
    }


@dataclass(frozen=True)
class PressureMethod:
    """A solver in the words of a case, with other settings of it."""

    solver: str
    settings: tuple[str, ...] = ()

    def of(self, bubble: Bubble) -> Bubble:
        """The bubble with this solver."""
        pressure = Pressure(self.solver, bubble.pressure.iterations, bubble.pressure.tolerance)
        return replace(bubble, pressure=pressure, settings=(*bubble.settings, *self.settings))


METHODS: Mapping[str, PressureMethod] = {
    "cg": PressureMethod("cg", ("pressure.max_iterations=100000",)),
    "multigrid": PressureMethod("multigrid", ("pressure.precision=double",)),
    "mixed": PressureMethod("multigrid", ("pressure.precision=single",)),
}


def measure_pressure(
    device: str,
    cells: Triple | None,
    blocks: Triple,
    conditions: TimingConditions,
    bubble: Bubble,
    methods: tuple[str, ...],
) -> dict[str, Any]:
    """A row per method: the whole step, and the solution of the last equation from p = 0. `refused` has those that the
    case does not accept, with the reason.

    Raises BadInput where no method is accepted, or the memory is not enough; RunFailed where the flow diverges.
    """
    with open_team(Request(device, blocks)) as team:
        rows, refused, overlap = [], {}, conditions.overlaps[0]
        whole = cells or CELLS[team.device]
        for name in methods:
            timing = BubbleTiming(team, conditions, METHODS[name].of(bubble))
            try:
                timing.setup(whole, blocks)
            except BadInput as error:
                refused[name] = str(error)
                continue
            rows.append({"method": name, **timing.measure(overlap, whole, blocks, overlap, solved=True)})
        if not rows:
            raise BadInput("; ".join(refused.values()))
        return {**described(BubbleTiming(team, conditions, bubble), rows), "refused": refused, "results": rows}
