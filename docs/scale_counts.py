"""Counts for docs/explanation/scale.md: launches, bytes and exchanges of a step of the cavity on many devices.

Nothing is run. The programs are those of a run on GPUs, and the exchanges are found as by `taskflow check`. Of more
than eight blocks, the middle one of 3 x 3 x 3 equal blocks is counted, with as many levels that are cut. Its exchanges
are those of any inner block, except for the gather of the first level on all blocks, which follows from the layout.
`python -m docs.scale_counts` writes docs/scale_counts.json.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from math import prod
from pathlib import Path
from unittest.mock import patch

from taskflow.cases import Case
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.regions import Triple, partition, triple
from taskflow.runtime.tasks import Launch, Message, exchange, moved, place
from taskflow.systems.base.pressure import AMALGAMATED
from taskflow.systems.base.step_cost import StepCost, often

FILE = Path(__file__).with_name("scale_counts.json")
WALLS = dict.fromkeys(("x_min", "x_max", "y_min", "y_max", "z_min"), "wall")
ITEM = 8  # bytes of a number
LAYOUTS = {1: (1, 1, 1), 2: (1, 1, 2), 8: (2, 2, 2), 64: (4, 4, 4), 1024: (16, 8, 8), 16384: (32, 32, 16)}
WEAK = (256, 256, 256)  # cells of each device
STRONG = (1024, 1024, 1024)  # cells in all
ALONE = (64, 128, 256, 384)  # cubes on one device
INNER = (3, 3, 3)


@dataclass(frozen=True)
class Occasion:
    """Messages of a block at one moment: their number, bytes that it sends, and turns."""

    messages: int
    nbytes: int
    turns: int


@dataclass(frozen=True)
class StepCounts:
    """A step of the cavity with two iterations, on each of a number of devices: cells of a device, launches, bytes that
    it moves in its memory, reductions over all devices, and its occasions to wait for other blocks.
    """

    devices: int
    cells: tuple[int, ...]
    launches: int
    nbytes: int
    reductions: int
    occasions: tuple[Occasion, ...]


def counts(devices: int, cells: Triple) -> StepCounts:
    """Count a step on this many devices, for the cells of each."""
    layout = LAYOUTS[devices]
    whole = triple(n * blocks for n, blocks in zip(cells, layout, strict=True))
    launches = [launch for some, times in _often(_cost(whole, (1, 1, 1))) for launch in some * times]
    reductions = sum(bool(launch.reductions) for launch in launches)
    if devices == 1:
        nbytes = sum(moved(launch, _cost(whole, (1, 1, 1)).partition) for launch in launches)
        return StepCounts(1, cells, len(launches), nbytes, 0, ())
    cut = next(n for n in range(99) if _level(whole, n) <= AMALGAMATED["gpu"])
    few = partition.FEW if devices <= partition.FEW else 0
    shape = layout if devices <= 8 else INNER
    with patch.object(partition, "FEW", few):
        inside = triple(n * blocks for n, blocks in zip(cells, shape, strict=True))
        cost = _cost(inside, shape, _level(inside, cut))
        block = sum(m * (n // 2) for m, n in zip((1, shape[0], shape[0] * shape[1]), shape, strict=True))
        occasions = _occasions(cost, block, layout, _level(whole, cut))
    gathers = 2 * len(partition.rows(layout))
    nbytes = _nbytes(cost, block) + _replicated(whole, cut)
    return StepCounts(devices, cells, len(launches) + gathers, nbytes, reductions, occasions)


def _cost(cells: Triple, blocks: Triple, gathered: int | None = None) -> StepCost:
    """The step of the cavity with these cells on these blocks, as on GPUs. Its levels are double, as in what was
    measured.
    """
    lid = {"type": "wall", "velocity": [1.0, 0.0, 0.0]}
    pressure = {"solver": "multigrid", "tolerance": 1e-5, "precision": "double"}
    pressure |= {"amalgamate": gathered} if gathered else {}
    case = Case(
        grid={"cells": list(cells), "lengths": [n / cells[0] for n in cells]}, fluid={"viscosity": 1e-3},
        boundaries={**WALLS, "z_max": lid}, time={"steps": 1, "step": 1e-6}, pressure=pressure,
    )  # fmt: skip
    return RunSetup(case, blocks, device="gpu").step_cost


def _often(cost: StepCost) -> list[tuple[list[Launch], int]]:
    """The launches of a step with one iteration after the first, and how often each is done."""
    return [(list(some), round(times)) for some, times in often(cost.parts, dict.fromkeys(cost.counted, 1.0))]


def _level(cells: Triple, n: int) -> int:
    """The number of cells of the n-th level."""
    return prod(-(-size // 2**n) for size in cells)


def _nbytes(cost: StepCost, block: int) -> int:
    """Bytes that a block moves on regions that are cut, with the ghost cells that it computes."""
    total = 0.0
    for launches, times in _often(cost):
        for launch in launches:
            home = place(launch, cost.partition)
            if not home.replicated:
                own, computed = home.own[block][0], home.computed(block, launch.ghosts)[0]
                total += times * moved(launch, cost.partition) / len(home.parts) * computed.volume / own.volume
    return round(total)


def _replicated(cells: Triple, cut: int) -> int:
    """Bytes that every block moves on the levels from the first one that it has as a whole."""
    alone = _cost(cells, (1, 1, 1))
    scale = 2**cut
    return sum(
        times * moved(launch, alone.partition)
        for launches, times in _often(alone) for launch in launches
        if min(place(launch, alone.partition).region.scale) >= scale
    )  # fmt: skip


def _occasions(cost: StepCost, block: int, layout: Triple, gathered: int) -> tuple[Occasion, ...]:
    settled = cost._settled
    exchanged = exchange(
        settled.launches, cost.partition, following=settled.following, valid=settled.valid, blocks=[block]
    )
    moments = (messages for _, messages in sorted(exchanged.messages.items()))
    some = ([message for message in messages if message.source == block != message.target] for messages in moments)
    occasions, rows = [], partition.rows(layout)
    for sent in filter(None, some):
        fields = {name for message in sent for name, _ in message.copies}
        if any("_part_" in name for name in fields):
            continue  # counted with the first gather
        if any(name.endswith("_part") for name in fields):
            messages = sum(n - 1 for n in layout) if rows else prod(layout) - 1
            occasions.append(Occasion(messages, gathered * ITEM, len(rows) + 1))
        else:
            turns = len({message.turn for message in sent})
            occasions.append(Occasion(len(sent), sum(map(_size, sent)), turns))
    return tuple(occasions)


def _size(message: Message) -> int:
    return message.cells * ITEM


def every() -> list[StepCounts]:
    """All counts of the page."""
    alone = [counts(1, (n, n, n)) for n in ALONE]
    weak = [counts(devices, WEAK) for devices in LAYOUTS if devices > 1]
    shares = [(n, triple(a // b for a, b in zip(STRONG, LAYOUTS[n], strict=True))) for n in LAYOUTS if n >= 8]
    return [*alone, *weak, *(counts(n, cells) for n, cells in shares)]


def read() -> list[StepCounts]:
    """The counts in the file."""
    return [
        StepCounts(**{**one, "cells": tuple(one["cells"]), "occasions": tuple(Occasion(**o) for o in one["occasions"])})
        for one in json.loads(FILE.read_text(encoding="utf-8"))
    ]


if __name__ == "__main__":
    lines = ",\n".join(json.dumps(asdict(one)) for one in every())
    FILE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
