"""The actor that owns one block, in a Dask worker or in the process of the client. Its methods are short. The block
does its jobs sequentially on a separate thread.
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
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal

from taskflow.common.errors import ChannelError, Lost, RunFailed, TaskflowError
from taskflow.common.sharing import WhileNeeded
from taskflow.runtime.machine.channel import FEW, SPIN, Address, Deadline, Home, Router, Stop
from taskflow.runtime.machine.device import Device, gpu_lost, hush, open_device
from taskflow.runtime.machine.kernel import never_spin
from taskflow.runtime.machine.shard import PATIENCE, Shard
from taskflow.runtime.machine.trace.mapper import Mapper
from taskflow.runtime.regions import Partition

State = Literal["new", "ready", "running", "finished", "failed"]
SWITCH = 1e-4  # seconds after which a busy Python thread yields to the event loop, so that status() is answered in time
OWN_FROZEN = 1000  # Python 3.12 starts with some hundreds of frozen objects; a process that froze its own has more


@dataclass(frozen=True)
class Status:
    """State of a block, the last progress that its job reported, and the error that ended it."""

    state: State
    progress: Mapping[str, Any]
    error: TaskflowError | None = None
    failed_at: float = 0.0


@dataclass(eq=False)
class Control:
    """Communication between a job and its actor: the job reports progress, the actor requests a stop after the current
    step. `kept` stores what a job leaves on the block for later jobs.
    """

    progress: Mapping[str, Any] = field(default_factory=dict)
    stop: bool = False
    kept: dict[str, Any] = field(default_factory=dict)

    def report(self, **progress: Any) -> None:
        """Replace the progress that status() returns."""
        self.progress = progress


Job = Callable[[Shard, Control], Any]
"""A job of a block, called with its shard. Collective: a job may exchange messages."""


@dataclass(frozen=True)
class Plan:
    """Common description of a run, for every block. Picklable.

    `ordinals` gives each block's GPU among the GPUs of its process, by default the first. Blocks wait `patience`
    seconds for each other. Only they have the `token`. If they are `crowded`, with more threads than cores on a host, a
    waiting thread sleeps immediately: the work it waits for needs the core.
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
        """Name of the run among its blocks. It is secret, so no other process can send or receive in its name."""
        return f"{self.run} {self.token}"


@WhileNeeded
@contextlib.contextmanager
def prompt() -> Iterator[None]:
    """Make the process responsive while it hosts blocks: busy threads yield soon, and garbage collection skips imported
    objects, which takes 0.1 s and would delay every block. Objects that others have frozen stay frozen.
    """
    usual, freeze = sys.getswitchinterval(), gc.get_freeze_count() < OWN_FROZEN
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


def ease(threads: int) -> None:
    """Let more than FEW threads of blocks yield less often: every thread that waits for the interpreter wakes up after
    each interval, only to ask for it.
    """
    if threads > FEW:
        sys.setswitchinterval(max(sys.getswitchinterval(), SWITCH * threads))


