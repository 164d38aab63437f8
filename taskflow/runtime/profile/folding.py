"""Folding: what of a graph need not be drawn again.

Thirty sweeps of a solver are thirty times the same picture. The graph is cut into stanzas: a launch with what travels
after it, on all blocks. Where stanzas repeat, the first round is kept and the others become one node per block. So do
the nodes of a launch on several pieces of a block.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import pairwise
from typing import Any

from taskflow.runtime.tasks.graph import AllReduce, Claim, Compute, Grant, Node, Part, Receive, Refresh, Send, TaskGraph
from taskflow.runtime.tasks.task import Launch

ROUNDS = 5  # repetitions are folded from so many on
LONGEST = 8  # launches of a round


@dataclass(frozen=True)
class FoldedRounds:
    """`rounds` rounds of the launches called `tasks` that are not shown, of `nodes` of the graph."""

    tasks: tuple[str, ...]
    rounds: int
    nodes: frozenset[int]

    def __str__(self) -> str:
        return f"{' and '.join(self.tasks)}: {self.rounds} more like this"


def repetitions(graph: TaskGraph) -> list[FoldedRounds]:
    """The repetitions that can be left out."""
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
    """Length and number of the rounds that begin at `first`, so that they reach as far as possible."""
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
    """The nodes of each launch with what travels after it, in program order; what travels before all comes first."""
    order = {launch: n for n, launch in enumerate(_launches(graph), 1)}
    place: dict[object, int] = {}  # of each message: the latest launch that either end knows before it
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
    """All launches in program order: each block has some of them, in that order."""
    order = TopologicalSorter[Launch]()
    for block in {node.block for node in graph.nodes}:
        launches = dict.fromkeys(n.launch for n in graph.nodes if isinstance(n, Compute) and n.block == block)
        for launch in launches:
            order.add(launch)
        for before, launch in pairwise(launches):
            order.add(launch, before)
    return list(order.static_order())


def _signature(graph: TaskGraph, stanza: Sequence[int]) -> list[tuple[Any, ...]]:
    """The nodes of a stanza by what they do, whichever fields play the parts."""

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
    """For each node that computes on a piece of an atlas: the nodes of that block and launch, edges or not, in order.

    None of them waits for another one, so that all can be one box: a block's nodes of a launch follow each other.
    """
    together: dict[tuple[int, Launch, Part], list[int]] = defaultdict(list)
    for n, node in enumerate(graph.nodes):
        if isinstance(node, Compute) and node.partition.homes[node.launch.own].pieces is not None:
            together[node.block, node.launch, node.part].append(n)
    return {n: nodes for nodes in together.values() for n in nodes}
