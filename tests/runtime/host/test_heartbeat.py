"""Whether processes are there, as others hear it: those that are busy, stopped, killed, or cannot be heard."""

import contextlib
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from taskflow.runtime.host import heartbeat
from taskflow.runtime.host.heartbeat import TOKEN, Heartbeats, HeartbeatSource, begin_heartbeat
from tests.speed import SOON

WORKER = """
import ctypes, sys
from types import SimpleNamespace
from taskflow.runtime.host import heartbeat

heartbeat.INTERVAL = 0.1
place = heartbeat.begin_heartbeat(SimpleNamespace(address=f"tcp://{sys.argv[1]}:1"))
print(place.port, place.token.hex(), flush=True)
for _ in sys.stdin:
    ctypes.PyDLL(None).sleep(2)  # and the interpreter is held
    print("awake", flush=True)
"""


class Worker:
    """A process with a heartbeat, ten times as fast as usual."""

    address = "tcp://127.0.0.1:1"

    def __init__(self, host="127.0.0.1"):
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen([sys.executable, "-c", WORKER, host], **streams)
        port, token = self.process.stdout.readline().split()
        self.place = HeartbeatSource(int(port), bytes.fromhex(token))

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
def heartbeats():
    result = Heartbeats()
    result.bound = 1.0
    yield result
    result.close()


def watched(heartbeats, seconds):
    """Listen for so long, or until the worker is lost: after which time, and why."""
    begin = time.monotonic()
    while time.monotonic() < begin + seconds:
        time.sleep(0.1)
        if lost := heartbeats.lost([Worker.address]):
            return time.monotonic() - begin, lost[Worker.address]
    return None


def test_a_process_whose_interpreter_is_held_is_heard(alive, heartbeats):
    heartbeats.follow({alive.address: alive.place})
    alive.process.stdin.write("\n")
    alive.process.stdin.flush()
    assert watched(heartbeats, 1.8) is None
    assert alive.process.stdout.readline() == "awake\n"
    assert heartbeats._heartbeats[alive.address].heard


def test_threads_share_heartbeats(alive, heartbeats):
    """Each asks for its own workers; whom another one hears already is heard on."""
    workers = [[f"tcp://127.0.1.{t}:{n}" for n in range(64)] for t in range(4)]
    begin = threading.Barrier(4)

    def follow(mine):
        begin.wait()
        for worker in mine:
            for _ in range(8):
                assert worker in heartbeats.unknown(mine)
            heartbeats.follow({worker: None, alive.address: alive.place})
            assert heartbeats.lost([alive.address]) == {}

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(follow, workers))
    connection = heartbeats._heartbeats[alive.address].connection
    heartbeats.follow({alive.address: alive.place})
    assert heartbeats._heartbeats[alive.address].connection is connection
    assert watched(heartbeats, 0.5) is None


def test_a_client_has_one_however_many_threads_ask():
    class Client:
        pass

    def of(client, begin):
        begin.wait()
        return Heartbeats.of(client)

    with ThreadPoolExecutor(4) as pool:
        for _ in range(200):
            client, begin = Client(), threading.Barrier(4)
            assert len({id(one) for one in pool.map(of, [client] * 4, [begin] * 4)}) == 1


def test_who_looks_often_hears_no_silence(alive, heartbeats):
    heartbeats.follow({alive.address: alive.place})
    assert watched(heartbeats, 0.5) is None
    assert not any(heartbeats.lost([alive.address]) for _ in range(1000))
    assert watched(heartbeats, 0.3) is None


def test_a_process_that_is_stopped_is_lost_after_the_bound(mortal, heartbeats):
    """What came while nobody listened is no silence, and what was sent before the process was stopped is no life."""
    heartbeats.follow({mortal.address: mortal.place})
    assert watched(heartbeats, 0.5) is None
    time.sleep(1.0)
    mortal.process.send_signal(signal.SIGSTOP)
    time.sleep(0.2)
    assert heartbeats.lost([mortal.address]) == {}
    seconds, reason = watched(heartbeats, SOON)
    assert seconds > 0.8
    assert reason == "no sign of life for 1 s"
    assert heartbeats.unknown([mortal.address]) == [mortal.address]


def test_a_process_that_is_killed_is_lost_at_once(mortal, heartbeats):
    heartbeats.bound = 60.0
    heartbeats.follow({mortal.address: mortal.place})
    assert watched(heartbeats, 0.5) is None
    mortal.process.kill()
    _, reason = watched(heartbeats, 20.0)
    assert "process has ended" in reason or "connection broke" in reason


def test_of_who_was_never_heard_nothing_is_said(heartbeats):
    """A firewall takes what is sent, or says no."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        with socket.create_server(("127.0.0.1", 0)) as other:
            closed = other.getsockname()[1]
        places = [HeartbeatSource(port, bytes(TOKEN)) for port in (silent.getsockname()[1], closed)]
        heartbeats.follow({"tcp://127.0.0.1:1": places[0], "tcp://127.0.0.1:2": places[1], "inproc://3": None})
        for _ in range(3):
            time.sleep(0.05)
            assert heartbeats.lost(["tcp://127.0.0.1:1", "tcp://127.0.0.1:2", "inproc://3", "tcp://4"]) == {}


def test_strangers_hear_nothing_and_do_no_harm(alive, heartbeats):
    """They are silent, say something wrong, or half of what is right, and are more than may wait."""
    strangers = [socket.create_connection(("127.0.0.1", alive.place.port)) for _ in range(80)]
    wrong, half, *silent = strangers
    wrong.send(bytes(TOKEN))
    half.send(alive.place.token[:-1])
    heartbeats.follow({alive.address: alive.place})
    assert watched(heartbeats, 0.5) is None
    assert heartbeats._heartbeats[alive.address].heard
    for sent_away in (wrong, *silent[:14]):  # what it said was not right; the first of too many
        with contextlib.suppress(ConnectionResetError):
            assert sent_away.recv(1) == b""
    for waiting in silent[-60:]:
        waiting.setblocking(False)
        with pytest.raises(BlockingIOError):
            waiting.recv(1)
    for stranger in strangers:
        stranger.close()
    assert watched(heartbeats, 1.5) is None


def test_who_shows_the_token_in_pieces_is_heard(alive):
    with socket.create_connection(("127.0.0.1", alive.place.port)) as visitor:
        visitor.send(alive.place.token[:10])
        time.sleep(0.3)
        visitor.send(alive.place.token[10:])
        assert visitor.recv(1) == b"\0"


def test_over_the_other_protocol(heartbeats):
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    address = "tls://[::1]:1"
    heartbeats.follow({address: begin_heartbeat(SimpleNamespace(address=address))})
    until = time.monotonic() + SOON
    while not heartbeats._heartbeats[address].heard:
        assert time.monotonic() < until
        time.sleep(0.05)
        assert heartbeats.lost([address]) == {}


@pytest.mark.parametrize("address", ["inproc://127.0.0.1/1", "tcp://192.0.2.1:1"])
def test_where_there_can_be_none(address):
    """Client and worker are one process; the address is none of this host."""
    assert begin_heartbeat(SimpleNamespace(address=address)) is None


def test_a_process_has_one():
    here = SimpleNamespace(address="tcp://127.0.0.1:1")
    assert begin_heartbeat(here) == begin_heartbeat(here)


def test_without_a_compiler(monkeypatch):
    def none(_):
        raise heartbeat.BadInput("there is no C++ compiler")

    monkeypatch.setattr(heartbeat, "library", none)
    assert begin_heartbeat(SimpleNamespace(address="tcp://localhost:1")) is None
