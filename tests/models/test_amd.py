"""A closure of another package: on boxes and body-fitted grids, on any blocks, as NumPy has it; and what is refused."""

from __future__ import annotations

import importlib.metadata
import os
import pickle
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from taskflow import BadInput, Case, RunFailed
from taskflow.cases.schema import schema
from taskflow.flow import Turbulence
from taskflow.flow.closures import CLOSURES, Closure, register_closure
from taskflow.flow.closures.eddy_viscosity import eddy_viscosity
from taskflow.output import tree
from taskflow.output.store.reading import charts
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.machine.kernel import KernelError
from taskflow.runtime.tasks import Roles
from tests.cases.on_charts import CYLINDER, changed
from tests.docs.fences import fences
from tests.flow.byhand import ByHand
from tests.models import amd
from tests.models.amd import MinimumDissipation
from tests.runs.going_on import assert_same_run, contents, go

ROOT = Path(__file__).resolve().parents[2]
VELOCITY = ("u", "v", "w")
SWIRL = ["y + 0.3*sin(6*y)*cos(3*x)", "0.3*cos(3*x)*sin(4*z)", "0.2*sin(4*x + 3*y)"]
BOX = {
    "grid": {"cells": [16, 12, 8], "lengths": [2.0, 1.0, 1.0], "stretching": {"y": {"tanh": 1.2}}},
    "fluid": {"viscosity": 1e-3}, "turbulence": {"model": "amd"}, "initial": {"velocity": SWIRL},
    "boundaries": {"x": "periodic", "z": "periodic", "y_min": "wall", "y_max": "wall"}, "time": {"steps": 4},
    "output": {"every": {"steps": 2}, "precision": "double"}, "machine": {"device": "cpu"},
    "pressure": {"iterations": 8},
}  # fmt: skip
O_GRID = changed(
    CYLINDER, grid={"shape": "o-grid", "cells": [24, 10, 4], "far": 4.0}, time={"step": 0.01, "steps": 2},
    initial={"velocity": SWIRL}, turbulence={"model": "amd"}, method__inner={"iterations": 10},
)  # fmt: skip


@pytest.fixture(autouse=True)
def closures(monkeypatch):
    """The closures of one test."""
    monkeypatch.setattr(CLOSURES, "_loaded", {})
    register_closure("amd", MinimumDissipation)


def test_it_is_one_file():
    assert len(Path(amd.__file__).read_text().splitlines()) <= 70


def test_the_page_shows_this_file():
    page = fences(ROOT / "docs" / "howto" / "own_closure.md")
    shown = "".join(fence.text for fence in page if "amd.py" in (fence.word("file"), fence.word("append")))
    lines = Path(amd.__file__).read_text().splitlines()
    assert [line for line in shown.splitlines() if line] == [line for line in lines if line]


@pytest.mark.parametrize("tables", [BOX, O_GRID], ids=["box", "o-grid"])
@pytest.mark.fast("box")
def test_it_has_the_same_bits_on_1_and_4_blocks(tmp_path, tables):
    case = Case(**tables)
    go(case, tmp_path / "one")
    go(case, tmp_path / "four", (1, 1, 4) if tables is O_GRID else (2, 1, 2))
    assert_same_run(tmp_path / "four", tmp_path / "one", rel=1e-14)  # sums over stretched cells; fields to the bit
    assert contents(tmp_path / "one")[1][-1]["eddy_viscosity"] > 1e-5


def lines(sim):
    """The rows of a system in `taskflow check`, by label."""
    return {row.label: row.text for row in sim.system.rows(sim.step_cost)}


def test_it_has_its_line():
    for tables in (BOX, O_GRID):
        sim = RunSetup(Case(**tables), (1, 1, 1))
        assert lines(sim)["eddies"] == "AMD, constant 0.3"


