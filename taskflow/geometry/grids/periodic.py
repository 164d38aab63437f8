"""Seams whose faces are a translation apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from taskflow.errors import BadInput
from taskflow.geometry.grids.grid import Chart, GridSeam, Patch
from taskflow.geometry.grids.weld import both, tolerance
from taskflow.runtime.regions import triple


def translated(charts: Sequence[Chart], seam: GridSeam) -> GridSeam:
    """The seam with the translation by which its vertices are apart, if it is one for all, and they are not less than
    half a cell apart, as those are that should coincide. Raises BadInput where it seems to be a rotation.
    """
    one, other = both(charts, seam)
    apart, most = other - one, tolerance(one, other)
    distance, across = np.sqrt((apart**2).sum(axis=0)), min(_across(charts, seam.one), _across(charts, seam.other))
    if (distance <= most).all() or distance.max() < across / 2:
        return seam
    x, y, z = (float(np.median(step)) for step in apart)
    if (np.sqrt(((apart - np.reshape((x, y, z), (3, 1, 1, 1))) ** 2).sum(axis=0)) <= most).all():
        return replace(seam, translation=(x, y, z))
    if _congruent(one, other):
        said = "periodic by a rotation, which is not available in this version"
        raise BadInput(f"{said}; make a grid of the whole circle")
    return seam


def _across(charts: Sequence[Chart], patch: Patch) -> float:
    """The shortest edge from the faces of a patch into its chart."""
    inwards = triple((0, 1 - 2 * patch.end)[a == patch.axis] for a in range(3))
    chart, faces = charts[patch.chart], patch.vertices
    return float(np.sqrt(((chart.at(faces.shift(inwards)) - chart.at(faces)) ** 2).sum(axis=0)).min())


def _congruent(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether all distances from the corners of a patch are the same in the other."""
    corners = [(0, 0, 0), (-1, -1, -1), (-1, 0, 0), (0, 0, -1), (0, -1, 0)]
    for corner in corners:
        first, second = (np.sqrt(((x - x[:, *corner][:, None, None, None]) ** 2).sum(axis=0)) for x in (one, other))
        if not np.allclose(first, second, rtol=1e-6, atol=1e-9 * first.max()):
            return False
    return True
