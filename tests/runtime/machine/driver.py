"""Drivers that a GPU's own are replaced by: a text of C++ as a library."""

import ctypes
import subprocess
from pathlib import Path

from taskflow.runtime.machine.kernel.compile_host import compiler


def built(text: str, folder: Path) -> ctypes.CDLL:
    """The library, made in a folder of its own."""
    (folder / "driver.cpp").write_text(text)
    command = [*compiler().command, "-shared", "-fPIC", "-o", str(folder / "driver.so"), str(folder / "driver.cpp")]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(folder / "driver.so"))
