"""All records of a run on one block: the log, and the groups of the store."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, reduce
from operator import and_
from pathlib import Path
from typing import Any

from taskflow.cases.timing.intervals import QUIET, Every, Quiet, Tick
from taskflow.flow.measures.derived import Derived
from taskflow.output import SOLID, Guard, RunLog, Writer, unguarded
from taskflow.output.export.picture_files import undrawn, write_part
from taskflow.runs.block.ranges import RangeWatch
from taskflow.runs.state.setup import BlockSpec
from taskflow.runtime.machine import Shard
from taskflow.systems.base.interfaces import Measures
from taskflow.systems.base.pictures import Picture
from taskflow.systems.records.fields import (
    SNAPSHOTS,
    STATISTICS,
    FieldRecording,
    GroupPlace,
    Recording,
    WriteStatus,
)
from taskflow.systems.records.particles import Clouds
from taskflow.systems.records.series import PointSampler, SeriesRecording
from taskflow.systems.records.statistics import AverageRecorder


class StateLog:
    """The log at `path`, written after a call of `guard`. It may have means of `derived` fields."""

    def __init__(
        self, measures: Measures, shard: Shard, path: Path, guard: Guard = unguarded, derived: Derived | None = None
    ) -> None:
        self._measures, self._shard, self._derived = measures, shard, derived
        self._log = RunLog(path, guard) if shard.block == 0 else None
        self._unplanned, self._measured = 0, -1  # the step whose state is measured

    def measure(self, tick: Tick) -> Mapping[str, float]:
        """Return all scalars, after measuring the present state, once until it is taken. Collective."""
        if tick.step != self._measured:
            self._shard.run(self._measures.monitor, **(self._derived.scalars(tick.time) if self._derived else {}))
            self._measured = tick.step
        return self._shard.scalars

    def take(self, tick: Tick, wall: float, stopped: Tick | None) -> dict[str, Any]:
        """Return the numbers of the present state, `wall` seconds after the first one, and write a scheduled line of
        the log.

        `stopped` is the tick scheduled before a request to stop. Collective.
        """
        numbers = self._measures.line(self.measure(tick), tick, wall)
        self._measured = -1  # who drives the run may change its state before it is taken again
        if self._log is not None and tick.monitor:
            self._log.write(numbers)
            self._unplanned = int(stopped is not None and not stopped.monitor)
        return numbers

    def not_finite(self, numbers: Mapping[str, Any]) -> str | None:
        """Return the name of one of these numbers that has to be finite and is not, or None."""
        return next((name for name in self._measures.finite if not math.isfinite(numbers[name])), None)

    @property
    def planned(self) -> int:
        """The number of lines, except one written only because the run was stopped."""
        return self._log.lines - self._unplanned if self._log is not None else 0

    @property
    def checksum(self) -> int:
        return self._log.checksum(self.planned) if self._log is not None else 0


class Records:
    """The groups of the store at `path` in a spec, after the records of given `times`. One writer, and the same order
    on all blocks. `guard` is called before anything is written. `token`: a name unique to this run.
    """

    def __init__(
        self, spec: BlockSpec, path: Path, shard: Shard, times: Mapping[str, Iterable[float]],
        guard: Guard = unguarded, particles: Clouds | None = None, token: str = "",
    ) -> None:  # fmt: skip
        self.writer, self._placed = Writer(before=guard), spec.domain.placed

        def place(group: str) -> GroupPlace:
            return GroupPlace(path, group, shard, self.writer, times.get(group, ()), guard, token)

        computed = {SOLID: spec.surroundings.geometry.solid} if spec.surroundings else {}
        self.ranges = RangeWatch(spec.given, shard)
        self._computed, self._shard, self._done = spec.computed, shard, -1  # the step whose fields are computed
        self._groups: dict[str, Recording] = {SNAPSHOTS: FieldRecording(place(SNAPSHOTS), computed=computed)}
        self._averaging: dict[str, AverageRecorder] = {}
        if spec.averages:
            self._groups[STATISTICS] = FieldRecording(place(STATISTICS))
            self._averaging[STATISTICS] = AverageRecorder(spec.averages, shard, self._groups[STATISTICS], self._derive)
        for waves in spec.spectra:
            group = waves.series.group
            self._groups[group] = SeriesRecording(place(group), waves.series, partial(waves.values, shard))
            self._averaging[group] = AverageRecorder(waves.averages, shard, self._groups[group])
        for group, plane in spec.planes.items():
            self._groups[group] = FieldRecording(place(group), plane.cells)
        for probe in spec.probes:
            group, sampler = probe.series.group, PointSampler(probe, shard)
            self._groups[group] = SeriesRecording(place(group), probe.series, sampler.values)
        for integral in spec.integrals:
            series = integral.series
            self._groups[series.group] = SeriesRecording(place(series.group), series, partial(integral.values, shard))
        for group, cloud in particles.items() if particles else ():
            self._groups[group] = SeriesRecording(place(group), cloud.series.series, cloud.sampled)
        pictures = path.parent, spec.pictures, shard, guard, self._placed
        self._pictures = PictureRecording(*pictures) if spec.pictures else None
        planes = {group: plane.every for group, plane in spec.planes.items()}
        self._every = planes | {followed.series.group: followed.every for followed in spec.followed}

    def begin(self, now: float, averages: Mapping[str, Any]) -> None:
        """Start all averages at the time `now`, or resume them from the states in a checkpoint, by group."""
        for group, averaging in self._averaging.items():
            if group in averages:
                averaging.resume(averages[group])
            else:
                averaging.begin(now)

    def take(self, before: Tick, now: Tick, stopped: Tick | None) -> None:
        """Record everything scheduled since `before`. `stopped`: the tick before a request to stop. Collective."""
        if now.output:
            self._derive(now)
            planned = stopped is None or stopped.output
            self.ranges.look()
            self._groups[SNAPSHOTS].take(planned=planned, time=now.time, **self._placed(now))
        for group, every in self._every.items():
            if (now.step == 0 and now.output) or every.due(before, now.step, now.time):
                self._derive(now)
                self._groups[group].take(planned=True, time=now.time, **self._placed(now))
        for averaging in self._averaging.values():
            averaging.look(before, now, interrupted=stopped is not None)
        if self._pictures is not None:
            self._pictures.take(before, now, self._derive)

    def quiet(self, now: Tick) -> Quiet:
        """Return steps and a time after `now` without a record, apart from snapshots."""
        drawn = self._pictures.every if self._pictures else ()
        quiet = [every.quiet(now) for every in (*self._every.values(), *drawn)]
        return reduce(and_, (*quiet, *(averaging.quiet(now) for averaging in self._averaging.values())), QUIET)

    def _derive(self, now: Tick) -> None:
        """Compute, once, the derived fields of the present state. Collective."""
        if self._computed is not None and now.step != self._done:
            self._shard.run(self._computed, **self._computed.scalars(now.time))
            self._done = now.step

    @property
    def warnings(self) -> list[str]:
        """Warnings at the end of a run: omitted pictures, and values outside the given ranges."""
        count = self._pictures.left_out if self._pictures else 0
        late = f"pictures skipped: {count}, because earlier ones were not drawn yet; draw them less often"
        return [*([late] if count else []), *self.ranges.warnings]

    def drain(self) -> None:
        """Wait until all copied records that should be on disk are written."""
        for writer in self._writers:
            writer.drain()

    def close(self) -> None:
        for writer in self._writers:
            writer.close()

    @property
    def _writers(self) -> list[Writer]:
        return [self.writer, *([self._pictures.writer] if self._pictures else [])]

    def flush(self) -> None:
        for recording in self._groups.values():
            recording.flush()

    @property
    def complete(self) -> list[int]:
        """The number of records that this block has written, by group."""
        return [recording.complete for recording in self._groups.values()]

    def commit(self, complete: Iterable[float]) -> None:
        """Make the records visible that all blocks have written, `complete` of each group."""
        for recording, count in zip(self._groups.values(), complete, strict=True):
            recording.commit(int(count))

    def sync(self) -> None:
        """Flush the indices of visible records to disk: little data, so the step loop may wait."""
        for recording in self._groups.values():
            recording.sync()

    def stored(self) -> Callable[[], dict[str, Any]]:
        """Return a function for checkpoints that flushes this block's records and returns their checksums, by group."""
        times = {group: recording.sum_of_times for group, recording in self._groups.items()}

        def settled() -> dict[str, Any]:
            self.writer.settle()
            self.writer.files.sync()
            self.sync()
            return {group: {"times": crc, "fixed": self._groups[group].fixed} for group, crc in times.items()}

        return settled

    @property
    def visible(self) -> dict[str, int]:
        """The number of visible records known to this block, by group."""
        return {group: recording.visible for group, recording in self._groups.items()}

    @property
    def planned(self) -> dict[str, int]:
        """The number of records, by group, except those taken only because the run was stopped."""
        return {group: recording.planned for group, recording in self._groups.items()}

    @property
    def averages(self) -> dict[str, Any]:
        """The state of all averages for a checkpoint, without fields, by group."""
        return {group: averaging.state for group, averaging in self._averaging.items()}

    @property
    def status(self) -> dict[str, WriteStatus]:
        return {group: recording.status for group, recording in self._groups.items()}


