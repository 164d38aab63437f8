"""Boundary conditions and fluid properties as attributes of a store: numbers, vectors and text.

`boundary_x_min` is the type of a side, and `boundary_x_min_velocity`, ... are its values. `opening_NAME_type`, ... are
of openings in sides. They are listed in docs/reference/run_directory.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from taskflow.runtime.regions import triple

SIDES = ("x_min", "x_max", "y_min", "y_max", "z_min", "z_max")
BOUNDARY, DIFFUSIVITY, OPENING = "boundary_", "diffusivity_", "opening_"  # prefixes of attributes
TURBULENCE = "turbulence"  # an attribute: the model of eddies on charts

Vector = tuple[float, float, float]
Rectangle = tuple[float, float, float, float]


@dataclass(frozen=True, kw_only=True)
class BoundarySide:
    """Side of the domain. `type` is "periodic", "wall", "slip", "inflow" or "outflow". Other values are of walls.

    With heat a wall has `temperature`, or `heat_flux` into the fluid, or `heat_transfer` with `outside_temperature`.
    Fluxes are over density and heat capacity. `roughness` is the length of the logarithmic law, None for a smooth wall.
    """

    type: str
    permeable: bool = False
    velocity: Vector | None = None
    temperature: float | None = None
    heat_flux: float | None = None
    heat_transfer: float | None = None
    outside_temperature: float | None = None
    roughness: float | None = None


@dataclass(frozen=True, kw_only=True)
class OpeningSide(BoundarySide):
    """Part of a `side` with a separate condition. `faces` are rectangles of faces: lowest and highest position along
    the first other axis, then along the second.
    """

    side: str
    faces: tuple[Rectangle, ...]


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """Six sides of the domain by name, openings in them, and the fluid. NaN: not in the store.

    `cells` counts the whole domain, also in a group with a part of it. `viscosity` is kinematic. `diffusivities` are by
    quantity.
    """

    sides: Mapping[str, BoundarySide]
    cells: tuple[int, int, int]
    openings: Mapping[str, OpeningSide] = field(default_factory=dict)
    viscosity: float = math.nan
    diffusivities: Mapping[str, float] = field(default_factory=dict)
    thermal_expansion: float = 0.0
    gravity: Vector = (0.0, 0.0, 0.0)

    def openings_in(self, face: str) -> list[OpeningSide]:
        """Return the openings in a face of the domain."""
        return [opening for opening in self.openings.values() if opening.side == face]

    @classmethod
    def of(cls, attributes: Mapping[str, Any]) -> Conditions | None:
        """Return the conditions in the attributes of a store, or None if it has no boundaries."""
        if f"{BOUNDARY}x_min" not in attributes:
            return None
        return cls(
            sides={name: BoundarySide(**_values(attributes, f"{BOUNDARY}{name}", "")) for name in SIDES},
            cells=triple(map(int, attributes["cells"])),
            openings={
                name.removeprefix(OPENING).removesuffix("_side"): _opening(attributes, name.removesuffix("_side"))
                for name in attributes
                if name.startswith(OPENING) and name.endswith("_side")
            },
            viscosity=float(attributes.get("viscosity", math.nan)),
            diffusivities={
                name.removeprefix(DIFFUSIVITY): float(value)
                for name, value in attributes.items()
                if name.startswith(DIFFUSIVITY)
            },
            thermal_expansion=float(attributes["thermal_expansion"]),
            gravity=_vector(attributes["gravity"]),
        )

    def attributes(self) -> dict[str, Any]:
        attributes: dict[str, Any] = {"cells": np.array(self.cells), "viscosity": self.viscosity}
        attributes |= {f"{DIFFUSIVITY}{name}": value for name, value in self.diffusivities.items()}
        attributes |= {"thermal_expansion": self.thermal_expansion, "gravity": np.array(self.gravity)}
        for name, side in self.sides.items():
            attributes |= {f"{BOUNDARY}{name}": side.type, **_written(side, f"{BOUNDARY}{name}")}
        for name, opening in self.openings.items():
            key = f"{OPENING}{name}"
            attributes |= {f"{key}_side": opening.side, f"{key}_faces": np.array(opening.faces).ravel()}
            attributes |= {f"{key}_type": opening.type, **_written(opening, key)}
        return attributes


OPTIONS = tuple(option.name for option in fields(BoundarySide) if option.name not in ("type", "permeable"))
OPEN = ("inflow", "outflow")  # permeable sides of stores that do not say which are


def _written(side: BoundarySide, key: str) -> dict[str, Any]:
    """Return the attributes with the values of a side, except for its type."""
    values = {option: value for option in OPTIONS if (value := getattr(side, option)) is not None}
    written = {f"{key}_{name}": np.array(value) if name == "velocity" else value for name, value in values.items()}
    return written | ({f"{key}_permeable": 1} if side.permeable else {})


def _values(attributes: Mapping[str, Any], name: str, ending: str) -> dict[str, Any]:
    """Return the values of a side from the attributes that begin with `name`, its type in the one with the `ending`."""
    options = {option: attributes[f"{name}_{option}"] for option in OPTIONS if f"{name}_{option}" in attributes}
    velocity = _vector(options.pop("velocity")) if "velocity" in options else None
    kind = str(attributes[f"{name}{ending}"])
    permeable = bool(attributes.get(f"{name}_permeable", kind in OPEN))
    return {"type": kind, "permeable": permeable, "velocity": velocity, **{k: _number(v) for k, v in options.items()}}


def _opening(attributes: Mapping[str, Any], name: str) -> OpeningSide:
    rows = np.asarray(attributes[f"{name}_faces"], float).reshape(-1, 4).tolist()
    faces = tuple((a, b, c, d) for a, b, c, d in rows)
    return OpeningSide(side=str(attributes[f"{name}_side"]), faces=faces, **_values(attributes, name, "_type"))


def _vector(values: Any) -> Vector:
    return triple(map(_number, values))


def _number(value: Any) -> float:
    """Return a number, or NaN if JSON has none ("null" as text), as for values that vary in time."""
    return math.nan if value in (None, "null") else float(value)
