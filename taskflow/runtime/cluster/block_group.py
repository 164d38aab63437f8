"""Block groups: all blocks of a run, controlled and monitored by the client through a leader for each host.

A job takes few calls, each with a time limit.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from urllib.parse import urlsplit

from taskflow.common.errors import ChannelError, Lost, TaskflowError
from taskflow.runtime.cluster.crew import loss, peers
from taskflow.runtime.cluster.leader import CALL, EACH, LONG, SLICE, Leader, close_crew, ended
from taskflow.runtime.host.heartbeat import Heartbeats
from taskflow.runtime.host.here import Here
from taskflow.runtime.host.workers import known_workers, listen, run_on_workers
from taskflow.runtime.machine.actor import Job, Plan, Status
from taskflow.runtime.machine.channel import within_reach

if TYPE_CHECKING:
    from distributed import Client

BUILD = 120.0  # seconds to open devices and channels
CARRY = 600.0  # seconds to transfer the arguments and results of jobs
MARGIN = 1.0  # seconds that the client waits longer than leaders, which know the reason

K = TypeVar("K")


class PendingCall(Protocol):
    """A remote call in progress."""

    def done(self) -> bool: ...
    def result(self, timeout: float) -> Any: ...


class BlockGroup:
    """The blocks of a plan, placed on `workers` (Dask addresses) in runs of neighbouring blocks. The client exchanges
    messages with one actor per host, the leader of its processes.

    Use it as a context manager, which always closes every block.
    Raises BadInput if a block's device or channel is not usable, Lost if a worker is gone or does not answer: its
    connections break, its heartbeat ends, or a call times out. A lost host is not called again.
    """

    def __init__(self, client: Client | Here, plan: Plan, workers: Sequence[str]) -> None:
        self.plan, self._client = plan, client
        blocks = len(plan.partition)
        self.workers = [workers[block * len(workers) // blocks] for block in range(blocks)]
        self._hosts = by_host(self.workers)
        self._blocks = {one: [n for some in host.values() for n in some] for one, host in self._hosts.items()}
        self._turns = EACH * max(Counter(self.workers).values())  # seconds until an answer
        self._statuses = [Status("new", {})] * blocks  # last reports
        self._lost: dict[str, Lost] = {}  # by leader
        self._polls: dict[str, PendingCall] = {}  # unanswered questions for states, by leader
        self._left: dict[str, float] = {}  # seconds for each
        self._live = [*self._hosts]  # the leaders of hosts where jobs are running
        self._heartbeats = Heartbeats.of(client)
        self._leaders: dict[str, Any] = {}
        name, _, token = plan.run.rpartition("-")
        group = f"{name.replace('-', '_')}-host-{token}"  # Dask shows the words before the token
        listen(client, [*self._hosts])
        bound = self._heartbeats.bound
        self._futures: dict[str, Any] = {
            first: client.submit(
                Leader, plan, members, bound, actor=True, workers=[first], key=f"{group}-{number}", pure=False
            )
            for number, (first, members) in enumerate(self._hosts.items())
        }
        try:
            self._await_actors()
            with client.as_current():  # actors keep the client that is current on arrival
                answers = {leader: self._answer(leader, future) for leader, future in self._futures.items()}
            self._leaders = _checked(answers)
            _checked(self._ask("open", seconds=BUILD))
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> BlockGroup:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def connect(self) -> list[dict[int, str]]:
        """Open devices and channels and connect them. Returns the transport to each peer of each block."""
        addresses, count = self._call_all("address", seconds=BUILD), range(len(self.workers))
        near = [peers(self.plan, block) for block in count]
        pairs = ((addresses[block], addresses[peer]) for block in count for peer in near[block])
        if self.plan.channel == "auto" and not all(within_reach(mine, theirs) for mine, theirs in pairs):
            addresses = self._call_all("widen", seconds=BUILD)
        needed = {leader: set().union(*(near[block] for block in self._blocks[leader])) for leader in self._hosts}
        given = {leader: ({peer: addresses[peer] for peer in some}, BUILD) for leader, some in needed.items()}
        return self._in_order(self._ask("connect", given, BUILD))

    def start(self, jobs: Sequence[Job], patience: float = 0.0) -> list[Status]:
        """Start a job on every block, and return as `poll` does. Raises Lost if one does not answer."""
        self._statuses, self._polls, self._live = [Status("running", {})] * len(self.workers), {}, [*self._hosts]
        given = {leader: (_together(jobs, self._blocks[leader]), patience, CARRY) for leader in self._hosts}
        return self._noted(_checked(self._by_block(self._ask("start", given, CARRY))))

    def poll(self, patience: float = 0.0) -> list[Status]:
        """Return the last known status of every block, after `patience` seconds or when all jobs have ended.

        The leader of the first block is asked each time. The others report when a job has failed or all have ended, or
        after LONG seconds. A block whose worker is gone, or that does not answer, has failed, with its last progress.
        """
        for leader in self._live:
            if leader not in self._polls:
                seconds = LONG if leader != self._live[0] else patience
                self._polls[leader] = self._call(leader, "status", (seconds,))
                self._left[leader] = seconds + CALL + self._turns
        waiting = {leader: self._polls[leader] for leader in self._live if leader not in self._lost}
        await_all(list(waiting.values())[:1], patience + SLICE)
        self._note_lost(waiting)
        answers = {}
        for leader in self._live:
            self._left[leader] -= patience
            if leader in self._lost or self._polls[leader].done() or self._left[leader] < 0:
                answers[leader] = self._lost.get(leader) or self._answer(leader, self._polls[leader])
                del self._polls[leader]
        return self._noted(self._by_block(answers))

    def status(self) -> list[Status]:
        """Return the present status of every block. Blocks that are lost have failed, with their last progress."""
        return self._noted(self._by_block(self._ask("statuses")))

    def _noted(self, answers: Mapping[int, Any]) -> list[Status]:
        """Note the states of blocks, or errors, and return all states."""
        for block, answer in answers.items():
            known = self._statuses[block]
            if isinstance(answer, Status):
                self._statuses[block] = answer
            elif known.error is None:
                self._statuses[block] = Status("failed", known.progress, answer, time.time())
        states = self._statuses
        self._live = [one for one in self._live if not ended(states[block] for block in self._blocks[one])]
        return list(states)

    def blamed(self, statuses: Sequence[Status]) -> frozenset[str]:
        """Return the workers of blocks that are lost, or did not end when requested."""
        blamed = set[str]()
        for worker, status in zip(self.workers, statuses, strict=True):
            if status.state == "running":
                blamed.add(worker)
            elif isinstance(status.error, Lost) and not isinstance(status.error, ChannelError):
                blamed |= status.error.workers or {worker}
        return frozenset(blamed)

    def results(self) -> list[Any]:
        """Return the results of the jobs of all blocks, and release them."""
        return self._call_all("result", seconds=CARRY)

    def stop(self) -> None:
        """Request every block to end after the current step. One that does not receive it is found to be lost later."""
        self._ask("call", dict.fromkeys(self._hosts, ("stop",)))

    def abort(self, reason: str) -> None:
        """End every wait of every block that still answers."""
        given = {leader: ("abort", dict.fromkeys(self._blocks[leader], (reason,))) for leader in self._hosts}
        self._ask("call", given)

    def close(self) -> None:
        """Close every block that still answers, and release all. Idempotent."""
        self._ask("close")
        for leader in self._lost.keys() & self._leaders.keys():
            if others := [worker for worker in self._hosts[leader] if worker != leader]:
                with suppress(TaskflowError):
                    run_on_workers(self._client, close_crew, others, key=self._futures[leader].key)
        if self._futures and self._client.status == "running":
            self._client.cancel(list(self._futures.values()))  # calls of actors are cycles, which would keep them alive
        self._leaders, self._futures = {}, {}

    def _by_block(self, answers: Mapping[str, Any]) -> dict[int, Any]:
        """Return the answers of all blocks. An error of a leader counts for all blocks of its host."""
        by_block = dict[int, Any]()
        for leader, answer in answers.items():
            lost = isinstance(answer, TaskflowError)
            by_block |= dict.fromkeys(self._blocks[leader], answer) if lost else answer
        return by_block

    def _in_order(self, answers: Mapping[str, Any]) -> list[Any]:
        """Return the results of all blocks, in order. Raises the error of one, if any."""
        results = _checked(self._by_block(answers))
        return [results[block] for block in range(len(self.workers))]

    def _call_all(self, method: str, seconds: float) -> list[Any]:
        """Call a method of every block, and return the results. Raises the error of one, if any."""
        return self._in_order(self._ask("call", dict.fromkeys(self._hosts, (method, None, seconds)), seconds))

    def _await_actors(self) -> None:
        """Wait until every host has a leader, at most BUILD seconds. Raises Lost if a worker is gone, for which Dask
        would wait.
        """
        left = BUILD
        while waiting := {leader: future for leader, future in self._futures.items() if not future.done()}:
            await_all(list(waiting.values()), SLICE)
            left -= SLICE
            known = known_workers(self._client)
            for leader in waiting:
                if leader not in known:
                    raise self._loss(leader, "it has left the cluster")
            for leader in self._note_lost(waiting):
                raise self._lost[leader]
            if left < 0:
                return

    def _ask(
        self, method: str, arguments: Mapping[str, tuple[Any, ...]] | None = None, seconds: float = CALL
    ) -> dict[str, Any]:
        """Call a method of all leaders concurrently, and return their results or errors."""
        given, seconds = arguments or {}, seconds + MARGIN + self._turns
        calls = {leader: self._call(leader, method, given.get(leader, ())) for leader in self._leaders}
        pending = {leader: call for leader, call in calls.items() if leader not in self._lost}
        while pending and seconds > 0:
            pending = self._pending(pending, min(seconds, CALL))
            seconds -= CALL
            if pending and seconds > 0:
                self._probe(pending)
                pending = {leader: call for leader, call in pending.items() if leader not in self._lost}
        return {leader: self._lost.get(leader) or self._answer(leader, call) for leader, call in calls.items()}

    def _pending(self, calls: dict[str, PendingCall], seconds: float) -> dict[str, PendingCall]:
        """Wait for all answers, at most `seconds` seconds, and return the unanswered calls to live leaders."""
        while True:
            await_all(list(calls.values()), min(SLICE, seconds))
            if not (calls := {leader: call for leader, call in calls.items() if not call.done()}):
                return calls
            lost = self._note_lost(calls)
            calls = {leader: call for leader, call in calls.items() if leader not in lost}
            seconds -= SLICE
            if not calls or seconds <= 0:
                return calls

    def _note_lost(self, leaders: Collection[str]) -> list[str]:
        """Record which of these leaders are in lost processes, and return them."""
        reasons = self._heartbeats.lost(leaders)
        for leader, reason in reasons.items():
            self._loss(leader, reason)
        return list(reasons)

    def _probe(self, leaders: Collection[str]) -> None:
        """Record which of these leaders, all in long calls, do not answer a short call either."""
        calls = {leader: self._call(leader, "status", (0.0,)) for leader in leaders}
        pending = {leader: call for leader, call in calls.items() if not isinstance(call, Lost)}
        self._pending(pending, CALL + self._turns)
        for leader, call in calls.items():
            if leader not in self._lost:
                self._answer(leader, call)

    def _call(self, leader: str, method: str, arguments: tuple[Any, ...]) -> Any:
        """Return a call in progress, or a Lost if it is impossible."""
        if leader in self._lost:
            return self._lost[leader]
        try:
            return getattr(self._leaders[leader], method)(*arguments)
        except Exception as error:
            return self._loss(leader, error)

    def _answer(self, leader: str, call: PendingCall) -> Any:
        """Return the result of a call, or an error: one of ours, or a Lost."""
        if not call.done():
            return self._loss(leader, "no answer")
        try:
            return _result(call)
        except TaskflowError as error:
            return error
        except Exception as error:
            return self._loss(leader, error)

    def _loss(self, leader: str, reason: object) -> Lost:
        """Record that the leader of a host is lost, and return the error."""
        error = self._lost[leader] = loss(self._hosts[leader][leader][0], leader, reason)
        return error


def by_host(workers: Sequence[str]) -> dict[str, dict[str, tuple[int, ...]]]:
    """Return the blocks of each worker, by the leader of its host: the worker of the host's first block."""
    hosts = dict[str | None, dict[str, list[int]]]()
    for block, worker in enumerate(workers):
        hosts.setdefault(urlsplit(worker).hostname, {}).setdefault(worker, []).append(block)
    return {next(iter(host)): {worker: tuple(some) for worker, some in host.items()} for host in hosts.values()}


def _together(jobs: Sequence[Job], blocks: Sequence[int]) -> list[tuple[Job, list[int]]]:
    """Return the jobs of these blocks, each once with all its blocks."""
    shared: dict[int, tuple[Job, list[int]]] = {}
    for block in blocks:
        shared.setdefault(id(jobs[block]), (jobs[block], []))[1].append(block)
    return list(shared.values())


def _result(call: PendingCall) -> Any:
    """Return the result of a call that is done. `distributed.utils.sync` does not expect that a connection is
    cancelled, and raises UnboundLocalError then: the result is asked for a second time.
    """
    try:
        return call.result(timeout=CALL)
    except UnboundLocalError:
        return call.result(timeout=CALL)


def _checked(answers: dict[K, Any]) -> dict[K, Any]:
    """Return the answers. Raises an error among them, if possible one that is not about a message."""
    errors = [answer for answer in answers.values() if isinstance(answer, TaskflowError)]
    if errors:
        raise min(errors, key=lambda error: isinstance(error, ChannelError))
    return answers


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
