"""Faults of a real GPU in the middle of runs, which go on from their last checkpoint or end with a named error.

One GPU is enough: two processes share it, and see each other's memory. Nothing else may use it meanwhile.
"""

import gc
import os
import signal
import time
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest

import taskflow as tf
from taskflow.runs import attempt
from taskflow.runs.block.job import RunLoop
from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region
from tests.cli.test_resume import steps
from tests.integration.test_direct import block_group, relaxed
from tests.runs.going_on import assert_same_run
from tests.runtime.cluster.waiting import until_ended

pytestmark = [pytest.mark.gpu, pytest.mark.slow]
DEVICE, CELLS = "gpu", 192
LARGE = (512, 512, 256)
STEPS, STRUCK = 80, 50
PIECE = 4 << 20  # bytes: a field of a block has more
HELD = []


def case(**machine):
    wall = dict.fromkeys(("x_min", "x_max", "y_min", "y_max", "z_min"), "wall")
    return tf.Case(
        grid={"cells": [CELLS] * 3, "lengths": [1.0] * 3},
        fluid={"viscosity": 1e-3},
        boundaries={**wall, "z_max": {"type": "wall", "velocity": [1.0, 0.0, 0.0]}},
        initial={"velocity": ["sin(6*x)*cos(z)", "0.3*cos(5*y)", "x*z"]},
        pressure={"iterations": 4},
        time={"steps": STEPS, "cfl": 0.5},
        output={"fields": ["u"], "every": {"steps": 40}},
        monitor={"every": {"steps": 5}},
        checkpoint={"every": {"steps": 20}},
        machine={"device": DEVICE, "precision": "single", "blocks": [1, 1, 2], **machine},
    )


# ----------------------------------------------------------------------------------------- what happens in a process


def arm(fault, mark):
    """From now on the process does to itself what `fault` prepares when its block 1 has come to a step and a checkpoint
    is there; unless it has been done already. `mark` is then the time of that.
    """
    agreed = RunLoop._agreed

    def strike(loop, tick, *taken):
        if tick.step >= STRUCK and loop.shard.block == 1 and not mark.exists():
            if steps(mark.parent)[-1:] < [STRUCK - 10]:
                time.sleep(0.1)  # the disk is slower than the GPU
            else:
                act = fault()
                mark.write_text(str(time.time()))
                act()
        return agreed(loop, tick, *taken)

    RunLoop._agreed = strike


def kernel(text, *arguments):
    """A launch on the stream on which the block computes."""
    import cupy

    result = cupy.RawKernel(f'extern "C" __global__ void fault(unsigned long long address) {{ {text} }}', "fault")
    result.compile()
    return partial(result, (1,), (1,), arguments)


def illegal_address():
    return kernel("*(volatile int*)address = 1;", np.uint64(8))


def trap():
    return kernel('asm("trap;");', np.uint64(8))


def killed():
    return partial(os.kill, os.getpid(), signal.SIGKILL)


def out_of_memory():
    """All that is left, and what CuPy has put by, is in other hands from now on."""
    return partial(take, PIECE)


def take(least):
    """Allocate the GPU's memory, as long as there are so many bytes together."""
    import cupy

    piece = 64 << 30
    while piece >= least:
        try:
            HELD.append(cupy.empty(piece, "u1"))
        except MemoryError:
            piece //= 2


@contextmanager
def taken(least):
    take(least)
    yield
    HELD.clear()
    free_memory()


class Breaks:
    """Sweeps, in which `how` ends block 1, whose neighbour goes on until it is told."""

    def __init__(self, cells, how):
        self.cells, self.how = cells, how

    def sweeps(self, f):
        yield relaxed(f.p, f.q, over=self.cells, change="change")
        yield relaxed(f.q, f.p, over=self.cells, change="change")

    def __call__(self, shard, control):
        for sweep in range(10**9):
            shard.run(self.sweeps)
            if shard.block == 1 and sweep == 5:
                shard.synchronize()
                self.how()()


def broken():
    return partial(divmod, 1, 0)


def free_memory():
    """Bytes of the GPU, when the process has given back what it can."""
    import cupy

    gc.collect()
    cupy.get_default_memory_pool().free_all_blocks()
    return cupy.cuda.runtime.memGetInfo()[0]


# -------------------------------------------------------------------------------------------------------------- runs


@pytest.fixture(scope="module")
def cluster():
    """Two processes with nannies; not dask-cuda's, so that one GPU is enough."""
    from distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": ":0"}
    with LocalCluster(**options, protocol="tcp") as lent, Client(lent, direct_to_workers=True) as client:
        yield client


@pytest.fixture(scope="module")
def whole(cluster, tmp_path_factory):
    """The directory of a run that nothing has disturbed."""
    begun = time.perf_counter()
    result = tf.run(case(), tmp_path_factory.mktemp("whole") / "run", cluster)
    print(f"undisturbed: loop {result.report['loop_seconds']:.2f} s, all {time.perf_counter() - begun:.2f} s")
    return result.directory


