"""Kernel texts: compiled with what their tasks declare, cached, bound to memory, and refused with a clear message."""

from __future__ import annotations

import math
import os
import pickle
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from taskflow.common.errors import BadInput
from taskflow.runtime.machine.device import cpu, gpu, gpu_problem, open_device
from taskflow.runtime.machine.kernel import (
    Layout,
    bandwidth,
    compile_cuda,
    compile_host,
    compile_together,
    compiled,
    copier,
    copiers,
)
from taskflow.runtime.machine.kernel.agreement import KernelError, check_signature, parameters
from taskflow.runtime.machine.kernel.kernel import text_with_thunk
from taskflow.runtime.machine.kernel.text import packed, settings, struct_dtype
from taskflow.runtime.regions import ROTATIONS, Box, seen
from taskflow.runtime.tasks import (
    FACES,
    Components,
    Face,
    Foreign,
    LookupTable,
    LookupTables,
    Read,
    ReadByte,
    ReadWrite,
    Reduce,
    Scalar,
    Task,
    Variant,
    Write,
    facing,
    frame,
    offsets,
    task,
)  # fmt: skip
from tests.runtime.machine.devices import DEVICES, opened

ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Mixed:
    """Every kind of member a constant can have, in an order that needs padding."""

    flag: bool
    number: float
    count: int
    counts: tuple[int, int, int]
    vector: tuple[float, float, float]
    flags: tuple[bool, bool, bool]
    last: float


MIXED = Mixed(True, 0.1, -7, (1, -2, 3), (0.1, 0.2, 0.3), (True, False, True), 1.5)
VALUES = [1, 0.1, -7, 1, -2, 3, 0.1, 0.2, 0.3, 1, 0, 1, 1.5]

MEMBERS = """
#include "cell.h"

TASK members(Range range, Out q, In64 time, Mixed mixed) {
  for_cells(range, CELL(c) {
    const real all[] = {real(mixed.flag), mixed.number, real(mixed.count), real(mixed.counts[0]), real(mixed.counts[1]),
                        real(mixed.counts[2]), mixed.vector[0], mixed.vector[1], mixed.vector[2], real(mixed.flags[0]),
                        real(mixed.flags[1]), real(mixed.flags[2]), mixed.last, real(*time)};
    q[c] = all[c.i];
  });
}
"""
SMOOTH = """
#include "cell.h"

TASK smooth(Range range, In p, Out q, Partial top) {
  STRIDES(range)
  for_cells(range, CELL(c) { q[c] = p[c - X] + p[c]; });
  reduce_cells(range, top, MAX, CELL(c) { return p[c]; });
}
"""


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest):
    return opened(request.param)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A kernel cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for cached in (compile_host.cache_folder, compile_host.compiler, compile_host.library):
        cached.cache_clear()
    yield tmp_path / "cache" / "taskflow"
    for cached in (compile_host.cache_folder, compile_host.compiler, compile_host.library):
        cached.cache_clear()


def smooth_task(folder: Path, text: str = SMOOTH) -> Task:
    """A task of its own in each test: what was compiled is remembered per task."""
    path = folder / "smooth.cu"
    path.write_text(text)

    @task(kernel=path)
    def smooth(p: Read[offsets(x=(-1, 0))], q: Write, *, top: Reduce[max]) -> None: ...

    return smooth


def run_smooth(task: Task, device) -> np.ndarray:
    layout = Layout((-1, -1, -1), (5, 4, 6))
    p, q = (device.allocate(layout.shape, "f8") for _ in range(2))
    p[...] = device.xp.arange(120.0).reshape(layout.shape)
    top = device.allocate((1,), "f8")
    box = Box((0, 0, 0), (4, 2, 3))
    compiled(task, "f8", device).bind(box, layout, [p, q], {}, {}, {"top": top})()
    assert float(top[0]) == float(p[box.slices(layout.origin)].max())
    return np.array(device.to_host(q))


def test_other_tasks_of_a_header_are_not_compiled(cache, tmp_path, monkeypatch):
    """A macro gives them their names there, so that their bodies cannot be left out of the text."""
    body = "(Range range, Out q) { STRIDES(range) for_cells(range, CELL(c) { q[c] = %d; }); }"
    words = "".join(f"TASK NAMED({name}){body % n}\n" for n, name in enumerate(("one", "two"), start=1))
    (tmp_path / "both.h").write_text(f'#include "cell.h"\n{words}')
    (tmp_path / "both.cu").write_text('#define NAMED(name) the_##name\n#include "both.h"\n')

    @task(kernel=tmp_path / "both.cu")
    def the_one(q: Write) -> None: ...

    @task(kernel=tmp_path / "both.cu")
    def the_two(q: Write) -> None: ...

    for each in (the_one, the_two):
        monkeypatch.setattr(sys.modules[__name__], each.name, each, raising=False)
    for number, mine, other in ((1, the_one, the_two), (2, the_two, the_one)):
        q, layout = np.zeros((3, 3, 3)), Layout((0, 0, 0), (3, 3, 3))
        compiled(mine, "f8", cpu()).bind(Box((0, 0, 0), (3, 3, 3)), layout, [q], {}, {}, {})()
        assert (q == number).all()
        library = compile_host.library(text_with_thunk(mine, REAL))
        assert library[mine.symbol]
        with pytest.raises(AttributeError, match=f"undefined symbol: {other.symbol}"):
            library[other.symbol]


REAL = np.dtype("f8")
EXPECTED = np.zeros((5, 4, 6))
EXPECTED[1:4, 1:3, 1:5] = np.arange(120.0).reshape(5, 4, 6)[1:4, 1:3, 1:5] * 2 - 1


@pytest.mark.parametrize("real", ["f4", "f8"])
def test_constants_and_scalars_arrive_as_declared(real, device, tmp_path):
    (tmp_path / "members.cu").write_text(MEMBERS)

    @task(kernel=tmp_path / "members.cu")
    def members(q: Write, *, time: Scalar, mixed: Mixed) -> None: ...

    layout = Layout((0, 0, 0), (1, 1, 14))
    q, time = device.allocate(layout.shape, real), device.allocate((1,), "f8")
    time[...] = 2.25
    compiled(members, real, device).bind(Box.of((14, 1, 1)), layout, [q], {"mixed": MIXED}, {"time": time})()
    np.testing.assert_array_equal(np.array(device.to_host(q)).ravel(), np.array([*VALUES, 2.25], real))


