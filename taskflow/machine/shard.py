"""A shard: one block's replica of the control program.

Every block runs the same program and comes to the same decisions; a shard does that block's part of each launch.
Messages follow from the analysis alone, so no block ever asks another what to do (control replication).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast

import numpy as np

from taskflow.machine.agreement import Agreement
from taskflow.machine.channel import AllReduce, Channel, Deadline
from taskflow.machine.device import Device, Gpu, Lane
from taskflow.machine.direct import Neighbourhood
from taskflow.machine.mapper import Mapper
from taskflow.machine.trace.binding import Binder
from taskflow.machine.trace.instance import Instances
from taskflow.machine.trace.replay import calls
from taskflow.machine.trace.scalars import Scalars
from taskflow.machine.trace.tracer import Trace, Tracer
from taskflow.machine.trace.transfer import Transfers
from taskflow.regions import Box, Partition
from taskflow.tasks import IDENTITY, Program, Roles, Valid, analyse, record
from taskflow.tasks import AllReduce as Reduction


@dataclass(frozen=True)
class Limits:
    """How long a block waits for another one, in seconds."""

    message: float = 60.0


class Instrument(Protocol):
    """What marks the operations of traces, to see when they are done. `graphs`: marks work in a CUDA graph, too."""

    graphs: bool

    def mark(self, trace: Trace, program: Program) -> Trace:
        """The trace with marks: it does the same in the same order."""

    def enclose(self, trace: Trace) -> Trace:
        """The trace that was marked and is ready, with marks around its calls."""


class Shard:
    """One block of a region on one device, connected to the others by a channel."""

    def __init__(
        self,
        partition: Partition,
        block: int,
        device: Device,
        channel: Channel,
        mapper: Mapper,
        limits: Limits = Limits(),
    ) -> None:
        self.partition, self.block, self.device, self.limits = partition, block, device, limits
        self.region, self.cells = partition.region, partition.blocks[block]
        widest = max(box.volume for box in partition.blocks)
        self.mapper = mapper.decide(widest, len(partition) - 1)
        device.activate()
        self.instances = Instances(self.region, self.cells, device)
        self.transfers = Transfers(channel, device, self.instances, limits.message)
        self.roles = Roles.of(tuple(self.region.fields))
        self.scalars = Scalars(device, self.synchronize)
        self._fold = AllReduce(channel, len(partition))
        self._agreement = Agreement(self._gather) if self.mapper.debug else None
        self._near = self._neighbourhood(channel)
        self._binder = Binder(device, self.instances, self.scalars)
        self._tracer = Tracer(self._binder, self.transfers, self.mapper, self._reduce, self._near)
        self._tracer.lanes[0].activate()
        self._traces: dict[tuple[Any, ...], Trace] = {}
        self._states: list[Valid] = [{}]  # sets of valid ghost cells met so far
        self._state = 0  # the present one
        self._written: dict[tuple[int, frozenset[str]], int] = {}  # the state that writing fields in a state leads to
        self._instrument: Instrument | None = None

    # ------------------------------------------------------------------------------------------------ the program

    def run(self, program: Program, **scalars: float) -> None:
        """Do one pass of a program, after which `roles` are as it left them. `scalars` get these values before.

        A program is analysed when it is first met in a state (roles of the fields, valid ghost cells) and replayed
        from then on; it is assumed to be followed by itself. A wrong assumption costs a transfer, no more. Raises
        BadInput where the program is impossible on this partition, ChannelError where another block is lost.
        """
        if self._near is not None:
            self._near.watch.check()
        if self._agreement is not None:
            self._agreement.check(scalars, record(program, self.roles)[0])
        if scalars:
            self.scalars.set(scalars)
        key = (program, self.roles.key(), self._state, self._instrument)
        trace = self._traces.get(key)
        if trace is None:
            trace = self._traces[key] = self._recorded(program)
        if trace.arrivals:
            self.lanes[1].synchronize()  # what came in with the last pass has been unpacked
            for message in trace.arrivals:
                self.transfers.post(message)
        for call in trace.calls:
            call()
        self.transfers.advance(trace.messages)
        self.scalars.changed(trace.folded)
        self.roles, self._state = trace.roles, trace.state

    @property
    def traces(self) -> list[Trace]:
        """What was analysed and recorded so far, in order."""
        return list(self._traces.values())

    def _recorded(self, program: Program) -> Trace:
        (trace, valid), marks = self._trace(program), self._instrument
        if marks is not None:
            trace = marks.mark(trace, program)
        if trace.arrivals:
            self.synchronize()  # buffers have been zeroed before anything arrives there
        graphs = self.mapper.graphs and (marks is None or marks.graphs)
        trace = replace(trace, calls=calls(trace.operations, self.lanes, graphs=graphs))
        # Only now: to allocate or to load a kernel can take until all GPUs of a process are idle, and none may wait
        # then for a pass that has not begun.
        trace = replace(trace, state=self._number(valid))
        return trace if marks is None else marks.enclose(trace)

    def _trace(self, program: Program) -> tuple[Trace, Valid]:
        launches, roles = record(program, self.roles)
        following, _ = record(program, roles)
        analysis = analyse(
            launches,
            self.partition,
            following=following,
            valid=self._states[self._state],
            blocks=[self.block],
            split=self.mapper.split,
            poisoned=self.mapper.debug,
        )
        return self._tracer.trace(analysis, roles, self._state), analysis.valid

    def _number(self, valid: Valid) -> int:
        """The number of a state, on all blocks the same: that of one which equals an earlier one on all of them."""
        equal = self._gather(np.array([valid == other for other in self._states], np.uint8)).all(axis=0)
        if equal.any():
            return int(equal.argmax())
        self._states.append(valid)
        return len(self._states) - 1

    def _reduce(self, node: Reduction, contributes: bool) -> None:
        share = self._binder.value(node.scalar) if contributes else IDENTITY[node.operator]
        self.scalars.set({node.scalar: float(self.allreduce([share], node.operator)[0])})

    def _neighbourhood(self, channel: Channel) -> Neighbourhood | None:
        """The blocks whose memory this one sees; on a GPU, without others, at least its own."""
        if self.device.kind != "gpu" or not (channel.direct or len(self.partition) == 1):
            return None
        gpu = cast(Gpu, self.device)
        return Neighbourhood(self.partition, gpu, self.instances, channel, self._gather, self.limits.message)

    def _gather(self, row: np.ndarray) -> np.ndarray:
        """The rows of all blocks from a row of each."""
        return self._fold.gather(row, Deadline.after(self.limits.message))

    # ---------------------------------------------------------------------------------------- control and contents

    @property
    def lanes(self) -> tuple[Lane, Lane]:
        """The lanes of operations, by their number."""
        return self._tracer.lanes

    def instrument(self, by: Instrument | None) -> None:
        """From now on replay traces that `by` has marked, or, without one, those that nobody has."""
        self._instrument = by
        self._traces = {key: trace for key, trace in self._traces.items() if key[-1] in (None, by)}

    def allreduce(self, values: Iterable[float], operators: str | Iterable[str]) -> np.ndarray:
        """Each value folded over all blocks in their order; every block gets the same bits. All blocks have to call
        it.
        """
        names = operators if isinstance(operators, str) else list(operators)
        return self._fold(np.array(list(values), np.float64), names, Deadline.after(self.limits.message))

    def write(self, values: Mapping[str, np.ndarray], box: Box | None = None) -> None:
        """Fill the cells of `box` (by default this block's) of fields, by role, with host arrays [z, y, x].

        All blocks have to write the same fields: their ghost cells are valid no more.
        """
        written = {self.roles[role] for role in values}
        self.synchronize()
        for role, array in values.items():
            self.instances.view(self.roles[role], box or self.cells)[...] = self.device.xp.asarray(array)
        self.synchronize()
        key = (self._state, frozenset(written))
        if key not in self._written:
            valid = self._states[self._state]
            self._written[key] = len(self._states)
            self._states.append({ghosts: boxes for ghosts, boxes in valid.items() if ghosts[1] not in written})
        self._state = self._written[key]

    def read(self, role: str, box: Box | None = None) -> np.ndarray:
        """A host copy [z, y, x] of the cells of `box` (by default this block's) of the field in this role."""
        self.synchronize()
        return np.array(self.device.to_host(self.instances.view(self.roles[role], box or self.cells)))

    def synchronize(self) -> None:
        """Wait until the device has done everything. Raises ChannelError where it waits for a block that is lost."""
        for lane in self.lanes:
            if self._near is None:
                lane.synchronize()
            else:
                self._near.watch.wait(lane.reached())

    def finish(self) -> None:
        """Wait until the device has done everything and what was sent has been taken. All blocks have to call it."""
        self.synchronize()
        self.transfers.drain()
        self.allreduce([0.0], "max")

    def close(self) -> None:
        """Let go of the other blocks' memory, after `finish`. All blocks have to call it; nothing runs afterwards."""
        if self._near is not None:
            self._near.close()
            self.allreduce([0.0], "max")  # nobody gives memory back that another still sees
