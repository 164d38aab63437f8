"""The flows that steps are timed in, what their steps cost, and the largest of them that fits."""

from pathlib import Path

import numpy as np
import pytest

from taskflow.bench.cost import cost, operations
from taskflow.bench.projection import flows
from taskflow.bench.projection.flows import Flow, InitialVelocity, velocity_of
from taskflow.bench.steps import Pressure
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.machine import run_threads
from taskflow.runtime.machine.device import open_device
from taskflow.runtime.tasks import repeat
from taskflow.systems.initial import fields as initial
from taskflow.systems.initial.fields import InitialFields, initial_profiles

FOUR = Pressure(iterations=4)


@pytest.mark.parametrize("name", ["cavity", "taylor-green"])
@pytest.mark.parametrize(("cells", "left"), [((16, 16, 16), 1e-13), ((32, 8, 16), (np.pi / 8) ** 2 / 6)], ids=str)
def test_velocities_are_free_of_divergence(name, cells, left):
    """In a cube even that on the staggered grid vanishes; else the error of differences along 8 cells stays."""
    setup = RunSetup(Flow(name, FOUR).of(cells, "double"), (1, 1, 1))
    fields = InitialFields(setup.grid.points, initial_profiles(setup.case), Path())
    u, v, w = (fields.values([name], setup.grid.box.expand((0, 0, 0), (1, 1, 1)))[name] for name in "uvw")
    assert abs(u).max() > 0.3
    gradients = np.diff(u, axis=2)[:-1, :-1], np.diff(v, axis=1)[:-1, :, :-1], np.diff(w, axis=0)[:, :-1, :-1]
    assert abs(sum(gradients)).max() < left * max(abs(gradient).max() for gradient in gradients)


@pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("name", ["cavity", "taylor-green"])
@pytest.mark.parametrize("piece", [30, 60, 1 << 24])
def test_fields_are_written_in_pieces_as_the_case_has_them(monkeypatch, name, piece, device):
    setup = RunSetup(Flow(name, FOUR).of((6, 5, 7), "double"), (1, 1, 2))
    fields = InitialFields(setup.grid.points, initial_profiles(setup.case), Path())
    monkeypatch.setattr(initial, "PIECE", piece)
    monkeypatch.setattr(flows, "PIECE", piece)

    def job(shard):
        result = []
        for filled in (fields, InitialVelocity(setup.grid, velocity_of(name, setup.grid.cells))):
            shard.write({component: np.full(shard.cells.shape[::-1], np.nan) for component in "uvw"})
            filled.fill(shard)
            result.append([shard.read(component) for component in "uvw"])
        return shard.cells, *result

    for cells, one, other in run_threads(setup.partition, job, open_device(device)):
        np.testing.assert_array_equal(one, [fields.values([name], cells)[name] for name in "uvw"])
        np.testing.assert_allclose(other, one, rtol=1e-14)


def test_the_cost_of_a_step():
    setup = RunSetup(Flow("taylor-green", FOUR).of((8, 8, 8), "single"), (1, 1, 2))
    result = cost(setup, setup.model.step, {})
    assert result.nbytes == setup.step_cost.nbytes({})
    known = {launch.task: operations(launch, setup.partition) for launch in setup.step_cost.launches}
    assert result.operations == sum(known[launch.task] * launch.over.volume for launch in setup.step_cost.launches)


def test_rounds_count_as_often_as_they_are_done():
    setup = RunSetup(Flow("taylor-green", FOUR).of((8, 8, 8), "single"), (1, 1, 1))
    model = setup.model

    def loops(f):
        yield from model.limits(f)
        yield repeat(setup.monitor, 100, until=lambda scalars: True, count="rounds")
        yield repeat(model.limits, 7)

    item = {name: cost(setup, program, {}) for name, program in (("limits", model.limits), ("monitor", setup.monitor))}
    result = cost(setup, loops, {"rounds": 2.5})
    assert result.nbytes == 8 * item["limits"].nbytes + 2.5 * item["monitor"].nbytes
    assert result.operations == pytest.approx(8 * item["limits"].operations + 2.5 * item["monitor"].operations)