def test_packed_constants_are_laid_out_as_c_does():
    assert struct_dtype(Mixed, np.dtype("f8")).fields["number"][1] == 8
    assert struct_dtype(Mixed, np.dtype("f4")).itemsize == 13 * 4
    assert packed(MIXED, np.dtype("f8"), id)["counts"].tolist() == [1, -2, 3]


@dataclass(frozen=True)
class Slope:
    """q = rate i"""

    rate: float


@dataclass(frozen=True)
class Curve(Slope):
    """q = rate of[i] + more[2][-1]"""

    defines: ClassVar = ("CURVE",)
    of: LookupTable
    more: LookupTables


CURVES = """
TASK drawn(Range range, Out q, Slope slope) {
#ifdef CURVE
  for_cells(range, CELL(c) { q[c] = slope.rate * slope.of[c.i] + slope.more[2][-1]; });
#else
  for_cells(range, CELL(c) { q[c] = slope.rate * c.i; });
#endif
}
"""


@task(kernel=CURVES)
def drawn(q: Write, *, slope: Slope) -> None: ...


@pytest.mark.parametrize("real", ["f4", "f8"])
def test_one_text_serves_constants_of_derived_classes_which_may_hold_tables(real, device):
    more = tuple(LookupTable(-1, (10.0 * n, 1.0)) for n in range(3))
    curve, box = Curve(2.0, LookupTable(3, (5.0, 7.0)), more), Box((3, 0, 0), (5, 1, 1))
    layout = Layout((3, 0, 0), (1, 1, 2))
    for slope, expected in ((Slope(2.0), [6.0, 8.0]), (curve, [30.0, 34.0]), (Slope(3.0), [9.0, 12.0])):
        q, launch = device.allocate(layout.shape, real), drawn("q", over=box, slope=slope)
        compiled(launch.task, real, device).bind(box, layout, [q], launch.constants, {})()
        assert np.array(device.to_host(q)).ravel().tolist() == expected
    assert drawn("q", over=box, slope=curve).task is pickle.loads(pickle.dumps(drawn("q", over=box, slope=curve).task))


class Bend(Curve):
    """By another name."""


def test_what_a_constants_class_is_called_changes_no_text():
    one, box = LookupTable(0, (1.0, 2.0)), Box.of((2, 1, 1))
    texts = [
        text_with_thunk(drawn("q", over=box, slope=kind(2.0, one, (one,) * 3)).task, REAL) for kind in (Curve, Bend)
    ]
    assert texts[0] == texts[1]
    assert "#define CURVE\n" in texts[0]
    assert "CURVE\n" not in text_with_thunk(drawn, REAL).split("TASK drawn")[0]


@dataclass(frozen=True)
class Misdefined(Slope):
    defines: ClassVar = "CURVE"


def test_macros_are_given_as_a_tuple():
    task = drawn("q", over=Box.of((2, 1, 1)), slope=Misdefined(1.0)).task
    with pytest.raises(KernelError, match=r"Misdefined.defines = 'CURVE'; give a tuple of names of macros"):
        text_with_thunk(task, REAL)


@dataclass(frozen=True)
class Scheme:
    """q = speed p"""


class Upwind(Scheme):
    """q = speed p of the cell before"""

    defines: ClassVar = ("UPWIND",)
    stencils: ClassVar = {"p": offsets(x=(-1, -1))}


@dataclass(frozen=True)
class Stream:
    """A constant with a choice among its members."""

    scheme: Scheme
    speed: float


@task(
    kernel="""
TASK streamed(Range range, In p, Out q, Stream stream) {
#ifdef UPWIND
  for_cells(range, CELL(c) { q[c] = stream.speed * p[c - 1]; });
#else
  for_cells(range, CELL(c) { q[c] = stream.speed * p[c]; });
#endif
}
"""
)
def streamed(p: Read, q: Write, *, stream: Stream) -> None: ...


@pytest.mark.parametrize("real", ["f4", "f8"])
def test_a_member_without_members_is_a_choice_that_the_text_is_compiled_for(real, device):
    box, layout = Box((0, 0, 0), (2, 1, 1)), Layout((-1, 0, 0), (1, 1, 3))
    for scheme, expected in ((Scheme(), [4.0, 6.0]), (Upwind(), [2.0, 4.0]), (Scheme(), [4.0, 6.0])):
        launch = streamed("p", "q", over=box, stream=Stream(scheme, 2.0))
        p, q = (device.xp.asarray(np.array([[row]], real)) for row in ([1, 2, 3], [0, 0, 0]))
        arrays = [device.allocate(layout.shape, real) for _ in range(2)]
        arrays[0][...], arrays[1][...] = p, q
        compiled(launch.task, real, device).bind(box, layout, arrays, launch.constants, {})()
        assert np.array(device.to_host(arrays[1])).ravel().tolist() == [0.0, *expected]
        assert launch.stencils["p"] == (offsets(x=(-1, -1)) if type(scheme) is Upwind else offsets())
        assert pickle.loads(pickle.dumps(launch.task)) is launch.task
    assert struct_dtype(Stream, np.dtype(real)).names == ("speed",)


RELAXED = """
FN real weighted(real value, None) { return value; }
FN real weighted(real value, const Slope& slope) { return slope.rate * value; }
FN real around(None, None, Index, Index) { return 0; }
FN real around(In low, In high, Index c, Index step) { return low[c - step] + high[c + step]; }
FN bool is_shut(None, Index) { return false; }
FN bool is_shut(InByte shut, Index c) { return shut[c] != 0; }

TASK relaxed(Range range, In p OPTIONAL(low) OPTIONAL(high) OPTIONAL(shut), Out q, Partial top OPTIONAL(slope)
             OPTIONAL(count)) {
  STRIDES(range)
  for_cells(range, CELL(c) {
    q[c] = is_shut(shut, c) ? real(-1) : weighted(p[c] + around(low, high, c, X), slope);
  }, p + Z, low + Z);
  reduce_cells(range, top, MAX, CELL(c) { return p[c]; });
}
"""


