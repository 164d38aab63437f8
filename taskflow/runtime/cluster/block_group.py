"""Block groups: the actors of all blocks of a run, seen from the client. Few calls per job, all of them bounded."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from taskflow.errors import ChannelError, Lost, TaskflowError
from taskflow.runtime.host.heartbeat import Heartbeats
from taskflow.runtime.host.workers import known_workers
from taskflow.runtime.machine.actor import BlockActor, Job, Plan, Status
from taskflow.runtime.machine.channel import partners, within_reach

if TYPE_CHECKING:
    from distributed import Client

SLICE = 0.5  # seconds of one wait
CALL = 30.0  # seconds that a process whose heartbeat goes on may take to answer a short call
BUILD = 120.0  # seconds to open devices and channels
CARRY = 600.0  # seconds that what a job takes or returns may be under way


class PendingCall(Protocol):
    """A remote call that is under way."""

    def done(self) -> bool: ...
    def result(self, timeout: float) -> Any: ...


class BlockGroup:
    """One actor per block, placed on `workers` (Dask addresses) in runs of neighbouring blocks.

    Use it as a context manager: on leaving, every actor is closed, whatever happened.
    Raises BadInput where a block's device or channel is not usable, Lost where a worker is gone or does not answer: its
    connections break, its heartbeat ends, or it is silent for longer than a call may take. A block that is lost is not
    asked again.
    """

    def __init__(self, client: Client, plan: Plan, workers: Sequence[str]) -> None:
        self.plan, self._client = plan, client
        blocks = len(plan.partition)
        self.workers = [workers[block * len(workers) // blocks] for block in range(blocks)]
        name, _, token = plan.run.rpartition("-")
        group = f"{name.replace('-', '_')}-block-{token}"  # Dask shows the words before the token
        self._futures = [
            client.submit(BlockActor, plan, block, actor=True, workers=[worker], key=f"{group}-{block}", pure=False)
            for block, worker in enumerate(self.workers)
        ]
        self._statuses = [Status("new", {})] * blocks  # as they were told last
        self._lost: dict[int, Lost] = {}
        self._heartbeats = Heartbeats.of(client)
        self._actors: list[Any] = []
        try:
            self._made()
            with client.as_current():  # an actor is called through whichever client is current as it arrives
                self._actors = _sound([self._answer(block, future) for block, future in enumerate(self._futures)])
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> BlockGroup:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def connect(self) -> list[dict[int, str]]:
        """Open devices and channels and connect them; returns the transport to each peer of each block."""
        addresses = self._gather("address", seconds=BUILD)
        blocks = range(len(self._actors))
        peers = [partners(block, len(blocks)).union(self.plan.partition.neighbours[block]) for block in blocks]
        pairs = [(addresses[block], addresses[peer]) for block in blocks for peer in peers[block]]
        if self.plan.channel == "auto" and not all(within_reach(mine, theirs) for mine, theirs in pairs):
            addresses = self._gather("widen", seconds=BUILD)
        return self._gather("connect", [({peer: addresses[peer] for peer in sorted(peers[b])},) for b in blocks], BUILD)

    def start(self, jobs: Sequence[Job]) -> None:
        """Begin a job on every block."""
        self._statuses = [Status("running", {})] * len(self._actors)
        self._gather("start", [(job,) for job in jobs], CARRY)

    def status(self, patience: float = 0.0) -> list[Status]:
        """The status of every block, each asked to answer after so many seconds or when its job has ended.

        A block whose worker is gone has failed, with what it told last. So has one that does not answer.
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
        """The workers of blocks that are lost, or did not end when they were told to."""
        return frozenset(
            worker
            for worker, status in zip(self.workers, statuses, strict=True)
            if status.state == "running" or (isinstance(status.error, Lost) and not _of_message(status.error))
        )

    def results(self) -> list[Any]:
        """Return the results of the jobs of all blocks; once."""
        return self._gather("result", seconds=CARRY)

    def stop(self) -> None:
        """Ask every block to end after the present step; who does not hear of it will be found to be lost."""
        self._ask("stop")

    def abort(self, reason: str) -> None:
        """End every wait of every block that still answers."""
        self._ask("abort", [(reason,)] * len(self._actors))

    def close(self) -> None:
        """Close every actor that still answers, and let go of all. Idempotent."""
        self._ask("close")
        if self._futures and self._client.status == "running":
            self._client.cancel(self._futures)  # calls of actors are cycles, which would keep them until collected
        self._actors, self._futures = [], []

    def _made(self) -> None:
        """Return when there is an actor for each block, or never will be; Dask would wait for a worker to return."""
        left = BUILD
        while waiting := {block: future for block, future in enumerate(self._futures) if not future.done()}:
            await_all(list(waiting.values()), SLICE)
            left -= SLICE
            known = known_workers(self._client)
            for block in waiting:
                if self.workers[block] not in known:
                    raise self._loss(block, "it has left the cluster")
            for block in self._missed(waiting):
                raise self._lost[block]
            if left < 0:
                return

    def _gather(
        self, method: str, arguments: Sequence[tuple[Any, ...]] | None = None, seconds: float = CALL
    ) -> list[Any]:
        """Call a method of all actors at the same time; what each returned. Raises what is wrong with one."""
        return _sound(self._ask(method, arguments, seconds))

    def _ask(self, method: str, arguments: Sequence[tuple[Any, ...]] | None = None, seconds: float = CALL) -> list[Any]:
        """Call a method of all actors at the same time; what each returned, or an error in its place."""
        blocks = range(len(self._actors))
        calls = [self._call(block, method, arguments[block] if arguments else ()) for block in blocks]
        pending = {block: calls[block] for block in blocks if block not in self._lost}
        while pending and seconds > 0:
            pending = self._awaited(pending, min(seconds, CALL))
            seconds -= CALL
            if pending and seconds > 0:
                self._feel(pending)
                pending = {block: call for block, call in pending.items() if block not in self._lost}
        return [self._lost.get(block) or self._answer(block, calls[block]) for block in blocks]

    def _awaited(self, calls: dict[int, PendingCall], seconds: float) -> dict[int, PendingCall]:
        """Return when all have answered, or after so many seconds; those that have not, though they are there."""
        while True:
            await_all(list(calls.values()), min(SLICE, seconds))
            calls = {block: call for block, call in calls.items() if not call.done()}
            missed = self._missed(calls)
            calls = {block: call for block, call in calls.items() if block not in missed}
            seconds -= SLICE
            if not calls or seconds <= 0:
                return calls

    def _missed(self, blocks: Collection[int]) -> list[int]:
        """Note which of these blocks, which have not answered yet, live in processes that are lost."""
        lost = self._heartbeats.lost({self.workers[block] for block in blocks})
        missed = [block for block in blocks if self.workers[block] in lost]
        for block in missed:
            self._loss(block, lost[self.workers[block]])
        return missed

    def _feel(self, blocks: Collection[int]) -> None:
        """Note which of these blocks, who are at something long, do not answer anything else either."""
        calls = {block: self._call(block, "status", ()) for block in blocks}
        self._awaited({block: call for block, call in calls.items() if not isinstance(call, Lost)}, CALL)
        for block, call in calls.items():
            if block not in self._lost:
                self._answer(block, call)

    def _call(self, block: int, method: str, arguments: tuple[Any, ...]) -> Any:
        """A call that is under way; a Lost where it cannot be."""
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
        """Note that a block is lost; the error that says so."""
        if isinstance(reason, Exception):
            reason = f"{type(reason).__name__}: {reason}"
        worker = self.workers[block]
        error = self._lost[block] = Lost(f"block {block} on worker {worker} does not answer ({reason})")
        error.workers = frozenset([worker])
        return error


