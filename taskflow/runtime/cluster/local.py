"""The embedded cluster of one machine: a scheduler and workers that live as long as a run.

It is opened and closed as a whole, even if signals arrive meanwhile. Its processes do not import the main script. By
default multiprocessing imports it in every new process, to find its definitions by name. But jobs carry these
definitions by value (see `jobs`), as they must on a remote cluster. The import would cost time and, in a script without
`if __name__ == "__main__":`, start another cluster.
"""

from __future__ import annotations

import copy
import logging
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from multiprocessing import process, resource_tracker, spawn, util
from pathlib import Path
from typing import TYPE_CHECKING, Any

from taskflow.common.errors import BadArgument, Lost, RunFailed
from taskflow.common.ownership import scratch
from taskflow.common.sharing import WhileNeeded
from taskflow.runtime.cluster.certificate import certified
from taskflow.runtime.cluster.dashboard import PRELOAD, pages
from taskflow.runtime.host import SYSTEM, Here, known_workers

if TYPE_CHECKING:
    from distributed import Client

BEGIN = 120.0  # seconds for processes to start
LOOK = 0.05
WORKERS = "Dask Worker process"  # name of the processes of Dask's nannies
ENDING = (signal.SIGINT, *SYSTEM)  # sent by a user or a system to end a command

# A step can hold the interpreter for long, and actors are never moved or restarted: no worker may be removed for
# silence, or paused.
CONFIG = {
    "distributed.scheduler.worker-ttl": None,
    "distributed.scheduler.allowed-failures": 0,
    "distributed.worker.profile.enabled": False,  # would sample all threads 100 times per second, at a cost of 5 %
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
    "distributed.comm.timeouts.connect": "30s",
    "distributed.scheduler.preload": [PRELOAD],
}
# For the blocks only: Dask arrays that other threads compute meanwhile, as for a picture, do not use it.
CLIENT: dict[str, Any] = {"direct_to_workers": True, "set_as_default": False}


@contextmanager
def embedded(workers: int, *, gpu: bool) -> Iterator[Client | Here]:
    """Yield a client of a private cluster on this machine.

    CPU: a single worker is this process, several are separate processes. GPU: one process per GPU, pinned by dask-cuda.
    Processes listen on loopback to holders of their certificate. Raises BadInput if dask-cuda is not installed or
    GPUs are fewer than workers, Lost if the processes do not start, RunFailed in a process that was started by a script
    and imports it.
    """
    if getattr(process.current_process(), "_inheriting", False):  # in which multiprocessing forbids new processes too
        raise RunFailed(
            "a process that the script begins imports it, and must not begin others; what begins processes"
            ' belongs under: if __name__ == "__main__":'
        )
    if workers == 1 and not gpu and pages() is None:
        with scriptless, opened(Here) as here:
            yield here
        return
    from distributed import Client

    with (
        _quiet,
        scriptless,
        importable_scratch() as folder,
        opened(lambda: _cluster(workers, gpu, folder)) as cluster,
        opened(lambda: Client(cluster, **CLIENT)) as client,
    ):
        _wait(cluster, client, workers)
        yield client


@contextmanager
def importable_scratch() -> Iterator[Path]:
    """Yield a private folder for the files of Dask's servers, which they prepend to `sys.path`.

    Servers that share a process leave entries. They are removed before the folder, whose name other users may
    take afterwards.
    """
    with scratch() as folder:
        try:
            yield folder
        finally:
            sys.path[:] = [entry for entry in sys.path if folder not in Path(entry).parents]


def _cluster(workers: int, gpu: bool, folder: Path) -> Any:
    """Start the processes. Raises as `embedded`."""
    from distributed import LocalCluster, Security

    options: dict[str, Any] = {
        "n_workers": workers,
        "threads_per_worker": 1,
        "dashboard_address": pages() or "127.0.0.1:0",
        "worker_dashboard_address": "127.0.0.1:0",
        "preload": [PRELOAD],  # dask-cuda adds its own, and ignores the configuration
        "local_directory": str(folder),
        "scheduler_kwargs": {"local_directory": str(folder)},  # default: TMPDIR/dask-scratch-space, of any owner
        "silence_logs": logging.CRITICAL,
        "memory_limit": 0,
        "death_timeout": BEGIN,  # Dask would wait indefinitely
    }
    if gpu:
        try:
            from dask_cuda import LocalCUDACluster as Cluster
        except ImportError:
            problem, remedy = ": dask-cuda is not installed", "install taskflow-cfd[cuda13], or [cuda12]"
            raise BadArgument("device", '"gpu"', problem, remedy) from None
        options["device_memory_limit"] = None
    else:
        Cluster = LocalCluster
        options["processes"] = workers > 1
    try:
        if gpu or workers > 1:
            options |= {"protocol": "tls", "host": "127.0.0.1", "security": certified(folder)}
        else:
            options |= {"protocol": "inproc", "security": Security(require_encryption=False)}
        with configured:
            return Cluster(**options)
    except (RuntimeError, OSError) as error:
        raise Lost(f"the processes of the blocks did not start ({error})") from error