class BlockActor:
    """The actor of one block. Order of calls: address, optionally widen, connect. Per job: begin, result. At the end:
    close. stop and abort are allowed at any time. After a failed job only close is.

    `near`: the number of blocks of the run in this process.
    """

    def __init__(self, plan: Plan, block: int, home: Home, near: int) -> None:
        self.plan, self.block, self._near = plan, block, near
        self.state: State = "new"
        self.error: TaskflowError | None = None
        self.failed_at = 0.0
        self._kept: dict[str, Any] = {}
        self.control = Control(kept=self._kept)
        self._home = home
        self._stop = Stop(0.0 if plan.crowded else SPIN, near)
        self._channel: Router | None = None
        self._device: Device | None = None
        self._shard: Shard | None = None
        self._result: Any = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"taskflow-block-{block}")
        self._running: Future[None] | None = None
        prompt.__enter__()
        self._leave = weakref.finalize(self, prompt.__exit__)  # an actor may be dropped without `close`

    async def address(self) -> Address:
        """Open device and channels, and return the address of this block. Raises BadInput if one is not available."""
        return await self._on_thread(self._open)

    async def widen(self) -> Address:
        """Also offer transports that are slow to load, and return the new address of this block."""
        channel = self._opened()
        await self._on_thread(channel.widen)
        return channel.address()

    async def connect(self, addresses: Mapping[int, Address]) -> dict[int, str]:
        """Connect to other blocks, and return the transport to each."""
        channel = self._opened()
        await self._on_thread(channel.connect, addresses)
        self.state = "ready"
        return channel.routes

    def begin(self, job: Job, note: Callable[[BlockActor], None]) -> Future[None]:
        """Start a job on the thread of the block, which calls `note` at its end. Raises RunFailed unless the block is
        connected and its last job succeeded.
        """
        if self.state not in ("ready", "finished"):
            raise RunFailed(f"block {self.block} cannot begin anything: it is {self.state}")
        self.state, self.control, self._result = "running", Control(kept=self._kept), None
        self._running = self._thread.submit(self._run, job, note)
        return self._running

    @property
    def present(self) -> Status:
        return Status(self.state, self.control.progress, self.error, self.failed_at)

    async def result(self) -> Any:
        """Return the job's result, and release it."""
        result, self._result = self._result, None
        return result

    async def deliver(self, *message: Any) -> None:
        """Accept a message of the channel that consists of actor calls."""
        await self._opened().deliver(*message)

    async def stop(self) -> None:
        """Request the job to end after the current step, on all blocks."""
        self.control.stop = True

    async def abort(self, reason: str) -> None:
        """End every wait of the job with Aborted(reason)."""
        self._stop.set(reason)

    async def close(self, timeout: float = 10.0) -> None:
        """Abort a running job and release everything: the job's thread first, then the channels. Idempotent."""
        if self._running is not None and not self._running.done():
            self._stop.set("the run was closed")
            await asyncio.wait([asyncio.wrap_future(self._running)], timeout=timeout)
        self._leave()
        if self._shard is not None and self.state == "finished":
            with contextlib.suppress(RunFailed, TimeoutError):  # another block may have exited after a successful run
                await asyncio.wait_for(self._on_thread(self._shard.close), timeout)
        if self._channel is not None:
            channel, self._channel = self._channel, None
            try:
                await asyncio.wait_for(asyncio.to_thread(channel.close), timeout)
            except RuntimeError:  # the interpreter ends, and Python 3.12 starts no thread
                channel.close()
        self._kept.clear()
        self._shard = self._result = None
        self._thread.shutdown(wait=False)

    async def _on_thread(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *arguments)

    def _open(self) -> Address:
        ordinal = self.plan.ordinals[self.block] if self.plan.ordinals else 0
        if self.plan.crowded:
            never_spin()
        self._device = open_device(self.plan.device, self.plan.threads, ordinal)
        together = self._near == len(self.plan.partition)
        local = together and self.plan.device == "cpu" and self.plan.channel == "auto"
        channel = "local" if local else self.plan.channel  # others take time to load, and files of every block
        self._channel = Router(channel, self.plan.talk, self.block, self._stop, self._home)
        return self._channel.address()

    def _opened(self) -> Router:
        if self._channel is None:
            raise RunFailed(f"block {self.block} has no open channel")
        return self._channel

    def _ready(self) -> Shard:
        """Return the shard. The first job creates it, once the other blocks have connected."""
        if self._device is None or self._channel is None:
            raise RunFailed(f"block {self.block} was started before it was connected")
        if self._shard is None:
            plan = self.plan
            self._channel.greet(Deadline.after(plan.patience))
            self._shard = Shard(plan.partition, self.block, self._device, self._channel, plan.mapper, plan.patience)
        return self._shard

    def _run(self, job: Job, note: Callable[[BlockActor], None]) -> None:
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
        except BaseException as error:  # also SystemExit, which would otherwise go unreported
            self._fail(self._unforeseen(error))
        if self.state == "failed" and self._shard is not None:
            self._shard.abandon()
        note(self)

    def _unforeseen(self, error: BaseException) -> TaskflowError:
        text = f"block {self.block}: {type(error).__name__}: {error}"
        if gpu_lost(error):
            hush()
            return Lost(text)
        failure = RunFailed(text)
        failure.add_note(traceback.format_exc())  # notes are pickled, tracebacks are not
        return failure

    def _fail(self, error: TaskflowError) -> None:
        """Record the error without its frames: they would keep the fields alive, as Dask keeps actors."""
        error.__traceback__ = error.__cause__ = error.__context__ = None
        self.failed_at = time.time()
        self.error = error
        self.state = "failed"
