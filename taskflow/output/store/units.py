"""Units of a run as labels of its records: attributes `units_length`, ... of a store, and the units that follow.

A case is in any consistent system of units. These attributes name it, and change no number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from taskflow.common.derived_names import COMPONENTS, LAMBDA2, SPEED, VORTICITY, Q
from taskflow.output.store.metadata import PSEUDO_TIME, UNITS

if TYPE_CHECKING:
    import xarray as xr

PREFIX, BASES = "units_", ("length", "time", "temperature")
_COORDINATE = re.compile(r"d?[xyz](_[cf])?|[xyz]_(c_)?rest")
_STATISTIC = re.compile(r"(mean|lowest|highest)_")
POWERS: Mapping[str, tuple[int, int, int]] = {
    "time": (0, 1, 0), "area": (2, 0, 0), "volume": (3, 0, 0), "T": (0, 0, 1), "p": (2, -2, 0), "nu_t": (2, -1, 0),
    **dict.fromkeys(("u", "v", "w", SPEED), (1, -1, 0)), **dict.fromkeys((VORTICITY, *COMPONENTS), (0, -1, 0)),
    **dict.fromkeys((Q, LAMBDA2), (0, -2, 0)), "phi": (1, 0, 0), "kappa": (-1, 0, 0),
}  # fmt: skip


def unit_of(attributes: Mapping[Any, Any], name: str) -> str:
    """Return the unit of a variable of a run with these attributes, "1" if it is unknown."""
    powers = (1, 0, 0) if _COORDINATE.fullmatch(name) else POWERS.get(_STATISTIC.sub("", name))
    if powers is None or (name == "time" and PSEUDO_TIME in attributes):
        return UNITS
    needed = [(attributes.get(f"{PREFIX}{base}"), power) for base, power in zip(BASES, powers, strict=True) if power]
    if not all(unit for unit, _ in needed):
        return UNITS
    return " ".join(f"{unit}{'' if power == 1 else power}" for unit, power in needed)


def labelled(ds: xr.Dataset, attributes: Mapping[Any, Any]) -> xr.Dataset:
    """Return a dataset with the units of its variables. A pressure not divided by density has none."""
    if not any(f"{PREFIX}{base}" in attributes for base in BASES):
        return ds
    for name, variable in ds.variables.items():
        unit = unit_of(attributes, str(name))
        if unit != UNITS and variable.attrs.get("units", UNITS) == UNITS and not (name == "p" and "phi" in ds):
            variable.attrs["units"] = unit
    return ds