@pytest.fixture
def struck(monkeypatch, tmp_path):
    """Run a case in the middle of which a fault is done to block 1; within 5 s all blocks have ended, and it is known
    why.
    """
    survey, cause = attempt.survey, attempt.cause

    def run(fault, client=None, **machine):
        mark, told = tmp_path / "struck", []

        def armed(cluster, **how):
            cluster.run(arm, fault, mark)
            return survey(cluster, **how)

        def noted(statuses):
            told.append(time.time())
            return cause(statuses)

        monkeypatch.setattr(attempt, "survey", armed)  # the first attempt alone surveys its cluster
        monkeypatch.setattr(attempt, "cause", noted)
        try:
            return tf.run(case(**machine), tmp_path / "cavity", client)
        finally:
            missed = told[0] - float(mark.read_text())
            print(f"{fault.__name__}: all blocks have ended after {missed:.2f} s")
            assert missed < 5

    return run


def assert_gone_on(result, whole, rel=0.0):
    """From the last checkpoint, and to the end of a run that nothing has disturbed."""
    (restart,) = result.report["restarts"]
    assert restart["step"] in (40, 60)
    assert result.report["device"] == DEVICE
    assert_same_run(result.directory, whole, rel)


WORDS = {
    illegal_address: r"block 1: .*(IllegalAddress|ILLEGAL_ADDRESS).*; the run restarts from step",
    killed: r"block 1 on worker .* does not answer .*; the run restarts from step",
}


@pytest.mark.parametrize("fault", list(WORDS), ids=lambda fault: fault.__name__)
def test_of_two_processes_one_is_replaced(fault, cluster, whole, struck):
    """They see each other's memory."""
    before = set(cluster.scheduler_info(n_workers=-1)["workers"])
    with pytest.warns(UserWarning, match=WORDS[fault]):
        result = struck(fault, cluster)
    assert_gone_on(result, whole)
    assert result.report["channels"] == ["peer"]
    after = {place["worker"] for place in result.report["hardware"]}
    assert len(before & after) == len(after - before) == 1


def free_on(cluster):
    """Bytes of the GPU when all processes have given back what they can: one may look before another has."""
    cluster.run(free_memory)
    return min(cluster.run(free_memory).values())


def test_after_a_failure_nobody_keeps_the_memory_of_a_neighbour(cluster):
    """The process that lives had it mapped, and could keep it from all others, also when the neighbour is gone."""
    space = Region(Box.of(LARGE), FieldSpace([Field(name) for name in "pqrs"]), (True, True, False))
    partition = Partition(space, (1, 1, 2))

    def left(how):
        with block_group(cluster, partition) as team:
            team.start([Breaks(space.cells, how)] * 2)
            while "failed" not in {status.state for status in team.status(0.1)}:
                pass
            team.abort("another block failed")
            until_ended(team)
        return free_on(cluster)

    block = partition.nbytes(1)
    _, first, again = (left(broken) for _ in range(3))
    gone = left(killed)
    for _ in range(5):
        if gone < again - block / 4:
            time.sleep(1.0)
            gone = free_on(cluster)
    print("free, in blocks:", *(f"{item / block:.2f}" for item in (first, again, gone)))
    assert again > first - block / 4
    assert gone > again - block / 4


def test_a_cluster_of_its_own_is_begun_again(whole, struck, capfd):
    """By dask-cuda; both blocks live in one process, which ends without a word."""
    words = r"block \d: .*(LaunchFailure|LAUNCH_FAILED|IllegalInstruction|ILLEGAL_INSTRUCTION).*; the run restarts from"
    with pytest.warns(UserWarning, match=words):
        result = struck(trap, workers=1)
    assert_gone_on(result, whole, rel=1e-12)
    err = capfd.readouterr().err
    assert "Traceback" not in err, err
    assert "Exception ignored" not in err, err


def test_memory_that_is_gone_when_a_checkpoint_needs_some_ends_the_run_with_its_name(whole, struck, tmp_path):
    """What was written can be read, and gone on with."""
    with pytest.raises(tf.RunFailed, match=r"(?i)memory") as failed:
        struck(out_of_memory, workers=1)
    print(failed.value)
    assert failed.value.exit_code == 1
    with tf.Run.open(tmp_path / "cavity").dataset() as left, tf.Run.open(whole).dataset() as expected:
        np.testing.assert_array_equal(left.u.values, expected.u.values[: len(left.time)])
        assert len(left.time) == 2
    result = tf.run(case(workers=1), tmp_path / "cavity", resume=True)
    assert_same_run(result.directory, whole, 1e-12)


def test_too_little_memory_at_the_start_is_bad_input(shell, tmp_path, refused):
    """With what is needed and what is free, before anything is written or a step done."""
    (tmp_path / "case.toml").write_text("""
grid = { cells = [512, 512, 512], lengths = [1.0, 1.0, 1.0] }
fluid = { viscosity = 1e-3 }
boundaries = { x = "periodic", y = "periodic", z = "periodic" }
time = { steps = 10 }
machine = { device = "gpu" }
""")
    with taken(3 << 30):
        code, _, err = shell("run", tmp_path / "case.toml", "-o", tmp_path / "run")
    refused(code, err, "grid.cells = [512, 512, 512]: needs ", "GB are free")
    assert not (tmp_path / "run").exists()
