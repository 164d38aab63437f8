"""Profiles of the velocity on the centrelines of a plane, compared with tables, and of statistics over planes.

Statistics are averaged over the two homogeneous directions across an axis.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xarray as xr

from taskflow.analysis.planes import VELOCITY, CutPlane, interpolate, plane_of
from taskflow.common import files
from taskflow.common.errors import BadInput
from taskflow.output.store.reading import extent, snapshot, widths

LARGEST = 1e100  # largest number in tables, with finite differences


@dataclass(frozen=True, eq=False)
class Reference:
    """Profile from a table: horizontal velocity u along the vertical coordinate y, or vertical velocity v along x.

    `used` marks the points to compare with. Others are only shown.
    """

    name: str
    quantity: str
    places: np.ndarray
    values: np.ndarray
    used: np.ndarray


def read_reference(path: str | Path) -> Reference:
    """Read a CSV table: comments, a header "y,u" or "x,v" with optional "use", numbers. BadInput names the line."""
    try:
        text = files.text(path, files.TABLE, "give a file of comma-separated values")
    except BadInput as error:
        raise BadInput(f"reference {path}: cannot be read: {error}") from None
    (first, names), *rows = [*_rows(path, text)] or [(1, [])]
    quantity = next((q for p, q in (("y", "u"), ("x", "v")) if {p, q} <= set(names)), None)
    if quantity is None or len(set(names)) < len(names):
        problem = "these are not the columns of a profile; give y,u or x,v, and optionally use"
        raise _wrong(path, first, problem)
    if not rows:
        raise BadInput(f"reference {path}: nothing follows line {first}; give lines of numbers")
    columns: dict[str, list[float]] = {name: [] for name in names}
    for line, row in rows:
        if len(row) != len(names):
            raise _wrong(path, line, f"{len(row)} values for {len(names)} names; give one for each")
        for name, value in zip(names, row, strict=True):
            if name in ("y" if quantity == "u" else "x", quantity, "use"):
                columns[name].append(1.0 if name == "use" and not value.strip() else _number(path, line, value))
    source = re.search(r"^# Citation:(.*)", text, re.MULTILINE)
    return Reference(
        # authors and year at the start of a citation
        name=re.split(r"(?<=\(\d{4}\))", source[1].strip(), maxsplit=1)[0] if source else Path(path).stem,
        quantity=quantity,
        places=np.array(columns["y" if quantity == "u" else "x"]),
        values=np.array(columns[quantity]),
        used=np.array(columns.get("use", [1.0] * len(rows))) != 0,
    )


def _rows(path: str | Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the values of each non-empty line, with its number."""
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.startswith("#"):
            try:
                yield number, next(csv.reader([line], strict=True, skipinitialspace=True))
            except csv.Error as error:
                raise _wrong(path, number, f"{error}; give numbers with commas between them") from None


def _number(path: str | Path, line: int, text: str) -> float:
    """Return a finite number. Raises BadInput with its position if the text is not one."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not abs(value) <= LARGEST:
        problem = f"{text.strip()[:40]!r} is no number up to {LARGEST:g}; give one, or omit the line"
        raise _wrong(path, line, problem)
    return value


def _wrong(path: str | Path, line: int, problem: str) -> BadInput:
    return BadInput(f"reference {path}: line {line}: {problem}")


def profile(ds: xr.Dataset, plane: CutPlane, quantity: str) -> tuple[np.ndarray, np.ndarray]:
    """Return positions and values of the horizontal velocity on the vertical centreline ("u"), or vice versa."""
    component, line = (plane.across, plane.up) if quantity == "u" else (plane.up, plane.across)
    field = ds[VELOCITY[component]]
    cut = interpolate(ds, field, plane.normal, plane.position)
    values = interpolate(ds, cut, component, sum(extent(ds, component)) / 2)
    return ds[f"{line}_c"].values, values.values.astype("f8")


def compare_profiles(
    directory: str | Path, references: Iterable[str | Path], plane: str | None = None, time: float | None = None
) -> dict[Path, float]:
    """Return the largest difference of each table to the run, over its used points between cell centres."""
    ds = snapshot(directory, time)
    cut = plane_with_velocities(ds, plane)
    return {Path(path): difference(ds, cut, read_reference(path)) for path in references}


def compare(ds: xr.Dataset, reference: str | Path, plane: str | None = None) -> float:
    """Return the largest difference of a snapshot to a table, over its used points between cell centres."""
    return difference(ds, plane_with_velocities(ds, plane), read_reference(reference))


def plane_with_velocities(ds: xr.Dataset, text: str | None) -> CutPlane:
    """Return the plane. Raises BadInput if the run lacks the velocities to draw on it."""
    missing = [name for name in VELOCITY.values() if name not in ds]
    if missing:
        raise BadInput(f"output.fields: a profile needs {', '.join(missing)}, which this run did not write; add it")
    return plane_of(ds, text)


def difference(ds: xr.Dataset, plane: CutPlane, table: Reference) -> float:
    """Return the largest difference to used points between cell centres, NaN without such points."""
    places, values = profile(ds, plane, table.quantity)
    chosen = table.used & (table.places >= places[0]) & (table.places <= places[-1])
    errors = np.abs(np.interp(table.places[chosen], places, values) - table.values[chosen])
    return float(errors.max()) if len(errors) else float("nan")


def profiles(statistics: xr.Dataset, axis: str) -> xr.Dataset:
    """Return means and covariances in time and over planes across `axis`, weighted by cell size.

    A covariance covers all values in time and in the plane: cov(a, b) = <cov> + <(mean_a - <mean_a>) (mean_b -
    <mean_b>)>, with <> the mean over a plane of means over time. Raises BadInput if the dataset has no statistics, or
    the axis does not exist.
    """
    if axis not in ("x", "y", "z"):
        raise BadInput(f"axis = {axis!r}: give the one that profiles are along, x, y or z")
    moments = {name: statistics[name] for name in map(str, statistics.data_vars) if name.startswith(("mean_", "cov_"))}
    if not moments:
        raise BadInput("these are no statistics; give the dataset of Run.statistics(), or the group statistics")
    planes = {name: over_planes(statistics, field, axis) for name, field in moments.items()}
    fields = [name.removeprefix("mean_") for name in moments if name.startswith("mean_")]
    for a, b in ((a, b) for a in fields for b in fields if f"cov_{a}_{b}" in moments):
        one, other = (moments[f"mean_{name}"] - planes[f"mean_{name}"] for name in (a, b))
        planes[f"cov_{a}_{b}"] += over_planes(statistics, one * other, axis)
    for name, profile in planes.items():
        profile.attrs = {
            "long_name": f"{moments[name].attrs['long_name']}, over planes across {axis}",
            "units": moments[name].attrs["units"],
        }
    columns = {name: statistics[name] for name in ("since", "samples")}
    return xr.Dataset(planes | columns, attrs=statistics.attrs)


def over_planes(ds: xr.Dataset, field: xr.DataArray, axis: str) -> xr.DataArray:
    """Return the mean of a field in cells over planes across an axis, weighted by cell size."""
    one, other = (name for name in "xyz" if name != axis)
    return field.weighted(widths(ds, one) * widths(ds, other)).mean([f"{one}_c", f"{other}_c"])