def test_the_schema_has_it():
    check = Draft202012Validator(schema())
    assert not [*check.iter_errors(tomllib.loads(Case(**BOX).to_toml()))]
    assert schema()["$defs"]["TurbulenceTable"]["properties"]["model"]["enum"][-1] == "amd"
    assert "`amd` 0.3" in schema()["$defs"]["TurbulenceTable"]["properties"]["constant"]["description"]


@dataclass(frozen=True)
class Uniform(Closure):
    """The same viscosity everywhere, a number with a dimension, and one that does nothing."""

    constant: float = 1.0
    viscosity: float = 0.25
    other: float = 0.0

    title = "uniform"
    functions = "FN real viscosity(const Closure& model, const Local&) { return model.constant * model.viscosity; }"
    filtered = False


@dataclass(frozen=True)
class Width(Uniform):
    """The cube root of the volume of a cell."""

    functions = "FN real viscosity(const Closure& model, const Local& q) { return root(q.filter_square); }"
    filtered = True


@dataclass(frozen=True)
class Rate(Uniform):
    """The sum of the squares of the velocity gradient, times the largest one there would be."""

    functions = "FN real viscosity(const Closure& model, const Local& q) { return root(squares(q.gradient)); }"


@pytest.mark.parametrize("kind", [Uniform, Width, Rate])
def test_numbers_with_a_dimension_are_in_the_units_of_the_case(tmp_path, kind):
    """On a body-fitted grid as on a box of the same flow, whatever unit of length kernels have there."""
    register_closure("uniform", kind)
    flow = {
        "grid": {"cells": [8, 8, 8], "lengths": [3.0, 3.0, 3.0]}, "fluid": {"viscosity": 1.0},
        "turbulence": {"model": "uniform", "constants": {"viscosity": 0.5}},
        "initial": {"velocity": ["2*y", 0.0, 0.0]},
        "time": {"step": 1e-6, "steps": 1}, "output": BOX["output"], "machine": BOX["machine"],
    }  # fmt: skip
    walls = dict.fromkeys(("y_min", "y_max", "z_min", "z_max"), "slip")
    go(Case(**flow, boundaries={"x": "periodic", **walls}), tmp_path / "box")
    method = {**CYLINDER["method"], "reference_speed": 1.0}
    on_charts = changed(flow, grid__charts=[1, 1, 1], grid__periodic=["x"], method=method)
    go(Case(**on_charts, boundaries=walls), tmp_path / "charts")
    _, chart = next(charts(tree(tmp_path / "charts" / "fields.zarr").isel(time=0).load()))
    box = contents(tmp_path / "box")[0]["nu_t"][0]
    middle = (slice(2, -2),) * 3
    expected = {Uniform: 0.5, Width: 0.375, Rate: 2.0}[kind]
    np.testing.assert_allclose(chart["nu_t"].values[middle], expected, rtol=1e-12)
    np.testing.assert_allclose(box[middle], expected, rtol=1e-12)


def test_other_numbers_are_in_the_case_and_its_line():
    register_closure("uniform", Uniform)
    case = Case(**changed(BOX, turbulence={"model": "uniform", "constants": {"viscosity": 0.5}}))
    assert case.turbulence.closure == Uniform(1.0, 0.5)
    assert case.turbulence.written()["constants"] == {"viscosity": 0.5, "other": 0.0}
    assert Case(**tomllib.loads(case.to_toml())) == case
    told = lines(RunSetup(case, (1, 1, 1)))["eddies"]
    assert told == "uniform, constant 1, viscosity 0.5, other 0"


@dataclass(frozen=True)
class Power(Uniform):
    """With an integer."""

    power: int = 2

    functions = """FN real viscosity(const Closure& model, const Local&) {
      real all = model.constant;
      for (int n = 0; n < model.power; ++n) all *= model.viscosity;
      return all;
    }"""


