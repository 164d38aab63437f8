"""Nobody else can change a folder from which a process of a run imports, or from which it takes keys and kernels."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import taskflow as tf
from taskflow.ownership import weakness
from taskflow.runtime.cluster import embedded
from taskflow.runtime.cluster.local import importable_scratch
from taskflow.runtime.cluster.slurm import Slurm, _cluster

CASE = """
[grid]
cells = [8, 4, 8]
lengths = [1.0, 0.5, 1.0]
[fluid]
viscosity = 0.01
[boundaries]
x = "periodic"
y = "periodic"
z_min = "wall"
z_max = { type = "wall", velocity = [1.0, 0.0, 0.0] }
[time]
steps = 2
[machine]
device = "cpu"
threads = 1
"""
SWEEP = 'case = "case.toml"\n[parameters]\n"time.steps" = [1, 2]\n'
# Python runs this in every process: it notes each folder that is made, and what `sys.path` has at the end.
WATCH = """
import atexit, json, os, sys
def note(kind, value):
    with open(os.environ["WATCHED"], "a") as log:
        log.write(json.dumps([os.getpid(), kind, value]) + "\\n")
sys.addaudithook(lambda event, values: note("made", os.fsdecode(values[0])) if event == "os.mkdir" else None)
atexit.register(lambda: note("path", sys.path))
"""
MODULES = ("multiprocessing", "encodings", "distributed", "dask", "random", "socket", "taskflow", "numpy", "zarr")
HOSTILE = "import os; open(os.environ['WATCHED'] + '.hostile', 'a').write(__name__ + ' '); raise ImportError"
SIMULATION = "import taskflow as tf\nwith tf.Simulation(tf.Case.load('case.toml')) as sim:\n    sim.step(1)\n"
DISTRIBUTE = (
    "import taskflow as tf\n"
    "with tf.distribute(tf.region((4, 4, 4), ['p']), blocks=(1, 1, 2), device='cpu'):\n    pass\n"
)


@pytest.fixture
def shared(tmp_path, monkeypatch):
    """A TMPDIR of a machine, where another user has made the folder that Dask looks for."""
    folder = tmp_path / "temporary"
    (folder / "dask-scratch-space").mkdir(parents=True)
    folder.chmod(0o1777)
    (folder / "dask-scratch-space").chmod(0o777)
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def paths(dask_worker=None, dask_scheduler=None):
    """What a process imports from, and where its server keeps files."""
    return [*sys.path, (dask_worker or dask_scheduler).local_directory]


@pytest.mark.parametrize("workers", [1, 2])
def test_every_process_imports_from_folders_that_nobody_else_can_change(shared, workers):
    before = [*sys.path]
    with embedded(workers, gpu=False) as client:
        found = [client.run_on_scheduler(paths), *client.run(paths).values()]
        nannies = [sys.path, *([] if workers == 1 else client.run(paths, nanny=True).values())]
        added = {Path(path) for each in (*found, *nannies) for path in each if path not in before}
        assert len(added) > workers
        for path in added:
            assert weakness(path) is None
            assert path.is_relative_to(shared)
    assert sys.path == before  # the name of a folder that is gone is anybody's
    assert not list((shared / "dask-scratch-space").iterdir())
    assert [path.name for path in shared.iterdir()] == ["dask-scratch-space"]


def watched(tmp_path, *words):
    """What the processes of a command did that runs in a folder where others can place modules."""
    (tmp_path / "watch").mkdir()
    (tmp_path / "watch" / "sitecustomize.py").write_text(WATCH)
    place = tmp_path / "place"
    place.mkdir()
    (tmp_path / "case.toml").write_text(CASE)
    (tmp_path / "two.toml").write_text(CASE.replace("threads = 1", "threads = 1\nblocks = [1, 1, 2]"))
    (tmp_path / "sweep.toml").write_text(SWEEP)
    for name in MODULES:
        (place / f"{name}.py").write_text(HOSTILE)
    environment = {
        **os.environ,
        "WATCHED": str(tmp_path / "log"),
        "PYTHONPATH": os.pathsep.join([str(tmp_path / "watch"), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep),
    }
    done = subprocess.run(words, cwd=place, env=environment, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "log.hostile").exists(), (tmp_path / "log.hostile").read_text()
    return [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]


COMMANDS = {
    "run": ["-m", "run", "../case.toml", "-o", "out", "-q"],
    "run-on-two": ["-m", "run", "../two.toml", "-o", "out", "-q"],
    "sweep": ["-m", "sweep", "../sweep.toml", "-o", "out", "-q"],
    "simulation": ["-s", SIMULATION],
    "distribute": ["-s", DISTRIBUTE],
    "bench": ["-m", "bench", "channels", "--channels", "actor", "--sizes", "8", "--seconds", "0.01"],
}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.fast("run-on-two", "sweep", "distribute")
def test_no_command_makes_folders_where_others_have_made_some_before(shared, tmp_path, name):
    kind, *words = COMMANDS[name]
    if kind == "-s":
        script = tmp_path / "script.py"
        script.write_text(f"import os\nos.chdir({str(tmp_path)!r})\n" * (words[0] is SIMULATION) + words[0])
        command = [sys.executable, str(script)]
    else:
        command = [str(Path(sys.executable).with_name("taskflow")), *words]
    seen = watched(tmp_path, *command)
    made = [Path(value) for _, event, value in seen if event == "made"]
    scratch = [path for path in made if "dask-scratch-space" in path.parts]
    assert scratch
    assert all(path.relative_to(shared).parts[0].startswith("taskflow-") for path in scratch)
    assert not list((shared / "dask-scratch-space").iterdir())
    (left,) = [value for process, event, value in seen if event == "path" and process == seen[0][0]]
    assert not [path for path in left if Path(path).is_relative_to(shared)]


def test_a_temporary_folder_that_others_may_change_is_not_used(shared):
    shared.chmod(0o777)
    with embedded(1, gpu=False) as client:
        local = Path(client.run_on_scheduler(paths)[-1])
        assert not local.is_relative_to(shared)
        assert weakness(local) is None


def test_the_scheduler_of_slurm(shared, tmp_path):
    """It lives in this process; workers are told of a folder that is made where they run."""
    pytest.importorskip("dask_jobqueue")
    before = [*sys.path]
    with importable_scratch() as folder, _cluster(Slurm.of("workers=1"), tmp_path, folder) as cluster:
        added = [path for path in sys.path if path not in before]
        assert added
        assert all(weakness(path) is None and Path(path).is_relative_to(folder) for path in added)
        script = cluster.job_script()
    assert sys.path == before
    assert not list((shared / "dask-scratch-space").iterdir())
    *lines, command = script.splitlines()
    begin = next(n for n, line in enumerate(lines) if line.startswith("scratch="))
    assert "--local-directory $scratch" in command
    (shared / "mine").mkdir(mode=0o755)
    code = "\n".join([*lines[begin:], "echo $scratch $DASK_TEMPORARY_DIRECTORY; stat -c %a $scratch"])
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, timeout=60, check=False)
    first, second, mode = done.stdout.split()
    assert (first, mode) == (second, "700")
    assert Path(first).parent == shared
    assert not Path(first).exists()  # removed at the end of the job


@pytest.mark.parametrize("mode", [0o775, 0o777])
def test_a_certificate_that_others_can_exchange_is_refused(tmp_path, mode):
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(mode)
    file = tmp_path / "shared" / "scheduler.json"
    file.write_text('{"address": "tls://127.0.0.1:1"}')
    code = "import sys; from taskflow.runtime.cluster.certificate import main; sys.exit(main(*sys.argv[1:]))"
    command = [sys.executable, "-c", code, f"{file}.tls", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert f"others may write into {tmp_path / 'shared'} (mode {mode:04o})" in done.stderr
    with pytest.raises(tf.BadInput, match=r"certificate is not safe: others may write"):
        tf.run(
            tf.Case(
                grid={"cells": [4, 4, 4], "lengths": [1, 1, 1]},
                fluid={"viscosity": 1.0},
                boundaries=dict.fromkeys("xyz", "periodic"),
                time={"steps": 1},
            ),
            tmp_path / "out",
            scheduler_file=file,
        )
