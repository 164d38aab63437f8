"""Templates as the blocks of a run would record them, without memory, kernels or channels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, cast

from taskflow.machine.device import Event, Lane, cpu
from taskflow.machine.mapper import Mapper
from taskflow.machine.trace.operation import Call
from taskflow.machine.trace.tracer import Trace, Tracer
from taskflow.regions import Partition
from taskflow.tasks import Compute, Launch, Message, Program, Roles, Valid, analyse, record


@dataclass(frozen=True)
class State:
    """What a program begins with: which field plays which part, and each block's valid ghost cells."""

    roles: Roles
    valid: tuple[Valid, ...]

    def key(self) -> tuple[Any, ...]:
        """Equal for equal states."""
        return self.roles.key(), tuple(tuple(sorted(valid.items())) for valid in self.valid)


@dataclass(frozen=True, eq=False)
class Recorded:
    """A pass of a program over all blocks: its launches, each block's template, and the state that it leaves."""

    launches: tuple[Launch, ...]
    traces: tuple[Trace, ...]
    after: State


def begin(partition: Partition) -> State:
    """The state in which a run begins."""
    return State(Roles.of(tuple(partition.region.fields)), tuple({} for _ in partition.blocks))


@dataclass(frozen=True)
class Hardware:
    """What blocks live on: the lanes of each (0 on a CPU, where the host does everything itself), and who sees whose
    memory: blocks with one number in `near`, or, without it, none.
    """

    lanes: int
    near: tuple[int, ...] | None = None


def record_pass(partition: Partition, program: Program, state: State, mapper: Mapper, hardware: Hardware) -> Recorded:
    """The templates of all blocks for a program that begins in this state."""
    launches, roles = record(program, state.roles)
    launches = tuple(replace(launch) for launch in launches)  # every one an object of its own, for all blocks the same
    following, _ = record(program, roles)
    traces, left = [], []
    for block, valid in enumerate(state.valid):
        analysis = analyse(launches, partition, following=following, valid=valid, blocks=[block], split=mapper.split)
        traces.append(_tracer(mapper, hardware).trace(analysis, roles, 0))
        left.append(analysis.valid)
    return Recorded(launches, tuple(traces), State(roles, tuple(left)))


def _tracer(mapper: Mapper, hardware: Hardware) -> Tracer:
    paper = cast(Any, _Paper())
    near = cast(Any, _Near(hardware.near)) if hardware.near is not None else None
    tracer = Tracer(paper, paper, replace(mapper, cache=0), _nothing, near)
    plain = _PaperLane(asynchronous=hardware.lanes > 0)
    tracer.lanes = (plain, _PaperLane(asynchronous=True) if hardware.lanes == 2 else plain)
    return tracer


def _nothing(*_: Any) -> None:
    """What an operation does that is only recorded."""


def _one(*_: Any) -> list[Call]:
    """Whatever there is to copy, post or wait for is one operation."""
    return [_nothing]


class _Paper:
    """Stands for binder and transfers: operations that do nothing."""

    device = cpu()
    instances = SimpleNamespace(arrays={})  # of no memory nothing is worth being cut into slabs
    scalars = SimpleNamespace(array=_nothing)
    copies = pack = unpack = staticmethod(_one)
    send = finish = staticmethod(_nothing)

    def compute(self, node: Compute, lane: Lane) -> Call:
        return _nothing


class _Near:
    """Stands for the neighbourhood, and for the exchange of each trace."""

    def __init__(self, groups: Sequence[int]) -> None:
        self._groups = groups
        self.complete = len(set(groups)) == 1

    def reaches(self, message: Message) -> bool:
        return self._groups[message.source] == self._groups[message.target]

    def trace(self, messages: Any) -> _Near:
        return self

    def begin(self, lane: Lane) -> Call:
        return _nothing

    def fold(self, *_: Any) -> Call:
        return _nothing

    grant = claim = sent = arrival = staticmethod(_nothing)
    copies = copy = post = wait = staticmethod(_one)


class _PaperLane:
    """A lane that does nothing."""

    stream = None

    def __init__(self, *, asynchronous: bool) -> None:
        self.asynchronous = asynchronous

    def activate(self) -> None:
        """There is nothing to do."""

    def active(self) -> AbstractContextManager[Any]:
        return nullcontext()

    def event(self) -> Event:
        return self

    def recorder(self, event: Event) -> Call:
        return _nothing

    def waiter(self, event: Event) -> Call:
        return _nothing

    def synchronize(self) -> None:
        """Nothing is enqueued."""

    def reached(self) -> Callable[[], bool]:
        return lambda: True