def test_whole_numbers_are_set_by_the_case():
    register_closure("uniform", Power)
    case = Case(**changed(BOX, turbulence={"model": "uniform", "constants": {"viscosity": 0.5, "power": 3}}))
    assert case.turbulence.closure == Power(1.0, 0.5, 0.0, 3)
    assert type(case.turbulence.closure.power) is int
    assert Case(**tomllib.loads(case.to_toml())) == case
    made = ByHand((4, 4, 4)).fill((*VELOCITY, "nu_t"))
    turbulence = Turbulence(case.turbulence.closure)
    made.run(*eddy_viscosity(Roles(nu_t="nu_t"), VELOCITY, None, turbulence, {}, made.staggered.constants, 0.01))
    np.testing.assert_array_equal(made.values("nu_t"), 0.5**3)


@dataclass(frozen=True)
class Endless(Uniform):
    """Divided by 0."""

    functions = (
        "FN real viscosity(const Closure& model, const Local& q) { return model.constant / (0 * squares(q.gradient)); }"
    )


@pytest.mark.fast("box")
@pytest.mark.parametrize("tables", [
    pytest.param(BOX, id="box"), pytest.param(changed(BOX, time={"step": 1e-3, "steps": 4}), id="fixed steps"),
    pytest.param(O_GRID, id="o-grid"),
])  # fmt: skip
def test_a_viscosity_that_is_not_finite_is_the_fault_of_its_closure(tmp_path, tables):
    """Not of time.cfl, time.step or method.cfl."""
    register_closure("endless", Endless)
    with pytest.raises(RunFailed, match=r'step 0, .*nu_t is .* in cell .*; correct turbulence\.model = "endless"$'):
        go(Case(**changed(tables, turbulence={"model": "endless"})), tmp_path / "run")


@dataclass(frozen=True)
class Needy(Uniform):
    """Damped at walls."""

    filtered, damps = True, True


def test_a_closure_that_walls_damp_is_refused_on_charts_by_the_key_that_names_it():
    register_closure("needy", Needy)
    undamped = changed(O_GRID, turbulence={"model": "needy", "damping": "none"})
    assert Case(**undamped).turbulence.damping == "none"
    assert Case(**changed(BOX, turbulence={"model": "needy"})).turbulence.damping == "van-driest"
    with pytest.raises(BadInput) as told:
        Case(**changed(O_GRID, turbulence={"model": "needy"}))
    remedy = 'give turbulence.damping = "none"'
    assert str(told.value) == f'turbulence.model = "needy": walls of body-fitted grids damp no eddy viscosity; {remedy}'


@dataclass(frozen=True)
class Picky(Uniform):
    def __post_init__(self):
        if self.constant > 2:
            raise ValueError("give at most 2")
        if self.viscosity > 2:
            raise RuntimeError("too large")


@pytest.mark.parametrize(("turbulence", "line"), [
    ({"model": "adm"}, 'model = "adm": give "smagorinsky", "wale", "vreman" or "amd"; did you mean "amd"?'),
    ({"model": "amd", "damping": "van-driest"},
     'damping = "van-driest": its viscosity vanishes at walls of itself; omit it'),
    ({"model": "amd", "constants": {"c": 1.0}},
     "constants.c = 1.0: AMD has no constant of this name; omit it; its only one is turbulence.constant"),
    ({"model": "picky", "constants": {"c": 1.0}},
     "constants.c = 1.0: uniform has no constant of this name; give one of viscosity, other"),
    ({"model": "picky", "constants": {"viscosity": "x"}}, 'constants.viscosity = "x": give a number'),
    ({"model": "picky", "constants": 3}, "constants = 3: give a table"),
    ({"model": "picky", "constant": 3}, "constant = 3: give at most 2"),
    ({"model": "power", "constants": {"power": 2.5}}, "constants.power = 2.5: give an integer"),
    ({"model": "picky", "constants": {"viscosity": 3.0}},
     'model = "picky": your closure tests.models.test_amd.Picky failed (RuntimeError: too large)'),
])  # fmt: skip
def test_what_is_refused(turbulence, line):
    if kind := {"picky": Picky, "power": Power}.get(turbulence["model"]):
        register_closure(turbulence["model"], kind)
    with pytest.raises(BadInput) as told:
        Case(**changed(BOX, turbulence=turbulence))
    assert str(told.value) == f"turbulence.{line}"


