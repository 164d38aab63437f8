"""A system of flows beside the projection: it says how its model is made, and has boundaries, bodies and records."""

from functools import cached_property
from typing import ClassVar

import pytest

from taskflow import Case, run
from taskflow.cases.language.table import Table, Whole, entry
from taskflow.cases.tables import method
from taskflow.flow import NavierStokes
from taskflow.flow.poisson import FFT
from taskflow.output import LOG, STORE, dataset, read_log
from taskflow.runs.state.setup import RunSetup
from taskflow.systems.base.flow import FlowSystem

CASE = {
    "grid": {"cells": [12, 6, 8], "lengths": [1.2, 0.6, 0.8]},
    "fluid": {"viscosity": 0.02},
    "heat": {"diffusivity": 0.02, "expansion": 1.0},
    "scalars": [{"name": "smoke", "diffusivity": 0.01, "initial": "exp(-x**2)"}],
    "turbulence": {"model": "wale"},
    "body": {"gravity": [0, 0, -1]},
    "boundaries": {
        "y": "periodic",
        "x_min": {"type": "inflow", "velocity": ["1 + t", 0, 0], "temperature": 0.5},
        "x_max": "outflow",
        "z_min": {"type": "wall", "temperature": 1.0},
        "z_max": "slip",
    },
    "obstacles": [{"name": "ball", "type": "sphere", "centre": [0.6, 0.3, 0.4], "radius": 0.15}],
    "initial": {"velocity": [1.0, 0, 0]},
    "time": {"steps": 4, "steady": 1e-6},
    "statistics": {"every": {"steps": 1}, "budget": True},
    "probes": [{"name": "tip", "points": [[0.9, 0.3, 0.4]], "every": {"steps": 1}}],
    "surfaces": [{"name": "plane", "x": 0.9, "every": {"steps": 2}}],
    "monitor": {"every": {"steps": 1}},
    "machine": {"blocks": [1, 1, 2]},
}


class StoppingTable(Table):
    """The table [stopping] of a case file."""

    times: Whole = entry("how often the velocity in bodies is forced in a projection")


class Forced(FlowSystem):
    """A projection by FFT, which is not the package's own system."""

    table_name, table = "stopping", StoppingTable
    min_fields: ClassVar[int] = 8

    @cached_property
    def model(self) -> NavierStokes:
        return NavierStokes(pressure=FFT(self.sim.grid.constants, self.sim.blocks), **self.physics)

    @property
    def forced(self) -> int:
        return self.sim.case.own.times


@pytest.fixture(autouse=True)
def known(monkeypatch):
    """It is known in this process alone, for one test."""
    monkeypatch.setattr(method.SYSTEMS, "_loaded", {"forced": Forced})


def test_it_has_what_a_case_gives_a_flow():
    sim = RunSetup(Case(**CASE, stopping={"times": 4}), (1, 1, 2))
    assert type(sim.system) is Forced
    assert sim.measures.finite == ("kinetic_energy", "divergence", "integral_smoke")
    labels = ["model", "bodies", "", "openings", "", "eddies", "warning"]  # of the Peclet number
    assert [row.label for row in sim.system.rows(sim.step_cost)] == labels
    assert sim.averages.statistics.budget is not None
    assert sim.system.attributes["viscosity"] == 0.02
    assert sim.system.report == {"model": "stopping"}


@pytest.mark.slow
def test_its_records_are_those_of_the_projection(tmp_path):
    own = run(Case(**CASE, stopping={"times": 4}), tmp_path / "own").directory
    other = run(Case(**CASE, pressure={"solver": "fft", "forcing": 4}), tmp_path / "other").directory
    for group in ("", "statistics", "tip", "plane"):
        assert dataset(own / STORE, group).drop_attrs().identical(dataset(other / STORE, group).drop_attrs())
    solver = {"residual", "iterations"}
    for line, expected in zip(read_log(own / LOG), read_log(other / LOG), strict=True):
        assert expected.keys() - line.keys() == solver
        assert all(line[name] == value for name, value in expected.items() if name not in solver | {"wall"})
