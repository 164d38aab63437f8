"""Channels: buffers of messages, and the waits of the host."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from taskflow.runtime.machine.trace.tracer import Trace
from taskflow.runtime.machine.trace.transfer import ALIGN
from taskflow.runtime.proof.cells import Cells
from taskflow.runtime.proof.timeline import Broken, Index, Place, StepTimeline, TimedStep
from taskflow.runtime.regions import Partition
from taskflow.runtime.tasks import Message

Record = tuple[int, Trace, tuple[int, ...]]
"""The block, the trace and the nodes that an event represents."""


class Channels:
    """Messages between blocks that cannot access each other's memory. `records` are the latest records of events."""

    def __init__(self, timeline: StepTimeline, cells: Cells, partition: Partition, records: dict[Record, int]) -> None:
        self._timeline, self._cells, self._records = timeline, cells, records
        self._fields = partition.fields
        self._sequence: dict[tuple[int, int, int], int] = defaultdict(int)  # per counting block and pair
        self._pending: dict[Place, tuple[TimedStep, Place]] = {}  # per buffer: last send that was not waited for
        self._sent: dict[Place, int] = {}  # messages by name
        self._posted: dict[Place, int] = {}
        self._arriving: dict[Place, TimedStep] = {}
        self._unpacking: dict[Place, Record] = {}  # per buffer: the record of the last one
        self._freed: list[tuple[int, Place]] = []

    def pack(self, step: TimedStep, trace: Trace, message: Message) -> None:
        """Copy cells to a buffer."""
        buffer = "out", *self._buffer(trace, message)
        for (name, copy), places in zip(message.copies, self._parts(message), strict=True):
            taken, _ = self._cells[name].copied(message.source, message.target, copy)
            step.move((message.source, name), taken, buffer, places)

    def unpack(self, step: TimedStep, trace: Trace, message: Message, nodes: tuple[int, ...]) -> None:
        """Copy a buffer to ghost cells."""
        buffer = "in", *self._buffer(trace, message)
        for (name, copy), places in zip(message.copies, self._parts(message), strict=True):
            _, filled = self._cells[name].copied(message.source, message.target, copy)
            step.move(buffer, places, (message.target, name), filled)
        self._unpacking[buffer] = message.target, trace, nodes

    def send(self, block: int, turn: int, text: str, trace: Trace, message: Message, nodes: tuple[int, ...]) -> None:
        """Let the channel read the buffer at any time after it is packed."""
        name, buffer = self._name(block, message), self._buffer(trace, message)
        sent = self._timeline.call(block, self._records.get((block, trace, nodes)))
        taken = self._step(block, turn, f"{text} by the channel", sent)
        taken.move(("out", *buffer), self._whole(message), ("wire", *name), self._whole(message))
        self._pending[buffer], self._sent[name] = (taken, name), taken.begin

    def free(self, block: int, trace: Trace, message: Message) -> None:
        """Wait until the last message from the buffer has been read."""
        event = self._timeline.call(block)
        if (pending := self._pending.pop(self._buffer(trace, message), None)) is not None:
            before, name = pending
            before.end = event
            self._timeline.order.follow(event, before.begin)
            self._freed.append((event, name))

    def post(self, block: int, turn: int, trace: Trace, message: Message) -> None:
        """Post the receive of a message, once the previous content of its buffer has been unpacked."""
        record = self._unpacking.get(("in", *self._buffer(trace, message)))
        self.expect(block, turn, trace, message, self._records.get(record) if record else None)

    def expect(self, block: int, turn: int, trace: Trace, message: Message, unpacked: int | None = None) -> None:
        """Let the message arrive from now on, and after `unpacked`."""
        name, event = self._name(block, message), self._timeline.call(block, unpacked)
        self._posted[name] = event
        text = f"arrival of message {message.number} from block {message.source}"
        arrival = self._arriving[name] = self._step(block, turn, text, event)
        buffer = "in", *self._buffer(trace, message)
        arrival.move(("wire", *name), self._whole(message), buffer, self._whole(message))

    def receive(self, block: int, text: str, message: Message) -> None:
        """Wait until a message has arrived."""
        name = self._name(block, message)
        if name not in self._arriving:
            raise Broken(f"block {block}: {text}: no receive names its destination")
        arrival, event = self._arriving[name], self._timeline.call(block)
        arrival.end = event
        self._timeline.order.follow(event, arrival.begin)

    def advance(self, block: int, trace: Trace) -> None:
        """Count the messages of a pass."""
        for pair, count in trace.messages.items():
            self._sequence[block, *pair] += count

    def finish(self) -> None:
        """Connect both ends of each message. Raises Broken if one is missing."""
        for name, arrival in self._arriving.items():
            if name not in self._sent:
                raise Broken(f"{arrival.text}: it is never sent")
            self._timeline.order.follow(arrival.begin, self._sent[name])
        for name in self._sent.keys() - self._posted.keys():
            raise Broken(f"{name[2]}. message from block {name[0]} to block {name[1]}: it is never received")
        for event, name in self._freed:  # some channels take a message only after its receive is posted
            self._timeline.order.hold(event, self._posted[name])

    def _step(self, block: int, turn: int, text: str, after: int) -> TimedStep:
        """Return a step of the channel at some time after an event."""
        return self._timeline.step(block, turn, text, self._timeline.order.add(None, [after]), "move", -1)

    def _name(self, block: int, message: Message) -> Place:
        pair = message.source, message.target
        return (*pair, self._sequence[block, *pair] + message.number)

    def _buffer(self, trace: Trace, message: Message) -> Place:
        """Return the identity of a buffer: messages of one pair of blocks, size and slot share one."""
        parts = (copy.source_box.volume * self._fields[name].nbytes for name, copy in message.copies)
        nbytes = sum(-(-part // ALIGN) * ALIGN for part in parts)
        return message.source, message.target, message.cells, nbytes, trace.slots[message]

    def _parts(self, message: Message) -> list[Index]:
        """Return the places of each copy of a message in its buffer."""
        pair = message.source, message.target
        sizes = [self._cells[name].copied(*pair, copy)[1].size for name, copy in message.copies]
        return np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])

    def _whole(self, message: Message) -> Index:
        return np.concatenate(self._parts(message))
