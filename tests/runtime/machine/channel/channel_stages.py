"""Stages: connected channels for a few blocks, in threads, processes or Dask actors; each block plays a scenario.

A scenario is a function of (channel, blocks), importable by the processes; it runs in the block's step thread.
"""

import asyncio
import itertools
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from taskflow.runtime.machine.channel import Address, Channel, DaskHome, Home, Router, Stop
from taskflow.runtime.machine.channel.actor import ActorChannel
from taskflow.runtime.machine.channel.local import LocalChannel
from taskflow.runtime.machine.channel.peer import PeerChannel
from taskflow.runtime.machine.channel.ucx import UCXChannel

Scenario = Callable[[Channel, int], Any]
SECONDS = 600.0
"""Hard limit of one scenario."""
KILL_AFTER = 1.0
"""Seconds from the start of a scenario to the death of block 1."""
_number = itertools.count()


def fresh_run() -> str:
    return f"run {os.getpid()}-{next(_number)}"


def make(transport: str, run: str, block: int, home: Home | None = None) -> Channel:
    match transport:
        case "local":
            return LocalChannel(run, block, Stop())
        case "peer":
            return PeerChannel(run, block, Stop())
        case "ucx":
            return UCXChannel(run, block, Stop())
        case "actor":
            assert home is not None
            return ActorChannel(run, block, Stop(), home)
        case _:
            return Router(transport, run, block, Stop(), home)


def attempt(scenario: Scenario, channel: Channel, blocks: int) -> Any:
    """The scenario's result, or the exception that ended it."""
    try:
        return scenario(channel, blocks)
    except BaseException as error:
        return error


class Stage(Protocol):
    def play(self, scenario: Scenario, blocks: int = 2) -> list[Any]:
        """Results by block, each a value or an exception; all channels are closed after all blocks have ended."""

    def kill(self, scenario: Scenario) -> Any:
        """The result in block 0 when the process of block 1 is killed while the scenario runs."""

    def close(self) -> None: ...


class ThreadStage:
    """All blocks in this process."""

    def __init__(self, transport: str) -> None:
        self.transport = transport

    def play(self, scenario: Scenario, blocks: int = 2) -> list[Any]:
        channels = [make(self.transport, run, block) for run in [fresh_run()] for block in range(blocks)]
        addresses = {channel.block: channel.address() for channel in channels}
        connect(channels, addresses)
        with ThreadPoolExecutor(blocks) as pool:
            results = list(pool.map(lambda channel: attempt(scenario, channel, blocks), channels, timeout=SECONDS))
        for channel in channels:
            channel.close()
        return results

    def close(self) -> None:
        pass


def connect(channels: list[Channel], addresses: dict[int, Address]) -> None:
    for channel in channels:
        channel.connect({block: address for block, address in addresses.items() if block != channel.block})


class ProcessStage:
    """Two processes: block 1 in one, all others in the other, so that three blocks have both kinds of pair."""

    def __init__(self, transport: str) -> None:
        self.transport = transport
        context = multiprocessing.get_context("spawn")
        self._pipes, self._processes = [], []
        for _ in range(2):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs, transport), daemon=True)
            process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)

    def _home(self, block: int) -> int:
        return int(block == 1)

    def _start(self, scenario: Scenario, blocks: int) -> None:
        run = fresh_run()
        for index, pipe in enumerate(self._pipes):
            pipe.send((run, [block for block in range(blocks) if self._home(block) == index], scenario, blocks))
        addresses: dict[int, Address] = {}
        for pipe in self._pipes:
            addresses |= self._answer(pipe)
        for pipe in self._pipes:
            pipe.send(addresses)
        for pipe in self._pipes:
            assert self._answer(pipe) == "connected"  # before any block closes, as in a run
        for pipe in self._pipes:
            pipe.send("play")

    def _answer(self, pipe: Any) -> Any:
        assert pipe.poll(SECONDS), "a process does not answer"
        return pipe.recv()

    def play(self, scenario: Scenario, blocks: int = 2) -> list[Any]:
        self._start(scenario, blocks)
        results: dict[int, Any] = {}
        for pipe in self._pipes:
            results |= self._answer(pipe)
        for pipe in self._pipes:
            pipe.send("close")
        for pipe in self._pipes:
            assert self._answer(pipe) == "closed"
        return [results[block] for block in range(blocks)]

    def kill(self, scenario: Scenario) -> Any:
        self._start(scenario, 2)
        time.sleep(KILL_AFTER)
        self._processes[1].kill()
        self._processes[1].join(SECONDS)  # as a Nanny does: the kernel lists a dead child until its parent has seen it
        result = self._answer(self._pipes[0])
        self._pipes[0].send("close")
        assert self._answer(self._pipes[0]) == "closed"
        return result[0]

    def close(self) -> None:
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.join(SECONDS)
            assert process.exitcode is not None, "a process does not end"
            process.close()


