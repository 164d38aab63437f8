"""Damaged cases, each checked by a process of its own, whose time and memory are measured: what the tests do to some,
and, for as long as you like, `python -m tests.cli.campaign cases SEED NUMBER LOG`, or `files` in place of `cases`.
"""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

import psutil

from taskflow.cases import Case
from taskflow.cli.app import app
from taskflow.runs.estimate import estimate  # with all that a check needs, so that it is loaded once
from taskflow.runtime.machine import copy_bandwidth
from taskflow.runtime.machine.kernel.compile_host import cache_folder, compiler
from tests.cli.damaged import place
from tests.cli.forking import fork
from tests.cli.mutants import mutants
from tests.cli.spoiled import spoiled
from tests.data.cases import FOLDER

EXAMPLES = Path(__file__).parents[2] / "examples"
LONGEST, HANGS = 10, 20.0  # seconds: of processor time, and of sleep
LARGEST, PER_BYTE = 1 << 30, 100  # bytes of memory: of any check, and for each byte of its files


def damaged(kind: str, seed: int) -> Iterator[Callable[[Path], str]]:
    """Yield functions without end that put a damaged case into a folder, and return what it is."""
    if kind == "files":
        with tempfile.TemporaryDirectory() as sound:
            yield from spoiled(seed, Path(sound))
    for number, text in enumerate(mutants(seed, FOLDER, EXAMPLES)):

        def fill(folder: Path, text: str = text, number: int = number) -> str:
            (folder / "case.toml").write_text(text, encoding="utf-8")
            place(folder, random.Random(f"{seed} {number}"))
            return text

        yield fill


def campaign(kind: str, seed: int, cases: int) -> Iterator[dict[str, object]]:
    """Check so many cases; what is wrong with each ("" where nothing is), its exit code, seconds, bytes and text."""
    compiler(), cache_folder()  # known to all forked processes, as are the modules and validators of sound cases
    for path in EXAMPLES.glob("*.toml"):
        Case.load(path)
    estimate.known_copy_bandwidth = partial(copy_bandwidth, mebibytes=1)
    for number, fill in enumerate(islice(damaged(kind, seed), cases)):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            text = fill(folder)
            size = sum(path.lstat().st_blocks * 512 for path in folder.rglob("*"))
            code, seconds, most = _measured(folder)
            said = (folder / "said").read_text(encoding="utf-8", errors="replace")
        yield {
            "number": number, "wrong": _wrong(code, most - PER_BYTE * size, said), "code": code,
            "seconds": round(seconds, 2), "bytes": most, "text": text, "said": said[-4000:],
        }  # fmt: skip


def _wrong(code: int, most: int, said: str) -> str:
    if code == -signal.SIGXCPU:
        return f"more than {LONGEST} s of processor time"
    if code not in (0, 2):
        return "hangs" if code == -signal.SIGKILL else f"exit code {code}"
    if most > LARGEST:
        return "too much memory"
    if any(word in said for word in ("Traceback", "fault of taskflow", "Warning:")):
        return "traceback or warning"
    return ""


def _measured(folder: Path) -> tuple[int, float, int]:
    """Exit code, seconds of processor time and largest memory of `taskflow check case.toml` in a folder."""
    child = fork(partial(_check, folder), folder / "said")
    process, spent, since = psutil.Process(child), 0.0, time.monotonic()
    while True:
        ended, status, usage = os.wait4(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024
        if (now := sum(process.cpu_times()[:2])) > spent or process.status() != psutil.STATUS_SLEEPING:
            spent, since = now, time.monotonic()
        elif time.monotonic() - since > HANGS:
            process.kill()
        time.sleep(0.05)


def _check(folder: Path) -> int:
    resource.setrlimit(resource.RLIMIT_CPU, (LONGEST, LONGEST + 5))
    os.chdir(folder)
    warnings.simplefilter("error", RuntimeWarning)
    app(["check", "case.toml"], prog_name="taskflow")
    return 70


if __name__ == "__main__":
    kind, (seed, cases), path = sys.argv[1], map(int, sys.argv[2:4]), Path(sys.argv[4])
    print(f"{cases} damaged {kind}, seed {seed}", flush=True)
    with path.open("a", encoding="utf-8") as log:
        for item in campaign(kind, seed, cases):
            if item["wrong"]:
                print(json.dumps(item), file=log, flush=True)
            if int(str(item["number"])) % 50 == 49:
                print(f"{item['number']} checked", flush=True)
