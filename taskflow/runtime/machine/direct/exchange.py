"""The direct transfers of a block and of its traces: flags of messages, copies, reductions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

import numpy as np

from taskflow.runtime.machine.channel import Channel, Gather
from taskflow.runtime.machine.channel.base import LIFELINE
from taskflow.runtime.machine.device import Arena, Array, Call, Device, Gpu, Lane
from taskflow.runtime.machine.device.memory import view
from taskflow.runtime.machine.direct import flags
from taskflow.runtime.machine.direct.board import Board, Inboxes
from taskflow.runtime.machine.direct.flags import OPERATORS, SHARES, Flag
from taskflow.runtime.machine.direct.link import Links, Watch
from taskflow.runtime.machine.kernel import copiers
from taskflow.runtime.machine.kernel.instance import Instances
from taskflow.runtime.regions import Copy, Partition
from taskflow.runtime.tasks import IDENTITY, AllReduce, Message


class Neighbourhood:
    """The blocks that can access each other's memory with this one. Construction is collective."""

    def __init__(
        self, partition: Partition, device: Gpu, instances: Instances, channel: Channel, gather: Gather, seconds: float
    ) -> None:
        self.partition, self.block, self.device, self.instances = partition, channel.block, device, instances
        blocks, self.inboxes = len(partition), Inboxes(partition)
        memory = device.arena(Board(blocks).nbytes + self.inboxes.nbytes(self.block))
        device.synchronize()  # the board is zero before others access it
        self.board, self._keep = Board(blocks, memory.pointer), memory
        self._links = Links(device, (cast(Arena, instances.memory), memory), self.block, gather) if blocks > 1 else None
        peers = self._links.peers if self._links else {}
        mapped = {n: cast(Device, _Mapped(device, link.fields)) for n, link in peers.items()}
        self.fields = {n: Instances(partition, n, arena) for n, arena in mapped.items()}
        self.boards = {self.block: self.board} | {n: Board(blocks, link.board) for n, link in peers.items()}
        lifelines = [channel.receive(n, LIFELINE, np.empty(1, np.uint8)) for n in sorted(peers) if n in channel.peers]
        self.watch = Watch(device, channel.stop, seconds, lifelines)

    @property
    def nbytes(self) -> int:
        """Bytes of the board and the inboxes."""
        return self._keep.nbytes

    @property
    def complete(self) -> bool:
        """True if all blocks can access each other's memory. Then all reductions are done on the devices."""
        return self._links is None or self._links.complete

    def reaches(self, message: Message) -> bool:
        """Return whether source and target of a message can access each other's memory."""
        return message.source in self.boards and message.target in self.boards

    def exchange(self, messages: Iterable[Message]) -> DirectExchange:
        """Return the exchange of a new trace with these messages."""
        return DirectExchange(self, messages)

    def close(self) -> None:
        """Release the others' memory. Only when all blocks are done."""
        if self._links is not None:
            self._links.close()

    def abandon(self) -> None:
        """Release the others' memory after a failure: a surviving process would keep it allocated."""
        self.watch.give_up()
        if self._links is not None:
            self._links.abandon()


class _Mapped:
    """Allocates arrays in another block's arena, in the same order as that block."""

    kind, tiled = "gpu", False

    def __init__(self, device: Gpu, pointer: int) -> None:
        self._device, self._pointer = device, pointer

    def arena(self, _: int) -> _Mapped:
        return self

    def allocate(self, shape: tuple[int, ...], dtype: np.dtype | str) -> Array:
        array = view(self._device.xp, self._pointer, shape, dtype, self, self._device.ordinal)
        self._pointer += Arena.room(shape, dtype)
        return array


