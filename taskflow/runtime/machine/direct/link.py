"""Links: which blocks see each other's memory, and where it is."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from taskflow.runtime.machine.channel import Gather
from taskflow.runtime.machine.channel.base import PROCESS
from taskflow.runtime.machine.device import Arena, Gpu

# What a block tells all others: where it lives, and its two allocations, by address and by handle.
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
