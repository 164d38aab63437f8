"""Field spaces: what is stored per cell, and where in the cell it lives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from taskflow.runtime.regions.box import Box

Location = Literal["c", "fx", "fy", "fz"]
LOCATIONS: tuple[Location, ...] = ("c", "fx", "fy", "fz")


@dataclass(frozen=True, slots=True)
class Field:
    """One number per cell, or several `values`, such as the entries of a matrix: at its centre (`c`) or at its low face
    across x, y or z (`fx`, `fy`, `fz`). Arrays of a field are C-ordered [z, y, x], or [z, y, value, x].

    Raises ValueError for a location that is none of these or less than one value, and TypeError for a dtype that NumPy
    does not know.
    """

    name: str
    dtype: str = "f8"
    location: Location = "c"
    values: int = 1

    def __post_init__(self) -> None:
        if self.location not in LOCATIONS:
            raise ValueError(f"field {self.name!r}: location {self.location!r} is none of {', '.join(LOCATIONS)}")
        if self.values < 1:
            raise ValueError(f"field {self.name!r}: values = {self.values}; give 1 or more")
        np.dtype(self.dtype)

    @property
    def nbytes(self) -> int:
        """Bytes per cell."""
        return self.values * np.dtype(self.dtype).itemsize

    def shape(self, box: Box) -> tuple[int, ...]:
        """The shape of an array of the field over the cells of a box."""
        nx, ny, nz = box.shape
        return (nz, ny, nx) if self.values == 1 else (nz, ny, self.values, nx)


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
