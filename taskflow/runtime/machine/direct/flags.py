"""Launches that post flags, wait for them and fold shares: `direct.cu`, bound to addresses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from taskflow.runtime.machine.device import Array, Call, Device, Lane
from taskflow.runtime.machine.device.driver import launch
from taskflow.runtime.machine.direct.board import NUMBERS
from taskflow.runtime.machine.kernel.copying import PARTS, cuda_function, parts_of, planes, word

HERE = Path(__file__).parent
FLAGS = 48
# struct Flags of flags.h, Shares of direct.cu
FLAG_LIST = np.dtype(
    [("flag", np.uint64, FLAGS), ("count", np.uint64, FLAGS), ("name", np.uint32, FLAGS), ("number", np.intc)],
    align=True,
)
OPERATORS = "sum", "max", "min"
SHARES = np.dtype(
    [("value", np.uint64, NUMBERS), ("identity", np.float64, NUMBERS), ("kind", np.intc, NUMBERS)]
    + [(name, np.uint64) for name in ("mine", "arrived", "count", "slots", "flags")]
    + [(name, np.intc) for name in ("numbers", "contributes", "blocks")]
    + [("name", np.uint32)],
    align=True,
)
WARP = 32
WAITING = 32  # thread blocks that may wait at once and still leave room for the work they wait for


@dataclass(frozen=True)
class Flag:
    """Addresses of a flag and of this block's count of it, and the number that identifies it if a wait fails (see
    `Watch.name`).
    """

    address: int
    count: int
    name: int = 0


def post(flags: Sequence[Flag], lane: Lane) -> list[Call]:
    """Return launches that increment all flags, after everything earlier on the lane is visible to all."""
    return [_launch("post", 2 * WARP, [_list(part)], lane) for part in _parts(flags)]


def copy_and_post(
    claims: Sequence[Flag],
    watch: np.ndarray,
    pairs: Sequence[tuple[Array, Array]],
    flags: Sequence[Flag],
    device: Device,
    lane: Lane,
    *,
    hidden: bool = False,
) -> list[Call]:
    """Return one launch that waits for the next post of all claims, does `target[...] = source` for all pairs, and
    posts all flags. Two launches if too many thread blocks would wait, none if the copies do not fit into one. If
    `hidden`, another launch runs concurrently.
    """
    pairs = planes(pairs)
    if len({source.dtype for _, source in pairs}) != 1 or len(pairs) > PARTS or max(len(claims), len(flags)) > FLAGS:
        return []
    size = word(pairs)
    parts, shape = parts_of(size, pairs, hidden=hidden)
    before = []
    if prod(shape[0]) > WAITING:
        before, claims = await_flags(claims, watch, lane), ()
    ticket = device.allocate((1,), "u4")
    function = cuda_function(HERE / "send.cu", "copy_and_post", size)
    values = [_list(claims), watch, parts, _list(flags), np.uint64(device.pointer(ticket))]
    return [*before, launch(function.kernel, *shape, values, lane.stream, (ticket, list(pairs)))]


def await_flags(flags: Sequence[Flag], watch: np.ndarray, lane: Lane) -> list[Call]:
    """Return launches that hold the lane until the next post of all flags."""
    return [_launch("await", 2 * WARP, [_list(part), watch], lane) for part in _parts(flags)]


def fold(shares: np.ndarray, watch: np.ndarray, lane: Lane, keep: object) -> Call:
    """Return a launch that folds numbers over all blocks, see `Shares` in direct.cu. Keeps `keep` alive."""
    threads = -(-int(shares["blocks"]) // WARP) * WARP
    return _launch("fold", threads, [shares, watch], lane, keep)


def _parts(flags: Sequence[Flag]) -> list[Sequence[Flag]]:
    return [flags[n : n + FLAGS] for n in range(0, len(flags), FLAGS)]


def _list(flags: Sequence[Flag]) -> np.ndarray:
    listed = np.zeros((), FLAG_LIST)
    for n, flag in enumerate(flags):
        listed["flag"][n], listed["count"][n], listed["name"][n] = flag.address, flag.count, flag.name
    listed["number"] = len(flags)
    return listed


def _launch(name: str, threads: int, values: list[Any], lane: Lane, keep: object = None) -> Call:
    function = cuda_function(HERE / "direct.cu", name, 8)
    return launch(function.kernel, (1, 1, 1), (threads, 1, 1), values, lane.stream, keep)
