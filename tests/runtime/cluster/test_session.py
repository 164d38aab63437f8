"""Programs of one's own on blocks: what comes back is right, what is wrong is said, and nothing waits for ever."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import taskflow as tf
from taskflow.runtime.cluster import embedded
from taskflow.runtime.cluster.jobs import evaluated
from taskflow.runtime.machine.kernel import KernelError
from tests.runtime.cluster.waiting import press_ctrl_c
from tests.runtime.host.messages import dask_messages
from tests.speed import SOON

CPU = {"device": "cpu", "threads": 1}
ROOT = Path(__file__).parents[3]

TEXT = """
TASK blur(Range range, In a, Out b, In64 weight) {
  STRIDES(range)
  const real w = real(*weight);
  for_cells(range, CELL(c) { b[c] = a[c] + w * (a[c - X] + a[c + X] + a[c - Z] + a[c + Z] - 4 * a[c]); });
}
TASK largest(Range range, In a, Partial top) { reduce_cells(range, top, MAX, CELL(c) { return a[c]; }); }
TASK total(Range range, In a, Partial mass) { reduce_cells(range, mass, SUM, CELL(c) { return a[c]; }); }
"""


@tf.task(kernel=TEXT)
def blur(a: tf.Read[1], b: tf.Write, *, weight: tf.Scalar) -> None: ...


@tf.task(kernel=TEXT)
def total(a: tf.Read, *, mass: tf.Reduce[sum]) -> None: ...


@tf.task(kernel=TEXT)
def largest(a: tf.Read, *, top: tf.Reduce[max]) -> None: ...


COLUMNS = """
TASK add_up(Range range, Foreign a, Out q, int cells) {
  for_cells(range, CELL(c) {
    real sum = 0;
    for (int k = 0; k < cells; ++k) sum += at(a, c.i, c.j, k);
    q[c] = sum;
  });
}
TASK level(Range range, Foreign q, InOut a, int cells) {
  for_cells(range, CELL(c) { a[c] -= at(q, c.i, c.j, 0) / cells; });
}
"""


@tf.task(kernel=COLUMNS)
def add_up(a: tf.Foreign[tf.lines("z")], q: tf.Write, *, cells: int) -> None: ...


@tf.task(kernel=COLUMNS)
def level(q: tf.Foreign[tf.lines("z")], a: tf.ReadWrite, *, cells: int) -> None: ...


BOX = tf.region((8, 6, 10), ["a", "b"], periodic="xz")


def step(f):
    yield blur(f.a, f.b, over=BOX.cells, weight="weight")
    f.swap("a", "b")


def look(f):
    yield total(f.a, over=BOX.cells, mass="mass")


def index(i, j, k):
    return i + 10.0 * j + 100.0 * k


def blurred(a: np.ndarray, times: int, weight: float) -> np.ndarray:
    for _ in range(times):
        a = a + weight * (np.roll(a, 1, 2) + np.roll(a, -1, 2) + np.roll(a, 1, 0) + np.roll(a, -1, 0) - 4 * a)
    return a


@pytest.fixture(scope="module")
def client():
    with embedded(2, gpu=False) as result:
        yield result


@pytest.fixture
def blocks(client):
    with tf.distribute(BOX, client=client, **CPU) as result:
        yield result


# ----------------------------------------------------------------------------------------------------- what comes back


def test_a_program_runs_on_blocks_in_processes(blocks):
    assert len(blocks.partition) == len({name for peers in blocks.transports for name in peers}) == 2
    blocks.fill(a=index)
    start = index(*np.ogrid[:8, :6, :10]).transpose(2, 1, 0)
    np.testing.assert_array_equal(blocks.read("a"), start)
    ran = blocks.run(step, times=7, weight=0.1)
    assert ran.passes == 7
    assert ran.rate > 0
    np.testing.assert_allclose(blocks.read("a"), blurred(start, 7, 0.1), rtol=1e-13)
    blocks.run(look)
    assert blocks.scalars["mass"] == pytest.approx(start.sum(), rel=1e-13)


def test_fields_take_numbers_functions_and_arrays(client, blocks):
    noise = np.random.default_rng(0).random((10, 6, 8))
    blocks.fill(a=noise, b=2)
    np.testing.assert_array_equal(blocks.read("a"), noise)
    assert (blocks.read("b") == 2).all()
    part = tf.Box((2, 0, 3), (5, 6, 8))
    np.testing.assert_array_equal(blocks.read("a", part), noise[3:8, :, 2:5])
    assert blocks.read("a", tf.Box((2, 0, 3), (2, 6, 8))).shape == (5, 6, 0)
    single = tf.region((4, 4, 8), ["a"], dtype="f4")
    with tf.distribute(single, client=client, **CPU) as others:
        others.fill(a=np.ones((8, 4, 4)))
        assert others.read("a", single.cells.layer(2, 1, 0, 1)).dtype == "f4"  # which the first block has nothing of


def test_a_field_in_the_part_of_another_is_read_in_its_own_precision(client):
    mixed = tf.region((4, 4, 8), [tf.Field("a", "f8"), tf.Field("b", "f4"), tf.Field("two", values=2)])

    def rotate(f):
        f.swap("a", "b")
        f.swap("a", "two")
        yield from ()

    with tf.distribute(mixed, client=client, **CPU) as others:
        others.fill(a=1 / 3, b=0.5, two=0.25)
        others.run(rotate)
        assert (others.read("b") == 1 / 3).all()
        assert others.read("two").dtype == "f4"
        assert others.read("a").shape == (8, 4, 2, 4)


def test_functions_are_evaluated_some_planes_at_a_time(monkeypatch):
    monkeypatch.setattr("taskflow.runtime.cluster.jobs.AT_ONCE", 8 * 8 * 3)
    met = []
    result = evaluated(lambda i, j, k: met.append(k.size) or index(i, j, k), BOX.bounds, tf.Field("a", "f4"))
    assert met == [3, 3, 3, 1]
    assert result.dtype == "f4"
    np.testing.assert_array_equal(result, index(*np.ogrid[:8, -1:7, :10]).transpose(2, 1, 0))


def test_boundary_layers_are_filled_too(blocks):
    """y has boundary layers: functions and numbers reach them, and arrays that are large enough."""
    blocks.fill(a=index, b=7)
    assert blocks.read("a", BOX.bounds).shape == (10, 8, 8)
    assert blocks.read("a", tf.Box((3, -1, 4), (4, 0, 5))).item() == index(3, -1, 4)
    assert (blocks.read("b", BOX.bounds) == 7).all()
    wide = np.random.default_rng(0).random((10, 8, 8))
    blocks.fill(a=wide)
    np.testing.assert_array_equal(blocks.read("a", BOX.bounds), wide)


def test_a_program_that_comes_again_finds_its_traces(client):
    """Also one that was made anew, as long as it says the same. Numbers keep their values until given again."""

    def made(width):
        return lambda f: [blur(f.a, f.b, over=BOX.cells.layer(1, 0, 0, width), weight="weight")]

    def traces(shard):
        return len(shard.traces)

    with tf.distribute(BOX, client=client, **CPU, overlap="comm") as blocks:
        blocks.fill(a=index)
        blocks.run(step, times=8, weight=0.1)
        counts = []
        for _ in range(4):
            blocks.run(made(6), times=4)
            blocks.run(step, times=8)
            counts.append(blocks.call(traces))
        assert counts[1] == counts[-1]
        blocks.run(made(3))
        assert min(blocks.call(traces)) > max(counts[-1])


def test_a_program_goes_on_until_its_numbers_say_so(blocks):
    """`until` sees the numbers of one round before; what it compares with may be a number, too."""

    def twice(f):
        for _ in range(2):
            yield blur(f.a, f.b, over=BOX.cells, weight="weight")
            f.swap("a", "b")
        yield largest(f.a, over=BOX.cells, top="top")

    def program(f):
        yield tf.repeat(twice, 500, until=lambda now: now["top"] < now["enough"])

    blocks.fill(a=lambda i, j, k: np.cos(2 * np.pi * k / 10) + 0 * i)
    blocks.run(program, weight=0.1, enough=0.5)
    factor = 1 - 0.2 * (1 - np.cos(2 * np.pi / 10))
    rounds = int(np.ceil(np.log(0.5) / np.log(factor) / 2)) + 1
    assert blocks.scalars["top"] == pytest.approx(factor ** (2 * rounds), rel=1e-12)


def test_the_passes_of_a_repetition_are_a_number_that_tasks_read(blocks):
    def once(f):
        yield largest(f.a, over=BOX.cells, top="top")

    def program(f):
        yield tf.repeat(once, 7, until=lambda now: now["top"] > 0.5, lag=False, count="passes")
        yield blur(f.a, f.b, over=BOX.cells, weight="passes")

    blocks.fill(a=1.0)
    blocks.run(program)
    assert blocks.scalars["passes"] == 1


def test_a_function_is_called_on_every_block(blocks):
    def where(shard, base):
        return base + shard.block, os.getpid(), float(shard.allreduce([shard.block], "sum")[0])

    (one, pid, fold), (two, other, same) = blocks.call(where, 10)
    assert (one, two, fold, same) == (10, 11, 1.0, 1.0)
    assert len({pid, other, os.getpid()}) == 3


def test_the_same_bits_on_blocks_of_every_shape(client):
    result = set()
    for shape in ((1, 1, 1), (1, 1, 2), (2, 3, 1), (2, 1, 2)):
        with tf.distribute(BOX, client=client, blocks=shape, **CPU) as blocks:
            blocks.fill(a=lambda i, j, k: np.sin(1.0 * i * j + k))
            blocks.run(step, times=9, weight=0.1)
            result.add(hashlib.sha256(blocks.read("a").tobytes()).hexdigest())
    assert len(result) == 1


def listen(dask_worker):
    """From now on this process counts what it says through Dask."""
    dask_worker.listening = dask_messages()
    dask_worker.heard = dask_worker.listening.__enter__()


def silence(dask_worker):
    """No longer; returns what was said."""
    dask_worker.listening.__exit__(None, None, None)
    return dict(dask_worker.heard)


@pytest.mark.multigpu
@pytest.mark.parametrize("workers", [1, 2])
def test_gpus_do_one_job_after_another(client, workers):
    """What blocks see of each other's memory outlives a job; the bits are those of the CPU."""
    result = []
    for where in ({"client": client, **CPU}, {"device": "gpu", "blocks": (1, 1, 2), "workers": workers}):
        with tf.distribute(BOX, **where) as blocks:
            blocks.fill(a=lambda i, j, k: np.sin(1.0 * i * j + k))
            blocks.run(step, times=9, weight=0.1)
            middle = blocks.read("a")
            blocks.fill(b=0)
            blocks.run(step, times=200)
            result.append((middle.tobytes(), blocks.read("a").tobytes()))
    assert result[0] == result[1]


