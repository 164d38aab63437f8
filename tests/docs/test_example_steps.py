"""The number of steps that the page of an example gives is that of a run: `python docs/example_steps.py` writes it."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

steps = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[2] / "docs" / "example_steps.py")))
NAMES = steps.short()


def test_pages_give_steps():
    assert {"capillary_wave", "dam_break", "rising_bubble", "round_pipe"} <= {*NAMES}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_steps_are_those_of_a_run(name):
    assert steps.told(name) == steps.taken(name)
