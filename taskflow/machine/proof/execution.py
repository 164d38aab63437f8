"""What the operations of recorded templates do, and what is certain about when: the rules of the machine, each once.

- The host of a block goes through its list. What it enqueues on a lane is done later, in the order of the lane.
- `wait` holds a lane until the last `record` of its event that the host has enqueued before is done.
- `send` waits for the record of its packing, and then lets the channel read the buffer; `free` waits until the channel
  has read what was sent from the buffer last.
- A receive is posted when a pass begins, after the host has waited for the lane on which the last pass unpacked, or by
  `post`, which waits for the record of the unpacking of what the buffer held, if there is one: from then on, and not
  before it was sent, the channel fills its buffer; `receive` waits until it has.
- `signal` posts flags when all before it on its lane is done, `await` holds its lane until they are posted. Both count,
  in the memory of their block, how often they have posted or awaited each: the n-th awaits the n-th.
- `reduce` of the host waits for the plain lane, then for all blocks, and enqueues the result on the plain lane; that of
  a lane brings its share, and holds the lane until all blocks have.
- When a pass begins, the urgent lane waits for what the plain one has to do; when it ends, the plain for the urgent.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from taskflow.machine.proof.cells import Cells
from taskflow.machine.proof.order import Order
from taskflow.machine.proof.touched import reads, writes
from taskflow.machine.trace.operation import Operation
from taskflow.machine.trace.tracer import Trace
from taskflow.machine.trace.transfer import ALIGN
from taskflow.regions import Copy, Partition
from taskflow.tasks import AllReduce, Claim, Compute, Grant, Message, Node, Receive, Refresh, Send

Place = tuple[Any, ...]
"""Where numbers are: (block, field), (block, "scalar", name), (block, "count", ...), ("board", block, fold, parity),
and of a message ("out" or "in", buffer) and ("wire", message)."""
Index = np.ndarray
ONE = np.zeros(1, np.int64)
Effect = Literal["move", "compute", "give", "count", "share", "fold"]


class Broken(Exception):
    """A template that cannot be what it claims to be."""


@dataclass(frozen=True)
class Hardware:
    """What blocks live on: GPUs with two streams each (the lanes), or CPUs, where the host does everything itself; and
    who sees whose memory: blocks with one number in `near`, or, without it, none.
    """

    streams: bool
    near: tuple[int, ...] | None = None

    def sees(self, one: int, other: int) -> bool:
        """Whether two blocks see each other's memory."""
        return self.near is not None and self.near[one] == self.near[other]


@dataclass(eq=False)
class Step:
    """Something that reads and writes memory. It is done after the event `begin`, and over at the event `end` (a
    negative one: nobody ever knows that it is over). `turn` is the pass to which it belongs.
    """

    text: str
    turn: int
    effect: Effect
    begin: int
    end: int
    reads: dict[Place, Index] = field(default_factory=dict)
    writes: dict[Place, Index] = field(default_factory=dict)
    moves: list[tuple[Place, Index, Place, Index]] = field(default_factory=list)
    counts: dict[Place, int] = field(default_factory=dict)
    node: Compute | AllReduce | None = None

    def move(self, source: Place, taken: Index, target: Place, filled: Index) -> None:
        """Copy cells."""
        self.moves.append((source, taken, target, filled))
        for touched, place, cells in ((self.reads, source, taken), (self.writes, target, filled)):
            touched[place] = np.concatenate([touched[place], cells]) if place in touched else cells

    def count(self, place: Place, number: int) -> None:
        """Count one more, after this many."""
        self.counts[place] = number
        self.reads[place] = self.writes[place] = ONE


@dataclass(frozen=True)
class Start:
    """The events with which a pass of a block begins: the host has waited for what came in with the last one, and each
    lane has what was before.
    """

    host: int | None
    lanes: tuple[int, ...]


