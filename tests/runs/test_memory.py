"""The memory that a case is said to need is what its blocks hold, to the byte; and steps allocate nothing."""

import gc
import multiprocessing
import tracemalloc
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from taskflow.cases import Case, PressureTable
from taskflow.cases.tables.control import Time
from taskflow.runs.block import savepoint
from taskflow.runs.block.savepoint import keeper
from taskflow.runs.estimate.memory import MemoryEstimate
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.host import look
from taskflow.runtime.host.accelerators import Accelerator
from taskflow.runtime.machine import Mapper, run_threads
from taskflow.runtime.machine.device import gpu
from taskflow.runtime.machine.direct import Board
from taskflow.runtime.machine.kernel import bandwidth
from taskflow.runtime.machine.trace.deadlock import DEPTH
from taskflow.systems.initial.fields import InitialFields, initial_profiles
from tests.runtime.machine.test_needs import Counting
from tests.test_invariance import BOUNDARIES, OPEN, stirred

HERE = look("this process")


def all_passes(setup, shard):
    """A run in which steps, with a monitor before or without, come in whatever state they can come in."""
    shard.run(setup.model.start, dt=1.0, **setup.inflows.begin(shard, 0.0))
    for n, monitor in enumerate((1, 0, 0, 0, 1, 1, 1, 0, 1, 1, 0)):
        if setup.steady_criterion and n % 3 != 1:
            shard.run(setup.steady_criterion.steadiness.compare if n else setup.steady_criterion.steadiness.keep)
        if setup.steady_criterion and n % 3 == 2:
            shard.run(setup.steady_criterion.steadiness.keep)
        if monitor:
            shard.run(setup.monitor)
        shard.run(setup.model.step, **setup.model.scalars(1e-3, 1.0), **setup.inflows.advance(shard, n * 1e-3, 1e-3))
    shard.run(setup.monitor)


@pytest.mark.fast("box-(2, 2, 2)-none", "periodic-(2, 1, 2)-comm", "stream-(2, 1, 2)-comm", "layer-(1, 1, 2)-none")
@pytest.mark.parametrize(("boundaries", "shape", "overlap"), [
    *[(boundaries, (1, 1, 2), overlap) for boundaries in BOUNDARIES for overlap in ("none", "comm")],
    ("box", (1, 1, 1), "none"), ("periodic", (1, 1, 4), "none"), ("layer", (1, 1, 4), "comm"),
    ("periodic", (2, 1, 2), "comm"), ("box", (2, 2, 2), "none"), ("stream", (2, 1, 2), "comm"),
], ids=str)  # fmt: skip
def test_blocks_hold_what_was_counted(boundaries, shape, overlap):
    """In buffers, if they use a channel, too: those with overlap do here."""
    channel = "local" if overlap == "none" else "peer"
    setup = RunSetup(stirred({**BOUNDARIES, **OPEN}[boundaries]).replace(**{"machine.channel": channel}), shape)
    needs = MemoryEstimate(setup, [HERE] * len(setup.partition), "cpu").blocks
    devices = [Counting(1) for _ in needs]

    def job(shard):
        all_passes(setup, shard)
        return shard.memory

    result = run_threads(setup.partition, job, devices, Mapper(overlap), channel=channel)
    for device, memory, need in zip(devices, result, needs, strict=True):
        assert memory["fields"] == need.fields
        assert memory["buffers"] == need.buffers
        assert memory["board"] == need.board == 0
        assert device.nbytes == need.stepping


def test_the_state_that_a_steady_one_is_compared_with_is_counted_too():
    plain = stirred(BOUNDARIES["box"])
    case = plain.model_copy(update={"time": Time(**{**plain.time.written(), "steady": 1e-3})})
    setups = [RunSetup(item, (2, 1, 2)) for item in (plain, case)]
    free, needs = (MemoryEstimate(setup, [HERE] * 4, "cpu").blocks for setup in setups)
    devices = [Counting(1) for _ in needs]
    run_threads(setups[1].partition, lambda shard: all_passes(setups[1], shard), devices, Mapper("none"))
    more = len(setups[1].steady_criterion.steadiness.fields)
    assert more == 3 + len(setups[1].model.quantities)
    for device, need, before, box in zip(devices, needs, free, setups[1].partition.blocks, strict=True):
        assert device.nbytes == need.stepping
        assert need.fields - before.fields >= more * box.volume * setups[1].value_bytes
        assert need.output > before.output  # checkpoints have it, too


