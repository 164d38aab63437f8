"""The direct transfers of a block, and of each of its traces: which flags stand for which messages."""

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
    """The blocks whose memory this one sees, and which see its own.

    All blocks have to make one at the same time.
    """

    def __init__(
        self, partition: Partition, device: Gpu, instances: Instances, channel: Channel, gather: Gather, seconds: float
    ) -> None:
        self.partition, self.block, self.device, self.instances = partition, channel.block, device, instances
        blocks, self.inboxes = len(partition), Inboxes(partition)
        memory = device.arena(Board(blocks).nbytes + self.inboxes.nbytes(self.block))
        device.synchronize()  # the board is blank before anybody sees it
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
        """Bytes of the board, with the inbox behind it."""
        return self._keep.nbytes

    @property
    def complete(self) -> bool:
        """Whether every block sees every other one's memory: then all reductions are done on the devices."""
        return self._links is None or self._links.complete

    def reaches(self, message: Message) -> bool:
        """Whether the source of a message sees the memory of its target, and the other way round."""
        return message.source in self.boards and message.target in self.boards

    def exchange(self, messages: Iterable[Message]) -> DirectExchange:
        """The exchange of a new trace, which has these messages."""
        return DirectExchange(self, messages)

    def close(self) -> None:
        """Let go of the others' memory. Only when all blocks are done."""
        if self._links is not None:
            self._links.close()

    def abandon(self) -> None:
        """Let go of the others' memory after a failure: a process that lives on would keep it from everybody."""
        self.watch.give_up()
        if self._links is not None:
            self._links.abandon()


class _Mapped:
    """Cuts the arrays out of another block's arena, in the order in which it did so itself."""

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

    Flags are known by the number of a message in a pass: whatever programs two blocks have run before, they agree on
    how often a message of this number went between them.
    """

    def __init__(self, near: Neighbourhood, messages: Iterable[Message]) -> None:
        self._near, self._board, self._folds = near, near.board, 0
        self._rooms = near.inboxes.rooms(messages)
        self.watch = near.watch.argument

    def grant(self, message: Message) -> Flag:
        """The flag that is posted when the ghost cells that the message fills may be overwritten."""
        source, number = message.source, message.number
        flag = self._near.boards[source].granted(message.target, number)
        return Flag(flag, self._board.count("grants", source, number))

    def claim(self, message: Message) -> Flag:
        """The flag that is awaited before the message is copied."""
        target, number = message.target, message.number
        name = self._near.watch.name(f"room for message {number} from block {message.source} in block {target}")
        return Flag(self._board.granted(target, number), self._board.count("granted", target, number), name)

    def sent(self, message: Message) -> Flag:
        """The flag that is posted when the message has been copied."""
        target, number = message.target, message.number
        flag = self._near.boards[target].arrived(message.source, number)
        return Flag(flag, self._board.count("sent", target, number))

    def arrival(self, message: Message) -> Flag:
        """The flag that is awaited before anybody reads the ghost cells that the message fills."""
        source, number = message.source, message.number
        name = self._near.watch.name(f"message {number} from block {source} to block {message.target}")
        return Flag(self._board.arrived(source, number), self._board.count("arrived", source, number), name)

    def copies(self, message: Message) -> Iterator[tuple[Array, Array]]:
        """The targets and sources of the cells of the message."""
        fields, room = self._near.fields[message.target], self._packed(message, self._near.boards[message.target])
        for name, copy in message.copies:
            target = room[name, copy] if (name, copy) in room else fields.target(name, copy)
            yield target, self._near.instances.source(name, copy)

    def unpack(self, message: Message) -> list[tuple[Array, Array]]:
        """The targets and sources of the cells of the message that have come to the inbox."""
        room = self._packed(message, self._board)
        return [(self._near.instances.target(name, copy), source) for (name, copy), source in room.items()]

    def bind(self, kind: str, items: Sequence[Any], lane: Lane) -> list[Call]:
        """As few launches as can be that wait for flags ("await"), post them ("signal"), or copy cells."""
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
        """Launches that wait for claims, copy the cells of messages and post their flags: one, where that can be. If
        `hidden`, another launch goes on meanwhile.
        """
        fused = flags.copy_and_post(claims, self.watch, pairs, posts, self._near.device, lane, hidden=hidden)
        apart = ("await", claims), ("copy", pairs), ("signal", posts)
        return fused or [call for kind, items in apart for call in self.bind(kind, items, lane)]

    def fold(self, node: AllReduce, values: Sequence[Array], contributes: bool, lane: Lane) -> Call:
        """The scalars, in `values`, folded over all blocks; of a block that does not contribute they do not count."""
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
        """The copies of a message that are packed, each with its part of the inbox behind a board."""
        near, start = self._near, board.pointer + board.nbytes
        return {
            (name, copy): view(
                near.device.xp, start + begin, near.instances.fields[name].shape(copy.target_box),
                near.instances.dtype(name), near, near.device.ordinal,
            )
            for (name, copy), (begin, _) in self._rooms.get(message, {}).items()
        }  # fmt: skip
