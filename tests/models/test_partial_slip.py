"""A boundary condition of another package: exact flows on both discretisations, blocks, messages, and the page."""

import importlib.metadata
import os
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from taskflow import BadInput, Case
from taskflow.cases.schema import schema
from taskflow.extend import BoundaryCondition, Side
from taskflow.flow.boundaries.kinds import BOUNDARIES, register_boundary
from taskflow.output import tree
from taskflow.runs.state.setup import RunSetup
from tests.docs.fences import fences
from tests.flows import compute
from tests.models import partial_slip
from tests.models.partial_slip import PartialSlip
from tests.runs.going_on import go
from tests.runs.test_charts_run import assert_same_run

ROOT = Path(__file__).resolve().parents[2]
B = 0.2  # the slip length
SLIPS = {"type": "partial-slip", "slip_length": B}
LID = {**SLIPS, "velocity": [1.0, 0.0, 0.0]}


@pytest.fixture(autouse=True)
def known(monkeypatch):
    """It is known in this process alone, for one test."""
    monkeypatch.setattr(BOUNDARIES, "_loaded", dict(BOUNDARIES.loaded))
    register_boundary(PartialSlip)


def box(n, *, low=SLIPS, high=SLIPS, **changes):
    """A channel between z = 0 and 1; its flow is steady at the end."""
    return Case(**{
        "grid": {"cells": [4, 1, n], "lengths": [1.0, 1.0, 1.0]},
        "boundaries": {"x": "periodic", "y": "periodic", "z_min": low, "z_max": high},
        "fluid": {"viscosity": 1.0},
        "time": {"step": 0.02, "steps": 500, "implicit": ["z"]},
        "machine": {"precision": "double", "device": "cpu"},
        **changes,
    })  # fmt: skip


def charts(n, *, low=SLIPS, high=SLIPS, **changes):
    """The same between y = 0 and 1, on distorted and turned charts."""
    return Case(**{
        "method": {"type": "artificial-compressibility", "march": "implicit", "reference_speed": 1.0},
        "grid": {
            "shape": "box", "cells": [n, n, 1], "lengths": [1.0, 1.0, 1.0], "charts": [1, 2, 1], "distortion": 0.08,
            "turned": True, "periodic": ["x"],
        },
        "boundaries": {"y_min": low, "y_max": high, "z_min": "symmetry", "z_max": "symmetry"},
        "fluid": {"viscosity": 1.0},
        "time": {"steady": 1e-10, "steps": 3000},
        "output": {"every": {"steps": 3000}, "precision": "double"},
        "machine": {"precision": "double", "device": "cpu"},
        **changes,
    })  # fmt: skip


def couette(y):
    return (y + B) / (1 + 2 * B)


def poiseuille(y):
    return (y * (1 - y) + B) / 2


PUSHED = {"body": {"force": [1.0, 0.0, 0.0]}}


def error_on_box(case, exact):
    flow = compute(case)
    return float(np.abs(flow["u"] - exact(flow.points("u")[2])).max())


def error_on_charts(case, exact, path):
    go(case, path)
    parts = tree(path / "fields.zarr")["charts"].children.values()
    return max(float(np.abs(chart["u"].isel(time=-1) - exact(chart["y_c"])).max()) for chart in parts)


def test_it_is_one_file():
    assert len(Path(partial_slip.__file__).read_text().splitlines()) <= 100


@pytest.mark.parametrize("implicit", [["z"], None])
def test_couette_flow_on_a_box_is_exact(implicit):
    time = {"step": 0.02, "steps": 500} if implicit else {"step": 0.002, "steps": 5000}
    assert error_on_box(box(8, high=LID, time={**time, "implicit": implicit or []}), couette) < 1e-12


def test_poiseuille_flow_on_a_box_has_second_order():
    errors = [error_on_box(box(n, **PUSHED), poiseuille) for n in (8, 16)]
    assert errors[0] == pytest.approx(1 / 8**3, rel=1e-9)  # of the wall's difference: h^2 / 8
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=1e-3)


@dataclass(frozen=True)
class Surface(BoundaryCondition):
    """A free surface with heat. It says nothing of ghost temperatures."""

    name = "surface"
    keys = frozenset(("temperature", "heat_flux"))

    temperature: float | None = None
    heat_flux: float = 0.0


@pytest.mark.parametrize("heated", [{"temperature": 2.0}, {"heat_flux": 2.0}])
def test_keys_of_heat_hold_without_a_method(heated):
    register_boundary(Surface)
    sides = {"low": {"type": "surface", "temperature": 0.0}, "high": {"type": "surface", **heated}}
    time = {"step": 0.02, "steps": 1000, "implicit": ["z"]}  # exp(-20 pi^2 / 4) is left
    flow = compute(box(8, **sides, heat={"diffusivity": 1.0}, time=time))
    assert np.abs(flow["T"] - 2 * flow.points("T")[2]).max() < 1e-12


