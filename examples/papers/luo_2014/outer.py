"""Outer iterations of implicit marching: what they take on one device and on two, and what of that each part takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from examples.papers.luo_2014.goals import of_outer
from examples.papers.luo_2014.march import SPEED, ImplicitFlow, March
from examples.papers.luo_2014.shares import OuterProfile, shares
from taskflow.bench.steps import needed, priced
from taskflow.bench.team import Request, open_team
from taskflow.bench.timing import BESIDE, PassTiming, TimingConditions, describe, moving
from taskflow.common.errors import BadInput
from taskflow.flow.models.artificial_compressibility.implicit.model import ImplicitCompressibility
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.machine.trace.mapper import Overlap
from taskflow.runtime.regions import Triple
from taskflow.systems.artificial_compressibility.constants import MetricFields

CELLS: Mapping[str, Mapping[str, Triple]] = {
    "cavity": {"cpu": (32, 32, 32), "gpu": (128, 128, 128)},
    "channel": {"cpu": (96, 16, 16), "gpu": (282, 50, 50)},  # on GPUs 705 000, about as many as the paper's
}


@dataclass(frozen=True)
class OuterTiming(PassTiming):
    """Measures `iterations` outer iterations on the processes of a team."""

    iterations: int

    def measure(self, flow: ImplicitFlow, cells: Triple, blocks: int, overlap: Overlap) -> dict[str, Any]:
        """A row of a table. Raises BadInput where there is no such case, or the memory is not enough."""
        case = flow.of(cells, self.precision, self.conditions.channel)
        setup = RunSetup(case, (1, 1, blocks), device=self.team.device)
        asked = f"{' x '.join(map(str, cells))} cells"
        self.team.check_memory(needed(self.team, setup) + BESIDE[self.team.device], blocks, asked)
        model, constants = setup.model, setup.system.constants
        if not isinstance(model, ImplicitCompressibility) or not isinstance(constants, MetricFields):
            raise BadInput("--set: it changes the method; leave method.type and method.march as they are")
        march = March(model, SPEED[flow.case], self.iterations)
        job = march.job(constants, self.conditions.seconds)
        row, reports = self.timed(flow.solver, setup.partition, job, overlap)
        recorded, _ = self.run(setup.partition, OuterProfile(march, constants), overlap)
        parts = shares(recorded, reports[0]["made"], reports[0]["present"])
        nbytes, count = sum(part["bytes"] for part in parts.values()) / self.iterations, setup.partition.region.count
        told = {name: reports[0][name] for name in ("cfl", "refused")}
        return {
            **row, "cells": list(cells), "solver": flow.solver, "ordering": flow.ordering,
            "products": reports[0]["taken"] / self.iterations, **told,
            "bytes_per_cell": nbytes / count, **moving(row, nbytes),
            "parts": {
                name: {"share": part["share"], "bytes_per_cell": part["bytes"] / self.iterations / count}
                for name, part in parts.items()
            },
        }  # fmt: skip


def measure_outer(
    request: Request,
    flows: Sequence[ImplicitFlow],
    cells: Triple | None,
    counts: Sequence[int],
    iterations: int,
    conditions: TimingConditions,
    price: float | None,
) -> dict[str, Any]:
    """A row for each flow, number of blocks and overlap. `efficiency` compares with the first of the flow, in cells per
    second and device; `same` says whether both had the same number of products.

    Raises BadInput where there are fewer GPUs than blocks, or iterations are odd.
    """
    if iterations % 2:
        raise BadInput(f"--iterations {iterations}: give an even number, as two make a round")
    with open_team(request) as team:
        timing, rows = OuterTiming(team, conditions, iterations), []
        whole = cells or CELLS[flows[0].case][team.device]
        for flow in flows:
            ways = ((blocks, overlap) for blocks in counts for overlap in conditions.apart((1, 1, blocks)))
            mine = [timing.measure(flow, whole, blocks, overlap) for blocks, overlap in ways]
            rows += [_compared(row, mine[0], flow.case, team.device == "gpu") for row in mine]
        rows = [priced(row, price) for row in rows]
        of = {"case": flows[0].case, "settings": list(flows[0].settings), "iterations": iterations, "price": price}
        return {**describe(team, timing.precision, rows), **of, "results": rows}


def _compared(row: Mapping[str, Any], first: Mapping[str, Any], case: str, gpu: bool) -> dict[str, Any]:
    rate = "cells_per_second_per_block"
    more = {"efficiency": row[rate] / first[rate], "same": row["products"] == first["products"]}
    return {**row, **more, **of_outer({**row, **more}, case, gpu)}
