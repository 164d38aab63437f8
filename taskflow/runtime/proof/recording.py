"""Templates as the blocks of a run would record them, without memory, kernels or channels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, cast

from taskflow.runtime.machine.device import Call, Lane, cpu
from taskflow.runtime.machine.direct.board import Rooms
from taskflow.runtime.machine.trace.mapper import Mapper
from taskflow.runtime.machine.trace.tracer import Trace, Tracer
from taskflow.runtime.proof.cells import inboxes
from taskflow.runtime.proof.timeline import Hardware
from taskflow.runtime.regions import Partition
from taskflow.runtime.tasks import Analysis, Launch, Message, Stretch, Valid, analyse


@dataclass(frozen=True, eq=False)
class RecordedPass:
    """A pass of a stretch over all blocks: its launches, each block's template, and the lane on which messages come in.

    `valid` and `after` are each block's valid ghost cells before and after it; before it the host gives values to
    `scalars`.
    """

    launches: tuple[Launch, ...]
    traces: tuple[Trace, ...]
    entry: int
    valid: tuple[Valid, ...]
    after: tuple[Valid, ...]
    scalars: tuple[str, ...]


def record_pass(
    partition: Partition,
    stretch: Stretch,
    valid: Sequence[Valid],
    mapper: Mapper,
    hardware: Hardware,
    scalars: tuple[str, ...] = (),
) -> RecordedPass:
    """Record a pass of all blocks, each with these valid ghost cells."""
    launches = tuple(replace(launch) for launch in stretch.launches)  # objects of their own, the same on all blocks
    analyses = [
        analyse(
            launches,
            partition,
            following=stretch.following,
            valid=mine,
            blocks=[block],
            split=mapper.cuts(launches),
            tiles=hardware.tiles,
            poisoned=mapper.debug,
        )
        for block, mine in enumerate(valid)
    ]
    traces = tuple(template(analysis, partition, mapper, hardware) for analysis in analyses)
    entry = int(hardware.streams and mapper.overlap == "full")
    return RecordedPass(launches, traces, entry, tuple(valid), tuple(analysis.valid for analysis in analyses), scalars)


def template(analysis: Analysis, partition: Partition, mapper: Mapper, hardware: Hardware) -> Trace:
    """Record the operations of one block, which do nothing."""
    paper, plain = cast(Any, _Paper()), _PaperLane(asynchronous=hardware.streams)
    near = cast(Any, _Near(partition, hardware)) if hardware.near is not None else None
    urgent = _PaperLane(asynchronous=True) if hardware.streams and mapper.overlap == "full" else plain
    tracer = Tracer(paper, paper, replace(mapper, cache=0), _nothing, (plain, urgent), near)
    return tracer.trace(analysis, 0)


def _nothing(*_: Any) -> None:
    """Stands for an operation that is only recorded."""


def _call(*_: Any) -> Call:
    return _nothing


def _one(*_: Any, **__: Any) -> list[Call]:
    """Whatever there is to copy, post or wait for is one operation."""
    return [_nothing]


class _Paper:
    """Stands for binder and transfers: operations that do nothing."""

    device = cpu()
    instances = SimpleNamespace(arrays={})  # of no memory nothing is worth being cut into slabs
    scalars = SimpleNamespace(array=_nothing)
    compute = compute_all = staticmethod(_call)
    copies = pack = unpack = staticmethod(_one)
    send = post = finish = staticmethod(_nothing)


class _Near:
    """Stands for the neighbourhood, and for the exchange of each trace."""

    def __init__(self, partition: Partition, hardware: Hardware) -> None:
        self._partition, self._hardware, self._rooms = partition, hardware, Rooms()
        self.complete = len(set(hardware.near or ())) == 1

    def reaches(self, message: Message) -> bool:
        return self._hardware.sees(message.source, message.target)

    def exchange(self, messages: Iterable[Message]) -> _Near:
        self._rooms = inboxes(self._partition).rooms(messages)
        return self

    def unpack(self, message: Message) -> list[Any]:
        return list(self._rooms.get(message, ()))

    fold = staticmethod(_call)
    grant = claim = sent = arrival = staticmethod(_nothing)
    copies = bind = send = staticmethod(_one)


class _PaperLane(Lane):
    """A lane that does nothing, of a host or of a GPU."""

    def __init__(self, *, asynchronous: bool) -> None:
        self.asynchronous = asynchronous
