"""Triangular solves with the factors of implicit marching, factorisation and matrix, by orderings and precisions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

from examples.papers.goal import Row
from examples.papers.luo_2014.cusparse import time_cusparse
from examples.papers.luo_2014.factors import Charts, Factors, KrylovSums, Timing
from examples.papers.luo_2014.goals import like_four, of_sweeps, paper_seconds, thrice
from examples.papers.measuring import beside_copies, open_here
from taskflow.bench.steps import priced
from taskflow.bench.timing import BESIDE, about
from taskflow.common.errors import BadInput
from taskflow.common.units import plural
from taskflow.runtime.cluster import shortage
from taskflow.runtime.host import Place
from taskflow.runtime.machine import run_threads
from taskflow.runtime.machine.device import Device
from taskflow.runtime.regions import Triple
from taskflow.runtime.tasks import TILE, Ordering

SMALL = ((32, 32, 32), (79, 49, 49))
LARGE = ((64, 64, 64), (128, 128, 128), (256, 256, 256))
MANY = Charts((32, 32, 32), 64)
CHARTS = {"cpu": tuple(map(Charts, SMALL)), "gpu": (*map(Charts, (*SMALL, *LARGE)), MANY)}


@dataclass(frozen=True)
class TriangularSolves:
    """Measured are the orderings, the precisions of factors, the cells of a tile, whether cuSPARSE is, too, and the
    unknowns of a cell.
    """

    orderings: Sequence[Ordering] = ("tiles", "hyperplanes", "jacobi")
    precisions: Sequence[Literal["single", "double"]] = ("single", "double")
    tile: Triple = TILE
    cusparse: bool = False
    unknowns: Sequence[int] = (4,)

    def jobs(self, charts: Charts) -> Iterator[Factors]:
        """A job for each of them; the matrix knows no ordering, and is timed once for a precision."""
        for count, precision, ordering in product(self.unknowns, self.precisions, self.orderings):
            yield Factors(charts, ordering, precision, self.tile, ordering == self.orderings[0], count)


def measure_triangular(
    charts: Sequence[Charts], sweeping: TriangularSolves, requested: str, price: float | None
) -> dict[str, Any]:
    """Medians on these charts, by default on some that suit the device, with the copy bandwidth measured before and
    after, and the paper's seconds for its block. Vectors are in double precision.

    Raises BadInput where the device is not usable, or the memory is not enough.
    """
    here, device = open_here(requested)
    if sweeping.cusparse and device.kind == "cpu":
        raise BadInput("--cusparse: it is a library for GPUs; omit it, or use --device gpu")

    def measure() -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        for some in charts or CHARTS[device.kind]:
            for job in sweeping.jobs(some):
                made = job.ordering, job.precision
                rows += [_row(some, *made, timing, job.unknowns) for timing in _run(job, device, here)]
            if sweeping.cusparse and some.count == 1:
                rows += _beside(some, sweeping, rows)
            rows += [_row(some, None, "double", timing) for timing in _run(KrylovSums(some), device, here)]
        return rows

    measured = beside_copies(device, measure)
    gpu, results = device.kind == "gpu", measured["results"]
    results = [{**row, **of_sweeps(row, gpu), "paper_seconds": paper_seconds(row)} for row in results]
    results = [priced(row, price) for row in results]
    results = [{**row, **thrice(row, results), **like_four(row, results)} for row in results]
    described = {**about(here, device.kind, device.threads), "tile": list(sweeping.tile), "price": price}
    return {**described, **measured, "results": results}


def _run(job: Factors | KrylovSums, device: Device, here: Place) -> list[Timing]:
    """Return what a job finds. Raises BadInput where the memory is not enough."""
    need = job.partition.nbytes(0) + BESIDE[device.kind]
    if problem := shortage([need], [here], device.kind):
        cells = "x".join(map(str, job.charts.cells))
        raise BadInput(f"--cells {cells}, {plural(job.charts.count, 'chart')}: {problem}; give fewer cells or --charts")
    return run_threads(job.partition, job, device)[0]


def _row(
    charts: Charts, ordering: str | None, precision: str, timing: Timing, unknowns: int = 4
) -> dict[str, Any]:  # fmt: skip
    name, seconds, samples, each = timing
    cells = charts.volume
    return {
        "name": name,
        "ordering": ordering,
        "precision": precision,
        "cells": list(charts.cells),
        "charts": charts.count,
        "unknowns": unknowns,
        "seconds": seconds,
        "samples": samples,
        "bytes": each * cells,
        "bytes_per_cell": each,
        "cells_per_second": cells / seconds,
    }


def _beside(charts: Charts, sweeping: TriangularSolves, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return what cuSPARSE takes for factors and solves of these rows, whose bytes are counted alike."""
    counted = {(row["name"], row["precision"]): row["bytes_per_cell"] for row in rows if row["unknowns"] == 4}
    return [
        _row(charts, "cuSPARSE", precision, (name, seconds, samples, counted[name, precision]))
        for precision in sweeping.precisions
        for name, seconds, samples in time_cusparse(charts.cells, precision)
    ]
