"""What `taskflow check` counts is what the blocks send."""

import pytest

from taskflow.cases import Case
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.machine import Mapper, run_threads
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.tasks import Traffic

WALLS = {f"{axis}_{side}": "wall" for axis in "xyz" for side in ("min", "max")}
PERIODIC_Y = {name: kind for name, kind in WALLS.items() if name[0] != "y"} | {"y": "periodic"}


class Counting:
    """A channel that notes the bytes of every message it sends."""

    def __init__(self, channel):
        self.channel, self.sent = channel, []

    def send(self, target, number, buffer):
        self.sent.append(buffer.nbytes)
        return self.channel.send(target, number, buffer)

    def __getattr__(self, name):
        return getattr(self.channel, name)


@pytest.mark.fast("boundaries0-*-full", "boundaries1-*-none", "boundaries2-*-full")
@pytest.mark.parametrize("overlap", ["none", "full"])
@pytest.mark.parametrize(("boundaries", "blocks"), [(WALLS, (1, 1, 3)), (WALLS, (2, 2, 2)), (PERIODIC_Y, (1, 2, 2))])
def test_a_step_sends_what_was_counted(boundaries, blocks, overlap):
    """All parts of these messages fill whole units of 16 bytes: a buffer of the channel holds nothing else."""
    case = Case(
        grid={"cells": [16, 16, 24], "lengths": [1.0, 1.0, 1.0]},
        fluid={"viscosity": 0.01},
        boundaries=boundaries,
        pressure={"iterations": 5},
        time={"steps": 1},
    )
    setup = RunSetup(case, blocks)

    def job(shard):
        shard.run(setup.model.start, dt=1.0)
        for _ in range(3):  # until the state of the ghost cells recurs
            shard.run(setup.model.step, dt=1e-3, ratio=1.0)
        shard.transfers.channel = counting = Counting(shard.transfers.channel)
        shard.run(setup.model.step, dt=1e-3, ratio=1.0)
        return len(counting.sent), sum(counting.sent)

    result = run_threads(setup.partition, job, cpu(1), Mapper(overlap), channel="peer")
    assert result == [(sent.messages, sent.nbytes) for sent in setup.step_cost.traffic]
    assert sum(setup.step_cost.traffic, Traffic()).messages > 0


@pytest.mark.parametrize(("slabs", "iterations", "precision"), [(2, 1, "double"), (3, 6, "single"), (5, 7, "double")])
def test_a_step_of_the_cavity(slabs, iterations, precision):
    """Upwards travel the pressure after every sweep, and u, v, w with one row of u on the wall at high x and one of v
    on that at high y. Downwards also w once more, for the divergence.
    """
    nx, ny, size = 6, 9, {"double": 8, "single": 4}[precision]
    case = Case(
        grid={"cells": [nx, ny, 15], "lengths": [1.0, 1.0, 1.0]},
        fluid={"viscosity": 0.01},
        boundaries={f"{axis}_{side}": "wall" for axis in "xyz" for side in ("min", "max")},
        pressure={"iterations": iterations},
        machine={"precision": precision},
        time={"steps": 1},
    )
    plane = nx * ny
    up = Traffic(iterations + 1, size * ((iterations + 3) * plane + nx + ny), iterations + 1)
    down = Traffic(iterations + 3, size * ((iterations + 4) * plane + nx + ny), iterations + 3)
    assert RunSetup(case, (1, 1, slabs)).step_cost.traffic == [up, *[up + down] * (slabs - 2), down]