def test_a_wall_that_swings_has_its_velocity_in_time():
    flow = compute(box(8, high={**SLIPS, "velocity": ["1 + exp(-9*t)", 0.0, 0.0]}))
    assert np.abs(flow["u"] - couette(flow.points("u")[2])).max() < 1e-12


def test_couette_flow_on_even_cells_is_exact(tmp_path):
    even = {"shape": "box", "cells": [4, 4, 1], "lengths": [1.0, 1.0, 1.0], "periodic": ["x"]}
    assert error_on_charts(charts(8, high=LID, grid=even), couette, tmp_path / "even") < 1e-9


@pytest.mark.slow
def test_couette_flow_on_distorted_charts_has_second_order(tmp_path):
    errors = [error_on_charts(charts(n, high=LID), couette, tmp_path / str(n)) for n in (8, 16)]
    assert np.log2(errors[0] / errors[1]) > 1.7


@pytest.mark.slow
def test_poiseuille_flow_on_charts_has_second_order(tmp_path):
    errors = [error_on_charts(charts(n, **PUSHED), poiseuille, tmp_path / str(n)) for n in (8, 16)]
    assert np.log2(errors[0] / errors[1]) > 1.7


def test_a_length_of_0_is_a_wall():
    walls = {"type": "wall"}
    slipping = compute(box(8, low={**SLIPS, "slip_length": 0.0}, high={**LID, "slip_length": 0.0}))
    assert np.array_equal(slipping["u"], compute(box(8, low=walls, high={**walls, "velocity": [1.0, 0.0, 0.0]}))["u"])


def test_blocks_compute_the_same_bits_on_a_box():
    case = box(8, high=LID, **PUSHED, time={"step": 0.002, "steps": 6})
    one, four = compute(case), compute(case, (2, 1, 2))
    for name in ("u", "v", "w", "p"):
        assert np.array_equal(one[name], four[name])


@pytest.mark.slow
def test_blocks_compute_the_same_bits_on_charts(tmp_path):
    method = {"type": "artificial-compressibility", "march": "rk3", "reference_speed": 1.0}
    every = {"output": {"every": {"steps": 3}, "precision": "double"}, "time": {"steady": 1e-10, "steps": 6}}
    whole = charts(8, high=LID, **PUSHED, **every, method=method)
    cut = whole.replace(**{"machine.cuts": {"1": [1, 1, 2]}})
    go(whole, tmp_path / "one")
    go(cut, tmp_path / "three", (1, 1, 3))
    assert_same_run(tmp_path / "one", tmp_path / "three")


