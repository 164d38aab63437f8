"""The blocks of a run in one process, called together."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from taskflow.common.errors import Lost, TaskflowError
from taskflow.runtime.machine.actor import BlockActor, Job, Plan, Status, ease
from taskflow.runtime.machine.channel import Address, Home, partners


def peers(plan: Plan, block: int) -> set[int]:
    """Return the blocks with which a block exchanges messages."""
    return partners(block, len(plan.partition)).union(plan.partition.neighbours[block])


def loss(block: int, worker: str, reason: object) -> Lost:
    """Return the error that the worker of a block is lost."""
    if isinstance(reason, Exception):
        reason = f"{type(reason).__name__}: {reason}"
    error = Lost(f"block {block} on worker {worker} does not answer ({reason})")
    error.workers = frozenset([worker])
    return error


class Crew:
    """The actors of some blocks in the process of `home`, of which other actors know the keys."""

    def __init__(self, plan: Plan, blocks: Sequence[int], home: Home) -> None:
        self._plan, self._home = plan, home
        self._actors: dict[int, BlockActor] = {}
        for block in blocks:
            own = home.of(f"{home.key}-{block}")
            self._actors[block] = own.actors[own.key] = BlockActor(plan, block, own, len(blocks))
        ease(len(blocks))
        self._lock, self._working, self._failed = threading.Lock(), 0, False
        self._news = asyncio.Event()  # a job has failed, or all have ended
        self._awaited = False  # waking the event loop takes longer than a small step
        self._following: asyncio.Task[None] | None = None
        self.closed = asyncio.Event()

    async def call(self, method: str, arguments: Mapping[int, tuple[Any, ...]] | None = None) -> dict[int, Any]:
        """Call a method of all blocks concurrently. Returns a result, or an error, by block."""
        given = arguments or {}
        calls = [getattr(actor, method)(*given.get(block, ())) for block, actor in self._actors.items()]
        answers = await asyncio.gather(*calls, return_exceptions=True)
        return {
            block: loss(block, self._home.address, answer)
            if isinstance(answer, Exception) and not isinstance(answer, TaskflowError)
            else answer
            for block, answer in zip(self._actors, answers, strict=True)
        }

    async def connect(self, addresses: Mapping[int, Address]) -> dict[int, Any]:
        """Connect all blocks to their peers, given their addresses."""
        near = {block: sorted(peers(self._plan, block)) for block in self._actors}
        return await self.call("connect", {b: ({peer: addresses[peer] for peer in near[b]},) for b in near})

    def begin(self, jobs: Mapping[int, Job]) -> list[Future[None]]:
        """Start the job of every block and return the futures of their ends. Raises RunFailed as `BlockActor.begin`."""
        self._working, self._failed, self._awaited = len(jobs), False, False
        self._news.clear()
        return [self._actors[block].begin(job, self._note) for block, job in jobs.items()]

    def _note(self, actor: BlockActor) -> None:
        """Note on the thread of a block that its job has ended."""
        with self._lock:
            self._working -= 1
            self._failed |= actor.state == "failed"
            awaited = self._awaited and (self._failed or not self._working)
        if awaited:
            with suppress(RuntimeError):  # the event loop has ended
                self._home.loop.call_soon_threadsafe(self._news.set)

    async def start(self, jobs: Sequence[tuple[Job, Sequence[int]]]) -> dict[int, Status]:
        """Start jobs, each on some blocks, and return the first states. Raises as `begin`."""
        self.begin({block: job for job, blocks in jobs for block in blocks})
        return self.present

    async def status(self, patience: float) -> dict[int, Status]:
        """Return `present` once a job has failed or all have ended, or after `patience` seconds."""
        with self._lock:
            self._awaited = awaited = self._working > 0
        if awaited:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), patience)
            self._news.clear()
        return self.present

    @property
    def present(self) -> dict[int, Status]:
        """The states of all blocks if jobs have ended, otherwise only of the first one."""
        if self._working and not self._failed:
            first = min(self._actors)
            return {first: self._actors[first].present}
        return {block: actor.present for block, actor in self._actors.items()}

    async def statuses(self) -> dict[int, Status]:
        return {block: actor.present for block, actor in self._actors.items()}

    def follow(self, leader: str, key: str) -> None:
        """End with the leader of the host, an actor with a key in the process of another worker."""
        self._following = asyncio.create_task(self._led(leader, key))

    async def _led(self, leader: str, key: str) -> None:
        reason = "its client is gone"
        try:
            await self._home.call(leader, key, "led")
        except Exception as error:
            reason = f"the leader of its host is lost ({type(error).__name__})"
        if not self.closed.is_set():
            await self.abandon(reason)

    async def abandon(self, reason: str) -> None:
        """End every wait of all blocks for this reason, and close them."""
        await self.call("abort", {block: (f"block {block} was abandoned: {reason}",) for block in self._actors})
        await self.close()

    async def close(self) -> dict[int, Any]:
        """Close all blocks. Idempotent."""
        answers = await self.call("close")
        own = [self._home.key] if self._following is not None else []  # of a leader, the client has the key
        for key in (*own, *(f"{self._home.key}-{block}" for block in self._actors)):
            self._home.actors.pop(key, None)
        self.closed.set()
        return answers
