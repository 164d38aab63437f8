"""Whether processes are there, as others hear it: those that are busy, stopped, killed, or cannot be heard."""

import signal
import socket
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from taskflow.machine import pulse
from taskflow.machine.pulse import Pulses, begin_pulse

WORKER = """
import ctypes, sys
from types import SimpleNamespace
from taskflow.machine import pulse

pulse.INTERVAL = 0.1
print(pulse.begin_pulse(SimpleNamespace(address=f"tcp://{sys.argv[1]}:1")), flush=True)
for _ in sys.stdin:
    ctypes.PyDLL(None).sleep(2)  # and the interpreter is held
    print("awake", flush=True)
"""


class Worker:
    """A process with a pulse, ten times as fast as usual."""

    address = "tcp://127.0.0.1:1"

    def __init__(self, host="127.0.0.1"):
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen([sys.executable, "-c", WORKER, host], **streams)
        self.port = int(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


@pytest.fixture(scope="module")
def alive():
    """One that goes on."""
    with Worker() as worker:
        yield worker


@pytest.fixture
def mortal():
    """One that may die of a test."""
    with Worker() as worker:
        yield worker


@pytest.fixture
def pulses():
    found = Pulses()
    found.bound = 1.0
    yield found
    found.close()


def watched(pulses, seconds):
    """Listen for so long, or until the worker is lost: after which time, and why."""
    begin = time.monotonic()
    while time.monotonic() < begin + seconds:
        time.sleep(0.1)
        if lost := pulses.lost([Worker.address]):
            return time.monotonic() - begin, lost[Worker.address]
    return None


def test_a_process_whose_interpreter_is_held_is_heard(alive, pulses):
    pulses.follow({alive.address: alive.port})
    alive.process.stdin.write("\n")
    alive.process.stdin.flush()
    assert watched(pulses, 1.8) is None
    assert alive.process.stdout.readline() == "awake\n"
    assert pulses._pulses[alive.address].heard


def test_who_looks_often_hears_no_silence(alive, pulses):
    pulses.follow({alive.address: alive.port})
    assert watched(pulses, 0.5) is None
    assert not any(pulses.lost([alive.address]) for _ in range(1000))
    assert watched(pulses, 0.3) is None


def test_a_process_that_is_stopped_is_lost_after_the_bound(mortal, pulses):
    """What came while nobody listened is no silence, and what was sent before the process was stopped is no life."""
    pulses.follow({mortal.address: mortal.port})
    assert watched(pulses, 0.5) is None
    time.sleep(1.0)
    mortal.process.send_signal(signal.SIGSTOP)
    time.sleep(0.2)
    assert pulses.lost([mortal.address]) == {}
    seconds, reason = watched(pulses, 20.0)
    assert 0.8 < seconds < 4.0
    assert reason == "no sign of life for 1 s"
    assert pulses.unknown([mortal.address]) == [mortal.address]


def test_a_process_that_is_killed_is_lost_at_once(mortal, pulses):
    pulses.bound = 60.0
    pulses.follow({mortal.address: mortal.port})
    assert watched(pulses, 0.5) is None
    mortal.process.kill()
    _, reason = watched(pulses, 20.0)
    assert "process has ended" in reason or "connection broke" in reason


def test_of_who_was_never_heard_nothing_is_said(pulses):
    """A firewall takes what is sent, or says no."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        with socket.create_server(("127.0.0.1", 0)) as other:
            closed = other.getsockname()[1]
        pulses.follow({"tcp://127.0.0.1:1": silent.getsockname()[1], "tcp://127.0.0.1:2": closed, "inproc://3": None})
        for _ in range(3):
            time.sleep(0.05)
            assert pulses.lost(["tcp://127.0.0.1:1", "tcp://127.0.0.1:2", "inproc://3", "tcp://4"]) == {}


@pytest.mark.slow
def test_several_listen_and_strangers_do_no_harm(alive, pulses):
    strangers = [socket.create_connection(("127.0.0.1", alive.port)) for _ in range(40)]
    pulses.follow({alive.address: alive.port})
    assert watched(pulses, 0.5) is None
    for stranger in strangers:
        stranger.close()
    assert watched(pulses, 1.5) is None
    assert pulses._pulses[alive.address].heard


def test_over_the_other_protocol(pulses):
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    address = "tls://[::1]:1"
    pulses.follow({address: begin_pulse(SimpleNamespace(address=address))})
    until = time.monotonic() + 20
    while not pulses._pulses[address].heard:
        assert time.monotonic() < until
        time.sleep(0.05)
        assert pulses.lost([address]) == {}


@pytest.mark.parametrize("address", ["inproc://127.0.0.1/1", "tcp://192.0.2.1:1"])
def test_where_there_can_be_none(address):
    """Client and worker are one process; the address is none of this host."""
    assert begin_pulse(SimpleNamespace(address=address)) is None


def test_a_process_has_one():
    here = SimpleNamespace(address="tcp://127.0.0.1:1")
    assert begin_pulse(here) == begin_pulse(here)


def test_without_a_compiler(monkeypatch):
    def none(_):
        raise pulse.BadInput("there is no C++ compiler")

    monkeypatch.setattr(pulse, "library", none)
    assert begin_pulse(SimpleNamespace(address="tcp://localhost:1")) is None
