"""Threads for short work, and the same results at the end of the interpreter, when no thread can be started."""

import threading

import pytest

from taskflow.common import pool as module
from taskflow.common.pool import Pool


@pytest.mark.parametrize("ends", [False, True])
def test_work_is_done_and_errors_are_raised(ends, monkeypatch):
    monkeypatch.setattr(module, "ending", threading.Event())

    def work(number):
        return number**2, threading.current_thread() is threading.main_thread()

    def refused(_):
        raise RuntimeError("can't create new thread at interpreter shutdown")

    if ends:
        module.ending.set()
        monkeypatch.setattr(threading.Thread, "start", refused)
    with Pool(2) as pool:
        assert [*pool.map(work, range(5))] == [(n**2, ends) for n in range(5)]
        failed = pool.submit(int, "one")
        with pytest.raises(ValueError, match="one"):
            failed.result()
