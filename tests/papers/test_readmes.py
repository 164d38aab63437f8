"""Each folder of a paper says what of it is reproduced, and by which command."""

import os
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from typer.main import get_command

from examples.papers.items import Item, items, updated
from taskflow.cli.app import app as app_of_taskflow
from taskflow.runtime.host import look
from tests.performance import kernels, runtime

ROOT = Path(__file__).resolve().parents[2]
PAPERS = sorted(path.parent for path in ROOT.glob("examples/papers/*/README.md"))
SHOWN = {  # figures and tables of each paper
    "jacobsen_thibault_senocak_2010": (10, 1), "jacobsen_senocak_2013": (11, 0), "zaspel_griebel_2011": (11, 1),
    "luo_2014": (9, 1), "xue_roy_2020": (13, 4),
}  # fmt: skip


def commands(folder):
    """The commands of a paper, by name."""
    if not (folder / "__main__.py").exists():
        return {}
    return get_command(import_module(f"examples.papers.{folder.name}.__main__").app).commands


def described(page, name, command):
    """All options of a command are in its section of a page."""
    section = re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", page, re.M | re.S)[1]
    for option in (word for parameter in command.params for word in parameter.opts if word.startswith("--")):
        assert f"`{option}" in section, option


def test_every_paper_has_a_readme_and_is_named_on_the_page():
    folders = {path.name for path in ROOT.glob("examples/papers/[a-z]*/") if any(path.glob("*.py"))}
    assert folders <= set(SHOWN) == {folder.name for folder in PAPERS}
    page = (ROOT / "docs" / "performance.md").read_text()
    assert all(f"`{name}`" in page for name in SHOWN)


@pytest.mark.parametrize("folder", PAPERS, ids=lambda folder: folder.name)
def test_each_figure_and_table_has_a_row(folder):
    names = [re.fullmatch(r"(fig|table)(\d+)\w?", name) for name in items(folder)]
    for kind, count in zip(("fig", "table"), SHOWN[folder.name], strict=True):
        assert sorted({int(name[2]) for name in names if name and name[1] == kind}) == list(range(1, count + 1))


@pytest.mark.parametrize("folder", PAPERS, ids=lambda folder: folder.name)
def test_tables_are_what_their_results_give(folder):
    page = (folder / "README.md").read_text(encoding="utf-8")
    assert updated(page, folder) == page, "write them by python -m examples.papers.items"


def test_numbers_are_of_a_row_of_the_whole_file_or_relative_to_the_paper(monkeypatch):
    result = {"few": {"cells": 0.5}, "results": [{"name": "a", "seconds": 2e-3}, {"name": "b", "seconds": 4e-3}]}
    monkeypatch.setattr("examples.papers.items._result", lambda _: result)
    row = {"file": "x", "row": {"name": "b"}, "key": "seconds"}
    values = {
        "row": {**row, "times": 1e3}, "whole": {"file": "x", "whole": True, "key": "few.cells"},
        "less": {**row, "paper": 0.4},
    }  # fmt: skip
    assert Item("fig1", "", here="{row:.0f}, {whole}, {less:.0f}", values=values).ours() == "4, 0.5, 100"
    with pytest.raises(LookupError, match=r"x.json: 2 rows with \{\}; name one row"):
        Item("fig1", "", here="{n}", values={"n": {"file": "x", "key": "seconds"}}).ours()


@pytest.mark.parametrize("folder", PAPERS, ids=lambda folder: folder.name)
def test_each_item_has_a_source_or_says_that_it_is_not_reproduced(folder):
    for item in items(folder).values():
        assert (item.here and item.sources()) or item.missing, item.name
        assert bool(item.command) == bool(item.small), item.name
        assert item.read in ("text", "figure"), item.name
        assert not item.picture or (ROOT / item.picture).exists(), item.name


@pytest.mark.parametrize("folder", PAPERS, ids=lambda folder: folder.name)
def test_commands_of_items_exist(folder):
    for item in items(folder).values():
        for words in (shlex.split(item.command), shlex.split(item.small)):
            if words:
                called(words)


def called(words):
    """Parse a command without running it. Raises UsageError if an option is unknown."""
    if words[0] == "python":
        app = get_command(import_module(f"{words[2]}.__main__").app)
        app.commands[words[3]].make_context(words[3], words[4:])
    else:
        command, name, *rest = get_command(app_of_taskflow), *words[1:]
        while hasattr(command, "commands"):
            command, (name, *rest) = command.commands[name], rest or [""]
        command.make_context(name, [name, *rest] if name else rest)


def test_items_are_listed_and_what_cannot_be_run_is_refused():
    folder = next(path for path in PAPERS if path.name == "luo_2014")
    done = script(folder, "--list")
    assert done.returncode == 0, done.stderr
    assert all(f"  {name} " in done.stdout for name in items(folder))
    refused = {"fig99": "is not an item of luo_2014; choose one of fig1, fig2", "fig2": "has no command"}
    for name, words in refused.items():
        done = script(folder, name)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"{name}: {words}" in " ".join(done.stderr.split())


@pytest.mark.skipif(bool(look("this machine").gpus), reason="this machine has GPUs")
def test_items_for_more_gpus_than_there_are_are_refused():
    folder = next(path for path in PAPERS if path.name == "xue_roy_2020")
    done = script(folder, "table3")
    assert done.returncode == 2
    assert "table3: needs 2 GPUs, and this machine has 0; use --small" in " ".join(done.stderr.split())


def script(folder, *words):
    return subprocess.run(
        [sys.executable, folder / "run.py", *words], capture_output=True, text=True, check=False, env=os.environ
    )


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("folder", PAPERS, ids=lambda folder: folder.name)
def test_all_items_run_small(folder):
    done = script(folder, "all", "--small")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("folder", PAPERS, ids=lambda folder: folder.name)
def test_commands_and_their_options_exist(folder):
    page = (folder / "README.md").read_text()
    known = commands(folder)
    for name, command in known.items():
        described(page, name, command)
    for paper, name in re.findall(r"python -m examples\.papers\.(\w+) ([a-z][\w-]*)", page):
        assert name in commands(folder.parent / paper)


def test_the_options_of_timings_for_developers():
    page = (ROOT / "tests" / "performance" / "README.md").read_text()
    for name, module in (("kernels", kernels), ("runtime", runtime)):
        described(page, name, get_command(module.app))
