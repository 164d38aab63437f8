"""The registry of `taskflow bench`: systems of this package, and packages that are not ours."""

import importlib.metadata
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import typer
from typer.main import get_group

from taskflow.bench import app

GROUP = "taskflow.benchmarks"
ROOT = Path(__file__).resolve().parents[2]

foreign = typer.Typer(help="Measure Burgers' equation.")


@foreign.command()
def step(cells: int = 8) -> None:
    """Time a step."""
    typer.echo(f"{cells} cells")


@foreign.command()
def sweep() -> None:
    """Time the sweeps."""


def registered(monkeypatch, *points):
    """The group where packages have these entry points."""
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: points if group == GROUP else ())
    return get_group(app.bench)


def test_a_package_that_is_not_ours_has_a_group_of_its_own(monkeypatch):
    group = registered(monkeypatch, EntryPoint("burgers", f"{__name__}:foreign", GROUP))
    assert list(group.commands)[-1] == "burgers"
    assert list(group.commands["burgers"].commands) == ["step", "sweep"]
    assert list(group.commands["sweep"].params) != []  # ours


def test_a_package_that_cannot_be_loaded_is_named_and_left_out(monkeypatch, capsys):
    group = registered(monkeypatch, EntryPoint("burgers", "no_such_package:app", GROUP))
    assert "burgers" not in group.commands
    assert "sweep" in group.commands
    words = "Warning: the benchmarks burgers of no_such_package:app cannot be loaded (ModuleNotFoundError"
    assert capsys.readouterr().err.startswith(words)


def test_every_system_registers_its_commands(monkeypatch):
    group = registered(monkeypatch)
    assert list(group.commands) == ["channels", "sweep", "scaling", "step"]


@pytest.mark.fast("0-report", "1-cavity", "2-outer")
@pytest.mark.parametrize("name", app.MOVED)
@pytest.mark.parametrize("words", [(), ("--help",), ("--cells", 8)], ids=len)
def test_a_command_that_has_moved_is_named_with_its_place(give, refused, name, words):
    """The place exists, and has that command."""
    result = give("bench", name, *words)
    refused(result.exit_code, result.stderr, f"bench {name}: ", f"`python -m {app.MOVED[name]} ...`")
    assert len(result.stderr.splitlines()) == 1
    module, *command = app.MOVED[name].split()
    done = subprocess.run([sys.executable, "-m", module, *command, "--help"], capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split()[:4] == ["Usage:", "python", "-m", module]


def test_another_package_may_take_a_name_that_was_ours(give, monkeypatch):
    group = registered(monkeypatch, EntryPoint("kernels", f"{__name__}:foreign", GROUP))
    assert list(group.resolve_command(None, ["kernels"])[1].commands) == ["step", "sweep"]
