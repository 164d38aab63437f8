"""Serial execution of a program, and of its graph in any permitted order.

Both are slow and simple. `run_program` has no blocks, validity of ghosts or dependences: it is the oracle. `run_graph`
executes the nodes sequentially. They agree bitwise for every topological order, or the analysis is wrong. Tasks have
Python bodies here, and no kernels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from taskflow.runtime.regions import Copy, Partition, Region, Triple, seen
from taskflow.runtime.tasks.body import IDENTITY, Array, combine, run_body
from taskflow.runtime.tasks.graph import AllReduce, Compute, Message, Place, Receive, Refresh, Send, TaskGraph
from taskflow.runtime.tasks.task import Launch

Memory = dict[str, Array]
BlockMemory = dict[Place, Array]


def allocate(region: Region) -> Memory:
    """Return zeros for every field of a region, with ghost layers on all sides; of an atlas over the hull of its
    charts.
    """
    cells = region.cells.grow(region.ghost)
    return {name: np.zeros(field.shape(cells), field.dtype) for name, field in region.fields.items()}


def run_program(
    region: Region, memory: Memory, launches: Iterable[Launch], scalars: dict[str, float], beside: Iterable[Region] = ()
) -> None:
    """Execute the launches sequentially in one memory, filling all ghost cells across periodic faces and seams before
    each. `beside` are other regions of the program.
    """
    regions = {name: part for part in (region, *beside) for name in part.fields}
    images = {part: _images(part) for part in regions.values()}
    others = tuple(Partition(part, (1, 1, 1)) for part in beside)
    pieces = None if region.atlas is None else (region.charts,)
    whole = Partition(region, (1, 1, 1), beside=others, pieces=pieces)
    for launch in launches:
        for name in launch.fields:
            field, origin = regions[name].fields[name], _origin(regions[name])
            for copy in () if field.constant else images[regions[name]]:
                source = memory[name][copy.source_box.slices(origin)]
                memory[name][copy.target_box.slices(origin)] = seen(source, copy.axes)
        origins = {name: _origin(part) for name, part in regions.items()}
        nodes = [Compute(0, launch, box, "whole", whole, 0, box) for box in launch.boxes]
        results = [run_body(node, memory, origins, scalars) for node in nodes]
        for scalar, operator in launch.reductions.values():
            scalars[scalar] = combine(operator, [result[scalar] for result in results])


def _images(region: Region) -> list[Copy]:
    """Return the copies that fill all ghost cells that are images of others."""
    boxes = [box for chart in region.charts for box in chart.grow(region.ghost).subtract(chart)]
    images = ((image, turn) for box in boxes for image, turn in region.images(box))
    copies = [Copy(0, image, 0, turn(image), turn.axes) for image, turn in images]
    return [copy for copy in copies if copy.source_box != copy.target_box]


def _origin(region: Region) -> Triple:
    return region.cells.grow(region.ghost).lo


def run_graph(
    graph: TaskGraph,
    order: Sequence[int],
    partition: Partition,
    memories: Sequence[BlockMemory],
    scalars: Sequence[dict[str, float]],
    *,
    direct: bool = False,
) -> None:
    """Execute the nodes of all blocks in the given order, with `memories` and `scalars` of each block.

    A block's arrays, by field and piece, cover the piece and its ghost layers. A send fills a buffer that the receive
    empties, or, if `direct`, the ghost cells of the other block.
    """
    homes, blocks = partition.homes.items(), range(len(partition))
    origins = [{(name, n): home.memory[n].lo for name, home in homes for n in home.pieces_of(b)} for b in blocks]
    post: dict[Message, list[Array]] = {}
    partial: dict[tuple[Launch, int], Mapping[str, float]] = {}
    for node in (graph.nodes[n] for n in order):
        memory, origin = memories[node.block], origins[node.block]
        if isinstance(node, Compute):
            places = {name: node.place(name) for name in node.launch.fields}
            mine = {name: memory[place] for name, place in places.items()}
            reduced = run_body(node, mine, {name: origin[place] for name, place in places.items()}, scalars[node.block])
            if node.contributes:
                before = partial.get((node.launch, node.block), {})
                partial[node.launch, node.block] = {
                    scalar: value if node.first else combine(operator, [before[scalar], value])
                    for (scalar, operator), value in zip(node.launch.reductions.values(), reduced.values(), strict=True)
                }
        elif isinstance(node, Send):
            values = [_source(name, copy, memory, origin) for name, copy in node.message.copies]
            if direct:
                _fill(node.message, values, memories[node.message.target], origins[node.message.target])
            else:
                post[node.message] = [array.copy() for array in values]
        elif isinstance(node, Receive) and not direct:
            _fill(node.message, post.pop(node.message), memory, origin)
        elif isinstance(node, Refresh):
            for name, copy in node.copies:
                target, values = (name, copy.target), _source(name, copy, memory, origin)
                memory[target][copy.target_box.slices(origin[target])] = values
        elif isinstance(node, AllReduce):
            shares_of = [partial.get((node.launch, block), {}) for block in range(len(partition))]
            for scalar, operator in node.scalars.items():
                shares = [share.get(scalar, IDENTITY[operator]) for share in shares_of]
                scalars[node.block][scalar] = combine(operator, shares)


def _source(name: str, copy: Copy, memory: BlockMemory, origin: Mapping[Place, Triple]) -> Array:
    """Return the values of a copy, oriented as its target."""
    place = name, copy.source
    return seen(memory[place][copy.source_box.slices(origin[place])], copy.axes)


def _fill(message: Message, values: Sequence[Array], memory: BlockMemory, origin: Mapping[Place, Triple]) -> None:
    for (name, copy), array in zip(message.copies, values, strict=True):
        memory[name, copy.target][copy.target_box.slices(origin[name, copy.target])] = array


def scatter(partition: Partition, memory: Memory) -> list[BlockMemory]:
    """Return the arrays of every block, with ghost layers, from one memory; zeros outside of it."""
    blocks: list[BlockMemory] = []
    for block in range(len(partition)):
        blocks.append({})
        for name, array in memory.items():
            home = partition.homes[name]
            whole = home.region.cells.grow(home.region.ghost)
            for piece in home.pieces_of(block):
                mine = home.memory[piece]
                blocks[-1][name, piece] = np.zeros(partition.fields[name].shape(mine), array.dtype)
                both = whole & mine
                blocks[-1][name, piece][both.slices(mine.lo)] = array[both.slices(whole.lo)]
    return blocks


def gather(partition: Partition, memories: Sequence[BlockMemory]) -> Memory:
    """Return one memory from the cells that each block owns, with boundary layers; other ghost cells are zero."""
    memory = {name: a for part in (partition, *partition.beside) for name, a in allocate(part.region).items()}
    for share in memories:
        for (name, piece), array in share.items():
            home = partition.homes[name]
            for own in home.own[piece]:
                memory[name][own.slices(_origin(home.region))] = array[own.slices(home.memory[piece].lo)]
    return memory
