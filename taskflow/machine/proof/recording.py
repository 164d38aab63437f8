"""Templates as the blocks of a run would record them, without memory, kernels or channels."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, cast

from taskflow.machine.device import Event, Lane, cpu
from taskflow.machine.mapper import Mapper
from taskflow.machine.proof.execution import Hardware
from taskflow.machine.trace.operation import Call
from taskflow.machine.trace.tracer import Trace, Tracer
from taskflow.regions import Partition
from taskflow.tasks import Analysis, Compute, Launch, Message, Program, Roles, Valid, analyse, record


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


def record_pass(partition: Partition, program: Program, state: State, mapper: Mapper, hardware: Hardware) -> Recorded:
    """The templates of all blocks for a program that begins in this state."""
    launches, roles = record(program, state.roles)
    launches = tuple(replace(launch) for launch in launches)  # every one an object of its own, for all blocks the same
    following, _ = record(program, roles)
    traces, left = [], []
    for block, valid in enumerate(state.valid):
        analysis = analyse(
            launches,
            partition,
            following=following,
            valid=valid,
            blocks=[block],
            split=mapper.split,
            poisoned=mapper.debug,
        )
        traces.append(template(analysis, roles, mapper, hardware))
        left.append(analysis.valid)
    return Recorded(launches, tuple(traces), State(roles, tuple(left)))


def template(analysis: Analysis, roles: Roles, mapper: Mapper, hardware: Hardware) -> Trace:
    """The operations of one block, which do nothing."""
    paper = cast(Any, _Paper())
    near = cast(Any, _Near(hardware)) if hardware.near is not None else None
    plain = _PaperLane(asynchronous=hardware.lanes > 0)
    lanes = (plain, _PaperLane(asynchronous=True) if hardware.lanes == 2 else plain)
    tracer = Tracer(paper, paper, replace(mapper, cache=0), _nothing, lanes, near)
    return tracer.trace(analysis, roles, 0)


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

    def __init__(self, hardware: Hardware) -> None:
        self._sees = hardware.sees
        self.complete = len(set(hardware.near or ())) == 1

    def reaches(self, message: Message) -> bool:
        return self._sees(message.source, message.target)

    def exchange(self) -> _Near:
        return self

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
