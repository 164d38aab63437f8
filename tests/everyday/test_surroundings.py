"""Runs in odd surroundings, in folders with odd names, and with values that stop being numbers."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import taskflow as tf
from tests.everyday.cases import LID, PERIODIC, SLAB

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

SURROUNDINGS = {
    "another locale and time zone": 'LC_ALL=de_DE.UTF-8 TZ=Pacific/Kiritimati $T run e.toml -q --force',
    "no locale": "LC_ALL=C $T run e.toml -q --force", "no home": "env -u HOME $T run e.toml -q --force",
    "no folder for a cache": "HOME=/nonexistent XDG_CACHE_HOME=/proc/none $T run e.toml -q --force",
    "no folder for temporary files": "TMPDIR=/nonexistent $T run e.toml -q --force",
    "no assertions": "PYTHONOPTIMIZE=2 $T run e.toml -q --force",
    "warnings are errors": "PYTHONWARNINGS=error $T run e.toml -q --force",
    "no standard input": "$T run e.toml -q --force <&-",
    "a reader that leaves": "set -o pipefail; $T run e.toml --force | head -1",
    "few open files": "ulimit -n 40; $T run e.toml -q --force",
    "a link": "mkdir target; ln -s target link; $T run e.toml -q -o link/e",
}  # fmt: skip
REFUSED = {
    "its own case": "$T run e.toml -q -o e.toml", "no folder of files": "$T run e.toml -q -o /proc/x",
    "a folder with files": "mkdir full; echo hi > full/a.txt; $T run e.toml -q -o full --force",
}


@pytest.mark.fast("few open files")
@pytest.mark.parametrize("what", [*SURROUNDINGS, *REFUSED])
def test_a_run_in_odd_surroundings(here, what):
    Path("e.toml").write_text(LID.format(lid=1, end=0.2, more=""))
    environment = {**os.environ, "T": f"{sys.executable} -m taskflow"}
    done = subprocess.run(
        ["bash", "-c", {**SURROUNDINGS, **REFUSED}[what]], env=environment, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == (0 if what in SURROUNDINGS else 2), done.stdout
    assert "Traceback" not in done.stdout
    assert what != "a folder with files" or Path("full/a.txt").read_text() == "hi\n"


TITLES = (
    "a/b", "../up", "..", ".", "", " ", "/abs", "x" * 300, "tab\there", "line\nbreak", "nul\0", "é ü 漢字", "-rf",
    "~", "$(touch boom)", "a:b*?", "CON",
)  # fmt: skip


@pytest.mark.parametrize("title", TITLES, ids=lambda title: title[:12].encode("unicode_escape").decode())
def test_the_folder_of_a_title_is_below_the_current_one(client, here, title):
    """Or the title is refused in one line."""
    inner = here / "inner"
    inner.mkdir()
    os.chdir(inner)
    tables = {
        "grid": {"cells": [4, 1, 4], "lengths": [1.0, 0.25, 1.0]}, "fluid": {"viscosity": 0.1}, "boundaries": PERIODIC,
        "time": {"steps": 1, "step": 0.1}, "machine": {"device": "cpu", "threads": 1},
    }  # fmt: skip
    try:
        result = tf.run(tf.Case(title=title, **tables), client=client, progress=lambda _: None, force=True)
    except tf.TaskflowError as error:
        result, said = None, str(error)
    if result is None:
        assert "\n" not in said or title == "line\nbreak"
    else:
        where = Path(result.directory).resolve()
        assert inner in where.parents
        assert tf.Run.open(str(where)).dataset().sizes["time"] == 2


NOT_FOR_LONG = {
    "wall": ('"sqrt(1.013 - t)"', "", "z_max"),
    "force": ("1.0", '[body]\nforce = ["log(1.013 - t)", 0, 0]', "force"),
    "forcing": ("1.0", '[[forcing]]\non = "u"\nexpression = "sqrt(1.013 - t)"', "forcing"),
    "for a moment": (
        "1.0", '[[forcing]]\non = "u"\nexpression = "where((t > 1.2371)*(t < 1.2629), sqrt(0 - 1 - x), 0)"', "",
    ),
}  # fmt: skip


@pytest.mark.fast("wall", "for a moment")
@pytest.mark.parametrize("what", NOT_FOR_LONG)
def test_what_stops_being_a_number_is_refused_with_its_key(process, here, what):
    """Or ends the run, and what was written stays readable."""
    lid, more, key = NOT_FOR_LONG[what]
    Path("e.toml").write_text(LID.format(lid=lid, end=2.0, more="[output]\nevery = 0.25\n" + more))
    status, told = process("run", "e.toml", "-q", "-o", "run")
    assert status in (1, 2), told
    assert "Traceback" not in told
    assert "fault of taskflow" not in told
    assert key in told
    if Path("run").exists():
        data = tf.Run.open("run").dataset().load()
        assert all(abs(data[name].values).max() < 1e6 for name in "uvw")


@pytest.mark.fast("SIGHUP")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_leaves_a_checkpoint(here, name):
    """A closed terminal as well as an end in order."""
    endless = SLAB.replace("steps = 3", "steps = 100000000") + "[monitor]\nevery = { steps = 10 }\n"
    Path("slab.toml").write_text(endless + '[machine]\ndevice = "cpu"\nthreads = 1\n')
    command = [sys.executable, "-m", "taskflow", "run", "slab.toml", "-o", "run", "-q"]
    log = Path("run/log.jsonl")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running:
        while not log.exists() or log.read_text().count("\n") <= 5:
            assert running.poll() is None, running.communicate()
            time.sleep(0.1)
        running.send_signal(getattr(signal, name))
        told, _ = running.communicate()
    assert running.returncode == 75, told
    assert list(Path("run").glob("checkpoint*"))
    assert json.loads(Path("run/report.json").read_text())["ended"] != "running"
    assert not Path("run/lock").exists()


@pytest.mark.slow
def test_more_threads_than_cores_make_progress(process, here):
    """Three blocks of two threads take as much processor time as one block, within a factor."""
    process("new", "pitch.toml", "--example", "naca0012_pitching")
    few = [word for change in ("grid.cells=[48,12,1]", "time.end=0.3", "machine.device=cpu", "machine.workers=1")
           for word in ("--set", change)]  # fmt: skip
    took = []
    for blocks, threads in ((1, 1), (1, 1), (3, 2)):  # the first one compiles
        began = sum(os.times()[2:4])
        more = ("--set", f"machine.blocks={blocks}", "--set", f"machine.threads={threads}")
        status, told = process("run", "pitch.toml", *few, "-q", "--force", "-o", "out", *more)
        assert status == 0, told
        took.append(sum(os.times()[2:4]) - began)  # of processes that have ended
    assert took[2] < 4 * took[1]


def test_sbatch_without_a_configuration(process, here):
    """The message says that SLURM is not configured here."""
    Path("slab.toml").write_text(SLAB)
    said = "sbatch: fatal: Could not establish a configuration source"
    Path("sbatch").write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 1\n")
    Path("sbatch").chmod(0o755)
    status, told = process("run", "slab.toml", "--slurm", "workers=2", PATH=f"{here}:{os.environ['PATH']}")
    assert status == 2
    assert "ask for something else" not in told
