"""The boundary conditions of a dataset and the properties of its fluid: as its attributes say, or else its case."""

from __future__ import annotations

import xarray as xr

from taskflow.analysis.earlier_stores import conditions_of_case
from taskflow.errors import BadInput
from taskflow.output.conditions import Conditions


def known_conditions(ds: xr.Dataset) -> Conditions | None:
    """The conditions of a dataset; None where it has neither attributes nor a case that say them."""
    return Conditions.of(ds.attrs) or conditions_of_case(str(ds.attrs.get("case", "")))


def conditions(ds: xr.Dataset) -> Conditions:
    """The conditions of a dataset. Raises BadInput where it does not say them."""
    known = known_conditions(ds)
    if known is None:
        raise BadInput("the dataset has no attributes boundary_x_min, ..., and no case; give the snapshots of a run")
    return known
