"""A SLURM of one's own: munged, slurmctld and two slurmd as the test user, in a temporary folder, on loopback."""

import getpass
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from taskflow.cases import Case
from tests.data.cases import FOLDER

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol", "scancel", "sinfo")
NODES = 2
MUNGE = ("key-file", "socket", "pid-file", "log-file", "seed-file")
LIMIT = 600.0  # seconds for what takes a few, on a busy machine
PATIENCE = 20.0  # seconds for the daemons to begin

# Every second counts: SLURM's own limits are made for clusters.
CONFIGURATION = """
ClusterName=taskflow
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=1,sched_min_interval=1
GresTypes=gpu
NodeName=node[0-{last}] NodeHostname={host} NodeAddr=127.0.0.1 Port={ports} CPUs={cores} RealMemory=1000 Gres=gpu:2
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""

# Two GPUs for each node, as far as SLURM counts them; any two devices will do.
GPUS = "NodeName=node[0-{last}] Name=gpu File=/dev/null\nNodeName=node[0-{last}] Name=gpu File=/dev/zero\n"


@dataclass(frozen=True)
class Slurm:
    """A SLURM that runs in a folder of its own; commands in this environment talk to it."""

    folder: Path
    environment: dict[str, str]

    def run(self, *words: object, **settings: str) -> tuple[int, str, str]:
        """Exit code, standard output and standard error of a command."""
        command, streams = [str(word) for word in words], {"capture_output": True, "text": True}
        environment = self.environment | settings
        done = subprocess.run(command, env=environment, timeout=LIMIT, cwd=self.folder, check=False, **streams)
        return done.returncode, done.stdout, done.stderr

    def ask(self, *words: object) -> str:
        """What a command of SLURM prints, whether it likes the question or not."""
        return self.run(*words)[1]

    def submit(self, *words: object) -> str:
        """Submit a job with the script of deploy; its number."""
        job = self.ask("sbatch", "--parsable", *words).strip()
        assert job.isdecimal(), self.ask("scontrol", "show", "config")
        return job

    def until(self, job: str, true: Callable[[dict[str, str]], bool]) -> dict[str, str]:
        """What SLURM knows of a job once something is true of it."""
        deadline = time.monotonic() + LIMIT
        while True:
            shown = self.ask("scontrol", "--oneliner", "show", "job", job)
            state = dict(word.partition("=")[::2] for word in shown.split())
            if true(state):
                return state
            assert time.monotonic() < deadline, f"{shown}\n{self.log(job)}"
            time.sleep(0.2)

    def ended(self, job: str) -> dict[str, str]:
        """What SLURM knows of a job that has ended for good."""
        return self.until(job, lambda state: state["JobState"] not in ("PENDING", "RUNNING", "COMPLETING"))

    def log(self, job: str) -> str:
        """What a job has printed."""
        file = self.folder / f"taskflow-{job}.log"
        return file.read_text() if file.exists() else ""


@pytest.fixture(scope="session")
def slurm() -> Iterator[Slurm]:
    """SLURM on this machine, with two nodes. A test that asks for it is skipped where that cannot be."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}:/usr/sbin"}
    missing = [name for name in PROGRAMS if not shutil.which(name, path=environment["PATH"])]
    if missing:
        pytest.skip(f"SLURM is not installed here: there is no {', '.join(missing)}")
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder, ExitStack() as daemons:  # sockets have short names
        here = Slurm(Path(folder), environment | {"SLURM_CONF": f"{folder}/slurm.conf"})
        configure(here.folder)
        for command in (
            ["munged", "--foreground", "--force", *(f"--{name}={folder}/munge.{name}" for name in MUNGE)],
            ["slurmctld", "-D"],
            *(["slurmd", "-D", "-N", f"node{node}"] for node in range(NODES)),
        ):
            daemons.enter_context(running(command, here))
        deadline = time.monotonic() + PATIENCE
        while (shown := here.ask("sinfo", "--noheader", "--format=%D %t").split()) != [str(NODES), "idle"]:
            if time.monotonic() > deadline:
                pytest.skip(f"SLURM does not begin here: {shown}, {(here.folder / 'output').read_text()[-500:]}")
            time.sleep(0.2)
        try:
            yield here
        finally:
            here.ask("scancel", "--user", getpass.getuser())


def configure(folder: Path) -> None:
    """Write what the daemons need to begin."""
    (folder / "state").mkdir()
    key = folder / "munge.key-file"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(1 + NODES)]
        ports = [item.getsockname()[1] for item in sockets]
    (folder / "gres.conf").write_text(GPUS.format(last=NODES - 1))
    (folder / "slurm.conf").write_text(
        CONFIGURATION.format(
            folder=folder,
            user=getpass.getuser(),
            host=socket.gethostname().partition(".")[0],
            port=ports[0],
            ports=",".join(map(str, ports[1:])),
            cores=os.cpu_count(),
            last=NODES - 1,
        )
    )


@contextmanager
def running(command: list[str], slurm: Slurm) -> Iterator[None]:
    """A daemon in the foreground, until it is told to end."""
    with (slurm.folder / "output").open("ab") as output:
        daemon = subprocess.Popen(command, env=slurm.environment, stdout=output, stderr=output, start_new_session=True)
    try:
        time.sleep(0.5)  # one needs the other
        yield
    finally:
        daemon.terminate()
        daemon.wait(LIMIT)


@pytest.fixture(scope="session")
def small_cavity() -> Callable[[int], str]:
    """A case file of so many steps: some hundreds are a second."""
    settings = ("pressure.solver=jacobi", "monitor.every={steps=20}", "output.every={steps=20}", "machine.threads=1")
    file = FOLDER / "small_cavity.toml"
    return lambda steps: Case.load(file, [f"time.steps={steps}", *settings]).to_toml()
