"""The Dask actor that owns one block. Its methods are asynchronous and short; the block works, one job after the other,
on a thread of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import secrets
import sys
import time
import traceback
import weakref
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal

from taskflow.common.errors import ChannelError, Lost, RunFailed, TaskflowError
from taskflow.common.sharing import WhileNeeded
from taskflow.runtime.machine.channel import SPIN, Address, Deadline, Home, Router, Stop
from taskflow.runtime.machine.device import Device, gpu_lost, hush, open_device
from taskflow.runtime.machine.kernel import never_spin
from taskflow.runtime.machine.shard import PATIENCE, Shard
from taskflow.runtime.machine.trace.mapper import Mapper
from taskflow.runtime.regions import Partition

State = Literal["new", "ready", "running", "finished", "failed"]
SWITCH = 1e-4  # seconds: a busy Python thread gives way to the event loop this often, for status() to come in time
LOOK = 0.5  # seconds between two looks at whether anybody is left who wants what the job computes


@dataclass(frozen=True)
class Status:
    """The report of a block: its state, the progress its job last reported, and the error that ended it."""

    state: State
    progress: Mapping[str, Any]
    error: TaskflowError | None = None
    failed_at: float = 0.0


@dataclass(eq=False)
class Control:
    """The messages between a job and its actor: the job reports, the actor asks it to stop after the present step.
    `kept` is what a job leaves on the block for jobs after it.
    """

    progress: Mapping[str, Any] = field(default_factory=dict)
    stop: bool = False
    kept: dict[str, Any] = field(default_factory=dict)

    def report(self, **progress: Any) -> None:
        """Replace what status() tells."""
        self.progress = progress


Job = Callable[[Shard, Control], Any]
"""A job of a block with its shard. All blocks have to do jobs together: a job may exchange messages."""


@dataclass(frozen=True)
class Plan:
    """The plan that every block of a run has to know. Picklable. `job` is the control program that each block runs on
    its shard, `ordinals` the number of each block's GPU among those of its process: by default the first.
    Blocks wait `patience` seconds for each other; they alone know the `token`. If they are `crowded`, with more threads
    than cores on a host, they sleep as soon as they wait: what they wait for needs the core.
    """

    run: str
    partition: Partition
    device: Literal["cpu", "gpu"]
    threads: int
    channel: str
    mapper: Mapper
    patience: float = PATIENCE
    ordinals: tuple[int, ...] = ()
    crowded: bool = False
    token: str = field(default_factory=secrets.token_hex)

    @property
    def talk(self) -> str:
        """The name of the run among its blocks: nobody else knows it, and can send or receive in its name."""
        return f"{self.run} {self.token}"


@WhileNeeded
@contextlib.contextmanager
def _prompt() -> Iterator[None]:
    """The process is one of blocks: its busy threads give way soon, and it does not look for garbage in all that was
    imported, which takes 0.1 s, for which every block would wait. What others have frozen before stays as it is.
    """
    usual, freeze = sys.getswitchinterval(), not gc.get_freeze_count()
    sys.setswitchinterval(min(SWITCH, usual))
    if freeze:
        gc.collect()
        gc.freeze()
    try:
        yield
    finally:
        if freeze:
            gc.unfreeze()
        sys.setswitchinterval(usual)


class BlockActor:
    """The actor of one block. Calls in order: address, perhaps widen, connect; per job start, status as often as one
    likes, result; close. stop and abort at any time. After a job that failed only close is left.
    """

    def __init__(self, plan: Plan, block: int) -> None:
        self.plan, self.block = plan, block
        self.state: State = "new"
        self.error: TaskflowError | None = None
        self.failed_at = 0.0
        self._kept: dict[str, Any] = {}
        self.control = Control(kept=self._kept)
        self._home = Home.here()
        self._stop = Stop(spin=0.0 if plan.crowded else SPIN)
        self._channel: Router | None = None
        self._device: Device | None = None
        self._shard: Shard | None = None
        self._result: Any = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"taskflow-block-{block}")
        self._running: asyncio.Future[None] | None = None
        self._guard: asyncio.Task[None] | None = None
        _prompt.__enter__()
        self._leave = weakref.finalize(self, _prompt.__exit__)  # not every actor that was made is closed

    async def address(self) -> Address:
        """Open device and channels; return how other blocks reach this one. Raises BadInput where there is none."""
        return await self._on_thread(self._open)

    async def widen(self) -> Address:
        """Offer what is slow to load, too; return how other blocks reach this one now."""
        channel = self._opened()
        await self._on_thread(channel.widen)
        return channel.address()

    async def connect(self, addresses: Mapping[int, Address]) -> dict[int, str]:
        """Connect to other blocks; returns the transport to each."""
        channel = self._opened()
        await self._on_thread(channel.connect, addresses)
        self.state = "ready"
        return channel.routes

    async def start(self, job: Job) -> None:
        """Begin a job; returns at once. Raises RunFailed where the last one has not ended well."""
        if self.state not in ("ready", "finished"):
            raise RunFailed(f"block {self.block} cannot begin anything: it is {self.state}")
        self.state, self.control, self._result = "running", Control(kept=self._kept), None
        self._running = asyncio.wrap_future(self._thread.submit(self._run, job))
        self._guard = asyncio.create_task(self._end_if_abandoned(self._running))

    async def status(self, patience: float = 0.0) -> Status:
        """Return how the job is doing: at once when it has ended, else after so many seconds."""
        if patience and self._running is not None and not self._running.done():
            await asyncio.wait([self._running], timeout=patience)
        return Status(self.state, self.control.progress, self.error, self.failed_at)

    async def result(self) -> Any:
        """Return the job's result. Can be had once."""
        result, self._result = self._result, None
        return result

    async def deliver(self, *message: Any) -> None:
        """Take a message of the channel that consists of actor calls."""
        await self._opened().deliver(*message)

    async def stop(self) -> None:
        """Ask the job to end after the present step, on all blocks."""
        self.control.stop = True

    async def abort(self, reason: str) -> None:
        """End every wait of the job with Aborted(reason)."""
        self._stop.set(reason)

    async def close(self, timeout: float = 10.0) -> None:
        """Abort what still runs and give everything back: the job's thread first, then the channels. Idempotent."""
        if self._running is not None and not self._running.done():
            self._stop.set("the run was closed")
            await asyncio.wait([self._running], timeout=timeout)
        self._leave()
        if self._shard is not None and self.state == "finished":
            with contextlib.suppress(RunFailed, TimeoutError):  # another block may be gone, which the run has survived
                await asyncio.wait_for(self._on_thread(self._shard.close), timeout)
        if self._channel is not None:
            channel, self._channel = self._channel, None
            await asyncio.wait_for(asyncio.to_thread(channel.close), timeout)
        self._kept.clear()
        self._shard = self._result = None
        self._thread.shutdown(wait=False)

    async def _end_if_abandoned(self, running: asyncio.Future[None]) -> None:
        """End the job if nobody is left who wants it: nobody tells an actor that its client has vanished."""
        while not running.done():
            if reason := self._home.abandoned:
                self._stop.set(f"block {self.block} was abandoned: {reason}")
                return
            await asyncio.wait([running], timeout=LOOK)

    async def _on_thread(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *arguments)

    def _open(self) -> Address:
        ordinal = self.plan.ordinals[self.block] if self.plan.ordinals else 0
        if self.plan.crowded:
            never_spin()
        self._device = open_device(self.plan.device, self.plan.threads, ordinal)
        self._channel = Router(self.plan.channel, self.plan.talk, self.block, self._stop, self._home)
        return self._channel.address()

    def _opened(self) -> Router:
        if self._channel is None:
            raise RunFailed(f"block {self.block} has no open channel")
        return self._channel

    def _ready(self) -> Shard:
        """The shard; made, once the other blocks are there, for the first job."""
        if self._device is None or self._channel is None:
            raise RunFailed(f"block {self.block} was started before it was connected")
        if self._shard is None:
            plan = self.plan
            self._channel.greet(Deadline.after(plan.patience))
            self._shard = Shard(plan.partition, self.block, self._device, self._channel, plan.mapper, plan.patience)
        return self._shard

    def _run(self, job: Job) -> None:
        try:
            shard = self._ready()
            self._result = job(shard, self.control)
            shard.finish()
            self.state = "finished"
        except ChannelError as error:  # of another block
            self._fail(error)
        except Lost as error:
            hush()
            self._fail(Lost(f"block {self.block}: {error}"))
        except TaskflowError as error:
            self._fail(error)
        except MemoryError as error:
            self._fail(RunFailed(f"block {self.block} has not enough memory: {error}"))
        except BaseException as error:  # SystemExit, too, of a program that gives up: nobody else would hear of it
            self._fail(self._unforeseen(error))
        if self.state == "failed" and self._shard is not None:
            self._shard.abandon()

    def _unforeseen(self, error: BaseException) -> TaskflowError:
        text = f"block {self.block}: {type(error).__name__}: {error}"
        if gpu_lost(error):
            hush()
            return Lost(text)
        failure = RunFailed(text)
        failure.add_note(traceback.format_exc())  # it travels to the client, the traceback itself does not
        return failure

    def _fail(self, error: TaskflowError) -> None:
        """Note the error, without the frames that it came through: they would keep the fields, as Dask keeps actors."""
        error.__traceback__ = error.__cause__ = error.__context__ = None
        self.failed_at = time.time()
        self.error = error
        self.state = "failed"
