"""Links: which blocks see each other's memory, where it is, and how a block's waits for the others end."""

from __future__ import annotations

import hashlib
import select
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from taskflow.common.errors import ChannelTimeout
from taskflow.runtime.machine.channel import Gather, Pending, Stop
from taskflow.runtime.machine.channel.base import PROCESS
from taskflow.runtime.machine.device import Arena, Gpu

# struct Watch of flags.h
WATCH = np.dtype([("stop", np.uint64), ("failed", np.uint64), ("broken", np.uint64), ("limit", np.uint64)], align=True)
SPIN = 5e-3  # seconds that the host asks without pause whether the device is done, before it cares for its channels
# A block tells all others where it lives, and its two allocations, by address and by handle.
OFFER = np.dtype([
    ("host", "V16"), ("process", "V16"), ("gpu", "V16"), ("ordinal", "i4"),
    ("pointer", "u8", 2), ("handle", "V64", 2),
])  # fmt: skip


@dataclass(frozen=True)
class MemoryLink:
    """The fields and the board of another block, at the addresses at which this one sees them."""

    fields: int
    board: int


class Links:
    """Opens the memory of every block that lives on another GPU of this host, or in another process.

    Two blocks are linked when both could open the other's memory. Not a block that shares its GPU with another one of
    its process: kernels of one that wait could keep those of the other from starting.
    """

    def __init__(self, device: Gpu, memories: tuple[Arena, Arena], block: int, gather: Gather) -> None:
        self._runtime, self._opened = device.xp.cuda.runtime, list[int]()
        offers = gather(_offer(device, memories).view(np.uint8)).view(OFFER)[:, 0]
        homes = [(offer["process"].tobytes(), offer["gpu"].tobytes()) for offer in offers]
        alone = homes.count(homes[block]) == 1
        others = [n for n in range(len(offers)) if n != block]
        links = {n: self._open(offers[block], offers[n]) if alone else None for n in others}
        mine = np.array([links.get(n) is not None for n in range(len(offers))], np.uint8)
        both = gather(mine)
        self.peers = {n: link for n, link in links.items() if link is not None and both[n, block]}
        np.fill_diagonal(both, 1)
        self.complete = bool(both.all())  # every block sees every other one: all come to the same answer

    def _open(self, mine: Any, theirs: Any) -> MemoryLink | None:
        if mine["host"] != theirs["host"]:
            return None
        try:
            if mine["process"] != theirs["process"]:
                pointers = [self._map(handle) for handle in theirs["handle"]]
            else:
                self._see(int(theirs["ordinal"]))
                pointers = [int(pointer) for pointer in theirs["pointer"]]
        except self._runtime.CUDARuntimeError:  # no path between the two GPUs, or no shared name space
            return None
        return MemoryLink(*pointers)

    def _map(self, handle: np.void) -> int:
        pointer = int(self._runtime.ipcOpenMemHandle(handle.tobytes()))
        self._opened.append(pointer)
        return pointer

    def _see(self, ordinal: int) -> None:
        try:
            self._runtime.deviceEnablePeerAccess(ordinal)
        except self._runtime.CUDARuntimeError as error:
            if "AlreadyEnabled" not in str(error):
                raise

    def close(self) -> None:
        """Let go of the others' memory. Only when they use this block's no more."""
        while self._opened:
            self._runtime.ipcCloseMemHandle(self._opened.pop())

    def abandon(self) -> None:
        """Let go of it when this block uses it no more, as soon as its GPU has done all that it was told."""
        with suppress(self._runtime.CUDARuntimeError):  # the GPU may be what is lost
            if self._opened:
                self._runtime.deviceSynchronize()
                self.close()


def _offer(device: Gpu, memories: tuple[Arena, Arena]) -> np.ndarray:
    offer = np.zeros(1, OFFER)
    offer["host"] = _digest(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii"))
    offer["process"] = _digest(PROCESS)
    offer["gpu"] = bytes(device.xp.cuda.runtime.getDeviceProperties(device.ordinal)["uuid"])[:16]
    offer["ordinal"] = device.ordinal
    for n, memory in enumerate(memories):
        offer["pointer"][0, n] = memory.pointer
        with suppress(device.xp.cuda.runtime.CUDARuntimeError):  # without a handle nobody else can open it
            offer["handle"][0, n] = memory.handle()
    return offer


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


class Watch:
    """Watches over what a block's GPU waits for.

    A wait on the device ends after `seconds`, or when the block is told to stop, or when a peer is lost: `lifelines`
    are receives that never complete unless their peer dies or closes. After that nothing waits any more, all that was
    enqueued is soon done, and `check` says what happened.
    """

    def __init__(self, device: Gpu, stop: Stop, seconds: float, lifelines: list[Pending]) -> None:
        cupy = device.xp
        self._stop, self._seconds, self._lifelines = stop, seconds, lifelines
        self._names: list[str] = []
        self._memory: Any = cupy.cuda.alloc_pinned_memory(8)  # which a GPU reads and writes at the host's address
        self._words = np.frombuffer(self._memory, np.uint32, 2)  # stop, failed
        self._words[:] = 0
        self._broken = device.allocate((1,), "u4")
        pointer = int(self._memory.ptr)
        self.argument = np.array((pointer, pointer + 4, self._broken.data.ptr, int(seconds * 1e9)), WATCH)
        stop.also(self.give_up)

    def name(self, what: str) -> int:
        """The number by which the device tells that it waited for this in vain."""
        self._names.append(what)
        return len(self._names)

    def wait(self, done: Callable[[], bool]) -> None:
        """Return when `done` is true: soon, whatever happens to other blocks. Raises as `check` does."""
        began = time.monotonic()
        while not done():
            select.select((), (), (), 0)  # lets threads of other blocks run, in 1 us; `time.sleep(0)` takes 55
            if time.monotonic() - began > SPIN:
                self._stop.bell.sleep(0.0)  # lets channels move for a moment: lifelines tell only then
            if self._stop.reason is not None or any(line.done for line in self._lifelines):
                self.give_up()
        self.check()

    def give_up(self) -> None:
        """End every wait on the device: all that was enqueued is soon done."""
        self._words[0] = 1

    def check(self) -> None:
        """Raises Aborted, ChannelError (a peer was lost) or ChannelTimeout where the device has given up waiting."""
        self._stop.check()
        for line in self._lifelines:
            if line.done:
                line.settle()
        if self._words[1]:
            what = self._names[int(self._words[1]) - 1]
            raise ChannelTimeout(f"{what} (peer) was not there after {self._seconds:g} s")
