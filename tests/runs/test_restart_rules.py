"""When a run may resume: rules on its case, its directory and what an earlier version wrote."""

import tomllib

import pytest

from taskflow import Case
from taskflow.cases import PressureTable
from taskflow.cases.language.table import Table
from taskflow.common.errors import BadInput
from taskflow.output import CASE, read_log
from taskflow.runs.state.closed_faces import ON_SURFACES, OVER_SIDES, other_faces
from taskflow.runs.state.remedies import how_to_resume, unlocking
from taskflow.runs.state.restart import changes, check_labels, newest_restart, starts_over
from tests.cases import on_charts, two_phases
from tests.runs.going_on import go

TABLES = {
    "grid": {"cells": [8, 4, 8], "lengths": [1.0, 0.5, 1.0]},
    "fluid": {"viscosity": 0.01},
    "boundaries": {"y": "periodic", "x": "periodic", "z_min": "wall", "z_max": "wall"},
    "time": {"end": 1.0, "cfl": 0.5},
    "checkpoint": {"every": 0.1},
}


def with_values(**values):
    return Case(**TABLES).replace(**values)


@pytest.fixture
def directory(tmp_path):
    """The directory of a run that began and has no checkpoint."""
    (tmp_path / CASE).write_text(Case(**TABLES).to_toml())
    return tmp_path


def test_a_run_that_was_killed_before_its_first_checkpoint_starts_over(directory):
    case = Case(**TABLES)
    for report in ({}, {"ended": "running"}, {"ended": "failed"}):
        assert starts_over(directory, case, report)
    for ended in ("end", "steady", "stopped"):
        assert not starts_over(directory, case, {"ended": ended})
    assert starts_over(directory, with_values(**{"time.end": 2.0}), {})
    with pytest.raises(BadInput, match=r"fluid.viscosity = 0.02; it was 0.01 when this run began"):
        starts_over(directory, with_values(**{"fluid.viscosity": 0.02}), {})


def test_a_run_without_checkpoints_or_without_a_case_does_not_start_over(directory):
    """It was not to write any: what it has computed is not thrown away."""
    case = Case(**{name: table for name, table in TABLES.items() if name != "checkpoint"})
    (directory / CASE).write_text(case.to_toml())
    assert not starts_over(directory, case, {})
    for text in ("checkpoint = 3\n", "[checkpoint\n"):
        (directory / CASE).write_text(text)
        assert not starts_over(directory, case, {})
    (directory / CASE).unlink()
    assert not starts_over(directory, case, {})


def test_a_directory_without_checkpoints_says_what_to_do(directory):
    with pytest.raises(BadInput, match=r"it has no checkpoint to restart from; begin again \(--force, or force=True\)"):
        newest_restart(directory, Case(**TABLES))


@pytest.mark.parametrize(("key", "value", "same"), [
    ("time.end", 3.0, True), ("time.steps", 7, True), ("machine.blocks", [1, 1, 2], True),
    ("time.cfl", 0.25, False), ("time.step", 0.001, False),
])  # fmt: skip
def test_a_sweep_does_not_find_runs_under_other_labels(directory, key, value, same):
    """A longer end and another machine continue a run of a sweep. Other steps are another run."""
    case = with_values(**{key: value}, **({"time.cfl": None} if key == "time.step" else {}))
    if same:
        check_labels(directory, case, [key])
    else:
        with pytest.raises(BadInput, match=f"{key} = {value}; it was .* when this run began"):
            check_labels(directory, case, [key])
    check_labels(directory / "elsewhere", case, [key])  # nothing is there


def test_changes_name_each_key_with_both_values():
    new = {**TABLES, "fluid": {"viscosity": 0.02}, "body": {"force": [1.0, 0.0, 0.0]}}
    told = [line.partition(" when this run began")[0] for line in changes(TABLES, new)]
    force = "body = { force = [1.0, 0.0, 0.0] }; it was not given"
    assert told == ["fluid.viscosity = 0.02; it was 0.01", force]
    (missing,) = changes(new, {**new, "body": {}})
    assert missing.startswith("body: it is missing; it was { force = [1.0, 0.0, 0.0] } when this run began")
    assert list(changes(new, new)) == []
    assert list(changes(new, {**new, "time": {**new["time"], "end": 9.0}, "title": "longer"})) == []


