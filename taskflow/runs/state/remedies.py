"""Errors and remedies in terms of case files, the command and Python calls: one message serves all."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from taskflow.common.errors import BadArgument, BadInput, RunFailed, SchedulerGone
from taskflow.output import CASE

OUTPUT = "-o, or output= in Python"
FORCE = "--force, or force=True"
AGAIN = f"begin again ({FORCE}), or into another directory ({OUTPUT})"
OPTIONS = ("scheduler_file", "slurm")  # of the command, that are no keys of [machine]
SAME = "give the same command again, with --resume, or resume=True"


def how_to_resume(directory: Path) -> str:
    """Return the command that resumes the run in a directory from its newest checkpoint."""
    case, output = (shlex.quote(f"{path}") for path in (directory / CASE, directory))
    return f"resume it: taskflow run {case} -o {output} --resume, or resume=True"


def unlocking(directory: Path) -> str:
    """Return the command that removes the lock of a directory."""
    return f"taskflow unlock {shlex.quote(f'{directory}')}"


@contextmanager
def as_keys() -> Iterator[None]:
    """Rename runtime arguments in errors to the key of [machine], or the option of `taskflow run`.

    Raises BadInput instead of BadArgument, and RunFailed, with remedies, if the scheduler has exited.
    """
    try:
        yield
    except BadArgument as error:
        option = error.parameter in OPTIONS
        raise BadInput(error.as_option() if option else error.called(f"machine.{error.parameter}")) from error
    except SchedulerGone as error:
        raise RunFailed(f"{error}, a run with --resume, or resume=True") from error
