"""What contributors are promised: workflows that run here, forms that GitHub accepts, guides that are complete."""

import re
import tomllib

import pytest
import yaml

from tests.test_project import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted(path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def loaded(path):
    return yaml.safe_load(path.read_text())


def targets():
    return set(re.findall(r"^([a-z-]+)(?: [a-z-]+)*:(?!=)", (ROOT / "Makefile").read_text(), re.MULTILINE))


def test_workflows_are_those_of_the_guide():
    assert [path.stem for path in WORKFLOWS] == ["docs", "lint", "release", "tests"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_job_is_one_make_target(path):
    """What a workflow does, a contributor can do with the same command."""
    workflow = loaded(path)
    tags = {"tags": ["v*"]} if path.stem == "release" else {}
    assert workflow[True] == {"push": {"branches": ["main"], **tags}, "pull_request": None}  # YAML reads `on` as true
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        (command,) = (step["run"] for step in job["steps"] if "run" in step)
        assert re.fullmatch(r"make [a-z-]+", command)
        assert command.split()[1] in targets()
        assert f"`{command}`" in (ROOT / "CONTRIBUTING.md").read_text()
        actions = [step["uses"] for step in job["steps"] if "uses" in step]
        assert all(re.fullmatch(r"actions/[\w-]+@v\d+", action) for action in actions)


def test_the_tests_run_on_all_versions_of_python_that_the_package_supports():
    classifiers = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"]))
    assert loaded(ROOT / ".github/workflows/tests.yml")["jobs"]["tests"]["strategy"]["matrix"]["python"] == classifiers


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_issue_form_obeys_the_rules_of_github(path):
    """https://docs.github.com/en/communities/using-templates-to-encourage-useful-issues-and-pull-requests"""
    form = loaded(path)
    assert set(form) <= {"name", "description", "title", "labels", "assignees", "projects", "type", "body"}
    assert len(form["name"]) > 3
    assert 1 <= len(form["description"]) <= 200
    assert any(item["type"] != "markdown" for item in form["body"])
    ids, labels = [], []
    for item in form["body"]:
        attributes = item["attributes"]
        if item["type"] == "markdown":
            assert set(item) == {"type", "attributes"}
            assert set(attributes) == {"value"}
            continue
        ids.append(item["id"])
        labels.append(attributes["label"])
        assert set(item) <= {"type", "id", "attributes", "validations"}
        assert set(item.get("validations", {})) <= {"required"}
        own = {
            "textarea": {"placeholder", "value", "render"},
            "input": {"placeholder", "value"},
            "dropdown": {"options", "multiple", "default"},
            "checkboxes": {"options"},
        }[item["type"]]
        assert set(attributes) <= {"label", "description"} | own
        options = attributes.get("options", [])
        texts = [option["label"] if isinstance(option, dict) else option for option in options]
        assert all(isinstance(text, str) and text.lower() != "none" for text in texts)
        assert bool(texts) == ("options" in own)
        assert len(set(texts)) == len(texts)
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[\w-]+", name) for name in ids)
    assert len(set(labels)) == len(labels)


def test_names_of_issue_forms_differ():
    names = [loaded(path)["name"] for path in FORMS]
    assert len(names) == len(set(names)) == 3


def test_hooks_are_tools_that_the_environment_has():
    required = "\n".join(PROJECT["project"]["optional-dependencies"]["dev"])
    (local,) = loaded(ROOT / ".pre-commit-config.yaml")["repos"]
    assert [hook["id"] for hook in local["hooks"]] == ["ruff", "mypy", "words"]
    for hook in local["hooks"]:
        command = hook["entry"].split()
        assert command[0].startswith(".venv/bin/")
        tool = command[0].removeprefix(".venv/bin/")
        assert tool in required or (ROOT / f"{command[2].replace('.', '/')}.py").is_file()


def test_the_changelog_is_one_page_of_lines():
    """Sections of Keep a Changelog, entries `- area: what users see`, one line each."""
    title, *versions = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    assert title.startswith("# Changelog\n")
    kinds = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
    for number, version in enumerate(versions):
        name, *sections = re.split(r"^### ", version, flags=re.MULTILINE)
        assert re.match(r"\d+\.\d+\.\d+ - \d{4}-\d\d-\d\d\n" if number else "Unreleased\n", name)
        found = [section.partition("\n")[0] for section in sections]
        assert found == [kind for kind in kinds if kind in found]
        for section in sections:
            entries = section.splitlines()[1:]
            assert [line for line in entries if line and not re.match(r"- [\w`][\w`, -]*: \S", line)] == []


def test_a_release_is_uploaded_by_a_tag_alone():
    jobs = loaded(ROOT / ".github/workflows/release.yml")["jobs"]
    assert [name for name, job in jobs.items() if "id-token" in job.get("permissions", {})] == ["publish"]
    assert jobs["publish"]["if"] == "startsWith(github.ref, 'refs/tags/v')"


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/contributing/english.md"])
def test_paths_in_guides_exist(page):
    paths = re.findall(r"`((?:taskflow|tests|docs)/[\w./-]+)`", (ROOT / page).read_text())
    assert [path for path in paths if not (ROOT / path).exists()] == []
    assert len(paths) > 2


def test_folders_of_tests_are_described():
    described = set(re.findall(r"^\| `(\w+)` \|", (ROOT / "tests" / "README.md").read_text(), re.MULTILINE))
    folders = {path.name for path in (ROOT / "tests").iterdir() if any(path.rglob("[!.]*.*")) and path.is_dir()}
    assert folders - {"__pycache__"} <= described
    markers = {marker.partition(":")[0] for marker in PROJECT["tool"]["pytest"]["ini_options"]["markers"]}
    text = (ROOT / "tests" / "README.md").read_text()
    assert all(f"| `{marker}` |" in text for marker in markers)


@pytest.mark.parametrize("pattern", PROJECT["tool"]["coverage"]["report"]["include"])
def test_a_measured_room_exists_and_is_listed(pattern):
    assert list(ROOT.glob(f"{pattern.removesuffix('/*')}/**/*.py"))
    assert f"## {pattern.removesuffix('/*')}\n" in (ROOT / "docs" / "notes" / "coverage.md").read_text()