BODY = {"type": "box", "low": [0.4, 0.0, 0.4], "high": [0.6, 0.5, 0.6]}


@pytest.mark.parametrize(("closing", "treatment", "body", "reason"), [
    (0, "immersed", BODY, "immersed bodies closed other faces"),
    (ON_SURFACES, "immersed", BODY, ""),
    (0, "flagged", BODY, ""),
    (OVER_SIDES - 1, "flagged", {**BODY, "low": [0.9, 0.0, 0.4], "high": [1.1, 0.5, 0.6]}, "ended at periodic sides"),
    (OVER_SIDES, "flagged", {**BODY, "low": [0.9, 0.0, 0.4], "high": [1.1, 0.5, 0.6]}, ""),
])  # fmt: skip
def test_checkpoints_with_other_closed_faces_are_refused(closing, treatment, body, reason):
    case = Case(**TABLES, obstacles=[body], bodies={"treatment": treatment})
    told = other_faces({"case": case.to_toml(), "closing": closing})
    assert told.endswith(reason) if reason else told == ""


def test_commands_can_be_pasted_whatever_the_folder_is_called(tmp_path):
    folder = tmp_path / "it's mine"
    quoted = f"'{tmp_path}/it'\"'\"'s mine'"
    assert f"-o {quoted} --resume" in how_to_resume(folder)
    assert unlocking(folder) == f"taskflow unlock {quoted}"


@pytest.mark.parametrize("case", [on_charts.case(), two_phases.case()], ids=["charts", "phases"])
@pytest.mark.fast("charts")
def test_a_run_of_a_build_that_wrote_all_keys_goes_on(case, monkeypatch, tmp_path):
    """Earlier builds wrote keys that the system does not read, with their defaults, into checkpoints."""
    path, case = tmp_path / "run", case.replace(checkpoint={"every": {"steps": 2}})
    monkeypatch.setattr(Case, "written", Table.written)
    go(case, path, stop=4)
    old = (path / CASE).read_text(encoding="utf-8")
    monkeypatch.undo()
    assert len(tomllib.loads(old)["body"]) > len(tomllib.loads(case.to_toml())["body"])
    assert newest_restart(path, case)[0].kept
    go(case, path, resume=True)
    assert read_log(path / "log.jsonl")[-1]["step"] == case.time.steps


@pytest.mark.parametrize("solver", ["auto", "multigrid"])
@pytest.mark.fast("multigrid")
def test_a_run_goes_on_with_its_own_precision_of_levels(solver, monkeypatch, tmp_path):
    """Earlier builds had them in double precision, and said nothing about it."""
    body = {"type": "box", "low": [0.3, -1.0, 0.3], "high": [0.7, 1.0, 0.7]}
    case = Case(**TABLES, pressure={"solver": solver, "tolerance": 1e-3}, obstacles=[body])
    case = case.replace(checkpoint={"every": {"steps": 1}}, time={"steps": 4})
    assert case.pressure.level_precision(case.machine) == "single"
    for levels in ("single", "double"):
        path = tmp_path / levels
        with monkeypatch.context() as patched:
            patched.setattr(PressureTable, "level_precision", lambda *_, levels=levels: levels)
            go(case, path, stop=2)
        point = newest_restart(path, case)[0]
        assert point.resumed(case).pressure.level_precision(case.machine) == point.checkpoint.state["levels"] == levels
        assert point.resumed(case).to_toml() == case.to_toml()
        go(case, path, resume=True)
        assert newest_restart(path, case)[0].checkpoint.state["levels"] == levels
        del point.checkpoint.state["levels"]
        assert point.resumed(case).pressure.level_precision(case.machine) == "double"
