"""Operations: what a replay does, one after the other, and what the checker and the profiler need to know of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from taskflow.runtime.machine.device import Call

Kind = Literal[
    "compute",
    "copy",
    "pack",
    "unpack",
    "send",
    "post",
    "receive",
    "free",
    "reduce",
    "record",
    "wait",
    "signal",
    "await",
    "stamp",
]


@dataclass(frozen=True, eq=False, slots=True)
class Operation:
    """One call of a replay.

    `kind` says what it is, `nodes` which nodes of the task graph it belongs to. On `lane` 0 (plain) or 1 (urgent) it is
    enqueued, and done in the order of the lane; `None`: the host does it, and is done with it when it returns.
    `fixed`: it enqueues the same every time and never waits on the host, so that it can be recorded in a CUDA graph.

    compute, copy (within the block), pack, unpack: work on cells. The host hands a message to the channel (send), says
    where one is to arrive, in a buffer that has been unpacked (post), waits for one (receive), waits until a buffer may
    be packed again (free). reduce: folds over all blocks, on the host or on a lane. record, wait: an event that stands
    for the operations of `nodes` on their lane, and a lane that waits for it. Between blocks that see each other's
    memory, on a lane: pack is a copy into their ghost cells; signal posts flags: that ghost cells are granted (nodes:
    grants) or filled (sends); await waits for flags of others (nodes: claims, receives). stamp: a profiler notes the
    time, on the lane.
    """

    call: Call
    kind: Kind
    nodes: tuple[int, ...]
    lane: int | None = None
    fixed: bool = True
