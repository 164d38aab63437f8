"""A system of another package: what it takes, that it runs, and what is refused."""

import importlib.metadata
import os
import signal
import subprocess
import sys
import time
import tomllib
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from taskflow import BadInput, Case
from taskflow.cases.schema import schema
from taskflow.cases.tables import method
from taskflow.output import dataset
from tests.docs.fences import fences
from tests.models import burgers
from tests.models.burgers import BurgersSystem
from tests.runs.going_on import assert_same_run, contents, found, go, steps
from tests.speed import SOON

ROOT = Path(__file__).resolve().parents[2]
WAVE = "sin(2 * pi * (x + y + z))"
PERIODIC = dict.fromkeys("xyz", "periodic")


@pytest.fixture(autouse=True)
def known(monkeypatch):
    """It is known in this process alone, for one test."""
    monkeypatch.setattr(method.SYSTEMS, "_loaded", {"burgers": BurgersSystem})


def tables(**changes):
    return {
        "grid": {"cells": [12, 8, 8], "lengths": [1.5, 1.0, 1.0]},
        "boundaries": PERIODIC,
        "burgers": {"viscosity": 0.05, "initial": "sin(4 * pi * x / 3) * cos(2 * pi * (y - z))"},
        "time": {"steps": 30},
        "output": {"every": {"steps": 10}, "precision": "double"},
        "monitor": {"every": {"steps": 5}},
        "checkpoint": {"every": {"steps": 10}},
        "machine": {"precision": "double"},
        **changes,
    }


def refused(**changes):
    with pytest.raises(BadInput) as told:
        Case(**tables(**changes))
    return str(told.value).splitlines()


def test_it_is_one_file():
    assert len(Path(burgers.__file__).read_text().splitlines()) <= 160


def test_a_table_selects_it_and_a_case_is_written_and_read():
    case = Case(**tables())
    assert case.system is BurgersSystem
    assert case.fields == case.output_fields == ("q",)
    written = tomllib.loads(case.to_toml())
    assert written["method"] == {"type": "burgers"}
    assert written["burgers"] == {"viscosity": 0.05, "initial": "sin(4 * pi * x / 3) * cos(2 * pi * (y - z))"}
    assert not written.keys() & {"fluid", "pressure", "body", "bodies", "initial", "scalars", "obstacles", "surfaces"}
    assert Case(**written) == case
    assert Case(**dict(case)) == case
    assert Case(**tables(method={"type": "burgers"})) == case


def test_the_schema_has_its_table(monkeypatch):
    check = Draft202012Validator(schema())
    assert not [*check.iter_errors(tomllib.loads(Case(**tables()).to_toml()))]
    assert [*check.iter_errors(tables(burgers={"viscosity": -1.0}))]
    assert [*check.iter_errors(tables(burger={}))]
    monkeypatch.setattr(method.SYSTEMS, "_loaded", {})
    monkeypatch.setattr(method.SYSTEMS, "own", {})
    assert "burgers" not in schema()["properties"]
    assert "fluid" in schema()["required"]


class Rival(BurgersSystem):
    table_name = "rival"


NOT = 'not supported by the model "burgers"; omit it, or use the model "projection"'


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        ({"method": {"type": "burger"}},
         ['method.type = "burger": [burgers] selects the model "burgers"; omit one of them']),
        ({"method": {"type": "projection"}},
         ['method.type = "projection": [burgers] selects the model "burgers"; omit one of them']),
        ({"rival": {"viscosity": 1.0}},
         ['rival = { viscosity = 1.0 }: it selects the model "rival", and [burgers] the model "burgers"; omit one of'
          " them"]),
        ({"burgers": {"viscosty": 1.0}},
         ["burgers.viscosty = 1.0: unknown key; did you mean burgers.viscosity?"]),
        ({"burgers": {}}, ["burgers.viscosity: missing; give the diffusivity of q, a number > 0"]),
        ({"burgers": 3}, ["burgers = 3: give a table"]),
        ({"burgers": {"viscosity": 0}}, ["burgers.viscosity = 0: give a number > 0"]),
        ({"pressure": {"solver": "fft"}, "heat": {"diffusivity": 1.0}},
         [f'heat = {{ diffusivity = 1.0 }}: {NOT} or "artificial-compressibility"',
          f'pressure = {{ solver = "fft" }}: {NOT} or "two_phase"']),
        ({"fluid": {"viscosity": 1.0}},
         [f'fluid = {{ viscosity = 1.0 }}: {NOT} or "two_phase" or "artificial-compressibility"']),
        ({"boundaries": {"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "periodic"}},
         ['boundaries.z_max = "periodic": both sides or none; give z = "periodic" instead of z_min and z_max']),
        ({"time": {"steps": 9, "scheme": "rk3"}},
         [f'time.scheme = "rk3": {NOT}']),
        ({"grid": {"cells": [8, 8, 8], "lengths": [1, 1, 1], "stretching": {"z": {"tanh": 0.5}}}},
         [f'grid.stretching = {{ z = {{ tanh = 0.5 }} }}: {NOT} or "artificial-compressibility"']),
        ({"statistics": {"every": {"steps": 2}, "budget": True}},
         [f"statistics.budget = true: {NOT}"]),
        ({"output": {"fields": ["u"]}}, ['output.fields = ["u"]: this case has no field "u"; it has q']),
        ({"burger": {"viscosity": 1.0}},
         ["burger = { viscosity = 1.0 }: unknown key; did you mean burgers?"]),
    ],
)  # fmt: skip
def test_what_is_refused(monkeypatch, changes, lines):
    monkeypatch.setitem(method.SYSTEMS._loaded, "rival", Rival)
    assert refused(**changes) == lines


