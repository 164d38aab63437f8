"""A run directory, finished or not, read by any process: its case, report and log, and the state of the run."""

from __future__ import annotations

import time
import tomllib
from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path
from typing import Any

from taskflow.common.caching import cached_property
from taskflow.common.errors import BadInput
from taskflow.common.rows import Row
from taskflow.common.units import duration, plural, rate, size, times
from taskflow.output import CASE, LOG, REPORT, STORE, Tail, has_charts, read_report
from taskflow.output.store.metadata import PSEUDO_TIME
from taskflow.runs.directory.lock import Lock
from taskflow.runs.directory.provenance import brief

GIVE = "give a directory that `taskflow run` wrote"
OTHER = "give one that `taskflow run` wrote"
LATEST = 10  # lines of the log over which the speed is measured


class Record:
    """Tables of the case, report and log of a run directory. Raises BadInput, as `look` does, if it is not a run."""

    def __init__(self, directory: Path) -> None:
        self.directory, self._tail = directory, Tail(directory / LOG)
        self.look()

    def look(self) -> None:
        """Read again; only new lines of the log are read."""
        directory, report, log = self.directory, self.directory / REPORT, self.directory / LOG
        try:
            self.case: Mapping[str, Any] = tomllib.loads((directory / CASE).read_text(encoding="utf-8"))
            self.report: Mapping[str, Any] = read_report(report) if report.exists() else {}
            self.log = self._tail.look() if log.exists() else []
        except FileNotFoundError:
            raise BadInput(f"{directory}: not a run directory (it has no case.toml); {OTHER}") from None
        except OSError as error:
            raise BadInput(f"{directory}: cannot be read ({error.strerror or error}); {GIVE}") from None
        except ValueError as error:  # invalid TOML, JSON or text
            raise BadInput(f"{directory}: damaged ({error}); {GIVE}") from None

    @cached_property
    def cells(self) -> tuple[int, str]:
        """Return the number of cells, and its text. Raises KeyError or ValueError if the case has none."""
        from taskflow.output import tree
        from taskflow.output.store.chart_layout import CELLS
        from taskflow.output.store.reading import charts

        store = self.directory / STORE
        if has_charts(store):
            counts = [prod(chart.sizes[dim] for dim in CELLS) for _, chart in charts(tree(store))]
            return sum(counts), f"{sum(counts):,} cells in {plural(len(counts), 'chart')}"
        nx, ny, nz = self.case["grid"]["cells"]
        return nx * ny * nz, f"{times((nx, ny, nz))} cells"

    @property
    def title(self) -> str:
        return f"{self.directory}: {self.case.get('title', '')}"

    @property
    def over(self) -> bool:
        """True if the run has ended, as far as visible from this host."""
        ended = self.report.get("ended")
        return ended is not None and (ended != "running" or self._computed_by()[1] is False)

    @property
    def state(self) -> str:
        ended = self.report.get("ended")
        if ended in ("end", "steady", "stalled", "interrupted", "stopped"):
            return heading(self.report)
        if ended == "failed":
            return "failed"
        if ended is None:
            return "not started, or ended before its first step"
        where, here = self._computed_by()
        if here is False:
            return f"ended without a report: {where} has exited; written data are readable"
        ago = duration(max(time.time() - self.directory.joinpath(LOG).stat().st_mtime, 0.0)) if self.log else ""
        latest = f", last line of the log {ago} ago" if ago else ""
        return f"running{'' if here else ', as far as this host can tell'}: {where}{latest}"

    def _computed_by(self) -> tuple[str, bool | None]:
        """Return the process of the run, and True if active, which needs a lock; None if not visible from here."""
        leader = self.report["leader"]
        known = f"process {leader['process']} on {leader['host']}"
        try:
            lock = Lock.read(self.directory)
        except BadInput:
            return known, None
        return (str(lock.owner), lock.alive) if lock is not None else (known, False)

    def rows(self) -> list[Row]:
        """Return the rows of `taskflow info`. Raises BadInput if files are invalid."""
        try:
            return [*self._rows()]
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            words = f"{REPORT}, {CASE} or {LOG} is not as a run writes it: {type(error).__name__}: {error}"
            raise BadInput(f"{self.directory}: damaged ({words[:200]}); {GIVE}") from error

    def _rows(self) -> Iterator[Row]:
        report = self.report
        yield Row("state", self.state)
        if "reason" in report:
            yield Row("reason", str(report["reason"]))
        if self.log:
            yield Row("reached", self._reached(self.log[-1]))
        yield Row("snapshots", self._snapshots())
        if steps := sorted(int(path.name[5:]) for path in self.directory.glob("checkpoints/step-*")):
            yield Row("checkpoint", f"of {'steps' if len(steps) > 1 else 'step'} {', '.join(map(str, steps))}")
        _, grid = self.cells
        if not report:
            yield Row("grid", grid)
            return
        yield Row("grid", f"{grid} in {times(report['blocks'])} blocks, {report['precision']} precision")
        yield Row("where", _where(report))
        if "loop_seconds" in report:
            yield from speed_rows(report)
        elif len(self.log) > 1:
            yield Row("speed", rate(self._speed()))
        commit = f" ({brief(report['git_commit'])})" if report.get("git_commit") else ""
        yield Row("started", f"{report['started']}, taskflow {report['taskflow']}{commit}")
        yield Row("command", " ".join(map(str, report["command"])))

    def _reached(self, last: Mapping[str, Any]) -> str:
        until = self.case.get("time", {})
        if PSEUDO_TIME in self.report:
            return f"step {last['step']:,} of at most {until['steps']:,} to the steady state"
        done = last["time"] / until["end"] if "end" in until else last["step"] / until["steps"]
        goal = target(until.get("end"), until.get("steps"))
        return f"step {last['step']:,}, time {last['time']:g}: {min(done, 1.0):.0%} of the way to {goal}"

    def _snapshots(self) -> str:
        from taskflow.output import dataset

        try:
            recorded = dataset(self.directory / STORE)["time"].values
        except BadInput:
            return "none that can be read"
        unit = "step" if PSEUDO_TIME in self.report else "time"
        return f"{len(recorded)}, from {unit} {recorded[0]:g} to {recorded[-1]:g}" if len(recorded) else "none yet"

    def _speed(self) -> float:
        """Return cells per second over the latest lines of the log."""
        first, last = self.log[-LATEST:][0], self.log[-1]
        seconds = last["wall"] - first["wall"]
        return float(self.cells[0] * (last["step"] - first["step"]) / seconds) if seconds > 0 else 0.0


