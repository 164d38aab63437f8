"""Block groups: the actors of all blocks of a run, controlled and monitored by the client.

A job takes few calls, each with a time limit.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from taskflow.common.errors import ChannelError, Lost, TaskflowError
from taskflow.runtime.host.heartbeat import Heartbeats
from taskflow.runtime.host.here import Here
from taskflow.runtime.host.signals import noted
from taskflow.runtime.host.workers import known_workers
from taskflow.runtime.machine.actor import BlockActor, Job, Plan, Status
from taskflow.runtime.machine.channel import partners, within_reach

if TYPE_CHECKING:
    from distributed import Client

SLICE = 0.5  # seconds of one wait
CALL = 30.0  # seconds to answer a short call, for a process with a heartbeat
BUILD = 120.0  # seconds to open devices and channels
CARRY = 600.0  # seconds to transfer the arguments and results of jobs
PATIENCE = 0.2  # seconds between status calls to working blocks
END = 30.0  # seconds for blocks to end after an abort

Progress = Callable[[Mapping[str, Any]], None]


class PendingCall(Protocol):
    """A remote call in progress."""

    def done(self) -> bool: ...
    def result(self, timeout: float) -> Any: ...


class BlockGroup:
    """One actor per block, placed on `workers` (Dask addresses) in runs of neighbouring blocks.

    Use it as a context manager, which always closes every actor.
    Raises BadInput if a block's device or channel is not usable, Lost if a worker is gone or does not answer: its
    connections break, its heartbeat ends, or a call times out. A lost block is not called again.
    """

    def __init__(self, client: Client | Here, plan: Plan, workers: Sequence[str]) -> None:
        self.plan, self._client = plan, client
        blocks = len(plan.partition)
        self.workers = [workers[block * len(workers) // blocks] for block in range(blocks)]
        name, _, token = plan.run.rpartition("-")
        group = f"{name.replace('-', '_')}-block-{token}"  # Dask shows the words before the token
        self._futures: list[Any] = [
            client.submit(BlockActor, plan, block, actor=True, workers=[worker], key=f"{group}-{block}", pure=False)
            for block, worker in enumerate(self.workers)
        ]
        self._statuses = [Status("new", {})] * blocks  # last reports
        self._lost: dict[int, Lost] = {}
        self._heartbeats = Heartbeats.of(client)
        self._actors: list[Any] = []
        try:
            self._await_actors()
            with client.as_current():  # actors keep the client that is current on arrival
                self._actors = _checked([self._answer(block, future) for block, future in enumerate(self._futures)])
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> BlockGroup:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def connect(self) -> list[dict[int, str]]:
        """Open devices and channels and connect them. Returns the transport to each peer of each block."""
        addresses = self._gather("address", seconds=BUILD)
        blocks = range(len(self._actors))
        peers = [partners(block, len(blocks)).union(self.plan.partition.neighbours[block]) for block in blocks]
        pairs = [(addresses[block], addresses[peer]) for block in blocks for peer in peers[block]]
        if self.plan.channel == "auto" and not all(within_reach(mine, theirs) for mine, theirs in pairs):
            addresses = self._gather("widen", seconds=BUILD)
        return self._gather("connect", [({peer: addresses[peer] for peer in sorted(peers[b])},) for b in blocks], BUILD)

    def start(self, jobs: Sequence[Job], patience: float = 0.0) -> list[Status]:
        """Start a job on every block, and return as `status` does. Raises Lost if one does not answer."""
        self._statuses = [Status("running", {})] * len(self._actors)
        self._statuses = self._gather("start", [(job, patience) for job in jobs], CARRY)
        return list(self._statuses)

    def status(self, patience: float = 0.0) -> list[Status]:
        """Return the status of every block, after `patience` seconds or when its job has ended.

        A block whose worker is gone, or that does not answer, has failed, with its last progress.
        """
        asked = [(patience,)] * len(self._actors)
        for block, answer in enumerate(self._ask("status", asked)):
            known = self._statuses[block]
            if isinstance(answer, Status):
                self._statuses[block] = answer
            elif known.error is not answer:
                self._statuses[block] = Status("failed", known.progress, answer, time.time())
        return list(self._statuses)

    def blamed(self, statuses: Sequence[Status]) -> frozenset[str]:
        """Return the workers of blocks that are lost, or did not end when requested."""
        return frozenset(
            worker
            for worker, status in zip(self.workers, statuses, strict=True)
            if status.state == "running"
            or (isinstance(status.error, Lost) and not isinstance(status.error, ChannelError))
        )

    def results(self) -> list[Any]:
        """Return the results of the jobs of all blocks, and release them."""
        return self._gather("result", seconds=CARRY)

    def stop(self) -> None:
        """Request every block to end after the current step. One that does not receive it is found to be lost later."""
        self._ask("stop")

    def abort(self, reason: str) -> None:
        """End every wait of every block that still answers."""
        self._ask("abort", [(reason,)] * len(self._actors))

    def close(self) -> None:
        """Close every actor that still answers, and release all. Idempotent."""
        self._ask("close")
        if self._futures and self._client.status == "running":
            self._client.cancel(self._futures)  # calls of actors are cycles, which would keep them alive
        self._actors, self._futures = [], []

    def _await_actors(self) -> None:
        """Wait until every block has an actor, at most BUILD seconds. Raises Lost if a worker is gone, for which Dask
        would wait.
        """
        left = BUILD
        while waiting := {block: future for block, future in enumerate(self._futures) if not future.done()}:
            await_all(list(waiting.values()), SLICE)
            left -= SLICE
            known = known_workers(self._client)
            for block in waiting:
                if self.workers[block] not in known:
                    raise self._loss(block, "it has left the cluster")
            for block in self._note_lost(waiting):
                raise self._lost[block]
            if left < 0:
                return

    def _gather(
        self, method: str, arguments: Sequence[tuple[Any, ...]] | None = None, seconds: float = CALL
    ) -> list[Any]:
        """Call a method of all actors concurrently, and return their results. Raises the error of one, if any."""
        return _checked(self._ask(method, arguments, seconds))

    def _ask(self, method: str, arguments: Sequence[tuple[Any, ...]] | None = None, seconds: float = CALL) -> list[Any]:
        """Call a method of all actors concurrently, and return their results or errors."""
        blocks = range(len(self._actors))
        calls = [self._call(block, method, arguments[block] if arguments else ()) for block in blocks]
        pending = {block: calls[block] for block in blocks if block not in self._lost}
        while pending and seconds > 0:
            pending = self._pending(pending, min(seconds, CALL))
            seconds -= CALL
            if pending and seconds > 0:
                self._probe(pending)
                pending = {block: call for block, call in pending.items() if block not in self._lost}
        return [self._lost.get(block) or self._answer(block, calls[block]) for block in blocks]

    def _pending(self, calls: dict[int, PendingCall], seconds: float) -> dict[int, PendingCall]:
        """Wait for all answers, at most `seconds` seconds, and return the unanswered calls to live blocks."""
        while True:
            await_all(list(calls.values()), min(SLICE, seconds))
            calls = {block: call for block, call in calls.items() if not call.done()}
            lost = self._note_lost(calls)
            calls = {block: call for block, call in calls.items() if block not in lost}
            seconds -= SLICE
            if not calls or seconds <= 0:
                return calls

    def _note_lost(self, blocks: Collection[int]) -> list[int]:
        """Record which of these blocks are in lost processes, and return them."""
        reasons = self._heartbeats.lost({self.workers[block] for block in blocks})
        lost = [block for block in blocks if self.workers[block] in reasons]
        for block in lost:
            self._loss(block, reasons[self.workers[block]])
        return lost

    def _probe(self, blocks: Collection[int]) -> None:
        """Record which of these blocks, all in long calls, do not answer a short call either."""
        calls = {block: self._call(block, "status", ()) for block in blocks}
        self._pending({block: call for block, call in calls.items() if not isinstance(call, Lost)}, CALL)
        for block, call in calls.items():
            if block not in self._lost:
                self._answer(block, call)

    def _call(self, block: int, method: str, arguments: tuple[Any, ...]) -> Any:
        """Return a call in progress, or a Lost if it is impossible."""
        if block in self._lost:
            return self._lost[block]
        try:
            return getattr(self._actors[block], method)(*arguments)
        except Exception as error:
            return self._loss(block, error)

    def _answer(self, block: int, call: PendingCall) -> Any:
        """Return the result of a call, or an error: one of ours, raised by the block, or a Lost."""
        if not call.done():
            return self._loss(block, "no answer")
        try:
            return call.result(timeout=CALL)
        except TaskflowError as error:
            return error
        except Exception as error:
            return self._loss(block, error)

    def _loss(self, block: int, reason: object) -> Lost:
        """Record that a block is lost, and return the error."""
        if isinstance(reason, Exception):
            reason = f"{type(reason).__name__}: {reason}"
        worker = self.workers[block]
        error = self._lost[block] = Lost(f"block {block} on worker {worker} does not answer ({reason})")
        error.workers = frozenset([worker])
        return error


def _checked(answers: list[Any]) -> list[Any]:
    """Return the answers. Raises an error among them, if possible one that is not about a message."""
    errors = [answer for answer in answers if isinstance(answer, TaskflowError)]
    if errors:
        raise min(errors, key=lambda error: isinstance(error, ChannelError))
    return answers


def cause(statuses: Sequence[Status]) -> TaskflowError | None:
    """Return the original error: the earliest that does not merely report the loss of another block."""
    failed = [status for status in statuses if status.error is not None]
    first = min(failed, key=lambda status: (isinstance(status.error, ChannelError), status.failed_at), default=None)
    return None if first is None else first.error


def await_all(answers: Sequence[PendingCall], seconds: float) -> None:
    """Return when all are done, or after `seconds` seconds.

    Time in which this process was stopped (Ctrl-Z), or its machine slept, does not count: it is not a silence of the
    others.
    """
    for answer in answers:
        while not answer.done():
            if seconds <= 0:
                return
            with suppress(Exception):  # an error is an answer, handled later
                answer.result(timeout=min(SLICE, seconds))
            if not answer.done():
                seconds -= SLICE


def unwatched(_: Mapping[str, Any]) -> None:
    """Ignore progress."""


def watch(
    group: BlockGroup,
    jobs: Sequence[Job],
    progress: Progress = unwatched,
    signals: Sequence[signal.Signals] = (signal.SIGINT,),
) -> tuple[list[Status], signal.Signals | Exception | None]:
    """Let every block do its job, until all have ended. Returns their statuses, and the signal that came, or the
    exception of `progress`, if any.

    `progress` gets the last progress of block 0, and whether a stop was requested, every PATIENCE seconds. If a block
    fails, the others are aborted. One of `signals`, or an exception of `progress`, stops all after the current step.
    After an exception `progress` is not called again.
    """
    with noted(signals) as came:
        stopped, ending = False, None
        raised: Exception | None = None
        began = time.monotonic()
        try:
            statuses = group.start(jobs, PATIENCE)
        except Lost:  # the others have started and must be aborted
            statuses = group.status()
        while True:
            try:
                progress({**statuses[0].progress, "stopping": stopped})
            except Exception as error:
                raised, progress = error, unwatched
            states = {status.state for status in statuses}
            if states <= {"finished", "failed"}:
                return statuses, next(iter(came), raised)
            if (came or raised) and not stopped:
                stopped = True
                group.stop()
            if "failed" in states and ending is None:
                ending = time.monotonic() + END
                group.abort(f"another block failed: {cause(statuses)}")
            if ending is not None and time.monotonic() > ending:
                return statuses, next(iter(came), raised)
            time.sleep(max(0.0, began + PATIENCE - time.monotonic()))  # if all answered early, and none has ended
            began = time.monotonic()
            statuses = group.status(PATIENCE)
