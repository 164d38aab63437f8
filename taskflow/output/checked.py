"""The store as readers see it: all that they get is as it was written, or an error names the file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

from zarr.abc.store import ByteRequest
from zarr.core.buffer import Buffer, BufferPrototype
from zarr.storage import LocalStore, WrapperStore

from taskflow.output.damage import RESTORE, Damaged, check_file, holds
from taskflow.output.groups import SHARDS, metadata, without_time

CHUNK = re.compile(r"(.+)/c(?:/\d+)*")  # the key of a chunk, or of a shard


class CheckedStore(WrapperStore[LocalStore]):
    """A store of which nobody gets a chunk that is missing or damaged: reading raises Damaged, whenever it happens.

    `shards` are the arrays that have checksums, by path, each with the number of chunks in a shard, 0 where there are
    no shards. Others, as of stores of before there were checksums, are read as they are.
    """

    def __init__(self, store: LocalStore, shards: Mapping[str, int] | None = None) -> None:
        super().__init__(store)
        self._shards = shards or {}

    def _with_store(self, store: LocalStore) -> CheckedStore:
        return type(self)(store, self._shards)

    async def get(
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """The bytes stored. A part of a shard is a chunk or the index, as a rule, and ends in its checksum; where it
        does not, the whole shard is verified.
        """
        value = await super().get(key, prototype, byte_range)
        match = CHUNK.fullmatch(key)
        chunks = self._shards.get(match[1]) if match is not None else None
        if chunks is None or (value is not None and byte_range is not None and holds(value.as_numpy_array())):
            return value
        try:
            check_file(self._store.root / key, chunks)
        except Damaged as error:
            raise Damaged(f"{error}; {RESTORE}") from None
        return value


def checked(path: Path, group: str) -> CheckedStore:
    """A store, of which a group is to be read. Raises Damaged where what the group says of its arrays is not what they
    say themselves, FileNotFoundError where there is no such group.
    """
    about = path / group / "zarr.json"
    if not about.exists():
        raise FileNotFoundError(about)
    described, shards = metadata(about), {}
    try:
        arrays = dict(described["consolidated_metadata"]["metadata"])
        for name, array in arrays.items():
            if array["node_type"] == "array" and "/" not in name:
                where = path / group / name / "zarr.json"
                if without_time(metadata(where)) != without_time(array):
                    raise Damaged(f"{about}: of {name} it says something else than {where}; {RESTORE}")
                if (chunks := _shard(array)) is not None:
                    shards["/".join(filter(None, (group, name)))] = chunks
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, IndexError) as error:
        raise Damaged(f"{about}: it is not as it was written ({type(error).__name__}: {error}); {RESTORE}") from None
    return CheckedStore(LocalStore(path, read_only=True), shards)


def _shard(array: Mapping[str, Any]) -> int | None:
    """How many chunks a shard of an array has, 0 where it has none; None for an array without checksums."""
    outer, codecs = array["chunk_grid"]["configuration"]["chunk_shape"], array["codecs"]
    inner, chunks = outer, 0
    if codecs[0]["name"] == SHARDS:
        inner, codecs = codecs[0]["configuration"]["chunk_shape"], codecs[0]["configuration"]["codecs"]
        chunks = prod(whole // part for whole, part in zip(outer, inner, strict=True))
    return chunks if codecs[-1]["name"] == "crc32c" else None
