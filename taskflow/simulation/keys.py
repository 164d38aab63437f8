"""The arguments of the runtime, as users of case files and of the command know them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from taskflow.errors import BadArgument, BadInput, RunFailed, SchedulerGone

OPTIONS = ("scheduler_file", "slurm")


@contextmanager
def as_keys() -> Iterator[None]:
    """Whatever the runtime refuses within is said with the key of [machine], or the option of `taskflow run`.

    Raises BadInput in place of BadArgument, and RunFailed, with the ways to go on, where the scheduler has gone.
    """
    try:
        yield
    except BadArgument as error:
        name = error.parameter
        option = name in OPTIONS
        text = error.called(f"--{name.replace('_', '-')}", " ") if option else error.called(f"machine.{name}")
        raise BadInput(text) from error
    except SchedulerGone as error:
        raise RunFailed(f"{error}, a run with --resume, or resume=True") from error
