"""`taskflow info` and `taskflow unlock`: this machine; a run that goes on or is over, and its lock."""

from __future__ import annotations

import time
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from taskflow.cli.exit_codes import refuse
from taskflow.cli.format import duration, rate, say, several, tell, times
from taskflow.output.files import CASE, LOCK, LOG, REPORT, STORE
from taskflow.units import size

if TYPE_CHECKING:
    from taskflow.machine.accelerators import Accelerator
    from taskflow.machine.inventory import Inventory
    from taskflow.output import Tail


def tell_machine() -> None:
    """Print what this machine has, and why it lacks the rest."""
    import taskflow
    from taskflow.machine.inventory import inventory
    from taskflow.simulation.provenance import build, provenance

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
    from taskflow.machine.infiniband import unused

    if not here.infiniband:
        return "none"
    problem = (here.ucx_problem and "not used without ucxx") or unused(here.infiniband, here.ucx_ways)
    return f"{', '.join(map(str, here.infiniband))}: {problem or 'used by UCX'}"


def _compiler(found: Any, problem: str | None) -> str:
    if found is None:
        return problem or ""
    threads = "OpenMP" if found.parallel else "no OpenMP: kernels run on one core"
    return f"{found.command[0]}, {found.version.splitlines()[0]}, {threads}"


def _gpus(found: tuple[Accelerator, ...], problem: str | None) -> str:
    listed = ", ".join(f"{gpu.ordinal}: {gpu.name} with {size(gpu.memory)}" for gpu in found)
    return "; ".join(filter(None, (listed, problem and f"{'not usable' if found else 'none'}: {problem}")))


@dataclass(frozen=True)
class Record:
    """What a run directory says: the tables of its case, its report (empty where there is none), its log."""

    directory: Path
    case: Mapping[str, Any]
    report: Mapping[str, Any]
    log: list[dict[str, Any]]

    @classmethod
    def read(cls, directory: Path, tail: Tail | None = None) -> Record:
        """Who looks again and again gives a `tail` of the log. Raises BadInput where there is no run."""
        from taskflow.output import Tail, read_report

        try:
            case = tomllib.loads((directory / CASE).read_text(encoding="utf-8"))
            report = read_report(directory / REPORT) if (directory / REPORT).exists() else {}
            log = (tail or Tail(directory / LOG)).look() if (directory / LOG).exists() else []
            return cls(directory, case, report, log)
        except FileNotFoundError:
            refuse(f"{directory}: not a run directory (it has no case.toml); give one that `taskflow run` wrote")
        except OSError as error:
            refuse(f"{directory}: cannot be read ({error.strerror or error}); give a directory that taskflow run wrote")
        except ValueError as error:  # TOML, JSON or text that is none
            refuse(f"{directory}: damaged ({error}); give a directory that `taskflow run` wrote")


def tell_run(directory: Path) -> None:
    """Print what a run directory says. Raises BadInput where it is not one."""
    record = Record.read(directory)
    say(f"{directory}: {record.case.get('title', '')}", describe(record))


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
    yield "snapshots", _snapshots(record.directory)
    if steps := sorted(int(path.name[5:]) for path in record.directory.glob("checkpoints/step-*")):
        yield "checkpoint", f"of {'steps' if len(steps) > 1 else 'step'} {', '.join(map(str, steps))}"
    grid = record.case["grid"]["cells"]
    if not report:
        yield "grid", f"{times(grid)} cells"
        return
    yield "grid", f"{times(grid)} cells in {times(report['blocks'])} blocks, {report['precision']} precision"
    yield "where", _where(report)
    if "loop_seconds" in report:
        yield from speed(report)
    elif len(record.log) > 1:
        yield "speed", rate(_speed(record))
    from taskflow.simulation.provenance import brief

    commit = f" ({brief(report['git_commit'])})" if report.get("git_commit") else ""
    yield "started", f"{report['started']}, taskflow {report['taskflow']}{commit}"
    yield "command", " ".join(map(str, report["command"]))


def heading(report: Mapping[str, Any]) -> str:
    """How a run ended, in words."""
    how = "finished" if report["ended"] == "end" else report["ended"]
    return f"{how} at time {report['time']:g}, after {several(report['steps'], 'step')}"


def speed(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Label and text of each line on how fast a run was."""
    if report["steps"] == 0:
        return
    yield "loop", f"{duration(report['loop_seconds'])}, {rate(report['cell_steps_per_second'])}"
    share = report["t_eff"] / report["copy_bandwidth"]
    yield "T_eff", f"{size(report['t_eff'])}/s, {share:.0%} of the copy bandwidth"


def over(record: Record) -> bool:
    """Whether nothing more will come of a run by itself, as far as can be seen from here."""
    ended = record.report.get("ended")
    return ended is not None and (ended != "running" or _computed_by(record)[1] is False)


def _computed_by(record: Record) -> tuple[str, bool | None]:
    """Which process computes a run, and whether that goes on, as it does only with a lock; None where that cannot be
    seen from here.
    """
    from taskflow.errors import BadInput
    from taskflow.simulation.lock import Lock

    leader = record.report["leader"]
    known = f"process {leader['process']} on {leader['host']}"
    try:
        lock = Lock.read(record.directory)
    except BadInput:
        return known, None
    return (str(lock.owner), lock.alive) if lock is not None else (known, False)


def state(record: Record) -> str:
    """What became of a run, in words."""
    ended = record.report.get("ended")
    if ended in ("end", "steady", "interrupted", "stopped"):
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
    wanted = record.case.get("time", {})
    if "end" in wanted:
        done, target = last["time"] / wanted["end"], f"time {wanted['end']:g}"
    else:
        done, target = last["step"] / wanted["steps"], several(wanted["steps"], "step")
    return f"step {last['step']:,}, time {last['time']:g}: {min(done, 1.0):.0%} of the way to {target}"


def _snapshots(directory: Path) -> str:
    from taskflow.errors import BadInput
    from taskflow.output import dataset

    try:
        found = dataset(directory / STORE)["time"].values
    except BadInput:
        return "none that can be read"
    return f"{len(found)}, from time {found[0]:g} to {found[-1]:g}" if len(found) else "none yet"


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
    nx, ny, nz = record.case["grid"]["cells"]
    first, last = record.log[max(0, len(record.log) - 10)], record.log[-1]
    seconds = last["wall"] - first["wall"]
    return float(nx * ny * nz * (last["step"] - first["step"]) / seconds) if seconds > 0 else 0.0


def unlock_run(directory: Path) -> None:
    """Remove the lock, and say who had it. Raises BadInput where a run goes on, or there is no directory."""
    from taskflow.simulation.lock import unlock

    if not directory.is_dir():
        refuse(f"{directory}: no such directory; give one that `taskflow run` wrote")
    try:
        locked = unlock(directory, tell)
    except OSError as error:
        refuse(f"{directory / LOCK}: {error.strerror or error}; remove it by hand")
    tell("unlocked" if locked else f"{directory}: no run has locked it")
