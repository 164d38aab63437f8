"""Runs in which a system call on the files of the run fails, falls short or ends the process, each in a process forked
from this one, which has imported all and computed nothing: `python -m tests.cli.failing LIBRARY MODEL NUMBER FOLDER`,
under LD_PRELOAD.

After each the run is resumed. A line of JSON for each tells what is wrong, if anything is.
"""

from __future__ import annotations

import ctypes
import errno
import importlib
import json
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import taskflow as tf
from taskflow.cli import run as command
from taskflow.cli.app import app
from taskflow.runs.estimate import estimate
from taskflow.runtime.machine import copy_bandwidth
from taskflow.runtime.machine.kernel.compile_host import cache_folder, compiler
from tests.cli.forking import fork
from tests.runs.going_on import contents

assert command  # and all that a run needs
HOW = ("fail", "short", "kill")
NUMBERS = (errno.ENOSPC, errno.EIO)
DIFFERS = 99  # the exit code of a run that is not the undisturbed one

EVERY = {"steps": 2}
COMMON = {
    "output": {"every": EVERY, "precision": "double"}, "checkpoint": {"every": EVERY},
    "monitor": {"every": {"steps": 1}}, "machine": {"device": "cpu", "threads": 1},
}  # fmt: skip
CUBE = {"cells": [8, 4, 8], "lengths": [1.0, 0.5, 1.0]}
WALLS = {"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": {"type": "wall", "velocity": [1.0, 0.0, 0.0]}}
CAVITY = {
    "grid": {"shape": "box", "cells": [8, 8, 1], "lengths": [1.0, 1.0, 1.0]}, "fluid": {"viscosity": 0.01},
    "boundaries": {
        "x_min": "wall", "x_max": "wall", "y_min": "wall", "y_max": {"type": "wall", "velocity": [1.0, 0.0, 0.0]},
        "z_min": "symmetry", "z_max": "symmetry",
    },
    "time": {"steady": 1e-9, "steps": 6},
}  # fmt: skip
MODELS = {
    "projection": {"grid": CUBE, "fluid": {"viscosity": 0.01}, "boundaries": WALLS, "time": {"steps": 6, "step": 1e-3}},
    "two blocks": {
        "grid": CUBE, "fluid": {"viscosity": 0.01}, "boundaries": WALLS, "time": {"steps": 6, "step": 1e-3},
        "machine": {**COMMON["machine"], "blocks": [1, 1, 2], "workers": 1},
    },
    "two phases": {
        "grid": CUBE, "boundaries": WALLS, "body": {"gravity": [0, 0, -1]}, "time": {"steps": 6, "step": 1e-3},
        "two_phase": {
            "density": [10.0, 1.0], "viscosity": [0.1, 0.01], "surface_tension": 0.1,
            "initial": "0.3 - sqrt((x-0.5)**2 + (z-0.5)**2)",
        },
        "pressure": {"solver": "fft"},  # fewer launches to analyse than of multigrid, and the same files
    },
    **{
        march: {**CAVITY, "method": {"type": "artificial-compressibility", "march": march}}
        for march in ("rk4", "implicit")
    },
}  # fmt: skip


def forked(act: Callable[[], int], said: Path) -> int:
    """How a process ends that does something; what it says is in a file."""
    return os.waitstatus_to_exitcode(os.waitpid(fork(act, said), 0)[1])


def _left(path: Path) -> tuple[dict[str, bytes], str]:
    """All snapshots of a run, and its log without the time of day."""
    fields, log = contents(path)
    return {name: values.tobytes() for name, values in fields.items()}, json.dumps(log)


def run(folder: Path, name: str, *words: str) -> int:
    os.chdir(folder)
    try:
        app(["run", "case.toml", "-o", name, "-q", *words], prog_name="taskflow")
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    return 0


class Failing:
    """The preloaded library, in a folder with a case and an undisturbed run of it."""

    def __init__(self, library: str, model: str, folder: Path) -> None:
        self.library, self.folder = ctypes.CDLL(library), folder.resolve()
        self.library.failing_last.restype, self.library.failing_calls.restype = ctypes.c_char_p, ctypes.c_long
        (self.folder / "case.toml").write_text(tf.Case(title="small", **{**COMMON, **MODELS[model]}).to_toml())
        self.said = self.folder / "said"
        code = forked(self._undisturbed, self.said)
        assert code == 0, self.said.read_text()
        seen = json.loads((self.folder / "seen.json").read_text())
        self.calls = seen["calls"]
        for name in seen["modules"]:  # what a run loads on its way: forked ones need not
            with suppress(ImportError):
                importlib.import_module(name)
        assert threading.active_count() == 1  # no other survives a fork

    def _set(self, name: str, number: int, how: str = "fail", error: int = 0) -> None:
        folder = os.fsencode(self.folder / name)
        self.library.failing_set(folder, ctypes.c_long(number), HOW.index(how), error)

    def _undisturbed(self) -> int:
        self._set("whole", 0)
        code = run(self.folder, "whole")
        calls = self.library.failing_calls()
        self._set("", 0)
        (self.folder / "seen.json").write_text(json.dumps({"calls": calls, "modules": list(sys.modules)}))
        return code

    def _disturbed(self, name: str, number: int, how: str, error: int) -> int:
        self._set(name, number, how, error)
        code, failed = run(self.folder, name), os.fsdecode(self.library.failing_last())
        self._set("", 0)
        print("failed:", failed)
        return code

    def _resumed(self, name: str) -> int:
        code = run(self.folder, name, "--resume")
        return DIFFERS if code == 0 and _left(self.folder / name) != _left(self.folder / "whole") else code

    def wrong(self, number: int, how: str) -> str:
        """Let a call fail, and resume the run; returns what is wrong."""
        name, problems = f"run{number}{how}", []
        ends = forked(partial(self._disturbed, name, number, how, NUMBERS[number % 2]), self.said)
        text = self.said.read_text(errors="replace")
        if ends not in (0, 1, 2, -9) or "Traceback" in text or "fault of taskflow" in text:
            problems.append(f"the run ends with {ends}: {text}")
        again = forked(partial(self._resumed, name), self.said)
        later = self.said.read_text(errors="replace")
        if again not in (0, 2) or "Traceback" in later or "fault of taskflow" in later or (again == 2 and not later):
            problems.append(f"after {ends} ({text[-300:]}) resuming ends with {again}: {later}")
        return "\n".join(problems)


def chosen(calls: int, number: int) -> list[tuple[int, str]]:
    """So many calls, evenly over all, and how each fails; all of them in each way where so many are asked for."""
    if number >= calls:
        return [(n, how) for n in range(1, calls + 1) for how in HOW]
    return [(1 + n * calls // number, HOW[n % len(HOW)]) for n in range(number)]


if __name__ == "__main__":
    library, model, number, folder = sys.argv[1], sys.argv[2], int(sys.argv[3]), Path(sys.argv[4])
    compiler(), cache_folder()  # known to all that are forked
    estimate.known_copy_bandwidth = partial(copy_bandwidth, mebibytes=1)
    failing = Failing(library, model, folder)
    print(json.dumps({"calls": failing.calls}), flush=True)
    for n, how in chosen(failing.calls, number):
        print(json.dumps({"number": n, "how": how, "wrong": failing.wrong(n, how)}), flush=True)
