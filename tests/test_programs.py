"""The oracle of moves: digests of what cases record."""

import pytest

from tests.data.cases import text
from tests.programs import PROGRAMS, digests


@pytest.fixture
def digested(tmp_path):
    """The digests of a small case, with other values."""

    def call(*settings):
        path, case = tmp_path / "case.toml", text("small_cavity")
        for old, new in settings:
            assert old in case
            case = case.replace(old, new)
        path.write_text(case)
        return digests(path)

    return call


def test_digests_are_those_of_the_programs(digested):
    first, second = digested(), digested()
    assert first == second
    assert tuple(first) == PROGRAMS
    assert all(launches > 0 for launches, _ in first.values())


@pytest.mark.parametrize(("old", "new"), [
    ("viscosity = 0.01", "viscosity = 0.02"),
    ("[1.0, 0.0, 0.0]", "[2.0, 0.0, 0.0]"),
    ("cells = [16, 2, 16]", "cells = [16, 2, 8]"),
    ("[fluid]", '[turbulence]\nmodel = "wale"\n[fluid]'),
], ids=["viscosity", "lid", "boxes", "kernels"])  # fmt: skip
def test_digests_differ_where_a_program_does(digested, old, new):
    assert digested((old, new))["step"] != digested()["step"]


def test_digests_do_not_depend_on_what_is_no_part_of_a_program(digested):
    assert digested(("steps = 40", "steps = 80")) == digested()
