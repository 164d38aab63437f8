"""The command `taskflow`: words into calls. Each command loads what it needs when it is called: help comes at once."""

import logging
import os
import signal
import sys

CTRL_C = 130


def _hush() -> None:
    """What libraries log we report as an error, or it is no problem; what a killed worker leaves is collected."""
    logging.disable()
    filters = os.environ.get("PYTHONWARNINGS"), "ignore::UserWarning:multiprocessing.resource_tracker"
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, filters))


def main() -> None:
    """Entry point of the command."""
    try:
        if "--debug" not in sys.argv:
            _hush()
        from taskflow.cli.app import app

        app(prog_name="taskflow")
    except KeyboardInterrupt:  # while loading: a command itself ends in `Commands`
        sys.exit(CTRL_C)
    finally:
        signal.signal(signal.SIGINT, lambda *_: os._exit(CTRL_C))  # what Python does at exit is not worth a traceback
