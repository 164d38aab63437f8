"""Restart of a run: from which checkpoint, and with which changes to the case."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import Any

from taskflow.cases import Case
from taskflow.cases.language.problems import shown
from taskflow.cases.tables.method import read_tables
from taskflow.cases.tables.timed import Value
from taskflow.cases.timing.intervals import Tick
from taskflow.common.errors import BadInput
from taskflow.output import CASE, CHECKPOINTS, Checkpoint, Checkpoints, RunComparison, newest
from taskflow.runs.state.closed_faces import other_faces
from taskflow.runs.state.kept_values import restored, with_functions
from taskflow.runs.state.remedies import AGAIN, OUTPUT
from taskflow.runs.state.written_state import FOLLOWED, GROUPS, WrittenState, check_state
from taskflow.systems.records.fields import SNAPSHOTS, STATISTICS

FREE = (
    "title", "units", "time", "output", "monitor", "checkpoint", "statistics", *FOLLOWED, "expressions", "pictures",
    "machine",
)  # fmt: skip
STORED = ("fields", "precision", "compression", "relative_error")
FIXED = (("time", "scheme"), ("time", "implicit"), *(("output", key) for key in STORED), ("machine", "precision"))


@dataclass(frozen=True)
class RestartPoint:
    """The state from which a run restarts: a checkpoint, and the times of earlier records, by group.

    - `kept`: groups of the store with unchanged settings, which continue; others start over
    - `averages`: the states of the time averages among them
    - `settling`: the state of the steady-state criterion; None if it starts over
    - `given`: the values set by the user during the run, by key
    """

    checkpoint: Checkpoint
    tick: Tick
    kept: frozenset[str] = frozenset()
    averages: Mapping[str, Any] = field(default_factory=dict)
    settling: Mapping[str, Any] | None = None
    times: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    given: Mapping[str, Value] = field(default_factory=dict)

    def resumed(self, case: Case) -> Case:
        """Return the case, with levels of multigrid in the precision that the checkpoint was written with."""
        state = WrittenState.model_validate(self.checkpoint.state)
        return case.model_copy(update={"pressure": case.pressure.resumed(state.levels)})

    @classmethod
    def of(cls, checkpoint: Checkpoint, case: Case) -> RestartPoint:
        """Return the restart point of a checkpoint. Its tick is finished if the end or steady state is reached.

        Raises BadInput if the user set a function that the case does not have.
        """
        state = checkpoint.state
        tick = Tick(checkpoint.step, state["time"], state["dt"], output=False, monitor=False)
        was, now = (tables_of(text, case) for text in (state["case"], case.to_toml()))
        alike = was["time"].get("steady") == now["time"].get("steady")
        over = (alike and state["ended"] in ("steady", "stalled")) or case.clock().over(tick)
        kept = _kept(checkpoint, case)
        averages = {group: average for group, average in state["averages"].items() if group in kept}
        settling = state.get("settling") if alike else None
        return cls(checkpoint, replace(tick, finished=over), kept, averages, settling, given=restored(state, case))


def starts_over(directory: Path, case: Case, report: Mapping[str, Any]) -> bool:
    """Return True if the run with this report was killed or failed before its first checkpoint. It then starts over, as
    after the loss of a worker.

    Raises BadInput if the case is a different one.
    """
    if report.get("ended", "running") not in ("running", "failed") or Checkpoints(directory / CHECKPOINTS, "").paths():
        return False
    try:
        old = tables_of((directory / CASE).read_text(encoding="utf-8"), case)
    except (OSError, ValueError):
        return False
    asked = old.get("checkpoint")
    if not isinstance(asked, Mapping) or "every" not in asked:
        return False
    _check_same(old, case)
    return True


def usable(directory: Path, case: Case, *, contents: bool) -> tuple[Checkpoint | None, list[str]]:
    """Return the newest intact checkpoint of a run directory whose records are intact, and the errors of newer ones.

    `contents`: check all values of the store, otherwise only sizes and indices of shards. Raises BadInput, before the
    store is checked, if the case is a different one.
    """
    comparison = RunComparison(directory, contents=contents)

    def check(checkpoint: Checkpoint) -> None:
        check_state(checkpoint)
        _check_same(with_functions(checkpoint.state, tables_of(checkpoint.state["case"], case), case), case)
        if other := other_faces(checkpoint.state):
            raise BadInput(f"{checkpoint.path}: {other}; {AGAIN}")
        comparison.check(checkpoint, sorted(_kept(checkpoint, case)))

    return newest(Checkpoints(directory / CHECKPOINTS, ""), check)


def newest_restart(directory: Path, case: Case) -> tuple[RestartPoint, list[str]]:
    """Return the restart point of the newest intact checkpoint of a run directory, and the errors of newer ones.

    Raises BadInput if no checkpoint is intact, or if the case is a different one.
    """
    checkpoint, skipped = usable(directory, case, contents=True)
    if checkpoint is None:
        why = "".join(f"\n{reason}" for reason in skipped)
        whole, copy = ("whole ", "restore the damaged files from a copy, ") if skipped else ("", "")
        raise BadInput(f"{directory}: it has no {whole}checkpoint to restart from; {copy}{AGAIN}{why}")
    return RestartPoint.of(checkpoint, case), skipped


def tables_of(text: str, case: Case) -> dict[str, Any]:
    """Return the tables of an earlier case's text, without keys that the system of `case` does not read."""
    return read_tables(case.system, tomllib.loads(text))


