"""Links: the memory of other blocks that this one can access, and the watch over its waits on the device."""

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
SPIN = 5e-3  # seconds for which the host polls the device before it drives its channels
# Sent to all blocks: host, process and GPU of a block, and its two allocations, by address and by handle.
OFFER = np.dtype([
    ("host", "V16"), ("process", "V16"), ("gpu", "V16"), ("ordinal", "i4"),
    ("pointer", "u8", 2), ("handle", "V64", 2),
])  # fmt: skip


@dataclass(frozen=True)
class MemoryLink:
    """Addresses of the fields and the board of another block, as seen by this one."""

    fields: int
    board: int


class Links:
    """Opens the memory of every block on another GPU of this host, or in another process.

    Two blocks are linked if both could open the other's memory. Blocks that share a GPU within a process are not:
    waiting kernels of one could keep kernels of the other from starting.
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
        self.complete = bool(both.all())  # all pairs are linked; the same result on all blocks

    def _open(self, mine: Any, theirs: Any) -> MemoryLink | None:
        if mine["host"] != theirs["host"]:
            return None
        try:
            if mine["process"] != theirs["process"]:
                pointers = [self._map(handle) for handle in theirs["handle"]]
            else:
                self._see(int(theirs["ordinal"]))
                pointers = [int(pointer) for pointer in theirs["pointer"]]
        except self._runtime.CUDARuntimeError:  # no path between the two GPUs, or no shared namespace
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
        """Release the others' memory, once they no longer access this block's."""
        while self._opened:
            self._runtime.ipcCloseMemHandle(self._opened.pop())

    def abandon(self) -> None:
        """Release the others' memory as soon as this GPU has done all enqueued work."""
        with suppress(self._runtime.CUDARuntimeError):  # the GPU itself may be lost
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
        with suppress(device.xp.cuda.runtime.CUDARuntimeError):  # without a handle other processes cannot open it
            offer["handle"][0, n] = memory.handle()
    return offer


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


class Watch:
    """Monitors the waits of a block's GPU.

    A wait on the device ends after `seconds`, when the block is stopped, or when a peer is lost: `lifelines` are
    receives that complete only if their peer dies or closes. After that no later wait blocks, enqueued work ends soon,
    and `check` raises the reason.
    """

    def __init__(self, device: Gpu, stop: Stop, seconds: float, lifelines: list[Pending]) -> None:
        cupy = device.xp
        self._stop, self._seconds, self._lifelines = stop, seconds, lifelines
        self._names: list[str] = []
        self._memory: Any = cupy.cuda.alloc_pinned_memory(8)  # a GPU accesses it at the host's address
        self._words = np.frombuffer(self._memory, np.uint32, 2)  # stop, failed
        self._words[:] = 0
        self._broken = device.allocate((1,), "u4")
        pointer = int(self._memory.ptr)
        self.argument = np.array((pointer, pointer + 4, self._broken.data.ptr, int(seconds * 1e9)), WATCH)
        stop.also(self.give_up)

    def name(self, what: str) -> int:
        """Return the number by which the device reports that a wait for this failed."""
        self._names.append(what)
        return len(self._names)

    def wait(self, done: Callable[[], bool]) -> None:
        """Return when `done` is true, which is soon whatever happens to other blocks. Raises as `check`."""
        began = time.monotonic()
        while not done():
            select.select((), (), (), 0)  # yields to threads of other blocks in 1 us; `time.sleep(0)` takes 55 us
            if time.monotonic() - began > SPIN:
                self._stop.bell.sleep(0.0)  # drives channels, which completes lifelines
            if self._stop.reason is not None or any(line.done for line in self._lifelines):
                self.give_up()
        self.check()

    def give_up(self) -> None:
        """End every wait on the device: all enqueued work ends soon."""
        self._words[0] = 1

    def check(self) -> None:
        """Raises Aborted, ChannelError (a peer was lost) or ChannelTimeout if the device has given up waiting."""
        self._stop.check()
        for line in self._lifelines:
            if line.done:
                line.settle()
        if self._words[1]:
            what = self._names[int(self._words[1]) - 1]
            raise ChannelTimeout(f"{what} (peer) was not there after {self._seconds:g} s")