@task(kernel=RELAXED)
def relaxed(
    p: Read, sides: Components(low=Read[offsets(x=(-1, -1))], high=Read[offsets(x=(1, 1))]) | None,
    shut: ReadByte | None, q: Write,
    *, top: Reduce[max], slope: Slope | None, count: int | None,
) -> None: ...  # fmt: skip


@pytest.mark.parametrize("real", ["f4", "f8"])
@pytest.mark.parametrize("sides", [None, ("low", "high")])
@pytest.mark.parametrize("shut", [None, "shut"])
@pytest.mark.parametrize("slope", [None, Slope(2.0), Curve(3.0, LookupTable(0, (1.0,)), (LookupTable(0, (1.0,)),) * 3)])
@pytest.mark.fast("*-f8", "*-None-None-None-f4")
def test_optional_fields_and_constants_present_and_absent(slope, shut, sides, real, device):
    box, layout = Box((0, 0, 0), (3, 1, 1)), Layout((-1, 0, 0), (1, 1, 5))
    launch = relaxed("p", sides, shut, "q", over=box, top="top", slope=slope, count=None)
    row = {
        "p": [9, 1, 2, 3, 9], "low": [10, 20, 30, 40, 50], "high": [100, 200, 300, 400, 500],
        "shut": [0, 0, 1, 0, 0], "q": [0] * 5,
    }  # fmt: skip
    arrays = [device.allocate(layout.shape, privilege.precision or real) for _, privilege in launch.requirements]
    for name, array in zip(launch.fields, arrays, strict=True):
        array[...] = device.xp.asarray(row[name])
    top = device.allocate((1,), "f8")
    kernel = compiled(launch.task, real, device)
    kernel.bind(box, layout, arrays, launch.constants, {}, {"top": top})()
    values = [n + (10 * n + 100 * (n + 2) if sides else 0) for n in (1, 2, 3)]
    expected = [(slope.rate if slope else 1) * value for value in values]
    expected[1] = -1 if shut else expected[1]
    assert np.array(device.to_host(arrays[-1])).ravel().tolist() == [0, *expected, 0]
    assert float(device.to_host(top)[0]) == 3


def test_an_absent_parameter_leaves_nothing_in_the_signature():
    launch = relaxed("p", None, None, "q", over=Box.of((2, 1, 1)), top="top", slope=None, count=None)
    text = text_with_thunk(launch.task, REAL)
    assert "relaxed(Range, In, Out, Partial);" in text
    assert "relaxed(Range, In, In, In, InByte, Out, Partial, Slope, int);" in text_with_thunk(relaxed, REAL)


def test_a_text_that_does_not_name_what_is_optional_is_refused():
    @task(kernel="TASK wrong(Range range, In p, In s, Out q) { for_cells(range, CELL(c) { q[c] = p[c]; }); }")
    def wrong(p: Read, s: Read | None, q: Write) -> None: ...

    told = "3 parameters after the range and the task 2: it has to be TASK wrong(Range range, In p OPTIONAL(s), Out q)"
    with pytest.raises(KernelError, match=re.escape(told)):
        text_with_thunk(wrong("p", None, "q", over=Box.of((2, 1, 1))).task, REAL)


def test_a_table_has_no_numbers_before_its_first():
    assert LookupTable(-1, (5.0, 6.0))[0] == 6.0
    with pytest.raises(IndexError, match="begins with number -1; there is no number -2"):
        LookupTable(-1, (5.0, 6.0))[-2]


def test_a_kernel_runs_on_its_box_alone(device, tmp_path):
    np.testing.assert_array_equal(run_smooth(smooth_task(tmp_path), device), EXPECTED)


def test_a_second_process_uses_what_the_first_compiled(cache, tmp_path, monkeypatch):
    run_smooth(smooth_task(tmp_path), cpu())
    libraries = [path.name for path in cache.glob("*.so")]
    assert len(libraries) == 1
    compile_host.library.cache_clear()  # as a new process begins
    monkeypatch.setattr(compile_host, "_build", lambda *_: pytest.fail("compiled again"))
    run_smooth(smooth_task(tmp_path), cpu())
    assert [path.name for path in cache.glob("*.so")] == libraries


def test_texts_are_compiled_side_by_side(cache, tmp_path, monkeypatch):
    both, build = threading.Barrier(2), compile_host._build

    def together(*arguments):
        both.wait()  # for another compiler: each alone would wait in vain
        build(*arguments)

    monkeypatch.setattr(compile_host, "_build", together)
    (tmp_path / "other").mkdir()
    tasks = [smooth_task(tmp_path), smooth_task(tmp_path / "other", SMOOTH + "\n// another text\n")]
    compile_together([(task, np.dtype("f8"), False) for task in tasks], cpu(2))
    assert len(list(cache.glob("*.so"))) == 2


def test_a_text_is_compiled_once_for_all_who_want_it(cache, tmp_path, monkeypatch):
    built, build = [], compile_host._build
    monkeypatch.setattr(compile_host, "_build", lambda *arguments: (built.append(arguments), build(*arguments)))
    text = text_with_thunk(smooth_task(tmp_path), np.dtype("f8"))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(compile_host.library.__wrapped__, [text] * 4))
    assert len(built) == 1
    assert len(list(cache.glob("*.so"))) == 1


