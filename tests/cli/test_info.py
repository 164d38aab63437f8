"""`taskflow info`: a machine, and runs in every state."""

import json
import shutil

import pytest

import taskflow
from tests.locks import ALIVE, ANOTHER, ELSEWHERE, GONE, write_lock


def test_this_machine(give):
    result = give("info")
    assert (result.exit_code, result.stderr) == (0, "")
    assert f"taskflow {taskflow.__version__}" in result.stdout
    for word in ("python", "numpy", "cores", "memory", "compiler", "GPUs", "ucxx", "dask-cuda"):
        assert word in result.stdout


def test_without_compiler_and_gpus(give, monkeypatch):
    from taskflow.runtime.host import inventory
    from taskflow.runtime.machine.kernel import compile_host

    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("CXX", "")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.setattr(inventory, "compiler", compile_host.compiler.__wrapped__)
    told = give("info").stdout
    assert "there is no C++ compiler" in told
    assert "no GPU is visible" in told


def test_a_finished_run(give, run_directory):
    result = give("info", run_directory)
    assert result.exit_code == 0
    for word in (
        f"{run_directory}: A small cavity",
        "finished at time",
        "after 40 steps",
        "100% of the way to 40 steps",
        "3, from time 0",
        "16 x 2 x 16 cells in 1 x 1 x 1 blocks, double precision",
        "1 block on",
        "T_eff",
        "cavity.toml --quiet",
    ):
        assert word in result.stdout


def test_rows_are_json_for_programs(give, refused, run_directory, tmp_path):
    result = json.loads(give("info", run_directory, "--json").stdout)
    assert result["heading"] == f"{run_directory}: A small cavity"
    rows = {row["label"]: row["text"] for row in result["rows"]}
    assert rows["reached"].endswith("100% of the way to 40 steps")
    machine = json.loads(give("info", "--json").stdout)
    assert machine["heading"].startswith(f"taskflow {taskflow.__version__}")
    assert {"python", "cores", "GPUs"} <= {row["label"] for row in machine["rows"]}
    bad = give("info", tmp_path, "--json")
    refused(bad.exit_code, bad.stderr, str(tmp_path), "not a run directory")
    assert bad.stdout == ""


@pytest.fixture
def altered(run_directory, tmp_path):
    """Make a copy of the finished run whose report says something else."""

    def alter(**changes):
        copy = tmp_path / "run"
        shutil.copytree(run_directory, copy)
        report = json.loads((copy / "report.json").read_text())
        for key in ("loop_seconds", "t_eff", "copy_bandwidth"):
            del report[key]
        (copy / "report.json").write_text(json.dumps(report | changes))
        return copy

    return alter


@pytest.mark.parametrize(("owner", "words"), [
    (ALIVE, ["running: process", "last line of the log", "cell/s", "100%"]),
    (GONE, ["ended without a report", "has exited"]),
    (ANOTHER, ["ended without a report", "has exited"]),
    (ELSEWHERE, ["running, as far as this host can tell: process 1 on elsewhere"]),
    (None, ["ended without a report", "has exited"]),
], ids=["running", "gone", "another", "elsewhere", "no lock"])  # fmt: skip
def test_a_run_without_an_end(give, altered, owner, words):
    leader = {"host": owner.host, "process": owner.process, "since": owner.since} if owner else {}
    directory = altered(ended="running", **({"leader": leader} if owner else {}))
    if owner is not None:
        write_lock(directory, owner)
    told = give("info", directory).stdout
    assert [word for word in words if word not in told] == [], told


def test_a_failed_run(give, altered):
    told = give("info", altered(ended="failed", reason="the run diverged: at step 3")).stdout
    assert "state      failed" in told
    assert "reason     the run diverged: at step 3" in told


def test_a_run_whose_steps_moved_at_most_something(give, altered):
    told = give("info", altered(loop_seconds=2.0, t_eff=None, copy_bandwidth=1e9)).stdout
    assert "loop" in told
    assert "T_eff" not in told


@pytest.mark.parametrize(("copy", "words"), [(2e9, ", 50% of the copy bandwidth"), (None, "")])
def test_the_speed_is_compared_with_a_bandwidth_that_is_known(give, altered, copy, words):
    told = give("info", altered(loop_seconds=2.0, t_eff=1e9, copy_bandwidth=copy)).stdout
    assert f"1.00 GB/s{words}\n" in told


def test_a_run_that_never_began(give, altered):
    directory = altered()
    (directory / "report.json").unlink()
    (directory / "log.jsonl").unlink()
    shutil.rmtree(directory / "fields.zarr")
    result = give("info", directory)
    assert result.exit_code == 0
    assert "not started, or ended before its first step" in result.stdout
    assert "none that can be read" in result.stdout


@pytest.mark.parametrize("name", ["case.toml", "report.json", "log.jsonl"])
def test_a_damaged_run(give, refused, altered, name):
    directory = altered()
    (directory / name).write_bytes(b"\xff{]\n")
    result = give("info", directory)
    refused(result.exit_code, result.stderr, str(directory), "damaged")
