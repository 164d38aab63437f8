"""`taskflow.extend`: all that authors need, and nothing deeper in their files and pages."""

import re
from inspect import isfunction
from pathlib import Path

import pytest

from taskflow import extend

ROOT = Path(__file__).parents[2]
AUTHORS = [
    *(ROOT / "tests" / "models" / f"{name}.py" for name in ("burgers", "amd", "partial_slip")),
    *sorted((ROOT / "docs" / "howto").glob("own_*.md")),
]


@pytest.mark.parametrize("name", extend.__all__)
def test_every_name_is_there_and_explained(name):
    value = getattr(extend, name)
    assert value is not None
    if isinstance(value, type) or isfunction(value):
        assert value.__doc__, f"{name} has no docstring"


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = extend.nothing


@pytest.mark.parametrize("path", AUTHORS, ids=lambda path: path.name)
def test_authors_import_from_two_names(path):
    """`taskflow` and `taskflow.extend`; what runs a program of one's own is no extension."""
    found = re.findall(r"^(?:from|import) (taskflow[\w.]*)", path.read_text(), re.MULTILINE)
    assert {*found} <= {"taskflow", "taskflow.extend"}