def test_text_flags_and_processor_are_part_of_the_key(cache, tmp_path, monkeypatch):
    run_smooth(smooth_task(tmp_path), cpu())
    run_smooth(smooth_task(tmp_path, SMOOTH + "\n// another text\n"), cpu())
    assert len(list(cache.glob("*.so"))) == 2
    monkeypatch.setattr(compile_host, "FLAGS", (*compile_host.FLAGS, "-DOTHER"))
    compile_host.library.cache_clear()
    run_smooth(smooth_task(tmp_path), cpu())
    assert len(list(cache.glob("*.so"))) == 3
    monkeypatch.setattr(compile_host, "_processor", lambda: "another processor")
    compile_host.library.cache_clear()
    run_smooth(smooth_task(tmp_path), cpu())
    assert len(list(cache.glob("*.so"))) == 4
    monkeypatch.setenv(compile_host.LEVEL, "2")
    compile_host.library.cache_clear()
    run_smooth(smooth_task(tmp_path), cpu())
    assert len(list(cache.glob("*.so"))) == 5


def test_an_optimization_that_compilers_do_not_have_is_refused(cache, tmp_path, monkeypatch):
    monkeypatch.setenv(compile_host.LEVEL, "fast")
    with pytest.raises(BadInput, match='TASKFLOW_OPTIMIZATION = "fast": give 0, 1, 2 or 3'):
        run_smooth(smooth_task(tmp_path), cpu())


def test_processes_that_compile_at_once_all_succeed(tmp_path):
    script = (
        "import sys; from pathlib import Path; import tests.runtime.machine.test_kernel as t\n"
        "from taskflow.runtime.machine.device import cpu\n"
        "assert (t.run_smooth(t.smooth_task(Path(sys.argv[1])), cpu()) == t.EXPECTED).all()"
    )
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}
    folders = [tmp_path / name for name in "abc"]  # each writes the text for itself
    for folder in folders:
        folder.mkdir()
    processes = [
        subprocess.Popen([sys.executable, "-c", script, str(folder)], env=environment, cwd=ROOT, stderr=subprocess.PIPE)
        for folder in folders
    ]
    for process in processes:
        _, errors = process.communicate()
        assert process.returncode == 0, errors.decode()
    assert len(list((tmp_path / "cache" / "taskflow").glob("*.so"))) == 1


def test_without_a_writable_cache_a_temporary_folder_serves(cache, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    np.testing.assert_array_equal(run_smooth(smooth_task(tmp_path), cpu()), EXPECTED)
    assert compile_host.cache_folder().name.startswith("taskflow-kernels-")


def test_a_temporary_cache_goes_with_its_process(tmp_path):
    (tmp_path / "temporary").mkdir()
    environment = {**os.environ, "XDG_CACHE_HOME": "/proc/none", "TMPDIR": str(tmp_path / "temporary")}
    script = "from taskflow.runtime.machine.kernel.compile_host import library; library('extern \"C\" void f() {}').f()"
    subprocess.run([sys.executable, "-c", script], env=environment, check=True)
    assert list((tmp_path / "temporary").iterdir()) == []


@pytest.mark.parametrize("left", [slice(0), slice(4096), slice(None, None, -1)], ids=["empty", "torn", "other"])
def test_a_damaged_library_is_built_again(cache, tmp_path, left):
    run_smooth(smooth_task(tmp_path), cpu())
    (kept,) = cache.glob("*.so")
    whole = kept.read_bytes()
    kept.unlink()  # this process has it open: another file, as after a crash
    kept.write_bytes(whole[left])
    compile_host.library.cache_clear()
    np.testing.assert_array_equal(run_smooth(smooth_task(tmp_path), cpu()), EXPECTED)
    assert len(kept.read_bytes()) == len(whole)


def test_a_library_that_does_not_load_is_built_again(cache, tmp_path, monkeypatch):
    def garbage(*arguments):
        monkeypatch.undo()
        (tmp_path / "other.so").write_bytes(b"a library of another system")
        compile_host.keep(tmp_path / "other.so", arguments[-1])

    text = text_with_thunk(smooth_task(tmp_path), REAL)
    monkeypatch.setattr(compile_host, "_build", garbage)
    with pytest.raises(KernelError, match="does not load"):
        compile_host.library(text)
    np.testing.assert_array_equal(run_smooth(smooth_task(tmp_path), cpu()), EXPECTED)


@pytest.mark.parametrize("mode", [0o777, 0o720, 0o702, 0o1777])
def test_a_cache_that_others_may_write_is_refused(cache, tmp_path, mode):
    cache.mkdir(parents=True)
    cache.chmod(mode)
    with pytest.raises(BadInput, match=rf"others may write.*mode {mode:04o}.*XDG_CACHE_HOME"):
        run_smooth(smooth_task(tmp_path), cpu())
    assert not list(cache.iterdir())


@pytest.mark.parametrize("mode", [0o777, 0o775])
def test_a_cache_that_others_may_replace_is_refused(cache, tmp_path, mode):
    """Everybody, or a group."""
    cache.mkdir(parents=True, mode=0o700)
    cache.parent.chmod(mode)
    with pytest.raises(BadInput, match=rf"others may write into {cache.parent} \(mode {mode:04o}\).*XDG_CACHE_HOME"):
        run_smooth(smooth_task(tmp_path), cpu())
    cache.parent.chmod(mode | 0o1000)
    np.testing.assert_array_equal(run_smooth(smooth_task(tmp_path), cpu()), EXPECTED)


def test_a_cache_of_somebody_else_is_refused(cache, tmp_path, monkeypatch):
    cache.mkdir(parents=True, mode=0o700)
    owner = cache.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    lstat = Path.lstat

    def seen(path):  # root owns all on the way here, where tests run as root
        values = list(lstat(path))
        values[4] = owner + 2 if path == cache else 0
        return os.stat_result(values)

    monkeypatch.setattr(Path, "lstat", seen)
    with pytest.raises(BadInput, match=rf"belongs to another user \(user {owner + 2}, mode 0700\).*XDG_CACHE_HOME"):
        run_smooth(smooth_task(tmp_path), cpu())


def test_a_library_that_others_may_write_is_built_again(cache, tmp_path):
    """A compiler leaves it to the umask, and a folder that everybody may read gives the file away."""
    run_smooth(smooth_task(tmp_path), cpu())
    (kept,) = cache.glob("*.so")
    assert kept.stat().st_mode & 0o777 == 0o600
    whole = kept.read_bytes()
    kept.unlink()
    kept.write_bytes(whole)
    kept.chmod(0o664)
    assert compile_host.loaded(kept) is None
    compile_host.library.cache_clear()
    np.testing.assert_array_equal(run_smooth(smooth_task(tmp_path), cpu()), EXPECTED)
    assert kept.stat().st_mode & 0o777 == 0o600


def test_a_cache_of_cupy_that_others_may_replace_is_not_used(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("CUPY_CACHE_DIR", str(tmp_path / "cupy"))
    compile_cuda.own_cache.__wrapped__()
    assert (tmp_path / "cupy").stat().st_mode & 0o777 == 0o700
    (tmp_path / "cupy").chmod(0o775)
    with pytest.raises(BadInput, match=r"CUPY_CACHE_DIR=.*others may write.*mode 0775"):
        compile_cuda.own_cache.__wrapped__()
    monkeypatch.delenv("CUPY_CACHE_DIR")
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".cupy").mkdir()
    (tmp_path / ".cupy").chmod(0o777)
    compile_cuda.own_cache.__wrapped__()
    assert os.environ["CUPY_CACHE_DIR"] == str(cache / "cupy")
    monkeypatch.delenv("CUPY_CACHE_DIR")


def test_no_compiler_is_bad_input_that_names_the_remedy(cache, tmp_path, monkeypatch):
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BadInput, match=r"no C\+\+ compiler.*install g\+\+, or set CXX"):
        run_smooth(smooth_task(tmp_path), cpu())


