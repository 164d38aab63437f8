"""Where a case on charts runs: [machine], with a number of blocks, and charts that are cut beforehand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema

from taskflow.cases.formulas.values import saying, three, whole
from taskflow.cases.language.problems import Problem, wrong
from taskflow.cases.language.table import entry, reads
from taskflow.cases.tables.machine import MOST_BLOCKS, Blocks, Machine
from taskflow.common.errors import BadInput, named
from taskflow.geometry.grids import MultiBlockGrid
from taskflow.runtime.regions import Triple

COUNT = {"anyOf": [{"type": "integer", "minimum": 1, "maximum": MOST_BLOCKS}, {"const": "auto"}]}
CUTS = {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "integer", "minimum": 1}}}
_pieces = three(whole, "three whole numbers >= 1")


def _row(value: object) -> Any:
    """So many blocks, in a row as the runtime numbers them."""
    if value == "auto" or (isinstance(value, tuple) and value[:2] == (1, 1)):
        return value
    counted = "on charts blocks are counted, as pieces of several charts make one"
    count = saying(whole, f'{counted}: give a whole number, or "auto"')(value)
    if count > MOST_BLOCKS:
        raise BadInput(f"give at most {MOST_BLOCKS}")
    return 1, 1, count


def _cuts(value: object) -> dict[str, Triple]:
    if not isinstance(value, Mapping):
        raise BadInput("give a table of charts by their numbers from 1, as { 1 = [1, 2, 1] }")
    cuts = {}
    for name, pieces in value.items():
        with named(f"chart {name}"):
            cuts[f"{name}"] = _pieces(pieces)
    return cuts


class ChartMachine(Machine):
    """Devices, blocks and channels."""

    blocks: Annotated[Blocks | Literal["auto"], Field(), reads(_row), WithJsonSchema(COUNT)] = entry(
        "number of blocks. Each gets about the same number of cells, in neighbouring pieces of charts. `auto`: one per"
        " GPU, or per worker of a given cluster, and one on the CPU of this machine",
        "auto",
    )
    cuts: Annotated[dict[str, tuple[int, int, int]], reads(_cuts), WithJsonSchema(CUTS)] = entry(
        "charts to cut beforehand, by their numbers from 1, into pieces along i, j and k, as `{ 1 = [1, 2, 1] }`. For"
        " tests of the decomposition",
        {},
        otherwise="none",
    )

    def written(self) -> dict[str, Any]:
        values = super().written()
        values["blocks"] = self.blocks if self.blocks == "auto" else self.blocks[2]
        del values["cuts"]
        return {**values, "cuts": {name: list(pieces) for name, pieces in self.cuts.items()}} if self.cuts else values

    def pieces(self) -> dict[int, Triple]:
        """The cuts by the numbers of charts from 0."""
        return {int(name) - 1: pieces for name, pieces in self.cuts.items()}


def _cuts_are_of_charts(charts: MultiBlockGrid, machine: ChartMachine) -> Iterator[Problem]:
    for name, pieces in machine.cuts.items():
        key = ("machine", "cuts", name)
        if not name.isdecimal() or not 1 <= int(name) <= len(charts.charts):
            yield wrong(key, pieces, f"there is no such chart; they have the numbers 1 to {len(charts.charts)}")
            continue
        cells = charts.charts[int(name) - 1].cells
        if any(n > count for n, count in zip(pieces, cells, strict=True)):
            yield wrong(key, pieces, f"it has {cells[0]} x {cells[1]} x {cells[2]} cells; give at most as many pieces")


def _blocks_have_cells(charts: MultiBlockGrid, machine: ChartMachine) -> Iterator[Problem]:
    if machine.blocks == "auto":
        return
    count = machine.blocks[2]
    if count > charts.cells:
        yield wrong(("machine", "blocks"), count, f"the grid has {charts.cells} cells; give at most as many")
    if machine.workers != "auto" and machine.workers > count:
        remedy = f"more processes than the {count} blocks; give at most as many"
        yield wrong(("machine", "workers"), machine.workers, remedy)


ChartMachine.rules = (_cuts_are_of_charts, _blocks_have_cells)
