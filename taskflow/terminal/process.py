"""The process of a command."""

import gc
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


@contextmanager
def loading() -> Iterator[None]:
    """Load modules without looking for garbage, then exempt all objects from collections. Modules live as long as the
    process of a command, and collections would take a tenth of the time to load them.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _hush() -> None:
    """Silence the logs of libraries, because errors report what matters. Resources of killed workers are released
    anyway.
    """
    logging.disable()
    filters = os.environ.get("PYTHONWARNINGS"), "ignore::UserWarning:multiprocessing.resource_tracker"
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, filters))
