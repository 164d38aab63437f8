"""Drawing of the graph of a step as boxes and arrows, also in the DOT language.

The graph is divided into stanzas: a launch with the subsequent transfers, on all blocks. If stanzas repeat, such as the
sweeps of a solver, the first round is drawn and the others become one box per block. A launch on several pieces of a
block also becomes one box.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import pairwise
from typing import Any, Literal

from taskflow.runtime.regions import STRAIGHT
from taskflow.runtime.tasks.graph import AllReduce, Claim, Compute, Grant, Node, Part, Receive, Refresh, Send, TaskGraph
from taskflow.runtime.tasks.task import Launch

ROUNDS = 5  # least repetitions that are folded
LONGEST = 8  # most launches of a round
Look = Literal["whole", "edge", "middle", "transfer", "reduction", "folded"]
LOOKS: dict[Look, tuple[str, str]] = {  # colour and meaning
    "whole": ("#ffffff", "task: all cells of a block, or of a piece"),
    "edge": ("#fdae61", "edge: the cells that travel, first"),
    "middle": ("#abd9e9", "middle: all other cells"),
    "transfer": ("#a6d96a", "transfer: messages, and copies of a block to itself"),
    "reduction": ("#d4b9da", "reduction over all blocks"),
    "folded": ("#eeeeee", "more of the same, not drawn"),
}
MESSAGE = "#d7191c"
SHOWN = 3  # fields in the label of a box


@dataclass(frozen=True)
class FoldedRounds:
    """`rounds` omitted rounds of the launches called `tasks`, with `nodes` of the graph."""

    tasks: tuple[str, ...]
    rounds: int
    nodes: frozenset[int]

    def __str__(self) -> str:
        return f"{' and '.join(self.tasks)}: {self.rounds} more like this"


def repetitions(graph: TaskGraph) -> list[FoldedRounds]:
    """Return the repetitions that can be omitted."""
    stanzas = _stanzas(graph)
    signatures = [_signature(graph, stanza) for stanza in stanzas]
    folded, first = [], 0
    while first < len(stanzas):
        period, rounds = _repetition(signatures, first)
        if rounds >= ROUNDS:
            left_out = range(first + period, first + rounds * period)
            nodes = frozenset(n for s in left_out for n in stanzas[s])
            first_round = [graph.nodes[n] for s in left_out[:period] for n in stanzas[s]]
            tasks = dict.fromkeys(node.launch.task.name for node in first_round if isinstance(node, Compute))
            folded.append(FoldedRounds(tuple(tasks), rounds - 1, nodes))
        first += period * rounds
    return folded


def _repetition(signatures: Sequence[Any], first: int) -> tuple[int, int]:
    """Return length and number of the rounds that begin at `first` and cover the most stanzas."""
    best = 1, 1
    for period in range(1, LONGEST + 1):
        rounds = 1
        while signatures[first : first + period] == signatures[first + rounds * period : first + (rounds + 1) * period]:
            rounds += 1
            if first + rounds * period >= len(signatures):
                break
        if rounds >= ROUNDS and period * rounds > best[0] * best[1]:
            best = period, rounds
    return best


def _stanzas(graph: TaskGraph) -> list[list[int]]:
    """Return the nodes of each launch with the subsequent transfers, in program order. Earlier transfers come first."""
    order = {launch: n for n, launch in enumerate(_launches(graph), 1)}
    place: dict[object, int] = {}  # per message: the latest launch before either of its ends
    number: list[int] = []
    block, last = -1, 0
    for node in graph.nodes:
        block, last = node.block, last if node.block == block else 0
        if isinstance(node, Compute | AllReduce):
            last = order[node.launch]
        elif isinstance(node, Send | Receive):
            place[node.message] = max(last, place.get(node.message, 0))
        number.append(last)
    for n, node in enumerate(graph.nodes):
        if isinstance(node, Grant | Claim | Send | Receive):
            number[n] = place.get(node.message, number[n])
    stanzas: list[list[int]] = [[] for _ in range(len(order) + 1)]
    for n, stanza in enumerate(number):
        stanzas[stanza].append(n)
    return [stanza for stanza in stanzas if stanza]


def _launches(graph: TaskGraph) -> list[Launch]:
    """Return all launches in program order: each block has some of them, in that order."""
    order = TopologicalSorter[Launch]()
    for block in {node.block for node in graph.nodes}:
        launches = dict.fromkeys(n.launch for n in graph.nodes if isinstance(n, Compute) and n.block == block)
        for launch in launches:
            order.add(launch)
        for before, launch in pairwise(launches):
            order.add(launch, before)
    return list(order.static_order())


def _signature(graph: TaskGraph, stanza: Sequence[int]) -> list[tuple[Any, ...]]:
    """Return the nodes of a stanza by their work, independent of fields."""

    def parts(node: Node) -> Iterable[Any]:
        match node:
            case Compute():
                return node.launch.task.name, node.part
            case AllReduce():
                return node.scalars.values()
            case Refresh():
                return ()
            case Grant() | Claim() | Send() | Receive():
                return node.message.source, node.message.target

    nodes = [graph.nodes[n] for n in stanza]
    return sorted(((node.block, type(node).__name__, *parts(node)) for node in nodes), key=repr)


def on_pieces(graph: TaskGraph) -> dict[int, list[int]]:
    """Return, for each node that computes on a piece of an atlas, the nodes of that block, launch and part, in order.

    None of them waits for another, and a block's nodes of a launch are consecutive, so they can form one box.
    """
    together: dict[tuple[int, Launch, Part], list[int]] = defaultdict(list)
    for n, node in enumerate(graph.nodes):
        if isinstance(node, Compute) and node.partition.homes[node.launch.own].pieces is not None:
            together[node.block, node.launch, node.part].append(n)
    return {n: nodes for nodes in together.values() for n in nodes}


@dataclass(frozen=True)
class DrawnNode:
    """A node of the graph, or a fold of many. `peer` is the block with which it exchanges a message."""

    block: int
    label: str
    look: Look
    peer: int | None = None


@dataclass(frozen=True, eq=False)
class Drawing:
    """Boxes, and arrows (from, to) between them: `waits` within a block or for a reduction, `messages` between blocks.
    `ties` are boxes of different blocks that exchange messages in both directions.
    """

    boxes: list[DrawnNode]
    waits: list[tuple[int, int]]
    messages: list[tuple[int, int]]
    ties: list[tuple[int, int]]

    @property
    def blocks(self) -> list[int]:
        return sorted({box.block for box in self.boxes})

    @property
    def looks(self) -> dict[Look, tuple[str, str]]:
        """The looks that occur, for a legend, with colour and meaning."""
        present = {box.look for box in self.boxes}
        return {look: about for look, about in LOOKS.items() if look in present}


def draw(graph: TaskGraph, *, everything: bool = False) -> Drawing:
    """Draw a graph. Arrows implied by others are omitted.

    Without `everything` repetitions are omitted, and permissions to overwrite ghost cells, which have no effect for
    buffered messages. Nodes of a block for a launch on several pieces of an atlas become one box.
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
            other: Look = "reduction" if isinstance(node, AllReduce) else "transfer"
            look = node.part if isinstance(node, Compute) else other
            boxes.append(DrawnNode(node.block, _label(node, len(pieces.get(n, ()))), look, getattr(node, "peer", None)))
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
    """Return the drawing in the DOT language: a cluster per block, colours as in the legend, messages bold."""
    lines = ["digraph step {", "  rankdir=TB; newrank=true; node [shape=box, style=filled, fontname=Helvetica];"]
    for block in drawing.blocks:
        lines.append(f'  subgraph cluster_{block} {{ label="block {block}"; style=rounded; color=gray;')
        for n, box in enumerate(drawing.boxes):
            if box.block == block:
                text = box.label.replace("\n", "\\n")
                lines.append(f'    n{n} [label="{text}", fillcolor="{LOOKS[box.look][0]}"];')
        lines.append("  }")
    lines += [f"  n{m} -> n{n};" for m, n in drawing.waits]
    lines += [f'  n{m} -> n{n} [color="{MESSAGE}", penwidth=3];' for m, n in drawing.messages]
    lines += [f'  n{m} -> n{n} [color="{MESSAGE}", penwidth=3, dir=both, constraint=false];' for m, n in drawing.ties]
    lines.append('  subgraph cluster_legend { label="legend"; style=dashed; color=gray;')
    looks = drawing.looks.items()
    lines += [f'    legend_{look} [label="{meaning}", fillcolor="{colour}"];' for look, (colour, meaning) in looks]
    return "\n".join([*lines, "  }", "}", ""])


