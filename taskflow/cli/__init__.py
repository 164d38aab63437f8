"""The command `taskflow`: words into calls. Each command loads what it needs when it is called: help comes at once.

It knows options, terminals and exit codes. It does not know how anything is computed, stored or drawn.
"""

import logging
import os
import signal
import sys

from taskflow.namesake import PROBLEM, mixed

CTRL_C = 130
TRY_AGAIN = 75


def _hush() -> None:
    """Silence the logs of libraries: we report what matters as an error. What a killed worker leaves is collected."""
    logging.disable()
    filters = os.environ.get("PYTHONWARNINGS"), "ignore::UserWarning:multiprocessing.resource_tracker"
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, filters))


def _terminated(*_: object) -> None:
    """End at SIGTERM before a run has begun, and after it has ended; in between the run handles it."""
    sys.stderr.write("Error: stopped by SIGTERM; give the same command again, with --resume\n")
    sys.stderr.flush()
    os._exit(TRY_AGAIN)


def main() -> None:
    """Entry point of the command."""
    if mixed():
        sys.exit(f"Error: {PROBLEM}")
    if next((word for word in sys.argv[1:] if not word.startswith("-")), "") == "run":
        signal.signal(signal.SIGTERM, _terminated)
    try:
        if "--debug" not in sys.argv:
            _hush()
        from taskflow.cli.app import app

        app(prog_name="taskflow")
    except KeyboardInterrupt:  # while loading: a command itself ends in `Commands`
        sys.exit(CTRL_C)
    finally:
        signal.signal(signal.SIGINT, lambda *_: os._exit(CTRL_C))  # what Python does at exit is not worth a traceback
