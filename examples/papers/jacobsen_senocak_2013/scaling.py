"""Weak and strong scaling of steps of the lid-driven cavity, on the domains of the papers."""

from __future__ import annotations

from typing import Any

from examples.papers.measuring import Halos, with_halos
from taskflow.bench.projection.flows import Flow
from taskflow.bench.projection.step import StepTiming, described
from taskflow.bench.scaling import Growth, scaled
from taskflow.bench.team import Request, open_team
from taskflow.bench.timing import TimingConditions
from taskflow.runtime.machine.trace.mapper import Overlap
from taskflow.runtime.regions import Triple, triple

# Sustained by 256 GPUs on 17.2 billion cells: Jacobsen & Senocak (2013), conclusions
PAPERS = {"1d": 8.5e12, "2d": 4.9e12, "3d": 2.4e12}


def measure_cavity(
    device: str, growth: Growth, conditions: TimingConditions, flow: Flow, workers: int | None = None
) -> dict[str, Any]:
    """A row per shape, number of blocks and overlap: slabs in z, each with a device of its own.

    Raises BadInput where there are fewer GPUs than blocks, a shape cannot be cut so, the solver cannot be had or the
    memory is not enough; RunFailed where the flow diverges.
    """
    return {**measure_growth(StepTiming, device, growth, conditions, flow, workers), "papers": PAPERS}


def measure_growth(
    kind: type[StepTiming], device: str, growth: Growth, conditions: TimingConditions, flow: Flow, workers: int | None,
    halos: Halos = "direct",
) -> dict[str, Any]:  # fmt: skip
    """Return the rows that a kind of timing measures, as `measure_cavity` does."""
    counts = growth.counted(device)
    with open_team(Request(device, (1, 1, max(counts)), workers or "auto")) as team:
        timing = kind(team, with_halos(conditions, halos, team), flow)

        def measure(name: str, cells: Triple, blocks: Triple, overlap: Overlap) -> dict[str, Any]:
            whole = triple(n * count for n, count in zip(cells, blocks, strict=True))
            return timing.measure(name, whole, blocks, overlap)

        rows = scaled(growth, counts, team.device, conditions, measure)
    return {**described(timing, rows), "results": rows}
