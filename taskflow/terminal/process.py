"""The process of a command."""

import logging
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

CTRL_C = 130


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


def _hush() -> None:
    """Silence the logs of libraries, because errors report what matters. Resources of killed workers are released
    anyway.
    """
    logging.disable()
    filters = os.environ.get("PYTHONWARNINGS"), "ignore::UserWarning:multiprocessing.resource_tracker"
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, filters))