def test_a_compiler_that_hangs_is_bad_input(cache, tmp_path, monkeypatch):
    monkeypatch.setattr(compile_host, "LIMIT", 0.2)
    (slow := tmp_path / "slow").write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o700)
    monkeypatch.setenv("CXX", str(slow))
    with pytest.raises(BadInput, match=r"slow: has not ended in .* minutes; try again, or set CXX"):
        run_smooth(smooth_task(tmp_path), cpu())


def test_cxx_names_the_compiler(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler -O2")
    with pytest.raises(BadInput, match="CXX='no-such-compiler -O2' does not run"):
        run_smooth(smooth_task(tmp_path), cpu())
    wrapper = tmp_path / "my-compiler"
    wrapper.write_text(f'#!/bin/sh\ntouch {tmp_path}/used\nexec c++ "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("CXX", f"{wrapper} -DEXTRA")
    np.testing.assert_array_equal(run_smooth(smooth_task(tmp_path), cpu()), EXPECTED)
    assert (tmp_path / "used").exists()


def test_constants_are_named_as_they_were_declared():
    """A class of a kernel's constants that derives from another has the name of its base in the text."""

    @task(kernel="TASK curved(Range range, InOut q, Curve curve) {}")
    def curved(q: ReadWrite, *, curve: Curve) -> None:
        pass

    with pytest.raises(KernelError, match="as Curve curve, but it was declared Curve: make it Slope curve in the text"):
        check_signature(curved, parameters(curved))


def test_without_openmp_kernels_run_serially(cache, tmp_path, monkeypatch):
    wrapper = tmp_path / "without-openmp"
    wrapper.write_text('#!/bin/sh\nfor a in "$@"; do [ "$a" = -fopenmp ] && exit 1; done\nexec c++ "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("CXX", str(wrapper))
    assert not compile_host.compiler().parallel
    np.testing.assert_array_equal(run_smooth(smooth_task(tmp_path), cpu(4)), EXPECTED)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (
            "TASK smooth(Range range, InOut p, Out q, Partial top)",
            "takes its parameter p as InOut p, but it was declared Read: make it In p in the text, or declare what",
        ),
        (
            "TASK smooth(Range range, In p, In other, Out q, Partial top)",
            "has 4 parameters after the range and the task 3: it has to be TASK smooth(Range range, In p, Out q, Part",
        ),
        (
            "TASK smooth(Range range, In p, Out q, In64 top)",
            "takes its parameter top as In64 top, but it was declared Reduce: make it Partial top",
        ),
    ],
)
def test_a_kernel_that_differs_from_its_task_is_refused(wrong, why, device, tmp_path):
    text = SMOOTH.replace("TASK smooth(Range range, In p, Out q, Partial top)", wrong)
    with pytest.raises(KernelError, match=re.escape(why)):
        run_smooth(smooth_task(tmp_path, text), device)


@pytest.mark.parametrize("write", ["p[c] = q[c]", "p[c + Y] += 1", "++q[c]; p[c - X]--", "if (p[c] == 1) p[ c ] *= 2"])
def test_a_kernel_that_writes_what_its_task_declared_read_is_refused(write, device, tmp_path):
    text = SMOOTH.replace("q[c] = p[c - X] + p[c]", f"q[c] = 0;\n {write}")
    with pytest.raises(KernelError, match="line 7 of the kernel text of smooth writes p, which was declared Read"):
        run_smooth(smooth_task(tmp_path, text), device)


def test_reading_is_not_taken_for_writing(tmp_path):
    text = SMOOTH.replace("q[c] = p[c - X] + p[c]", "q[c] = p[c] == p[c - X]; q[c] = nonsense")
    with pytest.raises(KernelError) as caught:
        run_smooth(smooth_task(tmp_path, text), cpu())
    assert "declared Read" not in str(caught.value)


def test_errors_of_the_compiler_name_file_and_line(tmp_path):
    with pytest.raises(KernelError, match=r"smooth\.cu:6:\d+: error: .*nonsense"):
        run_smooth(smooth_task(tmp_path, SMOOTH.replace("p[c - X] + p[c]", "nonsense")), cpu())


def test_a_missing_header_is_named(tmp_path):
    with pytest.raises(KernelError, match=r'smooth\.cu includes "gone\.h"'):
        run_smooth(smooth_task(tmp_path, '#include "gone.h"\n' + SMOOTH), cpu())


def test_memory_that_a_task_would_miss_is_refused(tmp_path):
    kernel = compiled(smooth_task(tmp_path), "f8", cpu())
    layout = Layout((0, 0, 0), (4, 4, 4))
    p, q, top = np.zeros((4, 4, 4)), np.zeros((4, 4, 4)), {"top": np.zeros(1)}
    kernel.bind(Box((1, 0, 0), (4, 4, 4)), layout, [p, q], {}, {}, top)()
    for box in (Box.of((4, 4, 4)), Box((1, 0, 0), (5, 4, 4)), Box((1, -1, 0), (4, 4, 4))):
        with pytest.raises(ValueError, match="there is memory for"):
            kernel.bind(box, layout, [p, q], {}, {}, top)
    for wrong in (p.astype("f4"), np.zeros((4, 4, 5)), np.asfortranarray(np.zeros((4, 4, 4)))):
        with pytest.raises(ValueError, match="is float"):
            kernel.bind(Box((1, 0, 0), (4, 4, 4)), layout, [wrong, q], {}, {}, top)


@pytest.mark.parametrize("dtype", ["u1", "u2", "f4", "f8"])
@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 30, 40), (30, 1, 40), (30, 40, 1), (5, 7, 9), (33, 32, 40)])
def test_copies_between_strided_boxes(dtype, shape, device):
    z, y, x = shape
    source, target = device.allocate((35, 42, 43), dtype), device.allocate((40, 41, 50), dtype)
    source[...] = (device.xp.arange(source.size) % 251).reshape(source.shape)
    view = source[1 : 1 + z, 2 : 2 + y, 3 : 3 + x]
    buffer = device.allocate((view.size * view.itemsize + 32,), "u1")
    part = buffer[16:-16].view(dtype).reshape(shape)
    copier(device, part, view)()
    copier(device, target[4 : 4 + z, 1 : 1 + y, 2 : 2 + x], part)()
    expected = np.zeros(target.shape, dtype)
    expected[4 : 4 + z, 1 : 1 + y, 2 : 2 + x] = device.to_host(view)
    np.testing.assert_array_equal(device.to_host(target), expected)


