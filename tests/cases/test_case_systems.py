"""The case of a system with a table of its own: its rules, its defaults, and what it reads of other tables."""

from typing import ClassVar

import pytest

from taskflow.cases import Case
from taskflow.cases.language.capabilities import Supports
from taskflow.cases.language.problems import wrong
from taskflow.cases.language.table import Positive, Table, entry
from taskflow.cases.tables import method
from taskflow.common.errors import BadInput


class TwoPhase(Table):
    """A table of two liquids."""

    density: Positive = entry("the ratio of densities", 1.0)
    thickness: Positive | None = entry("of the interface", None, otherwise="the width of a cell")

    def completed(self, tables):
        return self.model_copy(update={"thickness": self.thickness or tables["cells"].spacing[0]})


def _interface_is_resolved(bubbles, grid):
    if bubbles.thickness and bubbles.thickness > grid.lengths[0]:
        yield wrong(("bubbles", "thickness"), bubbles.thickness, "give less than the domain is long")


def _no_spectra(bubbles, spectra):
    if spectra:
        yield wrong("spectra", spectra[0].name, "the interface has none; leave them out")


TwoPhase.rules = (_interface_is_resolved, _no_spectra)


class System:
    """What a case asks of a system."""

    table_name, table = "bubbles", TwoPhase
    supports = Supports({"scalars", "initial.velocity", "body.gravity", "boundaries.wall", "boundaries.wall.roughness"})
    lists: ClassVar = {}
    tables: ClassVar = {}

    @classmethod
    def derived(cls, tables):
        yield from ()

    @classmethod
    def with_defaults(cls, tables):
        return dict(tables)

    @classmethod
    def fields(cls, tables):
        return ("u", "phi", *(scalar.name for scalar in tables["scalars"]))


@pytest.fixture
def case(monkeypatch):
    monkeypatch.setitem(method.SYSTEMS._loaded, "level set", System)
    grid = {"cells": [8, 8, 8], "lengths": [1, 1, 1]}
    tables = {"grid": grid, "boundaries": dict.fromkeys("xyz", "periodic"), "time": {"steps": 1}, "bubbles": {}}
    return lambda **changes: Case(**{**tables, **changes})


def test_defaults_follow_from_other_tables(case):
    full = case(scalars=[{"name": "dye", "diffusivity": 0}], initial={"velocity": [1, 0, 0]})
    assert full.own.thickness == 0.125
    assert full.output.fields == ("u", "phi", "dye")
    assert Case(**full.written()) == full


WALL = {"type": "wall", "roughness": 0.1}
NOT = 'not supported by the model "level set"; omit it, or use the model "projection"'


@pytest.mark.parametrize(("changes", "lines"), [
    ({"bubbles": {"thickness": 2}}, ["bubbles.thickness = 2.0: give less than the domain is long"]),
    ({"spectra": [{"name": "s", "along": "x"}]}, ['spectra = "s": the interface has none; leave them out']),
    ({"initial": {"temperature": 1}}, [f'initial.temperature = 1.0: {NOT} or "artificial-compressibility"']),
    ({"body": {"gravity": [0, 0, -1], "force": [1, 0, 0]}},
     [f'body.force = [1.0, 0.0, 0.0]: {NOT} or "artificial-compressibility"']),
    ({"fluid": {"viscosity": 1}},
     [f'fluid = {{ viscosity = 1 }}: {NOT} or "two_phase" or "artificial-compressibility"']),
    ({"boundaries": {"x": "periodic", "y": "periodic", "z_min": WALL, "z_max": {"type": "wall", "temperature": 1}}},
     [f'boundaries.z_max.temperature = 1.0: {NOT} or "artificial-compressibility"']),
    ({"boundaries": {"x": "periodic", "y": "periodic", "z_min": WALL,
                     "z_max": {"type": "wall", "velocity": ["t", 0, 0]}}},
     ['boundaries.z_max.velocity = ["t", 0.0, 0.0]: not supported by the model "level set"; give a constant']),
    ({"boundaries": {"x": "periodic", "y": "periodic", "z_min": WALL, "z_max": "slip"}},
     ['boundaries.z_max = "slip": not supported by the model "level set"; give "wall", or boundaries.z = "periodic"']),
])  # fmt: skip
def test_what_it_does_not_read_is_refused(case, changes, lines):
    with pytest.raises(BadInput) as error:
        case(**changes)
    assert str(error.value).splitlines() == lines
