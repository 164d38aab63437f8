"""Steps of pseudo-time in a heated box, timed on one device, and on two that share it: cut in each direction, or in
charts that are turned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal

from examples.papers.xue_roy_2020.xue_roy import SCALED, goals, paper
from taskflow.bench.team import Request, open_team
from taskflow.bench.timing import PassJob, PassTiming, TimingConditions, describe, moving
from taskflow.cases import Case
from taskflow.common.errors import BadInput
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.machine import Shard
from taskflow.runtime.machine.channel import channel_problem
from taskflow.runtime.machine.trace.mapper import Overlap
from taskflow.runtime.regions import Triple, triple
from taskflow.runtime.tasks import FACES

Kind = Literal["strong", "weak", "charts"]
Halos = Literal["direct", "packed"]
METHOD = {"flux": "central", "damping": {"type": "pressure"}, "march": "euler", "reference_speed": 1.0}
CELLS = {"cpu": (96, 96, 96), "gpu": (256, 256, 256)}
CUTS: dict[str, Triple] = {"z": (1, 1, 2), "y": (1, 2, 1), "x": (2, 1, 1), "xyz": (2, 2, 2)}
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


@dataclass(frozen=True)
class Sharing:
    """How two devices share a box: of one size (strong), grown (weak), or in charts; the directions of the cut, and
    whether halos go straight into ghost cells of the other device or are packed into messages.
    """

    kinds: Sequence[Kind] = ("strong", "weak", "charts")
    cuts: Sequence[str] = tuple(CUTS)
    halos: Sequence[Halos] = ("direct", "packed")

    def boxes(self, cells: Triple) -> Iterator[tuple[Kind, str, HeatedBox]]:
        """Each with its kind and its cut, or the number of its charts."""
        for kind in self.kinds:
            if kind == "charts":
                count = CHARTS[0] * CHARTS[1] * CHARTS[2]
                yield kind, "1", HeatedBox(cells, cuts=CUTS["z"], distortion=DISTORTION)
                yield kind, str(count), HeatedBox(cells, charts=CHARTS, distortion=DISTORTION)
                continue
            for cut in self.cuts:
                pieces = CUTS[cut]
                twice = pieces if pieces.count(1) == 2 else CUTS["z"]  # pieces are dealt out along z
                grown = triple(n * m for n, m in zip(cells, twice, strict=True))
                yield kind, cut, HeatedBox(grown if kind == "weak" else cells, cuts=pieces)


@dataclass(frozen=True)
class MarchTiming(PassTiming):
    """Measures on the processes of a team."""

    def of(self, halos: Halos) -> MarchTiming:
        """The same with halos that go in this way. Between GPUs whatever has a channel of its own is packed."""
        if halos == "direct" or self.team.device == "cpu":
            return self
        channel = "local" if len(self.team.places) == 1 else "ucx"
        return replace(self, conditions=replace(self.conditions, channel=channel))

    def prepared(self, box: HeatedBox, blocks: int) -> RunSetup:
        """A box on so many devices: its grid takes long. Raises BadInput where there is no such case."""
        return RunSetup(box.case(self.precision), (1, 1, blocks), device=self.team.device)

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
    request: Request, cells: Triple | None, sharing: Sharing, conditions: TimingConditions
) -> dict[str, Any]:
    """A row for one device, and one for each way in which two share its box, for each kind of halos and overlap; with
    `efficiency` against one device, the metric of W. Xue and C. J. Roy (2020), Eq. 6, what they measured, and what was
    aimed at.

    Raises BadInput where there are fewer than two GPUs, or halos cannot go as they are to.
    """
    with open_team(request) as team:
        gpu, timing, size = team.device == "gpu", MarchTiming(team, conditions), cells or CELLS[team.device]
        if not gpu and "packed" not in sharing.halos:
            raise BadInput("--halos direct: between CPUs all halos are packed; use packed, or --device gpu")
        if gpu and "packed" in sharing.halos and len(team.places) > 1 and (problem := channel_problem("ucx")):
            raise BadInput(f"--halos packed: {problem}; give --workers 1, or --halos direct")
        ways = [halos for halos in sharing.halos if gpu or halos == "packed"]
        rows, alone = list[dict[str, Any]](), dict[float, dict[str, Any]]()
        for kind, cut, box in sharing.boxes(size):
            bent = box.distortion
            if bent not in alone:
                row = timing.measure("one", timing.prepared(HeatedBox(size, distortion=bent), 1), "none")
                alone[bent] = {**row, "kind": kind if bent else "-", "cut": "1" if bent else "-", "halos": "-"}
                rows.append(alone[bent])
            setup = timing.prepared(box, 2)
            for halos, overlap in product(ways, conditions.overlaps):
                row = timing.of(halos).measure(overlap, setup, overlap)
                rows.append({**row, "kind": kind, "cut": cut, "halos": halos})
        rows = [_compared(row, alone[DISTORTION if row["kind"] == "charts" else 0.0]) for row in rows]
        aims = list(goals(rows)) if gpu else []
        return {**describe(team, timing.precision, rows), "results": rows, "paper": list(paper()), "goals": aims}


def _compared(row: dict[str, Any], alone: dict[str, Any]) -> dict[str, Any]:
    rate = row["cells_per_second_per_block"]
    return {**row, "efficiency": rate / alone["cells_per_second_per_block"], "ssspnt": SCALED * rate}
