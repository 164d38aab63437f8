"""SLURM jobs with workers, submitted for one run and cancelled after it, by dask-jobqueue."""

from __future__ import annotations

import difflib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from taskflow.common.errors import BadArgument, RunFailed
from taskflow.common.ownership import first_own, weakness
from taskflow.runtime.cluster.certificate import certified
from taskflow.runtime.cluster.dashboard import PRELOAD, pages
from taskflow.runtime.cluster.local import CLIENT, configured, importable_scratch
from taskflow.runtime.host import interruptible, known_workers

if TYPE_CHECKING:
    from distributed import Client

COUNTS = ("gpus", "workers", "per-node", "cores")
DIRECTIVES = ("time", "partition", "account", "qos", "constraint", "reservation", "mem")  # of sbatch, as they are
OPTIONS = (*COUNTS, "interface", *DIRECTIVES)
# What sbatch says, what that means where its words are of its inside, and the remedy.
REFUSALS = (
    (
        r"configuration source|slurm\.conf|resolve .*slurmctld|DNS SRV",
        "SLURM has no configuration on this machine",
        "use it where jobs are submitted, or omit it; if SLURM is elsewhere, set SLURM_CONF to its slurm.conf",
    ),
    (
        r"unable to contact|connection refused|communication.*failure|not responding|timed out",
        "SLURM does not answer",
        "ask again when its controller is up: scontrol ping",
    ),
    (r"authentication|munge|credential", "SLURM does not recognise the user", "start munge: systemctl start munge"),
    (r"invalid partition", None, "give partition=NAME, one that sinfo lists"),
    (r"account|association", None, "give account=NAME and partition=NAME that you may use: sacctmgr show associations"),
    (r"qos", None, "give qos=NAME that you may use"),
    (r"node configuration|generic resource|gres|more processors|memory", None, "ask for fewer gpus, cores or per-node"),
    (r"time limit", None, "give a shorter time=..."),
    (r"reservation", None, "give reservation=NAME, one that scontrol show reservation lists"),
    (r"feature", None, "give constraint=NAME, a feature of nodes that sinfo -o %f lists"),
)
POLL = 1.0  # seconds between two looks at the queue
SUBMITTED = 60.0  # seconds that SLURM may take to accept the jobs
# A worker imports from its scratch folder, too, which Dask would look for where other users could have made it.
SCRATCH = [
    "scratch=$({begin}{python} -P -c 'from taskflow.common.ownership import main; exit(main(\"scratch\"))') || exit 1",
    "trap 'rm -rf \"$scratch\"' EXIT",
    "export DASK_TEMPORARY_DIRECTORY=$scratch",
]


@dataclass(frozen=True)
class Slurm:
    """Request to SLURM for `workers` workers in jobs of `per_node`.

    Parameters
    ----------
    workers : int
    gpu : bool
        Each worker has a GPU.
    per_node : int
        Workers per job.
    cores : int
        Cores per worker.
    interface : str, optional
        Network interface of Dask's connections.
    directives : tuple of (str, str)
        Options of sbatch.
    report : callable, optional
        Called with the current wait, as text.
    """

    workers: int
    gpu: bool
    per_node: int = 1
    cores: int = 1
    interface: str | None = None
    directives: tuple[tuple[str, str], ...] = ()
    report: Callable[[str], object] | None = None

    @classmethod
    def of(cls, text: str) -> Slurm:
        """Parse a request such as "gpus=16,per-node=4,time=2:00:00,partition=short". Raises BadInput if it is invalid.
        """
        words = [word.partition("=") for word in text.split(",") if word.strip()]
        options = {key.strip(): value.strip() for key, _, value in words}
        for key, value in options.items():
            if key not in OPTIONS:
                close = difflib.get_close_matches(key, OPTIONS, 1)
                remedy = f"did you mean {close[0]}?" if close else f"use some of {', '.join(OPTIONS)}"
                raise _refused(key, value, remedy)
            if not value:
                raise _refused(key, value, f"give it a value: {key}=...")
            if key in COUNTS and not re.fullmatch(r"[1-9]\d*", value):
                raise _refused(key, value, "give an integer from 1")
        if ("gpus" in options) == ("workers" in options):
            raise BadArgument("slurm", text, "", "give either gpus=N or workers=N")
        key = "gpus" if "gpus" in options else "workers"
        workers, per_node, cores = (int(options.get(name, 1)) for name in (key, "per-node", "cores"))
        if workers % per_node:
            raise _refused("per-node", str(per_node), f"{key}={workers} is not a multiple of it")
        directives = tuple((name, options[name]) for name in DIRECTIVES if name in options)
        return cls(workers, key == "gpus", per_node, cores, options.get("interface"), directives)

    @property
    def jobs(self) -> int:
        return self.workers // self.per_node


def _refused(key: str, value: str, remedy: str) -> BadArgument:
    return BadArgument("slurm", f"{key}={value}", "", remedy)


