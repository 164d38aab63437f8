"""Numbers that are recorded in time, at points or of surfaces: a group of the store, written by one process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any, Literal

import numpy as np

from taskflow.output.metadata import UNITS, coordinate_attributes, field_attributes

CHUNK_BYTES = 2**20
LONGEST = 1024  # records of a chunk
Attributes = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class TimeSeries:
    """A group with a number in time of each of `fields`, or several along `dim`, each with its attributes.

    `places` are coordinates along `dim`, each with its attributes. `batch` is how many records are best written at
    once.
    """

    group: str
    fields: Mapping[str, Attributes]
    dim: str | None = None
    places: Mapping[str, tuple[np.ndarray, Attributes]] = field(default_factory=dict)
    precision: Literal["single", "double"] = "single"
    about: Attributes = field(default_factory=dict)

    @property
    def dims(self) -> tuple[str, ...]:
        """Beside time."""
        return (self.dim,) if self.dim else ()

    @property
    def shape(self) -> tuple[int, ...]:
        """Of a record of one field."""
        return next((values.shape for values, _ in self.places.values()), ())

    @property
    def dtype(self) -> np.dtype:
        """Type of the stored values."""
        return np.dtype("f4" if self.precision == "single" else "f8")

    @property
    def batch(self) -> int:
        """Records of a chunk, which is a file."""
        return int(min(LONGEST, max(1, CHUNK_BYTES // (prod(self.shape) * self.dtype.itemsize))))


def at_points(
    group: str, points: np.ndarray, fields: tuple[str, ...], precision: Literal["single", "double"]
) -> TimeSeries:
    """The values of `fields` at `points` [point, axis]."""
    described = {}
    for name in fields:
        told = field_attributes(name)
        described[name] = {"long_name": told["long_name"], "units": told["units"], "coordinates": "x y z"}
    places = {axis: (points[:, n], _place(axis, "point")) for n, axis in enumerate("xyz")}
    return TimeSeries(group, described, "point", places, precision, {"featureType": "timeSeries"})


def through_sides(
    group: str, fields: Mapping[str, str], centres: np.ndarray, normals: np.ndarray, areas: np.ndarray
) -> TimeSeries:
    """What passes through sides: `fields` by name, in words; `centres` and `normals` are [side, axis]."""
    places = {axis: (centres[:, n], _place(axis, "side")) for n, axis in enumerate("xyz")}
    for n, axis in enumerate("xyz"):
        about = {"long_name": f"component along {axis} of the normal, outward", "units": "1"}
        places[f"normal_{axis}"] = normals[:, n], about
    places["area"] = areas, {"long_name": "area of the side", "units": UNITS}
    described = {name: {"long_name": words, "units": UNITS} for name, words in fields.items()}
    return TimeSeries(group, described, "side", places, "double")


def of_surface(group: str, words: str, about: Attributes) -> TimeSeries:
    """The area of a surface."""
    return TimeSeries(group, {"area": {"long_name": words, "units": UNITS}}, precision="double", about=about)


def _place(axis: str, of: str) -> Attributes:
    described = {**coordinate_attributes(f"{axis}_c"), "long_name": f"{axis} of the {of}"}
    return {key: value for key, value in described.items() if key != "axis"}
