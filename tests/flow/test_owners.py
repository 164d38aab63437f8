"""Scalars of models have owners: two models in one program do not collide."""

import tomllib

import pytest

from taskflow.cases import Case
from taskflow.flow import Monitor
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.tasks import Roles, owned, record
from tests.data import cases

KEPT = {"bulk_velocity": {"x": 1.0}}
CASES = {
    "bodies": {"body": KEPT},
    "immersed": {"body": KEPT, "bodies": {"treatment": "immersed"}, "turbulence": {"model": "vreman"}},
    "eddies": {},
    "room": {},
}


@pytest.mark.parametrize("name", CASES)
def test_what_a_model_reduces_is_its_owners(name):
    tables = tomllib.loads(cases.text("bodies" if name == "immersed" else name)) | CASES[name]
    setup = RunSetup(Case(**tables), (1, 1, 1))
    model, roles = setup.model, Roles.of(tuple(setup.partition.fields))
    inputs = {"dt", "ratio"} | {key for key in model.scalars(1.0, 1.0) if key.startswith(("dt", "ratio"))}
    for program in (model.start, model.step, model.limits, Monitor(model)):
        launches, _ = record(owned("flow", program), roles)
        reduced = {scalar for launch in launches for scalar, _ in launch.reductions.values()}
        read = {scalar for launch in launches for scalar in launch.scalars.values()}
        assert all(scalar.startswith("flow.") for scalar in reduced | (read - inputs))
        plain, _ = record(program, roles)
        assert {f"flow.{scalar}" for launch in plain for scalar, _ in launch.reductions.values()} == reduced
