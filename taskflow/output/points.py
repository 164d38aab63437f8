"""Values at points: a group of the store with a time series per field, written by one process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

CHUNK_BYTES = 2**20
LONGEST = 1024  # records of a chunk


@dataclass(frozen=True, eq=False)
class Points:
    """A group of values of `fields` at `places` [point, axis]. `batch` is how many records are best written at once."""

    group: str
    places: np.ndarray
    fields: tuple[str, ...]
    precision: Literal["single", "double"] = "single"

    @property
    def dtype(self) -> np.dtype:
        """Type of the stored values."""
        return np.dtype("f4" if self.precision == "single" else "f8")

    @property
    def batch(self) -> int:
        """Records of a chunk, which is a file."""
        return int(min(LONGEST, max(1, CHUNK_BYTES // (len(self.places) * self.dtype.itemsize))))
