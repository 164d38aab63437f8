"""Which block lives where: processes, blocks and GPUs of machines that only these tests know."""

import errno
import fcntl
from contextlib import ExitStack
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from distributed import Client, Scheduler, SpecCluster, Worker

from taskflow import BadInput, Case, run
from taskflow.output import Checkpoint
from taskflow.runs.directory.directory import RunDirectory
from taskflow.runs.estimate.estimate import estimate
from taskflow.runs.estimate.memory import MemoryEstimate
from taskflow.runs.state.remedies import as_keys
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.cluster import (
    BlockGroup,
    copying,
    cut,
    embedded,
    host_numbers,
    placed,
    processes,
    slabs,
    spread,
)
from taskflow.runtime.host import look, survey
from taskflow.runtime.host.accelerators import Accelerator
from taskflow.runtime.machine import Mapper, Plan, actor

GPUS = tuple(Accelerator(n, "A fine GPU", f"gpu-{n}", 80 << 30, 70 << 30) for n in range(4))


CELLS = (8, 8, 16)


def pinned(workers, count=4):
    """Places as dask-cuda makes them: every process sees all GPUs, its own first."""
    here = look("this machine")
    rotated = [[*GPUS[n:count], *GPUS[:n]] for n in range(workers)]
    seen = [tuple(replace(gpu, ordinal=k) for k, gpu in enumerate(gpus)) for gpus in rotated]
    return [replace(here, worker=f"worker {n}", gpus=gpus, gpu_problem=None) for n, gpus in enumerate(seen)]


def case(**machine):
    return Case(grid={"cells": list(CELLS), "lengths": [1.0, 1.0, 2.0]}, fluid={"viscosity": 0.1},
                boundaries=dict.fromkeys("xyz", "periodic"), time={"steps": 1}, machine=machine)  # fmt: skip


def seats(where):
    """(process, number of its GPU there, GPU) of each block."""
    return [(int(place.worker[-1]), place.gpus[0].ordinal, place.gpus[0].identity) for place in where]


def test_a_process_per_gpu_is_the_default():
    values = case(device="gpu")
    assert processes(values.machine, CELLS, 4) == 4
    places = pinned(4)
    assert slabs(places, "gpu", embedded=True) == 4
    blocks = cut(values.machine, CELLS, 4)
    assert blocks == (1, 1, 4)
    assert seats(placed(values.machine, blocks, places, embedded=True)) == [(n, 0, f"gpu-{n}") for n in range(4)]


def test_one_process_holds_a_block_on_each_gpu():
    values = case(device="gpu", workers=1, blocks=[1, 1, 4])
    assert processes(values.machine, CELLS, 4) == 1
    where = placed(values.machine, cut(values.machine, CELLS, 1), pinned(1), embedded=True)
    assert seats(where) == [(0, n, f"gpu-{n}") for n in range(4)]


def test_one_block_per_memory_measures_its_bandwidth():
    gpus = spread(4, pinned(2, 2))
    assert copying(1, gpus, "gpu") == {0: 1, 2: 1}
    hosts = [replace(place, host=host, cores=6) for place, host in zip(gpus, "abba", strict=True)]
    assert copying(2, hosts, "cpu") == {0: 4, 1: 4}
    assert copying(4, hosts, "cpu") == {0: 6, 1: 6}


