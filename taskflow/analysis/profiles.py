"""Velocity profiles on the two centrelines of a plane, compared with tables from the literature."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xarray as xr

from taskflow import files
from taskflow.analysis.planes import VELOCITY, Plane, interpolate, plane_of
from taskflow.errors import BadInput
from taskflow.output.reading import extent, snapshot

LARGEST = 1e100  # of numbers in tables, whose differences are formed and drawn


@dataclass(frozen=True, eq=False)
class Reference:
    """A profile from a table: u, the velocity across, along the coordinate y upwards; or v, upwards, along x across.

    `used` marks the points to compare with, as opposed to those that are only shown.
    """

    name: str
    quantity: str
    places: np.ndarray
    values: np.ndarray
    used: np.ndarray


def read_reference(path: str | Path) -> Reference:
    """A table from a CSV file: lines of comment, a header "y,u" or "x,v" and perhaps "use", rows of numbers.

    Raises BadInput, with the line, where it is not that.
    """
    try:
        lines = files.text(path, files.TABLE, "give a file of comma-separated values").splitlines()
    except BadInput as error:
        raise BadInput(f"reference {path}: cannot be read: {error}") from None
    sources = [line.removeprefix("# Citation:").strip() for line in lines if line.startswith("# Citation:")]
    (first, names), *rows = [*_rows(path, lines)] or [(1, [])]
    quantity = next((q for p, q in (("y", "u"), ("x", "v")) if {p, q} <= set(names)), None)
    if quantity is None or len(set(names)) < len(names):
        problem = "its columns are not those of a profile; give y,u or x,v, and perhaps use"
        raise BadInput(f"reference {path}: line {first}: {problem}")
    if not rows:
        raise BadInput(f"reference {path}: there is nothing behind line {first}; give lines of numbers")
    columns = [names.index(name) for name in ("y" if quantity == "u" else "x", quantity)]
    use = names.index("use") if "use" in names else None
    table, used = [], []
    for line, row in rows:
        if len(row) != len(names):
            problem = f"{len(row)} values for {len(names)} names; give one for each"
            raise BadInput(f"reference {path}: line {line}: {problem}")
        table.append([_number(path, line, row[column]) for column in columns])
        used.append(use is None or not row[use].strip() or _number(path, line, row[use]) != 0)
    places, values = np.array(table).T
    return Reference(_short(sources[0]) if sources else Path(path).stem, quantity, places, values, np.array(used))


def _rows(path: str | Path, lines: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """The values in each line that has some, with its number."""
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.startswith("#"):
            try:
                yield number, next(csv.reader([line], strict=True, skipinitialspace=True))
            except csv.Error as error:
                problem = f"line {number}: {error}; give numbers with commas between them"
                raise BadInput(f"reference {path}: {problem}") from None


def _number(path: str | Path, line: int, text: str) -> float:
    """A finite number. Raises BadInput with its place where a text is none."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or abs(value) > LARGEST:
        problem = f"line {line}: {text.strip()[:40]!r} is no number up to {LARGEST:g}; give one, or leave the line out"
        raise BadInput(f"reference {path}: {problem}")
    return value


def profile(ds: xr.Dataset, plane: Plane, quantity: str) -> tuple[np.ndarray, np.ndarray]:
    """Places and values of the velocity across ("u") on the vertical, or upwards ("v") on the horizontal centreline."""
    component, line = (plane.across, plane.up) if quantity == "u" else (plane.up, plane.across)
    field = ds[VELOCITY[component]]
    cut = interpolate(ds, field, plane.normal, plane.position)
    values = interpolate(ds, cut, component, sum(extent(ds, component)) / 2)
    return ds[f"{line}_c"].values, values.values.astype("f8")


def compare_profiles(
    directory: str | Path, references: Iterable[str | Path], plane: str | None = None, time: float | None = None
) -> dict[Path, float]:
    """Per table: its largest difference to the run, over its points in use that lie between cell centres."""
    ds = snapshot(directory, time)
    cut = plane_with_velocities(ds, plane)
    return {Path(path): difference(ds, cut, read_reference(path)) for path in references}


def compare(ds: xr.Dataset, reference: str | Path, plane: str | None = None) -> float:
    """The largest difference of a snapshot to a table, over its points in use that lie between cell centres."""
    return difference(ds, plane_with_velocities(ds, plane), read_reference(reference))


def _short(citation: str) -> str:
    """Authors and year of a citation that begins with them."""
    return re.split(r"(?<=\(\d{4}\))", citation, maxsplit=1)[0]


def plane_with_velocities(ds: xr.Dataset, text: str | None) -> Plane:
    """The plane, where the run has the velocities to draw on it. Raises BadInput where not."""
    missing = [name for name in VELOCITY.values() if name not in ds]
    if missing:
        raise BadInput(f"output.fields: a profile needs {', '.join(missing)}, which this run did not write; add it")
    return plane_of(ds, text)


def difference(ds: xr.Dataset, plane: Plane, table: Reference) -> float:
    """Largest difference to the points in use that lie between cell centres; NaN where there is none."""
    places, values = profile(ds, plane, table.quantity)
    chosen = table.used & (table.places >= places[0]) & (table.places <= places[-1])
    errors = np.abs(np.interp(table.places[chosen], places, values) - table.values[chosen])
    return float(errors.max()) if len(errors) else float("nan")
