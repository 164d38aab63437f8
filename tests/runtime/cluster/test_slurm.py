"""What may be asked of SLURM, and the batch script that comes of it. That it runs is tested in tests/deploy."""

import os
import subprocess
import sys

import dask
import pytest

from taskflow.common.errors import BadInput
from taskflow.runtime.cluster import Slurm
from taskflow.runtime.cluster.slurm import _cluster, submitted


def test_as_many_jobs_as_hold_what_is_asked_for():
    expected = Slurm.of("gpus=16, per-node=4,time=2:00:00,partition=short,interface=ib0,cores=8")
    assert expected == Slurm(16, True, 4, 8, "ib0", (("time", "2:00:00"), ("partition", "short")))
    assert expected.jobs == 4
    assert Slurm.of("workers=3").jobs == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("time=1:00", "either gpus=N or workers=N"),
        ("gpus=2,workers=2", "either gpus=N or workers=N"),
        ("gpu=2", "slurm = gpu=2: did you mean gpus?"),
        ("gpus=2,colour=red", "slurm = colour=red: use some of gpus, workers,"),
        ("gpus=two", "slurm = gpus=two: give an integer from 1"),
        ("gpus=0", "integer from 1"),
        ("gpus=3,per-node=2", "slurm = per-node=2: gpus=3 is not a multiple of it"),
        ("gpus=2,time", "slurm = time=: give it a value"),
        ("", "either gpus=N or workers=N"),
    ],
)
def test_what_cannot_be_asked_for(text, message):
    with pytest.raises(BadInput) as refusal:
        Slurm.of(text)
    assert message in str(refusal.value)


def test_where_there_is_no_slurm(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(BadInput, match="there is no sbatch here"), submitted(Slurm.of("workers=1")):
        pass


@pytest.mark.parametrize(("said", "words"), [
    ("sbatch: fatal: Could not establish a configuration source", "SLURM has no configuration on this machine"),
    ("sbatch: error: slurm_set_addr: Unable to resolve \"slurmctld\"", "SLURM has no configuration on this machine"),
    ("sbatch: error: Unable to contact slurm controller (connect failure)", "SLURM does not answer .*scontrol ping"),
    ("sbatch: error: Munge encode failed: Failed to access socket", "SLURM does not recognise the user .*munge"),
    ("allocation failure: Invalid account or account/partition combination specified", "give account=NAME"),
    ("allocation failure: Requested node configuration is not available", "ask for fewer gpus, cores or per-node"),
    ("allocation failure: Requested time limit is invalid (missing or exceeds some limit)", "give a shorter time="),
    ("", "sbatch ended with 3 and printed nothing; ask for something else"),
    ("something new", "something new; ask for something else"),
])  # fmt: skip
def test_what_sbatch_says_is_told_with_its_remedy(said, words, tmp_path, monkeypatch):
    (tmp_path / "sbatch").write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 3\n")
    (tmp_path / "sbatch").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match=words), submitted(Slurm.of("workers=1")):
        pass


def test_a_job_with_gpus(tmp_path):
    """A GPU has a worker of its own; memory and half an hour, which dask-jobqueue asks for by itself, are not there."""
    with _cluster(Slurm.of("gpus=8,per-node=4,cores=2,qos=high"), tmp_path, tmp_path) as cluster:
        script = cluster.job_script()
        assert cluster.scheduler_address.startswith("tls://")
    directives = {line.removeprefix("#SBATCH ") for line in script.splitlines() if line.startswith("#SBATCH")}
    assert {"--nodes=1", "--qos=high", "--gpus-per-node=4", "--cpus-per-task=8", "-n 1"} <= directives
    assert not [item for item in directives if item.startswith(("--mem", "-t"))]
    command = script.splitlines()[-1]
    for words in (
        "-m dask cuda worker tls://",
        "--memory-limit 0",
        "--device-memory-limit 0",
        f"--tls-key {tmp_path}/key.pem",
    ):
        assert words in command
    assert "--nworkers" not in command


def test_workers_have_no_http_server_and_a_folder_that_nobody_else_writes(tmp_path):
    """What the user's own settings do before workers begin is done, too."""
    with (
        dask.config.set({"jobqueue.slurm.job-script-prologue": ["module load gcc"]}),
        _cluster(Slurm.of("workers=1"), tmp_path, tmp_path) as cluster,
    ):
        script = cluster.job_script()
    *before, command = script.splitlines()
    assert "--preload taskflow.runtime.cluster.dashboard" in command
    assert "module load gcc" in before
    assert "export DASK_TEMPORARY_DIRECTORY=$scratch" in before


INTERRUPTED = """
import signal, sys, threading
from pathlib import Path
from taskflow.common.errors import BadInput
from taskflow.runtime.cluster import Slurm
from taskflow.runtime.cluster.slurm import _cluster

here, usual = Path.cwd(), signal.getsignal(signal.SIGINT)

def begin():
    with _cluster(Slurm.of("workers=1"), here, here):
        pass

def begin_in_a_thread():
    try:
        begin()
    except BadInput as problem:
        print(problem)

thread = threading.Thread(target=begin_in_a_thread)
thread.start()
thread.join()
begin()
assert signal.getsignal(signal.SIGINT) is usual
"""


def test_ctrl_c_acts_as_before(tmp_path):
    """dask-jobqueue installs a handler that ends the process, as it is imported."""
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "slurm is used in a thread; import dask_jobqueue in the main thread\n"
