"""Each folder of a paper says what of it is reproduced, and by which command."""

import re
from importlib import import_module
from pathlib import Path

import pytest
from typer.main import get_command

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
    rows = re.findall(r"^\| (Figure|Table) (\d+)\w? \|.*\|$", (folder / "README.md").read_text(), re.M)
    for kind, count in zip(("Figure", "Table"), SHOWN[folder.name], strict=True):
        assert sorted({int(number) for of, number in rows if of == kind}) == list(range(1, count + 1))


@pytest.mark.parametrize("folder", PAPERS, ids=lambda folder: folder.name)
def test_each_row_has_a_source_or_says_that_it_is_not_reproduced(folder):
    page = (folder / "README.md").read_text()
    for row in re.findall(r"^\| (?:Figure|Table|Section|Conclusions).*\|$", page, re.M):
        result = row.rpartition(" | ")[2]
        assert "](../../../docs/" in result or "not reproduced: " in result, row


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