def _wait(cluster: Any, client: Client, workers: int) -> None:
    """Wait for all workers. Raises Lost if one has failed (dask-cuda does not report it), or after BEGIN seconds."""
    until = time.monotonic() + BEGIN
    while sum(worker["status"] == "running" for worker in known_workers(client).values()) < workers:
        for begun in list(cluster.workers.values()):
            if begun.status.name == "failed":
                try:
                    cluster.sync(begun.start)  # raises its error
                except Exception as error:
                    raise Lost(f"a process of the blocks did not start ({error})") from error
        if time.monotonic() > until:
            raise Lost(f"{workers} processes did not start within {BEGIN:g} s")
        time.sleep(LOOK)


@WhileNeeded
def configured() -> AbstractContextManager[Any]:
    """Configure Dask for a starting cluster of blocks, and not for others, which a script may start later."""
    import dask

    chosen = {"distributed": copy.deepcopy(dask.config.get("distributed"))}  # nannies keep it for later workers
    dask.config.set(CONFIG, config=chosen)
    return dask.config.set(chosen)


@WhileNeeded
@contextmanager
def _quiet() -> Iterator[None]:
    """Silence Dask's loggers, which at the end of a run repeat reports, or report harmless events."""
    logger = logging.getLogger("distributed")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


def gpus() -> int:
    """Return the number of GPUs of this machine that dask-cuda would use; 0 without dask-cuda."""
    try:
        from dask_cuda.utils import get_n_gpus
    except ImportError:
        return 0
    return int(get_n_gpus())


@contextmanager
def opened(begin: Callable[[], Any]) -> Iterator[Any]:
    """Open a resource, and close it at the end. Signals that end a command are delayed while it opens or closes.

    A terminal and a batch system send them to all processes of a command, but only the client's main thread may handle
    them. Threads and processes started here never receive them: a worker amid its imports, or a compiler, would die.
    """
    resource = None
    try:
        with _undisturbed():
            resource = begin()
        yield resource
    finally:
        if resource is not None:
            with _undisturbed():
                resource.close()


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Delay the signals `ENDING`. Threads and processes started here inherit that these are blocked permanently.

    Blocking is for what starts here. It does not protect this thread: earlier threads of libraries receive a signal,
    and Python passes it to the main thread, which records it. Other threads have no effect on signals.
    """
    noted: list[int] = []
    mine = ENDING if threading.current_thread() is threading.main_thread() else ()
    usual = {watched: signal.signal(watched, lambda number, _: noted.append(number)) for watched in mine}
    resource_tracker.ensure_running()  # Python would start it with the first process, and unblock the signals
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for watched, handler in usual.items():
            signal.signal(watched, handler)
    if noted:
        signal.raise_signal(noted[0])


@WhileNeeded
@contextmanager
def scriptless() -> Iterator[None]:
    """Keep workers that nannies of this process start, or restart, from importing its main script.

    Only the preparation of these processes is changed. All processes that multiprocessing starts meanwhile do not
    import from the current folder before they have the `sys.path` of this one: `python -c` would, and in /tmp any user
    can place a multiprocessing.py.
    """
    launcher: Any = util  # its stubs lack the function
    usual, flags = spawn.get_preparation_data, launcher._args_from_interpreter_flags

    def prepare(name: str) -> dict[str, Any]:
        data = usual(name)
        if name.startswith(WORKERS):
            data = {key: value for key, value in data.items() if not key.startswith("init_main")}
        return data

    spawn.get_preparation_data = prepare
    launcher._args_from_interpreter_flags = lambda: [*flags(), "-P"]
    try:
        yield
    finally:
        spawn.get_preparation_data, launcher._args_from_interpreter_flags = usual, flags