def test_the_state_that_is_kept_before_steps_is_counted(monkeypatch):
    """On a GPU only if it stays there for the whole run; not with a fixed step, which is never repeated."""
    setup = RunSetup(stirred(BOUNDARIES["box"]).replace(**{"time.cfl": 0.5}), (2, 1, 2))
    devices, needs = [Counting(1) for _ in range(4)], MemoryEstimate(setup, [HERE] * 4, "cpu").blocks

    def job(shard):
        shard.run(setup.model.start, dt=1.0, **setup.inflows.begin(shard, 0.0))
        before = shard.device.nbytes
        copies = keeper(shard, setup.carried)
        return copies, shard.device.nbytes - before

    for (_, more), need in zip(run_threads(setup.partition, job, devices, Mapper("none")), needs, strict=True):
        assert more == need.kept > 0
    fixed = RunSetup(setup.case.replace(**{"time.step": 1e-3}), (2, 1, 2))
    assert all(need.kept == 0 for need in MemoryEstimate(fixed, [HERE] * 4, "cpu").blocks)
    place = replace(HERE, gpus=(Accelerator(0, "A GPU", "gpu-0", 80 << 30, 80 << 30),))
    assert [need.kept for need in MemoryEstimate(setup, [place] * 4, "gpu").blocks] == [need.kept for need in needs]
    monkeypatch.setattr(savepoint, "SMALL", 0)
    assert all(need.kept == 0 for need in MemoryEstimate(setup, [place] * 4, "gpu").blocks)


@pytest.mark.slow
@pytest.mark.parametrize("solver", [
    {"solver": "jacobi", "tolerance": 1e-3}, {"solver": "fft"}, {"solver": "multigrid", "tolerance": 1e-8},
    {"solver": "multigrid", "outer": "none", "smoother": "jacobi", "iterations": 3},
], ids=str)  # fmt: skip
def test_regions_and_rounds_of_solvers_are_counted_too(solver):
    """What their rounds send, one after the other, and fold."""
    case = stirred(BOUNDARIES["box"])
    setup = RunSetup(case.model_copy(update={"pressure": PressureTable(**solver)}), (2, 1, 2))
    needs, devices = MemoryEstimate(setup, [HERE] * 4, "cpu").blocks, [Counting(1) for _ in range(4)]

    def job(shard):
        InitialFields(setup.grid.points, initial_profiles(case), Path()).fill(shard)
        all_passes(setup, shard)
        return shard.memory["buffers"]

    result = run_threads(setup.partition, job, devices, Mapper("comm"))
    for device, buffers, need in zip(devices, result, needs, strict=True):
        assert buffers == need.buffers
        folds = need.stepping - device.nbytes  # of states that rounds could lead to, and did not
        assert 0 <= folds < 600
        assert folds == 0 or "tolerance" in solver


def test_of_records_the_two_largest_are_counted():
    """A snapshot beside a plane that is smaller, and two of a plane where that is larger: of one layer of cells."""
    tables = {
        "grid": {"cells": [12, 1, 8], "lengths": [1.0, 1.0, 1.0]}, "fluid": {"viscosity": 0.01},
        "boundaries": dict.fromkeys("xyz", "periodic"), "time": {"steps": 1}, "checkpoint": {"keep": 0},
    }  # fmt: skip
    value, flat, often = 12 * 8 * 8, {"name": "a", "y": 0.5}, {"every": 1.0}
    for planes, expected in (
        ([], 2 * value),
        ([{"name": "a", "z": 0.5, **often}], 2 * value),
        ([{**flat, **often, "fields": ["u", "w"]}], 4 * value),
        ([{**flat, **often}, {"name": "b", "y": 0.5, **often, "fields": ["p"]}], 8 * value),
    ):
        setup = RunSetup(Case(**tables, planes=planes, output={"fields": ["u"]}), (1, 1, 2))
        assert sum(need.output for need in MemoryEstimate(setup, [HERE] * 2, "cpu").blocks) == expected