def test_steps_send_no_message_through_dask(client, blocks):
    """While 2000 steps are run, processes send answers to a handful of calls, and the leader's own calls."""
    blocks.fill(a=index)
    blocks.run(step, times=4, weight=0.1)
    client.run(listen)
    begin = time.monotonic()
    blocks.run(step, times=2000)
    looks = (time.monotonic() - begin) / 0.2
    for said in client.run(silence).values():
        assert set(said) <= {"answer", "actor_execute"}
        assert said["answer"] < 6 + looks < 2000
        assert said.get("actor_execute", 0) < 6


def test_a_profile_and_a_picture(blocks, tmp_path):
    blocks.fill(a=index)
    result = blocks.profile(step, times=6, path=tmp_path / "profile.json", weight=0.1)
    assert result["blocks"] == 2
    assert result["passes"]["step"] >= 6
    assert 0 < result["shares"]["compute"] < 1
    assert (tmp_path / "profile.json").stat().st_size > 1000
    blocks.draw(step, tmp_path / "step.png")
    assert (tmp_path / "step.png").stat().st_size > 10_000


@tf.task(kernel="""
TASK above(Range range, In a, Out b) { STRIDES(range) for_cells(range, CELL(c) { b[c] = a[c + Z]; }); }
""")
def above(a: tf.Read, b: tf.Write) -> None:
    """b = a of the cell above, which it does not say that it reads."""


