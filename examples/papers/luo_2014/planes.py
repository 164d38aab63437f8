"""The time of each hyperplane of a chart: its factors and its solves, one launch each of the texts of a whole sweep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from statistics import median
from typing import Any

import numpy as np

from examples.papers.luo_2014.factors import Charts, Factors
from examples.papers.measuring import open_here
from taskflow.bench.timing import about
from taskflow.flow.models.artificial_compressibility.implicit import factor
from taskflow.flow.models.artificial_compressibility.implicit.matrix import COUPLING
from taskflow.flow.models.artificial_compressibility.implicit.vectors import AFTER, BEFORE
from taskflow.runtime.machine import Shard, run_threads
from taskflow.runtime.profile import profiled
from taskflow.runtime.regions import Triple
from taskflow.runtime.tasks import Launch, Program, Roles, Sweep, planes
from taskflow.runtime.tasks.sweep import Direction

PASSES = 20  # replays of which a profile is made
PAPER: Mapping[str, Mapping[str, float]] = {
    "factors": {"best": 1e-6, "loss": 0.1},
    "solves": {"best": 0.165e-6, "loss": 0.14},
}
"""Seconds for a cell at best, and the share of the time that is lost: figure 8 and table 1 of the paper."""


@dataclass(frozen=True)
class Planes(Factors):
    """The job of a block: the time of each launch, one for each hyperplane."""

    def sweeps(self, direction: Direction) -> Sequence[Sweep]:
        """The hyperplanes in turn."""
        return planes(self.charts.cells, direction)

    def precondition(self, f: Roles) -> Iterator[Launch]:
        """Both solves."""
        new, z, over = self.vector(AFTER, "new"), self.vector(BEFORE, "z"), self.charts.boxes
        for sweep in self.sweeps("up"):
            yield factor.forward(*new, COUPLING, "inverse", *z, over=over, sweep=sweep, blocks=self.blocks)
        for sweep in self.sweeps("down"):
            yield factor.backward(COUPLING, "inverse", *z, over=over, sweep=sweep, blocks=self.blocks)

    def seconds(self, shard: Shard) -> dict[str, list[float]]:
        """Return the median seconds of each hyperplane, of both solves together."""
        self.fill(shard)
        shard.run(self.fresh, slowness=0.1)
        up = _launches(shard, self.precondition)
        half = len(up) // 2
        solves = [first + second for first, second in zip(up[:half], reversed(up[half:]), strict=True)]
        return {"factors": _launches(shard, self.eliminate), "solves": solves}


def _launches(shard: Shard, program: Program) -> list[float]:
    """Return the median seconds of each launch of a program, in order."""
    shard.run(program)
    with profiled(shard) as profiler:
        for _ in range(PASSES + 1):  # the first is not typical
            shard.run(program)
            profiler.step()
    replays = [
        [span.length for span in sorted(replay.spans, key=lambda span: span.nodes) if span.kind == "compute"]
        for replay in profiler.timeline.typical
    ]
    return [1e-9 * median(times) for times in zip(*replays, strict=True)]


def cells_of_planes(cells: Triple) -> np.ndarray:
    """Return the numbers of cells with i + j + k = 0, 1, ..."""
    return reduce(np.convolve, (np.ones(n, dtype=int) for n in cells))


def measure_planes(cells: Triple, cores: int, unknowns: int, requested: str, *, timed: bool) -> dict[str, Any]:
    """A row per hyperplane with its cells and, if `timed`, its seconds; and for factors and solves the least time of a
    cell, the loss against it of all hyperplanes, and of those with fewer cells than `cores`, as shares of the time.

    Raises BadInput where the device is not usable.
    """
    here, device = open_here(requested)
    counts = cells_of_planes(cells)
    rows: list[dict[str, Any]] = [{"plane": n, "cells_of_plane": int(count)} for n, count in enumerate(counts)]
    lost: dict[str, dict[str, float]] = {}
    if timed:
        job = Planes(Charts(cells), "hyperplanes", "double", unknowns=unknowns)
        (seconds,) = run_threads(job.partition, job.seconds, device)
        rows = [{**row, **{part: seconds[part][row["plane"]] for part in seconds}} for row in rows]
        lost = {part: losses(np.array(each), counts, cores) for part, each in seconds.items()}
    few = counts < cores
    shares = {"planes": float(few.mean()), "cells": float(counts[few].sum() / counts.sum())}
    described = {**about(here, device.kind, device.threads), "cells": list(cells), "cores": cores, "unknowns": unknowns}
    whole = {"planes": len(counts), "largest": int(counts.max()), "few": shares}
    return {**described, **whole, "lost": lost, "paper": PAPER, "results": rows}


def losses(seconds: np.ndarray, counts: np.ndarray, cores: int) -> dict[str, float]:
    """Return the least seconds of a cell, all seconds, and the shares of these that are lost against it."""
    best, few = float((seconds / counts).min()), counts < cores
    lost = seconds - best * counts
    total = float(seconds.sum())
    shares = {"loss": float(lost.sum() / total), "loss_of_few": float(lost[few].sum() / total)}
    return {"best": best, "seconds": total, **shares}
