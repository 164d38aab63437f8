"""The promises of the project itself: a light import, one version, commands that exist, links that lead somewhere."""

import ast
import importlib
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import grimp
import pytest
from typer.main import get_command

import taskflow
from taskflow import Case
from taskflow.cli.app import app
from taskflow.runtime.tasks import Task

ROOT = Path(__file__).resolve().parents[1]
STANDARD = sys.stdlib_module_names
PARENTS = "taskflow", "taskflow.runtime", "tests"  # what is imported from them is a module
HEAVY = [
    "cupy", "dask", "distributed", "matplotlib", "numpy", "pydantic", "rich", "scipy", "typer", "ucxx", "xarray",
    "zarr",
]  # fmt: skip


def pages() -> list[Path]:
    places = ("*.md", "deploy/*.md", "tests/**/*.md", "docs/**/*.md", "examples/papers/**/*.md")
    return sorted(path for place in places for path in ROOT.glob(place) if path.name != "CODE_OF_CONDUCT.md")


def test_import_is_light():
    """`import taskflow` takes under a second of processor time and loads none of the libraries behind it."""
    script = f"""
import sys, time
import taskflow
print(time.process_time(), *(name for name in {HEAVY} if name in sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    seconds, *loaded = done.stdout.split()
    assert float(seconds) < 1.0
    assert not loaded


@pytest.mark.parametrize("name", taskflow.__all__)
def test_export_exists(name):
    assert name in dir(taskflow)
    assert getattr(taskflow, name) is not None


@pytest.mark.parametrize("module", ["taskflow", "taskflow.output"])
def test_no_names_of_the_inside_are_shown(module):
    room = importlib.import_module(module)
    assert dir(room) == sorted(room.__all__)


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Cases'"):
        taskflow.Cases  # noqa: B018


def test_exports_are_the_same_objects_as_in_their_rooms():
    for name, home in taskflow._HOME.items():
        assert getattr(taskflow, name) is getattr(importlib.import_module(home), name)


def test_modules_and_folders_form_no_circles():
    """Imports for types alone count, too. A folder is what lies in it, but for its `__init__`, its door: nothing
    inside goes through that. The package itself has its top and its bottom in one folder, as modules.
    """
    imports = grimp.build_graph("taskflow", cache_dir=None)
    above = {module: imports.find_modules_directly_imported_by(module) for module in imports.modules}
    TopologicalSorter(above).prepare()  # raises CycleError
    folders: dict[str, set[str]] = {}
    for module, known in above.items():
        folders.setdefault(_folder(module), set()).update(map(_folder, known))
    TopologicalSorter({folder: known - {folder} for folder, known in folders.items()}).prepare()


def _folder(module: str) -> str:
    path = ROOT / module.replace(".", "/")
    return f"{module}.__init__" if path.is_dir() else module.rpartition(".")[0] if module.count(".") > 1 else module


def test_the_package_imports_nothing_that_is_around_it():
    """It is installed without tests, documentation and the studies of papers."""
    around = {path.name for path in ROOT.iterdir() if path.is_dir()} - {"taskflow"}
    assert around >= {"tests", "examples", "docs"}
    paths = (ROOT / "taskflow").rglob("*.py")
    assert {path: used for path in paths if (used := {name.split(".")[0] for name in imported(path)} & around)} == {}


def test_oracles_know_numpy_and_regions_alone():
    """Kernels are held to them: whatever both shared would be checked against itself."""
    allowed = re.compile(r"(numpy|tests\.reference|taskflow\.runtime\.regions)(\.|$)")
    paths = sorted((ROOT / "tests" / "reference").rglob("*.py"))
    names = {path.name: [name for name in imported(path) if name.split(".")[0] not in STANDARD] for path in paths}
    assert len(names) > 10
    assert {path: name for path, known in names.items() for name in known if not allowed.match(name)} == {}


def imported(path: Path) -> Iterator[str]:
    """The modules that a file imports, inside of functions and for types alone, too."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: a relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from names if node.module in PARENTS else [node.module]


