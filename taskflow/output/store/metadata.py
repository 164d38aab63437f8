"""Metadata of a store: CF attributes, and the staggering in the terms of SGRID and xgcm."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from taskflow.output.log import plain
from taskflow.output.store.layout import FieldMetadata, StoreLayout

CONVENTIONS = "CF-1.11 SGRID-0.3"
SCALARS = (str, int, float)  # types that attributes have everywhere
UNITS = "1"  # a case is in any consistent system of units, without naming it

FIRST = "first_cell"  # in the whole domain, of a group that has a part of it: an attribute
# A variable without time, where all bodies are at rest, so that readers can mask fields: `ds.p.where(ds.solid == 0)` is
# of the fluid
SOLID = "solid"
SOLID_ATTRIBUTES: dict[str, Any] = {
    "long_name": "cells with their centre in a body",
    "flag_values": [0, 1],
    "flag_meanings": "fluid solid",
    "units": UNITS,
    "grid": "grid",
    "location": "volume",
}
# A field of each snapshot instead, where bodies move: 1 in bodies, 0 elsewhere
IN_BODIES = {SOLID: FieldMetadata(SOLID_ATTRIBUTES["long_name"])}
PARTS = {"cospectrum": "co-spectrum", "quadrature": "quadrature spectrum"}  # of the spectrum of two fields
MEAN = "time: mean"

# No standard_name: CF ties each to a medium (air, sea water) or to a dimensional unit, and a case has neither.
TIME: dict[str, Any] = {"long_name": "time", "axis": "T", "units": UNITS}
GIVEN = "given_"  # with the name of a field: its prescribed range as JSON, null without an end
PSEUDO_TIME = "pseudo_time"  # attribute of a run to a steady state in pseudo-time: its time is the number of the step


def moment(attributes: Mapping[Any, Any], time: float) -> str:
    """Return the time of a record of a run with these attributes as text, or its step of pseudo-time."""
    unit = attributes.get("units_time", "")
    return f"step {time:.0f}" if PSEUDO_TIME in attributes else f"t = {time:.6g} {unit}".rstrip()


def global_attributes(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of a run and the conventions. Other than numbers, text and vectors become JSON."""
    flat = {key: plain(value) for key, value in attributes.items()}
    for key, value in attributes.items():
        if not isinstance(value, np.ndarray) and type(flat[key]) not in SCALARS:
            flat[key] = json.dumps(flat[key], ensure_ascii=False)
    return {"Conventions": CONVENTIONS, **flat}


def coordinate_attributes(dim: str) -> dict[str, Any]:
    """Return the attributes of a coordinate such as x_c or x_f. Face i is half a cell before centre i (COMODO)."""
    axis, place = dim[0], dim[2]
    attributes: dict[str, Any] = {
        "long_name": f"{axis} of cell {'centres' if place == 'c' else 'faces'}",
        "axis": axis.upper(),
        "units": UNITS,
    }
    if place == "f":
        attributes["c_grid_axis_shift"] = -0.5
    return attributes


def metric_name(dim: str) -> str:
    """Return the metric along a dimension: dx for x_c, dx_f for x_f."""
    return f"d{dim[0]}{dim[1:].removesuffix('_c')}"


def metric_attributes(dim: str) -> dict[str, Any]:
    """Return the attributes of a metric such as dx or dx_f."""
    axis, place = dim[0], dim[2]
    about = f"size of cells along {axis}"
    if place == "f":
        about = f"distance along {axis} between the centres on both sides of a face; at a wall from it to the centre"
    return {"long_name": about, "units": UNITS}


def field_attributes(field: FieldMetadata) -> dict[str, Any]:
    """Return the attributes of a field, with its location in the terms of SGRID, where face1 is the face across x."""
    place = "volume" if field.location == "c" else f"face{'xyz'.index(field.location[1]) + 1}"
    attributes = {"long_name": field.long_name, "units": field.units, "grid": "grid", "location": place}
    more = {"cell_methods": field.cell_methods, "expression": field.expression}
    return attributes | {name: value for name, value in more.items() if value}


def statistics_metadata(
    fields: Mapping[str, FieldMetadata],
    means: Mapping[str, str],
    covariances: Mapping[str, tuple[str, str]],
    others: Mapping[str, str],
) -> dict[str, FieldMetadata]:
    """Return the metadata of averages, in cell centres: means and covariances of `fields`, and `others` as text."""
    metadata: dict[str, FieldMetadata] = {}
    for name, field in means.items():
        metadata[name] = FieldMetadata(f"mean in time of {fields[field].long_name}", fields[field].units, "c", MEAN)
    for name, pair in covariances.items():
        one, other = (fields[field] for field in pair)
        units = " ".join(unit for unit in (one.units, other.units) if unit != UNITS) or UNITS
        if one == other:
            metadata[name] = FieldMetadata(f"variance in time of {one.long_name}", units, "c", "time: variance")
        else:
            words = f"covariance in time of {one.long_name} and {other.long_name}"
            metadata[name] = FieldMetadata(words, units)
    return metadata | {name: FieldMetadata(words, UNITS, "c", MEAN) for name, words in others.items()}


def grid_attributes(layout: StoreLayout) -> dict[str, Any]:
    """Return the attributes of the SGRID topology variable.

    Nodes are the positions of faces. Between walls nodes outnumber cells by one (`padding: none`, outer in xgcm). In a
    periodic direction the last cell follows the last node (`padding: high`, left in xgcm).
    """
    padding = ["high" if periodic else "none" for periodic in layout.periodic]
    cells = {axis: f"{axis}_c: {axis}_f (padding: {pad})" for axis, pad in zip("xyz", padding, strict=True)}
    faces = {
        f"face{n + 1}_dimensions": " ".join(f"{axis}_f" if axis == normal else cells[axis] for axis in "xyz")
        for n, normal in enumerate("xyz")
    }
    return {
        "cf_role": "grid_topology",
        "long_name": "staggered grid: scalars in cell centres, velocities on the faces they cross",
        "topology_dimension": 3,
        "node_dimensions": "x_f y_f z_f",
        "volume_dimensions": " ".join(cells.values()),
        **faces,
    }
