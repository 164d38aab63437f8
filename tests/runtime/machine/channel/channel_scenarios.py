"""What every transport must do, as scenarios: functions of (channel, blocks), played in each block's step thread."""

import contextlib
import threading
import time
from typing import Any

import numpy as np

from taskflow.common.errors import ChannelError
from taskflow.runtime.machine.channel import BlockReducer, Channel, Deadline
from taskflow.runtime.machine.channel.base import LIFELINE

LIMIT = 300.0  # seconds, far more than `SOON`
SIZES = (1, 8, 1000, 8192, 65536, 1_000_003, 8_000_000)


def soon() -> Deadline:
    return Deadline.after(LIMIT)


def content(source: int, target: int, sequence: int, size: int, salt: int = 0) -> np.ndarray:
    """Bytes that no other message has."""
    return np.random.default_rng((source, target, sequence, salt)).integers(0, 256, size, np.uint8)


def peers(channel: Channel, blocks: int) -> list[int]:
    return [block for block in range(blocks) if block != channel.block]


def assert_filled(channel: Channel, peer: int, sequence: int, buffer: np.ndarray) -> None:
    expected = content(peer, channel.block, sequence, buffer.size)
    assert np.array_equal(buffer, expected), f"message {sequence} from {peer}"


def every_size(channel: Channel, blocks: int) -> None:
    """Messages of every size both ways at once; what was sent may be overwritten after its wait."""
    for sequence, size in enumerate(SIZES):
        inboxes = {peer: np.zeros(size, np.uint8) for peer in peers(channel, blocks)}
        outboxes = {peer: content(channel.block, peer, sequence, size) for peer in inboxes}
        coming = [channel.receive(peer, sequence, inbox) for peer, inbox in inboxes.items()]
        going = [channel.send(peer, sequence, outbox) for peer, outbox in outboxes.items()]
        for pending in (*coming, *going):
            pending.wait(soon())
            assert pending.done
        for outbox in outboxes.values():
            outbox[:] = 255
        for peer, inbox in inboxes.items():
            assert_filled(channel, peer, sequence, inbox)


def sends_waited_first(channel: Channel, blocks: int) -> None:
    """Both sides wait for their large sends before their receives: a wait keeps everything moving."""
    for sequence in range(3):
        inboxes = {peer: np.zeros(4_000_000, np.uint8) for peer in peers(channel, blocks)}
        coming = [channel.receive(peer, sequence, inbox) for peer, inbox in inboxes.items()]
        going = [channel.send(peer, sequence, content(channel.block, peer, sequence, 4_000_000)) for peer in inboxes]
        for pending in (*going, *coming):
            pending.wait(soon())
        for peer, inbox in inboxes.items():
            assert_filled(channel, peer, sequence, inbox)


def out_of_order(channel: Channel, blocks: int) -> None:
    """Block 0 sends 0, 1, 2, ..., small and large; block 1 posts in another order, later, and waits in a third."""
    order = [3, 0, 5, 1, 4, 2]
    sizes = [100 if sequence % 2 else 100_000 for sequence in range(6)]
    if channel.block == 0:
        going = [channel.send(1, sequence, content(0, 1, sequence, sizes[sequence])) for sequence in range(6)]
        for pending in reversed(going):
            pending.wait(soon())
    else:
        time.sleep(0.1)
        inboxes = [np.zeros(size, np.uint8) for size in sizes]
        coming = {sequence: channel.receive(0, sequence, inboxes[sequence]) for sequence in order}
        for sequence in reversed(range(6)):
            coming[sequence].wait(soon())
            assert_filled(channel, 0, sequence, inboxes[sequence])


def late_receiver(channel: Channel, blocks: int) -> None:
    """Block 0 overwrites its buffer right after its wait; block 1 receives what was there before, however late."""
    for sequence, size in enumerate((8, 100_000)):
        buffer = content(0, 1, sequence, size)
        if channel.block == 0:
            channel.send(1, sequence, buffer).wait(soon())
            buffer[:] = 0
        else:
            time.sleep(0.2)
            buffer[:] = 0
            channel.receive(0, sequence, buffer).wait(soon())
            assert_filled(channel, 0, sequence, buffer)


