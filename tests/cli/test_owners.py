"""No process of a command imports from a folder in which others have placed something before."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

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
    done = subprocess.run(words, cwd=place, env=environment, capture_output=True, text=True, check=False)
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

WITHOUT_DASK = {"run", "sweep", "simulation"}  # one block on the host is computed in the process that asked


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.fast("sweep", "distribute")
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
    assert bool(scratch) == (name not in WITHOUT_DASK)
    assert all(path.relative_to(shared).parts[0].startswith("taskflow-") for path in scratch)
    assert not list((shared / "dask-scratch-space").iterdir())
    (left,) = [value for process, event, value in seen if event == "path" and process == seen[0][0]]
    assert not [path for path in left if Path(path).is_relative_to(shared)]