def test_citation_names_the_last_release():
    """Before the first one, the version that is prepared."""
    (cited,) = re.findall(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.M)
    released = re.findall(r"^## (\d\S*) - ", (ROOT / "CHANGELOG.md").read_text(), re.M)
    prepared = taskflow.__version__.split(".dev")[0]
    assert cited in (released[:1] or [prepared, f"{prepared}.0"])


def test_the_first_case_of_the_readme_is_an_example():
    """`make demo` runs it."""
    (block,) = blocks(ROOT / "README.md", "toml")
    assert tomllib.loads(block) == tomllib.loads((ROOT / "examples" / "cavity.toml").read_text())


def test_commands_of_the_readme_exist():
    """Every make target and every example file that README and docs tell a reader to use is there."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    for page in pages():
        for block in blocks(page, "sh"):
            assert set(re.findall(r"^(?:\$ )?make ([a-z-]+)", block, re.M)) <= targets, page
            for example in re.findall(r"\bexamples/[\w./-]+\.(?:toml|py)", block):
                assert (ROOT / example).is_file(), f"{page.name} names {example}"


def test_ci_runs_the_test_command_of_the_readme():
    assert "make test" in (ROOT / ".ci" / "run").read_text()
    assert "make test" in (ROOT / "README.md").read_text()


def test_links_between_pages_lead_somewhere():
    """Notes are not part of the site, so its pages name them without a link."""
    notes = ROOT / "docs" / "notes"
    for page in pages():
        on_site = page.is_relative_to(notes.parent) and not page.is_relative_to(notes)
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text()):
            found = (page.parent / target).resolve()
            leads = found.exists() and not (on_site and found.is_relative_to(notes))
            assert leads, f"{page.relative_to(ROOT)} links to {target}"


def test_cases_in_the_docs_are_cases():
    """Every TOML block is a case, or tables of one."""
    for page in pages():
        for block in blocks(page, "toml"):
            tables = tomllib.loads(block)
            if "grid" in tables:
                Case(**tables)
            else:
                assert set(tables) <= set(Case.model_fields), page


def test_python_in_the_docs_compiles():
    for page in pages():
        for block in blocks(page, "python"):
            compile(block, str(page), "exec")


def test_case_reference_has_every_key():
    page = (ROOT / "docs" / "reference" / "case.md").read_text()
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", page, re.M | re.S))
    for table, *key in Case.paths():
        if table in sections and key:
            assert f"`{key[-1]}`" in sections[table], f"docs/reference/case.md: {table}.{key[-1]}"
    assert {path[0] for path in Case.paths() if len(path) > 1} <= set(sections)


def test_case_reference_is_that_of_the_models():
    """`python docs/case_reference.py` writes it."""
    made = runpy.run_path(str(ROOT / "docs" / "case_reference.py"))
    for place, home in made["PAGES"].items():
        page = place.read_text()
        assert made["updated"](page, home) == page


def test_capabilities_page_is_what_systems_declare():
    """`python docs/capabilities.py` writes it."""
    made = runpy.run_path(str(ROOT / "docs" / "capabilities.py"))
    assert made["updated"]() == made["PAGE"].read_text()
    assert made["features"]() == made["INDEX"].read_text()


def test_command_reference_has_every_command_and_option():
    page = (ROOT / "docs" / "reference" / "command.md").read_text()
    sections = dict(re.findall(r"^## ([\w -]+)\n(.*?)(?=^## |\Z)", page, re.M | re.S))
    for name, command in commands(get_command(app)):
        for option in (word for parameter in command.params for word in parameter.opts if word.startswith("--")):
            assert option in sections[name], f"docs/reference/command.md: {name} {option}"


def test_commands_in_the_docs_exist():
    known = {name.split()[0] for name, _ in commands(get_command(app))}
    for page in pages():
        for block in blocks(page, "sh"):
            assert set(re.findall(r"^ *taskflow (\w+)", block, re.M)) <= known, page


def commands(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """The commands of taskflow with their full names."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