def _sound(answers: list[Any]) -> list[Any]:
    """The answers. Raises an error that is among them, if possible one that is not about a message."""
    errors = [answer for answer in answers if isinstance(answer, TaskflowError)]
    if errors:
        raise next((error for error in errors if not _of_message(error)), errors[0])
    return answers


def cause(statuses: Sequence[Status]) -> TaskflowError | None:
    """The error that began it: the earliest that does not merely say that another block was lost."""
    failed = sorted((s for s in statuses if s.error is not None), key=lambda s: s.failed_at)
    first = [s for s in failed if not _of_message(s.error)] or failed
    return first[0].error if first else None


def _of_message(error: TaskflowError | None) -> bool:
    """Whether an error only says that another block was lost."""
    return isinstance(error, ChannelError)


def await_all(answers: Sequence[PendingCall], seconds: float) -> None:
    """Return when all are done, or after so many seconds.

    Only seconds count in which this process was awake: one that was stopped (Ctrl-Z), or whose machine slept, must not
    take its own silence for that of others.
    """
    for answer in answers:
        while not answer.done():
            if seconds <= 0:
                return
            with contextlib.suppress(Exception):  # an error is an answer, which is looked at later
                answer.result(timeout=min(SLICE, seconds))
            if not answer.done():
                seconds -= SLICE