def climb(f):
    for _ in range(2):
        yield above(f.a, f.b, over=BOX.cells)
        f.swap("a", "b")


@pytest.mark.parametrize("debug", [False, True])
def test_debugging_shows_a_kernel_that_reads_what_its_task_did_not_declare(client, debug):
    """Where its result would be another one on other blocks, it is NaN; right programs give the same bits as ever."""
    with tf.distribute(BOX, client=client, **CPU, debug=debug) as blocks:
        blocks.fill(a=index)
        blocks.run(step, times=3, weight=0.25)
        start = index(*np.ogrid[:8, :6, :10]).transpose(2, 1, 0)
        np.testing.assert_array_equal(blocks.read("a"), blurred(start, 3, 0.25))  # exact: all weights are powers of two
        blocks.run(climb)
        wrong = np.isnan(blocks.read("a")).any(axis=(1, 2))
    assert np.flatnonzero(wrong).tolist() == ([4, 9] if debug else [])


# ----------------------------------------------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize(("wrong", "message"), [
    ({"blocks": (1, 1, 11)}, r"^blocks = \[1, 1, 11\]: 11 blocks along z do not fit 10 planes"),
    ({"blocks": np.array([1, 1, 11])}, r"^blocks = \[1, 1, 11\]: 11 blocks along z do not fit 10 planes"),
    ({"blocks": np.ones(3)}, r"blocks = array\(\[1., 1., 1.\]\); use three integers"),
    ({"blocks": None}, "blocks = None; use three integers"),
    ({"blocks": (2, 2)}, r"blocks = \(2, 2\); use three integers"),
    ({"device": "tpu"}, "device = 'tpu'; use one of auto, cpu, gpu"),
    ({"overlap": "some"}, "overlap = 'some'; use one of"),
    ({"threads": 0}, "threads = 0; use an integer from 1"),
    ({"channel": "pigeon"}, r'^channel = "pigeon" is not a channel'),
])  # fmt: skip
def test_arguments_that_cannot_be_obeyed(client, wrong, message):
    with pytest.raises(tf.BadInput, match=message):
        tf.distribute(BOX, client=client, **wrong)


