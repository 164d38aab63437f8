"""Timings for developers: the kernels of the flow solver, and what the runtime costs."""

import json
import subprocess
import sys
from types import SimpleNamespace

import pytest

from taskflow.runs.directory.provenance import provenance
from tests.bench.test_machine import ABOUT
from tests.bench.test_registry import ROOT
from tests.performance import runtime_costs


@pytest.fixture(autouse=True)
def copied(brief, monkeypatch):
    brief()
    monkeypatch.setattr(runtime_costs, "LAUNCHES", 20)


@pytest.fixture
def measured(start, here):
    """Give a command for CPUs; what it said, and the numbers it wrote."""

    def call(command, *words):
        result = start(f"tests.performance.{command}", *words, "--device", "cpu", "-o", "bench.json")
        assert (result.exit_code, result.stderr) == (0, "")
        actual = json.loads((here / "bench.json").read_text())
        assert set(actual) >= ABOUT
        return result.stdout, actual

    return call


def test_kernels(measured):
    told, result = measured("kernels", "--cells", 12, "--precision", "single")
    assert "12^3 cells in single precision" in told
    assert result["copy_bandwidth"] == 2e10
    results = {line["name"]: line for line in result["results"]}
    assert list(results) == [
        "Jacobi sweep, bare kernel", "Jacobi sweep", "momentum", "divergence", "correction", "whole step",
        "bounded_euler", "bounded_heun", "residual_of", "smooth_colours_from_zero", "restrict_residual",
        "correct_by_coarse", "relax",
        "cg_first_inner_products", "cg_first_update", "cg_inner_products", "cg_update",
    ]
    for name, line in results.items():
        assert name in told
        assert line["samples"] >= 5
        assert line["cells_per_second"] == pytest.approx(12**3 / line["seconds"])
        assert line["bytes_per_second"] == pytest.approx(line["bytes"] / line["seconds"])
    assert results["Jacobi sweep"]["bytes"] == results["Jacobi sweep, bare kernel"]["bytes"] == 3 * 4 * 12**3
    assert results["momentum"]["bytes"] == (3 + 6 + 3) * 4 * 12**3
    assert results["cg_update"]["bytes"] == (2 + 2 + 1) * 4 * 12**3  # on the finest level
    assert results["cg_first_update"]["bytes"] == (1 + 2 + 1) * 4 * 12**3


def test_kernels_of_large_eddy_simulation(measured):
    _, result = measured("kernels", "--cells", 8, "--set", "turbulence.model=wale")
    results = {line["name"]: line for line in result["results"]}
    assert results["momentum"]["bytes"] == (4 + 6 + 3) * 8 * 8**3
    assert results["eddy viscosity"]["bytes"] == (3 + 1) * 8 * 8**3


@pytest.mark.slow
def test_runtime(measured):
    told, result = measured("runtime", "--seconds", 0.05)
    rows = {row["name"]: row for row in result["results"]}
    assert list(rows) == [
        "operation, one by one", "calls of a pass, one by one", "trace hit rate", "analysis and recording",
        "actor calls", "actor calls, steps running", "Dask messages",
    ]  # fmt: skip
    for name, row in rows.items():
        assert name in told
        assert row["how"] in told
    assert rows["operation, one by one"]["value"] < 1000
    assert rows["Dask messages"]["value"] == 0


def test_what_cannot_be_measured_is_refused(start, refused, here, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    for words, said in (
        (["kernels", "-o", "nowhere/a.json"], "nowhere"),
        (["kernels", "--device", "gpu"], "no GPU is visible"),
        (["runtime", "--device", "gpu"], "no usable GPU"),
    ):
        result = start(f"tests.performance.{words[0]}", *words[1:])
        refused(result.exit_code, result.stderr, said)


@pytest.mark.parametrize(("name", "recorded"), [
    (None, ["/usr/bin/taskflow", "bench"]), ("__main__", ["/usr/bin/taskflow", "bench"]),
    ("taskflow.__main__", ["python", "-m", "taskflow", "bench"]),
    ("tests.performance.kernels", ["python", "-m", "tests.performance.kernels", "bench"]),
], ids=str)  # fmt: skip
def test_the_recorded_command_can_be_given_again(monkeypatch, name, recorded):
    monkeypatch.setattr(sys, "argv", ["/usr/bin/taskflow", "bench"])
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", name and SimpleNamespace(name=name))
    assert provenance()["command"] == recorded


@pytest.mark.slow
def test_a_module_records_how_it_was_begun(tmp_path):
    """In a process of its own."""
    words = ["tests.performance.kernels", "--cells", "4", "--device", "cpu", "-o", str(tmp_path / "a.json")]
    done = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads((tmp_path / "a.json").read_text())["command"] == ["python", "-m", *words]
