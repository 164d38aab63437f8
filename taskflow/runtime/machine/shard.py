"""A shard: one block's replica of the control program.

Every block runs the same program and makes the same decisions. A shard does its block's part of each launch. Messages
follow from the analysis alone, so blocks never need to coordinate (control replication).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import cast

import numpy as np

from taskflow.runtime.machine.agreement import Agreement
from taskflow.runtime.machine.channel import BlockReducer, Channel, Deadline
from taskflow.runtime.machine.device import Device, Gpu, Lane, lanes
from taskflow.runtime.machine.direct import HostNeighbourhood, Neighbourhood, share_process
from taskflow.runtime.machine.kernel.host_call import CallSequence
from taskflow.runtime.machine.kernel.instance import Instances, extreme
from taskflow.runtime.machine.trace.binding import Binder
from taskflow.runtime.machine.trace.mapper import Mapper, Trial
from taskflow.runtime.machine.trace.scalars import Rounds, Scalars
from taskflow.runtime.machine.trace.tracer import Trace, Tracer
from taskflow.runtime.machine.trace.traces import GhostStates, Instrument, Traces
from taskflow.runtime.machine.trace.transfer import Transfers
from taskflow.runtime.regions import Box, Partition, Triple, triple
from taskflow.runtime.tasks import IDENTITY, AllReduce, Derive, Part, Program, Roles, Stretch

PATIENCE = 60.0  # seconds


class Shard:
    """One block of a region on one device, connected to the others by a channel. Waits `patience` seconds for them."""

    def __init__(
        self,
        partition: Partition,
        block: int,
        device: Device,
        channel: Channel,
        mapper: Mapper,
        patience: float = PATIENCE,
    ) -> None:
        self.partition, self.block, self.device, self.patience = partition, block, device, patience
        self.region, self.cells, self.mapper = partition.region, partition.blocks[block], mapper
        device.activate()
        self.lanes = lanes(device)
        self.lanes[0].activate()
        self.instances = Instances(partition, block, device)
        if mapper.debug:
            self.instances.poison()
        self.transfers = Transfers(channel, device, self.instances, patience, mapper.staging)
        self.roles = Roles.of(tuple(partition.fields))
        self.scalars = Scalars(device, self.lanes[0], self._wait)
        self._fold = BlockReducer(channel, len(partition))
        self._agreement = Agreement(self.gather) if self.mapper.debug else None
        self._near, self._stop = self._neighbourhood(channel), channel.stop
        if isinstance(self._near, HostNeighbourhood):
            self._fold.within = self._near.folds
        self._binder = Binder(device, self.instances, self.scalars, debug=self.mapper.debug)
        self._trials: dict[Stretch, Trial] = {}
        self.trying = False  # whether the last run timed a stretch to find the best overlap
        self._states, self._state = GhostStates(self.gather), 0
        self._traces = Traces(partition, block, self._states, self.lanes, self._binder, self._tracer, self.synchronize)
        self._entry = self.lanes[0]  # lane of the last arrivals

    def run(self, program: Program, /, **scalars: float) -> None:
        """Execute one pass of a program. `scalars` are set before it, and `roles` are updated to the final roles of the
        fields.

        A program is analysed when it first occurs in a state (roles of the fields, valid ghost cells), and replayed
        afterwards. The analysis assumes that the program is repeated. If another program follows, this costs at most a
        transfer.

        Raises BadInput if the program is impossible on this partition or reads a scalar without a value, ChannelError
        if another block is lost, Aborted if this one was stopped.
        """
        self._give(scalars)
        self.trying = False
        parts, after = self._traces.planned(program, self.roles)
        for part in parts:
            self._do(part, program)
        self.roles = after.copy()  # changes between passes must not affect the plan

    def run_often(self, program: Program, times: int, until: str, /, **scalars: float) -> None:
        """Execute passes of a program as `run` does. On a CPU they end where the scalar `until` is not 0 after one. A
        GPU, whose work the host enqueues ahead of it, does all of them.
        """
        done, looks = 0, self.device.kind == "cpu"
        while done < times:
            self.run(program, **scalars)
            done, scalars = done + 1, {}
            if looks and done < times and not self.scalars[until] and (closed := self._closed(program)):
                replay, trace = closed
                more = replay.repeat(times - done, self.scalars.array(until).ctypes.data)
                self.transfers.advance(trace.messages, more)
                self.scalars.changed(trace.folded)
                done += more
            if looks and self.scalars[until]:
                return

    def _closed(self, program: Program) -> tuple[CallSequence, Trace] | None:
        """Return the trace of a pass that leads from this state to the same one without the host, or None."""
        (part, *more), after = self._traces.planned(program, self.roles)
        if more or not isinstance(part, Stretch) or after.key() != self.roles.key() or part not in self._trials:
            return None
        trace = self._traces.recorded.get((part, self._trials[part].way, self._state, None))
        if trace is None or trace.state != self._state:
            return None
        marked = self._agreement is not None or self._traces.instrument is not None or not self._trials[part].over
        replay, *others = trace.calls
        return (replay, trace) if isinstance(replay, CallSequence) and not others and not marked else None

    def prepare(self, programs: Iterable[Program]) -> None:
        """Compile the kernels of programs concurrently before the first pass. May be called from another thread."""
        self._traces.prepare(programs, self.roles)

    def _give(self, scalars: Mapping[str, float]) -> None:
        if self._agreement is not None:
            self._agreement.begin(scalars)
        if scalars:
            self.scalars.set(scalars)

    def _do(self, part: Part, program: Program) -> None:
        if isinstance(part, Stretch):
            self._tried(part, program)
            return
        if isinstance(part, Derive):
            self._give(part(self.scalars))
            return
        rounds = Rounds(part.repeat, self.scalars)
        while not rounds.over:
            for inner in part.body:
                self._do(inner, part.repeat.body)
            rounds.another()
        rounds.close()

    def _tried(self, stretch: Stretch, program: Program) -> None:
        """Execute a stretch, in the best way once it is known."""
        if stretch not in self._trials:
            ways = self.mapper.ways(alone=len(self.partition) == 1, streams=self.device.kind == "gpu")
            self._trials[stretch] = Trial(ways, partial(self._cut, stretch), self._slowest)
        trial = self._trials[stretch]
        if trial.over or self._traces.instrument is not None:
            self._pass(stretch, trial.way, program)
            return
        self.trying = True
        self.synchronize()
        began = time.perf_counter()
        self._pass(stretch, trial.way, program)
        self.synchronize()
        if trial.note(time.perf_counter() - began):
            self._traces.keep(stretch, trial.way)
            self.meet()  # no block starts another pass while graphs are freed, see `Traces.record`

    def _pass(self, stretch: Stretch, way: Mapper, program: Program) -> None:
        if self._near is not None:
            self._near.watch.check()
        else:
            self._stop.check()
        if self._agreement is not None:
            self._agreement.check(stretch.launches)
        key = (stretch, way, self._state, self._traces.instrument)
        trace = self._traces.recorded.get(key)
        if trace is None:
            self.scalars.require(stretch.launches)  # a scalar never loses its value
            trace = self._traces.record(key, program)
        if trace.arrivals:
            self._entry.synchronize()  # the last arrivals are unpacked
            self._entry = self._used(way)[1]
            for message in trace.arrivals:
                self.transfers.post(message, trace.slots[message])
        for call in trace.calls:
            call()
        self.transfers.advance(trace.messages)
        self.scalars.changed(trace.folded)
        self._state = trace.state

    def _used(self, way: Mapper) -> tuple[Lane, Lane]:
        """Return the lanes for computation, and for urgent work, on which messages arrive."""
        plain, urgent = self.lanes
        return plain, urgent if way.overlap == "full" else plain

    def _cut(self, stretch: Stretch, way: Mapper) -> set[str]:
        """Return the tasks that `way` cuts in a stretch on any block."""
        names, here = sorted({launch.task.name for launch in stretch.launches}), self._traces.cut(stretch, way)
        anywhere = np.any(self.gather(np.array([name in here for name in names], np.uint8)), axis=0).tolist()
        return {name for name, cut in zip(names, anywhere, strict=True) if cut}

    @property
    def memory(self) -> dict[str, int]:
        """Bytes on the device by purpose, without the partial results of reductions."""
        return {
            "fields": self.instances.nbytes,
            "buffers": self.transfers.nbytes,
            "board": self._near.nbytes if self._near is not None else 0,
            "scalars": self.scalars.nbytes,
        }

    @property
    def traces(self) -> list[Trace]:
        """The traces recorded so far, in order."""
        return list(self._traces.recorded.values())

    @property
    def overlap(self) -> str:
        """Overlap of transfers with computation: with `auto`, the ways found so far."""
        if self.mapper.overlap != "auto":
            return self.mapper.overlap
        return ", ".join(sorted({trial.way.overlap for trial in self._trials.values() if trial.over})) or "auto"

    def _tracer(self, way: Mapper) -> Tracer:
        return Tracer(self._binder, self.transfers, way, self._reduce, self._used(way), self._near)

    def _reduce(self, node: AllReduce, contributes: bool) -> None:
        shares = [self._binder.value(name) if contributes else IDENTITY[how] for name, how in node.scalars.items()]
        folded = self.allreduce(shares, list(node.scalars.values()))
        self.scalars.set(dict(zip(node.scalars, folded.tolist(), strict=True)))

    def _neighbourhood(self, channel: Channel) -> Neighbourhood | HostNeighbourhood | None:
        """Return the blocks whose memory this one can access, or None. On a GPU a single block has its own."""
        alone = len(self.partition) == 1
        if self.mapper.staging != "device" and not alone:
            return None
        if self.device.kind == "cpu":
            if alone or self.lanes[0].asynchronous or not share_process(channel, self.gather):
                return None
            return HostNeighbourhood(self.partition, self.device, self.instances, channel, self.gather, self.patience)
        if not (channel.direct or alone):
            return None
        gpu = cast(Gpu, self.device)
        return Neighbourhood(self.partition, gpu, self.instances, channel, self.gather, self.patience)

    def _slowest(self, seconds: float) -> float:
        return float(self.allreduce([seconds], "max")[0])

    def instrument(self, by: Instrument | None) -> None:
        """Replay traces marked by `by` from the next pass, or unmarked ones if None."""
        self._traces.mark(by)

    def allreduce(self, values: Iterable[float], operators: str | Iterable[str]) -> np.ndarray:
        """Return each value folded over all blocks in their order, bitwise identical on each. Collective."""
        names = operators if isinstance(operators, str) else list(operators)
        return self._fold(np.array(list(values), np.float64), names, Deadline.after(self.patience))

    def gather(self, row: np.ndarray) -> np.ndarray:
        """Return the rows of all blocks, [block, number]. Lengths and types must be equal. Collective."""
        return self._fold.gather(row, Deadline.after(self.patience))

    def meet(self, seconds: float | None = None) -> None:
        """Wait for all blocks, for at most `seconds` or `patience`. Collective."""
        if len(self.partition) > 1:
            self._fold.gather(np.zeros(1), Deadline.after(seconds or self.patience))

    def write(self, values: Mapping[str, np.ndarray], box: Box | None = None) -> None:
        """Fill fields, by role, in `box` (default: this block) with host arrays [z, y, x] or [z, y, value, x]. All
        blocks must write the same fields, whose ghost cells become invalid.
        """
        self.write_parts(values, [(box, values)])

    def write_parts(self, roles: Iterable[str], parts: Iterable[tuple[Box | None, Mapping[str, np.ndarray]]]) -> None:
        """Do `write` for any number of boxes of the fields in these roles, sequentially. Raises BadInput if a field
        cannot hold a value.
        """
        self.synchronize()
        for box, values in parts:
            for role, array in values.items():
                (name, cells), xp = self._place(role, box), self.device.xp
                numbers = array if isinstance(array, xp.ndarray) else np.asarray(array)
                self.instances.write(name, cells, xp.asarray(self.partition.fields[name].held(numbers, role)))
        self.overwritten(roles)

    def overwritten(self, roles: Iterable[str]) -> None:
        """Note that all blocks have written these fields, whose ghost cells become invalid."""
        self.synchronize()
        self._state = self._states.after_writing(self._state, {self.roles[role] for role in roles})

    def read(self, role: str, box: Box | None = None) -> np.ndarray:
        """Return a host copy [z, y, x], or [z, y, value, x], of a field, by role, in `box` (default: this block's
        cells).
        """
        return self.hold(role, box)()

    def hold(self, role: str, box: Box | None = None) -> Callable[[], np.ndarray]:
        """Keep the present values of `read`. The result returns them once, on any thread, while the shard continues."""
        self.synchronize()
        return self.device.hold(self.instances.read(*self._place(role, box)))

    def pick(self, role: str, cells: np.ndarray, piece: int | None = None) -> np.ndarray:
        """Return a host copy of a field, by role, in the cells [cell, axis] of a piece (default: the first)."""
        self.synchronize()
        name, xp = self.roles[role], self.device.xp
        place = name, self.instances.first[name] if piece is None else piece
        x, y, z = (xp.asarray(cells[:, a] - self.instances.boxes[place].lo[a]) for a in range(3))
        return np.array(self.device.to_host(self.instances.arrays[place][z, y, ..., x]))

    def extreme(self, role: str) -> tuple[Triple, float]:
        """Return the first cell of this block whose value is not finite, or else the cell of largest magnitude, and the
        value. Needs memory for one plane of cells.
        """
        self.synchronize()
        worst: tuple[Triple, float] | None = None
        for box in self.partition.homes[self.roles[role]].cells_of(self.block):
            cell, value = extreme(self.instances.read(*self._place(role, box)), self.device)
            if worst is None or (np.isfinite(worst[1]) and not abs(value) <= abs(worst[1])):
                worst = triple(a + lo for a, lo in zip(cell, box.lo, strict=True)), value
        assert worst is not None, "a block has a piece"
        return worst

    def _place(self, role: str, box: Box | None) -> tuple[str, Box]:
        """Return the field in this role, and `box`, by default this block's cells of its region."""
        name = self.roles[role]
        return name, self.partition.homes[name].blocks[self.block] if box is None else box

    def synchronize(self) -> None:
        """Wait until the device has done everything. Raises ChannelError if it waits for a lost block."""
        for lane in self.lanes:
            self._wait(lane.reached())

    def _wait(self, reached: Callable[[], bool]) -> None:
        if self._near is not None:
            self._near.watch.wait(reached)
        else:
            while not reached():
                time.sleep(0)

    def finish(self) -> None:
        """Wait until the device has done everything and all sent messages were received. Collective."""
        self.synchronize()
        self.transfers.drain()
        self.meet()

    def abandon(self) -> None:
        """Release the other blocks' memory after a failure, without waiting. The shard is unusable afterwards."""
        if self._near is not None:
            self._near.abandon()

    def close(self) -> None:
        """Release the other blocks' memory after `finish`. Collective. The shard is unusable afterwards."""
        if self._near is not None:
            self._near.close()
            self.meet()  # no block frees memory that another still maps