def test_what_is_no_region_is_not_distributed():
    with pytest.raises(tf.BadInput, match=r"region = 'a'; make one: region\(cells, fields\)"):
        tf.distribute("a")


def test_a_field_whose_name_is_taken(client):
    with pytest.raises(tf.BadInput, match="a field cannot be called 'copy'"):
        tf.distribute(tf.region((4, 4, 4), ["copy"]), client=client)


@pytest.mark.parametrize("name", ["self", "role", "f.a", "1"])
def test_a_field_has_any_other_name(client, name):
    region = tf.region((4, 4, 8), [name, "b"])
    with tf.distribute(region, client=client, **CPU) as blocks:
        blocks.fill(**{name: 2.0})
        blocks.run(lambda f: [total(f[name], over=region.cells, mass="mass")])
        assert blocks.scalars["mass"] == 256


def test_a_region_that_does_not_fit_into_memory(client):
    huge = tf.region((1 << 20, 1 << 20, 8), ["a"])
    with pytest.raises(tf.BadInput, match=r"the region needs .* TB on .*, where .* are free; use fewer cells"):
        tf.distribute(huge, client=client, **CPU)


def test_a_scheduler_file_that_is_not_there(tmp_path):
    with pytest.raises(tf.BadInput, match=r"scheduler_file = .*gone\.json: file not found"):
        tf.distribute(BOX, scheduler_file=tmp_path / "gone.json")


