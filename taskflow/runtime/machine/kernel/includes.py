"""Kernel texts with their includes expanded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from stat import S_ISREG

import numpy as np

from taskflow.runtime.machine.kernel.agreement import KernelError, without
from taskflow.runtime.tasks import Task

INCLUDE = Path(__file__).parent / "include"
REAL = {"float32": "float", "float64": "double", "uint8": "unsigned char", "uint16": "unsigned short"}  # ints: copies
VOCABULARY = '#include "cell.h"\n'
_NAMES = "UZ|UY|BX|BY|NARROWEST|BUFFERS|UNROLL|OVERLAP|RESIDENT|PLANES|ROWS"  # see cell.h, faces.h, twice.h, sweep.h
_SETTINGS = re.compile(rf"(?:[ \t]*(?:#[ \t]*define[ \t]+(?:{_NAMES})\b.*|//.*)?\n)*")
_INCLUDE_LINE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)".*$', re.MULTILINE)

Place = tuple[int, int]  # device and inode of a file


def expanded(
    kernel: Path | str, real: np.dtype, generated: Mapping[str, str], name: str = "kernel", apart: Iterable[Task] = ()
) -> str:
    """Return a text, or the text of a file, for a precision, with every `#include "..."` expanded: a generated text, or
    a file, relative to the including folder or among taskflow's own headers. Definitions of tasks in `apart` are
    omitted.

    A text that does not include `cell.h` gets it after its initial settings. Each header is included once. Compiler
    messages keep line numbers and file names; `name` is the file name of a text. Raises KernelError for a missing
    header.
    """
    precision, taken = f"#define REAL {REAL[real.name]}\n", dict[str | Place, str](generated.items())
    text = kernel.read_text(encoding="utf-8") if isinstance(kernel, Path) else kernel
    for task in apart:
        text = without(text, task)
    if isinstance(kernel, Path):
        return precision + _expand(kernel.name, _Source(text), kernel.parent, taken)
    settings = _SETTINGS.match(text)
    if settings is None or VOCABULARY.strip() in text:
        return precision + _expand(name, _Source(text), INCLUDE, taken)
    line = 1 + settings[0].count("\n")
    headers = settings[0] + _expand("", _Source(VOCABULARY), INCLUDE, taken)
    return precision + headers + _expand(name, _Source(text[settings.end() :]), INCLUDE, taken, line)


class _Source:
    """A text split at its includes: the text before each, its header, and the lines up to its end. `rest` follows the
    last.
    """

    def __init__(self, text: str) -> None:
        self.parts: list[tuple[str, str, int]] = []
        end = 0
        for match in _INCLUDE_LINE.finditer(text):
            self.parts.append((text[end : match.start()], match[1], text.count("\n", end, match.end())))
            end = match.end()
        self.rest = text[end:]


@cache
def _read(path: Path, changed: int, size: int) -> _Source:
    """Return the text of a file, cached until it changes: most of a hundred texts use the same headers."""
    return _Source(path.read_text(encoding="utf-8"))


def _header(header: str, folder: Path) -> tuple[Place, Path, _Source] | None:
    """Return the file of a header, its folder and its text, or None if it does not exist."""
    for path in (folder / header, INCLUDE / header):
        with suppress(OSError):
            file = path.stat()
            if S_ISREG(file.st_mode):
                return (file.st_dev, file.st_ino), path.parent, _read(path, file.st_mtime_ns, file.st_size)
    return None


def _expand(name: str, source: _Source, folder: Path, generated: dict[str | Place, str], line: int = 1) -> str:
    """Expand a text whose first line is number `line`. Included headers become empty texts in `generated`."""
    parts = [f'#line {line} "{name}"\n']
    for before, header, lines in source.parts:
        line += lines
        key: str | Place = header
        within, inner = folder, _Source(generated.get(header, ""))
        if header not in generated:
            if (file := _header(header, folder)) is None:
                raise KernelError(f'{name} includes "{header}", which is neither in {folder} nor in {INCLUDE}')
            key, within, inner = file
            inner = _Source("") if key in generated else inner
        generated[key] = ""
        parts += [before, f'{_expand(header, inner, within, generated)}\n#line {line + 1} "{name}"']
    return "".join([*parts, source.rest])
