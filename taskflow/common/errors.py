"""Errors by who has to act: `BadInput` is for the user to correct, `RunFailed` ends an accepted run."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

from taskflow.common.text import visible

IN_PROGRAM = "in the program"  # begins the note of an error in the code of a program


class TaskflowError(Exception):
    """Base class of all errors that taskflow raises on purpose.

    Attributes
    ----------
    exit_code : int
        Exit code of the command.
    """

    exit_code = 1

    def __str__(self) -> str:
        return visible(super().__str__())  # it may quote foreign files


class BadInput(TaskflowError):
    """Invalid case, command or call. The message names the key, its value and the remedy."""

    exit_code = 2


@contextmanager
def named(where: str) -> Iterator[None]:
    """Prefix the message of BadInput with a place: a key, a file or a call."""
    try:
        yield
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from None


@contextmanager
def quiet() -> Iterator[None]:
    """Silence warnings and logs of libraries that read foreign files. Errors are reported by taskflow."""
    loggers = {name: logging.getLogger(name) for name in ("rasterio", "trimesh")}
    levels = {name: logger.level for name, logger in loggers.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for logger in loggers.values():
            logger.setLevel(logging.CRITICAL + 1)
        try:
            yield
        finally:
            for name, logger in loggers.items():
                logger.setLevel(levels[name])


class BadArgument(BadInput):
    """Invalid argument of a call.

    Parameters
    ----------
    parameter : str
        Name in the call.
    value : str or None
        Value as a user would write it.
    problem : str
        Continuation of the message (": file not found").
    remedy : str
        "{parameter}" stands for the name. A caller that knows the argument as a key of a file or an option of a command
        substitutes that name: see `called`.
    """

    def __init__(self, parameter: str, value: str | None, problem: str, remedy: str) -> None:
        super().__init__(parameter, value, problem, remedy)
        self.parameter, self.value, self.problem, self.remedy = parameter, value, problem, remedy

    def __str__(self) -> str:
        return self.called(self.parameter)

    def called(self, name: str, between: str = " = ") -> str:
        """Return the message for users who know the parameter by this name, and give its value after `between`."""
        value = "" if self.value is None else f"{between}{self.value}"
        remedy = self.remedy.replace("{parameter} = ", f"{name}{between}").replace("{parameter}", name)
        return visible(f"{name}{value}{f'{self.problem};' if self.problem else ':'} {remedy}")

    def as_option(self) -> str:
        """Return the message for users of a command, of which the parameter is an option."""
        return self.called(f"--{self.parameter.replace('_', '-')}", " ")


class RunFailed(TaskflowError):
    """A run that began and could not continue. Its written results stay readable."""


class Avoidable(RunFailed):
    """A run that can continue only from a checkpoint with other values of keys of its case: `changes`."""

    changes: Mapping[str, object] = MappingProxyType({})

    @classmethod
    def by(cls, message: str, changes: Mapping[str, object]) -> Avoidable:
        """Return the error with these changes."""
        error = cls(message)
        error.changes = dict(changes)
        return error


class Lost(RunFailed):
    """A worker, a GPU or a connection is lost. The run can be restarted from a checkpoint.

    Attributes
    ----------
    workers : frozenset of str
        Known addresses of the lost workers.
    """

    workers: frozenset[str] = frozenset()


class SchedulerGone(RunFailed):
    """The scheduler of the workers is lost."""


class ChannelError(Lost):
    """A message between two blocks was lost: the peer died, closed its channel, or sent another message."""


class ChannelTimeout(ChannelError):
    """A message did not arrive, or was not received, before its deadline. Names block, peer, sequence number and
    seconds.
    """


class Aborted(ChannelError):
    """This block was asked to stop while it waited. The message has the reason."""


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP, raised instead of KeyboardInterrupt. The message is the name of the signal."""


class Interrupted(RunFailed):
    """Ctrl-C: the run ended after a step, with its last state written."""

    exit_code = 130


class Stopped(RunFailed):
    """SIGTERM or SIGHUP: the run ended after a step, with a checkpoint from which it can be resumed."""

    exit_code = 75