@pytest.mark.parametrize(("blocks", "hosts", "files"), [
    ((4, 4, 4), 8, 32), ((10, 10, 10), 125, 500), ((8, 5, 5), 25, 100),
    ((5, 5, 2), 10, 40),  # five blocks of a host are a row
    ((3, 3, 1), 2, 24),  # 5 and 4 blocks are not boxes: two blocks of a row are in one file, and the third in another
])  # fmt: skip
def test_blocks_of_a_host_form_a_box_and_write_one_file_of_a_field(blocks, hosts, files):
    """Of four fields, in a periodic domain."""
    share = -(-np.prod(blocks) // hosts)
    here = look("this machine")
    places = [replace(here, worker=f"tcp://10.0.0.{n // share}:{n}") for n in range(hosts * share)]
    cells = tuple(2 * n for n in blocks)
    grid = {"cells": list(cells), "lengths": [1.0, 1.0, 1.0]}
    flow = case(device="cpu").replace(**{"grid": grid, "machine.blocks": list(blocks)})
    where = placed(flow.machine, blocks, places, embedded=False)
    layout = RunDirectory.layouts(RunSetup(flow, blocks, hosts=host_numbers(where)))[0]
    assert sum(array.files for array in layout.arrays.values()) == files


def test_processes_of_pretended_hosts_write_the_files_of_their_host(tmp_path):
    """Two hosts of two processes have four blocks each. The bits are those of files of each block."""
    silent = {"dashboard": False, "dashboard_address": ":0"}
    own = ({"host": f"127.0.0.{2 + n // 2}", "nthreads": 1} for n in range(4))
    workers = {n: {"cls": Worker, "options": {**options, **silent}} for n, options in enumerate(own)}
    flow = case(device="cpu", threads=1, blocks=[2, 2, 2]).replace(**{
        "initial.velocity": ["sin(6*y)", "cos(6*z)", 0.0], "checkpoint.every": {"steps": 1},
    })  # fmt: skip
    with ExitStack() as stack:
        scheduler = {"cls": Scheduler, "options": {"host": "127.0.0.1", **silent}}
        cluster = stack.enter_context(SpecCluster(workers, scheduler, silence_logs=50))
        client = stack.enter_context(Client(cluster, direct_to_workers=True, set_as_default=False))
        client.wait_for_workers(4)
        shared = run(flow, tmp_path / "hosts", client=client)
    single = run(flow.replace(**{"machine.blocks": [1, 1, 1]}), tmp_path / "single")
    for name in "uvwp":
        assert len([file for file in shared.directory.glob(f"fields.zarr/{name}/c/1/**/*") if file.is_file()]) == 2
    assert len(Checkpoint.load(shared.directory / "checkpoints" / "step-000000001").files) == 2
    for name in "uvw":
        np.testing.assert_array_equal(shared.dataset()[name][0], single.dataset()[name][0])
    rows = {row.label: row.text for row in estimate(flow).rows()}
    assert rows["files"] == "4 for each snapshot, 1 for each checkpoint"


def test_without_locks_of_files_each_block_writes_its_own(tmp_path, monkeypatch):
    """As on some shared file systems."""

    def refused(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("taskflow.output.disk.disk.fcntl", SimpleNamespace(flock=refused, LOCK_EX=fcntl.LOCK_EX))
    result = run(case(device="cpu", threads=1, blocks=[1, 1, 2], workers=1), tmp_path / "run")
    for name in "uvwp":
        assert len([file for file in result.directory.glob(f"fields.zarr/{name}/c/1/**/*") if file.is_file()]) == 2
    (checkpoint,) = (result.directory / "checkpoints").iterdir()
    assert len(Checkpoint.load(checkpoint).files) == 2


def test_one_process_gets_a_slab_per_gpu_where_the_blocks_are_auto():
    values = case(device="gpu", workers=1)
    assert cut(values.machine, CELLS, slabs(pinned(1), "gpu", embedded=True)) == (1, 1, 4)
    assert cut(values.machine, CELLS, slabs(pinned(1), "cpu", embedded=True)) == (1, 1, 1)
    assert cut(values.machine, CELLS, slabs(pinned(1), "gpu", embedded=False)) == (1, 1, 1)


def test_slabs_lie_where_there_is_room_for_them():
    auto = case().machine
    assert cut(auto, (64, 64, 64), 8) == (1, 1, 8)
    assert cut(auto, (64, 64, 1), 8) == (1, 8, 1)
    assert cut(auto, (64, 4, 1), 8) == (8, 1, 1)
    assert cut(auto, (64, 64, 16), 8, ghost=4) == (1, 8, 1)
    assert cut(auto, (2, 2, 3), 8) == (1, 1, 3)
    assert cut(auto, (2, 2, 3), 8, ghost=4) == (1, 1, 1)


def test_two_processes_share_four_gpus():
    where = spread(4, pinned(2))
    assert [process for process, *_ in seats(where)] == [0, 0, 1, 1]
    assert {identity for *_, identity in seats(where)} == {gpu.identity for gpu in GPUS}


@pytest.mark.parametrize("workers", [1, 2, 3, 4])
@pytest.mark.parametrize("blocks", [1, 3, 4, 6, 8, 9])
def test_gpus_have_as_many_blocks_as_each_other(workers, blocks):
    used = [identity for *_, identity in seats(spread(blocks, pinned(workers)))]
    counts = {used.count(gpu.identity) for gpu in GPUS[: workers if workers > 1 else 4]}
    assert max(counts) <= -(-blocks // min(workers, blocks)) if workers > 1 else max(counts) - min(counts) <= 1


def test_more_blocks_than_gpus_stay_with_the_gpu_of_their_process():
    assert seats(spread(8, pinned(4))) == [(n // 2, 0, f"gpu-{n // 2}") for n in range(8)]


def test_blocks_without_gpus():
    places = [replace(place, gpus=()) for place in pinned(2)]
    assert [place.worker for place in spread(4, places)] == ["worker 0", "worker 0", "worker 1", "worker 1"]


def test_memory_is_that_of_each_gpu():
    setup = RunSetup(case(device="gpu", blocks=[1, 1, 4]), (1, 1, 4))
    need = MemoryEstimate(setup, spread(4, pinned(1)), "gpu").blocks[0].total
    tight = [
        replace(place, gpus=tuple(replace(gpu, free=int(1.5 * need)) for gpu in place.gpus)) for place in pinned(1)
    ]
    MemoryEstimate(setup, spread(4, tight), "gpu").check()
    two = [replace(place, gpus=place.gpus[:2]) for place in tight]
    with pytest.raises(BadInput, match=r"on A fine GPU gpu-0 of .*, where .* are free"):
        MemoryEstimate(setup, spread(4, two), "gpu").check()


@pytest.mark.parametrize(("ordinals", "expected"), [((), [0, 0]), ((0, 3), [0, 3])])
def test_a_block_opens_the_gpu_that_it_was_given(monkeypatch, ordinals, expected):
    opened = []
    monkeypatch.setattr(actor, "open_device", lambda kind, threads, ordinal: opened.append(ordinal))
    partition = RunSetup(case(), (1, 1, 2)).partition
    plan = Plan("test-ordinals", partition, "gpu", 1, "local", Mapper(), ordinals=ordinals)
    with embedded(1, gpu=False) as client, BlockGroup(client, plan, [survey(client, embedded=True)[0].worker]) as group:
        group.connect()
    assert sorted(opened) == expected


def test_more_processes_than_gpus_are_refused():
    with pytest.raises(BadInput, match=r"machine.workers = 5: this machine has 4 GPUs; use at most 4"), as_keys():
        processes(case(device="gpu", workers=5).machine, CELLS, 4)
