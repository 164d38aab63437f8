"""Boundary conditions and fluid properties as attributes of a store: numbers, vectors and text.

`boundary_x_min` is the type of a side, and `boundary_x_min_velocity`, ... are its values. They are listed in
docs/reference/run_directory.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from taskflow.runtime.regions import triple

SIDES = ("x_min", "x_max", "y_min", "y_max", "z_min", "z_max")
BOUNDARY, DIFFUSIVITY = "boundary_", "diffusivity_"  # prefixes of attributes
TURBULENCE = "turbulence"  # an attribute: the model of eddies on charts

Vector = tuple[float, float, float]


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
class Conditions:
    """Six sides of the domain by name, and the fluid in it. NaN: not in the store.

    `cells` counts the whole domain, also in a group with a part of it. `viscosity` is kinematic. `diffusivities` are by
    quantity.
    """

    sides: Mapping[str, BoundarySide]
    cells: tuple[int, int, int]
    viscosity: float = math.nan
    diffusivities: Mapping[str, float] = field(default_factory=dict)
    thermal_expansion: float = 0.0
    gravity: Vector = (0.0, 0.0, 0.0)

    @classmethod
    def of(cls, attributes: Mapping[str, Any]) -> Conditions | None:
        """Return the conditions in the attributes of a store, or None if it has no boundaries."""
        if f"{BOUNDARY}x_min" not in attributes:
            return None
        return cls(
            sides={name: _side(attributes, f"{BOUNDARY}{name}") for name in SIDES},
            cells=triple(map(int, attributes["cells"])),
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
            attributes[f"{BOUNDARY}{name}"] = side.type
            if side.permeable:
                attributes[f"{BOUNDARY}{name}_permeable"] = 1
            for option in OPTIONS:
                if (value := getattr(side, option)) is not None:
                    attributes[f"{BOUNDARY}{name}_{option}"] = np.array(value) if option == "velocity" else value
        return attributes


OPTIONS = tuple(option.name for option in fields(BoundarySide) if option.name not in ("type", "permeable"))
OPEN = ("inflow", "outflow")  # permeable sides of stores that do not say which are


def _side(attributes: Mapping[str, Any], name: str) -> BoundarySide:
    options = {option: attributes[f"{name}_{option}"] for option in OPTIONS if f"{name}_{option}" in attributes}
    velocity = _vector(options.pop("velocity")) if "velocity" in options else None
    numbers = {option: _number(value) for option, value in options.items()}
    kind = str(attributes[name])
    permeable = bool(attributes.get(f"{name}_permeable", kind in OPEN))
    return BoundarySide(type=kind, permeable=permeable, velocity=velocity, **numbers)


def _vector(values: Any) -> Vector:
    return triple(map(_number, values))


def _number(value: Any) -> float:
    """Return a number, or NaN if JSON has none ("null" as text), as for values that vary in time."""
    return math.nan if value in (None, "null") else float(value)
