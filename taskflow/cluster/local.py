"""The embedded cluster of one machine: a scheduler and workers that live as long as a run."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Any

from taskflow.errors import BadInput, Lost

if TYPE_CHECKING:
    from distributed import Client

BEGIN = 120.0  # seconds that processes may take to begin
ENDING = (signal.SIGINT, signal.SIGTERM)  # how a user and a batch system end a command

# A step can hold the interpreter for long, and actors are never moved or restarted: no worker may be given up for
# silence, or paused.
CONFIG = {
    "distributed.scheduler.worker-ttl": None,
    "distributed.scheduler.allowed-failures": 0,
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
    "distributed.comm.timeouts.connect": "30s",
}


@contextmanager
def embedded(workers: int, *, gpu: bool) -> Iterator[Client]:
    """A client of a cluster on this machine, listening on loopback only.

    CPU: one worker lives in this process, several in processes of their own. GPU: one process per GPU, pinned by
    dask-cuda. Raises BadInput where dask-cuda is not installed or there are fewer GPUs than workers, Lost where
    the processes do not begin.
    """
    import dask
    from distributed import Client

    with (
        dask.config.set(CONFIG),
        _quiet(),
        _open(lambda: _begun(workers, gpu)) as cluster,
        _open(lambda: Client(cluster, direct_to_workers=True)) as client,
    ):
        try:
            client.wait_for_workers(workers, timeout=BEGIN)
        except TimeoutError as error:
            raise Lost(f"{workers} processes did not begin within {BEGIN:g} s") from error
        yield client


@contextmanager
def _open(begin: Callable[[], Any]) -> Iterator[Any]:
    """What `begin` returns, closed at the end; Ctrl-C and SIGTERM wait until it has begun, or is closed.

    A terminal and a batch system send them to all processes of a command, but only the client's main thread may decide
    what they mean: threads and processes that begin here never see them. A worker amid its imports, or a compiler,
    would die of it.
    """
    opened = None
    try:
        with _undisturbed():
            opened = begin()
        yield opened
    finally:
        if opened is not None:
            with _undisturbed():
                opened.close()


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Ctrl-C and SIGTERM come afterwards. Threads and processes that begin here inherit that they never come to them.

    Blocking signals is for what begins here. It does not protect this thread: threads that libraries began earlier
    take a signal, and Python hands it to the main thread; so that one notes it.
    """
    if threading.current_thread() is not threading.main_thread():  # has no say in signals
        yield
        return
    noted: list[int] = []
    usual = {each: signal.signal(each, lambda number, _: noted.append(number)) for each in ENDING}
    resource_tracker.ensure_running()  # Python would begin it with the first process, and unblock the signals
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for each, handler in usual.items():
            signal.signal(each, handler)
    if noted:
        signal.raise_signal(noted[0])


def _begun(workers: int, gpu: bool) -> Any:
    """The cluster. Its processes import the script that begins it, which must not begin another cluster then."""
    try:
        return _cluster(workers, gpu)
    except (RuntimeError, OSError) as error:
        raise Lost(
            f"the processes of the blocks did not begin ({error}); a script that has more than one"
            ' calls this under: if __name__ == "__main__":'
        ) from error


def _cluster(workers: int, gpu: bool) -> Any:
    options: dict[str, Any] = {
        "n_workers": workers,
        "threads_per_worker": 1,
        "dashboard_address": "127.0.0.1:0",
        "worker_dashboard_address": "127.0.0.1:0",
        "silence_logs": logging.CRITICAL,
        "memory_limit": 0,
    }
    if gpu:
        try:
            from dask_cuda import LocalCUDACluster
        except ImportError:
            raise BadInput(
                'machine.device = "gpu": dask-cuda is not installed; install taskflow[cuda13] or taskflow[cuda12]'
            ) from None
        return LocalCUDACluster(**options, protocol="tcp", host="127.0.0.1", device_memory_limit=None)
    from distributed import LocalCluster

    if workers == 1:
        return LocalCluster(**options, processes=False)
    return LocalCluster(**options, processes=True, protocol="tcp", host="127.0.0.1")


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
