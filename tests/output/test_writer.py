"""The writer thread: in order, bounded, and honest about failure."""

import errno
import threading
import time

import pytest

from taskflow.common.errors import Lost, RunFailed
from taskflow.output import Writer
from tests.speed import SOON


@pytest.fixture
def gate():
    """An event that jobs wait for; opened at the end, whatever happens, so that no thread stays behind."""
    event = threading.Event()
    yield event
    event.set()


def fail(error: BaseException):
    raise error


def test_jobs_run_in_order_on_another_thread():
    seen, writer = [], Writer(depth=3)
    for n in range(20):
        writer.submit(lambda n=n: seen.append((n, threading.current_thread().name)))
    writer.drain()
    assert seen == [(n, "taskflow-writer") for n in range(20)]
    assert writer.written == 20
    assert writer.close()


def test_no_more_than_depth_jobs_are_unfinished(gate):
    writer = Writer(depth=2)
    writer.submit(gate.wait)
    writer.submit(gate.wait)
    submitted = threading.Event()
    third = threading.Thread(target=lambda: (writer.submit(gate.wait), submitted.set()))
    third.start()
    assert not submitted.wait(0.1)
    gate.set()
    assert submitted.wait(SOON)
    third.join()
    writer.drain()
    assert writer.written == 3
    assert writer.close()


def test_reserve_frees_the_oldest_of_depth_buffers():
    writer, running = Writer(depth=2), set()
    for n in range(30):
        writer.reserve()
        assert n % 2 not in running  # this buffer's last job is done
        running.add(n % 2)
        writer.submit(lambda n=n: (time.sleep(0.001), running.discard(n % 2)))
    assert writer.close()


@pytest.mark.parametrize(("error", "reason"), [
    (OSError(errno.ENOSPC, "No space left on device", "/run/p/c/0"), "No space left on device: /run/p/c/0"),
    (OSError(errno.EIO, "Input/output error"), "Input/output error"),
    (ValueError("a box"), "ValueError: a box"),
    (RunFailed("no room for snapshot 3"), "no room for snapshot 3"),
])
def test_a_failure_is_told_at_the_next_call_and_nothing_more_is_written(error, reason):
    writer, late = Writer(depth=3), []
    writer.submit(lambda: None)
    writer.submit(lambda: fail(error))
    with pytest.raises(RunFailed, match=reason):
        writer.drain()
    with pytest.raises(RunFailed, match=reason):
        writer.submit(lambda: late.append(1))
    with pytest.raises(RunFailed, match=reason):
        writer.reserve()
    assert writer.failure == reason
    assert writer.written == 1
    assert not writer.close()
    assert not late


def test_a_gpu_that_had_the_values_and_is_gone_is_no_failure_to_write():
    writer = Writer()
    writer.submit(lambda: fail(Lost("the GPU could not give its values")))
    for call in (writer.drain, writer.reserve, lambda: writer.failure):
        with pytest.raises(Lost, match=r"^the GPU could not give its values$"):
            call()
    assert not writer.close()


def test_a_failure_wakes_who_waits_for_room(gate):
    writer = Writer(depth=1)
    writer.submit(lambda: (gate.wait(), fail(OSError(errno.ENOSPC, "No space left on device"))))
    threading.Timer(0.05, gate.set).start()
    with pytest.raises(RunFailed, match="No space left"):
        writer.submit(lambda: None)
    writer.close()


def test_a_stuck_disk_is_not_waited_for_for_ever(gate):
    writer = Writer(depth=1, patience=0.05)
    writer.submit(gate.wait)
    with pytest.raises(RunFailed, match="room for one more snapshot"):
        writer.submit(lambda: None)
    with pytest.raises(RunFailed, match="last snapshots"):
        writer.drain()
    assert not writer.close(timeout=0.05)
    gate.set()
    assert writer.close()


def test_close_writes_what_was_handed_over_and_may_be_repeated():
    writer, seen = Writer(depth=5), []
    for n in range(5):
        writer.submit(lambda n=n: (time.sleep(0.002), seen.append(n)))
    assert writer.close()
    assert writer.close()
    assert seen == [0, 1, 2, 3, 4]
    with pytest.raises(RunFailed, match="closed"):
        writer.submit(lambda: seen.append(5))
    writer.drain()


def test_close_wakes_who_waits_for_room(gate):
    writer = Writer(depth=1)
    writer.submit(gate.wait)
    threading.Timer(0.05, lambda: writer.close(timeout=0)).start()
    with pytest.raises(RunFailed, match="closed"):
        writer.submit(lambda: None)
