"""Device arrays are copied by the receiver's step thread in a wait; here with a stand-in for the CUDA stream."""

import threading
from typing import Any

import numpy as np
import pytest

from taskflow.common.errors import BadInput, ChannelError
from taskflow.runtime.machine.channel import Deadline, Stop, base
from taskflow.runtime.machine.channel.local import LocalChannel


class DeviceArray(np.ndarray):
    """Host memory that claims to be on a device."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"data": (self.ctypes.data, False)}


def device(values: Any) -> np.ndarray:
    return np.asarray(values, np.uint8).view(DeviceArray)


@pytest.fixture
def copies(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the threads that copied, for each synchronised batch."""
    threads: list[str] = []

    def copy(pairs: Any) -> None:
        threads.append(threading.current_thread().name)
        for target, source in pairs:
            target[:] = source

    monkeypatch.setattr(base, "_copy_on_stream", copy)
    return threads


@pytest.fixture
def pair() -> Any:
    channels = [LocalChannel("device test", block, Stop()) for block in range(2)]
    for channel in channels:
        channel.connect({other.block: other.address() for other in channels if other is not channel})
    yield channels
    for channel in channels:
        channel.close()


def test_the_receiver_copies_in_its_wait(copies: list[str], pair: list[LocalChannel]) -> None:
    inbox = device(np.zeros(4))
    coming = pair[1].receive(0, 0, inbox)
    going = pair[0].send(1, 0, device([1, 2, 3, 4]))
    assert not coming.done
    assert not going.done, "the sender may not go on before the receiver's stream has read its buffer"
    sender = threading.Thread(target=going.wait, args=(Deadline.after(300.0),))
    sender.start()
    coming.wait(Deadline.after(300.0))
    sender.join()
    assert copies == [threading.current_thread().name]
    assert inbox.tolist() == [1, 2, 3, 4]


def test_a_wait_for_one_message_copies_all_that_met(copies: list[str], pair: list[LocalChannel]) -> None:
    inboxes = [device(np.zeros(2)), np.zeros(2, np.uint8)]
    coming = [pair[1].receive(0, sequence, inbox) for sequence, inbox in enumerate(inboxes)]
    going = [pair[0].send(1, sequence, device([sequence, 7])) for sequence in range(2)]
    back = pair[1].send(0, 0, np.ones(1, np.uint8))
    pair[0].receive(1, 0, np.zeros(1, np.uint8)).wait(Deadline.after(300.0))
    back.wait(Deadline.after(300.0))
    coming[1].wait(Deadline.after(300.0))
    assert all(message.done for message in (*coming, *going))
    assert len(copies) == 1, "one batch, one synchronisation"
    assert [inbox.tolist() for inbox in inboxes] == [[0, 7], [1, 7]]


def test_a_copy_that_fails_is_an_error_on_both_sides(monkeypatch: pytest.MonkeyPatch, pair: list[LocalChannel]) -> None:
    def fail(pairs: Any) -> None:
        raise RuntimeError("illegal memory access")

    monkeypatch.setattr(base, "_copy_on_stream", fail)
    coming = pair[1].receive(0, 0, device(np.zeros(4)))
    going = pair[0].send(1, 0, device(np.zeros(4)))
    for message in (coming, going):
        with pytest.raises(ChannelError, match="illegal memory access"):
            message.wait(Deadline.after(300.0))


def test_a_device_message_that_never_was_copied_fails_on_close(pair: list[LocalChannel], copies: list[str]) -> None:
    pair[1].receive(0, 0, device(np.zeros(4)))
    going = pair[0].send(1, 0, device(np.zeros(4)))
    pair[1].close()
    with pytest.raises(ChannelError, match="block 1 closed its channel"):
        going.wait(Deadline.after(300.0))
    assert copies == []


def test_staged_brings_the_bytes_to_the_host(copies: list[str]) -> None:
    host = np.zeros(3, np.uint8)
    assert base.staged(host) is host
    staged = base.staged(device([1, 2, 3]))
    assert not base.on_device(staged)
    assert staged.tolist() == [1, 2, 3]


@pytest.mark.parametrize("wrong", [np.zeros(4), np.zeros((2, 2), np.uint8), np.zeros(8, np.uint8)[::2]])
def test_only_contiguous_bytes_are_messages(wrong: np.ndarray, pair: list[LocalChannel]) -> None:
    with pytest.raises(BadInput, match="contiguous 1-D uint8"):
        pair[0].send(1, 0, wrong)


def test_posting_a_number_twice_is_refused(pair: list[LocalChannel]) -> None:
    pair[0].send(1, 3, np.zeros(1, np.uint8))
    with pytest.raises(ChannelError, match="message 3 from block 0 to block 1 \\(local\\) was posted twice"):
        pair[0].send(1, 3, np.zeros(1, np.uint8))


def test_a_block_opens_once_per_run(pair: list[LocalChannel]) -> None:
    with pytest.raises(ChannelError, match="already open"):
        LocalChannel("device test", 0, Stop())
    pair[0].close()
    LocalChannel("device test", 0, Stop()).close()


def test_connecting_to_a_block_that_is_not_there() -> None:
    channel = LocalChannel("lonely run", 0, Stop())
    with pytest.raises(ChannelError, match="block 1 of this run has no open channel"):
        channel.connect({1: channel.address()})
    channel.close()
