"""Shards of charts, which one block writes alone: a block's pieces, and the store cut anew for other blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from taskflow.output.charts.layout import ChartsLayout, Piece
from taskflow.output.charts.store import create_charts
from taskflow.output.groups import CHARTS
from taskflow.output.shards import Fetch, ShardWriter, check_whole, cut_anew


class ChartsBlockStore(ShardWriter):
    """The part of one block in a group of a store of charts: its `pieces`, for the process of that block.

    The options are those of `ShardWriter`: `patience`, `files`, `guard`. Raises ValueError where a piece is not made of
    whole shards: two writers of one shard lose each other's data without an error.
    """

    def __init__(self, path: str | Path, pieces: Sequence[Piece], group: str = "", **options: Any) -> None:
        super().__init__(path, group, **options)
        self.pieces = tuple(pieces)
        self.fields = tuple(dict.fromkeys(name.rpartition("/")[2] for name in self._fields))
        for piece, field in product(self.pieces, self.fields):
            name = _array(piece, field)
            check_whole(name, self._fields[name], piece.cells)

    def write(self, index: int, values: Mapping[str, Sequence[tuple[Piece, np.ndarray]]]) -> None:
        """Write this block's part of record `index`: for every field all `pieces`, each with an array [z, y, x].

        Waits up to `patience` seconds for room in the store. Raises RunFailed where there is none, or the disk is full.
        """
        self.fetch(index, {field: [(piece, partial(np.asarray, array)) for piece, array in parts]
                           for field, parts in values.items()})  # fmt: skip

    def fetch(self, index: int, fetches: Mapping[str, Sequence[tuple[Piece, Fetch]]]) -> None:
        """Write what these calls return, as `write` does; several pieces are fetched and written at a time."""
        parts = [(field, piece, fetch) for field, some in fetches.items() for piece, fetch in some]
        places = sorted((field, piece.chart, piece.cells) for field, piece, _ in parts)
        if places != sorted((field, piece.chart, piece.cells) for field in self.fields for piece in self.pieces):
            raise ValueError(f"pieces {places} where those of {sorted(self.fields)} are {self.pieces}")
        self.put(index, [(_array(piece, field), piece.cells, fetch) for field, piece, fetch in parts])


def _array(piece: Piece, field: str) -> str:
    return f"{CHARTS}/{piece.chart}/{field}"


def reshard_charts(path: Path, layouts: Sequence[ChartsLayout]) -> None:
    """Leave a store in `path` in which the blocks of each of `layouts` write whole shards: the present one, or a copy
    of it, as `reshard` does for one box. Raises RunFailed where the disk is full; then the old one is still there.
    """
    try:
        for layout in layouts:
            for pieces in layout.pieces:
                ChartsBlockStore(path, pieces, layout.group)
    except ValueError:  # a block that would share a shard
        cut_anew(path, layouts, create_charts)
