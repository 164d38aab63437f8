"""Processes of the embedded cluster begin without the script that begins them.

multiprocessing has every new process import the main script first, to find by name what is defined there. What blocks
are sent brings that along by value (see `parcel`), as it must on a cluster elsewhere: the import would cost time and,
in a script without `if __name__ == "__main__":`, begin the next cluster.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import process, spawn
from typing import Any

WORKERS = "Dask Worker process"  # how Dask's nannies name the processes that they begin


@contextmanager
def scriptless() -> Iterator[None]:
    """Workers that nannies of this process begin, or begin again, do not import its main script.

    It changes what multiprocessing prepares for these processes, and for no others that begin meanwhile.
    """
    usual = spawn.get_preparation_data

    def prepare(name: str) -> dict[str, Any]:
        data = usual(name)
        if name.startswith(WORKERS):
            data = {key: value for key, value in data.items() if not key.startswith("init_main")}
        return data

    spawn.get_preparation_data = prepare
    try:
        yield
    finally:
        spawn.get_preparation_data = usual


def importing_script() -> bool:
    """Whether this process is importing the script of the one that began it: multiprocessing lets it begin no other."""
    return bool(getattr(process.current_process(), "_inheriting", False))
