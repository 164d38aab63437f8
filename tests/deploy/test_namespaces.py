"""Two hosts, as far as the network goes: processes in network namespaces of their own, with a cable between them."""

import json
import os
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

import taskflow
from taskflow.machine.channel.ucx_library import ucx_problem
from taskflow.output import dataset

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]
DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
HOSTS = {"a": "192.168.199.1/24", "b": "192.168.199.2/24"}


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


@pytest.fixture
def hosts():
    """The beginning of a command that runs on each of two hosts, and the network interface that it has there."""
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
        yield {host: (["ip", "netns", "exec", name], wires[host]) for host, name in names.items()}


def test_ucx_carries_halos_between_hosts(hosts, small_cavity, tmp_path):
    """Over TCP, as shared memory would find its way between namespaces; the fields are bitwise those of one process."""
    if ucx_problem() is not None:
        pytest.skip(ucx_problem())
    (tmp_path / "cavity.toml").write_text(small_cavity(60))
    file = tmp_path / "scheduler.json"
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    (first, wire), (second, other_wire) = hosts["a"], hosts["b"]
    environment = {**os.environ, "PATH": path, "UCX_TLS": "tcp", "WORKERS": "2", "INTERFACE": wire}
    command = [*first, DEPLOY / "cluster.sh", file, "cpu", "1", "taskflow", "run", tmp_path / "cavity.toml"]
    command += ["-o", tmp_path / "two", "--scheduler-file", file]
    workers = [*second, DEPLOY / "workers.sh", file, "cpu", "1"]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    there = subprocess.Popen(workers, env=environment | {"INTERFACE": other_wire}, **streams)
    try:
        done = subprocess.run(command, env=environment, timeout=300, check=False, **streams)
    finally:
        there.terminate()
        said, _ = there.communicate(timeout=60)
    assert done.returncode == 0, done.stdout + said
    report = json.loads((tmp_path / "two" / "report.json").read_text())
    assert report["channels"] == ["ucx"]
    addresses = {place["worker"].split("//")[1].rpartition(":")[0] for place in report["hardware"]}
    assert addresses == {address.partition("/")[0] for address in HOSTS.values()}
    case = taskflow.Case.load(tmp_path / "cavity.toml", ["machine.blocks=[1,1,2]", "machine.workers=1"])
    alone = taskflow.run(case, tmp_path / "one").directory
    with dataset(tmp_path / "two" / "fields.zarr") as found, dataset(alone / "fields.zarr") as wanted:
        for name in ("time", "u", "v", "w", "p"):
            np.testing.assert_array_equal(found[name].values, wanted[name].values)
