"""Brute-force checks of task graphs, cell by cell, from the launches and messages alone: they share no code with the
analysis.

`conflicts` are the pairs of nodes that must not change places, `unordered` those of them that a graph leaves free.
`Versions` executes a graph on version numbers instead of values and finds every read of a cell that is not the one the
program means.
"""

from collections import defaultdict
from itertools import combinations

import numpy as np

from taskflow.runtime.tasks import AllReduce, Claim, Compute, Grant, Receive, Refresh, Send

from .palette import reach

# ------------------------------------------------------------------------------------------------------------- orders


def program_order(graph):
    """The topological order that stays closest to the numbering."""
    return graph.order(lambda node: 0)


def ancestors(graph):
    """For each node the nodes that come before it in every order, as the bits of a number."""
    before = [0] * len(graph.nodes)
    for n in program_order(graph):
        for m in graph.waits[n]:
            before[n] |= before[m] | 1 << m
    return before


def needed_edges(graph):
    """The transitive reduction: the edges (m, n) that no other path stands for."""
    before = ancestors(graph)
    return [
        (m, n)
        for n, waits in enumerate(graph.waits)
        for m in sorted(waits)
        if not any(before[k] >> m & 1 for k in waits if k != m)
    ]


# ---------------------------------------------------------------------------------------------------------- conflicts


def touched(node, frame):
    """Cells read and written by a node, per field, as the bits of a number; scalars count as fields of one cell."""
    reads, writes = defaultdict(int), defaultdict(int)
    if isinstance(node, Compute):
        for name, privilege in zip(node.launch.fields, node.launch.task.fields.values(), strict=True):
            if privilege.reads:
                for x, y, z in reach(privilege.stencil):
                    reads[name] |= bits(node.box.shift((x, y, z)), frame)
            if privilege.writes:
                writes[name] |= bits(node.box, frame)
        for name in node.launch.scalars.values():
            reads["scalar", name] = 1
        for name, _ in node.launch.reductions.values():
            writes["scalar", name] = 1
    elif isinstance(node, AllReduce):
        writes |= {("scalar", scalar): 1 for scalar in node.scalars}
        writes["order of all-reduces"] = 1
    else:
        copies = node.copies if isinstance(node, Refresh) else node.message.copies
        for name, copy in copies:
            if isinstance(node, Send | Refresh):
                reads[name] |= bits(copy.source_box, frame)
            if isinstance(node, Grant | Receive | Refresh):
                writes[name] |= bits(copy.target_box, frame)
    return reads, writes


def bits(box, frame):
    cells = np.zeros(frame.shape[::-1], bool)
    if box & frame:
        cells[(box & frame).slices(frame.lo)] = True
    return int.from_bytes(np.packbits(cells).tobytes())


def conflicts(graph, partition):
    """Every pair (m, n) of nodes that has to be done in this order.

    Of one block: one of them writes what the other reads or writes. Of any blocks: a message is granted, claimed, sent
    and received in this order, and, as it may be copied straight into the ghost cells of its target, after all that
    touched those before; and everybody's share of a reduction is there before anybody folds.
    """
    pairs = set()
    sends, grants = (
        {node.message: m for m, node in enumerate(graph.nodes) if isinstance(node, kind)} for kind in (Send, Grant)
    )
    for block, box in enumerate(partition.blocks):
        frame = box.grow(partition.region.ghost)
        mine = [(n, *touched(node, frame)) for n, node in enumerate(graph.nodes) if node.block == block]
        for (m, reads, writes), (n, reads_after, writes_after) in combinations(mine, 2):
            if _meet(writes, reads_after) or _meet(writes, writes_after) or _meet(reads, writes_after):
                pairs.add((m, n))
                if isinstance(graph.nodes[n], Receive):
                    pairs.add((m, sends[graph.nodes[n].message]))
    for n, node in enumerate(graph.nodes):
        if isinstance(node, Receive):
            pairs.add((sends[node.message], n))
        if isinstance(node, Claim):
            pairs |= {(grants[node.message], n), (n, sends[node.message])}
        if isinstance(node, AllReduce):
            pairs |= {
                (m, n)
                for m, other in enumerate(graph.nodes)
                if isinstance(other, Compute) and other.launch is node.launch
            }
    return pairs


def _meet(one, other):
    return any(cells & other.get(name, 0) for name, cells in one.items())


def unordered(graph, pairs):
    """The pairs that the graph leaves free."""
    before = ancestors(graph)
    return {(m, n) for m, n in pairs if not before[n] >> m & 1}


# ----------------------------------------------------------------------------------------------------------- versions


class Stale(AssertionError):
    """A node read a cell or a scalar that was not the one the program means."""


