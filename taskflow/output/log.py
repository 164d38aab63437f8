"""What a run says about itself: a line of numbers per monitor interval, and a report at the end."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from taskflow.output.disk import Guard, on_disk, replace_synced, replacing, unguarded, write_synced


class RunLog:
    """Appends objects to a file, one JSON object per line: a reader always finds complete lines, `lines` of them.

    A line that an earlier run could not complete is dropped. The file is open only while a line is written. `guard` is
    called when it is: who has lost the directory then writes into a file that a cut has put away.
    """

    def __init__(self, path: str | Path, guard: Guard = unguarded) -> None:
        self._path, self._guard = Path(path), guard
        self._path.touch()
        text = self._path.read_bytes()
        os.truncate(self._path, _complete(text))
        self.lines = text.count(b"\n")

    def write(self, record: Mapping[str, Any]) -> None:
        """Append one record, such as {"step": 10, "time": 0.1}. JSON has no NaN and no infinity: both become null.

        Raises RunFailed where the disk is full.
        """
        line = json.dumps(plain(record), allow_nan=False, ensure_ascii=False) + "\n"
        with on_disk(f"line {self.lines} of {self._path}"), self._path.open("ab") as file:
            self._guard()
            file.write(line.encode())
        self.lines += 1

    def cut(self, lines: int) -> None:
        """Drop all but so many lines, the first ones. They are in another file then."""
        kept = self._path.read_bytes().splitlines(keepends=True)[:lines]
        with replacing(self._path) as draft:
            write_synced(draft, kept)
        self.lines = len(kept)


class Tail:
    """The records of a log that somebody else writes: what is new is read at each look. null is read as NaN."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._read = 0  # bytes
        self._records: list[dict[str, Any]] = []

    def look(self) -> list[dict[str, Any]]:
        """All complete records in order. A log that was cut meanwhile, as by a run that goes on, is read anew."""
        with self._path.open("rb") as file:
            file.seek(max(0, self._read - 1))
            before, text = file.read(1) if self._read else b"\n", file.read()
        text = text[: _complete(text)]
        new = [_record(line) for line in text.splitlines()] if before == b"\n" else []
        again = new and self._records and new[0].get("step", 0) <= self._records[-1].get("step", 0)
        if before != b"\n" or again:
            self._read, self._records = 0, []
            return self.look()
        self._read += len(text)
        self._records += new
        return self._records


def read_log(path: str | Path) -> list[dict[str, Any]]:
    """The records of a log in order, also of a run that still writes; null is read as NaN."""
    return Tail(path).look()


def _record(line: bytes) -> dict[str, Any]:
    return {key: math.nan if value is None else value for key, value in json.loads(line).items()}


def write_report(path: str | Path, report: Mapping[str, Any]) -> None:
    """Write a JSON file that is there completely or not at all. NaN and infinity become null."""
    replace_synced(Path(path), json.dumps(plain(report), allow_nan=False, indent=2, ensure_ascii=False) + "\n")


def read_report(path: str | Path) -> dict[str, Any]:
    """The report as written."""
    report: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
    return report


def plain(value: Any) -> Any:
    """The value in the types of JSON: NumPy numbers and arrays as Python's, other objects (paths, versions) as text."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def _complete(text: bytes) -> int:
    """Bytes up to the end of the last complete line."""
    return text.rfind(b"\n") + 1
