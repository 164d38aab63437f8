"""Where the run happens: [machine]."""

import math
from collections.abc import Iterator
from typing import Annotated, Literal

from taskflow.cases.formulas.values import three, whole, word_or
from taskflow.cases.language.problems import Problem, wrong
from taskflow.cases.language.table import Natural, Positive, Precision, Table, Truth, Whole, entry, reads
from taskflow.cases.tables.grid import AXES, GridTable

MOST_BLOCKS = 1024

Auto = Literal["auto"]


Count = Annotated[Whole | Auto, reads(word_or("auto", whole))]
Blocks = tuple[Whole, Whole, Whole]


class Machine(Table):
    """Devices, blocks and channels."""

    device: Literal["auto", "cpu", "gpu"] = entry(
        "`auto`: a GPU if one is usable on the machine where the blocks run, else the CPU", "auto"
    )
    blocks: Annotated[Blocks | Auto, reads(word_or("auto", three(whole, "three whole numbers >= 1")))] = entry(
        "at most 1024 in all. `auto`: slabs in z, one per GPU, or per worker of a given cluster, and one on the CPU of"
        " this machine",
        "auto",
    )
    workers: Count = entry(
        "processes of the embedded cluster, or the most to use of a given cluster. A process can have several GPUs:"
        " each of its blocks gets the GPU with the fewest blocks. `auto`: one per block, at most one per GPU",
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
        "seconds without a sign of life after which a process [is lost](../howto/faults.md). Increase it if machines"
        " are suspended at times",
        4.0,
    )
    patience: Positive = entry(
        "seconds that a block waits for another block in a live process before that block is lost", 60.0
    )
    debug: Truth = entry(
        "`true`: invalid ghost cells are NaN, and the blocks compare their programs at every step, see"
        " [guarantees](../explanation/guarantees.md#debug). Slower, with bitwise identical results",
        False,
    )


def _blocks_have_planes(grid: GridTable, machine: Machine) -> Iterator[Problem]:
    if machine.blocks == "auto":
        return
    if (count := math.prod(machine.blocks)) > MOST_BLOCKS:
        yield wrong(("machine", "blocks"), machine.blocks, f"{count} blocks; give at most {MOST_BLOCKS} in all")
        return
    for axis, blocks, cells in zip(AXES, machine.blocks, grid.cells, strict=True):
        if blocks > cells:
            remedy = f"{blocks} blocks in {axis}, but {cells} planes of cells; give at most {cells}"
            yield wrong(("machine", "blocks"), machine.blocks, remedy)
    if machine.workers != "auto" and machine.workers > math.prod(machine.blocks):
        remedy = f"more processes than the {math.prod(machine.blocks)} blocks; give at most as many"
        yield wrong(("machine", "workers"), machine.workers, remedy)


Machine.rules = (_blocks_have_planes,)