def test_copies_keep_the_bits_of_nan():
    source = np.array([[[0x7FF4000000000001]]], np.uint64).view("f8")
    target = np.zeros((1, 1, 1))
    copier(cpu(), target, source)()
    assert target.view(np.uint64)[0, 0, 0] == 0x7FF4000000000001


def test_copies_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="cannot copy"):
        copier(cpu(), np.zeros((2, 2, 2)), np.zeros((2, 2, 3)))
    with pytest.raises(ValueError, match="cannot copy"):
        copier(cpu(), np.zeros((2, 2, 2)), np.zeros((2, 2, 2), "f4"))
    with pytest.raises(ValueError, match="not contiguous"):
        copier(cpu(), np.zeros((2, 2, 4))[:, :, ::2], np.zeros((2, 2, 2)))


@pytest.mark.parametrize("turn", ROTATIONS, ids=lambda turn: "".join(map("{:+d}".format, turn.axes)))
@pytest.mark.parametrize("values", [1, 3])
def test_a_turned_copy(turn, values, device):
    shape = (4, 3, 5) if values == 1 else (4, 3, values, 5)
    source = device.allocate(shape, "f8")
    source[...] = device.xp.arange(np.prod(shape), dtype="f8").reshape(shape)
    view = seen(source, turn.axes)
    target = device.allocate(view.shape, "f8")
    for call in copiers(device, [(target, view)]):
        call()
    device.synchronize()
    assert np.array_equal(device.to_host(target), device.to_host(view))


@pytest.mark.parametrize(("size", "calls"), [(8191, 2), (8192, 3)])
def test_small_copies_of_a_cpu_are_one_call_for_each_size(size, calls):
    shapes = [(1, 1, size), (2, 3, 4), (1, 1, 7)]
    arrays = [np.arange(math.prod(s), dtype=t).reshape(s) for s, t in zip(shapes, ("f8", "f8", "f4"), strict=True)]
    pairs = [(np.zeros_like(array), array) for array in arrays]
    made = copiers(cpu(2), pairs)
    assert len(made) == calls
    for call in made:
        call()
    assert all(np.array_equal(*pair) for pair in pairs)


def test_a_cpu_device():
    device = open_device("cpu", 3)
    assert (device.kind, device.threads, device.xp) == ("cpu", 3, np)
    assert device.name
    arrays = [device.allocate((3, 4, 5), "f4") for _ in range(40)]
    assert all(a.shape == (3, 4, 5) and a.dtype == np.float32 and a.flags.c_contiguous and not a.any() for a in arrays)
    assert all(device.pointer(array) % 64 == 0 for array in arrays)
    assert len({device.pointer(array) % 4096 for array in arrays}) > 20
    assert device.to_host(arrays[0]) is arrays[0]
    arrays[0][...] = 1.0
    held = device.hold(arrays[0][:, 1:])
    arrays[0][...] = 2.0
    np.testing.assert_array_equal(held(), np.ones((3, 3, 5), "f4"))


