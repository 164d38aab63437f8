"""Files that a user names, of which nothing is known: no pipe or device is waited for, and none fills the memory."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from taskflow.errors import BadInput
from taskflow.units import size


def read_bytes(path: Path, largest: int) -> bytes:
    """What is in a file. Raises BadInput, which does not name it, where it is no regular file, or has more than
    `largest` bytes, and OSError where it cannot be read.
    """
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe that nobody writes into would never open
    with os.fdopen(file, "rb") as opened:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise BadInput("not a regular file, but a pipe or a device; copy what it gives into a file")
        content = opened.read(largest + 1)
    if len(content) > largest:
        raise BadInput(f"more than {largest} bytes; give a smaller file")
    return content


def read_text(path: Path, largest: int) -> str:
    """The same for a text. Raises BadInput where it is none in UTF-8, too."""
    content = read_bytes(path, largest)
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise BadInput(f"not a text in UTF-8: byte 0x{content[error.start]:02x} in line {line}") from None


def check_size(path: Path, largest: int) -> None:
    """Raises BadInput where a file that a library will read has more than `largest` bytes, OSError where there is
    none.
    """
    if (found := path.stat().st_size) > largest:
        raise BadInput(f"{path}: {size(found)}; give a file of at most {size(largest)}")
