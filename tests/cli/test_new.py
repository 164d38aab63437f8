"""`taskflow new`: a case that is valid, and nothing replaced."""

import pytest

from taskflow import Case
from taskflow.cli.examples import names


@pytest.mark.parametrize("example", names())
def test_every_example_is_a_commented_case(give, tmp_path, example):
    path = tmp_path / "my.toml"
    result = give("new", path, "--example", example)
    assert result.exit_code == 0
    assert f"taskflow run {path}" in result.stdout
    assert path.read_text().startswith("#")
    Case.load(path)


def test_the_default_is_the_lid_driven_cavity(give, here):
    assert give("new", "a.toml").exit_code == 0
    assert Case.load("a.toml").title.startswith("Lid-driven cavity")


def test_refusals(give, refused, here):
    text = (here / "cavity.toml").read_text()
    for words, told in [
        (["cavity.toml"], "cavity.toml exists"),
        (["nowhere/a.toml"], "nowhere/a.toml: cannot be written"),
        (["a.toml", "--example", "b"],
         "choose one of cylinder, developing_channel, heated_cavity, lid_driven_cavity, plume, taylor_green"),
    ]:
        result = give("new", *words)
        refused(result.exit_code, result.stderr, told)
    assert (here / "cavity.toml").read_text() == text
    assert [path.name for path in here.iterdir()] == ["cavity.toml"]
