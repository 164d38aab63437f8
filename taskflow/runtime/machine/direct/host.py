"""Direct transfers between blocks that are threads of one process on cores: a message is one copy from the source's
cells into the target's ghost cells, and waits sleep outside of Python (`host.cpp`).

As on GPUs (`exchange.py`), a message has two flags: its ghost cells are granted, and filled.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from taskflow.runtime.machine.channel import Channel, Gather
from taskflow.runtime.machine.channel.base import PROCESS
from taskflow.runtime.machine.device import Array, Call, Device, Lane
from taskflow.runtime.machine.direct.host_folds import HostFolds
from taskflow.runtime.machine.direct.host_meeting import HostWatch, Meeting
from taskflow.runtime.machine.kernel import compile_host
from taskflow.runtime.machine.kernel.copying import HostCopies, by_size, planes
from taskflow.runtime.machine.kernel.instance import Instances
from taskflow.runtime.regions import Partition
from taskflow.runtime.tasks import AllReduce, Message

# structs Copies and Exchange of host.cpp
COPIES = np.dtype(
    [(name, np.uint64) for name in ("copy", "parts", "begins")] + [("count", np.intc), ("threads", np.intc)]
)
EXCHANGE = np.dtype(
    [(name, np.uint64) for name in ("claims", "copies", "posts", "waiting")]
    + [(name, np.intc) for name in ("claimed", "lists", "posted")],
    align=True,
)


@dataclass(frozen=True)
class HostFlag:
    """The address of a flag, and what a wait for it waits for."""

    address: int
    what: str = ""


class HostNeighbourhood:
    """All blocks of a run, in this process, see `Neighbourhood`. Construction is collective."""

    complete, nbytes = True, 0  # flags are not counted: 64 bytes of the process each

    def __init__(
        self, partition: Partition, device: Device, instances: Instances, channel: Channel, gather: Gather,
        seconds: float,
    ) -> None:  # fmt: skip
        self.partition, self.block, self.device, self.instances = partition, channel.block, device, instances
        self.meeting = Meeting.of(channel.run)
        self.meeting.fields[self.block] = instances
        self.watch = HostWatch(channel, seconds)
        self.folds = HostFolds(_operations().fold, self.meeting, self.watch, (self.block, len(partition)))
        gather(np.zeros(1, np.uint8))  # all are there
        self.fields = dict(self.meeting.fields)

    def reaches(self, message: Message) -> bool:
        return True

    def exchange(self, messages: object) -> HostExchange:
        return HostExchange(self)

    def close(self) -> None:
        self.fields.clear()
        self.meeting.fields.clear()

    abandon = close  # others that are still copying keep what they copy


class HostExchange:
    """The flags, copies and reductions of one trace, see `DirectExchange`."""

    def __init__(self, near: HostNeighbourhood) -> None:
        self._near, self._folds = near, 0

    def grant(self, message: Message) -> HostFlag:
        return self._flag("granted", message)

    def sent(self, message: Message) -> HostFlag:
        return self._flag("arrived", message)

    claim, arrival = grant, sent  # a flag is posted and awaited at one place

    def _flag(self, kind: str, message: Message) -> HostFlag:
        source, target, number = message.source, message.target, message.number
        room = f"room for message {number} from block {source} in block {target}"
        arrival = f"message {number} from block {source} to block {target}"
        address = self._near.meeting.flag(kind, source, target, number)
        return HostFlag(address, room if kind == "granted" else arrival)

    def copies(self, message: Message) -> Iterator[tuple[Array, Array]]:
        fields = self._near.fields[message.target]
        return ((fields.target(name, copy), self._near.instances.source(name, copy)) for name, copy in message.copies)

    def unpack(self, message: Message) -> list[tuple[Array, Array]]:
        return []

    def bind(self, kind: str, items: Sequence[Any], lane: Lane) -> list[Call]:
        return [self._call(**{{"await": "claims", "signal": "posts"}.get(kind, "pairs"): items})]

    def send(
        self,
        claims: Sequence[HostFlag],
        pairs: Sequence[tuple[Array, Array]],
        posts: Sequence[HostFlag],
        lane: Lane,
        *,
        hidden: bool,
    ) -> list[Call]:
        return [self._call(claims, pairs, posts)]

    def _call(
        self,
        claims: Sequence[HostFlag] = (),
        pairs: Sequence[tuple[Array, Array]] = (),
        posts: Sequence[HostFlag] = (),
    ) -> Call:
        device, waiting = self._near.device, self._near.watch.waiting
        lists = [HostCopies.of(size, group) for size, group in by_size(device, planes(pairs)).items()]
        copies = np.array(
            [
                (_address(one.function), one.rows.ctypes.data, one.begins.ctypes.data, len(one.rows), device.threads)
                for one in lists
            ],
            COPIES,
        )
        one, other = (np.array([flag.address for flag in flags], np.uint64) for flags in (claims, posts))
        pointers = (one.ctypes.data, copies.ctypes.data, other.ctypes.data, waiting.ctypes.data)
        argument = np.array((*pointers, len(one), len(lists), len(other)), EXCHANGE)
        keep = lists, copies, one, other, self._near.meeting
        return self._near.watch.patient(_operations().exchange, argument, [flag.what for flag in claims], keep)

    def fold(self, node: AllReduce, values: Sequence[Array], contributes: bool, lane: Lane) -> Call:
        number, what = self._folds, f"the shares of all blocks of {', '.join(node.scalars)}"
        self._folds += 1
        return self._near.folds.call(number, values, list(node.scalars.values()), what, contributes=contributes)


def share_process(channel: Channel, gather: Gather) -> bool:
    """Return whether all blocks are in one process, and pass messages within it. Collective."""
    here = set(channel.routes.values()) <= {"local"}
    rows = gather(np.frombuffer(f"{PROCESS} {here}".encode().ljust(512)[:512], np.uint8))
    return here and bool((rows == rows[0]).all())


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


@cache
def _operations() -> ctypes.CDLL:
    loaded = compile_host.library(Path(__file__).with_suffix(".cpp").read_text(encoding="utf-8"))
    for function in (loaded.exchange, loaded.fold):
        function.restype, function.argtypes = ctypes.c_int, [ctypes.c_void_p]
    return loaded
