"""The memory of a step of the cavity, and the largest cavity that fits: n x 64 x n cells, as the papers' is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import lcm
from typing import Any

from examples.papers.measuring import OF_DRIVER
from taskflow.bench.projection.flows import Flow
from taskflow.bench.projection.step import measure_step
from taskflow.bench.scaling import Growth
from taskflow.bench.timing import BESIDE, PRECISION, TimingConditions, about
from taskflow.common.errors import BadInput
from taskflow.runs.estimate.memory import Memory, MemoryEstimate
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.cluster import shortage, spread
from taskflow.runtime.host import Place, choose_device, look
from taskflow.runtime.regions import Triple

HEIGHT = 64
LARGEST = 16384  # n of the largest run of the papers, on 256 GPUs


def measure_memory(
    requested: str, growth: Growth, conditions: TimingConditions, flow: Flow, *, largest: bool = False
) -> dict[str, Any]:
    """A row per number of blocks: the largest cavity that fits, its bytes per cell, and whether the papers' largest
    would fit. Nothing is allocated, unless the `largest` is to be run on the most blocks: at most the papers'.

    Raises BadInput where the device is not usable, or has no room for the smallest cavity.
    """
    here = look("this machine")
    device = choose_device(requested, [here])
    precision = conditions.precision or PRECISION[device]
    rows = []
    for count in growth.counted(requested):
        places = spread(count, [replace(here, worker=f"process {n}") for n in range(count)])
        rows.append(Fitting(flow, places, device, precision, conditions.channel).row())
    if largest:
        cells = _cavity(min(LARGEST, rows[-1]["cells"][0]))
        return {**measure_step(requested, cells, (1, 1, rows[-1]["blocks"]), conditions, flow), "memory": rows}
    told = {"case": flow.case, "pressure": str(flow.pressure), "precision": precision}
    return {**about(here, device, here.cores), **told, "memory": rows, "results": []}


@dataclass(frozen=True)
class Fitting:
    """Cavities on slabs in z, one at each of these places."""

    flow: Flow
    places: Sequence[Place]
    device: str
    precision: str
    channel: str = "auto"

    def row(self) -> dict[str, Any]:
        """The row of the largest cavity: its cells, and bytes per cell by what they are for."""
        largest = self.largest()
        cells, parts = largest[0] * largest[1] * largest[2], self._memory(largest)
        free = sum(place.gpus[0].free for place in self.places) if self.device == "gpu" else self.places[0].memory
        papers = _cavity(LARGEST)
        return {
            "blocks": len(self.places),
            "free": free,
            "cells": list(largest),
            "bytes_per_cell": sum(part.stepping for part in parts) / cells,
            "fields_per_cell": sum(part.fields for part in parts) / cells,
            "papers_bytes": sum(part.stepping for part in self._memory(papers)),
            "papers_fit": self.problem(papers) is None,
        }

    def largest(self) -> Triple:
        """The largest that fits, n a multiple of 64 and of the blocks. Raises BadInput where the smallest does not."""
        unit, least, most = lcm(HEIGHT, len(self.places)), 1, 2
        if problem := self.problem(_cavity(unit)):
            raise BadInput(f"{' x '.join(map(str, _cavity(unit)))} cells: {problem}; use --precision single")
        while self.problem(_cavity(most * unit)) is None:
            least, most = most, 2 * most
        while most - least > 1:
            middle = (least + most) // 2
            if self.problem(_cavity(middle * unit)) is None:
                least = middle
            else:
                most = middle
        return _cavity(least * unit)

    def problem(self, cells: Triple) -> str | None:
        """Why so many cells do not fit; None where they do."""
        overhead = BESIDE[self.device] + OF_DRIVER[self.device]
        needs = [part.stepping + overhead for part in self._memory(cells)]
        return shortage(needs, self.places, self.device)

    def _memory(self, cells: Triple) -> list[Memory]:
        case = self.flow.of(cells, self.precision, self.channel)
        setup = RunSetup(case, (1, 1, len(self.places)), device=self.device)
        return MemoryEstimate(setup, self.places, self.device).blocks


def _cavity(n: int) -> Triple:
    return n, HEIGHT, n
