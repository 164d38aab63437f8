"""Tasks on modes, for planes that are periodic and for planes with walls: two kernels of one text."""

from dataclasses import replace
from pathlib import Path

from taskflow.tasks import Task


def folded(plain: Task) -> Task:
    """The task that does the same where x or y has walls: `task`_folded, in the text of that name."""
    kernel = Path(str(plain.kernel))
    return replace(plain, name=f"{plain.name}_folded", kernel=kernel.with_stem(f"{kernel.stem}_folded"))
