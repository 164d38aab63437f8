"""Compare the store and log of a run with a checkpoint that depends on them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, islice, product
from math import ceil, prod
from pathlib import Path
from typing import Any

import numpy as np
import zarr

from taskflow.output.checkpoint.checkpoint import Checkpoint
from taskflow.output.disk.damage import Damaged, check_file, crc32c, file_size
from taskflow.output.disk.disk import LOG, STORE
from taskflow.output.store.groups import checked, has_records, metadata, open_group, without_cuts, without_time
from taskflow.output.store.shards import surviving

READERS, AT_ONCE = 8, 1000  # files read concurrently, and files listed together
NAMED = 5  # damages named in a message


def sum_of_times(times: Iterable[float], crc: int = 0) -> int:
    """Return the checksum of times appended to others with the checksum `crc`."""
    return crc32c(np.fromiter(times, "<f8"), crc)


def sum_of_group(path: Path, group: str) -> int:
    """Return the checksum of the constant content of a store group: attributes, coordinates, and metadata of arrays.

    How arrays are cut is excluded, because other blocks change it. Raises Damaged if the group cannot be read.
    """
    node, arrays = open_group(path, group, "r")
    crc = crc32c(_text(dict(node.attrs)))
    for chart in sorted({name.rpartition("/")[0] for name in arrays} - {""}):
        crc = crc32c(_text([chart, dict(node[chart].attrs)]), crc)
    for name, array in sorted(arrays.items()):
        crc = crc32c(_text([name, without_cuts(without_time(metadata(path / array.path / "zarr.json")))]), crc)
        if array.ndim <= 1 and not has_records(array):
            crc = crc32c(np.ascontiguousarray(_values(path, array)), crc)
    return crc


def _text(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True).encode()


def _values(path: Path, array: zarr.Array) -> np.ndarray:
    """Return all values of a small array. Raises Damaged if they cannot be read."""
    for number in product(*(range(ceil(n / width)) for n, width in zip(array.shape, array.chunks, strict=True))):
        check_file(path / array.path / array.metadata.encode_chunk_key(number), 0)
    try:
        return np.asarray(array[...])
    except Exception as error:  # any error of a codec
        raise Damaged(f"{path / array.path}: {error}") from None


class RunComparison:
    """Comparison of a run directory with a sequence of checkpoints, the newest first.

    It covers times, log, coordinates, metadata, and size and index of each shard, and with `contents` all values.
    """

    def __init__(self, directory: Path, *, contents: bool) -> None:
        self._directory, self._contents = directory, contents
        self._store = surviving(directory / STORE)
        self._known: dict[str, tuple[int, list[tuple[int, str]]]] = {}  # number of records; problems with first records

    def check(self, checkpoint: Checkpoint, groups: Iterable[str]) -> None:
        """Raise Damaged if a checkpoint depends on damaged data in these groups of the store, or in the log."""
        state = checkpoint.state
        problems = [*self._log(state["lines"], state["log"])]
        for group in groups:
            problems += self._group(group, state["records"][group], state["store"][group])
        if problems:
            more = f" and {len(problems) - NAMED} more" if len(problems) > NAMED else ""
            raise Damaged(f"{checkpoint.path}: it depends on damaged data: {'; '.join(problems[:NAMED])}{more}")

    def _log(self, lines: int, crc: int) -> Iterator[str]:
        path = self._directory / LOG
        if not lines and not path.exists():
            return
        try:
            file_size(path)
            text = path.read_bytes().splitlines(keepends=True)[:lines]
        except (OSError, Damaged) as error:
            yield f"{error}"
            return
        if len(text) < lines or not all(line.endswith(b"\n") for line in text[-1:]):
            yield f"{path}: {len(text)} lines, where {lines} were written"
        elif crc32c(b"".join(text)) != crc:
            yield f"{path}: it is not as it was written"

    def _group(self, group: str, count: int, checksums: Mapping[str, int]) -> list[str]:
        try:
            arrays = open_group(self._store, group, "r")[1]
            times = _values(self._store, arrays["time"])
            if (visible := int(np.isfinite(times).sum())) < count:
                return [f"{self._store}: {visible} {group or 'snapshots'}, where {count} were written"]
            if self._known.get(group, (-1, []))[0] < count:
                self._known[group] = count, [*self._files(arrays.values(), count)]
            if problems := [problem for record, problem in self._known[group][1] if record < count]:
                return problems
            if sum_of_group(self._store, group) != checksums["fixed"]:
                checked(self._store, group)  # may raise a more precise error
                return [f"{self._store / group}: coordinates or metadata are not as they were written"]
            if sum_of_times(times[:count]) != checksums["times"]:
                return [f"{self._store / arrays['time'].path}: it is not as it was written"]
        except (Damaged, OSError) as error:
            return [f"{error}"]
        return []

    def _files(self, arrays: Iterable[zarr.Array], count: int) -> Iterator[tuple[int, str]]:
        """Yield problems of the files of the first records, with the first record that needs the file."""
        files = chain.from_iterable(self._chunks(array, count) for array in arrays)
        with ThreadPoolExecutor(READERS) as pool:
            while some := [*islice(files, AT_ONCE)]:
                yield from filter(None, pool.map(self._look, some))

    def _chunks(self, array: zarr.Array, count: int) -> Iterator[tuple[int, Path, int]]:
        """Yield the files of an array that these records need: first record, path, number of chunks."""
        widths = array.shards or array.chunks
        chunks = prod(widths) // prod(array.chunks) if array.shards else 0
        shape = (count, *array.shape[1:]) if has_records(array) else array.shape
        for number in product(*(range(ceil(n / width)) for n, width in zip(shape, widths, strict=True))):
            record = number[0] * widths[0] if has_records(array) else -1
            yield record, self._store / array.path / array.metadata.encode_chunk_key(number), chunks

    def _look(self, file: tuple[int, Path, int]) -> tuple[int, str] | None:
        record, path, chunks = file
        try:
            check_file(path, chunks, contents=self._contents)
        except Damaged as error:
            return record, f"{error}"
        return None