def test_mistakes_are_found_before_any_block_is_troubled(blocks):
    """After each of them the blocks work on."""
    with pytest.raises(tf.BadInput, match="no field plays 'c'; there are a, b"):
        blocks.fill(c=1)
    with pytest.raises(tf.BadInput, match="no field plays 'c'"):
        blocks.read("c")
    with pytest.raises(AttributeError, match="no field plays 'c'"):
        blocks.run(lambda f: [total(f.c, over=BOX.cells, mass="mass")])
    with pytest.raises(tf.BadInput, match="no field plays 'c'"):
        blocks.run(lambda f: [total("c", over=BOX.cells, mass="mass")])
    with pytest.raises(tf.BadInput, match=r"a = array of shape \(8, 6, 10\); the region has \(10, 6, 8\)"):
        blocks.fill(a=np.zeros((8, 6, 10)))
    with pytest.raises(tf.BadInput, match=r"a = array of shape \(2,\); the region has"):
        blocks.fill(a=[1, 2])
    with pytest.raises(ZeroDivisionError):
        blocks.fill(a=lambda i, j, k: 1 / 0)
    with pytest.raises(tf.BadInput, match="blur reads 'weight', which has no value; run"):
        blocks.run(step)
    with pytest.raises(tf.BadInput, match=r"reads 'times', which has no value; rename it: run\(..., times=n\) gives"):
        blocks.run(lambda f: [blur(f.a, f.b, over=BOX.cells, weight="times")], times=2)
    with pytest.raises(tf.BadInput, match="weight = 'heavy'; give a number"):
        blocks.run(step, weight="heavy")
    with pytest.raises(tf.BadInput, match="no task reads 'time'; they read weight"):
        blocks.run(step, time=5, weight=0.1)
    with pytest.raises(tf.BadInput, match=r"there are values in .* only"):
        blocks.read("a", tf.Box.of((99, 1, 1)))
    with pytest.raises(tf.BadInput, match="outside the region"):
        blocks.run(lambda f: [total(f.a, over=BOX.cells.grow(1), mass="mass")])
    lock = threading.Lock()

    def hold(shard):
        return lock

    with pytest.raises(tf.BadInput, match="hold cannot be sent to the blocks"):
        blocks.call(hold)
    blocks.fill(a=1)
    blocks.run(step, weight=0.0)
    assert (blocks.read("a") == 1).all()


@dataclasses.dataclass
class Unhashable:
    weight: float

    def __call__(self, f):
        yield blur(f.a, f.b, over=BOX.cells, weight="weight")


@pytest.mark.parametrize(("program", "message"), [
    ([], "program = a list; give a function of the roles that yields launches"),
    ((launch for launch in ()), "program = a generator; give a function"),
    (total("a", over=BOX.cells, mass="mass"), "program = a Launch; give a function"),
    (Unhashable(0.1), r"program = Unhashable\(.*unhashable type.*or its class a @dataclass\(frozen=True\)"),
])  # fmt: skip
def test_what_is_no_program(blocks, program, message, tmp_path):
    for run in (blocks.run, blocks.profile, partial(blocks.draw, path=tmp_path / "none.png")):
        with pytest.raises(tf.BadInput, match=message):
            run(program)


@pytest.mark.parametrize("times", [-1, 2.0, "2", None])
def test_passes_are_counted(blocks, times):
    for run in (blocks.run, blocks.profile):
        with pytest.raises(tf.BadInput, match=f"times = {times!r}; give an integer, 0 or more"):
            run(look, times=times)
    assert blocks.run(look, times=np.int64(2)).passes == 2


def test_a_program_that_does_nothing_is_not_drawn(blocks, tmp_path):
    with pytest.raises(tf.BadInput, match=r"does nothing that could be drawn in .*none\.png: yield launches"):
        blocks.draw(lambda f: [], tmp_path / "none.png")


def test_blocks_work_for_one_thread_at_a_time(blocks, tmp_path):
    blocks.fill(a=1)
    begun, enough = tmp_path / "begun", tmp_path / "enough"

    def work(shard):
        begun.touch()
        while not enough.exists():
            time.sleep(0.01)

    other = threading.Thread(target=blocks.call, args=(work,))
    other.start()
    try:
        while not begun.exists():
            time.sleep(0.01)
        with pytest.raises(tf.BadInput, match="these blocks are busy with a call of another thread"):
            blocks.read("a")
    finally:
        enough.touch()
        other.join()
    assert (blocks.read("a") == 1).all()


FLAGS = tf.region((4, 4, 8), ["n"], dtype="u1")


