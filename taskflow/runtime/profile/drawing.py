"""Drawing: the graph of a step as boxes and arrows that a person can read; as text in the DOT language."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Literal

from taskflow.runtime.profile.folding import FoldedRounds, on_pieces, repetitions
from taskflow.runtime.regions import STRAIGHT
from taskflow.runtime.tasks.graph import AllReduce, Claim, Compute, Grant, Node, Receive, Refresh, Send, TaskGraph

Look = Literal["whole", "edge", "middle", "transfer", "reduction", "folded"]
COLOURS: dict[Look, str] = {
    "whole": "#ffffff",
    "edge": "#fdae61",
    "middle": "#abd9e9",
    "transfer": "#a6d96a",
    "reduction": "#d4b9da",
    "folded": "#eeeeee",
}
MEANING: dict[Look, str] = {
    "whole": "task: all cells of a block, or of a piece",
    "edge": "edge: the cells that travel, first",
    "middle": "middle: all other cells",
    "transfer": "transfer: messages, and copies of a block to itself",
    "reduction": "reduction over all blocks",
    "folded": "more of the same, not drawn",
}
MESSAGE = "#d7191c"
SHOWN = 3  # fields in the label of a box


@dataclass(frozen=True)
class DrawnNode:
    """A node of the graph, or a fold of many. `peer` is the block with which it exchanges a message."""

    block: int
    label: str
    look: Look
    peer: int | None = None


@dataclass(frozen=True, eq=False)
class Drawing:
    """Boxes, and arrows (from, to) between them: `waits` of the same block or for a reduction, `messages` between
    blocks. `ties` are boxes of different blocks that exchange messages in both directions.
    """

    boxes: list[DrawnNode]
    waits: list[tuple[int, int]]
    messages: list[tuple[int, int]]
    ties: list[tuple[int, int]]

    @property
    def blocks(self) -> list[int]:
        """The blocks in order."""
        return sorted({box.block for box in self.boxes})

    @property
    def looks(self) -> list[Look]:
        """The looks that occur, for a legend."""
        present = {box.look for box in self.boxes}
        return [look for look in COLOURS if look in present]


def draw(graph: TaskGraph, *, everything: bool = False) -> Drawing:
    """Draw a graph. An arrow that follows from others is left out.

    So are, without `everything`, repetitions and the permissions to overwrite ghost cells, which have nothing to do
    where messages have buffers; and what a block does of a launch on several pieces of an atlas is one box.
    """
    waits = graph.waits if everything else _without_permissions(graph)
    shown = [n for n, node in enumerate(graph.nodes) if everything or not isinstance(node, Grant | Claim)]
    boxes: list[DrawnNode] = []
    place: dict[int, int] = {}  # the box of each node
    folds: dict[tuple[int, FoldedRounds], int] = {}
    folded = {n: rounds for rounds in ([] if everything else repetitions(graph)) for n in rounds.nodes}
    pieces = {} if everything else on_pieces(graph)
    for n in shown:
        node, rounds = graph.nodes[n], folded.get(n)
        first = pieces.get(n, [n])[0]
        if rounds is None and first != n:
            place[n] = place[first]
            continue
        place[n] = len(boxes) if rounds is None else folds.setdefault((node.block, rounds), len(boxes))
        if rounds is None:
            boxes.append(DrawnNode(node.block, _label(node, len(pieces.get(n, ()))), _look(node), _peer(node)))
        elif place[n] == len(boxes):
            boxes.append(DrawnNode(node.block, str(rounds), "folded"))
    arrows = {(place[m], place[n]) for n in shown for m in waits[n] if place[m] != place[n]}
    between = {arrow for arrow in arrows if {boxes[end].look for end in arrow} == {"folded"}}
    ties = sorted((a, b) for a, b in between if a < b and boxes[a].block != boxes[b].block)
    arrows -= {arrow for a, b in ties for arrow in ((a, b), (b, a))}
    arrows = _reduced(len(boxes), arrows)
    moved = {(place[m], place[n]) for n in shown if isinstance(graph.nodes[n], Receive) for m in waits[n]}
    messages = {(a, b) for a, b in arrows & moved if boxes[a].block != boxes[b].block}
    return Drawing(boxes, sorted(arrows - messages), sorted(messages), ties)


def to_dot(drawing: Drawing) -> str:
    """Write the drawing in the DOT language: a cluster per block, colours as in the legend, messages bold."""
    lines = ["digraph step {", "  rankdir=TB; newrank=true; node [shape=box, style=filled, fontname=Helvetica];"]
    for block in drawing.blocks:
        lines.append(f'  subgraph cluster_{block} {{ label="block {block}"; style=rounded; color=gray;')
        for n, box in enumerate(drawing.boxes):
            if box.block == block:
                text = box.label.replace("\n", "\\n")
                lines.append(f'    n{n} [label="{text}", fillcolor="{COLOURS[box.look]}"];')
        lines.append("  }")
    lines += [f"  n{m} -> n{n};" for m, n in drawing.waits]
    lines += [f'  n{m} -> n{n} [color="{MESSAGE}", penwidth=3];' for m, n in drawing.messages]
    lines += [f'  n{m} -> n{n} [color="{MESSAGE}", penwidth=3, dir=both, constraint=false];' for m, n in drawing.ties]
    lines.append('  subgraph cluster_legend { label="legend"; style=dashed; color=gray;')
    lines += [f'    legend_{look} [label="{MEANING[look]}", fillcolor="{COLOURS[look]}"];' for look in drawing.looks]
    return "\n".join([*lines, "  }", "}", ""])


def _without_permissions(graph: TaskGraph) -> list[set[int]]:
    """The nodes for which each node waits where messages have buffers: what a grant waits for in place of the grant."""
    waits: list[set[int]] = []
    for node, own in zip(graph.nodes, graph.waits, strict=True):
        before: set[int] = set()
        for m in own:
            if isinstance(graph.nodes[m], Grant) and not isinstance(node, Claim):
                before |= waits[m]
            elif not isinstance(graph.nodes[m], Grant | Claim):
                before.add(m)
        waits.append(before)
    return waits


def _reduced(count: int, arrows: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
    """The arrows without those that follow from others (the transitive reduction of an acyclic graph)."""
    before: list[set[int]] = [set() for _ in range(count)]
    for a, b in arrows:
        before[b].add(a)
    ancestors: dict[int, int] = {}  # as bits
    kept = set()
    for n in TopologicalSorter(dict(enumerate(before))).static_order():
        ancestors[n] = 0
        for m in before[n]:
            ancestors[n] |= ancestors[m] | 1 << m
        implied = 0
        for m in before[n]:
            implied |= ancestors[m]
        kept |= {(m, n) for m in before[n] if not implied >> m & 1}
    return kept


def _look(node: Node) -> Look:
    if isinstance(node, Compute):
        return node.part
    return "reduction" if isinstance(node, AllReduce) else "transfer"


def _peer(node: Node) -> int | None:
    if isinstance(node, Compute | AllReduce | Refresh):
        return None
    return node.message.target if node.block == node.message.source else node.message.source


def _label(node: Node, times: int) -> str:
    """A few words in two lines; of a box that stands for so many nodes, if for more than one."""
    match node:
        case Compute():
            produced = [*node.launch.written, *(name for name, _ in node.launch.reductions.values())]
            several = f" ({times} boxes)" if times > 1 else ""
            return f"{node.launch.task.name}{several}\n{_names(produced)}"
        case AllReduce():
            return f"{' and '.join(dict.fromkeys(node.scalars.values()))} over all blocks\n{_names(node.scalars)}"
        case Refresh():
            return f"refresh, {_way(node)}\n{_names(name for name, _ in node.copies)}"
        case Grant() | Claim() | Send() | Receive():
            word = {Grant: "grant to", Claim: "claim of", Send: "send to", Receive: "receive from"}[type(node)]
            return f"{word} {_peer(node)}\n{_names(name for name, _ in node.message.copies)}"


def _way(node: Refresh) -> str:
    """Say what a block's copies to itself go across."""
    if any(copy.source != copy.target for _, copy in node.copies):
        return "own pieces"
    return "seams" if any(copy.axes != STRAIGHT for _, copy in node.copies) else "periodic"


def _names(names: Iterable[str]) -> str:
    different = list(dict.fromkeys(names))
    if len(different) <= SHOWN + 1:  # one name is as short as "and 1 more"
        return ", ".join(different)
    return f"{', '.join(different[:SHOWN])} and {len(different) - SHOWN} more"
