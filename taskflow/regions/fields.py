"""Field spaces: what is stored per cell, and where in the cell it lives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

Location = Literal["c", "fx", "fy", "fz"]
LOCATIONS: tuple[Location, ...] = ("c", "fx", "fy", "fz")


@dataclass(frozen=True, slots=True)
class Field:
    """One number per cell: at its centre (`c`) or at its low face across x, y or z (`fx`, `fy`, `fz`).

    Raises ValueError for a location that is none of these and TypeError for a dtype that NumPy does not know.
    """

    name: str
    dtype: str = "f8"
    location: Location = "c"

    def __post_init__(self) -> None:
        if self.location not in LOCATIONS:
            raise ValueError(f"field {self.name!r}: location {self.location!r} is none of {', '.join(LOCATIONS)}")
        np.dtype(self.dtype)

    @property
    def nbytes(self) -> int:
        """Bytes per cell."""
        return np.dtype(self.dtype).itemsize


class FieldSpace(Mapping[str, Field]):
    """The fields of a region by name, in order. Raises ValueError where a name occurs twice."""

    def __init__(self, fields: Iterable[Field]) -> None:
        self._fields: dict[str, Field] = {}
        for field in fields:
            if field.name in self._fields:
                raise ValueError(f"field {field.name!r} is declared twice")
            self._fields[field.name] = field

    def __getitem__(self, name: str) -> Field:
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __repr__(self) -> str:
        return f"FieldSpace({list(self._fields.values())})"