@contextmanager
def submitted(slurm: Slurm) -> Iterator[Client]:
    """A client of workers in jobs that are submitted now, once all have connected. Cancels the jobs on leaving.

    Connections are encrypted, with a certificate that lives as long. Raises BadInput where dask-jobqueue or SLURM is
    missing or SLURM refuses the jobs, RunFailed if a job ends before its workers have connected.
    """
    from distributed import Client

    if shutil.which("sbatch") is None:
        remedy = "use it where jobs are submitted, or omit it"
        raise BadArgument("slurm", None, ": there is no sbatch here", remedy)
    # Nodes see the current folder, or could not run this environment either. Nobody else may exchange the key.
    place = first_own((".", Path.home()))
    with (
        tempfile.TemporaryDirectory(prefix=".taskflow-slurm-", dir=place) as folder,
        importable_scratch() as scratch,
        _cluster(slurm, Path(folder), scratch) as cluster,
    ):
        test = _asked("sbatch", "--test-only", text=cluster.job_script())
        if test.returncode:
            said = _last(test.stderr) or f"sbatch ended with {test.returncode} and printed nothing"
            raise BadArgument("slurm", None, *_explained(said))
        cluster.scale(jobs=slurm.jobs)
        with Client(cluster, **CLIENT) as client:
            _wait(cluster, client, slurm, Path(folder))
            yield client


def _cluster(slurm: Slurm, folder: Path, scratch: Path) -> Any:
    import dask

    try:
        with interruptible():
            from dask_jobqueue import SLURMCluster
    except ImportError:
        raise BadArgument("slurm", None, ": dask-jobqueue is not installed", "install taskflow-cfd[slurm]") from None
    except ValueError:  # it installs a handler of SIGINT as it is imported, which other threads may not
        raise BadArgument("slurm", None, " is used in a thread", "import dask_jobqueue in the main thread") from None
    directives = ["--nodes=1", *(f"--{name}={value}" for name, value in slurm.directives)]
    options = ["--memory-limit", "0", "--nthreads", "1", "--no-dashboard", "--dashboard-address", "127.0.0.1:0"]
    options += ["--preload", PRELOAD]
    given = dask.config.get("jobqueue.slurm.local-directory", None)
    words = {"begin": f"TMPDIR={given} " if given else "", "python": shlex.quote(sys.executable)}
    prologue = [*dask.config.get("jobqueue.slurm.job-script-prologue"), *(line.format(**words) for line in SCRATCH)]
    if weakness(Path.cwd()):
        prologue.append("export PYTHONSAFEPATH=1")  # `python -m` imports from the current folder first
    if slurm.gpu:
        directives.append(f"--gpus-per-node={slurm.per_node}")
        options += ["--device-memory-limit", "0"]
    with configured:
        return SLURMCluster(
            cores=slurm.per_node * slurm.cores,
            processes=1 if slurm.gpu else slurm.per_node,  # `dask cuda worker` itself begins one for every GPU
            worker_command="dask cuda worker" if slurm.gpu else "distributed.cli.dask_worker",
            worker_extra_args=options,
            memory="1 GB",  # has to be said, and is skipped, like the half hour that jobs have otherwise
            job_directives_skip=["--mem=", " -t "],
            job_extra_directives=directives,
            job_name="taskflow",
            log_directory=str(folder),
            security=certified(folder),
            interface=slurm.interface,
            scheduler_options={"dashboard_address": pages() or "127.0.0.1:0", "local_directory": str(scratch)},
            job_script_prologue=prologue,
            local_directory="$scratch",
            death_timeout=300,
        )


def _wait(cluster: Any, client: Client, slurm: Slurm, folder: Path) -> None:
    """Return when all workers have connected. Raises RunFailed if a job has ended before."""
    begun = time.monotonic()
    while (come := len(known_workers(client))) < slurm.workers:
        jobs = {job.job_id for job in cluster.workers.values()} - {None}
        if len(jobs) == slurm.jobs:
            queue = _asked("squeue", "--noheader", "--format=%i %T", f"--jobs={','.join(sorted(jobs))}")
            states = dict(line.split() for line in queue.stdout.splitlines())
            if slurm.report is not None:
                running = sum(state == "RUNNING" for state in states.values())
                jobs_begun, workers_there = f"{running} of {slurm.jobs} jobs", f"{come} of {slurm.workers} workers"
                slurm.report(f"SLURM: {jobs_begun} have started, {workers_there} have connected")
            if jobs - states.keys():
                raise RunFailed(f"a SLURM job ended before its workers had connected: {_reason(folder)}")
        elif time.monotonic() > begun + SUBMITTED:
            raise RunFailed(f"SLURM took {len(jobs)} of {slurm.jobs} jobs within {SUBMITTED:g} s")
        time.sleep(POLL)


def _explained(said: str) -> tuple[str, str]:
    """Say why SLURM refused, and what to do, from its words."""
    for sign, meaning, remedy in REFUSALS:
        if re.search(sign, said, re.IGNORECASE):
            return f": {meaning or said}{f' ({said})' if meaning else ''}", remedy
    return f": {said}", "ask for something else"


def _asked(*words: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, input=text, capture_output=True, text=True, check=False)


def _reason(folder: Path) -> str:
    """The last line that a job has written."""
    lines = (_last(path.read_text(errors="replace")) for path in folder.glob("*.err"))
    return next(filter(None, lines), "it printed nothing")


def _last(text: str) -> str:
    """The last line, without the program that says it."""
    lines = text.strip().splitlines()
    return re.sub(r"^((sbatch|allocation failure|error|fatal): *)*", "", lines[-1]) if lines else ""
