"""Steps of pseudo-time in a heated box, timed on one device, and on several that share it: cut in one, two or three
directions, or in charts that are turned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, product
from typing import Any, Literal

from examples.papers.measuring import Halos, with_halos
from examples.papers.xue_roy_2020.xue_roy import SCALED, goals, paper
from taskflow.bench.steps import check_memory, priced
from taskflow.bench.team import Request, open_team
from taskflow.bench.timing import PassJob, PassTiming, TimingConditions, describe, moving
from taskflow.cases import Case
from taskflow.common.errors import BadInput
from taskflow.common.units import times
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.machine import Shard
from taskflow.runtime.machine.channel import channel_problem
from taskflow.runtime.machine.trace.mapper import Overlap
from taskflow.runtime.regions import Triple, triple
from taskflow.runtime.tasks import FACES

Kind = Literal["strong", "weak", "charts"]
METHOD = {"flux": "central", "damping": {"type": "pressure"}, "march": "euler", "reference_speed": 1.0}
CELLS = {"cpu": (96, 96, 96), "gpu": (256, 256, 256)}
CUTS = {"z": "z", "y": "y", "x": "x", "yz": "zy", "xyz": "zyx"}  # the axes that are halved in turn
CHARTS: Triple = (4, 2, 2)  # that are turned
DISTORTION = 0.05  # of these, so that they have metrics, and of the one chart that they are compared with


@dataclass(frozen=True)
class HeatedBox:
    """A box of so many cells, heated at one side and cooled at the other: Xue & Roy's method, five variables. It is cut
    into so many pieces along x, y and z. Cells are uniform, or distorted; several charts are turned at random.
    """

    cells: Triple
    cuts: Triple = (1, 1, 1)
    charts: Triple = (1, 1, 1)
    distortion: float = 0.0

    def case(self, precision: str) -> Case:
        """The case. Raises BadInput where there is none such."""
        sides: dict[str, dict[str, Any]] = {side: {"type": "wall"} for side in FACES}
        sides["x_min"]["temperature"], sides["x_max"]["temperature"] = 0.5, -0.5
        tables: dict[str, Any] = {
            "method": {"type": "artificial-compressibility", **METHOD}, "boundaries": sides,
            "machine": {"precision": precision, "cuts": {"1": list(self.cuts)}},
        }  # fmt: skip
        return Case(
            title="bench",
            fluid={"viscosity": 0.01},
            heat={"diffusivity": 0.01, "expansion": 1.0},
            body={"gravity": [0.0, 0.0, -1.0]},
            grid={
                "shape": "box", "cells": list(self.cells), "lengths": [n / self.cells[0] for n in self.cells],
                "charts": list(self.charts), "turned": self.charts != (1, 1, 1), "distortion": self.distortion,
            },
            time={"steady": 1e-5, "steps": 1},  # single precision gets no further
            **tables,
        )  # fmt: skip


@dataclass(frozen=True)
class FluidAtRest:
    """Fill the fields that no program writes, and the ghost cells of a fluid at rest."""

    constants: Any
    start: Any

    def __call__(self, shard: Shard) -> None:
        self.constants.fill(shard)
        shard.run(self.start)


def pieces(count: int, axes: str) -> Triple:
    """Return pieces along x, y and z, so many in all: the axes are halved in turn, as in the paper's tables 1 and 2."""
    cut, turn = dict.fromkeys("xyz", 1), cycle(axes)
    while count > 1:
        factor = 2 if count % 2 == 0 else count
        cut[next(turn)] *= factor
        count //= factor
    return triple(cut.values())


@dataclass(frozen=True)
class Sharing:
    """How devices share a box: of one size (strong), grown (weak), or in charts; the directions of the cut, how
    messages go, the numbers of devices, and the paper's table of growth: 1, the same for all cuts, or 2, along the cut.
    """

    kinds: Sequence[Kind] = ("strong", "weak", "charts")
    cuts: Sequence[str] = tuple(CUTS)
    halos: Sequence[Halos] = ("direct", "packed")
    counts: Sequence[int] = (2,)
    growth: Literal[1, 2] = 2

    def boxes(self, cells: Triple) -> Iterator[tuple[Kind, str, int, HeatedBox]]:
        """Yield each with its kind, its cut or the number of its charts, and the number of devices. Cuts that are the
        same as an earlier one are omitted.

        Raises BadInput if pieces would be of unequal size.
        """
        for kind, count in product(self.kinds, self.counts):
            if kind == "charts":
                charts = CHARTS[0] * CHARTS[1] * CHARTS[2]
                yield kind, "1", count, HeatedBox(cells, cuts=(1, 1, count), distortion=DISTORTION)
                yield kind, str(charts), count, HeatedBox(cells, charts=CHARTS, distortion=DISTORTION)
                continue
            known = set[HeatedBox]()
            for name in self.cuts:
                cut = pieces(count, CUTS[name])
                growth = {"strong": (1, 1, 1), "weak": cut if self.growth == 2 else pieces(count, CUTS["xyz"])}[kind]
                whole = triple(n * m for n, m in zip(cells, growth, strict=True))
                if any(n % m for n, m in zip(whole, cut, strict=True)):
                    raise BadInput(
                        f"--counts {count}: {times(whole)} cells cannot be cut into {times(cut)} equal pieces;"
                        " give --cells that can"
                    )
                box = HeatedBox(whole, cuts=cut)
                if box not in known:
                    known.add(box)
                    yield kind, name, count, box


