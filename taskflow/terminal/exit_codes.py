"""Exit codes of commands, and error messages."""

from __future__ import annotations

import os
import re
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from taskflow.common.errors import IN_PROGRAM, BadInput, Interrupted, TaskflowError
from taskflow.common.registry import author
from taskflow.common.units import plural
from taskflow.terminal.format import style, tell

FAILED = TaskflowError.exit_code
MOST = 100  # lines of errors
USAGE: Any = typer.BadParameter.__base__  # usage errors of typer, which it shows itself with exit code 2


class Commands(TyperGroup):
    """Command group that turns exceptions into exit codes and messages on standard error."""

    def invoke(self, ctx: Any) -> Any:
        """Invoke the command. No exception reaches users as a traceback."""
        return _invoked(super().invoke, ctx)


class Command(TyperCommand):
    """A command without a group, with the exit codes of `Commands`."""

    def invoke(self, ctx: Any) -> Any:
        """Do the command. Never lets an exception through that a user would see as a traceback."""
        return _invoked(super().invoke, ctx)


def _invoked(invoke: Callable[[Any], Any], ctx: Any) -> Any:
    try:
        result = invoke(ctx)
        sys.stdout.flush()
        return result
    except (typer.Exit, typer.Abort, USAGE):
        raise
    except BaseException as error:
        code = ended_by(error)
        if ctx.params.get("debug"):
            traceback.print_exc()
    raise typer.Exit(code)


def ended_by(error: BaseException) -> int:
    """Report an error on standard error, and return the exit code."""
    match error:
        case Interrupted():
            tell(error, err=True)
            return error.exit_code
        case TaskflowError() if hasattr(error, "__notes__"):  # a block's traceback
            complain(str(error), _with_traceback(error))
            return error.exit_code
        case TaskflowError():
            complain(str(error))
            return error.exit_code
        case KeyboardInterrupt():
            typer.echo("interrupted", err=True)
            return Interrupted.exit_code
        case BrokenPipeError():  # the reader of our output has exited
            deafen()
        case OSError():
            complain(": ".join(str(part) for part in (error.filename, error.strerror or error) if part))
        case MemoryError():
            complain(f"not enough memory: {error}" if str(error) else "not enough memory")
        case _:
            complain(f"unexpected {type(error).__name__}: {error}", _with_traceback(error))
    return FAILED


def refuse(message: str) -> NoReturn:
    """Raise BadInput, for bad input found by the command itself."""
    raise BadInput(message)


def refuse_options(options: Mapping[str, object], why: str) -> None:
    """Raise BadInput for the first of these options that was given."""
    for option, value in options.items():
        if value:
            refuse(f"{option}: {why}; omit it")


@contextmanager
def writing(path: Path, remedy: str = "choose another file with -o") -> Iterator[None]:
    """Raise BadInput if a file cannot be written within."""
    try:
        yield
    except OSError as error:
        refuse(f"{path}: cannot be written ({error.strerror or error}); {remedy}")


def complain(*messages: str) -> None:
    """Print the lines of the messages on standard error, each marked as an error, at most `MOST`."""
    mark = f"{style('Error:', fg='red', bold=True)} "
    lines = "\n".join(messages).split("\n")
    for line in lines[:MOST]:
        tell(line, mark, err=True)
    if len(lines) > MOST:
        tell(f"and {plural(len(lines) - MOST, 'line')} more", mark, err=True)


def deafen() -> None:
    """Discard standard output from now on, because its reader has exited."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)


def _with_traceback(error: BaseException) -> str:
    """Write the traceback to a separate file, and return a message with its path."""
    trace = "".join(traceback.format_exception(error))
    theirs, where = author(trace), re.search(rf"{IN_PROGRAM} .*", trace)
    fault = f"this is a fault of {theirs or 'taskflow'}{f', {where[0]}' if where and theirs else ''}"
    try:
        with tempfile.NamedTemporaryFile("w", prefix="taskflow-", suffix=".txt", delete=False) as file:
            file.write(trace)
    except OSError:
        return f"{fault}; taskflow --debug COMMAND ... shows the traceback"
    return f"{fault}; {'see' if theirs else 'please report it with'} the traceback in {file.name}"