class Bare(Closure):
    """No dataclass of its own."""


@dataclass(frozen=True)
class Unnamed(Closure):
    constant: float = 1.0
    functions = ""


@dataclass(frozen=True)
class Lost(Uniform):
    functions = Path("no_such_file.h")


@dataclass(frozen=True)
class Damped(Uniform):
    damps = True


@dataclass(frozen=True)
class Open(Closure):
    functions, title = "", "open"


WRONG = [
    (Bare, "TypeError: a closure is a frozen dataclass"), (Unnamed, "TypeError: title has to be text"),
    (Lost, "FileNotFoundError: .*no_such_file.h"), (Damped, "TypeError: damping shortens the filter width"),
    (Open, "TypeError: .*constant"), (3, "TypeError: a closure is"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "why"), WRONG)
def test_a_class_that_is_no_complete_closure_is_refused(kind, why):
    with pytest.raises(BadInput, match=rf"cannot be used \({why}"):
        register_closure("new", kind)
    assert "new" not in CLOSURES


def test_names_of_taskflow_stay_its_own():
    with pytest.raises(BadInput, match='name = "wale": this name belongs to taskflow'):
        register_closure("wale", MinimumDissipation)


def installed(monkeypatch, *points):
    """What other packages install."""
    monkeypatch.setattr(
        importlib.metadata, "entry_points", lambda group: points if group == "taskflow.closures" else ()
    )


def point(place, package=None, name="theirs"):
    known = importlib.metadata.EntryPoint(name, place, "taskflow.closures")
    return known._for(SimpleNamespace(name=package)) if package else known


def test_a_package_that_cannot_be_used_is_named(monkeypatch):
    installed(monkeypatch, point("no.such:Thing", "eddy-shop"), point("tests.models.test_amd:WRONG", name="no closure"))
    with pytest.raises(BadInput) as told:
        Case(**changed(BOX, turbulence={"model": "theirs"}))
    assert str(told.value) == (
        'turbulence.model = "theirs": no.such:Thing of the package eddy-shop cannot be used (ModuleNotFoundError: No'
        " module named 'no'); repair or reinstall its package"
    )
    with pytest.raises(BadInput, match=r"test_amd:WRONG cannot be used \(TypeError: a closure is a frozen dataclass"):
        Case(**changed(BOX, turbulence={"model": "no closure"}))
    with pytest.raises(BadInput, match='give "smagorinsky", "wale", "vreman", "amd", "theirs" or "no closure"'):
        Case(**changed(BOX, turbulence={"model": "k-epsilon"}))
    enum = schema()["$defs"]["TurbulenceTable"]["properties"]["model"]["enum"]
    assert enum == ["smagorinsky", "wale", "vreman", "amd"]
    assert Case(**BOX), "others are not harmed"


@dataclass(frozen=True)
class Named(Uniform):
    name = "mine"


def test_a_class_has_the_name_of_its_entry_point(monkeypatch):
    installed(monkeypatch, point("tests.models.test_amd:Named", "eddy-shop"))
    with pytest.raises(BadInput) as told:
        Case(**changed(BOX, turbulence={"model": "theirs"}))
    assert str(told.value) == (
        'turbulence.model = "theirs": tests.models.test_amd:Named of the package eddy-shop cannot be used (ValueError:'
        ' its name is "mine", but it is registered as "theirs"; give both the same name); repair or reinstall its'
        " package"
    )
    with pytest.raises(BadInput, match='its name is "mine", but it is registered as "other"'):
        register_closure("other", Named)
    register_closure("mine", Named)


