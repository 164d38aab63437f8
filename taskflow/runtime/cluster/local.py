"""The embedded cluster of one machine: a scheduler and workers that live as long as a run.

It is opened and closed as a whole, whatever signals come meanwhile. Its processes begin without the script that begins
them: multiprocessing has every new process import the main script first, to find by name what is defined there. What
blocks are sent brings that along by value (see `jobs`), as it must on a cluster elsewhere: the import would cost
time and, in a script without `if __name__ == "__main__":`, begin the next cluster.
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
from taskflow.runtime.host import SYSTEM, known_workers

if TYPE_CHECKING:
    from distributed import Client

BEGIN = 120.0  # seconds that processes may take to begin
LOOK = 0.05
WORKERS = "Dask Worker process"  # how Dask's nannies name the processes that they begin
ENDING = (signal.SIGINT, *SYSTEM)  # how a user and a system end a command

# A step can hold the interpreter for long, and actors are never moved or restarted: no worker may be given up for
# silence, or paused.
CONFIG = {
    "distributed.scheduler.worker-ttl": None,
    "distributed.scheduler.allowed-failures": 0,
    "distributed.worker.profile.enabled": False,  # would look at all threads a hundred times a second: 5 %
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
    "distributed.comm.timeouts.connect": "30s",
    "distributed.scheduler.preload": [PRELOAD],
}
# It is for the blocks: arrays of Dask that other threads compute meanwhile, as for a picture, are not computed with it.
CLIENT: dict[str, Any] = {"direct_to_workers": True, "set_as_default": False}


@contextmanager
def embedded(workers: int, *, gpu: bool) -> Iterator[Client]:
    """A client of a cluster on this machine, to which nobody else can connect.

    CPU: one worker lives in this process and listens nowhere, several live in processes of their own. GPU: one process
    per GPU, pinned by dask-cuda. Processes listen on loopback to who has their certificate. Raises BadInput where
    dask-cuda is not installed or there are fewer GPUs than workers, Lost where the processes do not begin, RunFailed in
    a process that a script began and that imports it.
    """
    from distributed import Client

    if getattr(process.current_process(), "_inheriting", False):  # multiprocessing lets it begin no other, either
        raise RunFailed(
            "a process that the script begins imports it, and must not begin others; what begins processes"
            ' belongs under: if __name__ == "__main__":'
        )
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
    """A folder for the files of Dask's servers, which begin `sys.path` with them: of this user alone.

    Servers that share a process leave entries behind. They are removed before the folder is, whose name is free for
    other users then.
    """
    with scratch() as folder:
        try:
            yield folder
        finally:
            sys.path[:] = [entry for entry in sys.path if folder not in Path(entry).parents]


def _cluster(workers: int, gpu: bool, folder: Path) -> Any:
    """Begin the processes. Raises as `embedded` does."""
    from distributed import LocalCluster, Security

    options: dict[str, Any] = {
        "n_workers": workers,
        "threads_per_worker": 1,
        "dashboard_address": pages() or "127.0.0.1:0",
        "worker_dashboard_address": "127.0.0.1:0",
        "preload": [PRELOAD],  # dask-cuda adds its own, and looks into no configuration
        "local_directory": str(folder),
        "scheduler_kwargs": {"local_directory": str(folder)},  # else below TMPDIR/dask-scratch-space, whoever made it
        "silence_logs": logging.CRITICAL,
        "memory_limit": 0,
        "death_timeout": BEGIN,  # Dask would wait for ever
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
        raise Lost(f"the processes of the blocks did not begin ({error})") from error


def _wait(cluster: Any, client: Client, workers: int) -> None:
    """Return when all workers are there. Raises Lost once one has failed (dask-cuda does not tell), or after BEGIN."""
    until = time.monotonic() + BEGIN
    while sum(worker["status"] == "running" for worker in known_workers(client).values()) < workers:
        for begun in list(cluster.workers.values()):
            if begun.status.name == "failed":
                try:
                    cluster.sync(begun.start)  # raises what it failed of
                except Exception as error:
                    raise Lost(f"a process of the blocks did not begin ({error})") from error
        if time.monotonic() > until:
            raise Lost(f"{workers} processes did not begin within {BEGIN:g} s")
        time.sleep(LOOK)


@WhileNeeded
def configured() -> AbstractContextManager[Any]:
    """Dask is configured for a cluster of blocks that begins, and not for others, which a script may begin later."""
    import dask

    chosen = {"distributed": copy.deepcopy(dask.config.get("distributed"))}  # nannies keep it for workers to come
    dask.config.set(CONFIG, config=chosen)
    return dask.config.set(chosen)


@WhileNeeded
@contextmanager
def _quiet() -> Iterator[None]:
    """Dask's loggers report at the end of a run what has been reported already, or is no problem."""
    logger = logging.getLogger("distributed")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


def gpus() -> int:
    """GPUs of this machine that dask-cuda would use; 0 where it is not installed."""
    try:
        from dask_cuda.utils import get_n_gpus
    except ImportError:
        return 0
    return int(get_n_gpus())


@contextmanager
def opened(begin: Callable[[], Any]) -> Iterator[Any]:
    """Begin something, and close it at the end; signals that end a command wait until it has begun, or is closed.

    A terminal and a batch system send them to all processes of a command, but only the client's main thread may decide
    what they mean: threads and processes that begin here never see them. A worker amid its imports, or a compiler,
    would die of it.
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
    """The signals `ENDING` come afterwards. Threads and processes that begin here inherit that they never come to them.

    Blocking signals is for what begins here. It does not protect this thread: threads that libraries began earlier
    take a signal, and Python hands it to the main thread; so that one notes it. Another has no say in what signals do.
    """
    noted: list[int] = []
    mine = ENDING if threading.current_thread() is threading.main_thread() else ()
    usual = {watched: signal.signal(watched, lambda number, _: noted.append(number)) for watched in mine}
    resource_tracker.ensure_running()  # Python would begin it with the first process, and unblock the signals
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
    """Workers that nannies of this process begin, or begin again, do not import its main script.

    It changes what multiprocessing prepares for these processes, and for no others that begin meanwhile. None of the
    processes that multiprocessing begins meanwhile imports from the current folder before it has the `sys.path` of
    this one: `python -c` would, and in /tmp anyone can place a multiprocessing.py.
    """
    launcher: Any = util  # whose stubs lack the function
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