def many(channel: Channel, blocks: int) -> None:
    """A thousand messages each way, 25 at a time in flight."""
    peer = 1 - channel.block
    for first in range(0, 1000, 25):
        inboxes = np.zeros((25, 64), np.uint8)
        pending = [channel.receive(peer, first + n, inboxes[n]) for n in range(25)]
        pending += [channel.send(peer, first + n, content(channel.block, peer, first + n, 64)) for n in range(25)]
        for message in pending:
            message.wait(soon())
        for n in range(25):
            assert_filled(channel, peer, first + n, inboxes[n])


def shuffled(channel: Channel, blocks: int) -> None:
    """Ten rounds of 30 messages each way, of any size, posted and waited for in an order of each block's own."""
    peer, mine, sizes = 1 - channel.block, np.random.default_rng(channel.block), np.random.default_rng(99)
    for first in range(0, 300, 30):
        lengths = {first + n: int(10 ** sizes.uniform(0, 5.8)) for n in range(30)}
        inboxes = {sequence: np.zeros(length, np.uint8) for sequence, length in lengths.items()}
        posts = [(post, sequence) for sequence in lengths for post in (channel.receive, channel.send)]
        pending = []
        for n in mine.permutation(len(posts)):
            post, sequence = posts[n]
            sent = content(channel.block, peer, sequence, lengths[sequence])
            pending.append(post(peer, sequence, inboxes[sequence] if post == channel.receive else sent))
        for n in mine.permutation(len(pending)):
            pending[n].wait(soon())
        for sequence, inbox in inboxes.items():
            assert_filled(channel, peer, sequence, inbox)


def lifeline(channel: Channel, blocks: int) -> str:
    """Block 0 awaits something that never comes, exchanges messages as ever, and so learns that block 1 has closed."""
    forever = channel.receive(1, LIFELINE, np.empty(1, np.uint8)) if channel.block == 0 else None
    many(channel, blocks)
    if forever is None:
        time.sleep(0.1)
        channel.close()
        return ""
    deadline = soon()
    while not forever.done and deadline.remaining > 0:
        channel.stop.bell.sleep(1e-3)
    try:
        forever.settle()
    except ChannelError as error:
        return str(error)
    return "no error"


def timeout(channel: Channel, blocks: int) -> float:
    """Nobody sends: returns nothing, raises; block 1 only sees to it that its channel stays open."""
    if channel.block == 1:
        time.sleep(1.0)
    else:
        channel.receive(1, 7, np.zeros(8, np.uint8)).wait(Deadline.after(0.3))
    return 0.0


def stopped(channel: Channel, blocks: int) -> tuple[float, str]:
    """Seconds from the stop to the end of the wait, and the error's words."""
    moment = []

    def stop() -> None:
        moment.append(time.monotonic())
        channel.stop.set("somebody pressed stop")

    timer = threading.Timer(0.3, stop)
    timer.start()
    try:
        channel.receive(1 - channel.block, 7, np.zeros(8, np.uint8)).wait(soon())
    except ChannelError as error:
        return time.monotonic() - moment[0], f"{type(error).__name__}: {error}"
    return LIMIT, "no error"


def closed_by_peer(channel: Channel, blocks: int) -> Any:
    """Block 1 closes, twice, while block 0 waits: seconds until block 0 knows, and how it was told."""
    if channel.block == 1:
        time.sleep(0.3)
        channel.close()
        channel.close()
        return None
    begin = time.monotonic()
    try:
        channel.receive(1, 7, np.zeros(8, np.uint8)).wait(soon())
    except ChannelError as error:
        return time.monotonic() - begin, f"{type(error).__name__}: {error}"
    return LIMIT, "no error"


def closed_meanwhile(channel: Channel, blocks: int) -> tuple[float, str]:
    """Another thread of the block closes the channel while the step thread waits."""
    timer = threading.Timer(0.3, channel.close)
    timer.start()
    begin = time.monotonic()
    try:
        channel.receive(1 - channel.block, 7, np.zeros(8, np.uint8)).wait(soon())
    except ChannelError as error:
        return time.monotonic() - begin, f"{type(error).__name__}: {error}"
    return LIMIT, "no error"


