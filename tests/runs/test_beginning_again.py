"""`--resume` where a run was killed before its first checkpoint: it starts over, as one that loses a worker does."""

import json
import shutil

import pytest

from taskflow.common.errors import BadInput
from taskflow.runs.run import run
from tests.runs.going_on import assert_same_run, go
from tests.runs.test_restart import stirred

AGAIN = "run: the run ended before its first checkpoint; it starts over"
SOON = {"output__every": {"steps": 1}}  # so that there is something that one would miss


def said(path, ended):
    (path / "report.json").write_text(json.dumps({"ended": ended, "leader": {"host": "a", "process": 1}}))


def contents(path):
    return {str(item): item.read_bytes() for item in path.rglob("*") if item.is_file()}


@pytest.mark.parametrize("ended", [
    "running", *(pytest.param(ended, marks=pytest.mark.slow) for ended in ("failed", None)),
])  # fmt: skip
def test_with_checkpoints_that_were_to_come(tmp_path, ended):
    case, path = stirred(**SOON), tmp_path / "run"
    go(case, path, kill=3)
    assert not list(path.glob("checkpoints/step-*"))
    if ended:
        said(path, ended)
    with pytest.warns(UserWarning, match=AGAIN):
        result = run(case, path, resume=True)
    assert "resumed" not in result.report
    go(case, tmp_path / "whole")
    assert_same_run(path, tmp_path / "whole")
    assert not [item.name for item in path.iterdir() if item.name.startswith((".", "lock"))]


def test_a_draft_of_a_checkpoint_is_none(tmp_path):
    case, path = stirred(**SOON), tmp_path / "run"
    go(case, path, kill=3)
    (path / "checkpoints" / ".step-000000004.1234").mkdir(parents=True)
    with pytest.warns(UserWarning, match=AGAIN):
        assert run(case, path, resume=True).report["ended"] == "end"


def test_with_nothing_that_one_would_miss(tmp_path):
    """No word is lost about it."""
    case = stirred(checkpoint={})
    go(case, tmp_path / "run", kill=2)
    assert run(case, tmp_path / "run", resume=True).report["ended"] == "end"


REFUSED = {
    "nobody wanted any": ({"checkpoint": {}}, {}, "running"),
    "none was to be kept": ({"checkpoint": {"keep": 0}}, {}, "running"),
    "wanted now, but not then": ({"checkpoint": {}}, {"checkpoint": {"every": {"steps": 4}}}, "running"),
    "it had ended": ({}, {}, "end"),
    "it was stopped": ({}, {}, "stopped"),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_one_would_miss_stays(tmp_path, why):
    """With the remedy, and nothing touched."""
    (before, now, ended), path = REFUSED[why], tmp_path / "run"
    go(stirred(**SOON, **before), path, kill=3)
    said(path, ended)
    present = contents(path)
    with pytest.raises(BadInput, match=r"it has no checkpoint to restart from; begin again .--force"):
        run(stirred(**SOON, **(before | now)), path, resume=True)
    assert contents(path) == present


def test_another_case_is_refused(tmp_path):
    path = tmp_path / "run"
    go(stirred(**SOON), path, kill=3)
    present = contents(path)
    with pytest.raises(BadInput, match=r"fluid.viscosity = 0.5; it was 0.01 when this run began"):
        run(stirred(**SOON, fluid__viscosity=0.5), path, resume=True)
    assert contents(path) == present


def test_a_damaged_checkpoint_is_not_none(tmp_path):
    path = tmp_path / "run"
    go(stirred(**SOON), path, kill=5)
    shutil.rmtree(path / "checkpoints" / "step-000000004")
    (path / "checkpoints" / "step-000000004").mkdir()
    with pytest.raises(BadInput, match="it has no whole checkpoint to restart from"):
        run(stirred(**SOON), path, resume=True)
