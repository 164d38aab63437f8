"""Folding: the repetitions in the graph of a step, so that a picture of it fits a page.

Thirty sweeps of a solver are thirty times the same picture. The graph is cut into stanzas: a launch with what travels
after it, on all blocks. Where stanzas repeat, the first round is kept and the others become one node per block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import pairwise
from typing import Any

from taskflow.runtime.tasks.graph import AllReduce, Claim, Compute, Grant, Receive, Refresh, Send, TaskGraph
from taskflow.runtime.tasks.task import Launch

ROUNDS = 5  # from so many on they are folded
LONGEST = 8  # launches of a round


@dataclass(frozen=True)
class FoldedRounds:
    """`rounds` rounds of the launches called `tasks` that are not shown, of `nodes` of the graph."""

    tasks: tuple[str, ...]
    rounds: int
    nodes: frozenset[int]

    def __str__(self) -> str:
        return f"{' and '.join(dict.fromkeys(self.tasks))}: {self.rounds} more like this"


def folds(graph: TaskGraph) -> list[FoldedRounds]:
    """The repetitions that can be left out."""
    stanzas = _stanzas(graph)
    marks = [_signature(graph, stanza) for stanza in stanzas]
    repetitions, first = [], 0
    while first < len(stanzas):
        period, rounds = _repetition(marks, first)
        if rounds >= ROUNDS:
            left_out = range(first + period, first + rounds * period)
            nodes = frozenset(n for s in left_out for n in stanzas[s])
            names = tuple(name for s in left_out[:period] for name in _tasks(graph, stanzas[s]))
            repetitions.append(FoldedRounds(names, rounds - 1, nodes))
        first += period * rounds
    return repetitions


def _repetition(marks: Sequence[Any], first: int) -> tuple[int, int]:
    """Length and number of the rounds that begin at `first`, so that they reach as far as possible."""
    best = 1, 1
    for period in range(1, LONGEST + 1):
        rounds = 1
        while marks[first : first + period] == marks[first + rounds * period : first + (rounds + 1) * period]:
            rounds += 1
            if first + rounds * period >= len(marks):
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
    after: dict[Launch, set[Launch]] = {}
    for block in {node.block for node in graph.nodes}:
        launches = dict.fromkeys(n.launch for n in graph.nodes if isinstance(n, Compute) and n.block == block)
        for launch in launches:
            after.setdefault(launch, set())
        for before, launch in pairwise(launches):
            after[launch].add(before)
    return list(TopologicalSorter(after).static_order())


def _signature(graph: TaskGraph, stanza: Sequence[int]) -> list[tuple[Any, ...]]:
    """The nodes of a stanza by what they do, whichever fields play the parts."""
    signature: list[tuple[Any, ...]] = []
    for node in (graph.nodes[n] for n in stanza):
        match node:
            case Compute():
                signature.append((node.block, node.launch.task.name, node.part))
            case Refresh():
                signature.append((node.block, "refresh", ""))
            case AllReduce():
                signature.append((node.block, "allreduce", *node.scalars.values()))
            case Grant() | Claim() | Send() | Receive():
                signature.append((node.block, type(node).__name__, node.message.source, node.message.target))
    return sorted(signature, key=repr)


def _tasks(graph: TaskGraph, stanza: Sequence[int]) -> list[str]:
    nodes = (graph.nodes[n] for n in stanza)
    return list(dict.fromkeys(node.launch.task.name for node in nodes if isinstance(node, Compute)))
