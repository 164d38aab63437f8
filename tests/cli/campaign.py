"""Mutated cases, each checked by a process of its own, whose time and memory are measured: what the slow tests do to a
few hundred, and, for as long as you like, `python -m tests.cli.campaign SEED CASES LOG`.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from taskflow.cli import check  # with all that a check needs, so that it is loaded once
from taskflow.cli.app import app
from tests.cases import FOLDER
from tests.cli.damaged import place
from tests.cli.mutants import mutants

EXAMPLES = Path(__file__).parents[2] / "examples"
assert check
LONGEST, LARGEST = 10.0, 1 << 30  # seconds, bytes


def campaign(seed: int, cases: int) -> Iterator[dict[str, object]]:
    """Check so many cases; what is wrong with each ("" where nothing is), its exit code, seconds, bytes and text."""
    for number, text in enumerate(islice(mutants(seed, FOLDER, EXAMPLES), cases)):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "case.toml").write_text(text, encoding="utf-8")
            place(folder, random.Random(f"{seed} {number}"))
            code, seconds, most = _measured(folder)
            said = (folder / "said").read_text(encoding="utf-8", errors="replace")
        yield {
            "number": number, "wrong": _wrong(code, seconds, most, said), "code": code, "seconds": round(seconds, 2),
            "bytes": most, "text": text, "said": said[-4000:],
        }  # fmt: skip


def _wrong(code: int, seconds: float, most: int, said: str) -> str:
    if seconds > LONGEST:
        return "hangs"
    if code not in (0, 2):
        return f"exit code {code}"
    if most > LARGEST:
        return "too much memory"
    if any(word in said for word in ("Traceback", "fault of taskflow", "Warning:")):
        return "traceback or warning"
    return ""


def _measured(folder: Path) -> tuple[int, float, int]:
    """Exit code, seconds and largest memory of `taskflow check case.toml` in a folder; it is ended when too late."""
    begun = time.monotonic()
    child = os.fork()
    if child == 0:
        _check(folder)
    while True:
        ended, status, usage = os.wait4(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status), time.monotonic() - begun, usage.ru_maxrss * 1024
        if time.monotonic() - begun > LONGEST:
            os.kill(child, signal.SIGKILL)
            _, status, usage = os.wait4(child, 0)
            return os.waitstatus_to_exitcode(status), time.monotonic() - begun, usage.ru_maxrss * 1024
        time.sleep(0.01)


def _check(folder: Path) -> None:
    """In a process of its own, which ends here."""
    code = 70
    try:
        os.chdir(folder)
        said = os.open("said", os.O_CREAT | os.O_WRONLY)
        os.dup2(said, 1)
        os.dup2(said, 2)
        sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
        warnings.simplefilter("error", RuntimeWarning)
        app(["check", "case.toml"], prog_name="taskflow")
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    with Path(sys.argv[3]).open("a", encoding="utf-8") as log:
        begun, bad = time.monotonic(), 0
        for item in campaign(int(sys.argv[1]), int(sys.argv[2])):
            bad += bool(item["wrong"])
            if item["wrong"]:
                print(json.dumps(item), file=log, flush=True)
            if int(str(item["number"])) % 50 == 49:
                print(f"{item['number']} cases, {bad} wrong, {time.monotonic() - begun:.0f} s", file=sys.stderr,
                flush=True)