class DirectExchange:
    """The flags, copies and reductions of one trace.

    Flags are identified by the number of a message in a pass. Two blocks agree on the count of messages with this
    number, whatever programs they have run.
    """

    def __init__(self, near: Neighbourhood, messages: Iterable[Message]) -> None:
        self._near, self._board, self._folds = near, near.board, 0
        self._rooms = near.inboxes.rooms(messages)
        self.watch = near.watch.argument

    def grant(self, message: Message) -> Flag:
        """Return the flag to post when the ghost cells of the message may be overwritten."""
        source, number = message.source, message.number
        flag = self._near.boards[source].granted(message.target, number)
        return Flag(flag, self._board.count("grants", source, number))

    def claim(self, message: Message) -> Flag:
        """Return the flag to wait for before the message is copied."""
        target, number = message.target, message.number
        name = self._near.watch.name(f"room for message {number} from block {message.source} in block {target}")
        return Flag(self._board.granted(target, number), self._board.count("granted", target, number), name)

    def sent(self, message: Message) -> Flag:
        """Return the flag to post when the message has been copied."""
        target, number = message.target, message.number
        flag = self._near.boards[target].arrived(message.source, number)
        return Flag(flag, self._board.count("sent", target, number))

    def arrival(self, message: Message) -> Flag:
        """Return the flag to wait for before the ghost cells of the message are read."""
        source, number = message.source, message.number
        name = self._near.watch.name(f"message {number} from block {source} to block {message.target}")
        return Flag(self._board.arrived(source, number), self._board.count("arrived", source, number), name)

    def copies(self, message: Message) -> Iterator[tuple[Array, Array]]:
        """Yield the target and the source of each copy of the message."""
        fields, room = self._near.fields[message.target], self._packed(message, self._near.boards[message.target])
        for name, copy in message.copies:
            target = room[name, copy] if (name, copy) in room else fields.target(name, copy)
            yield target, self._near.instances.source(name, copy)

    def unpack(self, message: Message) -> list[tuple[Array, Array]]:
        """Return target and source of the copies of the message from the inbox."""
        room = self._packed(message, self._board)
        return [(self._near.instances.target(name, copy), source) for (name, copy), source in room.items()]

    def bind(self, kind: str, items: Sequence[Any], lane: Lane) -> list[Call]:
        """Return the fewest launches that wait for flags ("await"), post them ("signal"), or copy cells."""
        if kind == "await":
            return flags.await_flags(items, self.watch, lane)
        return flags.post(items, lane) if kind == "signal" else copiers(self._near.device, items, lane)

    def send(
        self,
        claims: Sequence[Flag],
        pairs: Sequence[tuple[Array, Array]],
        posts: Sequence[Flag],
        lane: Lane,
        *,
        hidden: bool,
    ) -> list[Call]:
        """Return launches that wait for claims, copy the cells of messages and post their flags, fused into one if
        possible. If `hidden`, another launch runs concurrently.
        """
        fused = flags.copy_and_post(claims, self.watch, pairs, posts, self._near.device, lane, hidden=hidden)
        apart = ("await", claims), ("copy", pairs), ("signal", posts)
        return fused or [call for kind, items in apart for call in self.bind(kind, items, lane)]

    def fold(self, node: AllReduce, values: Sequence[Array], contributes: bool, lane: Lane) -> Call:
        """Return the fold of the scalars in `values` over all blocks. Values of a block that does not contribute are
        ignored.
        """
        near, shares = self._near, np.zeros((), SHARES)
        number, self._folds = self._folds, self._folds + 1
        boards, xp = [near.boards[n] for n in range(len(near.partition))], near.device.xp
        slots = xp.array([board.share(number, near.block) for board in boards], "u8")
        arrivals = xp.array([board.shared(number, near.block) for board in boards], "u8")
        operators = list(node.scalars.values())
        shares["value"][: len(values)] = [value.data.ptr for value in values]
        shares["identity"][: len(values)] = [IDENTITY[operator] for operator in operators]
        shares["kind"][: len(values)] = [OPERATORS.index(operator) for operator in operators]
        shares["mine"], shares["count"] = near.board.share(number, 0), near.board.folded(number)
        shares["slots"], shares["flags"] = slots.data.ptr, arrivals.data.ptr
        shares["arrived"], shares["blocks"] = near.board.shared(number, 0), len(boards)
        shares["numbers"], shares["contributes"] = len(values), contributes
        shares["name"] = near.watch.name(f"the shares of all blocks of {', '.join(node.scalars)}")
        return flags.fold(shares, self.watch, lane, (values, slots, arrivals))

    def _packed(self, message: Message, board: Board) -> dict[tuple[str, Copy], Array]:
        """Return the packed copies of a message with their parts of the inbox of a board."""
        near, start = self._near, board.pointer + board.nbytes
        return {
            (name, copy): view(
                near.device.xp, start + begin, near.instances.fields[name].shape(copy.target_box),
                near.instances.dtype(name), near, near.device.ordinal,
            )
            for (name, copy), (begin, _) in self._rooms.get(message, {}).items()
        }  # fmt: skip
