"""`taskflow new`: a case that is valid, and nothing replaced."""

import json
from pathlib import Path

import pytest

from taskflow import Case
from taskflow.cli.files import names


@pytest.mark.parametrize("example", names())
def test_every_example_is_a_commented_case(give, tmp_path, example):
    path = tmp_path / "my.toml"
    result = give("new", path, "--example", example)
    assert result.exit_code == 0
    assert f"taskflow run {path}" in result.stdout
    assert path.read_text().startswith("#")
    case = Case.load(path)
    assert all(Path(body.file).is_file() for body in case.obstacles if body.file)


def test_the_default_is_the_lid_driven_cavity(give, here):
    assert give("new", "a.toml").exit_code == 0
    assert Case.load("a.toml").title.startswith("Lid-driven cavity")


def test_a_file_is_named_by_an_argument_or_an_option(give, refused, here):
    assert give("new", "-e", "hill", "-o", "b.toml").exit_code == 0
    assert give("new", "-e", "hill").exit_code == 0
    assert (here / "hill.toml").read_bytes() == (here / "b.toml").read_bytes()
    result = give("new", "c.toml", "-o", "d.toml")
    refused(result.exit_code, result.stderr, "c.toml -o d.toml: give the file to write once")


def test_data_comes_along(give, refused, here):
    """It may be there already, but no other file of its name is replaced."""
    for name in ("a.toml", "b.toml"):
        assert give("new", name, "--example", "hill").exit_code == 0
    heights = (here / "hill.npy").read_bytes()
    (here / "hill.npy").write_bytes(heights[:-1])
    result = give("new", "c.toml", "--example", "hill")
    refused(result.exit_code, result.stderr, "hill.npy exists; move it away")
    assert not (here / "c.toml").exists()
    assert (here / "hill.npy").read_bytes() == heights[:-1]


def test_refusals(give, refused, here):
    text = (here / "cavity.toml").read_text()
    for words, told in [
        (["cavity.toml"], "cavity.toml exists"),
        (["nowhere/a.toml"], "nowhere/a.toml: cannot be written"),
        (["a.toml", "--example", "b"], "choose one of backward_step, backward_step_inlet, bearing, bubble_torus, "),
    ]:
        result = give("new", *words)
        refused(result.exit_code, result.stderr, told)
    assert (here / "cavity.toml").read_text() == text
    assert [path.name for path in here.iterdir()] == ["cavity.toml"]


def test_schema_for_editors(give, refused, tmp_path):
    shown = give("schema")
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert json.loads(shown.stdout)["properties"]["grid"]
    file = tmp_path / "taskflow.schema.json"
    assert give("schema", "-o", file).exit_code == 0
    assert json.loads(file.read_text()) == json.loads(shown.stdout)
    result = give("schema", "-o", tmp_path / "none" / "file.json")
    refused(result.exit_code, result.stderr, "cannot be written")
