"""The English of docstrings, pages and changelog: counts of the phrases that the style sheet replaces may only fall."""

import json
import shutil
import subprocess

import pytest

from tests import words
from tests.words import BOUNDS, GROUPS, ROOT, SHEET, counts, lower, occurrences, phrases, risen


def test_no_phrase_became_more_frequent():
    """If one did, rewrite the places that the message names."""
    problems = risen()
    assert not problems, f"phrases that {SHEET} replaces have become more:\n" + "\n".join(problems)


@pytest.fixture
def project(tmp_path):
    """A small project under git, whose bounds are its counts."""
    for name, text in {
        "taskflow/room.py": '"""Cells beside a wall; `beside` is code."""\nWORD = "beside"\n',
        "docs/reference/keys.md": "# Keys\n\nAll is told.\n\n```sh\ntold\n```\n",
        "docs/notes/old.md": "Told; told; told.\n",
        "README.md": "Gone on with.\n",
        "CHANGELOG.md": "- a: b;\n- c: nobody\n  knows  of it\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / SHEET).parent.mkdir(parents=True)
    shutil.copy(ROOT / SHEET, tmp_path / SHEET)
    (tmp_path / "tests").mkdir()
    lower(tmp_path)
    commit(tmp_path, "first")
    return tmp_path


def commit(folder, subject):
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    subprocess.run(["git", "add", "."], cwd=folder, check=True)
    subprocess.run([*git, "commit", "-q", "--no-verify", "-m", subject], cwd=folder, check=True)


def test_prose_is_counted_and_code_is_not(project):
    found = counts(occurrences(project))
    assert {phrase: tuple(n[g] for g in GROUPS) for phrase, n in found.items() if any(n.values())} == {
        ";": (1, 0, 0, 1),
        "beside": (1, 0, 0, 0),
        "told/tell/tells/telling": (0, 1, 0, 0),
        "go/goes/gone/going/went on": (0, 0, 1, 0),
        "nobody/somebody/anybody/everybody": (0, 0, 0, 1),
        "know/knows of": (0, 0, 0, 1),
    }


def test_a_rise_names_phrase_new_line_and_remedy(project):
    assert risen(project) == []
    module = project / "taskflow" / "room.py"
    module.write_text(module.read_text() + '\n\ndef far():\n    """One.\n\n    Two beside three.\n    """\n')
    (problem,) = risen(project)
    assert problem == f'"beside" in docstrings: 1 -> 2. Write: {phrases()["beside"]}. taskflow/room.py:8'
    commit(project, "second")  # still named, though committed
    assert risen(project) == [problem]
    (project / "taskflow" / "new.py").write_text('"""Beside."""\n')  # not yet known to git
    assert risen(project) == [problem.replace("-> 2", "-> 3").replace(" taskflow", " taskflow/new.py:1, taskflow")]


def test_without_history_all_places_are_named(project):
    (project / "README.md").write_text("Gone on with; it goes on.\n")
    shutil.rmtree(project / ".git")
    assert [problem.rpartition(". ")[2] for problem in risen(project)] == ["README.md:1", "README.md:1, README.md:1"]


def test_bounds_are_lowered_and_never_raised(project, monkeypatch, capsys):
    (project / "README.md").write_text("Resumed; started.\n")
    lower(project)
    bounds = json.loads((project / BOUNDS).read_text())
    assert bounds["go/goes/gone/going/went on"]["pages"] == 0
    assert bounds[";"]["pages"] == 0
    monkeypatch.setattr(words, "risen", lambda: risen(project))
    monkeypatch.setattr("sys.argv", ["words", "--check"])
    assert words.main() == 1
    assert '";" in pages: ' in capsys.readouterr().out


def test_the_style_sheet_has_each_phrase_once():
    table = (ROOT / SHEET).read_text()
    assert len(phrases()) == table.count("\n| `") > 40
    assert phrases().keys() == json.loads((ROOT / BOUNDS).read_text()).keys()
