"""Scaling: the same sweep on more and more devices, on domains that grow with them (weak) or do not (strong)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from taskflow.host import choose_device, look
from taskflow.machine.mapper import Overlap
from taskflow.regions import Triple
from taskflow.simulation.bench.passes import PRECISION, Conditions
from taskflow.simulation.bench.shapes import NAMES, Size
from taskflow.simulation.bench.sweep import Sweeping, describe
from taskflow.simulation.bench.team import Request, team

COUNTS = (1, 2, 4, 8)


@dataclass(frozen=True)
class Growth:
    """Which domains are measured (names of shapes), on how many blocks, every direction divided by `scale`."""

    shapes: tuple[str, ...] = NAMES
    counts: tuple[int, ...] | None = None
    scale: int | None = None

    def counted(self, wanted: str) -> tuple[int, ...]:
        """The numbers of blocks, one among them: by default as many as there are GPUs, or cores."""
        here = look("this machine")
        most = len(here.gpus) if choose_device(wanted, [here]) == "gpu" else here.cores
        counts = self.counts or tuple(count for count in COUNTS if count <= most)
        return counts if counts[0] == 1 else (1, *counts)


class Measure(Protocol):
    """Measures something on so many cells in each of the blocks: a row with the rate of a block."""

    def __call__(self, name: str, cells: Triple, blocks: Triple, overlap: Overlap, /) -> dict[str, Any]: ...


def measure_scaling(
    wanted: str, growth: Growth, conditions: Conditions, workers: int | None = None, *, blocked: bool = False
) -> dict[str, Any]:
    """A row per shape, number of blocks and overlap: slabs in z, each with a device of its own.

    `efficiency` compares with one block, in cells per second and device; `speedup` is the same in all. By default the
    numbers of blocks are 1, 2, 4 and 8 as far as there are GPUs (on CPUs: cores). `blocked`: two sweeps in a pass over
    memory.
    Raises BadInput where there are fewer GPUs than blocks, a shape cannot be cut so, or the memory is not enough.
    """
    counts = growth.counted(wanted)
    with team(Request(wanted, (1, 1, max(counts)), workers or "auto")) as people:
        precision = conditions.precision or PRECISION[people.device]
        sweeping = Sweeping(people, conditions, precision, blocked)
        rows = scaled(growth, counts, people.device, conditions, sweeping.measure)
    return {**describe(people, precision, rows), "blocked": blocked, "results": rows}


def scaled(
    growth: Growth, counts: Sequence[int], device: str, conditions: Conditions, measure: Measure
) -> list[dict[str, Any]]:
    """The rows of every shape, number of blocks and overlap, with `efficiency` and `speedup` against the one block of
    their shape.
    """
    cases = [(name, count) for name in growth.shapes for count in counts]
    sizes = [Size(name, None, growth.scale).of((1, 1, count), device) for name, count in cases]
    return _compared(
        [
            {"shape": name, **measure(overlap, cells, (1, 1, count), overlap)}
            for (name, count), cells in zip(cases, sizes, strict=True)
            for overlap in (conditions.overlaps if count > 1 else conditions.overlaps[:1])
        ]
    )


def _compared(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with `efficiency` and `speedup` against the one block of their shape."""
    alone = {row["shape"]: row["cells_per_second_per_block"] for row in rows if row["blocks"] == 1}
    shares = [row["cells_per_second_per_block"] / alone[row["shape"]] for row in rows]
    return [
        {**row, "efficiency": share, "speedup": share * row["blocks"]} for row, share in zip(rows, shares, strict=True)
    ]
