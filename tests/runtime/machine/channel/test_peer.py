"""What is peculiar to shared memory: its rings, its door, and that nothing of it is left behind."""

import contextlib
import gc
import os
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import channel_scenarios as scenarios
import numpy as np
import pytest
from channel_stages import ThreadStage
from test_channels import played
from test_device_buffers import device

from taskflow.common.errors import ChannelError
from taskflow.runtime.machine.channel import Channel, Deadline, Stop, base, peer, stop
from taskflow.runtime.machine.channel.peer import PeerChannel, call, peer_problem
from taskflow.runtime.machine.channel.peer_ring import open_segment, segment_bytes
from tests.speed import SOON

pytestmark = pytest.mark.skipif(peer_problem() is not None, reason=str(peer_problem()))
RING = segment_bytes() // 2


def soon() -> Deadline:
    return Deadline.after(20.0)


@pytest.fixture
def pair() -> Iterator[list[PeerChannel]]:
    """Two blocks that have met, both in this process."""
    channels = [PeerChannel("peer test", block, Stop()) for block in range(2)]
    for channel in channels:
        channel.connect({other.block: other.address() for other in channels if other is not channel})
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda channel: channel.greet(soon()), channels))
    yield channels
    for channel in channels:
        channel.close()


def bytes_of(seed: int, size: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, size, np.uint8)


def test_blocks_of_one_process_may_use_it_too() -> None:
    stage = ThreadStage("peer")
    played(stage.play(scenarios.every_size, 3))
    played(stage.play(scenarios.sends_waited_first))
    played(stage.play(scenarios.reductions, 3))


