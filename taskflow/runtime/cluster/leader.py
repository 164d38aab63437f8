"""The leader of a host: the only actor that the client calls there. It starts the crews in the host's processes,
forwards calls to them, and collects their states.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from taskflow.common.errors import Lost, TaskflowError
from taskflow.runtime.cluster.crew import Crew, loss
from taskflow.runtime.host.heartbeat import Heartbeats, begin_heartbeat
from taskflow.runtime.machine.actor import Job, Plan, Status
from taskflow.runtime.machine.channel import Address, DaskHome, Home

SLICE = 0.5  # seconds of one wait
CALL = 30.0  # seconds to answer a short call, for a process with a heartbeat
EACH = 1.0  # more seconds for each block of a process: their threads take turns
LONG = 10.0  # seconds after which a process reports, if nothing happens

Answers = dict[int, Any]
"""A result, or an error, by block."""
Call = asyncio.Task[Answers]


def ended(answers: Iterable[Status | TaskflowError]) -> bool:
    """Return True if the jobs of blocks with these states have ended, or the blocks are lost."""
    return all(not isinstance(answer, Status) or answer.state in ("finished", "failed") for answer in answers)


def failed(answers: Iterable[Status | TaskflowError]) -> bool:
    """Return True if a job has failed, or a block is lost."""
    return any(not isinstance(answer, Status) or answer.state == "failed" for answer in answers)


@dataclass
class Seen:
    """The states that a leader has heard of during a job: unanswered questions by process, and the states of processes
    where jobs have ended.
    """

    polls: dict[str, Call] = field(default_factory=dict)
    known: Answers = field(default_factory=dict)


class Leader:
    """The leader of the processes that are `members`: blocks by the address of a worker. Its own is one of them.
    Another is lost after `silence` seconds without a heartbeat.
    """

    def __init__(
        self, plan: Plan, members: Mapping[str, tuple[int, ...]], silence: float, home: Home | None = None
    ) -> None:
        self._home, self._plan, self._members = home or DaskHome.here(), plan, members
        self._crew = Crew(plan, members[self._home.address], self._home)
        self._heartbeats = Heartbeats()
        self._heartbeats.bound = silence
        self._lost: dict[str, Lost] = {}
        self._seen = Seen()
        self._guard: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Start the crews in the other processes. Raises Lost if one does not answer."""
        self._guard = asyncio.create_task(self._end_if_abandoned())
        others = [worker for worker in self._members if worker != self._home.address]
        sources = await asyncio.gather(*(self._home.run(worker, begin_heartbeat) for worker in others))
        self._heartbeats.follow(dict(zip(others, sources, strict=True)))
        above = self._home.address, self._home.key
        given = {"plan": self._plan, "key": self._key, "leader": above}
        await asyncio.gather(*(
            self._home.run(worker, begin_crew, blocks=self._members[worker], **given) for worker in others
        ))  # fmt: skip

    async def call(
        self, method: str, arguments: Mapping[int, tuple[Any, ...]] | None = None, seconds: float = CALL
    ) -> Answers:
        def own(blocks: Sequence[int]) -> tuple[Any, ...]:
            return method, {block: arguments[block] for block in blocks} if arguments else None

        return await self._ask("call", own, seconds)

    async def connect(self, addresses: Mapping[int, Address], seconds: float) -> Answers:
        """Connect all blocks to their peers, given their addresses."""
        return await self._ask("connect", lambda _: (addresses,), seconds)

    def begin(self, jobs: Sequence[tuple[Job, Sequence[int]]]) -> Future[None] | None:
        """Start the job of a run with a single block and return the future of its end. Return None for more blocks."""
        if len(self._plan.partition) > 1:
            return None
        ((job, blocks),) = jobs
        self._seen = Seen()
        return self._crew.begin(dict.fromkeys(blocks, job))[0]

    async def start(self, jobs: Sequence[tuple[Job, Sequence[int]]], patience: float, seconds: float) -> Answers:
        """Start jobs, each on some blocks, and return as `status` does, or errors."""

        def own(blocks: Sequence[int]) -> tuple[Any, ...]:
            return ([(job, both) for job, some in jobs if (both := sorted({*some}.intersection(blocks)))],)

        self._seen = Seen()
        started = await self._ask("start", own, seconds)
        return started if failed(started.values()) else await self.status(patience)

    async def status(self, patience: float) -> Answers:
        """Return states once a job has failed or all have ended, or after `patience` seconds: of the first block, and
        of all blocks of processes where jobs have ended.
        """
        loop = asyncio.get_running_loop()
        until, news, seen = loop.time() + patience, Answers(), self._seen  # of this job, even if the next one starts
        while not ended(seen.known.values()) or len(seen.known) < sum(map(len, self._members.values())):
            await self._poll(max(0.0, min(SLICE, until - loop.time())), seen, news)
            if loop.time() >= until or failed(news.values()):
                return {**self._crew.present, **news}
        return seen.known

    async def statuses(self) -> Answers:
        """Return the present states of all blocks."""
        return await self._ask("statuses", lambda _: (), CALL)

    async def close(self) -> Answers:
        """Close all blocks. Idempotent."""
        answers = await self._ask("close", lambda _: (), CALL)
        self._heartbeats.close()
        return answers

    async def led(self) -> None:
        """Return when the blocks are closed. Other crews wait for it, and hear if this process is lost."""
        await self._crew.closed.wait()

    @property
    def present(self) -> dict[int, Status]:
        """The present states of the blocks of this process."""
        return self._crew.present

    @property
    def _key(self) -> str:
        return f"{self._home.key}-crew"

    async def _end_if_abandoned(self) -> None:
        """End the jobs if the client has vanished, which is not reported to an actor. Listen to heartbeats."""
        while not self._crew.closed.is_set():
            self._heartbeats.lost(self._members)
            if reason := self._home.abandoned:
                await self._crew.abandon(reason)  # the other crews follow
                self._heartbeats.close()
            else:
                await asyncio.sleep(SLICE)

    async def _to(self, worker: str, method: str, *arguments: Any) -> Answers:
        if worker in self._lost:
            raise self._lost[worker]
        if worker == self._home.address:
            return await getattr(self._crew, method)(*arguments)
        return await self._home.call(worker, self._key, method, *arguments)

    async def _ask(self, method: str, own: Callable[[Sequence[int]], tuple[Any, ...]], seconds: float) -> Answers:
        """Call a method of all crews concurrently, with their `own` arguments, and return their answers, which they
        have to give within `seconds`.
        """
        calls = {
            worker: asyncio.create_task(self._to(worker, method, *own(blocks)))
            for worker, blocks in self._members.items()
        }
        seconds += EACH * max(map(len, self._members.values()))
        while seconds > 0 and (waiting := {worker: call for worker, call in calls.items() if not call.done()}):
            await asyncio.wait(waiting.values(), timeout=min(SLICE, seconds))
            seconds -= SLICE
            await self._listen(waiting)
        answers = Answers()
        for worker, call in calls.items():
            answers |= self._answer(worker, call)
        return answers

    async def _poll(self, seconds: float, seen: Seen, news: Answers) -> None:
        """Wait for states of processes where jobs have ended, for at most `seconds`, and add them to `news`."""
        for worker, blocks in self._members.items():
            known = [seen.known[block] for block in blocks if block in seen.known]
            if worker not in seen.polls and (len(known) < len(blocks) or not ended(known)):
                seen.polls[worker] = asyncio.create_task(self._to(worker, "status", LONG))
        await asyncio.wait(seen.polls.values(), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        await self._listen(seen.polls)
        for worker in [worker for worker, poll in seen.polls.items() if poll.done()]:
            answers = self._answer(worker, seen.polls.pop(worker))
            if len(answers) == len(self._members[worker]):
                seen.known |= answers
                news |= answers

    async def _listen(self, calls: Mapping[str, Call]) -> None:
        """Cancel calls to lost processes."""
        for worker, reason in self._heartbeats.lost(calls).items():
            self._lost.setdefault(worker, loss(self._members[worker][0], worker, reason))
            calls[worker].cancel()
            await asyncio.wait([calls[worker]])

    def _answer(self, worker: str, call: Call) -> Answers:
        """Return the result of a call, or an error of every block of a process."""
        blocks = self._members[worker]
        if worker not in self._lost:
            if not call.done():
                call.cancel()
                self._lost[worker] = loss(blocks[0], worker, "no answer")
            elif (error := call.exception()) is None:
                return call.result()
            elif isinstance(error, TaskflowError):
                return dict.fromkeys(blocks, error)
            else:
                self._lost[worker] = loss(blocks[0], worker, error)
        return dict.fromkeys(blocks, self._lost[worker])


async def begin_crew(plan: Plan, blocks: Sequence[int], key: str, leader: tuple[str, str], dask_worker: Any) -> None:
    """Start the crew of this process, with a `leader` in a different process: its address and key."""
    home = DaskHome(dask_worker, key)
    home.actors[key] = crew = Crew(plan, blocks, home)
    crew.follow(*leader)


async def close_crew(key: str, dask_worker: Any) -> None:
    """Close the crew of this process if it is still open."""
    if crew := dask_worker.state.actors.get(f"{key}-crew"):
        await crew.close()
