"""One worker in this process needs no Dask: its actors, and what becomes of them."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import taskflow as tf
from taskflow.runtime.cluster import embedded
from taskflow.runtime.host import Here, known_workers, remaining_workers, run_on_workers, survey
from tests.cases import FOLDER
from tests.speed import SOON

CAVITY = FOLDER / "small_cavity.toml"


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
    with pytest.raises(tf.RunFailed, match="no worker is left"):
        remaining_workers(here, known_workers(here), 0)


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
    call = asyncio.run_coroutine_threadsafe(home.deliver(second.actor.home.address, "1", 7), home.loop)
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


def test_a_run_of_one_block_loads_no_dask(tmp_path):
    """Neither the scheduler nor arrays: who needs them has them loaded later."""
    code = f"""
import sys
import taskflow as tf
case = tf.Case.load({str(CAVITY)!r}, ["time.steps=2", "machine.device=cpu"])
tf.run(case, "run")
with tf.Simulation(case, "simulation") as simulation:
    simulation.step()
print({{name.partition(".")[0] for name in sys.modules}} & {{"dask", "distributed", "xarray", "pandas"}})
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize("channel", ["auto", "actor"])
def test_blocks_of_one_process_compute_as_one_block(tmp_path, channel):
    def fields(name, *settings):
        case = tf.Case.load(CAVITY, ["time.steps=3", "machine.device=cpu", *settings])
        return tf.run(case, tmp_path / name).dataset().isel(time=-1).load()

    one = fields("one")
    two = fields("two", "machine.workers=1", "machine.blocks=[1,1,2]", f"machine.channel={channel}")
    assert one.u.equals(two.u)
