"""A change of the whole process lasts as long as anybody needs it, in whatever order they come and go."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from taskflow.common.sharing import WhileNeeded


@pytest.fixture
def log():
    return []


@pytest.fixture
def change(log):
    @WhileNeeded
    @contextmanager
    def made():
        """Logged."""
        log.append("made")
        yield
        log.append("taken back")

    return made


def test_the_first_makes_it_and_the_last_takes_it_back(change, log):
    with change:
        change.__enter__()
    assert log == ["made"]
    change.__exit__(None, None, None)
    assert log == ["made", "taken back"]
    with change:
        pass
    assert log == 2 * ["made", "taken back"]


def test_threads_share_it(change, log):
    together = threading.Barrier(8, timeout=600)

    def work(_):
        with change:
            together.wait()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert log == ["made", "taken back"]


def test_errors_pass_through(change, log):
    with pytest.raises(ValueError, match="within"), change:
        raise ValueError("within")
    assert log == ["made", "taken back"]
    assert change.__doc__ == "Logged."


def test_one_that_cannot_be_made_is_needed_by_nobody():
    tries = iter([ValueError("not now"), None])

    @WhileNeeded
    @contextmanager
    def change():
        if error := next(tries):
            raise error
        yield

    with pytest.raises(ValueError, match="not now"), change:
        pass
    with change:
        pass
    assert next(tries, "made once more") == "made once more"