def test_walls_are_refused():
    remedy = 'not supported by the model "burgers"; give boundaries.z = "periodic"'
    sides = {"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "wall"}
    assert refused(boundaries=sides) == [f'boundaries.{face} = "wall": {remedy}' for face in ("z_min", "z_max")]


def test_models_that_are_not_there():
    case = {name: table for name, table in tables().items() if name != "burgers"}
    with pytest.raises(BadInput, match=r'^method.type = "burger": unknown model; did you mean "burgers"\?$'):
        Case(**case, method={"type": "burger"})
    known = '"projection", "two_phase", "artificial-compressibility", "burgers"'
    with pytest.raises(BadInput, match=f"give one of {known}, or install the package that has it$"):
        Case(**case, method={"type": "level-set"})


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("no.such.module:System", r"ModuleNotFoundError: No module named 'no'"),
        ("tests.models.burgers:KERNELS", "AttributeError: 'str' object has no attribute 'table_name'"),
    ],
)
def test_a_package_that_cannot_be_used(monkeypatch, place, why):
    point = importlib.metadata.EntryPoint("broken", place, method.SYSTEMS.group)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [point])
    case = {name: table for name, table in tables().items() if name != "burgers"}
    with pytest.raises(BadInput) as told:
        Case(**case, method={"type": "broken"})
    said = f'method.type = "broken": {place} cannot be used ({why}); repair or reinstall its package'
    assert str(told.value) == said
    assert Case(**tables()), "others are not harmed"


def test_a_claim_of_a_table_that_is_not_its_own(monkeypatch):
    monkeypatch.setitem(method.SYSTEMS._loaded, "thief", type("Thief", (BurgersSystem,), {"table_name": "heat"}))
    case = {name: table for name, table in tables().items() if name != "burgers"}
    with pytest.raises(BadInput, match=r'"thief": it uses the table \[heat\] of the case file; its package has'):
        Case(**case, method={"type": "thief"})


def test_cases_of_the_projection_look_at_no_package(monkeypatch):
    monkeypatch.setattr(importlib.metadata, "entry_points", None)
    example = tomllib.loads((ROOT / "examples" / "lid_driven_cavity.toml").read_text())
    case = Case(**example)
    for named in ({"type": "projection"}, {}, method.Method()):
        assert Case(**example, method=named) == case
    assert "method" not in tomllib.loads(case.to_toml())


@pytest.mark.slow
def test_blocks_and_a_kill_make_no_difference(tmp_path):
    case = Case(**tables())
    go(case, tmp_path / "one")
    go(case, tmp_path / "four", (2, 1, 2))
    assert_same_run(tmp_path / "four", tmp_path / "one")
    go(case, tmp_path / "killed", (2, 1, 2), kill=23)
    assert steps(tmp_path / "killed") == [20, 10]
    go(case, tmp_path / "killed", (2, 1, 2), resume=True)
    assert_same_run(tmp_path / "killed", tmp_path / "one")
    assert [line["peak"] for line in contents(tmp_path / "one")[1]] == pytest.approx(sorted(
        (line["peak"] for line in contents(tmp_path / "one")[1]), reverse=True))  # fmt: skip


@pytest.mark.slow
def test_what_is_recorded_of_any_model(tmp_path):
    often = {"steps": 10}
    case = Case(**tables(
        probes=[{"name": "middle", "points": [[0.7, 0.5, 0.5]], "every": often}],
        planes=[{"name": "cut", "z": 0.5, "every": often}],
        isosurfaces=[{"name": "front", "field": "q", "value": 0.1, "every": often}],
        statistics={"every": often},
        spectra=[{"name": "waves", "along": "x", "every": often}],
    ))  # fmt: skip
    for blocks in ((1, 1, 1), (1, 1, 2)):
        go(case, tmp_path / str(blocks[2]), blocks)
    for group in ("middle", "cut", "front", "statistics", "waves"):
        one, two = (found(tmp_path / name, group) for name in "12")
        assert len(one.data_vars) > 0
        for name, values in one.data_vars.items():
            np.testing.assert_array_equal(two[name].values, values.values, err_msg=f"{group} {name}")
    assert found(tmp_path / "1", "front").area.values.max() > 0


