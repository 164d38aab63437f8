"""The bodies of a run from its case, for pictures of its snapshots."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from taskflow.cases import Case
from taskflow.cases.tables.grid import GridTable
from taskflow.common.errors import BadInput
from taskflow.systems.bodies.bodies import Bodies

Inside = Callable[[float, np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def given_bodies(attributes: Mapping[Any, Any]) -> Inside | None:
    """Return a function that marks points in bodies at a time: a mask [z, y, x] on a lattice of increasing coordinates.

    `attributes`: of a store. None without bodies, on charts, or where a file of theirs is gone.
    """
    with suppress(BadInput, tomllib.TOMLDecodeError, OSError):
        case = Case(**tomllib.loads(attributes.get("case", "")))
        if case.obstacles and isinstance(case.grid, GridTable):  # charts have their solid cells
            bodies = Bodies(case, case.staggered)
            bodies.solids  # noqa: B018  reads their files
            return lambda time, x, y, z: _inside(bodies, time, x, y, z)
    return None


def _inside(bodies: Bodies, time: float, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    solids = bodies.moving.solids(time) if bodies.moving else bodies.solids
    mask = np.zeros((z.size, y.size, x.size), bool)
    for shape in solids.shapes:
        mask |= shape.inside(x, y, z)
    return mask
