"""`taskflow info` and `taskflow unlock`: this machine; a run that goes on or is over, and its lock."""

from __future__ import annotations

import time
import tomllib
from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from taskflow.cli.exit_codes import refuse
from taskflow.cli.format import say, tell
from taskflow.common.caching import cached_property
from taskflow.common.units import duration, rate, several, size, times
from taskflow.output import CASE, LOCK, LOG, REPORT, STORE
from taskflow.output.store.metadata import PSEUDO_TIME

if TYPE_CHECKING:
    from taskflow.runtime.host.accelerators import Accelerator
    from taskflow.runtime.host.inventory import Inventory


def tell_machine() -> None:
    """Print what this machine has, and why it lacks the rest."""
    import taskflow
    from taskflow.runs.directory.provenance import build, provenance
    from taskflow.runtime.host.inventory import inventory

    about, here = provenance(), inventory()
    say(
        f"taskflow {build()}",
        [
            ("installed", str(Path(taskflow.__file__).parent)),
            ("python", f"{about['python']} on {about['platform']}"),
            ("packages", ", ".join(f"{name} {version}" for name, version in about["packages"].items())),
            ("host", f"{here.host}: {here.processor}"),
            ("cores", f"{here.cores} usable of {here.cores_of_host}"),
            ("memory", f"{size(here.free)} free of {size(here.memory)}"),
            ("compiler", _compiler(here.compiler, here.compiler_problem)),
            ("kernels", here.cache_problem or f"kept in {here.cache}"),
            ("GPUs", _gpus(here.gpus, here.gpu_problem)),
            ("peer", here.peer_problem or "usable: shared memory, the channel between processes of this host"),
            ("ucxx", here.ucx_problem or f"usable: the channel between hosts, by {', '.join(here.ucx_ways)}"),
            ("InfiniBand", _infiniband(here)),
            ("dask-cuda", about["packages"].get("dask-cuda", "not installed: needed for GPUs")),
        ],
    )


def _infiniband(here: Inventory) -> str:
    from taskflow.runtime.host.inventory import unused_ports

    if not here.infiniband:
        return "none"
    problem = (here.ucx_problem and "not used without ucxx") or unused_ports(here.infiniband, here.ucx_ways)
    return f"{', '.join(map(str, here.infiniband))}: {problem or 'used by UCX'}"


def _compiler(compiler: Any, problem: str | None) -> str:
    if compiler is None:
        return problem or ""
    threads = "OpenMP" if compiler.parallel else "no OpenMP: kernels run on one core"
    return f"{compiler.command[0]}, {compiler.version.splitlines()[0]}, {threads}"


def _gpus(gpus: tuple[Accelerator, ...], problem: str | None) -> str:
    listed = ", ".join(f"{gpu.ordinal}: {gpu.name} with {size(gpu.memory)}" for gpu in gpus)
    return "; ".join(filter(None, (listed, problem and f"{'not usable' if gpus else 'none'}: {problem}")))


class Record:
    """A run directory as it is now: the tables of its case, its report (empty where there is none), its log.

    Raises BadInput, as `look` does, where the directory is not one of a run.
    """

    def __init__(self, directory: Path) -> None:
        from taskflow.output import Tail

        self.directory, self._tail = directory, Tail(directory / LOG)
        self.look()

    @cached_property
    def cells(self) -> tuple[int, str]:
        """How many cells there are, as a number and in words. Raises KeyError, ValueError where the case has none."""
        from taskflow.output import STORE, has_charts, tree
        from taskflow.output.store.chart_layout import CELLS
        from taskflow.output.store.reading import charts

        store = self.directory / STORE
        if has_charts(store):
            counts = [prod(chart.sizes[dim] for dim in CELLS) for _, chart in charts(tree(store))]
            return sum(counts), f"{sum(counts):,} cells in {several(len(counts), 'chart')}"
        nx, ny, nz = self.case["grid"]["cells"]
        return nx * ny * nz, f"{times((nx, ny, nz))} cells"

    def look(self) -> None:
        """Look again: of the log only new lines are read."""
        from taskflow.output import read_report

        directory, report, log = self.directory, self.directory / REPORT, self.directory / LOG
        try:
            self.case: Mapping[str, Any] = tomllib.loads((directory / CASE).read_text(encoding="utf-8"))
            self.report: Mapping[str, Any] = read_report(report) if report.exists() else {}
            self.log = self._tail.look() if log.exists() else []
        except FileNotFoundError:
            refuse(f"{directory}: not a run directory (it has no case.toml); give one that `taskflow run` wrote")
        except OSError as error:
            refuse(f"{directory}: cannot be read ({error.strerror or error}); give a directory that taskflow run wrote")
        except ValueError as error:  # TOML, JSON or text that is none
            refuse(f"{directory}: damaged ({error}); give a directory that `taskflow run` wrote")


def tell_run(record: Record) -> None:
    """Print what a run directory says."""
    say(f"{record.directory}: {record.case.get('title', '')}", describe(record))


def describe(record: Record) -> list[tuple[str, str]]:
    """Label and text of each line. Raises BadInput where files say something else than those of a run."""
    try:
        return [*_lines(record)]
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        words = f"{REPORT}, {CASE} or {LOG} is not as a run writes it: {type(error).__name__}: {error}"
        refuse(f"{record.directory}: damaged ({words[:200]}); give a directory that `taskflow run` wrote")


