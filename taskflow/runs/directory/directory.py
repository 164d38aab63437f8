"""The run directory: refused or replaced, filled before the run, completed after it."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from taskflow import output
from taskflow.common.errors import BadInput
from taskflow.output.store.metadata import PSEUDO_TIME
from taskflow.output.store.units import PREFIX
from taskflow.runs.block.checkpoints import CheckpointPolicy, finish
from taskflow.runs.directory.lock import Lock, refusal
from taskflow.runs.directory.pictures import begin_drawing
from taskflow.runs.directory.provenance import history
from taskflow.runs.directory.replacement import entries, follow, interrupted_start, ours, owned, placed
from taskflow.runs.state.origin import save_evaluated
from taskflow.runs.state.remedies import FORCE, OUTPUT
from taskflow.runs.state.restart import RestartPoint
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.host import Here, run_on_workers
from taskflow.runtime.regions import Box
from taskflow.systems.initial.fields import COMPUTED, InitialFields
from taskflow.systems.records.fields import SNAPSHOTS, STATISTICS, WriteStatus, complete
from taskflow.systems.records.statistics import COLUMNS

if TYPE_CHECKING:
    from distributed import Client

SLOTS = 128  # for snapshots, at most, to begin with: the store grows; dropping many unused ones takes a minute
Group = output.RecordsLayout | output.TimeSeries
Mask = Callable[[Box], np.ndarray]


@dataclass(frozen=True)
class RunDirectory:
    """The directory in which a run writes: see docs/reference. `guard` is called before any change in it."""

    path: Path
    guard: output.Guard = output.unguarded

    @staticmethod
    def default(title: str) -> Path:
        """Return the directory named after a title, in the current folder."""
        return Path(re.sub(r"[^A-Za-z0-9._-]+", "_", title.removesuffix(".toml")).strip("_.") or "run")

    def check(self, *, force: bool) -> None:
        """Raise BadInput if the directory cannot be made, or exists and may not be replaced."""
        path = self.path
        with self._writing((OSError, ValueError)):  # no permission to look, a name too long, a null character
            if path.exists() or path.is_symlink():
                content = entries(path) if path.is_dir() else [path]
                if not force and (content or not interrupted_start(path)):
                    if (lock := Lock.read(path)) is not None and lock.alive is not False:
                        raise refusal(path, lock)
                    raise BadInput(f"{path} exists; choose another directory ({OUTPUT}), or replace it ({FORCE})")
                if content and not (path.is_dir() and ours(path)):
                    words = f"{path} exists and is not a run directory: it is kept; choose another directory ({OUTPUT})"
                    raise BadInput(words)
            parent = next(p for p in path.absolute().parents if p.exists())
            if not parent.is_dir():
                raise BadInput(f"{path}: {parent} is not a directory; choose another one ({OUTPUT})")

    @contextmanager
    def locked(self) -> Iterator[RunDirectory]:
        """Yield this directory, locked and created if missing. Raises BadInput if in use or not writable."""
        with ExitStack() as stack:
            with self._writing():
                guard = stack.enter_context(owned(self.path))
            yield replace(self, guard=guard)

    def bare(self) -> bool:
        """Return True if it is a run directory without restart points or results to lose."""
        if not entries(self.path):
            return True
        if any(self.path.glob("checkpoints/*")):
            return False
        try:
            return len(output.Store(self.path / output.STORE).times) <= 1
        except (OSError, BadInput):  # no store, or none that anything can read
            return False

    def create(self, sim: RunSetup, *, force: bool, again: bool = False) -> None:
        """Make the directory with the case, an empty store and the values of initial fields given as functions.

        The old content is deleted when the run has written its first state (see `replacement`), or immediately if it
        belongs to an earlier attempt of the same run (`again`). Raises BadInput on failure, with the old content
        intact.
        """
        self.check(force=force or again)
        self.guard()
        with self._writing():
            with placed(self.path, own=again) as draft:
                (draft / output.CASE).write_text(sim.case.to_toml(), encoding="utf-8")
                about = {**_about(sim), "history": history(), "source": "taskflow"}
                snapshots, *others = self.layouts(sim)
                _create(draft / output.STORE, snapshots, about, _solid(sim))
                more: tuple[Group, ...] = (*others, *sim.spec.series)
                for group in more:
                    _create(draft / output.STORE, group, _about(sim))
                begin_drawing(draft, sim)
                save_evaluated(draft / output.INITIAL, sim, sim.origin, snapshots)
            follow(self.path, self.guard)

    def reopen(self, sim: RunSetup, restart: RestartPoint, policy: CheckpointPolicy) -> RestartPoint:
        """Cut the run's output back to a restart's checkpoint, and adapt it to these blocks. Raises BadInput."""
        checkpoint, path, layouts = restart.checkpoint, self.path / output.STORE, self.layouts(sim)
        self.guard()
        with self._writing():
            output.recover(path)
            groups: tuple[Group, ...] = (*layouts, *sim.spec.series)
            times = {group.group: self._cut(path, group, restart, sim) for group in groups}
            output.reshard(path, layouts, _solid(sim))
            output.RunLog(self.path / output.LOG).cut(checkpoint.state["lines"])
            output.sweep(self.path)
            policy.checkpoints.clear(after=checkpoint.step)
            begin_drawing(self.path, sim)
            output.replace_synced(self.path / output.CASE, sim.case.to_toml())
        return replace(restart, times=times)

    def _cut(self, path: Path, group: Group, restart: RestartPoint, sim: RunSetup) -> tuple[float, ...]:
        """Cut a group back to the records of a checkpoint, or start it over. Return the times of its records."""
        checkpoint, name = restart.checkpoint, group.group
        if name not in restart.kept:
            output.remove(path, name)
            _create(path, group, _about(sim))
            return ()
        store = output.Store(path, name)
        store.cut(checkpoint.state["records"][name])
        store.sync()
        return tuple(store.times)

    def check_visible(self, client: Client | Here, workers: Sequence[str]) -> None:
        """Raise BadInput if one of these workers does not see this directory, or sees another of the same name."""
        token = uuid.uuid4().hex
        mark = self.path / ".visible"
        mark.write_text(token, encoding="utf-8")
        try:
            seen = run_on_workers(client, _read, workers, path=str(mark.absolute()))
        finally:
            mark.unlink()
        blind = [worker for worker, text in seen.items() if text != token]
        if blind:
            raise BadInput(
                f"{self.path.absolute()} is not visible from worker {blind[0]};"
                f" choose a directory that all machines share ({OUTPUT})"
            )

    def initial(self, sim: RunSetup, *, begins: bool = True) -> InitialFields:
        """Return the initial fields for blocks. If the run `begins`, they may come from another run or file."""
        system = sim.system
        sums = {} if sim.origin is not None else system.initial_sums
        given = {**system.initial, **sums}
        fields = {name: p if isinstance(p, COMPUTED) else None for name, p in given.items()}
        saved, centred = self.path.absolute() / output.INITIAL, sim.model.fields.get("u") == "c"
        initial = InitialFields(sim.domain.points, fields, saved, system.noise, sums=tuple(sums), centred=centred)
        return sim.origin.applied_to(initial) if begins and sim.origin is not None else initial

    def finish(self, blocks: Sequence[Mapping[str, Any]], policy: CheckpointPolicy) -> None:
        """Make records and checkpoints of all blocks visible, delete others. Raises RunFailed if the disk is full."""
        groups = dict.fromkeys(group for block in blocks for group in block.get("records", {})) or (SNAPSHOTS,)
        self.guard()
        stores, visible = dict[str, output.Store](), {}
        try:
            stores |= {group: output.Store(self.path / output.STORE, group) for group in groups}
            for group, store in stores.items():
                statuses = [block.get("records", {}).get(group, WriteStatus((), 0)) for block in blocks]
                visible[group] = complete(store, statuses)
            finish(policy, blocks, visible)
        finally:
            policy.checkpoints.abandon()
            statuses = [status for block in blocks for status in block.get("records", {}).values()]
            if any(status.complete < len(status.records) for status in statuses):
                output.sweep(self.path / output.STORE)  # shards to which a block has not added its part
            for store in stores.values():
                store.finish()
                store.sync()

    def report(self) -> dict[str, Any]:
        """The content of report.json; empty if it is missing or damaged."""
        try:
            return output.read_report(self.path / output.REPORT)
        except (OSError, BadInput):
            return {}

    def write_report(self, report: Mapping[str, Any]) -> None:
        """Write report.json. Raises RunFailed if the disk is full."""
        self.guard()
        with output.on_disk(f"{self.path / output.REPORT}"):
            output.write_report(self.path / output.REPORT, report)

    @contextmanager
    def _writing(self, kinds: tuple[type[Exception], ...] = (OSError,)) -> Iterator[None]:
        """Raise errors of these kinds as BadInput: the directory cannot be written."""
        try:
            yield
        except kinds as error:
            reason = getattr(error, "strerror", None) or error
            words = f"{self.path}: cannot be written ({reason}); choose another directory ({OUTPUT})"
            raise BadInput(words) from error

    @staticmethod
    def layouts(sim: RunSetup) -> tuple[output.RecordsLayout, ...]:
        """Return the layouts of all groups of the store, snapshots first."""
        case, metadata = sim.case, sim.system.metadata
        fields, slots = {name: metadata[name] for name in case.output_fields}, sim.clock.snapshots() or SLOTS
        recorded = fields | (output.IN_BODIES if sim.system.surroundings else {})
        snapshots = sim.domain.layout(recorded, case.output, sim.partition, min(slots, SLOTS))
        layouts: list[output.RecordsLayout] = [snapshots]
        if sim.averages is not None:
            statistics = sim.averages.statistics
            budget = statistics.budget.written if statistics.budget else {}
            averaged = output.statistics_metadata(metadata, statistics.means, statistics.covariances, budget)
            averages = replace(snapshots, slots=1, relative_error=None, time="time of the last sample", columns=COLUMNS)
            layouts.append(replace(averages, group=STATISTICS, fields=averaged))
        for plane in case.planes:
            fields = {name: metadata[name] for name in plane.fields or case.fields}
            layer = sim.domain.layout(fields, case.output, sim.partition, SLOTS, plane)
            layouts.append(replace(layer, group=plane.name))
        return tuple(replace(layout, hosts=sim.hosts) for layout in layouts)


def _create(path: Path, group: Group, about: dict[str, Any], solid: Mask | None = None) -> None:
    if isinstance(group, output.TimeSeries):
        output.create_time_series(path, group, about)
    else:
        output.create(path, group, about, solid)


def _solid(sim: RunSetup) -> Mask | None:
    """Return the mask of solid cells, by box; None without bodies, or if some move."""
    return sim.system.solid if sim.case.obstacles else None


def _about(sim: RunSetup) -> dict[str, Any]:
    """Return the attributes of every group of the store."""
    pseudo = {PSEUDO_TIME: "time counts steps of pseudo-time"} if sim.system.pseudo_time(sim.case) else {}
    units = {f"{PREFIX}{base}": name for base, name in dict(sim.case.units).items() if name}
    about = {"title": sim.case.title, "case": sim.case.to_toml(), **units}
    return {**about, **sim.system.attributes, **sim.system.given.attributes, **pseudo}


def _read(path: str) -> str | None:
    with suppress(OSError):
        return Path(path).read_text(encoding="utf-8")
    return None
