"""Direct transfers between blocks that are threads of one process on cores: a message is one copy from the source's
cells into the target's ghost cells, and waits sleep outside of Python (`host.cpp`).

As on GPUs (`exchange.py`), a message has two flags: its ghost cells are granted, and filled.
"""

from __future__ import annotations

import ctypes
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from taskflow.common.errors import ChannelTimeout
from taskflow.runtime.machine.channel import Channel, Deadline, Gather
from taskflow.runtime.machine.channel.base import LIFELINE, PROCESS
from taskflow.runtime.machine.channel.stop import SHORT
from taskflow.runtime.machine.device import Array, Call, Device, Lane
from taskflow.runtime.machine.kernel import compile_host
from taskflow.runtime.machine.kernel.copying import HostCopies, by_size, planes
from taskflow.runtime.machine.kernel.instance import Instances
from taskflow.runtime.regions import Partition
from taskflow.runtime.tasks import IDENTITY, MOST_REDUCTIONS, AllReduce, Message

# structs Waiting, Copies, Exchange and Fold of host.cpp
WAITING = np.dtype([(name, np.int64) for name in ("spin", "patience", "brief", "slice")])
COPIES = np.dtype(
    [(name, np.uint64) for name in ("copy", "parts", "begins")] + [("count", np.intc), ("threads", np.intc)]
)
EXCHANGE = np.dtype(
    [(name, np.uint64) for name in ("claims", "copies", "posts", "waiting")]
    + [(name, np.intc) for name in ("claimed", "lists", "posted")],
    align=True,
)
NUMBERS = MOST_REDUCTIONS
FOLD = np.dtype(
    [("value", np.uint64, NUMBERS), ("identity", np.float64, NUMBERS), ("kind", np.intc, NUMBERS)]
    + [(name, np.uint64) for name in ("arrived", "count", "shares", "waiting")]
    + [(name, np.intc) for name in ("numbers", "contributes", "blocks", "block", "begun")],
    align=True,
)
OPERATORS = "sum", "max", "min"
LINE = 16  # words: flags do not share lines of a cache

_meetings: weakref.WeakValueDictionary[str, Meeting] = weakref.WeakValueDictionary()
_guard = threading.Lock()


@dataclass(frozen=True)
class HostFlag:
    """The address of a flag, and what a wait for it waits for."""

    address: int
    what: str = ""


class Meeting:
    """Memory that the blocks of a run in this process share: fields, flags of messages, shares of reductions."""

    def __init__(self) -> None:
        self.fields: dict[int, Instances] = {}
        self._memory: dict[tuple[Any, ...], np.ndarray] = {}
        self._lock = threading.Lock()

    @classmethod
    def of(cls, run: str) -> Meeting:
        with _guard:
            meeting = _meetings.get(run)
            if meeting is None:
                meeting = _meetings[run] = cls()
            return meeting

    def flag(self, *key: Any) -> int:
        """Return the address of a flag, zero at first."""
        return self.memory(("flag", *key), LINE, np.uint32)

    def memory(self, key: tuple[Any, ...], count: int, dtype: type) -> int:
        """Return the address of numbers that are zero at first."""
        with self._lock:
            if key not in self._memory:
                self._memory[key] = np.zeros(count, dtype)
            return int(self._memory[key].ctypes.data)


class HostWatch:
    """Ends the waits of a block: after `seconds`, when the block is stopped, or when a peer is lost."""

    def __init__(self, channel: Channel, seconds: float) -> None:
        self._stop, self._seconds, peers = channel.stop, seconds, sorted(channel.peers)
        self._lifelines = [channel.receive(peer, LIFELINE, np.empty(1, np.uint8)) for peer in peers]
        spin = int(1e9 * channel.stop.bell.spin)
        self.waiting = np.array((spin, spin, int(1e9 * SHORT), int(1e9 * channel.stop.slice)), WAITING)

    def check(self) -> None:
        """Raises Aborted, or ChannelError if a peer was lost."""
        self._stop.check()
        for line in self._lifelines:
            if line.done:
                line.settle()

    def wait(self, reached: Callable[[], bool]) -> None:
        """Return when `reached` is true: on a CPU, calls have done their work."""
        while not reached():
            time.sleep(0)
        self.check()

    def patient(self, function: Any, argument: np.ndarray, whats: Sequence[str], keep: object) -> Call:
        """Return a call that repeats a function of host.cpp until it returns 0. Any other number n says that it waits
        for `whats[n - 1]`.
        """
        pointer = ctypes.c_void_p(argument.ctypes.data)

        def again(number: int) -> None:
            deadline = Deadline.after(self._seconds)
            while number:
                self.check()
                if deadline.remaining <= 0:
                    raise ChannelTimeout(f"{whats[number - 1]} (local) was not there after {self._seconds:g} s")
                number = function(pointer)

        def call(_: object = (argument, keep)) -> None:
            if number := function(pointer):
                again(number)

        return call


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
        near, number, operators = self._near, self._folds, list(node.scalars.values())
        self._folds += 1
        blocks, meeting, argument = len(near.partition), near.meeting, np.zeros((), FOLD)
        argument["value"][: len(values)] = [value.ctypes.data for value in values]
        argument["identity"][: len(values)] = [IDENTITY[operator] for operator in operators]
        argument["kind"][: len(values)] = [OPERATORS.index(operator) for operator in operators]
        argument["arrived"] = meeting.flag("fold", number)
        argument["count"] = meeting.flag("folds", near.block, number)
        argument["shares"] = meeting.memory(("shares", number), 2 * NUMBERS * blocks, np.float64)
        argument["waiting"] = near.watch.waiting.ctypes.data
        argument["numbers"], argument["contributes"] = len(values), contributes
        argument["blocks"], argument["block"] = blocks, near.block
        what = f"the shares of all blocks of {', '.join(node.scalars)}"
        return near.watch.patient(_operations().fold, argument, [what], (values, meeting))


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