@pytest.mark.parametrize("value", [
    300, 2.7, "abc", None, np.full((8, 4, 4), -1), np.full((8, 4, 4), 1.5).tolist(), lambda i, j, k: 0.5 * (i + 1),
])  # fmt: skip
def test_a_field_is_filled_with_what_it_holds(client, value):
    with tf.distribute(FLAGS, client=client, **CPU) as blocks:
        with pytest.raises(tf.BadInput, match=r"n = .*; a field of the type uint8 holds integers from 0 to 255"):
            blocks.fill(n=value)
        blocks.fill(n=np.array(7.0))
        assert (blocks.read("n") == 7).all()


@pytest.mark.parametrize("job", [
    lambda blocks: blocks.fill(n=lambda i, j, k: 100 * (i + j + k)),
    lambda blocks: blocks.call(lambda shard: shard.write({"n": np.full((4, 4, 4), 256)})),
    lambda blocks: blocks.call(lambda shard: shard.write({"n": 256})),
])  # fmt: skip
def test_values_that_blocks_find_themselves_are_refused_there(client, job):
    message = r"n = .*; a field of the type uint8 holds integers from 0 to 255"
    with tf.distribute(FLAGS, client=client, **CPU) as blocks, pytest.raises(tf.BadInput, match=message):
        job(blocks)


def test_a_kernel_that_does_not_compile_ends_the_blocks(blocks):
    @tf.task(kernel="TASK wrong(Range range, InOut a) {\n  for_cells(range, CELL(c) { a[c] = nothing; });\n}\n")
    def wrong(a: tf.ReadWrite) -> None: ...

    with pytest.raises(KernelError, match=r"line 2 of the kernel text of wrong: .*nothing") as caught:
        blocks.run(lambda f: [wrong(f.a, over=BOX.cells)])
    assert "on worker tls://" in "".join(caught.value.__notes__)
    with pytest.raises(tf.RunFailed, match=r"these blocks have ended: a kernel text"):
        blocks.read("a")
    blocks.close()
    blocks.close()


def test_a_block_that_fails_ends_the_others(blocks):
    """The cause is raised, with its block: not what befell the one that waited for it."""

    def fail(shard):
        if shard.block == 1:
            raise ValueError("no more")
        shard.meet()

    begin = time.monotonic()
    with pytest.raises(tf.RunFailed, match="block 1: ValueError: no more") as caught:
        blocks.call(fail)
    assert time.monotonic() - begin < SOON
    assert "in fail" in "".join(caught.value.__notes__)  # where it happened


def test_ctrl_c_ends_a_run_after_a_step_and_the_fields_can_be_read(blocks):
    blocks.fill(a=index)
    press_ctrl_c()
    begin = time.monotonic()
    with pytest.raises(tf.Interrupted, match=r"stopped by Ctrl-C after \d+ of 1000000000 passes"):
        blocks.run(step, times=10**9, weight=0.0)
    assert time.monotonic() - begin < SOON
    np.testing.assert_array_equal(blocks.read("a"), index(*np.ogrid[:8, :6, :10]).transpose(2, 1, 0))
    blocks.run(look)


# -------------------------------------------------------------------------------------------------------------- scripts