def _where(report: Mapping[str, Any]) -> str:
    hosts: dict[tuple[str, str], list[str]] = {}
    for place in report["hardware"]:
        hosts.setdefault((place["host"], place["gpu"] or place["processor"]), []).append(place["worker"])
    parts = []
    for (host, device), workers in hosts.items():
        threads = report.get("threads_per_block")
        cores = f" on {plural(threads, 'core')}{' each' * (len(workers) > 1)}" if threads else ""
        blocks = f"{plural(len(workers), 'block')}{cores}, in {plural(len(set(workers)), 'process')}"
        parts.append(f"{host} ({device}): {blocks}")
    channels = f"; messages by {', '.join(report['channels'])}" if report["channels"] else ""
    return "; ".join(parts) + channels


def heading(report: Mapping[str, Any]) -> str:
    """Return how a run ended."""
    how = "finished" if report["ended"] == "end" else report["ended"]
    when = "" if PSEUDO_TIME in report else f" at time {report['time']:g},"
    return f"{how}{when} after {plural(report['steps'], 'step')}"


def speed_rows(report: Mapping[str, Any]) -> Iterator[Row]:
    if report["steps"] == 0:
        return
    yield Row("loop", f"{duration(report['loop_seconds'])}, {rate(report['cell_steps_per_second'])}")
    if report["t_eff"] is not None:
        copy = report["copy_bandwidth"]
        share = f", {report['t_eff'] / copy:.0%} of the copy bandwidth" if copy else ""
        yield Row("T_eff", f"{size(report['t_eff'])}/s{share}")


def target(end: float | None, steps: int | None) -> str:
    """Return the time or the number of steps at which a run stops."""
    return f"time {end:g}" if end is not None else plural(steps or 0, "step")
