"""Every port that a run opens: whoever has no certificate and no token gets nothing there, and changes nothing."""

import json
import os
import socket
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import psutil
import pytest

import taskflow as tf
from taskflow.runtime.cluster import embedded
from taskflow.runtime.cluster.certificate import make
from taskflow.runtime.host import survey
from taskflow.runtime.machine.channel.ucx import ucx_problem

BOX = tf.region((8, 6, 10), {"a": tf.Field("single")})
NOBODY = 65534
SAID = (b"", bytes(64), os.urandom(64), b"GET /info/main/workers.html HTTP/1.1\r\nHost: localhost\r\n\r\n")
REFUSED = b"the certificate was refused"
SILENCE = 0.7  # seconds in which a heart would beat
CHANNELS = ["auto", *(["ucx"] if ucx_problem() is None else [])]

# Another user of this host, who has seen the names of sockets, and where the certificate is.
STRANGER = """
import json, os, socket, sys
user, doors, folders = json.loads(sys.argv[1])
if user is not None:
    os.setgroups([]); os.setgid(user); os.setuid(user)
for door in doors:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as call:
        call.settimeout(0.5)
        call.connect(chr(0) + door)
        try:
            call.send(b"let me in")
            assert call.recv(1) == b"", "it was let in"
        except (ConnectionResetError, BrokenPipeError, TimeoutError):
            pass
for folder in folders:
    try:
        os.listdir(folder)
    except PermissionError:
        continue
    sys.exit(f"{folder} can be read")
"""


def family():
    """This process and those that it began: other tests of this host open and close ports of their own meanwhile."""
    here = psutil.Process()
    return [here, *here.children(recursive=True)]


def listening():
    """Where this family listens, by address, with the socket's owner."""
    result = {}
    for process in family():
        for item in process.net_connections("inet"):
            if item.status == psutil.CONN_LISTEN or (item.type == socket.SOCK_DGRAM and not item.raddr):
                result[item.laddr] = process.pid
    return result


def doors():
    """Names of this family's sockets in the abstract namespace, at which blocks wait for peers."""
    sockets = (item.laddr for process in family() for item in process.net_connections("unix"))
    return {name.removeprefix("@") for name in sockets if name.startswith("@taskflow-")}


def shared():
    """Memory with a name that this family has mapped and that others of this host could open."""
    mapped = {Path(item.path) for process in family() for item in process.memory_maps()}
    return {path for path in mapped & set(Path("/dev/shm").iterdir()) if path.stat().st_mode & 0o077}


def answer(address, *said, wrap=None):
    """All that comes back within a while from a port where somebody says this, or connects with this certificate."""
    with socket.create_connection(address, timeout=SILENCE) as plain:
        try:
            connection = wrap(plain) if wrap else plain
            with connection:
                for words in said:
                    connection.sendall(words)
                result = b""
                while more := connection.recv(4096):
                    result += more
                return result
        except TimeoutError:
            return b""
        except OSError:  # hung up; or the certificate was refused
            return REFUSED if wrap else b""


@pytest.fixture(scope="module")
def impostor(tmp_path_factory):
    """How somebody connects who has a certificate of his own."""
    folder = tmp_path_factory.mktemp("impostor")
    make(folder, 1)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context.wrap_socket


def test_a_stranger_finds_no_door_open(impostor):
    """Whatever carries the messages: the same cluster has blocks with one channel after the other."""
    before, known = listening(), doors()
    with embedded(2, gpu=False) as client:
        for channel in CHANNELS:
            options = {"device": "cpu", "threads": 1, "blocks": (1, 1, 2), "channel": channel}
            with tf.distribute(BOX, client=client, **options) as blocks:
                blocks.fill(a=1.5)
                assert_closed(client, before, impostor)
                opened = doors() - known
                assert channel == "ucx" or len(opened) == 2  # one for each block
                stranger(opened, folders(client))
                assert not shared()
                np.testing.assert_array_equal(blocks.read("a"), np.full((10, 6, 8), 1.5))
    assert not set(listening()) - set(before)


def assert_closed(client, before, impostor):
    """Every port that was not there before is one of Dask or a heartbeat, on loopback, and answers no stranger."""
    ports = {address: pid for address, pid in listening().items() if address not in before}
    assert {address.ip for address in ports} == {"127.0.0.1"}
    workers = client.scheduler_info()["workers"]
    nannies = {worker["nanny"] for worker in workers.values()}
    dask = {urlsplit(address).port for address in (client.scheduler.address, *workers, *nannies)}
    assert len(dask) == 5
    assert dask <= {address.port for address in ports}
    others = [address for address in ports if address.port not in dask]
    assert len(others) == 2  # a heartbeat for each worker; nothing of HTTP, nor of UCX
    assert {ports[address] for address in others} == set(client.run(os.getpid).values())

    with ThreadPoolExecutor(len(ports)) as pool:
        for heard in pool.map(lambda address: [answer(address, words) for words in SAID], ports):
            assert {words[:1] for words in heard} <= {b"", b"\x15"}  # at most an alert of TLS
        refused = pool.map(lambda port: answer(("127.0.0.1", port), b"hello", wrap=impostor), dask)
        assert set(refused) == {REFUSED}


def folders(client):
    """Where the workers keep their files."""
    return set(client.run(lambda dask_worker: str(Path(dask_worker.local_directory).parents[1])).values())


def stranger(doors, folders):
    """Sockets that hang up, folders that cannot be read. Only root can become somebody else."""
    assert all(Path(folder).stat().st_mode & 0o077 == 0 for folder in folders)
    if os.getuid() == 0:
        words = json.dumps([NOBODY, sorted(doors), sorted(folders)])
        done = subprocess.run([sys.executable, "-S", "-c", STRANGER, words], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_a_cluster_in_this_process_listens_nowhere():
    before = listening()
    with embedded(1, gpu=False) as client:
        assert survey(client, embedded=True)
        assert set(listening()) == set(before)


def page(port, **headers):
    """The status that the page of the scheduler has for a browser which says this."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}/health", headers=headers)
    try:
        with urllib.request.urlopen(request) as result:
            return result.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_who_asks_for_the_pages_of_the_scheduler_has_them_here_alone(monkeypatch):
    """A page from elsewhere whose name leads here, or which asks from elsewhere, gets nothing."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    monkeypatch.setenv("TASKFLOW_DASHBOARD", str(port))
    before = listening()
    with embedded(1, gpu=False):
        assert [tuple(address) for address in listening() if address not in before] == [("127.0.0.1", port)]
        assert page(port) == page(port, Host=f"localhost:{port}") == 200
        assert page(port, Origin=f"http://127.0.0.1:{port}") == 200
        assert page(port, Host="rebound.example") == page(port, Host=f"127.0.0.1.example:{port}") == 404
        assert page(port, Origin="http://elsewhere.example") == page(port, Origin="null") == 404


def test_a_port_that_is_none(monkeypatch):
    monkeypatch.setenv("TASKFLOW_DASHBOARD", "localhost:8787")
    with pytest.raises(tf.BadInput, match="TASKFLOW_DASHBOARD=localhost:8787; give a port"), embedded(1, gpu=False):
        pass
