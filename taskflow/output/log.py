"""Log of a run, one line of numbers per monitor interval, and its report."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from taskflow.output.disk.damage import RESTORE, Damaged, crc32c
from taskflow.output.disk.disk import Guard, on_disk, replace_synced, replacing, unguarded, write_synced

OF = "residual_"  # prefix of columns of several residuals
OF_A_STEP = ("dt", "cfl", "residual")  # which are 0 before the first one


class RunLog:
    """Append-only file of JSON objects, one per line: readers always find complete lines, `lines` of them.

    An incomplete line of an earlier run is dropped. The file is open only while a line is written, after calling
    `guard`: a run that lost the directory would write into a file that `cut` has replaced.
    """

    def __init__(self, path: str | Path, guard: Guard = unguarded) -> None:
        self._path, self._guard = Path(path), guard
        self._path.touch()
        text = self._path.read_bytes()
        os.truncate(self._path, _complete(text))
        self._begin(text[: _complete(text)])

    def _begin(self, text: bytes) -> None:
        """Count and checksum the lines before the next one."""
        lines = text.splitlines(keepends=True)
        before = crc32c(b"".join(lines[:-1]))
        self.lines, self._sums = len(lines), (before, crc32c(b"".join(lines[-1:]), before))

    def write(self, record: Mapping[str, Any]) -> None:
        """Append a record. NaN and infinity become null, as JSON lacks them. Raises RunFailed if the disk is full."""
        line = (_encoded(record) + "\n").encode()
        with on_disk(f"line {self.lines} of {self._path}"), self._path.open("ab") as file:
            self._guard()
            file.write(line)
        self.lines, self._sums = self.lines + 1, (self._sums[1], crc32c(line, self._sums[1]))

    def checksum(self, lines: int) -> int:
        """Return the checksum of the first `lines` lines: all, or all but the last."""
        return self._sums[lines - self.lines + 1]

    def cut(self, lines: int) -> None:
        """Keep only the first `lines` lines, in a new file."""
        head = b"".join(self._path.read_bytes().splitlines(keepends=True)[:lines])
        with replacing(self._path) as draft:
            write_synced(draft, [head])
        self._begin(head)


class Tail:
    """Records of a log that another process writes. Each look reads new lines only. null is read as NaN."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._read = 0  # bytes
        self._records: list[dict[str, Any]] = []

    def look(self) -> list[dict[str, Any]]:
        """Return all complete records in order. A log that was cut since, as by a resumed run, is read again.

        Raises Damaged if a line is invalid, and OSError if the log cannot be read.
        """
        with self._path.open("rb") as file:
            file.seek(max(0, self._read - 1))
            before, text = file.read(1) if self._read else b"\n", file.read()
        text = text[: _complete(text)]
        new = [_record(self._path, line) for line in text.splitlines()] if before == b"\n" else []
        again = new and self._records and new[0].get("step", 0) <= self._records[-1].get("step", 0)
        if before != b"\n" or again:
            self._read, self._records = 0, []
            return self.look()
        self._read += len(text)
        self._records += new
        return self._records


def residuals(line: Mapping[str, Any]) -> dict[str, float]:
    """Return the residuals of a line by equation, if it has `residual_continuity` and others."""
    several = {name.removeprefix(OF): value for name, value in line.items() if name.startswith(OF)}
    return {name: math.nan if value is None else float(value) for name, value in several.items()}


def largest_residual(line: Mapping[str, Any]) -> dict[str, float]:
    """Return the largest of several residuals of a line as its `residual`, or nothing if it does not have several."""
    several = residuals(line)
    return {"residual": max(several.values())} if several else {}


def measured(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return a line without values that step 0 lacks: dt, CFL number, residual."""
    return {name: value for name, value in line.items() if line.get("step") != 0 or name not in OF_A_STEP}


def read_log(path: str | Path) -> list[dict[str, Any]]:
    """Return the records of a log in order, also of an active run. null is read as NaN."""
    return Tail(path).look()


def _record(path: Path, line: bytes) -> dict[str, Any]:
    record = {key: math.nan if value is None else value for key, value in _object(path, line).items()}
    if not all(type(record.get(key, 0)) in (int, float) for key in ("step", "time")):
        raise Damaged(f"{path}: a line whose step or time is no number, {line[:40]!r}; {RESTORE}")
    return record


def _object(path: str | Path, text: bytes) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Damaged(f"{path}: damaged ({error}); {RESTORE}") from None
    if not isinstance(value, dict):
        raise Damaged(f"{path}: it has {text[:40]!r} where an object belongs; {RESTORE}")
    return value


def write_report(path: str | Path, report: Mapping[str, Any]) -> None:
    """Write a JSON file atomically. NaN and infinity become null."""
    replace_synced(Path(path), json.dumps(plain(report), allow_nan=False, indent=2, ensure_ascii=False) + "\n")


def read_report(path: str | Path) -> dict[str, Any]:
    """Return the report as written. Raises Damaged if it is invalid, and OSError if it cannot be read."""
    return _object(path, Path(path).read_bytes())


def plain(value: Any) -> Any:
    """Return a value in JSON types: NumPy's as Python's, other objects (paths, versions) as text."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


_encode = json.JSONEncoder(allow_nan=False, ensure_ascii=False, default=plain).encode


def _encoded(record: Mapping[str, Any]) -> str:
    try:
        return _encode(record)
    except ValueError:  # a number is not finite, which is rare
        return _encode(plain(record))


def _complete(text: bytes) -> int:
    """Return the number of bytes up to the end of the last complete line."""
    return text.rfind(b"\n") + 1
