"""The way of a value of a case through `taskflow check`: few rooms, and few names for one thing."""

import sys
from collections import defaultdict

import pytest

from taskflow.cli import main

CASE = """
grid = { cells = [16, 1, 16], lengths = [1.0, 0.0625, 1.0] }
fluid.viscosity = 0.0123456789
body.force = [0.0271828, 0.0, 0.0]
pressure = { solver = "multigrid", tolerance = 3.1415e-5 }
time.end = 2.7182818

[boundaries]
x = "periodic"
y = "periodic"
z_min = "wall"
z_max = { type = "wall", velocity = [1.1357913, 0.0, 0.0] }
"""
VALUES = {0.0123456789, 0.0271828, 3.1415e-5, 2.7182818, 1.1357913}


def test_a_value_of_a_case_crosses_few_rooms_under_few_names(here, monkeypatch):
    """Of all functions of the package that are called with the number, alone or in a vector."""
    (here / "case.toml").write_text(CASE)
    rooms, names = defaultdict(set), defaultdict(set)

    def watch(frame, event, _):
        module = frame.f_globals.get("__name__", "")
        if event != "call" or not module.startswith("taskflow."):
            return
        code = frame.f_code
        for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
            given = frame.f_locals.get(name)
            parts = given if isinstance(given, (tuple, list)) and len(given) < 8 else (given,)
            for value in VALUES.intersection(part for part in parts if isinstance(part, float)):
                rooms[value].add(module.split(".")[1])
                names[value].add(name)

    monkeypatch.setattr(sys, "argv", ["taskflow", "check", "case.toml"])
    sys.setprofile(watch)
    try:
        with pytest.raises(SystemExit, match="0"):
            main()
    finally:
        sys.setprofile(None)
    assert rooms.keys() == VALUES
    assert max(map(len, rooms.values())) <= 5
    assert max(map(len, names.values())) <= 10
