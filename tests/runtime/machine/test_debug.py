"""Debug mode: the same bits, unless something is wrong; then it shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from taskflow.common.errors import RunFailed
from taskflow.runtime.machine import Mapper, run_threads
from taskflow.runtime.machine.agreement import _parting
from taskflow.runtime.machine.device import cpu, gpu
from taskflow.runtime.machine.direct import HostExchange
from taskflow.runtime.machine.trace.binding import Binder
from taskflow.runtime.machine.trace.transfer import Transfers
from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region
from taskflow.runtime.tasks import Compute, analyse, star
from taskflow.runtime.tasks.dependence import poison
from tests.runtime.machine.programs import NAMES, Everything, Variants, blend, noise, region, relax
from tests.runtime.tasks.palette import sweep

ROOT = Path(__file__).parents[3]
DEBUG = Mapper("full", debug=True)


def fields(space, shape, mapper, steps=3, device=None, program=Everything, channel=""):
    """What every block owns after some steps."""
    start, partition, program = noise(space), Partition(space, shape), program(space)
    origin = space.cells.grow(space.ghost).lo

    def job(shard):
        for name in NAMES:
            shard.instances.array(name)[...] = shard.device.xp.asarray(start[name][shard.instances.box.slices(origin)])
        for _ in range(steps):
            shard.run(program, dt=0.5)
        result = {role: shard.read(role, partition.owned[shard.block]) for role in NAMES}
        return result, shard.traces, shard.instances.arrays

    return run_threads(partition, job, device or cpu(1), mapper, patience=20, channel=channel)


@pytest.mark.fast("shape0-*-comm", "shape1-*-full")
@pytest.mark.parametrize("overlap", ["none", "comm", "full"])
@pytest.mark.parametrize(("shape", "periodic"), [((1, 1, 1), (True,) * 3), ((2, 1, 2), (False, True, False))])
def test_the_bits_are_the_same(shape, periodic, overlap):
    space = region((6, 4, 9), periodic)
    plain, debug = (fields(space, shape, Mapper(overlap, debug=on)) for on in (False, True))
    for (one, *_), (other, traces, arrays) in zip(plain, debug, strict=True):
        for name, values in one.items():
            np.testing.assert_array_equal(other[name], values)
        launches = (node.launch for node in traces[-1].graph.nodes if isinstance(node, Compute))
        assert any(launch.task is poison for launch in launches)
        assert any(np.isnan(array).any() for array in arrays.values())


def test_variants_of_a_task_have_the_same_bits_on_one_block_on_four_and_in_debug_mode():
    space = region((6, 4, 9))
    whole, plain, debug = (
        fields(space, shape, Mapper("full", debug=on), program=Variants)
        for shape, on in (((1, 1, 1), False), ((2, 1, 2), False), ((2, 1, 2), True))
    )
    owned, origin = Partition(space, (2, 1, 2)).owned, Partition(space, (1, 1, 1)).owned[0].lo
    for box, (one, *_), (other, traces, _) in zip(owned, plain, debug, strict=True):
        for name, values in one.items():
            np.testing.assert_array_equal(other[name], values)
            np.testing.assert_array_equal(whole[0][0][name][box.slices(origin)], values)
        launches = [node.launch for node in traces[-1].graph.nodes if isinstance(node, Compute)]
        assert {len(launch.fields) for launch in launches if launch.task.base is blend} == {3, 4}
        assert any(launch.task is poison for launch in launches)


@pytest.mark.gpu
@pytest.mark.parametrize("overlap", ["none", "full"])
def test_the_bits_are_the_same_on_a_gpu(overlap):
    space = region((6, 4, 9))
    plain, debug = (fields(space, (1, 1, 2), Mapper(overlap, debug=on), device=gpu()) for on in (False, True))
    for (one, *_), (other, *_) in zip(plain, debug, strict=True):
        for name, values in one.items():
            np.testing.assert_array_equal(other[name], values)


def unfilled(monkeypatch, owner, method):
    """Calls that were to fill ghost cells do nothing any more; copies that these were to make are none."""
    real, less = getattr(owner, method), [] if owner is HostExchange else [nothing]
    monkeypatch.setattr(owner, method, lambda *arguments: [call for _ in real(*arguments) for call in less])


def nothing():
    """Not what was asked for."""


@pytest.mark.parametrize(
    ("owner", "method", "shape"),
    [(Transfers, "unpack", (1, 1, 2)), (HostExchange, "copies", (1, 1, 2)), (Binder, "copies", (1, 1, 1))],
)
def test_ghost_cells_that_nobody_fills_are_seen(monkeypatch, owner, method, shape):
    """Without debug mode the results are numbers, and wrong; with it they are not numbers."""
    space = region((6, 4, 8), (False, False, shape == (1, 1, 1)))
    channel = "peer" if owner is Transfers else "local"
    right = fields(space, shape, Mapper("none"), channel=channel)[0][0]["p"]
    unfilled(monkeypatch, owner, method)
    wrong = fields(space, shape, Mapper("none"), channel=channel)[0][0]["p"]
    assert np.isfinite(wrong).all()
    assert not np.array_equal(wrong, right)
    assert np.isnan(fields(space, shape, Mapper("none", debug=True), channel=channel)[0][0]["p"]).any()


def test_ghost_cells_of_the_last_sweep_are_not_those_of_this_one():
    """Once a cell has been overwritten its copies elsewhere are poison, within a pass, too."""
    space = Region(Box.of((3, 3, 8)), FieldSpace([Field("a"), Field("b")]))
    partition = Partition(space, (1, 1, 2))
    launches = [sweep(star(1))("a", "b", over=space.cells), sweep(star(1))("b", "a", over=space.cells)]
    graph = analyse(launches, partition, blocks=[0], poisoned=True).graph
    result = [(node.launch.task is poison, *node.launch.fields) for node in graph.nodes if hasattr(node, "launch")]
    at = [n for n, node in enumerate(result) if node[0] and node[1] == "a"]
    assert result.index((False, "a", "b")) < max(at) < len(result) - 1


# ---------------------------------------------------------------------------------------------------------- agreement


class Parted(Everything):
    """The program of all blocks, but of one block from some pass on."""

    def __init__(self, space, block, way):
        super().__init__(space)
        self.block, self.way = block, way

    def __call__(self, f):
        launches = list(super().__call__(f))
        if self.block == 1 and self.way == "weight":
            launches[1] = relax(*launches[1].fields, over=self.space.cells, weight=0.21)
        if self.block == 1 and self.way == "shorter":
            launches.pop()
        if self.way == "middle":  # of three boxes: the smallest box around them is the same on all blocks
            layers = [self.space.cells.layer(2, 0, n, n + 1) for n in (0, 2 + self.block, 8)]
            launches[1] = relax(*launches[1].fields, over=layers, weight=0.2)
        return iter(launches)


PARTED = {
    "weight": "launch 2 of pass 2 is tests.runtime.machine.programs.relax(q, b, p) over [0,4)x[0,4)x[0,9) with "
    "weight=0.21",
    "middle": "launch 2 of pass 2 is tests.runtime.machine.programs.relax(q, b, p) over [0,4)x[0,4)x[0,1), "
    "[0,4)x[0,4)x[3,4), [0,4)x[0,4)x[8,9) with weight=0.2, not tests.runtime.machine.programs.relax(q, b, p) over "
    "[0,4)x[0,4)x[0,1), [0,4)x[0,4)x[2,3)",
    "shorter": "launch 9 of pass 2 is nothing more, not tests.runtime.machine.programs.shrink(u) over ",
    "scalar": "pass 2 is started with the scalars {dt = 0.75}, not started with the scalars {dt = 0.5}",
}


@pytest.mark.parametrize("way", PARTED)
def test_a_program_that_differs_ends_all_blocks(way):
    space, errors = region((4, 4, 9)), []

    def job(shard):
        try:
            shard.run(Everything(space), dt=0.5)
            shard.run(Parted(space, shard.block, way), dt=0.75 if way == "scalar" and shard.block == 1 else 0.5)
        except RunFailed as error:
            errors.append(str(error))
            raise

    told = f"block 1 does another program than block 0: {PARTED[way]}"
    with pytest.raises(RunFailed, match=re.escape(told)):
        run_threads(Partition(space, (1, 1, 3)), job, cpu(1), DEBUG, patience=20)
    assert len(errors) == 3
    assert all(told in error for error in errors)


def test_long_launches_are_told_where_they_part():
    one, other = _parting(f"{'same ' * 1000}left", f"{'same ' * 1000}right")
    assert len(one) < 250
    assert (one[:9], one[-5:], other[-6:]) == ("... same ", " left", " right")


def test_words_are_the_same_in_every_process():
    """No address, no salted hash."""
    code = (
        "from tests.runtime.machine.programs import *; from taskflow.runtime.tasks import Roles;"
        "from taskflow.runtime.machine.agreement import Agreement;"
        "import numpy as np;"
        "a = Agreement(lambda row: np.array([row]));"
        "a.begin({'dt': 0.1}); a.check(list(Everything(region((4, 4, 9)))(Roles.of(NAMES)))); print(a._rolling.hex())"
    )
    seeds = ("1", "2")
    told = [
        subprocess.run([sys.executable, "-c", code], env=os.environ | {"PYTHONHASHSEED": seed}, cwd=ROOT, check=True,
                       capture_output=True, text=True).stdout
        for seed in seeds
    ]  # fmt: skip
    assert told[0] == told[1]
    assert len(told[0].strip()) == 16
