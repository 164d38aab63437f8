"""Serial execution: the meaning of a program, and of its graph in any order that the graph allows.

Both are slow and plain. `run_program` knows nothing of blocks, ghosts' validity or dependences: it is the oracle.
`run_graph` does what the nodes say, one after the other. They agree bit for bit for every topological order, or the
analysis is wrong. Tasks have Python bodies here, and no kernels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from taskflow.runtime.regions import Partition, Region, Triple
from taskflow.runtime.tasks.body import IDENTITY, Array, combine, run_body
from taskflow.runtime.tasks.graph import AllReduce, Compute, Message, Receive, Refresh, Send, TaskGraph
from taskflow.runtime.tasks.task import Launch

Memory = dict[str, Array]


def allocate(region: Region) -> Memory:
    """Zeros for every field of a region, with ghost layers on all sides."""
    cells = region.cells.grow(region.ghost)
    return {name: np.zeros(field.shape(cells), field.dtype) for name, field in region.fields.items()}


def run_program(
    region: Region,
    memory: Memory,
    launches: Iterable[Launch],
    scalars: dict[str, float],
    beside: Iterable[Region] = (),
) -> None:
    """Do the launches one after the other in one memory, filling all periodic ghost cells before each. `beside` are
    other regions of the program.
    """
    others = tuple(Partition(each, (1, 1, 1)) for each in beside)
    whole = Partition(region, (1, 1, 1), beside=others)
    origins = _origins(whole, 0)
    wraps = {name: _wrap(each.region) for name, each in whole.homes.items()}
    for launch in launches:
        for name in launch.fields:
            z, y, x = wraps[name]
            memory[name][...] = memory[name][z][:, y][..., x]
        scalars.update(run_body(Compute(0, launch, launch.over, "whole", whole), memory, origins, scalars))


def _wrap(region: Region) -> tuple[np.ndarray, ...]:
    """Return where each cell in memory takes its value from: across periodic faces from the other side."""
    indices = []
    for size, periodic in zip(region.cells.shape, region.periodic, strict=True):
        index = np.arange(-region.ghost, size + region.ghost)
        indices.append((index % size if periodic else index) + region.ghost)
    return tuple(reversed(indices))


def _origins(partition: Partition, block: int) -> dict[str, Triple]:
    """The first cell in memory of each field on a block."""
    return {name: home.memory[block].lo for name, home in partition.homes.items()}


def run_graph(
    graph: TaskGraph,
    order: Sequence[int],
    partition: Partition,
    memories: Sequence[Memory],
    scalars: Sequence[dict[str, float]],
    *,
    direct: bool = False,
) -> None:
    """Do the nodes of all blocks in the given order; `memories` and `scalars` hold those of each block.

    A block's arrays cover the block and its ghost layers. A send puts its cells into a buffer that the receive empties,
    or, with `direct`, straight into the ghost cells of the other block.
    """
    origins = [_origins(partition, block) for block in range(len(partition))]
    post: dict[Message, list[Array]] = {}
    partial: dict[tuple[Launch, int], Mapping[str, float]] = {}
    for node in (graph.nodes[n] for n in order):
        memory, origin = memories[node.block], origins[node.block]
        if isinstance(node, Compute):
            reduced = run_body(node, memory, origin, scalars[node.block])
            if node.contributes:
                partial[node.launch, node.block] = reduced
        elif isinstance(node, Send):
            values = [memory[name][copy.source_box.slices(origin[name])] for name, copy in node.message.copies]
            if direct:
                _fill(node.message, values, memories[node.message.target], origins[node.message.target])
            else:
                post[node.message] = [array.copy() for array in values]
        elif isinstance(node, Receive) and not direct:
            _fill(node.message, post.pop(node.message), memory, origin)
        elif isinstance(node, Refresh):
            for name, copy in node.copies:
                cells = copy.source_box.slices(origin[name])
                memory[name][copy.target_box.slices(origin[name])] = memory[name][cells]
        elif isinstance(node, AllReduce):
            shares_of = [partial.get((node.launch, block), {}) for block in range(len(partition))]
            for scalar, operator in node.scalars.items():
                shares = [share.get(scalar, IDENTITY[operator]) for share in shares_of]
                scalars[node.block][scalar] = combine(operator, shares)


def _fill(message: Message, values: Sequence[Array], memory: Memory, origin: Mapping[str, Triple]) -> None:
    for (name, copy), array in zip(message.copies, values, strict=True):
        memory[name][copy.target_box.slices(origin[name])] = array


def scatter(partition: Partition, memory: Memory) -> list[Memory]:
    """The arrays of every block, cut with their ghost layers out of one memory; zeros where that has none."""
    blocks: list[Memory] = []
    for block in range(len(partition)):
        blocks.append({})
        for name, array in memory.items():
            home = partition.homes[name]
            whole, mine = home.region.cells.grow(home.region.ghost), home.memory[block]
            blocks[-1][name] = np.zeros(partition.fields[name].shape(mine), array.dtype)
            both = whole & mine
            blocks[-1][name][both.slices(mine.lo)] = array[both.slices(whole.lo)]
    return blocks


def gather(partition: Partition, memories: Sequence[Memory]) -> Memory:
    """One memory from the cells that each block owns, boundary layers included; periodic ghost cells are zero."""
    memory = {name: a for each in (partition, *partition.beside) for name, a in allocate(each.region).items()}
    for block, share in enumerate(memories):
        for name, array in share.items():
            home = partition.homes[name]
            owned, whole = home.owned[block], home.region.cells.grow(home.region.ghost)
            memory[name][owned.slices(whole.lo)] = array[owned.slices(home.memory[block].lo)]
    return memory