class Execution:
    """All blocks doing one pass after the other."""

    def __init__(self, cells: Cells, partition: Partition, hardware: Hardware) -> None:
        self.cells, self.hardware = cells, hardware
        self.fields, self.blocks = partition.region.fields, len(partition)
        self.order = Order(3 * self.blocks)
        self.steps: list[Step] = []
        self.starts: list[list[Start]] = []  # per pass and block
        self._count: Counter[Place] = Counter()
        self._sequence: dict[tuple[int, int, int], int] = defaultdict(int)  # per block and pair, as that block counts
        self._records: dict[tuple[int, Trace, tuple[int, ...]], int] = {}
        self._pending: dict[Place, tuple[Step, Place]] = {}  # per buffer: what was sent last, and nobody waited for
        self._sent: dict[Place, int] = {}  # messages by name
        self._posted: dict[Place, int] = {}
        self._arriving: dict[Place, Step] = {}
        self._unpacking: dict[Place, tuple[int, Trace, tuple[int, ...]]] = {}  # per buffer: the record of the last one
        self._entry = [0] * self.blocks  # per block: the lane on which messages came in last
        self._freed: list[tuple[int, Place]] = []
        self._flags: dict[Place, int] = {}
        self._awaits: list[tuple[int, Place, str]] = []
        self._folds: dict[tuple[int, int], list[tuple[str, int, int]]] = defaultdict(list)  # per turn and block

    # ---------------------------------------------------------------------------------------------------- passes

    def add(self, traces: Sequence[Trace], scalars: Iterable[str], entry: int) -> None:
        """One more pass of every block, before which the host gives these scalars a value. Messages come in on the lane
        `entry`.
        """
        turn, names = len(self.starts), list(scalars)
        self.starts.append([])
        for block, trace in enumerate(traces):
            for name in names:
                given = self._step(block, turn - 1, f"a new value of {name}", self._enqueue(block, 0), "give")
                given.writes[block, "scalar", name] = ONE
            self._start(block, turn, trace)
            for number, operation in enumerate(trace.operations):
                self._operation(block, turn, trace, number, operation)
            if self.hardware.streams:
                self._enqueue(block, 0, self._enqueue(block, 1))
            for pair, count in trace.messages.items():
                self._sequence[block, *pair] += count
            if trace.arrivals:
                self._entry[block] = entry

    def finish(self) -> None:
        """One more beginning, to which everything can be compared, and what one block knows of another. Raises Broken
        where blocks wait for what never comes, Circle where they wait for one another.
        """
        self.starts.append([])
        for block in range(self.blocks):
            self._start(block, len(self.starts) - 1, None)
        for name, arrival in self._arriving.items():
            if name not in self._sent:
                raise Broken(f"{arrival.text}: nobody sends it")
            self.order.follow(arrival.begin, self._sent[name])
        for name in self._sent.keys() - self._posted.keys():
            raise Broken(f"{name[2]}. message from block {name[0]} to block {name[1]}: nobody receives it")
        for event, name in self._freed:
            self.order.hold(event, self._posted[name])  # some channels take a message only when it is wanted
        for event, flag, text in self._awaits:
            if flag not in self._flags:
                raise Broken(f"{text}: nobody signals it")
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
        order, host = self.order, None
        arrivals = [(m, ("in", *self._buffer(trace, m))) for m in trace.arrivals] if trace is not None else []
        if trace is None or arrivals:
            host = order.add(self._chain(block, None), [order.last(self._chain(block, self._entry[block]))])
        for message, buffer in arrivals:
            self._post(block, turn, message, buffer)
        fork = self._enqueue(block, 0)
        lanes = (fork, self._enqueue(block, 1, fork)) if self.hardware.streams else (fork,)
        self.starts[turn].append(Start(host, lanes))

    def _post(self, block: int, turn: int, message: Message, buffer: Place, unpacked: int | None = None) -> None:
        """Tell the channel where a message is to arrive."""
        name, event = self._name(block, message), self.order.add(self._chain(block, None), [unpacked])
        self._posted[name] = event
        text = f"arrival of message {message.number} from block {message.source}"
        arrival = self._step(block, turn, text, self.order.add(None, [event]), "move", -1)
        everything = np.arange(self._parts(message)[-1])
        arrival.move(("wire", *name), everything, buffer, everything)
        self._arriving[name] = arrival

    # ------------------------------------------------------------------------------------------------ operations

    def _operation(self, block: int, turn: int, trace: Trace, number: int, operation: Operation) -> None:
        kind, lane = operation.kind, operation.lane
        nodes = [trace.graph.nodes[n] for n in operation.nodes]
        text = f"pass {turn}, operation {number}, {kind} {', '.join(f'({node})' for node in nodes)}"
        if kind == "record":
            self._records[block, trace, operation.nodes] = self._enqueue(block, lane)
        elif kind == "wait":
            self._enqueue(block, lane, self._records.get((block, trace, operation.nodes)))
        elif kind in ("signal", "await"):
            self._flag(block, turn, text, operation, nodes)
        elif kind in ("send", "post", "free", "receive"):
            self._host(block, turn, text, trace, operation, nodes[0])
        elif kind == "reduce" and isinstance(nodes[0], AllReduce):
            self._reduce(block, turn, text, trace, operation, nodes[0])
        elif kind == "compute" and isinstance(nodes[0], Compute):
            self._compute(self._step(block, turn, text, self._enqueue(block, lane), "compute"), nodes[0])
        elif kind in ("compute", "copy", "pack", "unpack"):
            step = self._step(block, turn, text, self._enqueue(block, lane), "move")
            for node in nodes:
                self._copy(step, trace, operation, node)
        else:
            raise Broken(f"block {block}: {text}: no such operation")

    def _compute(self, step: Step, node: Compute) -> None:
        step.node = node
        for touched, boxes in (
            (step.reads, reads(node.launch, node.box)),
            (step.writes, writes(node.launch, node.box)),
        ):
            for name, box in boxes:
                place, cells = (node.block, name), self.cells.index(node.block, box)
                touched[place] = np.union1d(touched[place], cells) if place in touched else cells
        step.reads |= {(node.block, "scalar", name): ONE for name in node.launch.scalars.values()}
        step.writes |= {(node.block, "scalar", name): ONE for name, _ in node.launch.reductions.values()}

    def _copy(self, step: Step, trace: Trace, operation: Operation, node: Node) -> None:
        if isinstance(node, Refresh):
            for name, copy in _share(trace, operation, node.copies):
                self._cells(step, node.block, name, copy)
        elif isinstance(node, Send | Receive):
            message, starts = node.message, self._parts(node.message)
            for part, (name, copy) in enumerate(message.copies):
                places = np.arange(starts[part], starts[part + 1])
                if isinstance(node, Receive):
                    target, buffer = self.cells.index(message.target, copy.target_box), self._buffer(trace, message)
                    step.move(("in", *buffer), places, (message.target, name), target)
                    self._unpacking["in", *buffer] = message.target, trace, operation.nodes
                elif not self.hardware.sees(message.source, message.target):
                    source = self.cells.index(message.source, copy.source_box)
                    step.move((message.source, name), source, ("out", *self._buffer(trace, message)), places)
                else:
                    self._cells(step, message.target, name, copy)
        else:
            raise Broken(f"{step.text}: no such operation")

    def _cells(self, step: Step, target: int, name: str, copy: Copy) -> None:
        """Cells of one block become ghost cells of one."""
        taken, filled = self.cells.index(copy.source, copy.source_box), self.cells.index(target, copy.target_box)
        step.move((copy.source, name), taken, (target, name), filled)

    def _host(self, block: int, turn: int, text: str, trace: Trace, operation: Operation, node: Node) -> None:
        if not isinstance(node, Send | Receive):
            raise Broken(f"block {block}: {text}: no such operation")
        message, host = node.message, self._chain(block, None)
        name, buffer = self._name(block, message), self._buffer(trace, message)
        if operation.kind == "send":
            sent = self.order.add(host, [self._records.get((block, trace, operation.nodes))])
            taken = self._step(block, turn, f"{text} by the channel", self.order.add(None, [sent]), "move", -1)
            everything = np.arange(self._parts(message)[-1])
            taken.move(("out", *buffer), everything, ("wire", *name), everything)
            self._pending[buffer], self._sent[name] = (taken, name), taken.begin
        elif operation.kind == "post":
            place: Place = "in", *buffer
            unpacking = self._unpacking.get(place)
            self._post(block, turn, message, place, self._records.get(unpacking) if unpacking else None)
        elif operation.kind == "receive":
            if name not in self._arriving:
                raise Broken(f"block {block}: {text}: nobody has said where it is to arrive")
            arrival, event = self._arriving[name], self.order.add(host)
            arrival.end = event
            self.order.follow(event, arrival.begin)
        else:
            event, (before, other) = self.order.add(host), self._pending.pop(buffer, (None, ()))
            if before is not None:
                before.end = event
                self.order.follow(event, before.begin)
                self._freed.append((event, other))

    def _flag(self, block: int, turn: int, text: str, operation: Operation, nodes: Sequence[Node]) -> None:
        event = self._enqueue(block, operation.lane)
        step = self._step(block, turn, text, event, "count")
        for node in nodes:
            if not isinstance(node, Grant | Claim | Send | Receive):
                raise Broken(f"block {block}: {text}: no such operation")
            message = node.message
            what = "granted" if isinstance(node, Grant | Claim) else "arrived"
            flag = (what, message.source, message.target, message.number)
            number = self._next((block, "count", operation.kind, flag), step)
            if operation.kind == "signal":
                self._flags[*flag, number] = event
            else:
                self._awaits.append((event, (*flag, number), f"block {block}: {text}"))

    def _next(self, place: Place, step: Step) -> int:
        """How often something was done before that a step does once more."""
        number = self._count[place]
        self._count[place] += 1
        step.count(place, number)
        return number

    def _reduce(self, block: int, turn: int, text: str, trace: Trace, operation: Operation, node: AllReduce) -> None:
        order, host, place = self.order, self._chain(block, None), (block, "scalar", node.scalar)
        brings = any(isinstance(other, Compute) and other.launch is node.launch for other in trace.graph.nodes)
        folds = self._folds[turn, block]
        if operation.lane is None:
            share = order.add(host, [order.last(self._chain(block, 0))] if brings else [])
            there = order.add(host)
            done = self._enqueue(block, 0)
        else:
            share = self._enqueue(block, operation.lane)
            there = done = self._enqueue(block, operation.lane)
        bring = self._step(block, turn, f"{text}, the share", share, "share")
        fold = self._step(block, turn, f"{text}, the result", done, "fold")
        bring.node = fold.node = node
        if brings:
            bring.reads[place] = ONE
        fold.writes[place] = ONE
        if operation.lane is not None:
            half = self._next((block, "count", "reduce", len(folds)), fold) % 2
            boards = [("board", other, len(folds), half) for other in range(self.blocks)]
            bring.writes |= {board: np.array([block]) for board in boards}
            fold.reads[boards[block]] = np.arange(self.blocks)
        folds.append((f"{node.operator} of {node.scalar}", share, there))

    def describe(self, place: Place, cells: Iterable[int]) -> str:
        """A place and some of its cells, in words."""
        if place[0] in ("in", "out"):
            return f"buffer {place[5]} of messages from block {place[1]} to block {place[2]}"
        if place[0] == "board":
            return f"block {place[1]}, shares of a reduction"
        if place[1] in ("scalar", "count"):
            return f"block {place[0]}, {place[1]} {place[2]}"
        boxes = [str(self.cells.box(place[0], int(n))) for n in cells]
        more = f" and {len(boxes) - 1} more boxes" if len(boxes) > 1 else ""
        return f"block {place[0]}, field {place[1]}, cells {boxes[0]}{more}"

    # -------------------------------------------------------------------------------------------------- the rules

    def _chain(self, block: int, lane: int | None) -> int:
        return 3 * block + (0 if lane is None or not self.hardware.streams else 1 + lane)

    def _enqueue(self, block: int, lane: int | None, *after: int | None) -> int:
        """An event on a lane, after what the host has done so far."""
        return self.order.add(self._chain(block, lane), [self.order.last(self._chain(block, None)), *after])

    def _step(self, block: int, turn: int, text: str, begin: int, effect: Effect, end: int | None = None) -> Step:
        step = Step(f"block {block}: {text}", turn, effect, begin, begin if end is None else end)
        self.steps.append(step)
        return step

    def _name(self, block: int, message: Message) -> Place:
        pair = message.source, message.target
        return (*pair, self._sequence[block, *pair] + message.number)

    def _buffer(self, trace: Trace, message: Message) -> Place:
        """What tells buffers apart: messages of one pair of blocks, size and slot have one."""
        parts = (copy.source_box.volume * self.fields[name].nbytes for name, copy in message.copies)
        nbytes = sum(-(-part // ALIGN) * ALIGN for part in parts)
        return message.source, message.target, message.cells, nbytes, trace.slots[message]

    def _parts(self, message: Message) -> list[int]:
        """Where each copy of a message begins in its buffer, and where the last one ends."""
        sizes = [self.cells.index(message.target, copy.target_box).size for _, copy in message.copies]
        return [0, *np.cumsum(sizes).tolist()]


def _share(trace: Trace, operation: Operation, copies: Sequence[tuple[str, Copy]]) -> Iterator[tuple[str, Copy]]:
    """The copies that an operation does: all, or, where a host does them in stages, the n-th of its node the n-th."""
    if operation.kind == "copy":
        yield from copies
        return
    stages = [other for other in trace.operations if other.nodes == operation.nodes]
    if len(stages) != len(copies):
        raise Broken(f"{len(stages)} stages for {len(copies)} copies")
    yield copies[stages.index(operation)]
