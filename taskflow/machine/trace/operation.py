"""Operations: what a replay does, one after the other, and what the checker and the profiler need to know of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Call = Callable[[], None]
Kind = Literal[
    "compute", "copy", "pack", "unpack", "send", "receive", "free", "reduce", "record", "wait", "signal", "await"
]


@dataclass(frozen=True, eq=False, slots=True)
class Operation:
    """One call of a replay.

    `kind` says what it is, `nodes` which nodes of the task graph it belongs to. On `lane` 0 (plain) or 1 (urgent) it is
    enqueued, and done in the order of the lane; `None`: the host does it, and is done with it when it returns.

    compute, copy (within the block), pack, unpack: work on cells. send, receive, free, reduce: the host hands a message
    to the channel, waits for one, waits until a buffer may be packed again, folds over all blocks. record, wait: an
    event that stands for the operations of `nodes` on their lane, and a lane that waits for it. signal, await: the same
    between blocks that see each other's memory, on the device.
    """

    call: Call
    kind: Kind
    nodes: tuple[int, ...]
    lane: int | None = None