def test_messages_take_turns():
    """However many sweeps there are: the buffers of a few. Blocks of one process that need no channel have none."""
    case = stirred(BOUNDARIES["layer"]).replace(**{"machine.channel": "peer"})
    pressures = (case.pressure.model_copy(update={"iterations": n}) for n in (DEPTH + 2, 10 * DEPTH))
    few, many = (RunSetup(case.model_copy(update={"pressure": one}), (1, 1, 2)) for one in pressures)
    buffers = [MemoryEstimate(setup, [HERE] * 2, "cpu").blocks[0].buffers for setup in (few, many)]
    assert buffers[0] == buffers[1] > 0
    assert 2 * many.step_cost.traffic[0].nbytes > 3 * buffers[0]
    near = RunSetup(many.case.replace(**{"machine.channel": "auto"}), (1, 1, 2))
    assert MemoryEstimate(near, [HERE] * 2, "cpu").blocks[0].buffers == 0


def test_gpus_that_see_each_other_have_boards_in_place_of_buffers():
    gpus = [Accelerator(n, "A fine GPU", f"gpu-{n}", 80 << 30, 80 << 30) for n in range(2)]
    places = [replace(HERE, worker=f"worker {n}", gpus=(gpu,)) for n, gpu in enumerate(gpus)]
    setup = RunSetup(stirred(BOUNDARIES["layer"]), (1, 1, 2))
    apart = [places[0], replace(places[1], host="there")]
    near, far = MemoryEstimate(setup, places, "gpu").blocks, MemoryEstimate(setup, apart, "gpu")
    assert all(need.buffers == 0 and need.board >= Board(2).nbytes for need in near)
    assert all(need.buffers > 0 and need.board >= Board(2).nbytes for need in far.blocks)
    assert all(need.board == 0 for need in MemoryEstimate(setup, [HERE] * 2, "cpu").blocks)
    shared = [replace(place, worker="worker 0", gpus=(gpus[0],)) for place in places]
    assert all(need.buffers > 0 for need in MemoryEstimate(setup, shared, "gpu").blocks)


@pytest.mark.parametrize(("mebibytes", "expected"), [(100_000, 256), (640, 20), (3, 1)])
def test_the_copy_that_is_timed_takes_what_is_free(monkeypatch, mebibytes, expected):
    """Half of it at most, were one process for each two of 16 cores to time one: four of these arrays each."""
    device, taken = Counting(2), []
    monkeypatch.setattr(bandwidth.os, "cpu_count", lambda: 16)
    monkeypatch.setattr(bandwidth, "SYSTEM", Path("/nowhere"))  # a system that does not tell of its caches
    monkeypatch.setattr(bandwidth.psutil, "virtual_memory", lambda: SimpleNamespace(available=mebibytes << 20))
    monkeypatch.setattr(device, "allocate", lambda shape, dtype: taken.append(shape[0]) or np.zeros((1, 1, 1)))
    bandwidth.copy_bandwidth(device, repeats=1)
    assert taken == [expected] * 2


@pytest.mark.parametrize(("unit", "expected"), [(4, 192), (1, 128), (20, 256)])
def test_the_copy_that_is_timed_is_four_times_the_caches_of_these_cores(monkeypatch, tmp_path, unit, expected):
    """Two cores share a cache of 5 units, a third has 7 to itself; the fourth is not ours. From 128 to 256 MiB."""
    device, taken = Counting(2), []
    for core, (sharing, size) in enumerate([("0-1", 5), ("0-1", 5), ("2", 7), ("3", 7)]):
        cache = tmp_path / f"cpu{core}" / "cache" / "index3"
        cache.mkdir(parents=True)
        (cache / "shared_cpu_list").write_text(f"{sharing}\n")
        (cache / "size").write_text(f"{size * unit * 1024}K\n")
    monkeypatch.setattr(bandwidth, "SYSTEM", tmp_path)
    monkeypatch.setattr(bandwidth.os, "sched_getaffinity", lambda _: {0, 1, 2})
    monkeypatch.setattr(bandwidth.os, "cpu_count", lambda: 4)
    monkeypatch.setattr(bandwidth.psutil, "virtual_memory", lambda: SimpleNamespace(available=100 << 30))
    monkeypatch.setattr(device, "allocate", lambda shape, dtype: taken.append(shape[0]) or np.zeros((1, 1, 1)))
    bandwidth.copy_bandwidth(device, repeats=1)
    assert taken == [expected] * 2


