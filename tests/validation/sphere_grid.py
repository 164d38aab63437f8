"""The sphere on a stretched grid: uniform cells around it, and from there outwards each wider than the one before.

    python -m tests.validation.sphere_grid 24 sphere24.toml

writes examples/sphere.toml with 24 cells per diameter, immersed; 3.2 million cells fill 16.5 x 15 x 15 diameters.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import taskflow as tf

EXAMPLE = Path(__file__).parents[2] / "examples" / "sphere.toml"
ENDS = {"x": (-7.5, 9.0), "y": (-7.5, 7.5), "z": (-7.5, 7.5)}
EVEN = {"x": (-0.75, 4.0), "y": (-0.75, 0.75), "z": (-0.75, 0.75)}  # where cells are uniform
GROWTH = 0.05  # of widths from one cell to the next, with 24 cells per diameter


def outward(length: float, first: float, ratio: float) -> np.ndarray:
    """The far ends of cells that fill a length, each wider than the one before by one ratio, this or a little less, and
    the first by as much than `first`.
    """
    cells = int(np.ceil(np.log(1 + length * (1 - 1 / ratio) / first) / np.log(ratio)))
    low, high = 1.0, ratio
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if (first * middle ** np.arange(1, cells + 1)).sum() < length else (low, middle)
    ends = np.cumsum(first * high ** np.arange(1, cells + 1))
    return ends * (length / ends[-1])


def faces(axis: str, per_diameter: int) -> np.ndarray:
    """The places of faces along an axis."""
    (start, end), (low, high), first = ENDS[axis], EVEN[axis], 1 / per_diameter
    ratio = (1 + GROWTH) ** (24 / per_diameter)
    even = np.linspace(low, high, round((high - low) * per_diameter) + 1)
    return np.concatenate(
        [low - outward(low - start, first, ratio)[::-1], even, high + outward(end - high, first, ratio)]
    )


def grid(per_diameter: int) -> dict[str, Any]:
    """The table of a case."""
    places = {axis: faces(axis, per_diameter).tolist() for axis in ENDS}
    ends = ENDS.values()
    return {
        "cells": [len(item) - 1 for item in places.values()], "origin": [low for low, _ in ends],
        "lengths": [high - low for low, high in ends], "stretching": {a: {"faces": p} for a, p in places.items()},
    }  # fmt: skip


def case(per_diameter: int, treatment: str) -> tf.Case:
    """The example on this grid."""
    tables = {name: table for name, table in dict(tf.Case.load(EXAMPLE)).items() if name not in ("grid", "bodies")}
    return tf.Case(**tables, grid=grid(per_diameter), bodies={"treatment": treatment})


def main(per_diameter: str, path: str) -> None:
    """Write the case."""
    Path(path).write_text(case(int(per_diameter), "immersed").to_toml(), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
