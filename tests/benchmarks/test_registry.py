"""The registry of `taskflow bench`: systems of this package, and packages that are not ours."""

import importlib.metadata
from importlib.metadata import EntryPoint

import typer
from typer.main import get_group

from taskflow.bench import app

GROUP = "taskflow.bench"

foreign = typer.Typer(help="Measure Burgers' equation.")


@foreign.command()
def step(cells: int = 8) -> None:
    """Time a step."""
    typer.echo(f"{cells} cells")


@foreign.command()
def kernels() -> None:
    """Time the kernels."""


def registered(monkeypatch, *points):
    """The group where packages have these entry points."""
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: points if group == GROUP else ())
    return get_group(app.bench)


def test_a_package_that_is_not_ours_has_a_group_of_its_own(monkeypatch):
    group = registered(monkeypatch, EntryPoint("burgers", f"{__name__}:foreign", GROUP))
    assert list(group.commands)[-1] == "burgers"
    assert list(group.commands["burgers"].commands) == ["step", "kernels"]
    assert list(group.commands["kernels"].params) != []  # ours


def test_a_package_that_cannot_be_loaded_is_named_and_left_out(monkeypatch, capsys):
    group = registered(monkeypatch, EntryPoint("burgers", "no_such_package:app", GROUP))
    assert "burgers" not in group.commands
    assert "kernels" in group.commands
    words = "Warning: the benchmarks burgers of no_such_package:app cannot be loaded (ModuleNotFoundError"
    assert capsys.readouterr().err.startswith(words)


def test_every_system_registers_its_commands(monkeypatch):
    group = registered(monkeypatch)
    projection, machine = ["kernels", "step", "cavity"], ["runtime", "channels", "sweep", "scaling"]
    charts = ["residual", "ssspnt", "triangular", "outer", "simplefoam"]
    assert list(group.commands) == [*machine, *projection, "two-phase", *charts, "report"]
