"""Kernel texts with what they include in its place."""

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
REAL = {"float32": "float", "float64": "double", "uint8": "unsigned char", "uint16": "unsigned short"}  # these to copy
VOCABULARY = '#include "cell.h"\n'
_NAMES = "UZ|UY|BX|BY|NARROWEST|BUFFERS|UNROLL|OVERLAP|RESIDENT|PLANES|ROWS"  # see cell.h, faces.h, twice.h, sweep.h
_SETTINGS = re.compile(rf"(?:[ \t]*(?:#[ \t]*define[ \t]+(?:{_NAMES})\b.*|//.*)?\n)*")
_INCLUDE_LINE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)".*$', re.MULTILINE)

Place = tuple[int, int]  # of a file: its device and number


def expanded(
    kernel: Path | str, real: np.dtype, generated: Mapping[str, str], name: str = "kernel", apart: Iterable[Task] = ()
) -> str:
    """A text, or that of a file, for a precision, with every `#include "..."` replaced by what it names: a generated
    text, or a file, by its path from the folder of the text that names it or among taskflow's own headers. The
    definitions of tasks that are `apart` are left out.

    A text that does not include `cell.h` itself gets it, after the settings with which it begins. Each header is taken
    once. Lines keep their numbers and file names in compiler messages; `name` stands for the file of a text. Raises
    KernelError for a missing header.
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
    """A text cut at its includes: what precedes each, its header, and the lines up to its end; and the rest."""

    def __init__(self, text: str) -> None:
        self.parts: list[tuple[str, str, int]] = []
        end = 0
        for match in _INCLUDE_LINE.finditer(text):
            self.parts.append((text[end : match.start()], match[1], text.count("\n", end, match.end())))
            end = match.end()
        self.rest = text[end:]


@cache
def _read(path: Path, changed: int, size: int) -> _Source:
    """The text of a file as it was when it was changed last: most of a hundred texts take the same headers."""
    return _Source(path.read_text(encoding="utf-8"))


def _header(header: str, folder: Path) -> tuple[Place, Path, _Source] | None:
    """The file of a header, its folder and its text; None where there is none."""
    for path in (folder / header, INCLUDE / header):
        with suppress(OSError):
            file = path.stat()
            if S_ISREG(file.st_mode):
                return (file.st_dev, file.st_ino), path.parent, _read(path, file.st_mtime_ns, file.st_size)
    return None


def _expand(name: str, source: _Source, folder: Path, generated: dict[str | Place, str], line: int = 1) -> str:
    """`generated` gains every header once it was taken, as an empty text. The first line of the text has a number."""
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