def test_two_packages_with_the_same_name_are_an_error(monkeypatch):
    installed(monkeypatch, point("a:One", "first"), point("b:Two", "second"))
    with pytest.raises(BadInput, match="a:One of the package first and b:Two of the package second have the same name"):
        Case(**changed(BOX, turbulence={"model": "theirs"}))


def test_an_entry_point_is_enough(monkeypatch):
    installed(monkeypatch, point("tests.models.amd:MinimumDissipation", name="least"))
    case = Case(**changed(BOX, turbulence={"model": "least"}))
    assert pickle.loads(pickle.dumps(case.turbulence.closure)) == MinimumDissipation()


def test_our_closures_look_at_no_package(monkeypatch):
    monkeypatch.setattr(importlib.metadata, "entry_points", None)
    assert Case(**changed(BOX, turbulence={"model": "wale"}))


@dataclass(frozen=True)
class Broken(Uniform):
    functions = "\nFN real viscosity(const Closure& model, const Local& q) {\n  return q.filter_square + model.none;\n}"


@dataclass(frozen=True)
class Missing(Uniform):
    functions = "FN real viscosty(const Closure& model, const Local& q) { return model.constant; }"


@pytest.mark.parametrize(("kind", "words"), [
    (Broken, r"line 3 of the functions of your closure tests\.models\.test_amd\.Broken: return q\.filter_square"),
    (Missing, r"eddies includes the functions of your closure tests\.models\.test_amd\.Missing"),
])  # fmt: skip
def test_a_compiler_speaks_of_your_closure(kind, words):
    made = ByHand((4, 4, 4)).fill((*VELOCITY, "nu_t"))
    with pytest.raises(KernelError, match=words):
        made.run(*eddy_viscosity(
            Roles(nu_t="nu_t"), VELOCITY, None, Turbulence(kind()), {}, made.staggered.constants, 0.01
        ))  # fmt: skip


def command(folder, *words, closure="tests.models.amd:MinimumDissipation"):
    """A command where an installed package has the closure."""
    about = folder / "site" / "eddy_shop-1.0.dist-info"
    about.mkdir(parents=True, exist_ok=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: eddy-shop\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[taskflow.closures]\namd = {closure}\n")
    paths = os.pathsep.join(filter(None, [str(ROOT), str(folder / "site"), os.environ.get("PYTHONPATH")]))
    return subprocess.run(
        [sys.executable, "-m", "taskflow", *words], cwd=folder, env={**os.environ, "PYTHONPATH": paths},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("tables", [BOX, O_GRID], ids=["box", "o-grid"])
def test_an_installed_closure_is_checked_proved_and_run_by_many_processes(tmp_path, tables):
    (tmp_path / "case.toml").write_text(Case(**tables).to_toml())
    four = "machine.blocks=4" if tables is O_GRID else "machine.blocks=[1,2,2]"
    told = command(tmp_path, "check", "case.toml", "--prove", "--set", four)
    assert told.returncode == 0, told.stderr
    assert "eddies     AMD, constant 0.3" in told.stdout
    assert "reads find what the program means; 1 kernel of other packages compiled" in told.stdout
    many = ["--set", four, "--set", "machine.workers=2"]
    for path, options in (("four", many), ("one", ["--set", "machine.workers=1"])):
        ran = command(tmp_path, "run", "case.toml", "--quiet", "-o", path, *options)
        assert ran.returncode == 0, ran.stderr
    assert_same_run(tmp_path / "four", tmp_path / "one", rel=1e-14)


@pytest.mark.slow
def test_check_compiles_a_closure(tmp_path):
    (tmp_path / "case.toml").write_text(Case(**BOX).to_toml())
    told = command(tmp_path, "check", "case.toml", "--prove", closure="tests.models.test_amd:Broken")
    assert told.returncode == 1
    assert "line 3 of the functions of your closure tests.models.test_amd.Broken" in told.stderr
    assert "Traceback" not in told.stderr
