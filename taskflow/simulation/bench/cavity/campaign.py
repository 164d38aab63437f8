"""The papers' scaling studies with the step of the lid-driven cavity: on more and more devices, weak and strong."""

from __future__ import annotations

from math import prod
from typing import Any

from taskflow.machine.mapper import Overlap
from taskflow.regions import Triple, triple
from taskflow.simulation.bench.cavity.cases import Flow
from taskflow.simulation.bench.cavity.step import StepTiming
from taskflow.simulation.bench.passes import PRECISION, Conditions
from taskflow.simulation.bench.scaling import Growth, scaled
from taskflow.simulation.bench.sweep import describe
from taskflow.simulation.bench.team import Request, Team, team

# Sustained by 256 GPUs on 17.2 billion cells: Jacobsen & Senocak (2013), conclusions
PAPERS = {"1d": 8.5e12, "2d": 4.9e12, "3d": 2.4e12}


def measure_cavity(
    wanted: str, growth: Growth, conditions: Conditions, flow: Flow, workers: int | None = None
) -> dict[str, Any]:
    """A row per shape, number of blocks and overlap: slabs in z, each with a device of its own.

    Raises BadInput where there are fewer GPUs than blocks, a shape cannot be cut so, the solver cannot be had or the
    memory is not enough; RunFailed where the flow diverges.
    """
    counts = growth.counted(wanted)
    with team(Request(wanted, (1, 1, max(counts)), workers or "auto")) as people:
        found = _stepping(people, conditions, flow)

        def measure(name: str, cells: Triple, blocks: Triple, overlap: Overlap) -> dict[str, Any]:
            whole = triple(n * count for n, count in zip(cells, blocks, strict=True))
            return found.measure(name, whole, blocks, overlap)

        rows = scaled(growth, counts, people.device, conditions, measure)
    return {**_described(people, found, rows), "papers": PAPERS, "results": rows}


def measure_step(
    wanted: str, cells: Triple, blocks: Triple, conditions: Conditions, flow: Flow, workers: int | None = None
) -> dict[str, Any]:
    """A row per overlap for one flow of so many cells in all.

    Raises as `measure_cavity` does.
    """
    with team(Request(wanted, blocks, workers or "auto")) as people:
        found = _stepping(people, conditions, flow)
        overlaps = conditions.overlaps if prod(blocks) > 1 else conditions.overlaps[:1]
        rows = [found.measure(overlap, cells, blocks, overlap) for overlap in overlaps]
    return {**_described(people, found, rows), "results": rows}


def _stepping(people: Team, conditions: Conditions, flow: Flow) -> StepTiming:
    return StepTiming(people, conditions, conditions.precision or PRECISION[people.device], flow)


def _described(people: Team, found: StepTiming, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Where and with what the rows were measured, and of which flow."""
    flow = found.flow
    told = {"case": flow.case, "pressure": str(flow.pressure), "settings": list(flow.settings), "price": flow.price}
    return {**describe(people, found.precision, rows), **told}