def blocks(page: Path, language: str) -> list[str]:
    """The code blocks of a page in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.S | re.M)


@cache
def documented() -> list[tuple[str, str, str]]:
    """The modules, classes and functions of the package: where each is, the name if it is a class, its docstring."""
    items = []
    for path in sorted((ROOT / "taskflow").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                name = node.name if isinstance(node, ast.ClassDef) else ""
                place = f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}"
                items.append((place, name, ast.get_docstring(node) or ""))
    return items


def test_another_package_of_this_name_in_the_same_folder_is_told(tmp_path):
    """OpenStack's TaskFlow, installed after this package or before."""
    shutil.copytree(ROOT / "taskflow", tmp_path / "taskflow", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "taskflow" / "engines").mkdir()
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    for ours in (True, False):
        if not ours:
            (tmp_path / "taskflow" / "__init__.py").write_text("")
        words = ["-c", "import taskflow"] if ours else ["-m", "taskflow", "info"]
        done = subprocess.run(
            [sys.executable, *words], capture_output=True, text=True, cwd=tmp_path, env=environment
        )
        assert done.returncode == 1
        assert "pip uninstall taskflow; pip install --force-reinstall --no-deps taskflow-cfd" in done.stderr


def test_no_task_has_more_than_twelve_parameters():
    """Several fields that are one argument count as one."""
    modules = (path for path in (ROOT / "taskflow").rglob("*.py") if "runtime.tasks" in path.read_text())
    names = (".".join(path.relative_to(ROOT).with_suffix("").parts) for path in modules)
    tasks = {item for name in names for item in vars(importlib.import_module(name)).values() if isinstance(item, Task)}
    assert len(tasks) > 100
    trains = {f"{item.name}: {n}" for item in tasks if (n := len(item.parameters) + len(item.keywords)) > 12}
    assert not trains


def test_rooms_say_what_they_know():
    package = ROOT / "taskflow"
    rooms = [path for top in (package, package / "flow", package / "runtime") for path in top.glob("*/__init__.py")]
    texts = {path.parent.name: ast.get_docstring(ast.parse(path.read_text())) or "" for path in rooms}
    silent = {room for room, text in texts.items() if not re.search(r"\bknows?\b", text, re.I)}
    assert silent <= {"kernels", "reference"}, silent


def test_docstrings_begin_with_words_of_their_own():
    """Sentences or terms: no fragment that begins with "What" or "Of"."""
    for place, _, text in documented():
        assert not re.match(r"(What|Of)\b", text), f"{place}: {text.splitlines()[0]}"


def prose(page: Path) -> Iterator[str]:
    """The lines of a page, but for what a command makes, tables, pictures, comments, code, targets of links and
    mathematics.
    """
    text = re.sub(r"<!-- (?:table|sources) .*?<!-- end -->", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    inside = False
    for line in text.splitlines():
        fences = line.count("```") + line.count("$$")
        inside ^= fences % 2 == 1
        if not (inside or fences or line.lstrip().startswith(("|", "![", "<!--"))):
            yield re.sub(r"`[^`]*`|\$[^$]+\$|\]\([^)]*\)", "", line)  # which do not break


@pytest.mark.parametrize("page", [str(page.relative_to(ROOT)) for page in pages()])
def test_lines_of_prose_have_at_most_120_characters(page):
    assert [line for line in prose(ROOT / page) if len(line) > 120] == []


def test_time_limits_of_tests_are_guards_against_hangs():
    """A busy machine takes ten times as long: no limit of wall-clock time is below the one of all tests."""
    limit = re.compile(r"mark\.timeout\((\d+)\)|(?:subprocess\.run|communicate)\([^()]*timeout=(\d+)")
    for path in (ROOT / "tests").rglob("*.py"):
        for match in limit.finditer(path.read_text()):
            assert int(match[1] or match[2]) > 600, f"{path}: {match[0]}: leave it to `timeout` in pyproject.toml"


def test_public_class_names_are_unique():
    """A name says which class is meant, in a traceback as in a page."""
    places: dict[str, list[str]] = {}
    for place, name, _ in documented():
        if name and not name.startswith("_"):
            places.setdefault(name, []).append(place)
    assert {name: where for name, where in places.items() if len(where) > 1} == {}