class PictureRecording:
    """The data of one block for all pictures. The run never waits: if too many are undrawn, pictures are omitted."""

    def __init__(
        self, directory: Path, pictures: Sequence[Picture], shard: Shard, guard: Guard,
        placed: Callable[[Tick], Mapping[str, float]],
    ) -> None:  # fmt: skip
        self._directory, self._pictures, self._shard, self._placed = directory, pictures, shard, placed
        self.writer = Writer(sum(picture.most for picture in pictures), before=guard)
        self._left, self._written = Counter[str](), Counter[str]()  # by name; the second is the writer's
        self.left_out = 0

    @property
    def every(self) -> list[Every]:
        """The intervals of the pictures."""
        return [picture.every for picture in self._pictures]

    def take(self, before: Tick, now: Tick, derive: Callable[[Tick], None]) -> None:
        """Write the data of pictures scheduled now and not at `before`. Collective."""
        for picture in self._pictures:
            if (now.step == 0 and now.output) or picture.every.due(before, now.step, now.time):
                unwritten = self._left[picture.name] - self._written[picture.name]
                mine = unwritten + undrawn(self._directory, picture.name, self._shard.block)
                (most,) = self._shard.allreduce((mine,), "max")
                if most >= picture.most:
                    self.left_out += 1
                    continue
                derive(now)
                self._leave(picture, now)

    def _leave(self, picture: Picture, now: Tick) -> None:
        boxes = picture.part(self._shard.partition.cells_of(self._shard.block))
        held = [(box, {role: self._shard.hold(role, box) for role in picture.roles}) for box in boxes]
        self._shard.meet(self.writer.patience)  # as `FieldRecording` does
        if not held:
            return
        about = {"time": now.time, **self._placed(now)}

        def write() -> None:
            pieces = [(box.lo[::-1], {role: take() for role, take in fields.items()}) for box, fields in held]
            write_part(self._directory, picture.name, now.step, self._shard.block, about, pieces)
            self._written[picture.name] += 1

        self._left[picture.name] += 1
        self.writer.submit(write)
