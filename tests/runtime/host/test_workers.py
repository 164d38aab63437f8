"""Asking a scheduler that may have gone; it is played."""

import asyncio
import gc
from contextlib import suppress
from types import SimpleNamespace

import pytest

from taskflow.common.errors import RunFailed
from taskflow.runtime.host import known_workers, run_on_workers

SOME = {"tcp://a": {"nanny": None}}


class Client:
    """Has lost the scheduler for so many looks."""

    def __init__(self, *states, answer=None):
        self._states, self._answer = list(states), answer
        self.scheduler = SimpleNamespace(identity="identity")

    @property
    def status(self):
        return self._states.pop(0) if len(self._states) > 1 else self._states[0]

    def sync(self, function, n_workers, callback_timeout):
        assert (function, n_workers) == ("identity", -1)
        if isinstance(self._answer, Exception):
            raise self._answer
        return {"workers": self._answer}


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    monkeypatch.setattr(known_workers.__globals__["time"], "sleep", lambda _: None)


def test_one_that_comes_back_is_waited_for():
    assert known_workers(Client("connecting", "connecting", "running", answer=SOME)) == SOME


@pytest.mark.parametrize(("client", "words"), [
    (Client("connecting", "connecting", "closed"), "the scheduler has exited"),
    (Client("running", answer=TimeoutError("30 s")), "the scheduler does not answer .*30 s"),
], ids=["gone", "silent"])  # fmt: skip
def test_one_that_does_not(client, words):
    with pytest.raises(RunFailed, match=words):
        known_workers(client)


def test_a_worker_that_loads_libraries_is_waited_for(monkeypatch):
    """On a busy host for longer than the scheduler, while its heartbeats are heard."""

    class Slow:
        def sync(self, function, *arguments):
            return asyncio.run(function(*arguments))

        async def run(self, function, workers):
            await asyncio.sleep(0.1)
            return dict.fromkeys(workers, function())

    heard = SimpleNamespace(lost=lambda _: {})
    monkeypatch.setitem(run_on_workers.__globals__, "ANSWER", 0.001)
    asked = run_on_workers.__globals__["_asked"]
    assert asked(Slow(), lambda: 3, {"tcp://a": {}}, heard) == {"tcp://a": 3}


def test_calls_end_with_the_one_that_awaits_them():
    """A signal cancels it. A call that failed later, as the client closes, would be a traceback on the terminal."""
    gathered, reports = run_on_workers.__globals__["_gathered"], []

    async def fail(worker):
        await asyncio.sleep(0.05)
        raise OSError(f"{worker} is closed")

    async def interrupted():
        asyncio.get_running_loop().set_exception_handler(lambda _, report: reports.append(report))
        waiting = asyncio.ensure_future(gathered(fail, ["tcp://a", "tcp://b"], SimpleNamespace(lost=lambda _: {})))
        await asyncio.sleep(0.01)
        waiting.cancel()
        with suppress(asyncio.CancelledError):
            await waiting
        await asyncio.sleep(0.1)

    asyncio.run(interrupted())
    gc.collect()
    assert reports == []
