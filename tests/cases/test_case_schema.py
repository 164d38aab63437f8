"""The schema of case files: what is a case passes, what editors can see to be wrong does not."""

import re
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from taskflow.cases import Case
from taskflow.cases.schema import schema
from tests.cases.on_charts import CYLINDER, LID, TURNED, changed

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
VALIDATOR = Draft202012Validator(schema())
GOOD = (ROOT / "examples" / "lid_driven_cavity.toml").read_text()


def problems(text):
    return [error.message for error in VALIDATOR.iter_errors(tomllib.loads(text))]


def test_it_is_a_schema():
    Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.toml")), ids=lambda path: path.stem)
def test_examples_pass(path):
    assert problems(path.read_text()) == []


def test_tables_in_the_docs_pass():
    """Whatever is missing there, what is given is right."""
    result = 0
    for page in PAGES:
        for block in re.findall(r"^```toml\n(.*?)^```", page.read_text(), re.S | re.M):
            wrong = [problem for problem in problems(block) if "is a required property" not in problem]
            assert wrong == [], page
            result += 1
    assert result > 10


def test_a_case_as_it_is_written_passes():
    """With every default."""
    assert problems(Case(**tomllib.loads(GOOD)).to_toml()) == []


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ("[fluid]", "[fluids]"),
        ("viscosity = ", "viscosityy = "),
        ('solver = "jacobi"', 'solver = "jacoby"'),
        ('y = "periodic"', "y = 3"),
        ('x_min = "wall"', 'x_min = "wal"'),
        ('x_min = "wall"', 'x_min = { type = "wall", speed = 1.0 }'),
        ("end = ", "end = true #"),
        ("every = ", "every = { hours = 1 } #"),
        ("viscosity = ", "viscosity = -1.0 #"),
        ("cells ", "cells = [16, 0, 16] #"),
    ],
)
def test_what_is_wrong_is_seen(line, instead):
    text = re.sub(rf"^{re.escape(line)}", instead, GOOD, count=1, flags=re.M)
    assert text != GOOD
    assert problems(text)


@pytest.mark.parametrize(("fluid", "passes"), [
    ({}, True), ({"scheme": "koren"}, True), ({"scheme": "weno5"}, True), ({"scheme": "quick"}, True),
    ({"scheme": "upwind"}, False), ({"viscosity": 1.0, "scheme": "koren"}, False), ({"density": 1.0}, False),
])  # fmt: skip
def test_the_fluid_of_two_phases_has_a_scheme_alone(fluid, passes):
    text = (ROOT / "examples" / "rising_bubble.toml").read_text()
    result = [error.message for error in VALIDATOR.iter_errors({**tomllib.loads(text), "fluid": fluid})]
    assert (result == []) == passes
    if passes:
        assert problems(Case(**{**tomllib.loads(text), "fluid": fluid}).to_toml()) == []


@pytest.mark.parametrize("tables", [CYLINDER, LID, TURNED])
def test_cases_on_charts_pass(tables):
    assert not list(VALIDATOR.iter_errors(tables))
    assert problems(Case(**tables).to_toml()) == []


@pytest.mark.parametrize("change", [
    {"grid__foo": 3}, {"grid__cells": [0, 1, 1]}, {"grid__shape": "c-grid"}, {"boundaries__body": "wal"},
    {"boundaries__body": {"type": "wall", "speed": 1}}, {"method__march": "lu-sgs"}, {"method__flux": "up"},
    {"time__steps": 0}, {"machine__blocks": 0}, {"machine__cuts": 3},
])  # fmt: skip
def test_what_is_wrong_on_charts_is_seen(change):
    assert list(VALIDATOR.iter_errors(changed(CYLINDER, **change)))


def test_every_key_says_what_it_means_without_links():
    tables = [table for item in schema()["$defs"].values() for table in (item, *item.get("anyOf", ()))]
    keys = [(key, about) for table in tables for key, about in table.get("properties", {}).items()]
    keys += schema()["properties"].items()
    for key, about in keys:
        if key not in ("steps", "time", "minutes"):  # of an interval
            assert about["description"], key
            assert "](" not in about["description"], key
    assert len(keys) > 100


def test_every_key_is_in_it():
    result = schema()

    def tables(node):
        """What may stand here: tables, or those in a list."""
        if "$ref" in node:
            return tables(result["$defs"][node["$ref"].rpartition("/")[2]])
        inner = [*node.get("anyOf", ()), *([node["items"]] if "items" in node else ())]
        return [node] if "properties" in node else [table for item in inner for table in tables(item)]

    for path in Case.paths():
        here = [result]
        for key in path:
            here = [table["properties"][key] for node in here for table in tables(node) if key in table["properties"]]
        assert here, path
