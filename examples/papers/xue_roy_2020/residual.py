"""Stages of explicit marches in pseudo-time: a residual, and what it makes of a flow between walls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from examples.papers.measuring import beside_copies, open_here
from examples.papers.skewed import GHOST, skewed
from taskflow.bench.timing import about, timed
from taskflow.common.caching import cached_property
from taskflow.common.errors import BadInput
from taskflow.flow.boundaries.collocated import FLUXES
from taskflow.flow.models.artificial_compressibility.equations import HeatTransport
from taskflow.flow.models.artificial_compressibility.flow_on_charts import STATE
from taskflow.flow.models.artificial_compressibility.method import MethodOptions
from taskflow.flow.models.artificial_compressibility.model import ArtificialCompressibility
from taskflow.flow.models.artificial_compressibility.stage import stage
from taskflow.flow.operators.momentum import Fluid
from taskflow.runtime.machine import Shard, run_threads
from taskflow.runtime.regions import Atlas, Box, Field, FieldSpace, Partition, Region, charted
from taskflow.runtime.tasks import Launch, Roles, record

CELLS = {"cpu": 128, "gpu": 256}
ALONG = 4  # charts along each axis, where there are many
EULER = MethodOptions(flux="central", damping="pressure", march="euler")
PRECISIONS = {"double": "f8", "single": "f4"}


@dataclass(frozen=True)
class Stages:
    """Stages of a method on a cube of so many cells along each axis, on one chart or on ALONG^3, whose volumes are
    those of equal cells.
    """

    name: str
    method: MethodOptions
    size: int
    warm: bool = False
    skewed: bool = False
    charts: int = 1

    @cached_property
    def boxes(self) -> tuple[Box, ...]:
        """The charts, apart from each other."""
        size = self.size // self.charts
        apart = size + 2 * GHOST + 1
        corners = product(range(self.charts), repeat=3)
        return tuple(Box.of((size,) * 3).shift((x * apart, y * apart, z * apart)) for z, y, x in corners)

    @cached_property
    def model(self) -> ArtificialCompressibility:
        """The model, without sides: no program of it runs."""
        spacing = None if self.skewed else (1 / self.size,) * 3
        heat = HeatTransport(0.01) if self.warm else None
        fluid, method = Fluid(0.01), self.method
        return ArtificialCompressibility(self.boxes[:1], fluid, (), 1.0, method=method, heat=heat, spacing=spacing)

    def partition(self, dtype: str) -> Partition:
        """One block, with the fields of a stage."""
        names = [f"{name}{age}" for age in ("", "_new", "_mid") for name in self.model.state]
        fields = [*(Field(name, dtype) for name in names), Field("sides", "u1")]
        if self.skewed:
            fields.append(Field("metrics", dtype, values=10))
        if self.charts > 1:
            return Partition(charted(Atlas(self.boxes, (), GHOST), fields), (1, 1, 1), pieces=(self.boxes,))
        return Partition(Region(self.boxes[0], FieldSpace(fields), ghost=GHOST), (1, 1, 1))

    def __call__(self, f: Roles) -> Iterator[Launch]:
        """The last stage of a step: from the values in between."""
        model, march = self.model, self.method.stages
        source = "_mid" if len(march.fractions) > 1 else ""
        heat = (f[f"T{source}"], f.T, f.T_new) if self.warm else None
        yield stage(
            (*model.of(f, STATE, source), *model.of(f, STATE, ""), *model.of(f, STATE, "_new"), f.sides), heat, None,
            *model.place(f)[1:], None, over=self.boxes, step=f.scalar("one"), rate=None, numbers=model.numbers,
        )  # fmt: skip

    def fill(self, shard: Shard) -> None:
        """Random velocities and pressures, walls around every chart, and metrics of distorted cells."""
        random = np.random.default_rng(1)
        for box in self.boxes:
            around = box.grow(GHOST)
            shape = around.shape[::-1]
            sides = np.full(shape, FLUXES["closed"], np.uint8)
            sides[box.slices(around.lo)] = 0
            names = [f"{name}{age}" for age in ("", "_mid") for name in self.model.state]
            shard.write({name: random.random(shape) / 10 for name in names} | {"sides": sides}, around)
            if self.skewed:
                shard.write({"metrics": skewed(shape[0], self.size)}, around)


@dataclass(frozen=True)
class ResidualJob:
    """The job of the one block."""

    stages: Stages

    def __call__(self, shard: Shard) -> tuple[float, int, int]:
        """Median seconds of a stage, the samples, and the bytes that it has to move."""
        self.stages.fill(shard)
        (launch,), _ = record(self.stages, shard.roles)
        seconds, samples = timed(lambda: shard.run(self.stages, one=1.0), shard.synchronize)
        return seconds, samples, self.stages.size**3 * bytes_per_cell(launch, shard.partition)


def bytes_per_cell(launch: Launch, partition: Partition) -> int:
    """Each field is read once, by whatever names the task has it, and written once."""
    reads = {name for name, privilege in launch.requirements if privilege.reads}
    writes = [name for name, privilege in launch.requirements if privilege.writes]
    return sum(partition.fields[name].nbytes for name in (*reads, *writes))


def cases(size: int) -> tuple[Stages, ...]:
    """Return what is measured, for so many cells along each axis."""
    return (
        Stages("Euler, heat, uniform", EULER, size, warm=True),
        Stages("Runge-Kutta, uniform", MethodOptions(), size),
        Stages("Runge-Kutta, skewed", MethodOptions(), size, skewed=True),
        Stages("Runge-Kutta, skewed, 64 charts", MethodOptions(), size, skewed=True, charts=ALONG),
    )


def measure_residual(cells: int | None, requested: str) -> dict[str, Any]:
    """Medians for a cube of cells^3, in both precisions, with the copy bandwidth measured before and after.

    Raises BadInput where the device is not usable or the cells are no multiple of ALONG.
    """
    here, device = open_here(requested)
    size = cells or CELLS[device.kind]
    if size % ALONG:
        raise BadInput(f"--cells {size}: give a multiple of {ALONG}, as there are {ALONG}^3 charts")

    def measure() -> list[dict[str, Any]]:
        rows = []
        for stages, (precision, dtype) in product(cases(size), PRECISIONS.items()):
            seconds, samples, nbytes = run_threads(stages.partition(dtype), ResidualJob(stages), device)[0]
            rate = size**3 / seconds
            row: dict[str, Any] = {"name": stages.name, "precision": precision, "seconds": seconds, "samples": samples}
            rows.append({**row, "bytes": nbytes, "bytes_per_cell": nbytes / size**3, "cells_per_second": rate})
        return rows

    return {**about(here, device.kind, device.threads), "cells": [size] * 3, **beside_copies(device, measure)}