def exact(x, y, z, t, viscosity=0.05, share=0.5):
    """A wave along s = x + y + z by the transformation of Hopf (1950) and Cole (1951): 3 q obeys Burgers' equation in s
    with three times the viscosity, and is -2 (3 viscosity) d/ds log(1 + share exp(-3 viscosity k^2 t) cos(k s)).
    """
    k, s = 2 * np.pi, x + y + z
    decay = share * np.exp(-3 * viscosity * k**2 * t)
    return 2 * viscosity * k * decay * np.sin(k * s) / (1 + decay * np.cos(k * s))


def test_it_is_of_second_order(tmp_path):
    errors = []
    for n in (12, 24):
        case = Case(**tables(
            grid={"cells": [n, n, n], "lengths": [1.0, 1.0, 1.0]},
            burgers={"viscosity": 0.05, "initial": partial(exact, t=0.0)},
            time={"end": 0.1, "cfl": 0.25},
        ))  # fmt: skip
        go(case, tmp_path / str(n))
        with dataset(tmp_path / str(n) / "fields.zarr") as ds:
            x, y, z = np.meshgrid(ds.x_c, ds.y_c, ds.z_c)
            last = ds.q.isel(time=-1).transpose("y_c", "x_c", "z_c").values
            errors.append(np.abs(last - exact(x, y, z, 0.1)).max())
    assert 1.8 < np.log2(errors[0] / errors[1]) < 2.3


@pytest.mark.slow
def test_a_steady_state_ends_the_run(tmp_path):
    flat = tables(burgers={"viscosity": 0.05, "initial": WAVE}, time={"end": 100.0, "steady": 0.05})
    told = go(Case(**flat), tmp_path / "run", (1, 1, 2))
    assert told["ended"] == "steady"
    assert told["rates"].keys() == {"q"}


@pytest.fixture
def installed(tmp_path):
    """A command that finds the model as that of an installed package, in this process's folder."""
    about = tmp_path / "site" / "burgers_model-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: burgers-model\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[taskflow.models]\nburgers = tests.models.burgers:BurgersSystem\n")
    paths = os.pathsep.join(filter(None, [str(ROOT), str(tmp_path / "site"), os.environ.get("PYTHONPATH")]))

    def begin(*words):
        return subprocess.Popen(
            [sys.executable, "-m", "taskflow", *words], cwd=tmp_path, env={**os.environ, "PYTHONPATH": paths},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip

    return begin


def ended(running):
    out, err = running.communicate()
    assert running.returncode == 0, err
    return out


@pytest.mark.slow
def test_an_installed_package_is_checked_run_killed_and_gone_on_with(installed, tmp_path):
    (tmp_path / "case.toml").write_text(Case(**tables(time={"steps": 40}, machine={"device": "cpu"})).to_toml())
    told = ended(installed("check", "case.toml", "--prove", "--set", "machine.blocks=[1,2,2]"))
    assert "model      burgers; double precision" in told
    assert "reads find what the program means" in told
    many = ["--set", "machine.blocks=[1,2,2]", "--set", "machine.workers=2", "--quiet"]
    ended(installed("run", "case.toml", *many, "-o", "whole"))
    endless = installed("run", "case.toml", *many, "-o", "killed", "--set", "time.steps=1000000")
    until = time.monotonic() + SOON
    while not steps(tmp_path / "killed"):
        assert endless.poll() is None, endless.communicate()
        assert time.monotonic() < until
        time.sleep(0.01)
    os.killpg(endless.pid, signal.SIGKILL)
    endless.communicate()
    last = steps(tmp_path / "killed")[0] + 40
    ended(installed("run", "case.toml", *many, "-o", "killed", "--resume", "--set", f"time.steps={last}"))
    ended(installed("run", "case.toml", "--quiet", "-o", "alone", "--set", f"time.steps={last}",
                    "--set", "machine.blocks=[1,1,1]"))  # fmt: skip
    assert_same_run(tmp_path / "killed", tmp_path / "alone")
    assert contents(tmp_path / "whole")[1] == contents(tmp_path / "alone")[1][:9]


def test_the_page_shows_this_file():
    page = fences(ROOT / "docs" / "howto" / "own_model.md")
    shown = "".join(fence.text for fence in page if "burgers.py" in (fence.word("file"), fence.word("append")))
    lines = Path(burgers.__file__).read_text().splitlines()
    assert [line for line in shown.splitlines() if line] == [line for line in lines if line]
