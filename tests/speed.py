"""Processor time, as it would be on the machine on which limits were set: the neighbours of a virtual machine can make
it several times slower, for minutes.
"""

from collections.abc import Callable
from time import process_time

SOON = 60.0  # seconds of wall clock: any wait that is not for another wait's limit has ended by then
PASSES, SECONDS = 500_000, 0.03  # of a loop in Python, and the time that it takes on that machine


def seconds(work: Callable[[], object]) -> float:
    """What `work()` takes, in proportion to the loop before and after it; never more than it takes here."""
    before, taken, after = _taken(_loop), _taken(work), _taken(_loop)
    return taken * min(1.0, 2 * SECONDS / (before + after))


def _taken(work: Callable[[], object]) -> float:
    begin = process_time()
    work()
    return process_time() - begin


def _loop() -> int:
    total = 0
    for n in range(PASSES):
        total += n * n
    return total
