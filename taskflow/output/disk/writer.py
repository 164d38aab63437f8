"""Writer thread that works while the run continues, and delays the run when it is late."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from taskflow.common.errors import Lost, RunFailed
from taskflow.output.disk.disk import Unsynced


class Writer:
    """Thread that runs jobs sequentially, with at most `depth` unfinished.

    After a job raises, no further job runs, and every call except `close` raises RunFailed with the reason, or the Lost
    that the job raised. Waits are limited to `patience` seconds. `before` is called before each job and may raise like
    a job. Jobs note written files in `files`.
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
        """Number of finished jobs: with one snapshot per job, the number of complete snapshots of this block."""
        return self._written

    @property
    def failure(self) -> str | None:
        """Reason why writing stopped, if it did. Raises Lost if the GPU with the values is lost."""
        if isinstance(self._failure, Lost):
            raise self._failure
        return None if self._failure is None else _reason(self._failure)

    def reserve(self) -> None:
        """Wait until fewer than `depth` jobs are unfinished, so that the oldest of `depth` buffers is free."""
        self._wait(lambda: self._closed or len(self._jobs) < self._depth, "room for one more snapshot")
        if self._closed:
            raise RunFailed("the writer of the output was closed")

    def submit(self, job: Callable[[], None]) -> None:
        """Pass a job, after waiting for room. Data read by the job must stay unchanged until it is done."""
        with self._changed:
            self.reserve()
            self._jobs.append(job)
            self._changed.notify_all()

    def drain(self) -> None:
        """Wait until every job is done."""
        self._wait(lambda: not self._jobs, "the last snapshots to be written")

    def settle(self) -> None:
        """Wait until all jobs passed so far are done."""
        with self._changed:
            count = self._written + len(self._jobs)
        self._wait(lambda: self._written >= count, "snapshots to be written")

    def close(self, timeout: float = 60.0) -> bool:
        """End the thread after the jobs passed so far, and return True if all were done within `timeout` seconds."""
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
    """Return one line for the user: the system's message and file, else the error with its type."""
    if isinstance(error, RunFailed):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return f"{type(error).__name__}: {error}"
