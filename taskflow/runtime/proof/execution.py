"""Execution of recorded templates: the effect of each operation, and its guaranteed order. Each rule is stated once.

- The host of a block processes its list. Work that it enqueues on a lane is done later, in the order of the lane.
- `wait` holds a lane until the last enqueued `record` of its event is done.
- `send` waits for the record of its packing, and then lets the channel read the buffer. `free` waits until the channel
  has read the last message from the buffer.
- A receive is posted when a pass begins, after the host has waited for the lane of the last unpacking, or by `post`,
  which waits for the record of the previous unpacking of the buffer, if any. From then on, and not before it is sent,
  the channel fills its buffer. `receive` waits for that.
- Between blocks that access each other's memory `pack` copies into the target's ghost cells, or, if rows are short,
  into its inbox, from where the target's `unpack` copies. `signal` posts flags when all earlier work on its lane is
  done, `await` holds its lane until they are posted. Each block counts its posts and waits per flag: the n-th wait is
  for the n-th post.
- `reduce` of the host waits for the plain lane, then for all blocks, and enqueues the result on the plain lane. On a
  lane it posts its share, and holds the lane until all blocks have done so.
- At the start of a pass the urgent lane waits for the plain one, at the end the plain one for the urgent one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from taskflow.runtime.machine.trace.operation import Operation
from taskflow.runtime.machine.trace.tracer import Trace
from taskflow.runtime.proof.cells import Cells, Packed
from taskflow.runtime.proof.channels import Channels, Record
from taskflow.runtime.proof.timeline import ONE, Broken, Hardware, Place, StepTimeline, TimedStep
from taskflow.runtime.regions import Copy, Partition
from taskflow.runtime.tasks import AllReduce, Claim, Compute, Grant, Launch, Node, Receive, Refresh, Send

Copies = Sequence[tuple[str, Copy]]


@dataclass(frozen=True)
class Start:
    """Start of a pass of a block: the event at which the host has waited for the last arrivals, and the events of its
    lanes.
    """

    host: int | None
    lanes: tuple[int, ...]


class Execution:
    """Sequential passes of all blocks. `traces` are all that will be replayed."""

    def __init__(self, cells: Cells, partition: Partition, hardware: Hardware, traces: Iterable[Trace]) -> None:
        self.cells, self.hardware, self.blocks = cells, hardware, len(partition)
        self.starts: list[list[Start]] = []  # per pass and block
        self._timeline = StepTimeline(self.blocks, hardware)
        self.order, self.steps = self._timeline.order, self._timeline.steps
        self._records: dict[Record, int] = {}
        self._channels = Channels(self._timeline, cells, partition, self._records)
        self._packed = Packed(partition, cells, traces if hardware.near is not None and hardware.streams else ())
        self._entry = [0] * self.blocks  # per block: lane of the last arrivals
        self._count: Counter[Place] = Counter()
        self._flags: dict[Place, int] = {}
        self._awaits: list[tuple[int, Place, str]] = []
        self._stages: dict[Trace, dict[tuple[int, ...], list[Operation]]] = {}
        self._folds: dict[tuple[int, int], list[tuple[str, int, int]]] = defaultdict(list)  # per turn and block

    # ---------------------------------------------------------------------------------------------------- passes

    def add(self, traces: Sequence[Trace], scalars: Iterable[str], entry: int) -> None:
        """Add a pass of every block, before which the host sets these scalars.

        Messages arrive on the lane `entry`.
        """
        turn, names, timeline = len(self.starts), list(scalars), self._timeline
        self.starts.append([])
        for block, trace in enumerate(traces):
            for name in names:
                value = timeline.step(block, turn - 1, f"a new value of {name}", timeline.enqueue(block, 0), "give")
                value.writes[block, "scalar", name] = ONE
            self._start(block, turn, trace)
            for number, operation in enumerate(trace.operations):
                self._operation(block, turn, trace, number, operation)
            if self.hardware.streams:
                timeline.enqueue(block, 0, timeline.enqueue(block, 1))
            self._channels.advance(block, trace)
            if trace.arrivals:
                self._entry[block] = entry

    def finish(self) -> None:
        """Add the start of one more pass, which bounds the last one, and the order between blocks.

        Raises Broken if a block waits for an event that never happens, CycleError if blocks wait for each other.
        """
        self.starts.append([])
        for block in range(self.blocks):
            self._start(block, len(self.starts) - 1, None)
        self._channels.finish()
        for event, flag, text in self._awaits:
            if flag not in self._flags:
                raise Broken(f"{text}: it is never signalled")
            self.order.follow(event, self._flags[flag])
        for turn in range(len(self.starts) - 1):
            every = [self._folds[turn, block] for block in range(self.blocks)]
            if any([what for what, *_ in one] != [what for what, *_ in every[0]] for one in every):
                raise Broken(f"pass {turn}: the blocks do not reduce the same scalars in the same order")
            for calls in zip(*every, strict=True):
                for _, _, fold in calls:
                    self.order.follow(fold, *(share for _, share, _ in calls))
        self.order.settle()

    def _start(self, block: int, turn: int, trace: Trace | None) -> None:
        timeline, host = self._timeline, None
        if trace is None or trace.arrivals:
            host = timeline.call(block, timeline.last(block, self._entry[block]))
        if trace is not None:
            for message in trace.arrivals:
                self._channels.expect(block, turn, trace, message)
        fork = timeline.enqueue(block, 0)
        lanes = (fork, timeline.enqueue(block, 1, fork)) if self.hardware.streams else (fork,)
        self.starts[turn].append(Start(host, lanes))

    # ------------------------------------------------------------------------------------------------ operations

    def _operation(self, block: int, turn: int, trace: Trace, number: int, operation: Operation) -> None:
        kind, lane, timeline = operation.kind, operation.lane, self._timeline
        nodes, channels = [trace.graph.nodes[n] for n in operation.nodes], self._channels
        message = nodes[0].message if isinstance(nodes[0], Send | Receive) else None
        text = f"pass {turn}, operation {number}, {kind} {', '.join(f'({node})' for node in nodes)}"
        if kind == "record":
            self._records[block, trace, operation.nodes] = timeline.enqueue(block, lane)
        elif kind == "wait":
            timeline.enqueue(block, lane, self._records.get((block, trace, operation.nodes)))
        elif kind in ("signal", "await"):
            self._flag(block, turn, text, operation, nodes)
        elif kind == "send" and message:
            channels.send(block, turn, text, trace, message, operation.nodes)
        elif kind == "post" and message:
            channels.post(block, turn, trace, message)
        elif kind == "receive" and message:
            channels.receive(block, text, message)
        elif kind == "free" and message:
            channels.free(block, trace, message)
        elif kind == "reduce" and isinstance(nodes[0], AllReduce):
            self._reduce(block, turn, text, trace, operation, nodes[0])
        elif kind == "compute" and isinstance(nodes[0], Compute):
            self._computes(block, turn, text, lane, nodes)
        elif kind in ("compute", "copy", "pack", "unpack"):
            step = timeline.step(block, turn, text, timeline.enqueue(block, lane), "move")
            for node in nodes:
                self._copy(step, trace, operation, node)
        else:
            raise Broken(f"block {block}: {text}: unknown operation")

    def _computes(self, block: int, turn: int, text: str, lane: int | None, nodes: Sequence[Node]) -> None:
        """Add the point tasks of one operation, all between its begin and its end, so that they must not interfere.
        Reductions of pieces of one launch are folded in order.
        """
        begin = self._timeline.enqueue(block, lane)
        end = begin if len(nodes) == 1 else self._timeline.enqueue(block, lane)
        begun = set[Launch]()
        for node in nodes:
            if not isinstance(node, Compute):
                raise Broken(f"block {block}: {text}: unknown operation")
            step = self._timeline.step(block, turn, text, begin, "compute", end)
            self._compute(step, node)
            for name, _ in node.launch.reductions.values() if node.launch in begun else ():
                del step.writes[block, "scalar", name]
            begun.add(node.launch)

    def _compute(self, step: TimedStep, node: Compute) -> None:
        step.node = node
        step.reads, step.writes = map(dict, self.cells.touched(node))
        step.reads |= {(node.block, "scalar", name): ONE for name in node.launch.scalars.values()}
        step.writes |= {(node.block, "scalar", name): ONE for name, _ in node.launch.reductions.values()}

    def _copy(self, step: TimedStep, trace: Trace, operation: Operation, node: Node) -> None:
        if isinstance(node, Refresh):
            for name, copy in self._share(trace, operation, node.copies):
                taken, filled = self.cells[name].copied(node.block, node.block, copy)
                step.move((node.block, name), taken, (node.block, name), filled)
        elif isinstance(node, Send | Receive) and self.hardware.sees(node.message.source, node.message.target):
            self._direct(step, trace, node)
        elif isinstance(node, Send):
            self._channels.pack(step, trace, node.message)
        elif isinstance(node, Receive):
            self._channels.unpack(step, trace, node.message, operation.nodes)
        else:
            raise Broken(f"{step.text}: unknown operation")

    def _direct(self, step: TimedStep, trace: Trace, node: Send | Receive) -> None:
        """Copy to ghost cells or to the inbox of a neighbour, or from the own inbox."""
        message = node.message
        for name, copy in message.copies:
            inbox, packed = ("inbox", message.source, message.target), self._packed.places(trace, message, name, copy)
            taken, filled = self.cells[name].copied(message.source, message.target, copy)
            if packed is None and isinstance(node, Send):
                step.move((message.source, name), taken, (message.target, name), filled)
            elif packed is not None and isinstance(node, Send):
                step.move((message.source, name), np.resize(taken, packed.size), inbox, packed)
            elif packed is not None:
                step.move(inbox, packed, (message.target, name), np.resize(filled, packed.size))

    def _flag(self, block: int, turn: int, text: str, operation: Operation, nodes: Sequence[Node]) -> None:
        event = self._timeline.enqueue(block, operation.lane)
        step = self._timeline.step(block, turn, text, event, "count")
        for node in nodes:
            if not isinstance(node, Grant | Claim | Send | Receive):
                raise Broken(f"block {block}: {text}: unknown operation")
            message = node.message
            what = "granted" if isinstance(node, Grant | Claim) else "arrived"
            flag = (what, message.source, message.target, message.number)
            number = self._next((block, "count", operation.kind, flag), step)
            if operation.kind == "signal":
                self._flags[*flag, number] = event
            else:
                self._awaits.append((event, (*flag, number), f"block {block}: {text}"))

    def _next(self, place: Place, step: TimedStep) -> int:
        """Count an action of a step, and return the previous count."""
        number = self._count[place]
        self._count[place] += 1
        step.count(place, number)
        return number

    def _reduce(self, block: int, turn: int, text: str, trace: Trace, operation: Operation, node: AllReduce) -> None:
        timeline, places = self._timeline, [(block, "scalar", scalar) for scalar in node.scalars]
        computed = (other for other in trace.graph.nodes if isinstance(other, Compute) and other.launch is node.launch)
        brings = any(other.contributes for other in computed)
        folds = self._folds[turn, block]
        if operation.lane is None:
            share = timeline.call(block, *([timeline.last(block, 0)] if brings else []))
            brought = timeline.call(block)
            done = timeline.enqueue(block, 0)
        else:
            share = timeline.enqueue(block, operation.lane)
            brought = done = timeline.enqueue(block, operation.lane)
        bring = timeline.step(block, turn, f"{text}, the share", share, "share")
        fold = timeline.step(block, turn, f"{text}, the result", done, "fold")
        bring.node = fold.node = node
        if brings:
            bring.reads |= dict.fromkeys(places, ONE)
        fold.writes |= dict.fromkeys(places, ONE)
        if operation.lane is not None:
            half = self._next((block, "count", "reduce", len(folds)), fold) % 2
            boards = [("board", other, len(folds), half) for other in range(self.blocks)]
            bring.writes |= {board: np.array([block]) for board in boards}
            fold.reads[boards[block]] = np.arange(self.blocks)
        folds.append((str(node), share, brought))

    def describe(self, place: Place, cells: Iterable[int]) -> str:
        """Return a place and some of its cells as text."""
        if place[0] in ("in", "out"):
            return f"buffer {place[5]} of messages from block {place[1]} to block {place[2]}"
        if place[0] == "inbox":
            return f"block {place[2]}, inbox for block {place[1]}"
        if place[0] == "board":
            return f"block {place[1]}, shares of a reduction"
        if place[1] in ("scalar", "count"):
            return f"block {place[0]}, {place[1]} {place[2]}"
        boxes = [str(self.cells[place[1]].box(place[0], int(n))) for n in cells]
        more = f" and {len(boxes) - 1} more boxes" if len(boxes) > 1 else ""
        return f"block {place[0]}, field {place[1]}, cells {boxes[0]}{more}"

    def _share(self, trace: Trace, operation: Operation, copies: Copies) -> Copies:
        """Return the copies of an operation: all, or the one of its stage if a host does them in stages."""
        if operation.kind == "copy":
            return copies
        if trace not in self._stages:
            self._stages[trace] = defaultdict(list)
            for other in trace.operations:
                self._stages[trace][other.nodes].append(other)
        stages = self._stages[trace][operation.nodes]
        if len(stages) != len(copies):
            raise Broken(f"{len(stages)} stages for {len(copies)} copies")
        return (copies[stages.index(operation)],)
