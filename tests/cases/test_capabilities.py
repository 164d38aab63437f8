"""What systems declare to support, and how a case that asks for more is refused."""

import runpy
from pathlib import Path

import pytest

from taskflow import BadInput, Case
from taskflow.cases.language.capabilities import Supports, used
from taskflow.cases.tables.method import supports

ROOT = Path(__file__).resolve().parents[2]
BOX = {"grid": {"cells": [8, 8, 8], "lengths": [1, 1, 1]}, "boundaries": dict.fromkeys("xyz", "periodic")}
FLOW = {**BOX, "fluid": {"viscosity": 0.01}, "time": {"steps": 1}}
PHASES = {**BOX, "two_phase": {"density": [1, 2], "viscosity": [1, 1], "initial": "z - 0.5"}, "time": {"steps": 1}}
MOVES = {"name": "a", "motion": {"displacement": ["t", 0, 0]}}
BALL = {"type": "sphere", "centre": [0.5, 0.5, 0.5], "radius": 0.2}


def test_the_longest_declaration_holds():
    lacks = {"heat.scheme": None, "heat.scheme.koren": "why"}
    some = Supports({"heat", "boundaries.wall", "obstacles.motion.angle"}, lacks)
    whole = ("heat.source", "boundaries.wall.velocity.timed", "output.every")
    partly = (*whole, "obstacles", "obstacles.motion")
    nothing = ("heat.scheme", "boundaries.wall.temperature", "obstacles.type", "statistics.budget", "pressure")
    assert [place for place in (*partly, *nothing) if some.has(place)] == [*whole]
    assert [place for place in (*partly, *nothing) if some.reads(place)] == [*partly]
    assert some.reason("heat.scheme.koren") == "why"
    assert some.reason("heat.scheme") is None


def test_a_case_asks_for_what_differs_from_defaults():
    wall = {"type": "wall", "velocity": ["t", "x", 0]}
    sides = {"x": "periodic", "y": "periodic", "z_min": wall, "z_max": "slip"}
    case = Case(**{**FLOW, "boundaries": sides, "obstacles": [BALL], "statistics": {"budget": False}})
    found = {use.place: ".".join(use.key) for use in used(dict(case))}
    assert found["boundaries.wall.velocity.timed.placed"] == "boundaries.z_min.velocity"
    assert found["boundaries.slip"] == "boundaries.z_max"
    assert found["obstacles.type.sphere"] == "obstacles.[1].type"
    assert not found.keys() & {"statistics.budget", "time.scheme", "bodies.treatment", "body.gravity"}


@pytest.mark.parametrize(("tables", "lines"), [
    ({**FLOW, "motion": {"angle": {"z": "t"}}},
     ['motion = { angle = { z = "t" } }: not supported by the model "projection"; omit it, or use the model'
      ' "artificial-compressibility"']),
    ({**PHASES, "body": {"rotation": [0, 0, 1]}, "heat": {}},
     ['heat = {}: not supported by the model "two_phase"; omit it, or use the model "projection" or'
      ' "artificial-compressibility"',
      'body.rotation = [0.0, 0.0, 1.0]: not supported by the model "two_phase"; omit it, or use the model'
      ' "projection"']),
    ({**PHASES, "fluid": {"viscosity": 1}, "output": {"fields": ["T"]}},  # what is forbidden hides nothing else
     ["fluid.viscosity = 1: two_phase.viscosity has the viscosities of both phases; omit it",
      'output.fields = ["T"]: this case has no field "T"; it has u, v, w, p, f, phi; T needs a [heat] table']),
    ({**FLOW, "bodies": {"treatment": "immersed"}, "obstacles": [{**BALL, **MOVES}],
      "time": {"steps": 1, "scheme": "rk3"}, "statistics": {"budget": True}},
     ['time.scheme = "rk3": not supported together with obstacles[1].motion; give "ab2"',
      "statistics.budget = true: not supported together with obstacles[1].motion; omit one of them"]),
    ({**FLOW, "bodies": {"treatment": "immersed"}, "obstacles": [  # a pair within one body
        {**BALL, **MOVES}, {"type": "heights", "file": str(ROOT / "examples" / "hill.npy"), "name": "hill"}]}, []),
    ({**FLOW, "grid": {"shape": "box", "lengths": [1, 1, 1]}},  # boxes of the other model have cells, too, by shape
     ['grid.shape = "box": not supported by the model "projection"; omit it, or use the model'
      ' "artificial-compressibility"']),
])  # fmt: skip
def test_what_is_not_supported_is_refused_with_a_remedy(tables, lines):
    if not lines:
        assert Case(**tables)
        return
    with pytest.raises(BadInput) as refused:
        Case(**tables)
    assert str(refused.value).splitlines() == lines


def test_every_place_that_is_declared_is_one_of_a_case():
    """A place that is misspelt would refuse nothing, or everything."""
    key_of = runpy.run_path(str(ROOT / "docs" / "capabilities.py"))["key_of"]
    nowhere = {"obstacles.contact_angle", "two_phase.contact_angle", "timed"}  # of no table
    for name in ("projection", "two_phase", "artificial-compressibility"):
        declared = supports()[name]
        places = {*declared.places, *declared.lacks, *(place for pair in declared.apart for place in pair)}
        assert not [place for place in places - nowhere if not key_of(place)], name
