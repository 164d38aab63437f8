"""Device, blocks and processes of a run: [machine]."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import WithJsonSchema

from taskflow.cases.formulas.values import saying, three, whole, word_or
from taskflow.cases.language.problems import Problem, wrong
from taskflow.cases.language.table import Natural, Positive, Precision, Table, Truth, Whole, entry, reads
from taskflow.cases.tables.grid import AXES, GridTable
from taskflow.common.errors import BadInput, named
from taskflow.runtime.regions import Triple

if TYPE_CHECKING:
    from taskflow.geometry.grids import MultiBlockGrid

PIECES = "three integers >= 1"

Auto = Literal["auto"]
Count = Annotated[Whole | Auto, reads(word_or("auto", whole))]


class BlockCount(tuple[int, int, int]):
    """A number of blocks, as (1, 1, n): the runtime numbers pieces of charts in a row."""

    def written(self) -> int:
        """The number, as in a case file."""
        return self[2]


_pieces = three(whole, PIECES)
NUMBER = {"type": "integer", "minimum": 1}
BLOCKS = {
    "anyOf": [
        {"type": "array", "prefixItems": [NUMBER] * 3, "minItems": 3, "maxItems": 3},
        NUMBER,
        {"const": "auto"},
    ]
}
CUTS = {"type": "object", "additionalProperties": {"type": "array", "items": NUMBER}}


def _blocks(value: object) -> Any:
    if isinstance(value, BlockCount):
        return value
    if not np.isscalar(value):
        return _pieces(value)
    return BlockCount((1, 1, saying(whole, f"give {PIECES}, in the order x, y, z, or on charts one")(value)))


def _cuts(value: object) -> dict[str, Triple]:
    if not isinstance(value, Mapping):
        raise BadInput("give a table of charts by their numbers from 1, as { 1 = [1, 2, 1] }")
    cuts = {}
    for name, pieces in value.items():
        with named(f"chart {name}"):
            cuts[f"{name}"] = _pieces(pieces)
    return cuts


class Machine(Table):
    """Devices, blocks and channels."""

    device: Literal["auto", "cpu", "gpu"] = entry(
        "`auto`: a GPU if one is usable where the blocks run, else the CPU", "auto"
    )
    blocks: Annotated[BlockCount | Triple | Auto, reads(word_or("auto", _blocks)), WithJsonSchema(BLOCKS)] = entry(
        "three numbers, along x, y and z, or on charts the number of blocks. `auto`: slabs in z, one per GPU,"
        " or per worker of a given cluster, and one on the CPU of this machine",
        "auto",
    )
    cuts: Annotated[dict[str, Triple], reads(_cuts), WithJsonSchema(CUTS)] = entry(
        "charts to cut beforehand, by their numbers from 1, into pieces along i, j and k, as `{ 1 = [1, 2, 1] }`. For"
        " tests of the decomposition",
        {},
        otherwise="none",
    )
    workers: Count = entry(
        "processes of the embedded cluster, or the most of a given cluster. Each block gets the GPU with the"
        " fewest blocks. `auto`: one per block, at most one per GPU or, for more than 64 blocks, per core",
        "auto",
    )
    threads: Count = entry("cores per block on CPUs. `auto`: the cores of a host / its blocks", "auto")
    precision: Precision = entry("of the computation", "double")
    overlap: Literal["auto", "none", "comm", "full"] = entry(
        "see [the programming model](../explanation/model.md#overlap)", "auto"
    )
    channel: Literal["auto", "local", "peer", "ucx", "actor"] = entry(
        "`local` (one process), `peer` (one host), `ucx`, `actor`: see [the design](../decisions/messages.md)",
        "auto",
    )
    restarts: Natural = entry(
        "the number of consecutive [automatic restarts](../howto/faults.md) from the same checkpoint after the loss of"
        " a worker, a GPU or a connection",
        3,
    )
    silence: Positive = entry(
        "seconds without a sign of life after which a process [is lost](../howto/faults.md)",
        4.0,
    )
    patience: Positive = entry(
        "seconds that a block waits for another block in a live process before that block is lost", 60.0
    )
    debug: Truth = entry(
        "`true`: invalid ghost cells are NaN, and blocks compare their programs at every step, see"
        " [guarantees](../explanation/guarantees.md#debug). Slower, bitwise identical results",
        False,
    )

    def written(self) -> dict[str, Any]:
        values = super().written()
        cuts = {name: list(pieces) for name, pieces in values.pop("cuts").items()}
        return {**values, "cuts": cuts} if cuts else values

    @property
    def pieces(self) -> dict[int, Triple]:
        """The cuts by the numbers of charts from 0."""
        return {int(name) - 1: pieces for name, pieces in self.cuts.items()}


def _blocks_have_planes(grid: GridTable, machine: Machine) -> Iterator[Problem]:
    blocks = machine.blocks
    if blocks == "auto":
        return
    if isinstance(blocks, BlockCount):
        remedy = f'give {PIECES}, in the order x, y, z; or "auto"'
        yield wrong(("machine", "blocks"), blocks.written(), remedy)
        return
    for axis, number, cells in zip(AXES, blocks, grid.cells, strict=True):
        if number > cells:
            remedy = f"{number} blocks in {axis}, but {cells} planes of cells; give at most {cells}"
            yield wrong(("machine", "blocks"), blocks, remedy)
    yield from _processes_have_blocks(machine, math.prod(blocks))


def _blocks_have_cells(charts: MultiBlockGrid, machine: Machine) -> Iterator[Problem]:
    blocks = machine.blocks
    if blocks == "auto":
        return
    if not isinstance(blocks, BlockCount):
        counted = "on charts blocks are counted, as pieces of several charts make one"
        yield wrong(("machine", "blocks"), blocks, f'{counted}: give an integer, or "auto"')
        return
    if (count := blocks[2]) > charts.cells:
        yield wrong(("machine", "blocks"), count, f"the grid has {charts.cells} cells; give at most as many")
    yield from _processes_have_blocks(machine, count)


def _processes_have_blocks(machine: Machine, count: int) -> Iterator[Problem]:
    if machine.workers != "auto" and machine.workers > count:
        remedy = f"more processes than the {count} blocks; give at most as many"
        yield wrong(("machine", "workers"), machine.workers, remedy)


def _cuts_are_of_charts(charts: MultiBlockGrid, machine: Machine) -> Iterator[Problem]:
    for name, pieces in machine.cuts.items():
        key = ("machine", "cuts", name)
        if not name.isdecimal() or not 1 <= int(name) <= len(charts.charts):
            yield wrong(key, pieces, f"unknown chart; charts have the numbers 1 to {len(charts.charts)}")
            continue
        cells = charts.given(int(name) - 1)
        if any(n > count for n, count in zip(pieces, cells, strict=True)):
            yield wrong(key, pieces, f"it has {cells[0]} x {cells[1]} x {cells[2]} cells; give at most as many pieces")


Machine.rules = (_blocks_have_planes, _blocks_have_cells, _cuts_are_of_charts)
