"""Boundary conditions and properties of the fluid, as attributes of a store: numbers, vectors and text.

`boundary_x_min` is the type of a side, `boundary_x_min_velocity`, ... are its values. docs/reference/run_directory.md
lists all of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from taskflow.runtime.regions import triple

SIDES = ("x_min", "x_max", "y_min", "y_max", "z_min", "z_max")
BOUNDARY, DIFFUSIVITY = "boundary_", "diffusivity_"  # how names of attributes begin
TURBULENCE = "turbulence"  # an attribute: the model of eddies on charts

Vector = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class BoundarySide:
    """A side of the domain. `type` is "periodic" or a kind of side, which may be `permeable`; all else is of walls.

    With heat a wall has one of `temperature`, `heat_flux` into the fluid, and `heat_transfer`, which has an
    `outside_temperature`; fluxes are over density and heat capacity. `roughness` is the length of the logarithmic law,
    None of a smooth wall.
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
    """The six sides of the domain by name, and the fluid in it; NaN is what a store does not say.

    `cells` counts those of the whole domain, also in a group that has a part of it. `viscosity` is kinematic;
    `diffusivities` are by name of the quantity that diffuses.
    """

    sides: Mapping[str, BoundarySide]
    cells: tuple[int, int, int]
    viscosity: float = math.nan
    diffusivities: Mapping[str, float] = field(default_factory=dict)
    thermal_expansion: float = 0.0
    gravity: Vector = (0.0, 0.0, 0.0)

    @classmethod
    def of(cls, attributes: Mapping[str, Any]) -> Conditions | None:
        """Return the conditions that the attributes of a store say; None where they say nothing of boundaries."""
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
        """Return the attributes that say this."""
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
    """Return a number; NaN where JSON has none ("null" as text), as of what changes in time."""
    return math.nan if value in (None, "null") else float(value)
