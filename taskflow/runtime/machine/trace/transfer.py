"""Transfers of one block: packing, sequence numbers and buffers of the messages that the analysis derived."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping

from taskflow.runtime.machine.channel import Channel, Deadline, Pending
from taskflow.runtime.machine.device import Call, Device, Event, Lane
from taskflow.runtime.machine.kernel.instance import Array, Instances
from taskflow.runtime.machine.trace.staging import STAGINGS, MessageBuffer, Staging
from taskflow.runtime.regions import Copy, Field
from taskflow.runtime.tasks import Message

Key = tuple[int, int, int, int, int]  # source, target, values, bytes, number in the ring

ALIGN = 16  # bytes: alignment of the parts of a message


class Transfers:
    """Sends and receives messages for one block.

    Each message uses the buffer `slot` of the ring for its size and pair of blocks (see `Rings`), the same in every
    replay. A buffer is packed again only after its message was taken, and posted again only after its message was
    unpacked.
    """

    def __init__(
        self, channel: Channel, device: Device, instances: Instances, timeout: float, staging: Staging = "device"
    ) -> None:
        self.channel, self.device, self.instances, self.timeout = channel, device, instances, timeout
        self._staging = STAGINGS[staging]
        self._sequence: dict[tuple[int, int], int] = defaultdict(int)
        self._keys: dict[tuple[Message, int], Key] = {}  # cached: a small message takes microseconds in total
        self._buffers: dict[Key, MessageBuffer] = {}
        self._pending: dict[Key, Pending] = {}
        self._copies: dict[Hashable, list[Call]] = {}

    def pack(self, message: Message, slot: int, lane: Lane) -> list[Call]:
        """Return operations that copy the message's cells into its buffer, which must be free."""
        return self._bound(message, slot, lane, packs=True)

    def unpack(self, message: Message, slot: int, lane: Lane) -> list[Call]:
        """Return operations that copy the message's buffer into ghost cells."""
        return self._bound(message, slot, lane, packs=False)

    def _bound(self, message: Message, slot: int, lane: Lane, *, packs: bool) -> list[Call]:
        """Return the copies, bound once for all messages of the same cells and buffer."""
        key = message.copies, slot, lane, packs
        copies = self._copies.get(key)
        if copies is None:
            mine, pairs = self.instances, list[tuple[Array, Array]]()
            for name, copy, part in self._parts(message, slot):
                pairs.append((part, mine.source(name, copy)) if packs else (mine.target(name, copy), part))
            buffer = self._buffers[self._key(message, slot)]
            copies = self._copies[key] = self._staging.copies(self.device, pairs, buffer, lane, packs=packs)
        return copies

    def send(self, message: Message, slot: int, ready: Event | None) -> None:
        """Pass the message to the channel, once it has been packed."""
        if ready is not None:
            ready.synchronize()
        key = self._key(message, slot)
        self._pending[key] = self.channel.send(message.target, self._number(message), self._buffers[key].outer)

    def post(self, message: Message, slot: int, unpacked: Event | None = None) -> None:
        """Post the receive of the message, once the previous content of its buffer has been unpacked."""
        if unpacked is not None:
            unpacked.synchronize()
        key = self._key(message, slot)
        self._pending[key] = self.channel.receive(message.source, self._number(message), self._buffers[key].outer)

    def finish(self, message: Message, slot: int) -> None:
        """Wait until the message has arrived, or until the previous send from its buffer has been taken."""
        pending = self._pending.pop(self._key(message, slot), None)
        if pending is not None:
            pending.wait(Deadline.after(self.timeout))

    def advance(self, messages: Mapping[tuple[int, int], int], passes: int = 1) -> None:
        """Count the messages of some passes per pair of blocks."""
        for pair, number in messages.items():
            self._sequence[pair] += passes * number

    def drain(self) -> None:
        """Wait until all sent messages have been taken."""
        while self._pending:
            self._pending.popitem()[1].wait(Deadline.after(self.timeout))

    @property
    def nbytes(self) -> int:
        return sum(buffer.inner.nbytes for buffer in self._buffers.values())

    def _number(self, message: Message) -> int:
        return self._sequence[message.source, message.target] + message.number

    def _parts(self, message: Message, slot: int) -> Iterator[tuple[str, Copy, Array]]:
        """Yield each copy of the message with its part of the buffer, as an array in the shape of its cells."""
        key, start = self._key(message, slot), 0
        if key not in self._buffers:
            self._buffers[key] = self._staging.buffer(self.device, key[3])
        for name, copy in message.copies:
            dtype, shape = self.instances.dtype(name), self.instances.fields[name].shape(copy.target_box)
            nbytes = math.prod(shape) * dtype.itemsize
            yield name, copy, self._buffers[key].inner[start : start + nbytes].view(dtype).reshape(shape)
            start += _aligned(nbytes)

    def _key(self, message: Message, slot: int) -> Key:
        key = self._keys.get((message, slot))
        if key is None:
            key = message.source, message.target, message.cells, packed(message, self.instances.fields), slot
            self._keys[message, slot] = key
        return key


def packed(message: Message, fields: Mapping[str, Field]) -> int:
    """Return the bytes of a message of these fields."""
    return sum(_aligned(copy.source_box.volume * fields[name].nbytes) for name, copy in message.copies)


def _aligned(nbytes: int) -> int:
    return -(-nbytes // ALIGN) * ALIGN