class Versions:
    """A memory of version numbers: a cell holds the number of the launch that wrote it last, 0 at first, and a ghost
    cell -1 until it is filled, and again from a grant on. The program itself, in one memory, says which version each
    launch has to find. With `direct`, a send fills the ghost cells of the other block itself.
    """

    def __init__(self, partition, direct=False):
        self.partition, self.direct = partition, direct
        region = partition.region
        self.frames = [block.grow(region.ghost) for block in partition.blocks]
        self.truth = {name: np.zeros(region.bounds.shape[::-1], int) for name in region.fields}
        self.arrays = []
        for frame, owned in zip(self.frames, partition.owned, strict=True):
            blank = np.full(frame.shape[::-1], -1)
            blank[owned.slices(frame.lo)] = 0
            self.arrays.append({name: blank.copy() for name in region.fields})
        self.scalars = [defaultdict(int) for _ in partition.blocks]
        self.known = defaultdict(int)
        self.launched = 0

    def run(self, launches, graph, order):
        """Execute the graph of these launches. Raises Stale."""
        meant = self._meant(launches)
        post, shares, granted, claimed = {}, set(), set(), set()
        for node in (graph.nodes[n] for n in order):
            arrays, frame, scalars = self.arrays[node.block], self.frames[node.block], self.scalars[node.block]
            if isinstance(node, Compute):
                self._compute(node, *meant[node.launch])
                shares.add((node.launch, node.block))
            elif isinstance(node, AllReduce):
                needed = {(node.launch, b) for b, owned in enumerate(self.partition.owned) if owned & node.launch.over}
                if not needed <= shares:
                    raise Stale(f"{node} before block {needed - shares} had its share")
                scalars |= dict.fromkeys(node.scalars, meant[node.launch][0])
            elif isinstance(node, Grant):
                granted.add(node.message)
                for name, c in node.message.copies:
                    arrays[name][c.target_box.slices(frame.lo)] = -1
            elif isinstance(node, Claim):
                if node.message not in granted:
                    raise Stale(f"{node} before it was granted")
                claimed.add(node.message)
            elif isinstance(node, Send):
                if self.direct and node.message not in claimed:
                    raise Stale(f"{node} before it was claimed")
                sent = [arrays[name][c.source_box.slices(frame.lo)].copy() for name, c in node.message.copies]
                post[node.message] = sent
                if self.direct:
                    self._fill(node.message, sent)
            elif isinstance(node, Receive):
                if node.message not in post:
                    raise Stale(f"{node} before it was sent")
                sent = post.pop(node.message)
                if not self.direct:
                    self._fill(node.message, sent)
                for (name, c), values in zip(node.message.copies, sent, strict=True):
                    if not np.array_equal(arrays[name][c.target_box.slices(frame.lo)], values):
                        raise Stale(f"{node} after others wrote there")
            else:
                for name, c in node.copies:
                    arrays[name][c.target_box.slices(frame.lo)] = arrays[name][c.source_box.slices(frame.lo)]
        assert not post, "a message was sent that nobody received"

    def _fill(self, message, values):
        for (name, c), result in zip(message.copies, values, strict=True):
            self.arrays[message.target][name][c.target_box.slices(self.frames[message.target].lo)] = result

    def _meant(self, launches):
        """Per launch: its number, and the versions of fields and scalars that it finds."""
        meant = {}
        for launch in launches:
            self.launched += 1
            meant[launch] = self.launched, {name: self.truth[name].copy() for name in launch.fields}, dict(self.known)
            for name, privilege in zip(launch.fields, launch.task.fields.values(), strict=True):
                if privilege.writes:
                    self.truth[name][launch.over.slices(self.partition.region.bounds.lo)] = self.launched
            for name, _ in launch.reductions.values():
                self.known[name] = self.launched
        return meant

    def _compute(self, node, number, fields, scalars):
        for name in node.launch.scalars.values():
            if self.scalars[node.block][name] != scalars.get(name, 0):
                raise Stale(f"block {node.block}: {node} finds another {name}")
        arrays, frame = self.arrays[node.block], self.frames[node.block]
        requirements = list(zip(node.launch.fields, node.launch.task.fields.values(), strict=True))
        for name, privilege in requirements:
            for offset in reach(privilege.stencil) if privilege.reads else ():
                cells = node.box.shift(offset)
                result = arrays[name][cells.slices(frame.lo)]
                expected = self._at(fields[name], cells)
                if not np.array_equal(result, expected):
                    raise Stale(f"block {node.block}: {node} at {offset} finds {name} =\n{result}\nnot\n{expected}")
        for name, privilege in requirements:
            if privilege.writes:
                arrays[name][node.box.slices(frame.lo)] = number

    def _at(self, truth, cells):
        """The true versions of the cells of a box, which may reach over periodic faces."""
        region = self.partition.region
        index = []
        for a in (2, 1, 0):
            row = np.arange(cells.lo[a], cells.hi[a]) - region.bounds.lo[a]
            index.append(row % region.cells.shape[a] if region.periodic[a] else row)
        return truth[np.ix_(*index)]

    def assert_owned(self):
        """Every cell has the version that the program gave it last, and every scalar too, on every block."""
        for arrays, frame, owned, scalars in zip(
            self.arrays, self.frames, self.partition.owned, self.scalars, strict=True
        ):
            for name, array in arrays.items():
                assert np.array_equal(array[owned.slices(frame.lo)], self._at(self.truth[name], owned))
            assert all(scalars[name] == version for name, version in self.known.items())

    def assert_valid(self, valid):
        """The ghost cells that an analysis calls valid hold the present version, and each is named once."""
        for (block, name), boxes in valid.items():
            frame = self.frames[block]
            seen = np.zeros(frame.shape[::-1], int)
            for box in boxes:
                assert box in frame
                seen[box.slices(frame.lo)] += 1
                result = self.arrays[block][name][box.slices(frame.lo)]
                assert np.array_equal(result, self._at(self.truth[name], box))
            assert seen.max(initial=0) <= 1
            assert not seen[(self.partition.owned[block] & frame).slices(frame.lo)].any()
