"""`taskflow bench kernels`: a table for people, numbers for programs."""

import json

import pytest

from taskflow.simulation.bench import kernels, measure


@pytest.fixture(autouse=True)
def brief(monkeypatch):
    monkeypatch.setattr(measure, "BUDGET", 0.01)
    monkeypatch.setattr(measure, "LENGTH", 1e-4)
    monkeypatch.setattr(kernels, "copy_bandwidth", lambda device: 2e10)


def test_table_and_numbers(give, here):
    result = give("bench", "kernels", "--cells", 12, "--precision", "single", "--device", "cpu", "-o", "bench.json")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "12^3 cells in single precision" in result.stdout
    found = json.loads((here / "bench.json").read_text())
    assert found["copy_bandwidth"] == 2e10
    assert {"taskflow", "python", "processor", "threads", "command", "host"} <= set(found)
    results = {line["name"]: line for line in found["results"]}
    assert list(results) == [
        "Jacobi sweep, bare kernel", "Jacobi sweep", "momentum", "divergence", "correction", "whole step",
    ]
    for name, line in results.items():
        assert name in result.stdout
        assert line["samples"] >= 5
        assert line["cells_per_second"] == pytest.approx(12**3 / line["seconds"])
        assert line["bytes_per_second"] == pytest.approx(line["bytes"] / line["seconds"])
    assert results["Jacobi sweep"]["bytes"] == results["Jacobi sweep, bare kernel"]["bytes"] == 3 * 4 * 12**3
    assert results["momentum"]["bytes"] == (3 + 6 + 3) * 4 * 12**3
