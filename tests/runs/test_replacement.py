"""What a run replaces is there until the new run has written its first state, whoever dies at any moment."""

import itertools
import shutil
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from taskflow.common.errors import BadInput, RunFailed
from taskflow.output import dataset, unguarded
from taskflow.runs.directory import replacement
from taskflow.runs.directory.replacement import STAGES, entries, follow, placed, settle
from taskflow.runs.run import run
from tests.runs.test_restart import stirred
from tests.speed import SOON

OLD = {"case.toml": "old", "fields.zarr/u/c/0": "values", "fields.zarr/zarr.json": "{", "mine.txt": "precious"}
NEW = {"case.toml": "new", "fields.zarr/u/c/1": "others", "fields.zarr/zarr.json": "["}
STATE = {"checkpoints/step-000000001/manifest.json": "a state"}


class Killed(BaseException):
    """Nothing is done any more."""


def write(path, files):
    for name, text in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)


def read(path):
    """What is there besides the lock."""
    files = {str(item.relative_to(path)): item.read_text() for item in path.rglob("*") if item.is_file()}
    return {name: text for name, text in files.items() if name != "lock"}


def replace(path, *, state):
    """A new run comes into the place of an old one, has a state or has none, and ends."""
    with placed(path, own=False) as draft:
        write(draft, NEW)
    if state:
        write(path, STATE)
    settle(path)


class Mortal:
    """Lets nothing on the disk be changed after so many changes."""

    def __init__(self, monkeypatch, left):
        self.left, self.died = left, False
        for owner, name in [(Path, "rename"), (Path, "mkdir"), (Path, "rmdir"), (shutil, "rmtree")]:
            monkeypatch.setattr(owner, name, self._mortal(getattr(owner, name)))

    def _mortal(self, usual):
        def call(*words, **options):
            self.left -= 1
            if self.left < 0:
                self.died = True
                raise Killed
            return usual(*words, **options)

        return call


@pytest.mark.fast("a run-a state", "nothing-no state")
@pytest.mark.parametrize("state", [False, True], ids=["no state", "a state"])
@pytest.mark.parametrize("before", [OLD, {}], ids=["a run", "nothing"])
def test_killed_at_any_moment(tmp_path, before, state):
    """And again at any moment of what the next one does to mend it."""
    ends: set[int] = set()
    for first in itertools.count():
        for second in itertools.count():
            path = tmp_path / f"{first}-{second}"
            path.mkdir()
            (path / "lock").write_text("ours")
            write(path, before)
            with pytest.MonkeyPatch.context() as patched:
                one = Mortal(patched, first)
                with suppress(Killed):
                    replace(path, state=state)
            with pytest.MonkeyPatch.context() as patched:
                other = Mortal(patched, second)
                with suppress(Killed):
                    settle(path)
            settle(path)
            result = read(path)
            allowed = [before] + [NEW] * (not before) + [NEW | STATE] * state
            assert result in allowed
            ends.add(allowed.index(result))
            assert not any((path / name).exists() for name in STAGES)
            if not other.died:
                break
        if not one.died:
            break
    assert first > 5
    assert len(ends) == 1 + (not before) + state


def test_what_was_there_can_be_found_meanwhile(tmp_path):
    write(tmp_path, OLD)
    with placed(tmp_path, own=False) as draft:
        write(draft, NEW)
        assert {path.name for path in entries(tmp_path)} == {"case.toml", "fields.zarr", "mine.txt"}
    assert read(tmp_path / ".taskflow-old") == OLD
    assert read(tmp_path) == NEW | {f".taskflow-old/{name}": text for name, text in OLD.items()}
    assert settle(tmp_path)
    assert read(tmp_path) == OLD