def _lines(record: Record) -> Iterator[tuple[str, str]]:
    report, last = record.report, record.log[-1] if record.log else {}
    yield "state", state(record)
    if "reason" in report:
        yield "reason", str(report["reason"])
    if last:
        yield "reached", _reached(record, last)
    yield "snapshots", _snapshots(record.directory, "step" if PSEUDO_TIME in report else "time")
    if steps := sorted(int(path.name[5:]) for path in record.directory.glob("checkpoints/step-*")):
        yield "checkpoint", f"of {'steps' if len(steps) > 1 else 'step'} {', '.join(map(str, steps))}"
    _, grid = record.cells
    if not report:
        yield "grid", grid
        return
    yield "grid", f"{grid} in {times(report['blocks'])} blocks, {report['precision']} precision"
    yield "where", _where(report)
    if "loop_seconds" in report:
        yield from speed(report)
    elif len(record.log) > 1:
        yield "speed", rate(_speed(record))
    from taskflow.runs.directory.provenance import brief

    commit = f" ({brief(report['git_commit'])})" if report.get("git_commit") else ""
    yield "started", f"{report['started']}, taskflow {report['taskflow']}{commit}"
    yield "command", " ".join(map(str, report["command"]))


def heading(report: Mapping[str, Any]) -> str:
    """How a run ended, in words."""
    how = "finished" if report["ended"] == "end" else report["ended"]
    when = "" if PSEUDO_TIME in report else f" at time {report['time']:g},"
    return f"{how}{when} after {several(report['steps'], 'step')}"


def speed(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Label and text of each line on how fast a run was."""
    if report["steps"] == 0:
        return
    yield "loop", f"{duration(report['loop_seconds'])}, {rate(report['cell_steps_per_second'])}"
    if report["t_eff"] is not None:
        share = report["t_eff"] / report["copy_bandwidth"]
        yield "T_eff", f"{size(report['t_eff'])}/s, {share:.0%} of the copy bandwidth"


def over(record: Record) -> bool:
    """Return whether nothing more will come of a run by itself, as far as can be seen from here."""
    ended = record.report.get("ended")
    return ended is not None and (ended != "running" or _computed_by(record)[1] is False)


def _computed_by(record: Record) -> tuple[str, bool | None]:
    """Which process computes a run, and whether that goes on, as it does only with a lock; None where that cannot be
    seen from here.
    """
    from taskflow.common.errors import BadInput
    from taskflow.runs.directory.lock import Lock

    leader = record.report["leader"]
    known = f"process {leader['process']} on {leader['host']}"
    try:
        lock = Lock.read(record.directory)
    except BadInput:
        return known, None
    return (str(lock.owner), lock.alive) if lock is not None else (known, False)


def state(record: Record) -> str:
    """The state of a run, in words."""
    ended = record.report.get("ended")
    if ended in ("end", "steady", "stalled", "interrupted", "stopped"):
        return heading(record.report)
    if ended == "failed":
        return "failed"
    if ended is None:
        return "not begun, or ended before its first step"
    where, here = _computed_by(record)
    if here is False:
        return f"ended without a word: {where} is gone; what was written is readable"
    ago = duration(max(time.time() - record.directory.joinpath(LOG).stat().st_mtime, 0.0)) if record.log else ""
    said = f", last line of the log {ago} ago" if ago else ""
    return f"running{'' if here else ', as far as can be seen from here'}: {where}{said}"


def _reached(record: Record, last: Mapping[str, Any]) -> str:
    until = record.case.get("time", {})
    if PSEUDO_TIME in record.report:
        return f"step {last['step']:,} of at most {until['steps']:,} to the steady state"
    done = last["time"] / until["end"] if "end" in until else last["step"] / until["steps"]
    goal = target(until.get("end"), until.get("steps"))
    return f"step {last['step']:,}, time {last['time']:g}: {min(done, 1.0):.0%} of the way to {goal}"


def target(end: float | None, steps: int | None) -> str:
    """The time or the number of steps at which a run stops."""
    return f"time {end:g}" if end is not None else several(steps or 0, "step")


def _snapshots(directory: Path, unit: str) -> str:
    from taskflow.common.errors import BadInput
    from taskflow.output import dataset

    try:
        moments = dataset(directory / STORE)["time"].values
    except BadInput:
        return "none that can be read"
    return f"{len(moments)}, from {unit} {moments[0]:g} to {moments[-1]:g}" if len(moments) else "none yet"


def _where(report: Mapping[str, Any]) -> str:
    hosts: dict[tuple[str, str], list[str]] = {}
    for place in report["hardware"]:
        hosts.setdefault((place["host"], place["gpu"] or place["processor"]), []).append(place["worker"])
    parts = []
    for (host, device), workers in hosts.items():
        threads = report.get("threads_per_block")
        cores = f" on {several(threads, 'core')}{' each' * (len(workers) > 1)}" if threads else ""
        blocks = f"{several(len(workers), 'block')}{cores}, in {several(len(set(workers)), 'process')}"
        parts.append(f"{host} ({device}): {blocks}")
    channels = f"; messages by {', '.join(report['channels'])}" if report["channels"] else ""
    return "; ".join(parts) + channels


def _speed(record: Record) -> float:
    """Cells per second over the last lines of the log."""
    first, last = record.log[max(0, len(record.log) - 10)], record.log[-1]
    seconds = last["wall"] - first["wall"]
    return float(record.cells[0] * (last["step"] - first["step"]) / seconds) if seconds > 0 else 0.0


def unlock_run(directory: Path) -> None:
    """Remove the lock, and say who had it. Raises BadInput where a run goes on, or there is no directory."""
    from taskflow.runs.directory.lock import unlock

    if not directory.is_dir():
        refuse(f"{directory}: no such directory; give one that `taskflow run` wrote")
    try:
        locked = unlock(directory, tell)
    except OSError as error:
        refuse(f"{directory / LOCK}: {error.strerror or error}; remove it by hand")
    tell("unlocked" if locked else f"{directory}: no run has locked it")
