"""The gang: the actors of all blocks of a run, seen from the client. Few calls per job, all of them bounded."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from operator import methodcaller
from typing import TYPE_CHECKING, Any

from taskflow.errors import ChannelError, RunFailed, TaskflowError
from taskflow.machine.actor import BlockActor, Job, Plan, Status
from taskflow.machine.channel import partners

if TYPE_CHECKING:
    from distributed import Client

CALL = 30.0  # seconds that a short call to an actor may take
BUILD = 120.0  # seconds to open devices and channels
CARRY = 600.0  # seconds that what a job takes or returns may be under way


class Gang:
    """One actor per block, placed on `workers` (Dask addresses) in runs of neighbouring blocks.

    Use it as a context manager: on leaving, every actor is closed, whatever happened.
    Raises BadInput where a block's device or channel is not usable, RunFailed where a worker does not answer.
    """

    def __init__(self, client: Client, plan: Plan, workers: Sequence[str]) -> None:
        self.plan = plan
        blocks = len(plan.partition)
        self.workers = [workers[block * len(workers) // blocks] for block in range(blocks)]
        futures = [
            client.submit(
                BlockActor, plan, block, actor=True, workers=[worker], key=f"{plan.run}-block-{block}", pure=False
            )
            for block, worker in enumerate(self.workers)
        ]
        self._futures = futures  # an actor lives as long as its future
        self._actors = [self._answer(block, future.result, BUILD) for block, future in enumerate(futures)]

    def __enter__(self) -> Gang:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def connect(self) -> list[dict[int, str]]:
        """Open devices and channels and connect them; returns the transport to each peer of each block."""
        addresses = self._all("address", timeout=BUILD)
        blocks = range(len(self._actors))
        peers = [partners(block, len(blocks)).union(self.plan.partition.neighbours[block]) for block in blocks]
        return self._all("connect", [({peer: addresses[peer] for peer in sorted(peers[b])},) for b in blocks], BUILD)

    def start(self, jobs: Sequence[Job]) -> None:
        """Begin a job on every block."""
        self._all("start", [(job,) for job in jobs], CARRY)

    def status(self, patience: float = 0.0) -> list[Status]:
        """The status of every block, each asked to answer after so many seconds or when its job has ended.

        A block whose worker is gone has failed.
        """
        ask = methodcaller("status", patience)
        pending = [self._or_failure(b, ask, actor) for b, actor in enumerate(self._actors)]
        return [
            call if isinstance(call, Status) else self._or_failure(block, call.result, CALL + patience)
            for block, call in enumerate(pending)
        ]

    def results(self) -> list[Any]:
        """What the jobs of all blocks returned; once."""
        return self._all("result", timeout=CARRY)

    def stop(self) -> None:
        """Ask every block to end after the present step."""
        self._all("stop")

    def abort(self, reason: str) -> None:
        """End every wait of every block that still answers."""
        for actor in self._actors:
            with contextlib.suppress(Exception):
                actor.abort(reason).result(timeout=CALL)

    def close(self) -> None:
        """Close every actor that still answers, and let go of all."""
        closing = []
        for actor in self._actors:
            with contextlib.suppress(Exception):
                closing.append(actor.close())
        for future in closing:
            with contextlib.suppress(Exception):
                future.result(timeout=CALL)
        self._actors, self._futures = [], []

    def _all(self, method: str, arguments: Sequence[tuple[Any, ...]] | None = None, timeout: float = CALL) -> list[Any]:
        """Call a method of all actors at the same time; what each returned."""
        pending = [
            self._answer(block, methodcaller(method, *(arguments[block] if arguments else ())), actor)
            for block, actor in enumerate(self._actors)
        ]
        return [self._answer(block, call.result, timeout) for block, call in enumerate(pending)]

    def _answer(self, block: int, get: Callable[..., Any], *arguments: Any) -> Any:
        """What `get` returns; a lost worker as RunFailed."""
        try:
            return get(*arguments)
        except TaskflowError:
            raise
        except Exception as error:
            where = f"block {block} on worker {self.workers[block]}"
            reason = f"{type(error).__name__}: {error}"
            raise RunFailed(f"{where} does not answer ({reason}); is the worker still running?") from error

    def _or_failure(self, block: int, get: Callable[..., Any], *arguments: Any) -> Any:
        """What `get` returns; a lost worker as the status of a block that has failed."""
        try:
            return self._answer(block, get, *arguments)
        except RunFailed as error:
            return Status("failed", {}, error, time.time())


def cause(statuses: Sequence[Status]) -> TaskflowError | None:
    """The error that began it: the earliest that does not merely say that another block was lost."""
    failed = sorted((s for s in statuses if s.error is not None), key=lambda s: s.failed_at)
    first = [s for s in failed if not isinstance(s.error, ChannelError)] or failed
    return first[0].error if first else None
