"""UCX beside strangers: on one host it listens to no network, and between hosts nobody sends in the name of a run."""

import zlib

import numpy as np
import psutil
import pytest
from channel_scenarios import soon
from conftest import needs_ucx

from taskflow.common.errors import ChannelTimeout
from taskflow.runtime.machine.channel import Deadline, Stop
from taskflow.runtime.machine.channel.base import Address
from taskflow.runtime.machine.channel.ucx import UCXChannel

pytestmark = needs_ucx


def ports():
    return {port.laddr for port in psutil.Process().net_connections() if port.status == psutil.CONN_LISTEN}


def open_channels(*named, alone):
    return [UCXChannel(run, block, Stop(), alone=alone) for run, block in named]


@pytest.fixture
def closing():
    channels = []
    yield channels
    for channel in channels:
        channel.close()


@pytest.mark.parametrize("ways", ["tcp", "all"])
def test_on_one_host_it_listens_to_no_network(ways, closing, monkeypatch):
    """Whatever the user's variables say, which are meant for several hosts."""
    monkeypatch.setenv("UCX_TLS", ways)
    monkeypatch.setenv("UCX_NET_DEVICES", "all")
    before = ports()
    closing += open_channels(("one host", 0), ("one host", 1), alone=True)
    assert ports() == before
    for channel in closing:
        channel.connect({other.block: other.address() for other in closing if other is not channel})
    assert ports() == before
    inbox = np.zeros(8, np.uint8)
    coming = closing[0].receive(1, 0, inbox)
    closing[1].send(0, 0, np.arange(8, dtype=np.uint8)).wait(soon())
    coming.wait(soon())
    assert inbox.tolist() == list(range(8))


def test_between_hosts_a_stranger_is_not_received(closing):
    """It knows the address, the numbers of the blocks and of the messages, and a few bits of the run's name."""
    names = (f"cavity {secret:04x}" for secret in range(1 << 16))
    few = {name: zlib.crc32(name.encode()) & 0xFF for name in names}
    name, other = [name for name, bits in few.items() if bits == few["cavity 5c1f"]][:2]
    closing += open_channels((name, 0), (name, 1), (other, 1), alone=False)
    ours, peer, stranger = closing
    ours.connect({1: peer.address()})
    peer.connect({0: ours.address()})
    stranger.connect({0: Address(other, 0, "", ours.address().offers)})
    inbox = np.zeros(8, np.uint8)
    coming = ours.receive(1, 0, inbox)
    strange = stranger.send(0, 0, np.full(8, 255, np.uint8))
    until = Deadline.after(20.0)
    while not strange.done and until.remaining > 0:
        stranger.progress()
        ours.progress()
    assert strange.done  # and is there
    with pytest.raises(ChannelTimeout):
        coming.wait(Deadline.after(0.3))
    assert not inbox.any()
    peer.send(0, 0, np.arange(8, dtype=np.uint8)).wait(soon())
    coming.wait(soon())
    assert inbox.tolist() == list(range(8))
