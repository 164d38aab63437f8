"""A thread that writes while the run goes on, and holds the run back when it falls behind."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from taskflow.common.errors import Lost, RunFailed
from taskflow.output.disk.disk import Unsynced


class Writer:
    """Runs jobs one after the other on a thread of its own; at most `depth` of them are unfinished.

    After a job that raises no further one runs, and every call but `close` raises RunFailed with the reason, or the
    Lost that the job raised. No wait is longer than `patience` seconds. `before` is called before each job, and may
    raise as one. `files` is where jobs note what they wrote.
    """

    def __init__(self, depth: int = 2, *, patience: float = 600.0, before: Callable[[], None] | None = None) -> None:
        self._depth, self.patience, self._before = depth, patience, before
        self._jobs: deque[Callable[[], None]] = deque()  # the first one is being run
        self._changed = threading.Condition()
        self._failure: BaseException | None = None
        self.files = Unsynced()
        self._closed = False
        self._written = 0
        self._thread = threading.Thread(target=self._run, name="taskflow-writer", daemon=True)
        self._thread.start()

    @property
    def written(self) -> int:
        """Jobs done: where each writes one snapshot, the number of snapshots complete on this block."""
        return self._written

    @property
    def failure(self) -> str | None:
        """The reason why writing stopped, if it did. Raises Lost where the GPU is gone that had the values."""
        if isinstance(self._failure, Lost):
            raise self._failure
        return None if self._failure is None else _reason(self._failure)

    def reserve(self) -> None:
        """Wait for room: on return fewer than `depth` jobs are unfinished, the oldest of `depth` buffers is free."""
        self._wait(lambda: self._closed or len(self._jobs) < self._depth, "room for one more snapshot")
        if self._closed:
            raise RunFailed("the writer of the output was closed")

    def submit(self, job: Callable[[], None]) -> None:
        """Hand over a job, after waiting for room. What the job reads must stay untouched until it is done."""
        with self._changed:
            self.reserve()
            self._jobs.append(job)
            self._changed.notify_all()

    def drain(self) -> None:
        """Wait until every job is done."""
        self._wait(lambda: not self._jobs, "the last snapshots to be written")

    def settle(self) -> None:
        """Wait until every job is done that was handed over by now."""
        with self._changed:
            count = self._written + len(self._jobs)
        self._wait(lambda: self._written >= count, "snapshots to be written")

    def close(self, timeout: float = 60.0) -> bool:
        """End the thread after the jobs handed over so far; return whether all were done within `timeout` seconds."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join(timeout)
        return not self._thread.is_alive() and self._failure is None

    def _wait(self, reached: Callable[[], bool], what: str) -> None:
        with self._changed:
            ended = self._changed.wait_for(lambda: self._failure is not None or reached(), self.patience)
            if self._failure is not None:
                raise RunFailed(f"writing the output failed: {self.failure}") from self._failure
            if not ended:
                raise RunFailed(f"writing the output: waited {self.patience:g} s for {what}; is the disk stuck?")

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._jobs or self._closed)
                if not self._jobs:
                    return
                job = self._jobs[0]
            try:
                if self._before is not None:
                    self._before()
                job()
            except BaseException as error:
                with self._changed:
                    self._failure = error
                    self._jobs.clear()
                    self._changed.notify_all()
                return
            with self._changed:
                self._jobs.popleft()
                self._written += 1
                self._changed.notify_all()


def _reason(error: BaseException) -> str:
    """Return one line for the user: what the system said, and about which file; else the error with its type."""
    if isinstance(error, RunFailed):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return f"{type(error).__name__}: {error}"