def _without_permissions(graph: TaskGraph) -> list[set[int]]:
    """Return the dependences of each node with buffered messages: a grant is replaced by its own dependences."""
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
    """Return the arrows that are not implied by others (the transitive reduction of an acyclic graph)."""
    before: list[set[int]] = [set() for _ in range(count)]
    for a, b in arrows:
        before[b].add(a)
    ancestors: dict[int, int] = {}  # as bit masks
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


def _label(node: Node, times: int) -> str:
    """Return a label of two lines, with the number of nodes if the box has more than one."""
    match node:
        case Compute():
            produced = [*node.launch.written, *(name for name, _ in node.launch.reductions.values())]
            several = f" ({times} boxes)" if times > 1 else ""
            return f"{node.launch.task.name}{several}\n{_names(produced)}"
        case AllReduce():
            return f"{' and '.join(dict.fromkeys(node.scalars.values()))} over all blocks\n{_names(node.scalars)}"
        case Refresh():
            within = all(copy.source == copy.target for _, copy in node.copies)
            turned = any(copy.axes != STRAIGHT for _, copy in node.copies)
            way = ("seams" if turned else "periodic") if within else "own pieces"
            return f"refresh, {way}\n{_names(name for name, _ in node.copies)}"
        case Grant() | Claim() | Send() | Receive():
            return f"{' '.join(node.words)} {node.peer}\n{_names(name for name, _ in node.message.copies)}"


def _names(names: Iterable[str]) -> str:
    different = list(dict.fromkeys(names))
    if len(different) <= SHOWN + 1:  # one name is as short as "and 1 more"
        return ", ".join(different)
    return f"{', '.join(different[:SHOWN])} and {len(different) - SHOWN} more"
