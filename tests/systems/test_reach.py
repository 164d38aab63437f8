"""Steps that were asked for and cannot be had are told before the run."""

import pytest

from taskflow.cases import Case
from taskflow.runs.state.setup import RunSetup
from tests.cases.sound import cavity
from tests.cases.two_phases import case as two_phases


def cautions(case):
    return [text for text in RunSetup(case, (1, 1, 1)).system.warnings if text.startswith("time.")]


@pytest.mark.parametrize(("time", "told"), [
    ({}, []),
    ({"cfl": 0.45, "diffusion": 0.22, "capillary": 1.0}, []),
    ({"cfl": 5.0, "diffusion": 5.0, "capillary": 5.0},
     ["time.cfl = 5 is out of reach: convection and diffusion are bounded together, steps have at most 0.45; give",
      "time.diffusion = 5 is out of reach: convection and diffusion are bounded together, steps have at most 0.225",
      "time.capillary = 5 is out of reach: capillary waves are followed up to 1; give less"]),
    ({"step": 1e-3, "capillary": 0.5}, ["time.capillary = 0.5 has no effect with time.step; omit one of them"]),
    ({"step": 1e-3, "diffusion": 0.1}, ["time.diffusion = 0.1 has no effect with time.step; omit one of them"]),
])  # fmt: skip
def test_of_two_phases(time, told):
    found = cautions(two_phases(time=time))
    assert len(found) == len(told)
    assert all(text.startswith(words) for text, words in zip(found, told, strict=True))


def test_without_surface_tension():
    [told] = cautions(two_phases(two_phase={"surface_tension": 0.0}, time={"capillary": 0.5}))
    assert told == "time.capillary = 0.5 has no effect without two_phase.surface_tension; omit it"


@pytest.mark.parametrize(("scheme", "time", "most"), [
    ("central", {"cfl": 1.2, "scheme": "rk3"}, None), ("koren", {}, None), ("koren", {"cfl": 0.5}, None),
    ("koren", {"cfl": 0.9}, "0.45"), ("koren", {"cfl": 1.2, "scheme": "rk3"}, "0.844"),
])  # fmt: skip
def test_of_bounded_heat(scheme, time, most):
    heat = {"diffusivity": 0.01, "expansion": 0.0, "scheme": scheme}
    told = cautions(Case(**cavity(heat=heat, time={"steps": 1, **time})))
    assert len(told) == (most is not None)
    assert all(f"so that heat or scalars stay within their bounds, steps have at most {most}" in text for text in told)
