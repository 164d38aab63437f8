"""Rigidly moving charts: vertices x = R X + b and velocities R' X + b' of each record, given its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray as xr
    import zarr

PARTS = (*(f"{i}{j}" for i in "xyz" for j in "xyz"), *"xyz")  # of R row by row, then of b
POSE, RATES = (tuple(f"{of}_{part}" for part in PARTS) for of in ("motion", "motion_rate"))
COLUMNS = {name: {"long_name": f"{name}, of x = R X + b: R row by row, then b"} for name in POSE} | {
    name: {"long_name": f"{name}, of the rates of R and b, by the differences of the step"} for name in RATES
}
PLACES = ("x", "y", "z", "x_c", "y_c", "z_c")  # of vertices, and of centres
REST = "_at_rest"  # suffix of positions X


def pose(turn: np.ndarray, shift: np.ndarray, names: tuple[str, ...] = POSE) -> dict[str, float]:
    """Return the numbers of R and b or, with the names `RATES`, of their rates."""
    return dict(zip(names, [float(value) for value in (*turn.ravel(), *shift)], strict=True))


def moved(points: np.ndarray, numbers: Mapping[str, float]) -> np.ndarray:
    """Return positions [xyz, ...] at rest moved by these numbers."""
    values = np.array([numbers[name] for name in POSE])
    return transformed(points, values[:9].reshape(3, 3), values[9:])


def places_now(chart: xr.Dataset, numbers: Mapping[str, float]) -> dict[str, tuple[tuple[Any, ...], np.ndarray]]:
    """Return dimensions and values of the current vertices and centres of a chart, empty if it does not move."""
    places: dict[str, tuple[tuple[Any, ...], np.ndarray]] = {}
    for kind in ("", "_c") if POSE[0] in numbers else ():
        names = [f"{axis}{kind}" for axis in "xyz"]
        at_rest = [chart[f"{name}{REST}"] for name in names]
        now = moved(np.stack([part.values for part in at_rest]), numbers)
        places |= {name: (part.dims, values) for name, part, values in zip(names, at_rest, now, strict=True)}
    return places


def transformed(points: np.ndarray, turn: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Return R X + b for points X [xyz, ...]. The rounding does not depend on the number of points."""
    x, y, z = points
    return np.stack([a * x + b * y + c * z + d for (a, b, c), d in zip(turn, shift, strict=True)])


def write_places(arrays: Mapping[str, zarr.Array], index: int, numbers: Mapping[str, float]) -> Iterator[zarr.Array]:
    """Write the vertices and centres of a record into the arrays of charts, and yield the written arrays."""
    if POSE[0] not in numbers:
        return
    for chart in sorted({name.rpartition("/")[0] for name in arrays if name.endswith(f"/x{REST}")}):
        for kind in ("", "_c"):
            names = [f"{chart}/{axis}{kind}" for axis in "xyz"]
            at_rest = np.stack([np.asarray(arrays[f"{name}{REST}"][...]) for name in names])
            for name, values in zip(names, moved(at_rest, numbers), strict=True):
                arrays[name][index] = values
                yield arrays[name]
