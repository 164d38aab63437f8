"""One worker in this process needs no Dask: its actors, and what becomes of them."""

import asyncio
import os
import signal
import threading
import time

import pytest

from taskflow.common.errors import RunFailed
from taskflow.runtime.cluster import embedded
from taskflow.runtime.cluster.session import distribute
from taskflow.runtime.host import Here, known_workers, remaining_workers, run_on_workers, survey
from taskflow.runtime.host.workers import RETURN
from taskflow.runtime.regions import region
from tests.speed import SOON


class Actor:
    def __init__(self, number, home):
        self.number, self.home = number, home

    async def thread(self):
        return threading.current_thread().name, signal.pthread_sigmask(signal.SIG_BLOCK, ())

    async def fail(self, error):
        raise error

    async def wait(self):
        await asyncio.Event().wait()

    async def deliver(self, value):
        self.number = value


@pytest.fixture
def here():
    with embedded(1, gpu=False) as here:
        yield here


def test_it_is_a_cluster_of_this_process(here):
    assert isinstance(here, Here)
    (address,) = known_workers(here)
    assert remaining_workers(here, (), 1) == [address]
    assert run_on_workers(here, os.getpid, [address]) == {address: os.getpid()}
    (place,) = survey(here, embedded=True)
    assert place.worker == address


def test_a_worker_to_blame_is_not_used_again(here):
    """Nor is another one awaited: nothing replaces this process."""
    begin = time.monotonic()
    with pytest.raises(RunFailed, match="no worker is left"):
        remaining_workers(here, known_workers(here), 1)
    assert time.monotonic() - begin < RETURN


def test_actors_live_on_a_thread_that_signals_spare(here):
    actor = here.submit(Actor, 1, key="a").result(SOON)
    name, blocked = actor.thread().result(SOON)
    assert name != threading.current_thread().name
    assert {signal.SIGINT, signal.SIGTERM, signal.SIGHUP} <= blocked
    error = ValueError("it was told to")
    assert actor.fail(error).exception(SOON) is error


def test_actors_call_each_other_until_they_are_released(here):
    futures = [here.submit(Actor, n, key=f"{n}") for n in range(2)]
    first, second = (future.result(SOON) for future in futures)
    home = first.actor.home
    call = asyncio.run_coroutine_threadsafe(home.call(second.actor.home.address, "1", "deliver", 7), home.loop)
    call.result(SOON)
    assert second.actor.number == 7
    assert home.alone
    assert home.abandoned is None
    here.cancel(futures[:1])
    assert home.abandoned == "its client is gone"
    assert second.actor.home.abandoned is None


def test_the_end_does_not_wait_for_calls():
    with embedded(1, gpu=False) as here:
        actor = here.submit(Actor, 1, key="a").result(SOON)
        waiting = actor.wait()
        begin = time.monotonic()
    assert time.monotonic() - begin < SOON
    assert waiting.cancelled()
    assert "taskflow-actors" not in {thread.name for thread in threading.enumerate()}


def test_only_the_end_of_an_awaited_job_wakes_the_event_loop(monkeypatch):
    """A job that the client awaits there is followed by one that ends before it would."""
    with distribute(region((4, 4, 4), ["a"]), blocks=(1, 1, 1), device="cpu", threads=1) as blocks:
        (leader,) = blocks._group._leaders.values()
        crew, woken = leader.actor._crew, []
        wake = crew._news.set
        monkeypatch.setattr(crew._news, "set", lambda: (woken.append(True), wake()))

        def until_awaited(shard, control):
            end = time.monotonic() + SOON
            while not crew._awaited and time.monotonic() < end:
                time.sleep(0.01)

        blocks.do(until_awaited)
        assert woken == [True]
        blocks.do(lambda shard, control: None)
        assert woken == [True]
