"""The case: what is accepted, what it means, and what others can ask of it."""

import subprocess
import sys
import tomllib

import numpy as np
import pytest

import taskflow
from taskflow.cases import FACES, Boundaries, Boundary, Case, FluidTable, GridTable, Time
from taskflow.cases.formulas.expression import Expression
from taskflow.cases.timing.intervals import Every
from taskflow.cases.timing.schedule import Clock
from taskflow.common.errors import BadInput
from taskflow.flow.stability import StepLimit
from taskflow.runs.state.setup import RunSetup
from tests.cases.sound import cavity, heated


def flow(x, y, z):
    return np.sin(x) * z


def test_the_public_name():
    assert taskflow.Case is Case


def test_defaults():
    case = Case(**cavity(title=...))
    assert case.title == "untitled"
    assert case.grid.origin == (0, 0, 0)
    assert (case.time.cfl, case.time.step, case.time.diffusion, case.time.scheme) == (0.5, None, 0.2, "ab2")
    assert (case.pressure.solver, case.pressure.iterations) == ("auto", None)
    assert (case.pressure.tolerance, case.pressure.max_iterations) == (1e-6, 1000)
    assert (case.output.every, case.output.precision) == (None, "single")
    assert case.output_fields == ("u", "v", "w", "p")
    assert case.monitor.every == Every(steps=10)
    assert case.heat is None
    machine = dict(case.machine)
    assert machine.pop("precision") == "double"
    assert machine.pop("debug") is False
    assert machine.pop("cuts") == {}
    assert [machine.pop(key) for key in ("restarts", "silence", "patience")] == [3, 4.0, 60.0]
    assert machine == dict.fromkeys(("device", "blocks", "workers", "threads", "overlap", "channel"), "auto")
    assert case.body.gravity == case.body.force == (0, 0, 0)
    assert [profile(0.0, 0.0, 0.0) for profile in case.initial.velocity] == [0, 0, 0]


def test_derived_values():
    case = Case(**cavity())
    assert case.periodic == (False, True, False)
    assert [case.boundary(face).type for face in FACES] == ["wall", "slip", "periodic", "periodic", "slip", "wall"]
    assert case.boundary("z_max").velocity == (1, 0, 0)
    assert case.boundary("z_min").velocity == case.boundary("y_min").velocity == (0, 0, 0)
    limit = StepLimit(None, 0.5, 0.2, 1e-2 * 3 * 256)
    assert RunSetup(case, (1, 1, 1)).clock == Clock(limit, 1.0, None, None, Every(steps=10))


def test_heat():
    case = Case(**heated())
    assert case.heat is not None
    assert case.output_fields == ("w", "T")
    assert case.initial.temperature == Expression(0.5)
    sides = {face: (case.boundary(face).temperature, case.boundary(face).heat_flux) for face in FACES}
    insulated = (None, 0.0)
    assert sides == {
        "x_min": (1.0, None), "x_max": (None, -1.0), "y_min": insulated, "y_max": insulated, "z_min": insulated,
        "z_max": insulated,
    }
    assert RunSetup(case, (1, 1, 1)).clock.limit.spread == 1.0 * (64 + 64)
    assert Case(**heated(output=...)).output_fields == ("u", "v", "w", "p", "T")


def test_turbulence():
    """Defaults are written out; a case with a model has its viscosity among the fields."""
    result = {}
    for model in ("smagorinsky", "wale", "vreman"):
        case = Case(**heated(turbulence={"model": model}, output=...))
        assert case.output_fields == ("u", "v", "w", "p", "T", "nu_t")
        result[model] = tomllib.loads(case.to_toml())["turbulence"]
        assert Case(**tomllib.loads(case.to_toml())) == case
    assert result == {
        "smagorinsky": {"model": "smagorinsky", "constant": 0.17, "prandtl": 0.85, "damping": "van-driest"},
        "wale": {"model": "wale", "constant": 0.5, "prandtl": 0.85},
        "vreman": {"model": "vreman", "constant": 0.07, "prandtl": 0.85},
    }


def test_a_rough_wall():
    changes = {"turbulence": {"model": "wale", "constant": 0.0}, "boundaries__z_max__roughness": 0.001}
    case = Case(**cavity(**changes))
    assert case.boundary("z_max").roughness == 0.001
    assert case.boundary("x_min").roughness is None
    assert case.turbulence.constant == 0.0
    assert tomllib.loads(case.to_toml())["boundaries"]["z_max"]["roughness"] == 0.001


def test_values_keep_to_their_type():
    case = Case(**cavity(fluid__viscosity=1, grid__cells=(np.int64(16), 4, 16), grid__lengths=np.ones(3)))
    assert type(case.fluid.viscosity) is float
    assert all(type(n) is int for n in case.grid.cells)
    assert case.grid.lengths == (1.0, 1.0, 1.0)


def test_built_of_tables():
    case = Case(
        title="cavity",
        grid=GridTable(cells=(16, 4, 16), lengths=(1, 0.25, 1)),
        fluid=FluidTable(viscosity=1e-2),
        boundaries=Boundaries(
            y="periodic", x_min=Boundary(type="wall"), x_max="slip", z_min=Boundary(type="symmetry"),
            z_max=Boundary(type="wall", velocity=(1, 0, 0)),
        ),
        time=Time(end=1),
    )
    assert case == Case(**cavity())
    assert hash(case) == hash(Case(**cavity()))
    assert hash(case.machine) == hash(Case(**cavity()).machine), "tables are values, too"


def test_functions_as_initial_fields():
    case = Case(**heated(initial={"velocity": [flow, 0, "z"], "temperature": flow}))
    x, z = np.ones((1, 1, 3)), np.ones((2, 1, 1))
    np.testing.assert_array_equal(case.initial.velocity[0](x, 0.0, z), np.full((2, 1, 3), np.sin(1.0)))
    written = tomllib.loads(case.to_toml())["initial"]
    assert written == {"velocity": [f"{__name__}.flow", 0.0, "z"], "temperature": f"{__name__}.flow"}
    assert case == Case(**heated(initial={"velocity": [flow, 0, "z"], "temperature": flow}))


def test_a_function_that_fits_nowhere_is_told_by_name():
    case = Case(**cavity(initial={"velocity": [lambda x, y, z: np.ones(7), lambda x, y, z: 1 / x, 0]}))
    with pytest.raises(BadInput, match=r"lambda.* gives \(7,\) where real numbers of shape \(3,\) are needed"):
        case.initial.velocity[0](np.zeros(3), 0, 0)
    with pytest.raises(BadInput, match=r"lambda.* is not finite at x = 0"), np.errstate(divide="ignore"):
        case.initial.velocity[1](np.zeros(3), 0, 0)


def test_importing_touches_no_heavy_library():
    program = (
        "import sys, taskflow.cases;"
        "print({'dask', 'distributed', 'xarray', 'zarr', 'matplotlib', 'cupy', 'ucxx'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
