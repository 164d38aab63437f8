"""Remedies for a run directory, in the words of the command and of a call: one message serves both."""

import shlex
from pathlib import Path

from taskflow.output import CASE

OUTPUT = "-o, or output= in Python"
FORCE = "--force, or force=True"
AGAIN = f"begin again ({FORCE}), or into another directory ({OUTPUT})"
SAME = "give the same command again, with --resume, or resume=True"


def how_to_resume(directory: Path) -> str:
    """How to go on with the run in a directory from its newest checkpoint."""
    case, output = (shlex.quote(f"{path}") for path in (directory / CASE, directory))
    return f"go on with it: taskflow run {case} -o {output} --resume, or resume=True"


def unlocking(directory: Path) -> str:
    """How to remove the lock of a directory."""
    return f"taskflow unlock {shlex.quote(f'{directory}')}"
