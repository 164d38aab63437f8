"""Errors, by who has to act: `BadInput` is for the user to correct, `RunFailed` ended an accepted run."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

from taskflow.common.text import visible


class TaskflowError(Exception):
    """Every error that taskflow raises on purpose. `exit_code` is what the command returns for it."""

    exit_code = 1

    def __str__(self) -> str:
        return visible(super().__str__())  # it may quote files of others


class BadInput(TaskflowError):
    """A case, command or call that cannot be obeyed; the message names the key, its value and the remedy."""

    exit_code = 2


@contextmanager
def named(where: str) -> Iterator[None]:
    """Bad input within begins with where it is: a key, a file or a call."""
    try:
        yield
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from None


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the warnings and logs of libraries that read foreign files from users, who get an error in our words."""
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
    """An argument of a call that cannot be obeyed.

    `parameter` is its name in that call, `value` as one would write it, or None where it does not matter; `problem`
    goes on from there (": there is no such file"), and in `remedy` "{parameter}" stands for the name. Whoever knows the
    argument by another name, as a key of a file or an option of a command, says all of it with that: see `called`.
    """

    def __init__(self, parameter: str, value: str | None, problem: str, remedy: str) -> None:
        super().__init__(parameter, value, problem, remedy)
        self.parameter, self.value, self.problem, self.remedy = parameter, value, problem, remedy

    def __str__(self) -> str:
        return self.called(self.parameter)

    def called(self, name: str, between: str = " = ") -> str:
        """The message, for users who know the parameter by this name."""
        value = "" if self.value is None else f"{between}{self.value}"
        remedy = self.remedy.replace("{parameter}", name)
        return visible(f"{name}{value}{f'{self.problem};' if self.problem else ':'} {remedy}")


class RunFailed(TaskflowError):
    """A run that began and could not go on; what it had written stays readable."""


class Avoidable(RunFailed):
    """A run that cannot go on as it is, but can from a checkpoint with other values of keys of its case: `changes`."""

    changes: Mapping[str, object] = MappingProxyType({})

    @classmethod
    def by(cls, message: str, changes: Mapping[str, object]) -> Avoidable:
        """The error with these changes."""
        error = cls(message)
        error.changes = dict(changes)
        return error


class Lost(RunFailed):
    """A worker, a GPU or a connection is gone, and with it a part of the run, of which nothing else is wrong: it can go
    on from a checkpoint. `workers` are addresses of those to blame, as far as that is known.
    """

    workers: frozenset[str] = frozenset()


class SchedulerGone(RunFailed):
    """Nobody is left who knows the workers."""


class ChannelError(Lost):
    """A message between two blocks was lost: the peer died, closed its channel, or sent something else."""


class ChannelTimeout(ChannelError):
    """A message did not arrive, or was not taken, within its deadline; names block, peer, sequence and seconds."""


class Aborted(ChannelError):
    """Somebody asked this block to stop while it waited; carries that reason."""


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP, whose name it has, raised where Ctrl-C would be."""


class Interrupted(RunFailed):
    """The user asked the run to stop (Ctrl-C); it ended after a step, with its last state written."""

    exit_code = 130


class Stopped(RunFailed):
    """SIGTERM or SIGHUP asked the run to stop; it ended after a step, with a checkpoint from which it can go on."""

    exit_code = 75
