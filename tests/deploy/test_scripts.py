"""The scripts of deploy: a cluster for the time of one command, on this host, over ssh, with certificates."""

import fcntl
import getpass
import re
import shutil
import socket
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.specifiers import SpecifierSet
from packaging.version import Version

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
SCRIPTS = sorted(DEPLOY.glob("*.sh"))
HERE = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "PYTHONPATH": str(DEPLOY.parent)}
# what a command sees: how many workers, how Dask speaks, on which addresses anything of this cluster listens
LOOK = """
import os, sys
import psutil
from distributed import Client

def listening():
    return {each.laddr for each in psutil.Process().net_connections() if each.status == psutil.CONN_LISTEN}

with Client(scheduler_file=sys.argv[1]) as client:
    workers = client.scheduler_info(n_workers=-1)["workers"]
    found = [client.run_on_scheduler(listening), *client.run(listening).values()]
    assert [len(each) for each in found] == [1] * len(found), found  # Dask itself, and nothing of HTTP
    hosts = {address.ip for each in found for address in each}
    print(len(workers), client.scheduler.address.partition(":")[0], *sorted(hosts))
sys.exit(7)
"""


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_explain_themselves(script):
    done = subprocess.run([script], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("usage")


def look(tmp_path, *words, **settings):
    """What a command sees of the cluster that a script begins for it."""
    file = tmp_path / "scheduler.json"
    python = Path(sys.executable)
    environment = {**HERE, "HOME": str(tmp_path), **settings}
    command = [*words, python, "-c", LOOK, file]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 7, done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    assert not list(tmp_path.glob("scheduler*"))
    return done.stdout.split()


def test_one_cluster_at_a_time_begins_with_a_file(tmp_path):
    """Each removes what one that was killed has left, and would take the certificate of the other for that."""
    file = tmp_path / "scheduler.json"
    with (tmp_path / "scheduler.json.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        command = [DEPLOY / "cluster.sh", file, "cpu", "1", "true"]
        done = subprocess.run(command, capture_output=True, text=True, env={**HERE, "HOME": str(tmp_path)})
    assert (done.returncode, done.stderr) == (2, f"{file}: another cluster begins there; choose another file\n")
    assert [path.name for path in tmp_path.iterdir()] == ["scheduler.json.lock"]


@pytest.mark.slow
def test_a_cluster_lives_as_long_as_its_command(tmp_path):
    """The command sees the workers it was promised, on loopback, and has the certificate without which nobody connects;
    its exit code comes through; nothing is left, nor was what one before left that was killed in the way.
    """
    (tmp_path / "scheduler.json.tls").mkdir()
    (tmp_path / "scheduler.json.tls" / "key.pem").write_text("old")
    assert look(tmp_path, DEPLOY / "cluster.sh", tmp_path / "scheduler.json", "cpu", "2") == ["2", "tls", "127.0.0.1"]


@pytest.mark.slow
def test_a_cluster_without_certificates_is_there_for_who_says_so(tmp_path):
    seen = look(tmp_path, DEPLOY / "cluster.sh", tmp_path / "scheduler.json", "cpu", "1", TLS="off")
    assert seen == ["1", "tcp", "127.0.0.1"]


@pytest.mark.slow
def test_a_cluster_with_certificates(tmp_path):
    subprocess.run([DEPLOY / "certificates.sh", tmp_path / "tls"], check=True, capture_output=True, env=HERE)
    assert (tmp_path / "tls" / "key.pem").stat().st_mode & 0o077 == 0
    seen = look(tmp_path, DEPLOY / "cluster.sh", tmp_path / "scheduler.json", "cpu", "1", TLS=str(tmp_path / "tls"))
    assert seen == ["1", "tls", "127.0.0.1"]


def test_a_folder_without_certificates_is_refused(tmp_path):
    command = [DEPLOY / "cluster.sh", tmp_path / "scheduler.json", "cpu", "1", "true"]
    done = subprocess.run(
        command, capture_output=True, text=True, env={"TLS": str(tmp_path), "PATH": "/usr/bin:/bin"}
    )
    assert done.returncode == 2
    assert "certificates.sh" in done.stderr


@pytest.fixture
def ssh(tmp_path):
    """The command that reaches this machine over ssh, by a server of our own on loopback."""
    server = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin")
    if server is None:
        pytest.skip("there is no sshd here")
    for key in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / key], check=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (tmp_path / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {tmp_path}/host\nAuthorizedKeysFile {tmp_path}/user.pub\n"
        "StrictModes no\nUsePAM no\nPermitRootLogin yes\nPidFile none\n"
    )
    command = (
        f"ssh -p {port} -i {tmp_path}/user -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
    )
    command += f" -o LogLevel=ERROR -l {getpass.getuser()}"
    with (tmp_path / "sshd.log").open("wb") as log:
        daemon = subprocess.Popen([server, "-D", "-e", "-f", tmp_path / "sshd_config"], stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + 60
        while subprocess.run([*command.split(), "localhost", "true"], capture_output=True).returncode:
            if daemon.poll() is not None or time.monotonic() > deadline:
                pytest.skip(f"no ssh to this machine: {(tmp_path / 'sshd.log').read_text()[-300:]}")
            time.sleep(0.1)
        yield command
    finally:
        daemon.terminate()
        daemon.wait(10)


@pytest.mark.slow
def test_a_cluster_over_ssh(tmp_path, ssh):
    """Two hosts, which are this one under two names."""
    words = [DEPLOY / "ssh.sh", "localhost,127.0.0.1", tmp_path / "scheduler.json", "cpu", "1"]
    assert look(tmp_path, *words, SSH=ssh, INTERFACE="lo") == ["2", "tls", "127.0.0.1"]


@pytest.mark.parametrize("cuda", ["12", "13"])
def test_conda_environments_have_what_the_package_asks_for(cuda):
    """Every requirement with the same version; conda's packages do not have CUDA in their names."""
    project = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text())["project"]
    expected = [*project["dependencies"], *project["optional-dependencies"][f"cuda{cuda}"]]
    file = DEPLOY / "conda" / f"cuda{cuda}.yaml"
    environment = yaml.safe_load(file.read_text())
    assert environment["channels"] == ["rapidsai", "conda-forge"]
    *specs, pip = environment["dependencies"]
    assert (file.parent / pip["pip"][0].removeprefix("-e ")).resolve() == DEPLOY.parent  # pip begins in its folder
    result = [re.fullmatch(r"([a-z0-9][a-z0-9-]*)((=|>=)\d+(\.\d+)*)?", spec) for spec in specs]
    assert all(result), specs
    listed = {item[1]: item[0] for item in result}
    assert len(listed) == len(specs)
    assert Version(listed["python"].partition("=")[2]) in SpecifierSet(project["requires-python"])
    for requirement in expected:
        name = re.sub(r"-cuda\d+x|-cu\d+", "", re.match(r"[\w-]+", requirement)[0])
        if name in ("dask", "distributed", "cloudpickle"):  # dask-cuda pins them
            continue
        fixed = "==" in requirement  # one = of conda is an == with .* behind it
        version = re.search(r"\d[\d.]*\d|\d+", re.sub(r"^[\w-]+(\[\w+\])?", "", requirement))[0]
        assert listed[name] == f"{name}{'=' if fixed else '>='}{version}", requirement
    assert listed["cuda-version"] == f"cuda-version={cuda}"
