"""The command `taskflow`: words into calls. Each command loads its modules when it is called, so that help is
immediate.

It knows options, terminals and exit codes. It does not know how anything is computed, stored or drawn.
"""

import os
import signal
import sys
from contextlib import suppress

from taskflow.common.namesake import PROBLEM, mixed
from taskflow.terminal.process import alone, loading

TRY_AGAIN = 75
AGAIN = {"run": ", with --resume", "sweep": ""}  # options with which commands resume
CHECKING = ("check", "grid")  # commands that read foreign files and compute nothing


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
        with loading():
            from taskflow.cli.app import app

        app(prog_name="taskflow")