def test_every_sleeper_is_woken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the slices of a sleep, a bell that nobody rings would stop everything: for room, and for bytes."""
    monkeypatch.setattr(stop, "SLICE", 300.0)
    begin = time.monotonic()
    stage = ThreadStage("peer")
    played(stage.play(scenarios.sends_waited_first, 3))
    played(stage.play(scenarios.late_receiver))
    played(stage.play(scenarios.many))
    played(stage.play(larger_than_the_ring))
    assert time.monotonic() - begin < SOON


def larger_than_the_ring(channel: Channel, blocks: int) -> None:
    """The ring of block 0 is full, and block 0 asleep, when block 1 begins to receive."""
    message = bytes_of(0, 5 * RING)
    if channel.block == 0:
        channel.send(1, 0, message).wait(soon())
    else:
        time.sleep(0.2)
        inbox = np.zeros(message.size, np.uint8)
        channel.receive(0, 0, inbox).wait(soon())
        np.testing.assert_array_equal(inbox, message)


def test_messages_of_any_size_go_round_the_ring(pair: list[PeerChannel]) -> None:
    """Sizes from nothing to beyond the ring, whose end the messages cross at every position."""
    rng = np.random.default_rng(7)
    sizes = [0, 1, RING - 16, RING, RING + 1, *(int(10**power) for power in rng.uniform(0, 6.3, 80))]

    def send() -> None:
        for sequence, size in enumerate(sizes):
            pair[0].send(1, sequence, bytes_of(sequence, size)).wait(soon())

    with ThreadPoolExecutor(1) as pool:
        sending = pool.submit(send)
        for sequence, size in enumerate(sizes):
            inbox = np.zeros(size, np.uint8)
            pair[1].receive(0, sequence, inbox).wait(soon())
            np.testing.assert_array_equal(inbox, bytes_of(sequence, size))
        sending.result()


def test_what_nobody_awaits_stays_in_the_ring(pair: list[PeerChannel]) -> None:
    """A peer that runs ahead waits, instead of filling the memory of the other."""
    sent = [pair[0].send(1, sequence, bytes_of(sequence, RING // 4)) for sequence in range(8)]
    for _ in range(50):
        pair[0].progress()
        pair[1].progress()
    assert [message.done for message in sent] == [True] * 3 + [False] * 5
    for sequence in range(8):
        inbox = np.zeros(RING // 4, np.uint8)
        coming = pair[1].receive(0, sequence, inbox)
        while not coming.done:
            pair[0].progress()
            pair[1].progress()
        np.testing.assert_array_equal(inbox, bytes_of(sequence, RING // 4))
    assert all(message.done for message in sent)


def test_another_size_than_awaited_is_an_error_either_way(pair: list[PeerChannel]) -> None:
    for sequence, (sent, awaited) in enumerate([(16, 8), (8, 16)]):
        pair[0].send(1, sequence, np.zeros(sent, np.uint8)).wait(soon())
        with pytest.raises(ChannelError, match=f"block 1 \\(peer\\): {sent} bytes were sent, {awaited} expected"):
            pair[1].receive(0, sequence, np.zeros(awaited, np.uint8)).wait(soon())


def test_posting_a_number_twice_is_refused(pair: list[PeerChannel]) -> None:
    pair[1].receive(0, 3, np.zeros(1, np.uint8))
    with pytest.raises(ChannelError, match="message 3 from block 0 to block 1 \\(peer\\) was posted twice"):
        pair[1].receive(0, 3, np.zeros(1, np.uint8))


def test_what_came_before_a_farewell_is_still_received(pair: list[PeerChannel]) -> None:
    for sequence in range(2):
        pair[0].send(1, sequence, bytes_of(sequence, 1000)).wait(soon())
    pair[0].close()
    for sequence in (1, 0):
        inbox = np.zeros(1000, np.uint8)
        pair[1].receive(0, sequence, inbox).wait(soon())
        np.testing.assert_array_equal(inbox, bytes_of(sequence, 1000))
    with pytest.raises(ChannelError, match="message 2 from block 0 to block 1 \\(peer\\): block 0 closed its channel"):
        pair[1].receive(0, 2, np.zeros(1, np.uint8)).wait(soon())
    with pytest.raises(ChannelError, match="block 0 closed its channel"):
        pair[1].send(0, 0, np.zeros(1, np.uint8)).wait(soon())


def test_a_peer_that_is_gone_before_one_connects() -> None:
    channels = [PeerChannel("late test", block, Stop()) for block in range(2)]
    address = channels[1].address()
    channels[1].close()
    channels[0].connect({1: address})
    with pytest.raises(ChannelError, match="block 1 closed its channel or died before"):
        channels[0].greet(soon())
    channels[0].close()


@pytest.mark.parametrize("words", [b"another run\x001", b"peer test\x007", b"peer test\x000", b"\xff"])
def test_strangers_are_turned_away(words: bytes, pair: list[PeerChannel]) -> None:
    """Another run, a block that was not connected, one that has come already, and nonsense."""
    segment = open_segment()
    bell = call(pair[1].address().offers["peer"].door, words, segment)
    os.close(segment)
    bell.settimeout(600.0)
    timer = threading.Timer(0.05, pair[0].send, (1, 0, bytes_of(0, 10)))
    timer.start()
    inbox = np.zeros(10, np.uint8)
    pair[1].receive(0, 0, inbox).wait(soon())
    timer.join()
    np.testing.assert_array_equal(inbox, bytes_of(0, 10))
    pair[1].arm()
    assert bell.recv(1) == b""
    bell.close()


def test_memory_that_cannot_be_mapped_is_an_error_with_names() -> None:
    """As between different versions: the segment is smaller than it should be."""
    channels = [PeerChannel("small test", block, Stop()) for block in range(2)]
    channels[1].connect({0: channels[0].address()})
    segment = os.memfd_create("too small")
    os.ftruncate(segment, 4096)
    bell = call(channels[1].address().offers["peer"].door, b"small test\x000", segment)
    os.close(segment)
    with pytest.raises(ChannelError, match="block 1 cannot share memory with block 0: mmap length is greater"):
        channels[1].greet(soon())
    bell.close()
    for channel in channels:
        channel.close()


def test_another_user_is_turned_away(pair: list[PeerChannel], monkeypatch: pytest.MonkeyPatch) -> None:
    segment = open_segment()
    bell = call(pair[1].address().offers["peer"].door, b"peer test\x000", segment)
    os.close(segment)
    monkeypatch.setattr(peer.os, "getuid", lambda: 12345)
    assert pair[1]._door.answer() is None
    bell.settimeout(600.0)
    with contextlib.suppress(ConnectionResetError):  # what it said was not even read
        assert bell.recv(1) == b""
    bell.close()


def test_another_user_who_is_silent_is_not_waited_for(pair: list[PeerChannel], monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as silent:
        silent.connect(f"\0{pair[1].address().offers['peer'].door}")
        monkeypatch.setattr(peer.os, "getuid", lambda: 12345)
        begin = time.monotonic()
        assert pair[1]._door.answer() is None
        assert time.monotonic() - begin < SOON


def test_memory_is_not_brought_to_another_user(pair: list[PeerChannel], monkeypatch: pytest.MonkeyPatch) -> None:
    """Who may have taken the name of a door whose block has died."""
    segment = open_segment()
    monkeypatch.setattr(peer.os, "getuid", lambda: 12345)
    with pytest.raises(PermissionError, match="a process of user"):
        call(pair[1].address().offers["peer"].door, b"peer test\x000", segment)
    os.close(segment)


def test_nothing_is_left_behind() -> None:
    def held() -> tuple[int, int, set[Path]]:
        maps = Path("/proc/self/maps").read_text().count("taskflow-peer")
        return len(list(Path("/proc/self/fd").iterdir())), maps, set(Path("/dev/shm").glob("*taskflow*"))

    def use() -> None:
        stops = [Stop(), Stop()]
        channels = [PeerChannel("tidy test", block, stop) for block, stop in enumerate(stops)]
        for channel in channels:
            channel.connect({other.block: other.address() for other in channels if other is not channel})
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda channel: channel.greet(soon()), channels))
        assert held()[1] == 2
        for channel in channels:
            channel.close()

    gc.collect()  # what other tests have left is not closed meanwhile
    before = held()
    use()
    assert held() == before


def test_device_buffers_go_through_host_memory(pair: list[PeerChannel], monkeypatch: pytest.MonkeyPatch) -> None:
    def on_stream(pairs: list[tuple[np.ndarray, np.ndarray]]) -> None:
        for target, source in pairs:
            target[:] = source

    monkeypatch.setattr(base, "_copy_on_stream", on_stream)
    inbox, outbox = device(np.zeros(1000)), device(bytes_of(1, 1000))
    coming = pair[1].receive(0, 0, inbox)
    pair[0].send(1, 0, outbox).wait(soon())
    outbox[:] = 0
    coming.wait(soon())
    np.testing.assert_array_equal(np.asarray(inbox), bytes_of(1, 1000))


def test_without_a_boot_identity_there_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> str:
        raise FileNotFoundError("no /proc here")

    monkeypatch.setattr(peer, "host", missing)
    assert peer.peer_problem.__wrapped__() == "this system does not let processes share memory (no /proc here)"
