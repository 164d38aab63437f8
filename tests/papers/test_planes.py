"""Hyperplanes of a chart, one launch each: `python -m examples.papers.luo_2014 hyperplanes`."""

import json

import numpy as np
import pytest

from examples.papers.luo_2014.factors import Charts, Factors
from examples.papers.luo_2014.planes import Planes, cells_of_planes, losses
from taskflow.runtime.machine import run_threads
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.machine.kernel.texts import cuda_text
from taskflow.runtime.tasks import Roles
from tests.nvrtc import messages
from tests.runtime.machine.devices import one_gpu

PAPER = "examples.papers.luo_2014"


def factored(job, device):
    """The solution of a job with its factors."""

    def read(shard):
        job.fill(shard)
        shard.run(job.fresh, slowness=0.1)
        shard.run(job.precondition)
        return [shard.read(name).ravel() for name in ("p_z", "u_z", "v_z", "w_z", "T_z", "dye_z")[: job.unknowns]]

    return np.concatenate(run_threads(job.partition, read, device)[0])


@pytest.mark.parametrize("unknowns", [4, pytest.param(6, marks=pytest.mark.slow)])
def test_planes_have_the_bits_of_a_whole_sweep(unknowns):
    whole, planes = (kind(Charts((7, 6, 5)), "hyperplanes", "double", unknowns=unknowns) for kind in (Factors, Planes))
    np.testing.assert_array_equal(factored(planes, cpu(2)), factored(whole, cpu(1)))


@pytest.mark.gpu(emulated=True)
@pytest.mark.parametrize("unknowns", [4, 6])
def test_planes_on_a_gpu_have_the_bits_of_a_cpu(unknowns):
    planes = Planes(Charts((11, 9, 8)), "hyperplanes", "double", unknowns=unknowns)
    np.testing.assert_array_equal(factored(planes, one_gpu()), factored(planes, cpu(1)))


@pytest.mark.slow
@pytest.mark.parametrize("unknowns", [4, 6])
def test_planes_compile_for_gpus(unknowns):
    job = Planes(Charts((4, 4, 4)), "hyperplanes", "double", unknowns=unknowns)
    parts = Roles.of(tuple(job.partition.fields))
    tasks = {launch.task for program in (job.eliminate, job.precondition) for launch in program(parts)}
    assert {task.base.name for task in tasks} == {"invert", "forward", "backward"}
    assert {messages(cuda_text(task, np.dtype("f8"))) for task in tasks} == {""}


def test_the_papers_block_has_these_planes():
    counts = cells_of_planes((79, 49, 49))
    assert (counts.size, counts.max(), counts.sum()) == (175, 2311, 79 * 49 * 49)


def test_time_above_that_of_the_best_plane_is_lost():
    found = losses(np.array([2.0, 4.0, 2.0]), np.array([1, 4, 1]), 4)
    assert found == {"best": 1.0, "seconds": 8.0, "loss": pytest.approx(0.25), "loss_of_few": pytest.approx(0.25)}
    assert losses(np.array([2.0, 4.0, 2.0]), np.array([1, 4, 1]), 1)["loss_of_few"] == 0


@pytest.mark.slow
def test_each_plane_is_timed(start, here):
    words = ("hyperplanes", "--timed", "--cells", "9x6x5", "--cores", 20, "--device", "cpu", "--picture", "planes.svg")
    result = start(PAPER, *words, "-o", "bench.json")
    assert (result.exit_code, result.stderr) == (0, "")
    report = json.loads((here / "bench.json").read_text())
    rows = report["results"]
    assert [row["cells_of_plane"] for row in rows] == list(cells_of_planes((9, 6, 5)))
    for part, lost in report["lost"].items():
        assert lost["seconds"] == pytest.approx(sum(row[part] for row in rows))
        assert lost["best"] == pytest.approx(min(row[part] / row["cells_of_plane"] for row in rows))
        assert 0 <= lost["loss_of_few"] <= lost["loss"] < 1
    assert (here / "planes.svg").read_text().startswith("<?xml")


def test_planes_are_counted(start):
    result = start(PAPER, "hyperplanes", "--cells", "79x49x49", "--device", "cpu")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "175 hyperplanes of 79x49x49 cells" in result.stdout
    assert "33.1% have fewer than 448, together 4.7% of all cells" in result.stdout
