"""Names that scalars and expressions may not have: those of all fields that a case may have, whatever it is."""

import pytest

from taskflow.cases import Case
from taskflow.cases.tables.scalars import scalar_name
from taskflow.common.errors import BadInput
from taskflow.runs.state.setup import RunSetup
from tests.cases.on_charts import CYLINDER, LID
from tests.cases.on_charts import case as on_charts
from tests.runs.test_restart import MODELS, stirred

BALL = {"type": "sphere", "centre": [0.5, 0.35, 0.6], "radius": 0.25, "name": "ball"}
DYE = {"name": "dye", "diffusivity": 0.1}
STRETCHED = {"cells": [8, 5, 9], "lengths": [1.0, 0.7, 1.3], "stretching": {"z": {"tanh": 1.5}}}
PERIODIC = dict.fromkeys("xyz", "periodic")
FLOWS = {
    "layers by fft": {"pressure": {"solver": "fft"}, "grid": STRETCHED},
    "cells by fft": {"pressure": {"solver": "fft"}, "boundaries": PERIODIC},
    "multigrid": {"pressure": {"solver": "multigrid"}, "boundaries": MODELS["advected outflow"]["boundaries"]},
    "conjugate gradients": {"pressure": {"solver": "cg"}, "boundaries": MODELS["inflow"]["boundaries"]},
    "flagged body": {"obstacles": [{**BALL, "temperature": 1.0}], "turbulence": {"model": "wale"}},
    "immersed body": {"obstacles": [{**BALL, "temperature": 1.0}], "bodies": {"treatment": "immersed"}},
    "budget": {"statistics": {"budget": True}, "boundaries": PERIODIC},
    "steady": {"time": {"steps": 9, "steady": 1e-3}},
    "implicit": {"time": {"steps": 9, "implicit": ["z"]}, "boundaries": MODELS["inflow"]["boundaries"]},
}
MOVING = {
    "grid": {"cells": [12, 12, 12], "lengths": [1.0, 1.0, 1.0]}, "fluid": {"viscosity": 0.01}, "boundaries": PERIODIC,
    "obstacles": [{**BALL, "centre": [0.5] * 3, "motion": {"displacement": ["0.1*sin(t)", 0, 0]}}],
    "bodies": {"treatment": "immersed"}, "time": {"steps": 2, "step": 0.01}, "machine": {"device": "cpu"},
}  # fmt: skip
REAL = {"time": {"end": 1.0, "step": 0.1}}
CHARTS = {
    "march": (CYLINDER, {"scalars": [DYE]}),
    "real time": (LID, REAL),
    "implicit": (LID, {"method": {"type": "artificial-compressibility", "march": "implicit"}}),
    "implicit in real time": (LID, {"method": {"type": "artificial-compressibility", "march": "implicit"}, **REAL}),
    "moving": (CYLINDER, {**REAL, "motion": {"displacement": ["0.1*sin(t)", 0, 0]}, "scalars": [DYE]}),
    "forced": (CYLINDER, {"body": {"force": ["x", 0, 0]}, "scalars": [DYE]}),
}


def free(case: Case, blocks: tuple[int, int, int] = (1, 1, 1)) -> set[str]:
    """The fields of a case, but for its scalars, whose names a scalar may have."""
    own = {"dye", "smoke"}
    return {name for name in RunSetup(case, blocks).partition.homes if name not in own and _is_free(name)}


def _is_free(name: str) -> bool:
    try:
        return bool(scalar_name(name))
    except BadInput:
        return False


@pytest.mark.parametrize("flow", FLOWS)
def test_no_name_of_another_field_is_free(flow):
    assert free(stirred(scalars=[DYE], **FLOWS[flow]), (2, 1, 2)) == set()


@pytest.mark.slow
def test_no_name_of_a_field_of_moving_bodies_is_free():
    assert free(Case(**MOVING)) == set()


@pytest.mark.slow
@pytest.mark.parametrize("kind", CHARTS)
def test_names_of_fields_on_charts_are_refused(kind):
    tables, more = CHARTS[kind]
    case = on_charts(tables, **more)
    for name in (*free(case), "continuity", "heat"):
        with pytest.raises(BadInput, match=r'scalars\[1\].name = ".*": the model on charts has a field or '):
            on_charts(tables, **{**more, "scalars": [{**DYE, "name": name}]})


@pytest.mark.parametrize("name", ["spectrum", "rhs_blocks", "through", "dx", "friction_x", "solid_other", "statistics"])
def test_an_expression_with_the_name_of_a_field_is_refused(name):
    with pytest.raises(BadInput) as caught:
        stirred(output={"fields": [f"{name} = u"]})
    assert str(caught.value).startswith(f'expressions[1].name = "{name}": give a name of letters')


def test_names_that_are_like_those_of_fields_are_free():
    assert all(map(_is_free, ["body_x_force", "spectra", "dxy", "b", "sides", "reaching"]))
