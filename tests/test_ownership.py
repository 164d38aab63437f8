"""Paths that other users could exchange are found, at every place and behind every link."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from taskflow.common import ownership
from taskflow.common.errors import BadInput
from taskflow.common.ownership import first_own, make_private, scratch, weakness

OTHER = 65534  # a user who is not this one


@pytest.fixture
def folder(tmp_path):
    """A path of several folders, all of this user."""
    made = tmp_path / "one" / "two" / "three"
    make_private(made)
    assert weakness(made) is None
    return made


@pytest.mark.parametrize("mode", [0o775, 0o757, 0o777, 0o720])
def test_a_folder_on_the_way_that_others_may_write(folder, mode):
    folder.parents[1].chmod(mode)
    assert f"others may write into {folder.parents[1]} (mode {mode:04o})" in weakness(folder)
    folder.parents[1].chmod(mode | 0o1000)  # what is in there they cannot exchange then
    assert weakness(folder) is None


def test_a_folder_is_not_safe_itself_because_it_is_sticky(folder):
    folder.chmod(0o1777)
    assert "others may write" in weakness(folder)
    assert weakness(folder, shared=True) is None


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_folder_of_another_user(folder, place, monkeypatch):
    foreign, lstat = (folder, *folder.parents)[place], Path.lstat

    def seen(path):
        values = list(lstat(path))
        values[4] = OTHER if path == foreign else values[4]
        return os.stat_result(values)

    monkeypatch.setattr(Path, "lstat", seen)
    assert f"{foreign} belongs to another user (user {OTHER}" in weakness(folder)


def test_the_folder_in_which_a_link_lies_and_what_it_leads_to(folder, tmp_path):
    (tmp_path / "open").mkdir()
    (tmp_path / "open" / "link").symlink_to(folder)
    (tmp_path / "link").symlink_to(tmp_path / "open" / "link")
    assert weakness(tmp_path / "link" / ".." / "three") is None
    (tmp_path / "open").chmod(0o777)
    assert "open (mode 0777)" in weakness(tmp_path / "link")
    (tmp_path / "open").chmod(0o755)
    folder.chmod(0o775)
    assert "three (mode 0775)" in weakness(tmp_path / "link")
    (tmp_path / "round").symlink_to(tmp_path / "round")
    assert "too many" in weakness(tmp_path / "round")


def test_folders_are_made_for_this_user_alone_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        make_private(tmp_path / "a" / "b")
    finally:
        os.umask(before)
    assert [path.stat().st_mode & 0o777 for path in (tmp_path / "a", tmp_path / "a" / "b")] == [0o700] * 2


def test_a_scratch_folder_is_below_the_first_safe_folder(tmp_path, monkeypatch):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    with scratch() as own:
        assert own.parent == tmp_path / "temporary"
        assert own.stat().st_mode & 0o777 == 0o700
    assert not own.exists()
    (tmp_path / "temporary").chmod(0o777)
    with scratch() as own:
        assert own.parent in (Path("/tmp"), Path("/var/tmp"))
    with pytest.raises(BadInput, match=r"no folder is safe .*temporary \(mode 0777\); .*No such file.*set TMPDIR"):
        first_own([tmp_path / "temporary", tmp_path / "none"])


def test_scripts_have_the_same_words(tmp_path):
    def ask(*words):
        code = "import sys; from taskflow.common.ownership import main; sys.exit(main(*sys.argv[1:]))"
        command = [sys.executable, "-P", "-c", code, *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    made = Path(ask("scratch").stdout.strip())
    assert made.stat().st_mode & 0o777 == 0o700
    made.rmdir()
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o775)
    assert ask("first", tmp_path / "open", tmp_path).stdout.strip() == str(tmp_path)
    assert ask("check", tmp_path).returncode == 0
    refused = ask("check", tmp_path / "open")
    assert (refused.returncode, "mode 0775" in refused.stderr) == (1, True)
    assert ask("check", tmp_path / "none").stderr.strip() == f"{tmp_path / 'none'}: No such file or directory"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_what_is_called_safe_cannot_be_exchanged_by_another_user(folder, tmp_path):
    """The user `OTHER` tries to rename each part of a path; modes decide, and `weakness` knows them."""
    reach = Path(tempfile.mkdtemp(dir="/tmp"))  # pytest's own folders nobody else can enter
    try:
        reach.chmod(0o755)
        for mode, safe in ((0o755, True), (0o1777, True), (0o777, False)):
            target = reach / "parent" / "target"
            target.mkdir(parents=True)
            target.parent.chmod(mode)
            assert (weakness(target) is None) == safe
            code = f"import os; os.setgid({OTHER}); os.setuid({OTHER}); os.rename('{target}', '{target}.gone')"
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
            assert (done.returncode != 0) == safe
            shutil.rmtree(reach / "parent")
    finally:
        shutil.rmtree(reach)


def test_tasks_are_known():
    assert ownership.main("dance") == "unknown task dance"