def test_it_goes_as_soon_as_there_is_a_state(tmp_path, monkeypatch):
    """While the run goes on."""
    monkeypatch.setattr(replacement, "LOOK", 0.02)
    write(tmp_path, OLD)
    with placed(tmp_path, own=False) as draft:
        write(draft, NEW)
    follow(tmp_path, unguarded)
    time.sleep(0.2)
    assert read(tmp_path / ".taskflow-old") == OLD
    write(tmp_path, STATE)
    until = time.monotonic() + SOON
    while (tmp_path / ".taskflow-old").exists() or (tmp_path / ".taskflow-gone").exists():
        assert time.monotonic() < until
        time.sleep(0.01)
    assert read(tmp_path) == NEW | STATE


def test_a_directory_that_was_taken_over_is_not_touched(tmp_path, monkeypatch):
    monkeypatch.setattr(replacement, "LOOK", 0.02)
    write(tmp_path, OLD)
    with placed(tmp_path, own=False) as draft:
        write(draft, NEW)

    def lost():
        raise RunFailed("another one has it")

    follow(tmp_path, lost)
    write(tmp_path, STATE)
    time.sleep(0.2)
    assert read(tmp_path / ".taskflow-old") == OLD


def test_an_earlier_attempt_of_the_same_run_is_not_kept(tmp_path):
    """But what was there before that."""
    for before in ({}, OLD):
        path = tmp_path / str(len(before))
        path.mkdir()
        write(path, before)
        for attempt in range(3):
            with placed(path, own=attempt > 0) as draft:
                write(draft, NEW)
            write(path, {"report.json": str(attempt)})
            assert (path / ".taskflow-old").exists() == bool(before)
        if before:
            assert read(path / ".taskflow-old") == OLD
        settle(path)
        assert read(path) == (before or NEW | {"report.json": "2"})


# -------------------------------------------------------------------------------------------------- real runs

def snapshots(path):
    with dataset(path / "fields.zarr") as result:
        return result.u.values.copy()


FAILS = {"pressure": {"solver": "jacobi", "tolerance": 1e-12, "max_iterations": 2}}


def test_a_run_that_fails_before_its_first_state_leaves_what_was_there(tmp_path):
    """The one that is replaced is as it was, and can be gone on with; where there was none, a report says why."""
    path = tmp_path / "run"
    run(stirred(), path)
    before, inode = tree(path), path.stat().st_ino
    back = "the run that replaced it wrote no state; the previous data are restored"
    with pytest.warns(UserWarning, match=back), pytest.raises(RunFailed, match="projection of the initial velocity"):
        run(stirred(**FAILS), path, force=True)
    assert tree(path) == before
    assert path.stat().st_ino == inode
    assert run(stirred(), path, resume=True).report["ended"] == "end"
    with pytest.raises(RunFailed, match="projection of the initial velocity"):
        run(stirred(**FAILS), tmp_path / "other")
    assert '"ended": "failed"' in (tmp_path / "other" / "report.json").read_text()


def test_one_that_is_refused_leaves_what_was_there(tmp_path):
    path = tmp_path / "run"
    run(stirred(), path)
    before = tree(path)
    for changes in ({"initial": {"velocity": ["1/x", 0, 0]}}, {"grid__cells": [4000, 4000, 4000]}):
        with pytest.raises(BadInput):
            run(stirred(**changes), path, force=True)
        assert tree(path) == before


def test_a_link_to_a_directory_stays_one(tmp_path):
    """And so does the directory itself, which may be a mounted one."""
    (tmp_path / "disk").mkdir()
    (tmp_path / "run").symlink_to(tmp_path / "disk")
    run(stirred(), tmp_path / "run", force=True)
    first = snapshots(tmp_path / "run")
    run(stirred(fluid__viscosity=0.02), tmp_path / "run", force=True)
    assert (tmp_path / "run").is_symlink()
    assert not np.array_equal(first, snapshots(tmp_path / "disk"))
    assert not any(path.name in ("lock", *STAGES) for path in (tmp_path / "disk").iterdir())


def tree(path):
    return {str(item): item.read_bytes() for item in path.rglob("*") if item.is_file()}
