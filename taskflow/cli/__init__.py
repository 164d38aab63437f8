"""The command `taskflow`: words into calls. Each command loads its modules when it is called, so that help is
immediate.

It knows options, terminals and exit codes. It does not know how anything is computed, stored or drawn.
"""

import logging
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from taskflow.common.namesake import PROBLEM, mixed

CTRL_C = 130
TRY_AGAIN = 75
AGAIN = {"run": ", with --resume", "sweep": ""}  # options with which commands resume
CHECKING = ("check", "grid")  # commands that read foreign files and compute nothing


def _hush() -> None:
    """Silence the logs of libraries, because errors report what matters. Resources of killed workers are released
    anyway.
    """
    logging.disable()
    filters = os.environ.get("PYTHONWARNINGS"), "ignore::UserWarning:multiprocessing.resource_tracker"
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, filters))


def _terminable(how: str) -> None:
    """End at SIGTERM and SIGHUP before a run has started and after it has ended. In between the run handles them."""

    def end(number: int, _: object) -> None:
        with suppress(OSError):  # a terminal that is closed
            sys.stderr.write(f"Error: stopped by {signal.Signals(number).name}; give the same command again{how}\n")
            sys.stderr.flush()
        os._exit(TRY_AGAIN)

    signal.signal(signal.SIGTERM, end)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as after nohup
        signal.signal(signal.SIGHUP, end)


def main() -> None:
    """Entry point of the command."""
    if mixed():
        sys.exit(f"Error: {PROBLEM}")
    command = next((word for word in sys.argv[1:] if not word.startswith("-")), "")
    if command in AGAIN:
        _terminable(AGAIN[command])
    if command in CHECKING:
        from taskflow.common.files import only_check

        only_check()
    with alone():
        from taskflow.cli.app import app

        app(prog_name="taskflow")


@contextmanager
def alone() -> Iterator[None]:
    """Let a command have this process to itself: no logs of libraries, and an exit code after Ctrl-C."""
    try:
        if "--debug" not in sys.argv:
            _hush()
        yield
    except KeyboardInterrupt:  # while loading: a command itself ends in `Commands`
        sys.exit(CTRL_C)
    finally:
        signal.signal(signal.SIGINT, lambda *_: os._exit(CTRL_C))  # interrupts at exit need no traceback