def test_a_missing_gpu_is_explained(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert "CUDA_VISIBLE_DEVICES" in str(gpu_problem())
    with pytest.raises(BadInput, match=r"device = 'gpu'.*use device = 'cpu'"):
        gpu()


@pytest.mark.gpu
def test_a_gpu_device():
    device = open_device("gpu")
    assert gpu_problem() is None
    assert device.kind == "gpu"
    assert device.name
    large = device.allocate((64, 64, 64), "f8")
    large[...] = 2.0
    assert device.to_host(large).sum() == 2.0 * 64**3
    device.synchronize()


@pytest.mark.gpu
@pytest.mark.parametrize("spare", [0, 1 << 50], ids=["room", "no room"])
@pytest.mark.parametrize("cells", [(5, 6, 7), (130, 256, 300)], ids=str)  # less than a piece, and more
def test_a_copy_held_on_a_gpu(monkeypatch, spare, cells):
    monkeypatch.setattr("taskflow.runtime.machine.device.device.SPARE", spare)
    device = open_device("gpu")
    array = device.xp.arange(np.prod(cells), dtype="f8").reshape(cells)
    expected = device.to_host(array)[1:, :, 2:-1]
    held = [device.hold(array[1:, :, 2:-1]) for _ in range(3)]
    array[...] = -1.0
    with ThreadPoolExecutor() as threads:
        for result in threads.map(lambda fetch: fetch(), held):
            np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(expected.ravel()[:3], np.arange(3) + cells[1] * cells[2] + 2)


@pytest.mark.gpu
def test_a_launch_on_a_lane_runs_on_its_stream(tmp_path):
    from taskflow.runtime.machine.device.lane import lanes

    device = gpu()
    plain, urgent = lanes(device)
    layout = Layout((0, 0, 0), (4, 4, 4))
    p, q, top = (device.allocate(shape, "f8") for shape in ((4, 4, 4), (4, 4, 4), (1,)))
    p[...] = 3.0
    device.synchronize()
    kernel = compiled(smooth_task(tmp_path), "f8", device)
    operation = kernel.call(kernel.arguments(Box((1, 0, 0), (4, 4, 4)), layout, [p, q], {}, {}, {"top": top}), urgent)
    plain.activate()
    operation()
    event = urgent.event()
    urgent.recorder(event)()
    event.synchronize()
    assert float(device.to_host(top)[0]) == 3.0
    assert (device.to_host(q)[:, :, 1:] == 6.0).all()


@pytest.mark.parametrize("driver", [False, True])
def test_bandwidth_is_plausible(driver):
    assert 1e8 < bandwidth.copy_bandwidth(cpu(2), mebibytes=4, repeats=3, driver=driver) < 1e13


def test_memmove_copies_all_of_an_array_in_parts():
    source = np.random.default_rng(0).random((3, 5, 7))
    target = np.zeros_like(source)
    bandwidth._driver_copier(cpu(4), target, source)()
    assert (target == source).all()


@pytest.mark.parametrize(("shape", "dtype"), [((3, 7, 98), "f8"), ((1, 1, 4), "f4"), ((2, 5, 4096), "u1")])
def test_whole_arrays_are_copied_in_words(device, shape, dtype):
    """Also where the last thread block has fewer words than threads."""
    values = np.random.default_rng(1).integers(0, 200, shape).astype(dtype)
    source, target = (device.allocate(shape, dtype) for _ in range(2))
    source[...] = device.xp.asarray(values)
    target[...] = 0
    copier(device, target, source)()
    assert (device.to_host(target) == values).all()


def test_the_bandwidth_is_measured_once_for_each_number_of_cores(monkeypatch, tmp_path):
    measured = iter((3e9, 5e9, 7e9))
    monkeypatch.setattr(bandwidth, "copy_bandwidth", lambda _: next(measured))
    monkeypatch.setattr(bandwidth, "cache_folder", lambda: tmp_path)
    assert [bandwidth.known_copy_bandwidth(cpu(n)) for n in (1, 1, 2, 1, 2)] == [3e9, 3e9, 5e9, 3e9, 5e9]
    for file in tmp_path.iterdir():
        file.write_text("3e9 and a half")  # damaged
    assert bandwidth.known_copy_bandwidth(cpu(1)) == 7e9


def test_in_place_tasks_write_their_own_cells(device, tmp_path):
    (tmp_path / "double.cu").write_text(
        '#include "cell.h"\nTASK twice(Range range, InOut q) { for_cells(range, CELL(c) { q[c] = 2 * q[c]; }); }\n'
    )

    @task(kernel=tmp_path / "double.cu")
    def twice(q: ReadWrite) -> None: ...

    q = device.allocate((3, 3, 300), "f4")
    q[...] = 1.5
    compiled(twice, "f4", device).bind(Box((1, 0, 2), (290, 3, 3)), Layout((0, 0, 0), (3, 3, 300)), [q], {}, {})()
    result = np.array(device.to_host(q))
    assert result.sum() == 1.5 * result.size + 1.5 * 289 * 3


def test_an_error_in_a_text_given_as_a_string_shows_its_line(device):
    @task(kernel="TASK wrong(Range range, InOut q) {\n  for_cells(range, CELL(c) { q[c] = r[c]; });\n}\n")
    def wrong(q: ReadWrite) -> None: ...

    with pytest.raises(KernelError, match=r"line 2 of the kernel text of wrong: for_cells.*r\[c\]"):
        compiled(wrong, "f4", device)


def test_a_text_without_the_task_is_told_when_it_is_compiled(cache, tmp_path):
    (tmp_path / "misnamed.h").write_text('#include "cell.h"\nTASK other(Range range, InOut q) {}\n')
    (tmp_path / "misnamed.cu").write_text('#include "misnamed.h"\n')

    @task(kernel=tmp_path / "misnamed.cu")
    def misnamed(q: ReadWrite) -> None: ...

    with pytest.raises(KernelError, match=r"the kernel text of misnamed has no TASK misnamed\(\.\.\.\): use one name"):
        compiled(misnamed, "f8", cpu())


HEADS = ["#define UZ 2\n", '#define UZ 2\n#include "cell.h"\n', "\n// rows\n  #define UZ 2\n\n"]


@pytest.mark.parametrize("head", HEADS)
def test_a_text_given_as_a_string_may_begin_with_settings(device, head):
    text = f"{head}#define F 7\nTASK two(Range r, Out q) {{ for_cells(r, CELL(c) {{ q[c] = UZ + F; }}); }}\n"

    @task(kernel=text)
    def two(q: Write) -> None: ...

    q = device.allocate((3, 3, 5), "f8")
    compiled(two, "f8", device).bind(Box.of((5, 3, 3)), Layout((0, 0, 0), (3, 3, 5)), [q], {}, {})()
    assert (np.array(device.to_host(q)) == 9).all()

    @task(kernel=f"{head}TASK wrong(Range range, InOut q) {{ q[0] = nothing; }}\n")
    def wrong(q: ReadWrite) -> None: ...

    number = head.count("\n") + 1
    with pytest.raises(KernelError, match=f"line {number} of the kernel text of wrong: TASK wrong"):
        compiled(wrong, "f8", device)


def test_two_sweeps_in_tiles_that_do_not_overlap_are_refused():
    text = """
#include "twice.h"
TASK pairs(Range r, In p, In d, Out q) {
  twice(r, p, d, q, SWEEP(s, c, e) { return s.here + e; });
}
"""

    @task(kernel=text)
    def pairs(p: Read[2], d: Read[1], q: Write) -> None:
        """q = p + 2 d"""

    with pytest.raises(KernelError, match="#define OVERLAP 1"):
        compiled(pairs, "f8", cpu(1))


ROOTS = """
TASK roots(Range range, In a, Out low, Out per, Out rest) {
  for_cells(range, CELL(c) {
    low[c] = root(a[c]), per[c] = reciprocal(a[c]);
    rest[c] = fused(-root(a[c]), root(a[c]), a[c]);
  });
}
"""


@pytest.mark.parametrize("real", ["f4", "f8"])
def test_roots_reciprocals_and_fused_sums_are_rounded_correctly(real, device):
    """A GPU finds them without branches; in single precision what is below 2^-100 has the root 0."""

    @task(kernel=ROOTS)
    def roots(a: Read[offsets()], low: Write, per: Write, rest: Write) -> None: ...

    layout = Layout((0, 0, 0), (16, 64, 64))
    random = np.random.default_rng(3)
    a = np.ldexp(random.uniform(1, 2, layout.shape), random.integers(-100, 100, layout.shape)).astype(real)
    a[0, 0, :2], a[1] = (2.0**-100, 2.0**100), np.ldexp(1 + np.arange(4096) * 2.0**-23, 0).astype(real).reshape(64, 64)
    arrays = [device.allocate(layout.shape, real) for _ in range(4)]
    arrays[0][...] = device.xp.asarray(a)
    compiled(roots, real, device).bind(Box.of((64, 64, 16)), layout, arrays, {}, {})()
    low, per, rest = (np.array(device.to_host(array)) for array in arrays[1:])
    np.testing.assert_array_equal(low, np.sqrt(a))
    np.testing.assert_array_equal(per, 1 / a)
    for one, square, left in zip(low[2, 0].tolist(), a[2, 0].tolist(), rest[2, 0].tolist(), strict=True):
        assert Fraction(square) - Fraction(one) ** 2 == left  # which has as few digits
    arrays[0][...] = device.xp.asarray(np.minimum(a, 1) ** 2)
    compiled(roots, real, device).bind(Box.of((64, 64, 16)), layout, arrays, {}, {})()
    small = np.array(device.to_host(arrays[0]))
    expected = np.where(small < 2.0**-100, 0, np.sqrt(small)) if real == "f4" else np.sqrt(small)
    np.testing.assert_array_equal(np.array(device.to_host(arrays[1])), expected.astype(real))


FRAMED = """
TASK framed(Range range, In p, Foreign g, Out q, Out number) {
  FRAME(range)
  for_cells(range, CELL(c) {
    q[c] = p[c + N] + 100 * p[c + R] + 10000 * p[c + S] + 1000000 * at(g, c, AXIS, HIGH ? 0 : 1);
    number[c] = index(c, AXIS) + 10 * index(c, AXIS_R) + 100 * index(c, AXIS_S) + (HIGH ? 1000 : 0);
  });
}
"""


@task(kernel=FRAMED)
def framed(
    p: Read[facing(n=(1, 1)) | facing(r=(1, 1)) | facing(s=(1, 1))], g: Foreign[facing(n=(1, 1), high=(0, 0))],
    q: Write, number: Write, *, on: Face,
) -> None:  # fmt: skip
    """q = p of the next cells along N, R and S, and g on the face, each in two decimal places of its own."""


@pytest.mark.parametrize("face", FACES)
def test_a_text_is_turned_to_a_face(face, device):
    """N leads into the domain, R and S along the other axes, and a field of another region is read on the face."""
    (axis, high), memory, box = frame(face), Box((-1, -1, -1), (5, 4, 3)), Box((0, 0, 0), (4, 3, 2))
    random = np.random.default_rng(1)
    p, g = (random.integers(0, 100, memory.shape[::-1]).astype("f8") for _ in range(2))
    arrays = [device.allocate(p.shape, "f8") for _ in range(4)]
    arrays[0][...], arrays[1][...] = device.xp.asarray(p), device.xp.asarray(g)
    layout = Layout(memory.lo, p.shape)
    kernel = compiled(framed.of(Variant(orientation=face)), "f8", device)
    kernel.bind(box, layout, arrays, {}, {}, others={"g": layout})()

    def moved(values: np.ndarray, along: int, cells: int) -> np.ndarray:
        return values[box.shift(tuple(cells if n == along else 0 for n in range(3))).slices(memory.lo)]

    r, s = (n for n in range(3) if n != axis)
    expected = moved(p, axis, -1 if high else 1) + 100 * moved(p, r, 1) + 10000 * moved(p, s, 1)
    expected += 1000000 * moved(g, axis, 0 if high else 1)
    result, number = (np.array(device.to_host(array))[box.slices(memory.lo)] for array in arrays[2:])
    np.testing.assert_array_equal(result, expected)
    indices = np.indices(result.shape)[::-1]
    np.testing.assert_array_equal(number, indices[axis] + 10 * indices[r] + 100 * indices[s] + (1000 if high else 0))


SETTINGS = """#ifdef HAS_metrics
#define BY (sizeof(REAL) == 4 ? 4 : 8)
#else
#define BY 2
#endif
#define UZ 32
#include "cell.h"
TASK settled(Range range, Out q OPTIONAL(metrics)) { for_cells(range, CELL(c) { q[c] = 1; }); }
"""


@task(kernel=SETTINGS)
def settled(q: Write, metrics: Read | None) -> None:
    """q = 1"""


@pytest.mark.parametrize(("metrics", "precision", "rows"), [(None, "f8", 2), ("m", "f8", 8), ("m", "f4", 4)])
def test_settings_may_depend_on_the_precision_and_on_another_macro(metrics, precision, rows):
    numbers = settings(settled("q", metrics, over=Box.of((2, 1, 1))).task, np.dtype(precision))
    assert (numbers["BY"], numbers["UZ"], numbers.get("OVERLAP", 1)) == (rows, 32, 1)