def stopped_while_sending(channel: Channel, blocks: int) -> float:
    """Both blocks give up in the middle of large messages that nobody takes, and close: seconds for that."""
    channel.greet(soon())
    for sequence in range(3):
        channel.send(1 - channel.block, sequence, np.zeros(8_000_000, np.uint8))
    threading.Timer(0.1, channel.stop.set, ("enough",)).start()
    with contextlib.suppress(ChannelError):  # its own stop, or already the news that the peer has closed
        channel.receive(1 - channel.block, 7, np.zeros(8, np.uint8)).wait(soon())
    begin = time.monotonic()
    channel.close()
    return time.monotonic() - begin


def closed_here(channel: Channel, blocks: int) -> None:
    """A closed channel refuses messages instead of waiting for them."""
    channel.close()
    channel.receive(1 - channel.block, 0, np.zeros(8, np.uint8)).wait(soon())


def unknown_peer(channel: Channel, blocks: int) -> None:
    channel.send(99, 0, np.zeros(8, np.uint8))


def too_long(channel: Channel, blocks: int) -> None:
    """Block 0 sends more than block 1 awaits."""
    size = 16 if channel.block == 0 else 8
    post = channel.send if channel.block == 0 else channel.receive
    post(1 - channel.block, 0, np.zeros(size, np.uint8)).wait(Deadline.after(1.0 if channel.block == 0 else LIMIT))


def lonely(channel: Channel, blocks: int) -> Any:
    """Block 1 shall be killed; block 0 waits for a message that never comes."""
    channel.greet(soon())
    if channel.block == 1:
        time.sleep(LIMIT)
    begin = time.monotonic()
    try:
        channel.receive(1, 0, np.zeros(8, np.uint8)).wait(soon())
    except ChannelError as error:
        return time.monotonic() - begin, f"{type(error).__name__}: {error}"
    return LIMIT, "no error"


def talking_to_the_dead(channel: Channel, blocks: int) -> Any:
    """Block 1 shall be killed; block 0 goes on to send large messages to it."""
    channel.greet(soon())
    begin = time.monotonic()
    if channel.block == 1:
        time.sleep(LIMIT)
    try:
        for sequence in range(1000):
            channel.send(1, sequence, np.zeros(1_000_000, np.uint8)).wait(soon())
            time.sleep(0.05)
    except ChannelError as error:
        return time.monotonic() - begin, f"{type(error).__name__}: {error}"
    return LIMIT, "no error"


def two_runs(channel: Channel, blocks: int) -> None:
    """The same sequence numbers again and again, with other contents, as every run has them."""
    salt = sum(channel.run.encode())
    peer = 1 - channel.block
    for sequence in range(50):
        inbox = np.zeros(256, np.uint8)
        coming = channel.receive(peer, sequence, inbox)
        channel.send(peer, sequence, content(channel.block, peer, sequence, 256, salt)).wait(soon())
        coming.wait(soon())
        assert np.array_equal(inbox, content(peer, channel.block, sequence, 256, salt))


def reductions(channel: Channel, blocks: int) -> list[bytes]:
    """Three reductions in a row over any number of blocks; the bits that this block got."""
    allreduce = BlockReducer(channel, blocks)
    mine = np.random.default_rng(channel.block).standard_normal(4) * 10.0 ** (channel.block % 5)
    results = [allreduce(mine, ("max", "min", "sum", "sum"), soon()), allreduce(mine, "sum", soon())]
    mine[1] = np.nan if channel.block == blocks - 1 else -0.0
    results.append(allreduce(mine[:3], ("sum", "max", "min"), soon()))
    return [result.tobytes() for result in results]


def shared_progress(channel: Channel, blocks: int) -> None:
    """Blocks 0 and 2 share a process. Block 1 sends 0 a large message and only then tells 2, which only then tells 0;
    block 0 waits for 2 first. That ends only if waiting for one transport drives the other."""
    size = 16_000_000
    word = np.zeros(8, np.uint8)
    if channel.block == 1:
        channel.send(0, 0, content(1, 0, 0, size)).wait(soon())
        channel.send(2, 0, word).wait(soon())
    elif channel.block == 2:
        channel.receive(1, 0, word).wait(soon())
        channel.send(0, 0, word).wait(soon())
    else:
        inbox = np.zeros(size, np.uint8)
        large = channel.receive(1, 0, inbox)
        channel.receive(2, 0, word).wait(soon())
        large.wait(soon())
        assert_filled(channel, 1, 0, inbox)
