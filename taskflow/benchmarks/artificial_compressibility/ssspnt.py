"""Steps of pseudo-time in a heated box, timed on one device, and on two that share it cut in each direction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from taskflow.benchmarks.team import Request, Team, open_team
from taskflow.benchmarks.timing import PassJob, PassTiming, TimingConditions, describe, moving
from taskflow.runtime.machine import Shard
from taskflow.runtime.regions import Triple, triple
from taskflow.simulation.build.simulation import Simulation
from taskflow.simulation.case import Case

SIDES = ("x_min", "x_max", "y_min", "y_max", "z_min", "z_max")
METHOD = {"flux": "central", "damping": {"type": "pressure"}, "march": "euler", "reference_speed": 1.0}
CELLS = {"cpu": (96, 96, 96), "gpu": (256, 256, 256)}
CUTS: dict[str, Triple] = {"z": (1, 1, 2), "y": (1, 2, 1), "x": (2, 1, 1)}
SCALED = 1e-7  # the factor of the paper's metric, its Eq. 6


@dataclass(frozen=True)
class Box:
    """A box of so many uniform cells, heated at one side and cooled at the other: Xue & Roy's method, five variables.
    It is cut into so many pieces along x, y and z.
    """

    cells: Triple
    cuts: Triple = (1, 1, 1)

    def case(self, precision: str) -> Case:
        """The case. Raises BadInput where there is none such."""
        sides: dict[str, dict[str, Any]] = {side: {"type": "wall"} for side in SIDES}
        sides["x_min"]["temperature"], sides["x_max"]["temperature"] = 0.5, -0.5
        return Case(
            title="bench",
            fluid={"viscosity": 0.01},
            heat={"diffusivity": 0.01, "expansion": 1.0},
            body={"gravity": [0.0, 0.0, -1.0]},
            grid={"shape": "box", "cells": list(self.cells), "lengths": [n / self.cells[0] for n in self.cells]},
            method={"type": "artificial-compressibility", **METHOD},
            boundaries=sides,
            time={"steady": 1e-5, "steps": 1},  # single precision gets no further
            machine={"precision": precision, "cuts": {"1": list(self.cuts)}},
        )


@dataclass(frozen=True)
class Begin:
    """Fill the fields that no program writes, and the ghost cells of a fluid at rest."""

    constants: Any
    start: Any

    def __call__(self, shard: Shard) -> None:
        self.constants.fill(shard)
        shard.run(self.start)


def _nothing(shard: Shard) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class MarchTiming:
    """Measures on the processes of a team."""

    team: Team
    conditions: TimingConditions

    @property
    def precision(self) -> str:
        """Double, as the paper's, where none is asked for."""
        return self.conditions.precision or "double"

    def measure(self, name: str, box: Box, blocks: int, overlap: Any) -> dict[str, Any]:
        """A row of a table. Raises BadInput where there is no such case."""
        setup = Simulation(box.case(self.precision), (1, 1, blocks), device=self.team.device)
        model = setup.model
        begin = Begin(setup.system.constants, model.start)
        job = PassJob(begin, model.step, _nothing, 1, model.scalars(1.0, 1.0), self.conditions.seconds)
        row, _ = PassTiming(self.team, self.conditions).measure(name, setup.partition, job, overlap)
        nbytes, cells = setup.step_cost.nbytes({}), setup.partition.region.count
        return {**row, "cells": list(box.cells), "bytes_per_cell": nbytes / cells, **moving(row, nbytes)}


def measure_ssspnt(device: str, cells: Triple | None, conditions: TimingConditions) -> dict[str, Any]:
    """A row for one device, then two for each direction of the cut and overlap: of the same box (strong), and of one
    twice as long (weak); with `efficiency`, and the metric of W. Xue and C. J. Roy (2020), Eq. 6.

    Raises BadInput where there are fewer than two GPUs.
    """
    with open_team(Request(device, (1, 1, 2))) as team:
        timing, size = MarchTiming(team, conditions), cells or CELLS[team.device]
        alone = timing.measure("one", Box(size), 1, "none")
        rows = [{**alone, "cut": "-", "kind": "-"}]
        for kind in ("strong", "weak"):
            for cut, pieces in CUTS.items():
                grown = triple(n * (pieces[a] if kind == "weak" else 1) for a, n in enumerate(size))
                for overlap in conditions.overlaps:
                    row = timing.measure(overlap, Box(grown, cuts=pieces), 2, overlap)
                    rows.append({**row, "cut": cut, "kind": kind})
        rate = alone["cells_per_second_per_block"]
        rows = [
            {
                **row,
                "efficiency": row["cells_per_second_per_block"] / rate,
                "ssspnt": SCALED * row["cells_per_second_per_block"],
            }
            for row in rows
        ]
        return {**describe(team, timing.precision, rows), "results": rows}

