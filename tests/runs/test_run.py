"""A call of `run` that cannot be obeyed is refused before anything is written, and a run shows itself in a line."""

import subprocess
import sys

import pytest

import taskflow as tf
from taskflow.runs.block import job
from tests.data.cases import FOLDER

CAVITY = FOLDER / "small_cavity.toml"


@pytest.mark.parametrize(("arguments", "message"), [
    ({"case": "cavity.toml"}, "cavity.toml: file not found; `taskflow new cavity.toml` writes one"),
    ({"client": "tcp://10.0.0.1:8786"}, r"client = 'tcp://10.0.0.1:8786'; give a dask.distributed.Client"),
    ({"resume": True, "force": True}, "resume=True, force=True: use one of them"),
    ({"output": 3}, "output = 3; give the path of a run directory"),
    ({"output": "."}, r"exists; choose another directory \(-o, or output= in Python\), or replace it \(.*force=True\)"),
])  # fmt: skip
def test_a_call_that_cannot_be_obeyed(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(tf.BadInput, match=message):
        tf.run(**{"case": tf.Case.load(CAVITY), "output": "run", **arguments})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("blocks", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_what_progress_raises_ends_the_run_in_order(tmp_path, blocks):
    class Enough(Exception):
        pass

    def look(told):
        if told.get("step", 0) > 20:
            raise Enough("I have seen enough")

    settings = ["time.steps=1000000", f"machine.blocks=[1,1,{blocks}]", "machine.device=cpu"]
    with pytest.raises(Enough, match="I have seen enough"):
        tf.run(tf.Case.load(CAVITY, settings), tmp_path / "run", progress=look)
    stopped = tf.Run.open(tmp_path / "run")
    assert (stopped.report["ended"], stopped.report["reason"]) == (
        "interrupted",
        "progress= raised Enough: I have seen enough",
    )
    steps = stopped.report["steps"]
    assert stopped.log()[-1]["step"] == steps > 20
    assert [path.name for path in (tmp_path / "run" / "checkpoints").iterdir()] == [f"step-{steps:09}"]
    assert not (tmp_path / "run" / "lock").exists()
    settings[0] = f"time.steps={steps + 3}"
    assert tf.run(tf.Case.load(CAVITY, settings), tmp_path / "run", resume=True).report["steps"] == steps + 3


def test_a_run_in_a_line(tmp_path):
    assert repr(tf.Run(tmp_path, {"steps": 3})) == f"Run(directory={tmp_path!r})"


def test_a_function_is_named_as_python_names_it(tmp_path):
    def wave(x, y):
        return x + y

    case = tf.Case.load(CAVITY)
    case = tf.Case(**{**case.written(), "initial": {"velocity": [wave, 0, 0]}})
    with pytest.raises(tf.BadInput, match=rf"initial field u: the function {__name__}.*wave failed with TypeError"):
        tf.run(case, tmp_path / "run")


@pytest.mark.parametrize(("worth", "bandwidth"), [(0.0, 2e9), (10.0, None)])
def test_the_copy_bandwidth_of_a_long_run_is_that_of_all_its_cores(tmp_path, monkeypatch, worth, bandwidth):
    """One of two blocks in a process measures it; a short run does not."""
    monkeypatch.setattr(job, "WORTH", worth)
    monkeypatch.setattr(job, "known_copy_bandwidth", lambda device: 1e9 * device.threads)
    machine = ["machine.device=cpu", "machine.blocks=[1,1,2]", "machine.workers=1", "machine.threads=1"]
    report = tf.run(tf.Case.load(CAVITY, ["time.steps=2", *machine]), tmp_path / "run").report
    assert report["copy_bandwidth"] == bandwidth
    assert report["t_eff"] > 0.0


def test_a_run_of_one_block_loads_no_dask(tmp_path):
    """Neither the scheduler nor arrays: who needs them has them loaded later."""
    code = f"""
import sys
import taskflow as tf
case = tf.Case.load({str(CAVITY)!r}, ["time.steps=2", "machine.device=cpu"])
tf.run(case, "run")
with tf.Simulation(case, "simulation") as simulation:
    simulation.step()
print({{name.partition(".")[0] for name in sys.modules}} & {{"dask", "distributed", "xarray", "pandas"}})
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize("channel", ["auto", "actor"])
def test_blocks_of_one_process_compute_as_one_block(tmp_path, channel):
    def fields(name, *settings):
        case = tf.Case.load(CAVITY, ["time.steps=3", "machine.device=cpu", *settings])
        return tf.run(case, tmp_path / name).dataset().isel(time=-1).load()

    one = fields("one")
    two = fields("two", "machine.workers=1", "machine.blocks=[1,1,2]", f"machine.channel={channel}")
    assert one.u.equals(two.u)
