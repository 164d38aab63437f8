"""What a checkpoint counts on: forced to the disk before, compared by whoever goes on, gone around where damaged."""

from __future__ import annotations

import json
import os
import random
import shutil
import time
from copy import deepcopy
from functools import cache
from pathlib import Path

import pytest
import zarr

from taskflow.cases import Case
from taskflow.common.errors import BadInput
from taskflow.output import Checkpoint, Checkpoints, RunComparison
from taskflow.output.checkpoint.checkpoint import MANIFEST, manifest, sealed
from taskflow.output.disk.damage import Damaged
from taskflow.runs.state.restart import newest_restart, usable
from taskflow.runs.state.written_state import check_state
from tests.runs.going_on import assert_same_run, go, steps

RECORDED = {
    "probes": [{"name": "wake", "points": [[0.2, 0.3, 0.4], [0.5, 0.3, 0.6]], "every": {"steps": 1}}],
    "planes": [{"name": "mid", "y": 0.3, "every": {"steps": 2}}],
    "statistics": {"every": {"steps": 1}, "write": {"steps": 4}},
}


def recorded(**changes) -> Case:
    """Nine steps in a box with a moving lid and a body, of which everything is recorded."""
    tables = {
        "grid": {"cells": [8, 5, 9], "lengths": [1.0, 0.7, 1.3]},
        "fluid": {"viscosity": 0.01},
        "boundaries": {
            "x_min": "wall", "x_max": {"type": "wall", "velocity": [0.0, 0.5, 0.2]}, "y": "periodic", "z_min": "wall",
            "z_max": "slip",
        },
        "initial": {"velocity": ["sin(6*x) * cos(z)", "0.3 * cos(5*y)", "x * z"]},
        "obstacles": [{"type": "sphere", "centre": [0.5, 0.35, 0.6], "radius": 0.2}],
        "time": {"steps": 9},
        "pressure": {"iterations": 7},
        "output": {"every": {"steps": 3}},
        "monitor": {"every": {"steps": 2}},
        "checkpoint": {"every": {"steps": 4}, "keep": 9},
        "machine": {"device": "cpu", "threads": 1},
        **RECORDED,
    }  # fmt: skip
    return Case(**{**tables, **changes})


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The directory of a case that was run without a break: checkpoints of steps 4, 8 and 9."""

    @cache
    def run(blocks: tuple[int, int, int] = (1, 1, 1)) -> Path:
        path = tmp_path_factory.mktemp("whole") / "run"
        go(recorded(), path, blocks)
        return path

    return run


@pytest.fixture
def broken(tmp_path, whole):
    """A copy of it."""
    return Path(shutil.copytree(whole(), tmp_path / "broken"))


def stored(path: Path) -> dict[str, bytes]:
    """All files of a store."""
    store = path / "fields.zarr"
    files = [file for file in sorted(store.rglob("*")) if file.is_file() and file != store / "zarr.json"]  # has a date
    return {str(file.relative_to(store)): file.read_bytes() for file in files}


def flip(path: Path, where: float = 0.5) -> None:
    data = bytearray(path.read_bytes())
    data[int(where * (len(data) - 1))] ^= 0x10
    path.write_bytes(data)


DAMAGES = {
    "begin": lambda path: flip(path, 0.0), "middle": flip, "end": lambda path: flip(path, 1.0),
    "short": lambda path: path.write_bytes(path.read_bytes()[:-1]), "empty": lambda path: path.write_bytes(b""),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"\0"),
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "gone": Path.unlink, "other": lambda path: path.write_text('{"a": 1}'),
}  # fmt: skip


@pytest.mark.fast("middle-*")
@pytest.mark.parametrize(("file", "step"), [
    ("u/c/3/0/0/0", 8),
    *(pytest.param(file, 4, marks=pytest.mark.slow)
      for file in ("p/c/2/0/0/0", "mid/w/c/4/0/0/0", "statistics/mean_u/c/1/0/0/0")),
])  # fmt: skip
@pytest.mark.parametrize("damage", ["middle", "gone"])
def test_the_run_goes_back_to_before_the_damage(file, step, damage, broken, whole):
    """And leaves the store of one that nothing has disturbed."""
    DAMAGES[damage](broken / "fields.zarr" / file)
    result, skipped = usable(broken, recorded(), contents=True)
    assert (result.step, len(skipped)) == (step, [9, 8, 4].index(step))
    assert all(f"{broken / 'fields.zarr' / file}: " in reason for reason in skipped)
    go(recorded(), broken, resume=True)
    assert_same_run(broken, whole())
    assert stored(broken) == stored(whole())
    assert steps(broken) == [9, 8, 4]


@pytest.mark.fast("end", "middle", "gone", "zeros", "longer")
@pytest.mark.parametrize("damage", DAMAGES)
def test_every_kind_of_damage_is_seen(damage, broken):
    file = broken / "fields.zarr" / "v" / "c" / "3" / "0" / "0" / "0"
    DAMAGES[damage](file)
    result, skipped = usable(broken, recorded(), contents=True)
    assert (result.step, [f"{file}: " in reason for reason in skipped]) == (8, [True])


@pytest.mark.slow
def test_without_contents_only_sizes_and_indices_are_looked_at(broken, monkeypatch, tmp_path):
    """As by a run that goes on by itself."""
    monkeypatch.setattr("taskflow.output.store.layout.CHUNK_BYTES", 200)
    go(recorded(), tmp_path / "run")
    file = tmp_path / "run" / "fields.zarr" / "v" / "c" / "3" / "0" / "0" / "0"
    flip(file, 0.1)
    assert usable(tmp_path / "run", recorded(), contents=False)[0].step == 9
    assert usable(tmp_path / "run", recorded(), contents=True)[0].step == 8
    flip(file, 1.0)
    assert usable(tmp_path / "run", recorded(), contents=False)[0].step == 8


@pytest.mark.slow
def test_a_log_that_is_damaged(broken, whole):
    """Its last lines are computed again; a number that has changed is noticed, though any is a line."""
    path = broken / "log.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    assert len(lines) == 6  # of steps 0, 2, 4, 6, 8 and 9
    lines[3] = lines[3].replace('"step": 6', '"step": 7')
    path.write_text("".join(lines))
    result, skipped = usable(broken, recorded(), contents=True)
    assert (result.step, [f"{path}: " in reason for reason in skipped]) == (4, [True, True])
    go(recorded(), broken, resume=True)
    assert_same_run(broken, whole())


@pytest.mark.slow
@pytest.mark.parametrize("file", [
    "u/c/0/0/0/0", "time/c/0", "x_f/c/0", "solid/c/0/0/0", "grid/c", "wake/u/c/0/0", "wake/x/c/0", "u/zarr.json",
    "zarr.json", "wake/zarr.json", "wake/time/zarr.json", "../log.jsonl",
])  # fmt: skip
def test_what_all_checkpoints_count_on(file, broken):
    """It is named, and nothing is touched."""
    path = broken / "fields.zarr" / file
    sound, named = path.read_bytes(), f"{broken / 'log.jsonl' if 'log' in file else path}: "
    damages = [DAMAGES[name] for name in ("gone", "empty", "other", "zeros")]
    for damage in (lambda path: flip(path, 0.0), *damages):
        damage(path)
        before = stored(broken)
        with pytest.raises(BadInput, match="no whole checkpoint to restart from; restore the damaged files") as told:
            go(recorded(), broken, resume=True)
        assert str(told.value).count(named) == 3, told.value
        assert stored(broken) == before
        path.write_bytes(sound)


def test_attributes_are_compared_and_the_copy_of_metadata_is_made_again(broken, whole):
    """A name of the copy that the group has of all metadata; and one of an array itself."""
    path = broken / "fields.zarr" / "zarr.json"
    about = path.read_bytes()
    path.write_bytes(about.replace(b'"units"', b'"unitz"'))
    go(recorded(), broken, resume=True)
    assert path.read_bytes() == about
    path = broken / "fields.zarr" / "u" / "zarr.json"
    path.write_bytes(path.read_bytes().replace(b'"units"', b'"unitz"'))
    with pytest.raises(BadInput, match="its entry of u differs from"):
        go(recorded(), broken, resume=True)


def test_groups_that_begin_anew_may_be_damaged(broken):
    shutil.rmtree(broken / "fields.zarr" / "wake")
    probes = [{**RECORDED["probes"][0], "points": [[0.5, 0.5, 0.5]]}]
    assert usable(broken, recorded(probes=probes), contents=True)[0].step == 9


@pytest.mark.slow
def test_on_other_blocks_nothing_seems_damaged(whole, tmp_path):
    """Shards are others then, and checkpoints of before are still good."""
    go(recorded(), tmp_path / "run", kill=6)
    go(recorded(), tmp_path / "run", (2, 1, 3), resume=True, kill=7)
    assert steps(tmp_path / "run") == [4]
    assert usable(tmp_path / "run", recorded(), contents=True)[0].step == 4
    go(recorded(), tmp_path / "run", resume=True)
    assert_same_run(tmp_path / "run", whole(), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("hosts", [(), (0, 0)])
def test_what_a_checkpoint_counts_is_on_the_disk_before(tmp_path, monkeypatch, hosts):
    """Every file of the store, but those of later records, was forced there since it was written; so were folders."""
    synced, usual, commit, seen = {}, os.fsync, Checkpoints.commit, []

    def fsync(file):
        synced[str(Path(f"/proc/self/fd/{file}").readlink())] = time.time_ns()
        usual(file)

    def look(checkpoints, step, keep):
        root = checkpoints.path.parent
        state = json.loads(next(checkpoints.path.glob(".step-*/block-00000.json")).read_bytes())["state"]
        for path in (root / "fields.zarr").rglob("*"):
            inside = path.relative_to(root / "fields.zarr").parts
            group = inside[0] if inside[0] in state["records"] else ""
            tail = inside[inside.index("c") + 1 :] if "c" in inside else ()
            if path.is_file() and not (len(tail) == 4 and int(tail[0]) >= state["records"][group]):
                shared = group == "wake" and len(tail) == 2  # the writer may have replaced it for later records
                assert synced.get(str(path), 0) >= (1 if shared else path.stat().st_mtime_ns), path
                assert {str(folder) for folder in path.parents if folder.is_relative_to(root)} <= synced.keys(), path
        assert {str(root), str(root / "log.jsonl")} <= synced.keys()
        seen.append(step)
        commit(checkpoints, step, keep)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Checkpoints, "commit", look)
    go(recorded(), tmp_path.resolve() / "run", (1, 1, 2), hosts=hosts)
    assert seen == [4, 8, 9]


@pytest.mark.slow
def test_no_draft_stays(whole, tmp_path):
    """Of our own and of Zarr, left by who was killed."""
    go(recorded(), tmp_path / "run", kill=6)
    for name in ("u/c/1/0/0/0", "time/c/0", "zarr", "../report.json"):
        (tmp_path / "run" / "fields.zarr" / f"{name}.00ff.partial").write_bytes(b"half")
    go(recorded(), tmp_path / "run", resume=True)
    assert not list((tmp_path / "run").rglob("*.partial"))
    assert stored(tmp_path / "run") == stored(whole())


def test_a_run_leaves_no_draft_and_all_files_have_checksums(whole):
    assert not list(whole().rglob("*.partial"))
    group = zarr.open_group(str(whole() / "fields.zarr"), mode="r", use_consolidated=False)
    arrays = [node for _, node in group.members(max_depth=None) if isinstance(node, zarr.Array)]
    assert len(arrays) > 40
    assert {array.compressors[-1].to_dict()["name"] for array in arrays} == {"crc32c"}


# -------------------------------------------------------------------------------------------------- manifests

def crafted(path: Path, change) -> Path:
    """A checkpoint whose manifest says something else, with a checksum that is right."""
    body = json.loads((path / MANIFEST).read_bytes())["body"]
    change(body)
    (path / MANIFEST).write_bytes(sealed(body))
    return path


def piece(body) -> dict:
    return body["files"][0]["pieces"][0]


MANIFESTS = [
    *(lambda body, dtype=dtype: piece(body).update(dtype=dtype)
      for dtype in ("|O", "O", "<i8", "|V8", ">f8", "<f8,<f8", "<M8[ns]", None, ["<f8"], {}, "f" * 10**6)),
    *(lambda body, name=name: body["files"][0].update(name=name)
      for name in ("../../log.jsonl", "/etc/passwd", "block-00000.bin\n", "block-00000.bin/..", "a.json", 0)),
    *(lambda body, offset=offset: piece(body).update(offset=offset) for offset in (-8, 8, 2**80, 0.0, "0", True)),
    *(lambda body, lo=lo: piece(body).update(lo=lo)
      for lo in ([0, 0], [0, 0, 0, 0], [0, 0, -3], [0, 0, 2**80], None, [0, 0, "0"])),
    lambda body: piece(body).update(role=7),
    lambda body: body["files"][0].update(bytes=10**30),
    lambda body: body["files"].append(body["files"][0]),
    lambda body: body.update(files=[]),
    lambda body: body.update(files=[[]]),
    lambda body: body.update(step=8),
    lambda body: body.update(step="9"),
    lambda body: body.update(state=[]),
    lambda body: body.update(format=3),
    lambda body: body.update(format=[4]),
    lambda body: body.pop("files"),
]  # fmt: skip


def test_a_crafted_manifest_is_damaged(whole, tmp_path):
    for number, change in enumerate(MANIFESTS):
        folder = tmp_path / f"{number}" / "step-000000009"
        path = crafted(shutil.copytree(whole() / "checkpoints" / folder.name, folder), change)
        with pytest.raises(Damaged, match=str(path)) as told:
            Checkpoint.load(path)
        assert len(str(told.value)) < 500


STATES = [
    {"time": "x"}, {"time": -1.0}, {"dt": None}, {"scalars": []}, {"scalars": {"rate": "1"}}, {"records": {"": -1}},
    {"records": {"": 2**70}}, {"records": {}}, {"store": {}}, {"lines": "3"}, {"lines": -1}, {"log": None},
    {"averages": {"statistics": {}}}, {"rounds": {"a": []}}, {"ended": "later"}, {"blocks": [1, 1]}, {"case": 7},
    {"case": ""}, {"case": "[grid"}, {"case": "probes = 3"}, {"case": "time = 3"}, {"case": "[[probes]]\nx = 1"},
    {"case": "a = " + "[" * 5000}, {"case": "[[output]]"}, {"seconds": True},
]  # fmt: skip


def test_a_crafted_state_is_damaged(broken):
    path = broken / "checkpoints" / "step-000000009"
    sound = (path / MANIFEST).read_bytes()
    for change in STATES:
        (path / MANIFEST).write_bytes(sound)
        crafted(path, lambda body, change=change: body["state"].update(change))
        with pytest.raises(Damaged, match=str(path)) as told:
            check_state(Checkpoint.load(path))
        assert len(str(told.value)) < 600
    assert usable(broken, recorded(), contents=True)[0].step == 8


def test_a_state_without_its_scalars(broken):
    for path in (broken / "checkpoints").iterdir():
        crafted(path, lambda body: body["state"].update(scalars={}))
    with pytest.raises(BadInput, match="no scalar 'rate'"):
        go(recorded(), broken, resume=True)


def test_a_manifest_that_is_no_file_or_has_no_end(broken):
    path = broken / "checkpoints" / "step-000000009" / MANIFEST
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(Damaged, match="not a regular file"):
        manifest(path.parent)
    path.unlink()
    with path.open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(Damaged, match="longer than any"):
        manifest(path.parent)
    path.write_bytes(b'{"crc32c": "0", "body": ' + b"[" * 10**5)
    with pytest.raises(Damaged, match="not as it was written"):
        manifest(path.parent)


JUNK = [
    None, True, -1, 0, 7, 2**63, 10**40, 1e308, -0.5, "", "|O", "../../x", "\x1b[2J", "x" * 10**4, [], [[]], {},
    [0, 0, 0], {"a": 1}, [{"name": 1}],
]  # fmt: skip


def mutated(tree, chance: random.Random) -> None:
    """Replace, remove, add or exchange something anywhere in it."""
    while True:
        keys = [*tree] if isinstance(tree, dict) else [*range(len(tree))]
        key = chance.choice(keys)
        if isinstance(tree[key], dict | list) and tree[key] and chance.random() < 0.8:
            tree = tree[key]
            continue
        action = chance.randrange(4)
        if action == 0:
            tree.pop(key)
        elif action == 1 and isinstance(tree, dict):
            tree[chance.choice(["", "step", "\ud800", "x" * 300])] = deepcopy(tree[key])
        elif action == 2:
            tree[key] = deepcopy(tree[chance.choice(keys)])
        else:
            tree[key] = deepcopy(chance.choice(JUNK))  # what is in two places could come to be in itself
        return


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 20))])
def test_any_manifest_is_a_checkpoint_or_damaged(seed, broken):
    """Whatever is in it, nothing else is raised; what is accepted can be read."""
    chance, path, case = random.Random(seed), broken / "checkpoints" / "step-000000009", recorded()
    body = json.loads((path / MANIFEST).read_bytes())["body"]
    for other in (4, 8):
        shutil.rmtree(broken / "checkpoints" / f"step-{other:09}")
    for _ in range(50):
        copy = json.loads(json.dumps(body))
        for _ in range(chance.choice([1, 1, 2, 5])):
            mutated(copy, chance)
        (path / MANIFEST).write_bytes(sealed(copy))
        result, skipped = usable(broken, case, contents=False)
        assert (result is None) == bool(skipped)
        assert result is None or result.boxes("u")


def test_another_case_is_refused_before_the_store_is_read(broken, monkeypatch):
    monkeypatch.setattr(RunComparison, "check", lambda *_: pytest.fail("the store was read"))
    with pytest.raises(BadInput, match=r"fluid\.viscosity = .* stays so"):
        newest_restart(broken, recorded(fluid={"viscosity": 0.5}))
