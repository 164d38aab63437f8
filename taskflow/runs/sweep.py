"""Sweeps: runs of a case with all combinations of some parameters, concurrently on one cluster."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from taskflow.cases import Case
from taskflow.cases.formulas.values import whole
from taskflow.cases.source import read
from taskflow.common.errors import BadInput, Interrupted, RunFailed, Stopped, TaskflowError, Terminated, named
from taskflow.output import CHECKPOINTS
from taskflow.runs.directory.directory import RunDirectory
from taskflow.runs.parameters import Parameters, parsed, words
from taskflow.runs.parameters import points as points_of
from taskflow.runs.results import Run
from taskflow.runs.run import arguments, run_on
from taskflow.runs.state.remedies import as_keys
from taskflow.runs.state.restart import check_labels
from taskflow.runs.study import Study
from taskflow.runtime.cluster import cluster_client, lasting_client
from taskflow.runtime.cluster.session import ProcessRequest
from taskflow.runtime.host import Here, known_workers, terminable
from taskflow.runtime.regions import Triple

if TYPE_CHECKING:
    from distributed import Client

    from taskflow.runtime.cluster import Slurm

NAME = "parameters"  # the table of a file
OnRun = Callable[[int, Mapping[str, Any], Run], None]


def sweep(
    case: Case | str | PathLike[str],
    parameters: Parameters,
    output: str | PathLike[str] | None = None,
    client: Client | Slurm | None = None,
    *,
    scheduler_file: str | PathLike[str] | None = None,
    at_once: int | None = None,
    force: bool = False,
    on_run: OnRun | None = None,
) -> Study:
    """Run a case with all combinations of parameter values.

    Finished runs are kept and interrupted runs resumed, unless `force`.

    Parameters
    ----------
    case : Case or path-like
    parameters : mapping
        Values by key, such as {"fluid.viscosity": [0.1, 0.01]}. A name with the keys that it changes:
        {"Ra": ([1e3, 1e4], lambda Ra: {"fluid.viscosity": Ra**-0.5})}, or {"grid": {"coarse": {...}, "fine": {...}}}.
        Zipped: {("fluid.viscosity", "heat.diffusivity"): [(0.1, 0.2), (0.01, 0.02)]}.
    output : path-like, optional
        Folder of the run directories 0000, 0001, ... Default: the case title with "-sweep" appended.
    client : distributed.Client or Slurm, optional
        Where the runs compute, each on one worker. Default: an embedded local cluster.
    scheduler_file : path-like, optional
    at_once : int, optional
        Concurrent runs. Default: one per worker; on this machine one per GPU, or one.
    force : bool
        Replace existing runs.
    on_run : callable, optional
        Called as on_run(number, values, run) after each run.

    Returns
    -------
    Study

    Raises
    ------
    BadInput
        Before any run, if a combination is invalid.
    RunFailed
        After all other runs, if some have failed.
    Interrupted, Stopped
        Ctrl-C, SIGTERM or SIGHUP. Each run has a checkpoint.
    """
    case, output, client = arguments(case, output, client, on_run=on_run)
    axes = parsed(parameters)
    points = points_of(case, axes)
    with named(f"at_once = {at_once!r}"):
        count = None if at_once is None else whole(at_once)
    folder = Path(output) if output is not None else Path(f"{RunDirectory.default(case.title)}-sweep")
    runs: dict[int, Run] = {}
    failed: dict[int, TaskflowError] = {}
    with (
        _ended(runs, len(points)),
        _slots(case, client, scheduler_file, count) as (cluster, slots, threads),
        ExitStack() as stack,
    ):
        stopped = threading.Event()
        free: queue.SimpleQueue[str] = queue.SimpleQueue()
        for worker in slots:
            free.put(worker)

        def look(_: Mapping[str, Any]) -> None:
            if stopped.is_set():
                raise Interrupted("the sweep was stopped")

        def compute(n: int) -> Run:
            look({})
            worker, one = free.get(), points[n][1]
            if threads is not None and one.machine.threads == "auto":
                one = one.replace(**{"machine.threads": threads})
            try:
                where = frozenset([worker])
                place = folder / f"{n:04}"
                anew = force or _unsaved(place)
                if not anew:
                    check_labels(place, one, points[n][2])
                return run_on(one, place, cluster, force=anew, resume=not anew, progress=look, workers=where)
            finally:
                free.put(worker)

        pool = stack.enter_context(ThreadPoolExecutor(len(slots)))
        stack.callback(stopped.set)
        futures = {pool.submit(compute, n): n for n in range(len(points))}
        for future in as_completed(futures):
            n = futures[future]
            try:
                runs[n] = future.result()
            except TaskflowError as error:
                failed[n] = error
            else:
                if on_run is not None:
                    on_run(n, points[n][0], runs[n])
    if failed:
        lines = (f"\n{folder / f'{n:04}'}, {words(points[n][0])}: {error}" for n, error in sorted(failed.items()))
        raise RunFailed(f"{len(failed)} of {len(points)} runs failed; the same call resumes them:{''.join(lines)}")
    listed = {name: [row[n] for row in axis.values] for axis in axes for n, name in enumerate(axis.names)}
    return Study(folder, listed, [runs[n] for n in sorted(runs)], axes, [values for values, *_ in points])


@contextmanager
def _ended(runs: Collection[object], count: int) -> Iterator[None]:
    """Report the number of finished runs after Ctrl-C, SIGTERM or SIGHUP."""
    try:
        with terminable():
            yield
    except KeyboardInterrupt as asked:
        kind, name = (Stopped, str(asked)) if isinstance(asked, Terminated) else (Interrupted, "Ctrl-C")
        raise kind(
            f"the sweep was stopped by {name}, {len(runs)} of {count} runs have ended; the same call resumes them"
        ) from None


def _unsaved(place: Path) -> bool:
    """Return True if a run was killed before its first checkpoint, so that it starts over."""
    return RunDirectory(place).report().get("ended") == "running" and not any((place / CHECKPOINTS).glob("step-*"))


@contextmanager
def _slots(
    case: Case, client: Client | Slurm | None, scheduler_file: str | PathLike[str] | None, count: int | None
) -> Iterator[tuple[Client | Here, list[str], int | None]]:
    """Yield a cluster, the workers of concurrent runs, and the cores of each if they share this machine."""
    blocks: Triple | Literal["auto"] = "auto" if count is None else (1, 1, count)
    machine = ProcessRequest(case.machine.device, blocks, "auto", "auto")
    with (
        as_keys(),
        lasting_client(client) as lasting,
        cluster_client(machine, case.grid.room, lasting, scheduler_file) as (cluster, local),
    ):
        workers = sorted(known_workers(cluster))
        slots = [workers[n % len(workers)] for n in range(count or len(workers))]
        threads = max(1, len(os.sched_getaffinity(0)) // len(slots)) if local and len(slots) > 1 else None
        yield cluster, slots, threads


def load(path: str | PathLike[str], overrides: Sequence[str] = ()) -> tuple[Case, dict[str, Sequence[Any]]]:
    """Return the case and the parameters of a sweep file.

    The file has `case`, a case file, and a table [parameters] of keys with lists of values. Raises BadInput if invalid.
    """
    file = Path(path)
    tables = read(file)
    if unknown := sorted(tables.keys() - {"case", NAME}):
        raise BadInput(f"{file}: {unknown[0]}: unknown key; known here: case, {NAME}")
    if not isinstance(tables.get("case"), str):
        raise BadInput(f'{file}: case = {tables.get("case")!r}; give the case file, as case = "cavity.toml"')
    parameters = tables.get(NAME)
    if not isinstance(parameters, dict) or not parameters:
        raise BadInput(f'{file}: {NAME}: give a table [{NAME}] with lines such as "fluid.viscosity" = [0.1, 0.01]')
    for name, listed in parameters.items():
        if not isinstance(listed, list):
            raise BadInput(f'{file}: {NAME}.{name}: give a list of values; keys with a dot need quotes: "{name}.key"')
    return Case.load(file.parent / tables["case"], overrides), parameters