def _check_same(old: Mapping[str, Any], case: Case) -> None:
    """Raise BadInput if a case differs from the old one in keys that may not change."""
    if problems := [*changes(old, tomllib.loads(case.to_toml()))]:
        raise BadInput("\n".join(problems))


def check_labels(directory: Path, case: Case, keys: Iterable[str]) -> None:
    """Raise BadInput if the run of a directory has other values of keys that a restart may change: a sweep would find
    it under the values of the case.

    The end of the run and the machine may differ.
    """
    with suppress(OSError, ValueError):
        old, new = (tables_of(text, case) for text in ((directory / CASE).read_text("utf-8"), case.to_toml()))
        for path in (tuple(key.split(".")) for key in keys):
            if path[0] in FREE and path[0] != "machine" and path not in (("time", "end"), ("time", "steps")):
                for difference in _differences(path, _at(old, path), _at(new, path)):
                    raise BadInput(difference)


def _at(tables: Any, path: Iterable[str]) -> Any:
    return reduce(lambda table, name: table.get(name) if isinstance(table, Mapping) else None, path, tables)


def _kept(checkpoint: Checkpoint, case: Case) -> frozenset[str]:
    """Return the groups of the store that continue, as their settings are unchanged."""
    old, new = (_groups(tables_of(text, case)) for text in (checkpoint.state["case"], case.to_toml()))
    recorded = checkpoint.state["records"]
    return frozenset(group for group, table in new.items() if group in recorded and old.get(group) == table)


def _groups(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of records in each group of the store, with their expressions, except for the intervals."""
    groups: dict[str, Any] = {SNAPSHOTS: {}}
    if table := case.get("statistics"):
        groups[STATISTICS] = _settings(table, "write"), _recorded(case, table)
    for kind in GROUPS:
        often = "write" if kind == "spectra" else "every"
        for table in case.get(kind, ()):
            groups[table["name"]] = kind, _settings(table, often), _recorded(case, table)
    return groups


def _settings(table: Mapping[str, Any], often: str) -> dict[str, Any]:
    return {name: value for name, value in table.items() if name != often}


def _recorded(case: Mapping[str, Any], table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables of the expressions among the fields of a table, by name."""
    tables, fields = case.get("expressions", ()), table.get("fields", ())
    return {name: item for item in tables if (name := item.get("name")) in fields}


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each change that a restart does not allow."""
    old, new = _without_precision(old), _without_precision(new)
    for table in dict.fromkeys((*old, *new)):
        if table not in FREE:
            yield from _differences((table,), old.get(table) or None, new.get(table) or None)  # [] of an earlier build
    for table, key in FIXED:
        yield from _differences((table, key), old.get(table, {}).get(key), new.get(table, {}).get(key))
    was, now = (_recorded(case, case.get("output", {})) for case in (old, new))
    for name in was.keys() & now.keys():  # output.fields reports other differences
        yield from _differences(("expressions", name), was[name], now[name])


def _without_precision(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return a case without the precision of the factors of linear equations, which are not part of a state."""
    method = dict(case.get("method") or {})
    linear = {key: value for key, value in (method.pop("linear", None) or {}).items() if key != "precision"}
    return {**case, "method": {**method, **({"linear": linear} if linear else {})}}


def _differences(key: tuple[str, ...], old: Any, new: Any) -> Iterator[str]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in dict.fromkeys((*old, *new)):
            yield from _differences((*key, name), old.get(name), new.get(name))
    elif old != new:
        name, was = ".".join(key), "not given" if old is None else shown(old)
        now = f"{name}: it is missing" if new is None else f"{name} = {shown(new)}"
        yield f"{now}; it was {was} when this run began, and stays so: begin another run for it ({OUTPUT})"
