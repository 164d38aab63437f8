"""Two hosts, as far as the network goes: processes in network namespaces of their own, with a cable between them."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import psutil
import pytest

import taskflow
from taskflow.output import dataset
from taskflow.runtime.machine.channel.ucx import ucx_problem

GRACE = 60  # seconds to end in order
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
HOSTS = {"a": "192.168.199.1/24", "b": "192.168.199.2/24"}
FIRST = "192.168.199.1"


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


class Hosts:
    """Two of them."""

    def __init__(self, names: dict[str, str], wires: dict[str, str]) -> None:
        self.names, self.wires = names, wires

    def begin(self, host: str, *words: object, **settings: str) -> subprocess.Popen[str]:
        """A command on a host."""
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "UCX_TLS": "tcp", "INTERFACE": self.wires[host], **settings}
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        return subprocess.Popen(["ip", "netns", "exec", self.names[host], *map(str, words)], env=environment, **streams)

    @contextmanager
    def command(self, folder: Path, *words: object) -> Iterator[subprocess.Popen[str]]:
        """A command with `--scheduler-file FILE` behind it, in a cluster that lives as long: scheduler, command and a
        worker on one host, a worker on the other.
        """
        file = folder / "scheduler.json"
        with self._ended(self.begin("b", DEPLOY / "workers.sh", file, "cpu", "1")):
            cluster = [DEPLOY / "cluster.sh", file, "cpu", "1", *words, "--scheduler-file", file]
            with self._ended(self.begin("a", *cluster, WORKERS="2")) as running:
                yield running

    @contextmanager
    def _ended(self, process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.communicate(timeout=GRACE)
            except subprocess.TimeoutExpired:
                for item in [*psutil.Process(process.pid).children(recursive=True), process]:
                    item.kill()
                process.communicate()

    def cut(self) -> None:
        """Take the cable out: nothing arrives any more, and nobody says so."""
        ip("-n", self.names["b"], "link", "set", self.wires["b"], "down")


@pytest.fixture
def hosts() -> Iterator[Hosts]:
    if shutil.which("ip") is None:
        pytest.skip("there is no ip (iproute2) here")
    names = {host: f"taskflow-{os.getpid()}-{host}" for host in HOSTS}
    wires = {host: f"tf{os.getpid()}{host}"[-15:] for host in HOSTS}
    with ExitStack() as stack:
        try:
            for name in names.values():
                ip("netns", "add", name)
                stack.callback(ip, "netns", "delete", name)
            ip("link", "add", wires["a"], "netns", names["a"], "type", "veth", "peer", wires["b"], "netns", names["b"])
            for host, name in names.items():
                ip("-n", name, "address", "add", HOSTS[host], "dev", wires[host])
                for link in ("lo", wires[host]):
                    ip("-n", name, "link", "set", link, "up")
        except subprocess.CalledProcessError as error:
            pytest.skip(f"network namespaces are not permitted here: {error.stderr.strip()}")
        yield Hosts(names, wires)


def assert_same_run(result: Path, file: Path, *settings: str) -> None:
    """A run has left what the same one in one process leaves."""
    case = taskflow.Case.load(file, ["machine.blocks=[1,1,2]", "machine.workers=1", *settings])
    alone = taskflow.run(case, result.with_name("alone")).directory
    with dataset(result / "fields.zarr") as two, dataset(alone / "fields.zarr") as one:
        for name in ("time", "u", "v", "w", "p"):
            np.testing.assert_array_equal(two[name].values, one[name].values)


def test_ucx_carries_halos_between_hosts(hosts, small_cavity, tmp_path):
    """Over TCP, as shared memory would find its way between namespaces; the fields are bitwise those of one process."""
    if ucx_problem() is not None:
        pytest.skip(ucx_problem())
    (tmp_path / "cavity.toml").write_text(small_cavity(60))
    with hosts.command(tmp_path, "taskflow", "run", tmp_path / "cavity.toml", "-o", tmp_path / "two") as running:
        said, _ = running.communicate()
    assert running.returncode == 0, said
    report = json.loads((tmp_path / "two" / "report.json").read_text())
    assert report["channels"] == ["ucx"]
    addresses = {place["worker"].split("//")[1].rpartition(":")[0] for place in report["hardware"]}
    assert addresses == {address.partition("/")[0] for address in HOSTS.values()}
    assert_same_run(tmp_path / "two", tmp_path / "cavity.toml")


@pytest.mark.parametrize(("channel", "steps"), [("ucx", 1500), ("actor", 200)])
def test_a_host_that_vanishes_is_missed_in_seconds_and_done_without(channel, steps, hosts, small_cavity, tmp_path):
    """Connections to it stay open for minutes as far as the system knows. The run goes on with both blocks on one."""
    if channel == "ucx" and ucx_problem() is not None:
        pytest.skip(ucx_problem())
    (tmp_path / "cavity.toml").write_text(small_cavity(steps))
    settings = ("checkpoint.every={steps=40}", f'machine.channel="{channel}"')
    words = ["-o", tmp_path / "two", *(word for setting in settings for word in ("--set", setting))]
    with hosts.command(tmp_path, "taskflow", "run", tmp_path / "cavity.toml", *words) as running:
        until = time.monotonic() + 200
        while not list((tmp_path / "two").glob("checkpoints/step-*")):
            assert running.poll() is None, running.communicate()
            assert time.monotonic() < until
            time.sleep(0.05)
        hosts.cut()
        cut, said = time.monotonic(), ""
        while "the run restarts from step" not in said:
            line = running.stdout.readline()
            assert line, said
            said += line
        missed = time.monotonic() - cut
        rest, _ = running.communicate()
    assert running.returncode == 0, said + rest
    assert "no sign of life for 4 s" in said
    assert missed < 15  # and blocks have been ended that still answered
    report = json.loads((tmp_path / "two" / "report.json").read_text())
    assert len(report["restarts"]) == 1
    assert {place["worker"].split("//")[1].rpartition(":")[0] for place in report["hardware"]} == {FIRST}
    assert_same_run(tmp_path / "two", tmp_path / "cavity.toml")
