"""Archives of a tag are a release if the changelog and the citation have its version; others are a dry run."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]
release = SimpleNamespace(**runpy.run_path(str(ROOT / "deploy" / "release.py")))
NAMES = "taskflow_cfd-{}-py3-none-any.whl", "taskflow_cfd-{}.tar.gz"


@pytest.fixture
def dist(tmp_path):
    def make(*versions, names=NAMES):
        (tmp_path / "dist").mkdir()
        for name, version in zip(names, versions, strict=False):
            (tmp_path / "dist" / name.format(version)).touch()
        (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n\n## 0.1.0 - 2026-12-01\n")
        (tmp_path / "CITATION.cff").write_text("version: 0.1.0\n")
        return str(tmp_path / "dist")

    return make


def test_a_release(dist, tmp_path, capsys):
    assert release.main(dist("0.1.0", "0.1.0"), tmp_path) == 0
    assert capsys.readouterr().out == "0.1.0 may be released\n"


@pytest.mark.parametrize("version", ["0.1.dev2609+gd66b281d9", "0.1.1.dev3"])
def test_a_commit_without_a_tag_is_a_dry_run(dist, tmp_path, capsys, version):
    assert release.main(dist(version, version), tmp_path) == 0
    assert "dry run" in capsys.readouterr().out


def test_a_release_that_lacks_entries(dist, tmp_path, capsys):
    assert release.main(dist("0.2.0", "0.2.0"), tmp_path) == 2
    changelog, citation = capsys.readouterr().err.splitlines()
    assert changelog.startswith("CHANGELOG.md has no section '## 0.2.0 - ")
    assert citation == "CITATION.cff has the version 0.1.0: write version: 0.2.0"


@pytest.mark.parametrize("versions", [(), ("0.1.0",), ("0.1.0", "0.1.1")])
def test_other_archives(dist, tmp_path, capsys, versions):
    assert release.main(dist(*versions), tmp_path) == 2
    assert "build one wheel and its source archive" in capsys.readouterr().err
