"""Numbers recorded in time, at points, of surfaces or of waves: a group of the store, written in batches by one
process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import prod
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import zarr

from taskflow.output.disk.disk import on_disk
from taskflow.output.store.groups import WHOLE, add_array, add_column, array_of, consolidate
from taskflow.output.store.layout import CENTRED, FieldMetadata
from taskflow.output.store.metadata import MEAN, PARTS, TIME, UNITS, coordinate_attributes, global_attributes

CHUNK_BYTES = 2**20
LONGEST = 1024  # records of a chunk
Attributes = Mapping[str, Any]
Place = tuple[np.ndarray, Attributes]


@dataclass(frozen=True, eq=False)
class TimeSeries:
    """Group of `fields` in time, with their attributes: one number per record, or several along `dims`.

    `places`: coordinates with attributes, along the dimension of their name, or else along the first one. `staggered`:
    dimensions of fields that differ, of the same sizes. `columns`: attributes of further numbers of each record, by
    name. `time`: description of the time of a record. `batch`: preferred number of records per write.
    """

    group: str
    fields: Mapping[str, Attributes]
    dims: tuple[str, ...] = ()
    places: Mapping[str, Place] = field(default_factory=dict)
    precision: Literal["single", "double"] = "single"
    about: Attributes = field(default_factory=dict)
    staggered: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    columns: Mapping[str, Attributes] = field(default_factory=dict)
    time: str = "time"

    def along(self, place: str) -> str:
        """Return the dimension of a coordinate."""
        own = {*self.dims, *chain(*self.staggered.values())}
        return place if place in own else self.dims[0]

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of a record of one field."""
        sizes = {self.along(name): values.size for name, (values, _) in self.places.items()}
        return tuple(sizes[dim] for dim in self.dims)

    @property
    def dtype(self) -> np.dtype:
        return np.dtype("f4" if self.precision == "single" else "f8")

    @property
    def batch(self) -> int:
        """Records of a chunk, which is a file."""
        return int(min(LONGEST, max(1, CHUNK_BYTES // (prod(self.shape) * self.dtype.itemsize))))

    @classmethod
    def at_points(
        cls,
        group: str,
        points: np.ndarray,
        fields: Mapping[str, FieldMetadata],
        precision: Literal["single", "double"],
        time: str = "time",
    ) -> Self:
        """Return the group for values of `fields` at `points` [point, axis]."""
        described = {name: _sampled(field.long_name, field.units) for name, field in fields.items()}
        places = {axis: (points[:, n], _place(axis, "point")) for n, axis in enumerate("xyz")}
        return cls(group, described, ("point",), places, precision, {"featureType": "timeSeries"}, time=time)

    @classmethod
    def of_particles(
        cls,
        group: str,
        count: int,
        fields: Mapping[str, FieldMetadata],
        periods: Sequence[float | None],
        *,
        heavy: bool,
    ) -> Self:
        """Return the group for trajectories of `count` particles: positions and `fields` at them, as in the CF
        conventions.

        `periods` are the lengths of periodic directions, in which positions wrap around. `heavy` particles also have
        velocities.
        """
        described: dict[str, Attributes] = {}
        for axis, period in zip("xyz", periods, strict=True):
            described[axis] = {**_place(axis, "particle"), **({"period": period} if period else {})}
        described |= {name: _sampled(field.long_name, field.units) for name, field in fields.items()}
        for axis in "xyz" if heavy else "":
            described[f"velocity_{axis}"] = _sampled(f"velocity of the particle along {axis}", UNITS)
        about = {"long_name": "number of the particle", "units": UNITS, "cf_role": "trajectory_id"}
        numbers = np.arange(count, dtype=np.float64), about
        return cls(group, described, ("particle",), {"particle": numbers}, "double", {"featureType": "trajectory"})

    @classmethod
    def through_sides(
        cls, group: str, fields: Mapping[str, str], centres: np.ndarray, normals: np.ndarray, areas: np.ndarray
    ) -> Self:
        """Return the group for fluxes through sides: descriptions of `fields`, centres and normals [side, axis]."""
        places = {axis: (centres[:, n], _place(axis, "side")) for n, axis in enumerate("xyz")}
        for n, axis in enumerate("xyz"):
            about = {"long_name": f"component along {axis} of the normal, outward", "units": "1"}
            places[f"normal_{axis}"] = normals[:, n], about
        places["area"] = areas, {"long_name": "area of the side", "units": UNITS}
        described = {name: {"long_name": words, "units": UNITS} for name, words in fields.items()}
        return cls(group, described, ("side",), places, "double")

    @classmethod
    def of_numbers(cls, group: str, words: Mapping[str, str], about: Attributes) -> Self:
        """Return the group for numbers of a surface or a phase, given their names and descriptions."""
        numbers = {name: {"long_name": meaning, "units": UNITS} for name, meaning in words.items()}
        return cls(group, numbers, precision="double", about=about)

    @classmethod
    def of_waves(
        cls,
        group: str,
        fields: Mapping[str, FieldMetadata],
        names: Sequence[str],
        crossed: Mapping[str, tuple[str, str, str]],
        along: str,
        places: Mapping[int, tuple[np.ndarray, np.ndarray]],
        wavenumbers: np.ndarray,
        precision: Literal["single", "double"],
        columns: Mapping[str, Attributes],
    ) -> Self:
        """Return the group for spectra `along` x, y or z, or over shells (`all`), over `wavenumbers`.

        Spectra are of the fields called `names`, and of pairs of `fields`: `crossed` has by name a part (of `PARTS`)
        and both fields. `places`, by direction, are the centres and low faces of cells along which several spectra
        exist.
        """
        points: dict[str, Place] = {"k": (wavenumbers, {"long_name": "wavenumber", "units": UNITS})}
        described, dims = {}, {}
        way = "over shells of wavenumber" if along == "all" else f"along {along}"

        def add(name: str, words: str, place: FieldMetadata) -> None:
            varied = {place.dim("xyz"[axis]): pair for axis, pair in places.items()}
            described[name] = {"long_name": words, "units": UNITS, "cell_methods": MEAN}
            dims[name] = *varied, "k"
            points.update({dim: (pair[dim.endswith("_f")], coordinate_attributes(dim)) for dim, pair in varied.items()})

        for name in names:
            add(f"spectrum_{name}", f"spectrum {way} of {fields[name].long_name}", fields[name])
        for name, (part, *pair) in crossed.items():
            one, other = (fields[field].long_name for field in pair)
            add(name, f"{PARTS[part]} {way} of {one} and {other}", CENTRED)
        usual = dims[f"spectrum_{names[0]}"]
        return cls(group, described, usual, points, precision, {"along": along}, dims, columns)


def _place(axis: str, of: str) -> Attributes:
    described = {**coordinate_attributes(f"{axis}_c"), "long_name": f"{axis} of the {of}"}
    return {key: value for key, value in described.items() if key != "axis"}


def _sampled(long_name: str, units: str) -> Attributes:
    return {"long_name": long_name, "units": units, "coordinates": "x y z"}


def create_time_series(path: str | Path, series: TimeSeries, attributes: Mapping[str, Any]) -> None:
    """Create the group in a store. Raises OSError if it cannot be written."""
    about = {**global_attributes(attributes), **series.about}
    group = zarr.create_group(str(path), path=series.group, zarr_format=3, attributes=about)
    for name, (values, described) in series.places.items():
        add_array(group, name, values.shape, (series.along(name),), described)[:] = values
    for name, described in {"time": {**TIME, "long_name": series.time}, **series.columns}.items():
        add_column(group, name, 0, described)
    for name, described in series.fields.items():
        shape, dims = series.shape, ("time", *series.staggered.get(name, series.dims))
        chunks = (series.batch, *shape)
        add_array(group, name, (0, *shape), dims, described, chunks=chunks, dtype=series.dtype, fill_value=np.nan)
    consolidate(path, series.group)


def write_time_series(path: str | Path, group: str, first: int, values: Mapping[str, np.ndarray]) -> list[Path]:
    """Write records [record, ...] of each field from number `first` on, and return the files. Raises RunFailed."""
    arrays = zarr.open_group(str(path), path=group, mode="r+", use_consolidated=False, zarr_format=3)
    written = list[Path]()
    with on_disk(f"{group} in {path}"), np.errstate(over="ignore"):
        for name, records in values.items():
            array, end = array_of(arrays, name).with_config(WHOLE), first + len(records)
            array[first:end] = records.astype(array.dtype)
            long = array.chunks[0]
            chunks = ((number, *(0 for _ in array.shape[1:])) for number in range(first // long, -(-end // long)))
            written += [Path(path, group, name, array.metadata.encode_chunk_key(chunk)) for chunk in chunks]
    return written
