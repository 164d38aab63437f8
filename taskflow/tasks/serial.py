"""Serial execution: the meaning of a program, and of its graph in any order that the graph allows.

Both are slow and plain. `run_program` knows nothing of blocks, ghosts' validity or dependences: it is the oracle.
`run_graph` does what the nodes say, one after the other. They agree bit for bit for every topological order, or the
analysis is wrong. Tasks have Python bodies here, and no kernels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from taskflow.regions import Partition, Region, Triple
from taskflow.tasks.body import IDENTITY, Array, combine, run_body
from taskflow.tasks.graph import AllReduce, Compute, Message, Receive, Refresh, Send, TaskGraph
from taskflow.tasks.task import Launch

Memory = dict[str, Array]


def allocate(region: Region) -> Memory:
    """Zeros for every field of a region, with ghost layers on all sides."""
    shape = region.cells.grow(region.ghost).shape[::-1]
    return {name: np.zeros(shape, field.dtype) for name, field in region.fields.items()}


def run_program(region: Region, memory: Memory, launches: Iterable[Launch], scalars: dict[str, float]) -> None:
    """Do the launches one after the other in one memory, filling all periodic ghost cells before each."""
    origin = region.cells.grow(region.ghost).lo
    wrap = []
    for size, periodic in zip(region.cells.shape, region.periodic, strict=True):
        index = np.arange(-region.ghost, size + region.ghost)
        wrap.append((index % size if periodic else index) + region.ghost)
    for launch in launches:
        for name in launch.fields:
            memory[name][...] = memory[name][np.ix_(*reversed(wrap))]
        scalars.update(run_body(launch, launch.over, memory, origin, scalars))


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
    origins = [block.grow(partition.region.ghost).lo for block in partition.blocks]
    post: dict[Message, list[Array]] = {}
    partial: dict[tuple[Launch, int], Mapping[str, float]] = {}
    for node in (graph.nodes[n] for n in order):
        memory, origin = memories[node.block], origins[node.block]
        if isinstance(node, Compute):
            partial[node.launch, node.block] = run_body(node.launch, node.box, memory, origin, scalars[node.block])
        elif isinstance(node, Send):
            values = [memory[name][copy.source_box.slices(origin)] for name, copy in node.message.copies]
            if direct:
                _fill(node.message, values, memories[node.message.target], origins[node.message.target])
            else:
                post[node.message] = [array.copy() for array in values]
        elif isinstance(node, Receive) and not direct:
            _fill(node.message, post.pop(node.message), memory, origin)
        elif isinstance(node, Refresh):
            for name, copy in node.copies:
                memory[name][copy.target_box.slices(origin)] = memory[name][copy.source_box.slices(origin)]
        elif isinstance(node, AllReduce):
            found = [partial.get((node.launch, block), {}) for block in range(len(partition))]
            shares = [share.get(node.scalar, IDENTITY[node.operator]) for share in found]
            scalars[node.block][node.scalar] = combine(node.operator, shares)


def _fill(message: Message, values: Sequence[Array], memory: Memory, origin: Triple) -> None:
    for (name, copy), array in zip(message.copies, values, strict=True):
        memory[name][copy.target_box.slices(origin)] = array


def scatter(partition: Partition, memory: Memory) -> list[Memory]:
    """The arrays of every block, cut with their ghost layers out of one memory."""
    ghost, origin = partition.region.ghost, partition.region.cells.grow(partition.region.ghost).lo
    return [{n: a[block.grow(ghost).slices(origin)].copy() for n, a in memory.items()} for block in partition.blocks]


def gather(partition: Partition, memories: Sequence[Memory]) -> Memory:
    """One memory from the cells that each block owns, boundary layers included; periodic ghost cells are zero."""
    region = partition.region
    memory = allocate(region)
    for block, owned, share in zip(partition.blocks, partition.owned, memories, strict=True):
        for name, array in share.items():
            target = owned.slices(region.cells.grow(region.ghost).lo)
            memory[name][target] = array[owned.slices(block.grow(region.ghost).lo)]
    return memory
