"""A disk without room, for real: a small file system in memory that this test alone sees."""

import json
import os
import shutil
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow
MOUNTED = "mount -t tmpfs -o size={size}k none disk && cp cavity.toml disk && cd disk && exec {python} ../inside.py"
INSIDE = """
import json, os, shutil, subprocess, sys
import numpy as np
from pathlib import Path
from taskflow.output import Checkpoints, dataset, newest, read_log

command = [sys.executable, "-c", "from taskflow.cli import main; main()", "run", "cavity.toml", "--quiet"]
words = json.loads(os.environ["WORDS"])
ran = subprocess.run([*command, *words], capture_output=True, text=True)
run = Path("cavity")
with dataset(run / "fields.zarr") as found:
    seen = np.isfinite(found.time.values)
    whole = [bool(np.isfinite(found[name].values[seen]).all()) for name in ("u", "v", "w", "p") if name in found]
checkpoint, damaged = newest(Checkpoints(run / "checkpoints", ""))
hidden = [path.name for path in run.rglob(".*") if path.name.startswith(".step")]
told = {
    "code": ran.returncode, "said": ran.stderr, "snapshots": int(seen.sum()), "first": bool(seen[: seen.sum()].all()),
    "whole": all(whole), "step": checkpoint and checkpoint.step, "damaged": damaged, "hidden": hidden,
    "lines": len(read_log(run / "log.jsonl")), "partial": [path.name for path in run.glob("*.partial")],
}
if "RESUME" in os.environ:
    for path in Checkpoints(run / "checkpoints", "").paths()[1:]:  # somebody makes room
        shutil.rmtree(path)
    words += json.loads(os.environ["RESUME"])
    ran = subprocess.run([*command, *words], capture_output=True, text=True)
    told["again"] = [ran.returncode, ran.stderr, json.loads((run / "report.json").read_text())["ended"]]
print(json.dumps(told))
"""


@pytest.fixture
def on_small_disk(here):
    """Runs the case on a file system of so many KiB; what is found there afterwards."""

    def run(size, *words, resume=()):
        (here / "disk").mkdir()
        (here / "inside.py").write_text(INSIDE)
        text = MOUNTED.format(size=size, python=sys.executable)
        extra = {"WORDS": json.dumps(words), **({"RESUME": json.dumps(resume)} if resume else {})}
        result = subprocess.run(
            ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", text],
            capture_output=True, text=True, env=os.environ | extra, check=False,
        )  # fmt: skip
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)

    if shutil.which("unshare") is None or subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"],
        capture_output=True, check=False,
    ).returncode:  # fmt: skip
        pytest.skip("this system lets nobody mount a file system")
    return run


@pytest.mark.parametrize("blocks", [1, 2])
def test_during_output(blocks, on_small_disk):
    result = on_small_disk(
        700, "--set", "output.every={steps=1}", "--set", "time.steps=4000", "--set", f"machine.blocks=[1,1,{blocks}]"
    )
    assert result["code"] == 1
    assert result["said"].startswith("Error: ")
    assert "No space left on device" in result["said"]
    assert len(result["said"].splitlines()) == 1
    assert result["snapshots"] > 5
    assert result["first"]
    assert result["whole"]
    assert result["hidden"] == result["partial"] == []


def test_during_a_checkpoint(on_small_disk):
    """The newest whole one is there, and no draft; with room again the run goes on from it."""
    result = on_small_disk(
        1500, "--set", "checkpoint.every={steps=3}", "--set", "checkpoint.keep=1000", "--set", "time.steps=400",
        resume=["--resume", "--set", "checkpoint.keep=2"],
    )  # fmt: skip
    assert result["code"] == 1
    assert "checkpoint of step" in result["said"]
    assert "No space left on device" in result["said"]
    assert result["step"] >= 30
    assert result["damaged"] == result["hidden"] == []
    assert result["snapshots"] >= 1
    assert result["whole"]
    assert result["again"] == [0, "", "end"]


def test_by_the_log(on_small_disk):
    result = on_small_disk(
        150, "--set", "monitor.every={steps=1}", "--set", "checkpoint.keep=0", "--set", "time.steps=40000",
        "--set", 'output.fields=["u"]',
    )  # fmt: skip
    assert result["code"] == 1
    assert "log.jsonl: No space left on device" in result["said"]
    assert result["lines"] > 20
    assert result["whole"]