@dataclass(frozen=True)
class MarchTiming(PassTiming):
    """Measures on the processes of a team."""

    def prepared(self, box: HeatedBox, blocks: int) -> RunSetup:
        """A box on so many devices: its grid takes long. Raises BadInput where there is no such case, or the memory is
        not enough.
        """
        setup = RunSetup(box.case(self.precision), (1, 1, blocks), device=self.team.device)
        check_memory(self.team, setup)
        return setup

    def measure(self, name: str, setup: RunSetup, overlap: Overlap) -> dict[str, Any]:
        """A row of a table."""
        model = setup.model
        begin = FluidAtRest(setup.system.constants, model.start)
        job = PassJob(begin, model.step, scalars=model.scalars(1.0, 1.0), seconds=self.conditions.seconds)
        row, _ = self.timed(name, setup.partition, job, overlap)
        nbytes, count = setup.step_cost.nbytes({}), setup.partition.region.count
        cells = list(dict(setup.case.table("grid"))["cells"])
        return {**row, "cells": cells, "bytes_per_cell": nbytes / count, **moving(row, nbytes)}


def measure_ssspnt(
    request: Request, sizes: Sequence[Triple], sharing: Sharing, conditions: TimingConditions, price: float | None
) -> dict[str, Any]:
    """A row for one device, and one for each way in which several share its box, for each size, way of halos and
    overlap; with `efficiency` against one device, the metric of W. Xue and C. J. Roy (2020), Eq. 6, what they measured,
    and what was aimed at.

    Raises BadInput where there are too few GPUs, or halos cannot go as they are to.
    """
    with open_team(request) as team:
        gpu, timing = team.device == "gpu", MarchTiming(team, conditions)
        if not gpu and set(sharing.halos) == {"direct"}:
            raise BadInput("--halos direct: between CPUs all halos are packed; use packed, or --device gpu")
        if gpu and "packed" in sharing.halos and len(team.places) > 1 and (problem := channel_problem("ucx")):
            raise BadInput(f"--halos packed: {problem}; give --workers 1, or --halos direct")
        ways = [halos for halos in sharing.halos if gpu or halos != "direct"]
        rows = [row for size in sizes or [CELLS[team.device]] for row in _rows(timing, sharing, ways, size)]
        rows = [priced(row, price) for row in rows]
        aims = list(goals(rows)) if gpu and len(sizes) < 2 else []
        about = {**describe(team, timing.precision, rows), "price": price, "growth": sharing.growth}
        return {**about, "results": rows, "paper": list(paper()), "goals": aims}


def _rows(timing: MarchTiming, sharing: Sharing, ways: Sequence[Halos], cells: Triple) -> Iterator[dict[str, Any]]:
    """Yield the rows of a size: one device first, of distorted cells, too, where charts are asked for."""
    alone = dict[float, dict[str, Any]]()
    for kind, cut, count, box in sharing.boxes(cells):
        bent = box.distortion
        if bent not in alone:
            row = timing.measure("one", timing.prepared(HeatedBox(cells, distortion=bent), 1), "none")
            alone[bent] = {**row, "kind": kind if bent else "-", "cut": "1" if bent else "-", "halos": "-"}
            yield _compared(alone[bent], alone[bent])
        if count > 1:
            setup = timing.prepared(box, count)
            for halos, overlap in product(ways, timing.conditions.overlaps):
                one = replace(timing, conditions=with_halos(timing.conditions, halos, timing.team))
                row = one.measure(overlap, setup, overlap)
                yield _compared({**row, "kind": kind, "cut": cut, "halos": halos}, alone[bent])


def _compared(row: dict[str, Any], alone: dict[str, Any]) -> dict[str, Any]:
    rate = row["cells_per_second_per_block"]
    return {**row, "efficiency": rate / alone["cells_per_second_per_block"], "ssspnt": SCALED * rate}