# ------------------------------------------------------------------------------------------------------------ steps


def large(**machine):
    """A case in which the smallest message of a field is far larger than what Python itself allocates."""
    return Case(
        grid={"cells": [192, 192, 8], "lengths": [1.0, 1.0, 1.0]},
        fluid={"viscosity": 0.01},
        boundaries={"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "wall"},
        pressure={"iterations": 9},
        time={"steps": 1},
        machine=machine,
    )


@pytest.mark.parametrize("overlap", ["none", pytest.param("comm", marks=pytest.mark.slow)])
def test_steps_allocate_nothing(overlap):
    """Neither arrays of a device nor copies of a message beside them, on any block; in a process where nobody else
    allocates.
    """
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert 0 < pool.apply_async(grown_in_steps, (overlap,)).get(100) < 192 * 192 * 8 / 2


def grown_in_steps(overlap):
    """Bytes, at most, beside those before 10 steps."""
    setup, grown = RunSetup(large(), (1, 1, 2)), {}
    devices = [Counting(1) for _ in range(2)]

    def job(shard):
        all_passes(setup, shard)
        shard.meet()
        before = devices[shard.block].nbytes
        if shard.block == 0:
            gc.collect()
            tracemalloc.start()
            grown["before"] = tracemalloc.get_traced_memory()[0]
        shard.meet()
        for _ in range(10):
            shard.run(setup.model.step, **setup.model.scalars(1e-3, 1.0))
            shard.run(setup.monitor)
        shard.meet()
        if shard.block == 0:
            grown["most"] = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        assert devices[shard.block].nbytes == before

    run_threads(setup.partition, job, devices, Mapper(overlap))
    return grown["most"] - grown["before"]


def test_what_is_allocated_in_a_step_would_be_noticed():
    """One copy of a message is more than `test_steps_allocate_nothing` lets pass."""
    tracemalloc.start()
    message = np.empty(192 * 192 * 8, np.uint8)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most >= message.nbytes


@pytest.mark.gpu
@pytest.mark.parametrize("graphs", [True, False])
@pytest.mark.parametrize("blocks", [(1, 1, 1), (1, 1, 2)], ids=str)
def test_steps_on_a_gpu_allocate_nothing(blocks, graphs):
    """Nor does the pool of CuPy grow, nor what the driver has given: not in each of many runs of so few steps that a
    message in each would just show, since other processes may take memory of the GPU, or end, during one of them.
    """
    import cupy

    setup, device = RunSetup(large(), blocks), gpu()
    pool = cupy.get_default_memory_pool()

    def used():
        return pool.used_bytes(), pool.total_bytes(), cupy.cuda.runtime.memGetInfo()[0]

    def steps(shard, count):
        for _ in range(count):
            shard.run(setup.model.step, **setup.model.scalars(1e-3, 1.0))
            shard.run(setup.monitor)
        shard.synchronize()
        shard.meet()

    def job(shard):
        all_passes(setup, shard)
        steps(shard, 3)
        result = [used()]
        for _ in range(40):
            steps(shard, 8)  # of 0.3 MB, where the driver gives 2 MB at a time
            result.append(used())
        return result

    gc.collect()  # what earlier tests left would be given back amid the steps
    for result in run_threads(setup.partition, job, device, Mapper("full", graphs=graphs)):
        assert len({(in_use, held) for in_use, held, _ in result}) == 1
        assert any(after == before for before, after in pairwise(result))


@pytest.mark.gpu
@pytest.mark.parametrize("blocks", [(1, 1, 1), (1, 1, 2), (2, 1, 1)], ids=str)
def test_blocks_on_a_gpu_hold_what_was_counted(blocks):
    """Of one process and GPU: through buffers."""
    setup = RunSetup(large(), blocks)
    place = replace(HERE, gpus=(Accelerator(0, "A GPU", "gpu-0", 80 << 30, 80 << 30),))
    needs = MemoryEstimate(setup, [place] * len(setup.partition), "gpu").blocks

    def job(shard):
        all_passes(setup, shard)
        return shard.memory

    for memory, need in zip(run_threads(setup.partition, job, gpu(), Mapper("full")), needs, strict=True):
        assert (memory["fields"], memory["buffers"]) == (need.fields, need.buffers)
        assert memory["board"] in (0, need.board)
