"""Runs in an allocation of a SLURM that really runs here: to the end, past a time limit, after a lost node."""

import shutil
import time
from pathlib import Path

import numpy as np
import pytest

import taskflow
from taskflow.output import dataset, read_log

pytestmark = pytest.mark.slow
SCRIPT = Path(__file__).resolve().parents[2] / "deploy" / "slurm.sh"
NODES = ("--nodes=2", "--ntasks-per-node=1")
STEPS = 1500  # seconds of it are left when something happens
ENDLESS = ("--set", "time.steps=1000000")


@pytest.fixture
def case(slurm, small_cavity, request) -> Path:
    """A case file in the folder of the jobs, for this test alone."""
    path = slurm.folder / f"{request.node.originalname}.toml"
    path.write_text(small_cavity(STEPS))
    return path


@pytest.fixture(scope="module")
def undisturbed(small_cavity, tmp_path_factory) -> Path:
    """The same run, on as many blocks in this process."""
    folder = tmp_path_factory.mktemp("undisturbed")
    (folder / "cavity.toml").write_text(small_cavity(STEPS))
    settings = ["machine.blocks=[1,1,2]", "machine.workers=1"]
    return taskflow.run(taskflow.Case.load(folder / "cavity.toml", settings), folder / "cavity").directory


def assert_same_run(directory: Path, other: Path) -> None:
    """Both runs have written the same."""
    with dataset(directory / "fields.zarr") as result, dataset(other / "fields.zarr") as expected:
        for name in ("time", "u", "v", "w", "p"):
            np.testing.assert_array_equal(result[name].values, expected[name].values)
    assert [line["step"] for line in read_log(directory / "log.jsonl")] == list(range(0, STEPS + 1, 20))


def begun(slurm, job: str, case: Path, what: str = "log.jsonl") -> None:
    """Wait until the run of a job has done its first steps, and written something."""
    log, expected = case.with_suffix("") / "log.jsonl", case.with_suffix("")
    slurm.until(job, lambda _: log.exists() and log.read_bytes().count(b"\n") > 3 and any(expected.glob(what)))


def test_a_run_on_two_nodes(slurm, case, undisturbed):
    job = slurm.submit(*NODES, SCRIPT, case)
    assert slurm.ended(job)["ExitCode"] == "0:0", slurm.log(job)
    assert_same_run(case.with_suffix(""), undisturbed)
    assert "2 workers (cpu) on node[0-1]" in slurm.log(job)
    assert "Traceback" not in slurm.log(job)
    assert not list(slurm.folder.glob(".taskflow-*"))


DASK = """#!/usr/bin/env bash
[[ $1 == cuda ]] || exec {dask} "$@"
echo "$CUDA_VISIBLE_DEVICES: $*" >>{log}
exec {dask} worker "${{@:3:$(($# - 4))}}" --nworkers 2 --nthreads 1
"""


def test_a_worker_for_every_gpu(slurm, case, tmp_path):
    """SLURM has GPUs to give, this machine has none: `dask cuda worker` is one of ours, which begins others instead."""
    log = tmp_path / "asked"
    (tmp_path / "dask").write_text(DASK.format(dask=shutil.which("dask", path=slurm.environment["PATH"]), log=log))
    (tmp_path / "dask").chmod(0o755)
    path = f"{tmp_path}:{slurm.environment['PATH']}"
    steps = ("--set", "time.steps=20", "--set", "machine.device=cpu")
    _, out, err = slurm.run("sbatch", "--parsable", "--nodes=2", "--gpus-per-node=2", SCRIPT, case, *steps, PATH=path)
    job = out.strip()
    assert job.isdecimal(), err
    assert slurm.ended(job)["ExitCode"] == "0:0", slurm.log(job)
    assert "4 workers (gpu) on node[0-1]" in slurm.log(job)
    asked = log.read_text().splitlines()
    assert len(asked) == 2
    for line in asked:
        assert line.startswith("0,1: cuda worker --scheduler-file ")
        assert line.endswith(" --device-memory-limit 0")


def test_before_its_time_is_over_the_run_saves_its_state_and_the_job_is_queued_again(slurm, case, undisturbed):
    """The signal is the one that --signal=B:TERM asks for."""
    job = slurm.submit(*NODES, SCRIPT, case)
    begun(slurm, job, case)
    slurm.ask("scancel", "--batch", "--signal=TERM", job)
    slurm.until(job, lambda state: state["Restarts"] == "1")
    assert "stopped by SIGTERM" in slurm.log(job)
    assert slurm.ended(job)["ExitCode"] == "0:0", slurm.log(job)
    assert slurm.log(job).count("attempt 2") == 1
    assert_same_run(case.with_suffix(""), undisturbed)


def test_a_run_that_lost_a_node_goes_on_when_the_node_is_back(slurm, case, undisturbed):
    job = slurm.submit(*NODES, SCRIPT, case, "--set", "checkpoint.every={steps=40}")
    begun(slurm, job, case, "checkpoints/step-*")
    slurm.ask("scontrol", "update", "nodename=node1", "state=down", "reason=test")
    slurm.until(job, lambda state: state["Restarts"] == "1")
    slurm.ask("scontrol", "update", "nodename=node1", "state=resume")
    assert slurm.ended(job)["ExitCode"] == "0:0", slurm.log(job)
    assert_same_run(case.with_suffix(""), undisturbed)


def test_a_run_that_is_stopped_for_good_is_not_queued_again(slurm, case):
    job = slurm.submit(*NODES, SCRIPT, case, *ENDLESS)
    begun(slurm, job, case)
    slurm.ask("scancel", "--batch", "--signal=USR1", job)
    assert slurm.ended(job)["ExitCode"] == "75:0"
    time.sleep(1.0)
    assert slurm.ended(job)["Restarts"] == "0"
    assert list(case.with_suffix("").glob("checkpoints/step-*"))


def test_a_run_that_fails_is_not_queued_again(slurm, case):
    job = slurm.submit(*NODES, SCRIPT, case, "--set", "time.steps=none")
    state = slurm.ended(job)
    assert (state["ExitCode"], state["Restarts"]) == ("2:0", "0")
    assert "time.steps" in slurm.log(job)


def test_a_run_that_submits_its_own_jobs(slurm, case, undisturbed):
    code, out, err = slurm.run("taskflow", "run", case, "--slurm", "workers=2,time=10")
    assert (code, err) == (0, "")
    assert "SLURM: " in out
    assert_same_run(case.with_suffix(""), undisturbed)
    assert slurm.ask("squeue", "--noheader") == ""
    assert not list(slurm.folder.glob(".taskflow-slurm-*"))


def test_jobs_that_slurm_refuses_are_told_at_once(slurm, case):
    code, _, err = slurm.run("taskflow", "run", case, "--slurm", "workers=2,partition=none")
    remedy = "give partition=NAME, one that sinfo lists"
    assert (code, err) == (2, f"Error: --slurm: Invalid partition name specified; {remedy}\n")
    assert not case.with_suffix("").exists()


def test_jobs_that_end_before_their_workers_come(slurm, case):
    """Python is not where it was when they begin."""
    settings = {"DASK_JOBQUEUE__SLURM__PYTHON": "/no/such/python"}
    code, _, err = slurm.run("taskflow", "run", case, "--slurm", "workers=1", **settings)
    assert code == 1
    assert "a SLURM job ended before its workers had connected: " in err
    assert "/no/such/python" in err