SCRIPT = """
from __future__ import annotations

import hashlib, sys
from dataclasses import dataclass

import numpy as np

import taskflow as tf

Vector = tuple[float, float, float]

@dataclass(frozen=True)
class Weights:
    near: float
    far: Vector

TEXT = '''
TASK spread(Range range, In a, Out b, Weights w) {
  STRIDES(range)
  for_cells(range, CELL(c) { b[c] = w.near * a[c] + w.far[0] * a[c + X] + w.far[1] * a[c - Y] + w.far[2] * a[c + Z]; });
}
TASK top(Range range, In a, Partial most) { reduce_cells(range, most, MAX, CELL(c) { return a[c]; }); }
'''

@tf.task(kernel=TEXT)
def spread(a: tf.Read[1], b: tf.Write, *, w: Weights) -> None: ...

@tf.task(kernel=TEXT)
def top(a: tf.Read, *, most: tf.Reduce["max"]) -> None: ...

@tf.task
def halve(a: tf.ReadWrite) -> None:
    a[...] = a[...] / 2

box = tf.region((9, 7, 12), ["a", "b"], periodic="xyz")

def step(f):
    yield spread(f.a, f.b, over=box.cells, w=Weights(0.4, (0.1, 0.2, 0.3)))
    f.swap("a", "b")
    yield halve(f.a, over=box.cells)
    yield top(f.a, over=box.cells, most="most")

for where in [{"scheduler_file": sys.argv[1]}] if len(sys.argv) > 1 else [{}, {"blocks": (1, 1, 2)}]:
    with tf.distribute(box, device="cpu", **where) as blocks:
        blocks.fill(a=lambda i, j, k: np.cos(i * k) + j)
        blocks.run(step, times=6)
        blocks.run(step, times=5)
        print(len(blocks.partition), hashlib.sha256(blocks.read("a").tobytes()).hexdigest(), blocks.scalars["most"])
"""


@pytest.mark.slow
def test_one_script_here_in_two_processes_and_on_a_cluster(tmp_path):
    """What it declares itself works in other processes, which do not run it again, and the bits are the same."""
    script, file = tmp_path / "script.py", tmp_path / "scheduler.json"
    script.write_text(SCRIPT)
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}

    def printed(*command):
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    count, *alone, number, bits, most = printed(sys.executable, script)
    workers, *on_cluster = printed(ROOT / "deploy" / "cluster.sh", file, "cpu", "2", sys.executable, script, file)
    assert (count, number, workers) == ("1", "2", "2")
    assert alone == [bits, most] == on_cluster


@pytest.mark.parametrize("blocks", [(1, 1, 1), (1, 1, 2), (2, 1, 2)])
def test_a_program_on_several_regions(blocks):
    """The mean of every column is taken from it: sums of columns live on planes, of which each block has a part."""
    cells = (4, 8, 6)
    planes = tf.region((4, 8, 1), ["q"], ghost=0)

    def arrange(partition):
        count = len(partition)
        sums = tf.Partition(planes, (1, count, 1), reach=(planes.cells,) * count)
        return dataclasses.replace(partition, reach=(partition.region.cells,) * count, beside=(sums,))

    def program(f):
        yield add_up(f.a, f.q, over=planes.cells, cells=cells[2])
        yield level(f.q, f.a, over=tf.Box.of(cells), cells=cells[2])

    values = np.random.default_rng(5).random(cells[::-1])
    region = tf.region(cells, ["a"])
    with tf.distribute(region, blocks=blocks, workers=1, arrange=arrange, **CPU) as result:
        result.fill(a=values)
        result.run(program)
        np.testing.assert_allclose(result.read("a"), values - values.mean(axis=0), rtol=0, atol=1e-15)
        np.testing.assert_allclose(result.read("q")[0], values.sum(axis=0), rtol=1e-15)
        result.fill(q=lambda i, j, k: 10 * j + i + k)
        assert result.read("q")[0, 7, 3] == 73


def test_what_is_arranged_is_the_same_region():
    other = tf.Partition(tf.region((4, 4, 4), ["b"]), (1, 1, 1))
    with pytest.raises(tf.BadInput, match=r"arrange\(partition\) returned .*dataclasses.replace"):
        tf.distribute(tf.region((4, 4, 4), ["a"]), arrange=lambda _: other, **CPU)


def test_a_killed_process_is_a_named_error_within_seconds(client):
    """It is the last that uses the cluster, which loses a process."""
    with tf.distribute(BOX, client=client, **CPU) as blocks:
        blocks.fill(a=index)
        victim = blocks.call(lambda shard: os.getpid())[1]
        killed = []

        def kill():
            os.kill(victim, signal.SIGKILL)
            killed.append(time.monotonic())

        timer = threading.Timer(1.0, kill)
        timer.start()
        with pytest.raises(tf.RunFailed, match=r"block 1 on worker .* does not answer"):
            blocks.run(step, times=10**9, weight=0.1)
        assert time.monotonic() - killed[0] < SOON
        timer.join()