@pytest.mark.parametrize(
    ("side", "line"),
    [
        ({"type": "partial-slip"}, "boundaries.z_min.slip_length: missing; give a length >= 0"),
        ({**SLIPS, "slip_length": -1.0}, "boundaries.z_min.slip_length = -1.0: give a number >= 0"),
        ({**SLIPS, "slip_lenght": 1.0},
         "boundaries.z_min.slip_lenght = 1.0: unknown key; did you mean boundaries.z_min.slip_length?"),
        ({**SLIPS, "roughness": 0.1},
         'boundaries.z_min.roughness = 0.1: a partial-slip boundary has none; omit it, or give type = "wall"'),
        ({"type": "wall", "slip_length": 0.1},
         'boundaries.z_min.slip_length = 0.1: a wall boundary has none; omit it, or give type = "partial-slip"'),
        ({**SLIPS, "velocity": [0.0, 0.0, 1.0]},
         "boundaries.z_min.velocity = [0.0, 0.0, 1.0]: a partial-slip moves in its own plane only; give 0 as its z"
         " component, or an inflow"),
        ({**SLIPS, "velocity": ["x", 0.0, 0.0]},
         'boundaries.z_min.velocity = ["x", 0.0, 0.0]: on a side of the type partial-slip it may not change with the'
         " place; give three numbers"),
        ("partial-slop",
         'boundaries.z_min = "partial-slop": give "wall", "slip", "symmetry", "inflow", "outflow", "vent" or'
         ' "partial-slip"; did you mean "partial-slip"?'),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(side, line):
    with pytest.raises(BadInput) as told:
        box(8, low=side)
    assert str(told.value).splitlines() == [line]


def test_a_case_is_written_and_read_and_fits_the_schema():
    for case in (box(8, high=LID), charts(8, high=LID)):
        written = tomllib.loads(case.to_toml())
        assert Case(**written) == case
        assert not [*Draft202012Validator(schema()).iter_errors(written)]


@dataclass(frozen=True)
class Unnamed(BoundaryCondition):
    pass


@dataclass(frozen=True)
class Shut(BoundaryCondition):
    name = "shut"
    flux = "shut"


class Bare(BoundaryCondition):
    name = "bare"


@dataclass(frozen=True)
class Entrance(BoundaryCondition):
    name = "entrance"
    enters = True


@dataclass(frozen=True)
class Sheared(BoundaryCondition):
    name = "sheared"
    shear: float = 0.0

    @property
    def still(self):
        return Sheared()


def test_given_values_of_a_condition_do_not_change_with_the_flow():
    assert Side("top", Sheared(2.0), ()).still.kind == Sheared(0.0)
    assert Side("top", PartialSlip(slip_length=B), ()).still.kind == PartialSlip(slip_length=B), "a coefficient stays"


WRONG = [
    (Unnamed, "name has to be text"), (Shut, "flux = 'shut' has to be None, 'closed', 'given', 'open', 'far'"),
    (Entrance, "enters = True has to come with brings = True"),
    (Bare, "a boundary condition is a frozen dataclass"), (partial_slip.SlipTable, "a boundary condition is"),
    (3, "a boundary condition is a frozen dataclass derived from taskflow.extend.BoundaryCondition"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "why"), WRONG)
def test_a_class_that_is_no_complete_condition_is_refused(kind, why):
    with pytest.raises(BadInput, match=rf"cannot be used \(TypeError: {why}"):
        register_boundary(kind)


def test_a_package_that_cannot_be_used_is_named(monkeypatch):
    point = importlib.metadata.EntryPoint("theirs", "tests.models.partial_slip:SlipTable", "taskflow.boundaries")
    monkeypatch.setattr(
        importlib.metadata, "entry_points", lambda group: (point,) if group == "taskflow.boundaries" else ()
    )
    with pytest.raises(BadInput) as told:
        box(8, low={"type": "theirs", "depth": 0.1})
    assert str(told.value) == (
        'boundaries.z_min.type = "theirs": tests.models.partial_slip:SlipTable cannot be used (TypeError: a boundary'
        " condition is a frozen dataclass derived from taskflow.extend.BoundaryCondition);"
        " repair or reinstall its package"
    )


def test_a_kind_has_the_name_of_its_entry_point(monkeypatch):
    point = importlib.metadata.EntryPoint("slippery", "tests.models.partial_slip:PartialSlip", "taskflow.boundaries")
    monkeypatch.setattr(
        importlib.metadata, "entry_points", lambda group: (point,) if group == "taskflow.boundaries" else ()
    )
    with pytest.raises(BadInput, match=r'its name is "partial-slip", but it is registered as "slippery"'):
        box(8, low={**SLIPS, "type": "slippery"})


@pytest.mark.parametrize(("make", "label"), [(box, "sides"), (charts, "")])
def test_a_closed_side_is_no_opening(make, label):
    sim = RunSetup(make(8, high=LID), (1, 1, 1))
    rows = {row.text: row.label for row in sim.system.rows(sim.step_cost) if "slip length" in row.text}
    first, second = ("y_min", "y_max") if make is charts else ("z_min", "z_max")
    assert rows == {
        f"{first}: a wall with the slip length 0.2": label, f"{second}: a wall with the slip length 0.2": "",
    }  # fmt: skip


def test_keys_of_a_misspelt_type_are_not_at_fault():
    with pytest.raises(BadInput) as told:
        box(8, low={**SLIPS, "type": "partial-slop"})
    assert "slip_length" not in str(told.value)
    assert str(told.value).endswith('did you mean "partial-slip"?')


@pytest.mark.slow
@pytest.mark.parametrize("make", [box, charts])
def test_an_installed_package_is_checked_and_proved(make, tmp_path):
    about = tmp_path / "site" / "slip-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: slip\nVersion: 1.0\n")
    point = "partial-slip = tests.models.partial_slip:PartialSlip"
    (about / "entry_points.txt").write_text(f"[taskflow.boundaries]\n{point}\n")
    (tmp_path / "case.toml").write_text(make(8, high=LID).to_toml())
    paths = os.pathsep.join([str(ROOT), str(tmp_path / "site")])
    told = subprocess.run(
        [sys.executable, "-m", "taskflow", "check", "case.toml", "--prove"], cwd=tmp_path, check=True,
        env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True,
    ).stdout  # fmt: skip
    assert "a wall with the slip length 0.2" in told
    assert "reads find what the program means" in told


def test_the_page_shows_this_file():
    page = fences(ROOT / "docs" / "howto" / "own_boundary.md")
    shown = "".join(fence.text for fence in page if "partial_slip.py" in (fence.word("file"), fence.word("append")))
    lines = Path(partial_slip.__file__).read_text().splitlines()
    assert [line for line in shown.splitlines() if line] == [line for line in lines if line]
