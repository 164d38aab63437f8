"""The area of isosurfaces: spheres, planes, what walls cut; its order, and its bits on blocks."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.cases import Case
from taskflow.flow.measures.surfaces import Isosurface, ValueSurface
from taskflow.runs.state.setup import RunSetup
from tests.flows import compute


def area(n: int, formula: str, value: float, blocks=(1, 1, 1), *, stretched: bool = False) -> float:
    """Where T, as given at the start in a unit cube, has a value: after a step of almost no length."""
    grid = {"cells": [n, n, n], "lengths": [1.0, 1.0, 1.0], "origin": [-0.5, -0.5, 0.0]}
    if stretched:
        grid["stretching"] = {"z": {"tanh": 1.5, "toward": "min"}}
    case = Case(
        grid=grid, fluid={"viscosity": 1.0}, heat={"diffusivity": 1e-6},
        boundaries={"x": "periodic", "y": "periodic", "z_min": "slip", "z_max": "slip"},
        initial={"temperature": formula}, time={"steps": 1, "step": 1e-9},
        machine={"device": "cpu", "threads": 1},
    )  # fmt: skip
    surface = Isosurface(RunSetup(case, (1, 1, 1)).grid, ValueSurface("T", value))
    (result,) = surface.numbers(compute(case, blocks, after=surface).scalars)
    return result


@pytest.mark.parametrize(("formula", "stretched", "exact"), [
    ("x**2 + y**2 + (z - 0.5)**2", False, 4 * np.pi * 0.3**2),
    ("x**2 + y**2 + (z - 0.5)**2", True, 4 * np.pi * 0.3**2),
    ("x**2 + y**2 + z**2", False, 2 * np.pi * 0.3**2),
    ("x**2 + y**2 + (1 - z)**2", True, 2 * np.pi * 0.3**2),
], ids=["sphere", "stretched", "on the floor", "under the ceiling"])  # fmt: skip
def test_it_is_of_second_order(formula, stretched, exact):
    """That of a sphere, and of one that boundaries without a gradient cut in halves."""
    coarse, fine = (abs(area(n, formula, 0.09, stretched=stretched) / exact - 1) for n in (12, 24))
    assert fine < 0.015
    assert np.log2(coarse / fine) == pytest.approx(2.0, abs=0.35)


def test_a_plane_is_exact():
    """From a periodic side to the other."""
    assert area(8, "z", 0.5) == pytest.approx(1.0, rel=1e-12)
    assert area(8, "z", 0.4, stretched=True) == pytest.approx(1.0, rel=1e-12)


def test_the_bits_do_not_depend_on_the_blocks():
    one, cut = (area(12, "x**2 + y**2 + (z - 0.5)**2", 0.09, blocks) for blocks in ((1, 1, 1), (2, 3, 2)))
    assert cut == one


def test_without_a_crossing_there_is_none():
    assert area(4, "0.5", 0.7) == 0.0
    assert area(4, "0.5", 0.5) == 0.0
