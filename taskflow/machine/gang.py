"""The gang: the actors of all blocks of a run, seen from the client. A handful of calls per run, all of them bounded."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from taskflow.errors import ChannelError, RunFailed, TaskflowError
from taskflow.machine.actor import BlockActor, Plan, Status
from taskflow.machine.channel import partners

if TYPE_CHECKING:
    from distributed import Client

CALL = 30.0  # seconds that a short call to an actor may take
BUILD = 120.0  # seconds to open devices and channels


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
            client.submit(BlockActor, plan, block, actor=True, workers=[worker], key=f"{plan.run}-block-{block}", pure=False)
            for block, worker in enumerate(self.workers)
        ]
        self._futures = futures  # an actor lives as long as its future
        self._actors: list[Any] = []
        for block, future in enumerate(futures):
            self._actors.append(self._answer(block, lambda future=future: future.result(timeout=BUILD)))

    def __enter__(self) -> Gang:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def connect(self) -> list[dict[int, str]]:
        """Open devices and channels and connect them; returns the transport to each peer of each block."""
        addresses = self._all(lambda actor, _: actor.address(), BUILD)
        blocks = len(self._actors)
        peers = [set(self.plan.partition.neighbours[block]) | partners(block, blocks) for block in range(blocks)]
        return self._all(lambda actor, block: actor.connect({p: addresses[p] for p in sorted(peers[block])}), BUILD)

    def start(self) -> None:
        """Begin the job on every block."""
        self._all(lambda actor, _: actor.start(), CALL)

    def status(self) -> list[Status]:
        """The status of every block; a block whose worker is gone has failed."""
        found = []
        calls = [self._try(actor.status) for actor in self._actors]
        for block, call in enumerate(calls):
            try:
                found.append(self._answer(block, lambda call=call: call().result(timeout=CALL)))
            except RunFailed as error:
                found.append(Status("failed", {}, error, time.time()))
        return found

    def stop(self) -> None:
        """Ask every block to end after the present step."""
        self._all(lambda actor, _: actor.stop(), CALL)

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

    def _all(self, call: Callable[[Any, int], Any], timeout: float) -> list[Any]:
        pending = [self._answer(block, lambda a=actor, b=block: call(a, b)) for block, actor in enumerate(self._actors)]
        return [self._answer(block, lambda f=future: f.result(timeout=timeout)) for block, future in enumerate(pending)]

    def _answer(self, block: int, get: Callable[[], Any]) -> Any:
        """What `get` returns; a lost worker as RunFailed."""
        try:
            return get()
        except TaskflowError:
            raise
        except Exception as error:
            where = f"block {block} on worker {self.workers[block]}"
            raise RunFailed(f"{where} does not answer ({type(error).__name__}: {error}); is the worker still running?") from error

    @staticmethod
    def _try(call: Callable[[], Any]) -> Callable[[], Any]:
        """Make a call now; what it gave or raised comes when asked."""
        try:
            result = call()
        except Exception as error:
            failure = error

            def fail() -> Any:
                raise failure

            return fail
        return lambda: result


def cause(statuses: Sequence[Status]) -> TaskflowError | None:
    """The error that began it: the earliest that does not merely say that another block was lost."""
    failed = sorted((s for s in statuses if s.error is not None), key=lambda s: s.failed_at)
    first = [s for s in failed if not isinstance(s.error, ChannelError)] or failed
    return first[0].error if first else None