def _serve(pipe: Any, transport: str) -> None:
    """One process of a `ProcessStage`, until the pipe closes."""
    while True:
        try:
            run, mine, scenario, blocks = pipe.recv()
        except EOFError:
            return
        channels = [make(transport, run, block) for block in mine]
        pipe.send({channel.block: channel.address() for channel in channels})
        connect(channels, pipe.recv())
        pipe.send("connected")
        assert pipe.recv() == "play"
        with ThreadPoolExecutor(max(len(mine), 1)) as pool:
            results = pool.map(lambda channel, s=scenario, n=blocks: attempt(s, channel, n), channels)
            pipe.send(dict(zip(mine, results, strict=True)))
        assert pipe.recv() == "close"
        for channel in channels:
            channel.close()
        pipe.send("closed")


class Player:
    """A Dask actor as the block actor of a run is: async methods, and a step thread."""

    def __init__(self, transport: str, run: str, block: int) -> None:
        self.channel: Any = make(transport, run, block, DaskHome.here())

    async def deliver(self, *message: Any) -> None:
        await self.channel.deliver(*message)

    async def address(self) -> Address:
        return self.channel.address()

    async def connect(self, addresses: dict[int, Address]) -> None:
        connect([self.channel], addresses)

    async def play(self, scenario: Scenario, blocks: int) -> Any:
        return await asyncio.to_thread(attempt, scenario, self.channel, blocks)

    async def close(self) -> None:
        self.channel.close()


class ActorStage:
    """Blocks are Dask actors on the two workers of a local cluster."""

    def __init__(self, transport: str = "actor", processes: bool = True) -> None:
        from distributed import Client, LocalCluster

        self.transport = transport
        options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "processes": processes}
        if processes:
            options |= {"protocol": "tcp://", "host": "127.0.0.1"}
        self._cluster = LocalCluster(**options)
        self._client = Client(self._cluster, direct_to_workers=True)
        self._client.wait_for_workers(2, timeout=SECONDS)

    def _players(self, blocks: int) -> list[Any]:
        workers = sorted(self._client.scheduler_info(n_workers=-1)["workers"])
        run = fresh_run()
        futures = [
            self._client.submit(
                Player, self.transport, run, block, actor=True, pure=False, workers=[workers[block % 2]]
            )
            for block in range(blocks)
        ]
        players = [future.result(timeout=SECONDS) for future in futures]
        addresses = dict(enumerate(self._all([player.address() for player in players])))
        self._all([player.connect(addresses) for player in players])
        return players

    @staticmethod
    def _all(futures: list[Any]) -> list[Any]:
        return [future.result(timeout=SECONDS) for future in futures]

    def play(self, scenario: Scenario, blocks: int = 2) -> list[Any]:
        players = self._players(blocks)
        results = self._all([player.play(scenario, blocks) for player in players])
        self._all([player.close() for player in players])
        return results

    def kill(self, scenario: Scenario) -> Any:
        players = self._players(2)
        result, _ = [player.play(scenario, 2) for player in players]
        pids = self._client.run(os.getpid)
        threading.Timer(KILL_AFTER, os.kill, (pids[sorted(pids)[1]], signal.SIGKILL)).start()
        return result.result(timeout=SECONDS)

    def close(self) -> None:
        self._client.close()
        self._cluster.close()
