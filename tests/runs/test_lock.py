"""The lock of a run directory: one run at a time has it, whoever dies, stands still or comes from elsewhere."""

import fcntl
import json
import os
import pickle
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import asdict, replace

import pytest

from taskflow.common.errors import BadInput, RunFailed
from taskflow.runs.directory import lock as module
from taskflow.runs.directory.lock import Lock, Owner, locked, unlock
from taskflow.runs.run import run
from tests.locks import ALIVE, ANOTHER, ELSEWHERE, GONE, owner, write_lock
from tests.runs.test_restart import stirred
from tests.speed import SOON


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Hearts that beat fast, and are soon taken for dead."""
    for name, value in {"BEAT": 0.02, "SILENCE": 0.3, "LOOK": 0.05}.items():
        monkeypatch.setattr(module, name, value)


@pytest.fixture
def told():
    """What a user is told meanwhile."""
    return []


def take(path, told):
    """Take the lock, and let go of it."""
    with locked(path, told.append) as claim:
        claim.check()


def test_it_is_taken_once_and_leaves_nothing(tmp_path, told):
    path = tmp_path / "some" / "where"
    with locked(path, told.append) as claim:
        assert Lock.read(path).owner.same(Owner.this())
        for _ in range(2):  # of this process, from another thread or not
            with pytest.raises(BadInput, match=rf"process {os.getpid()} on .* since .*taskflow unlock .*where"):
                take(path, told)
        claim.check()
        assert [item.name for item in path.iterdir()] == ["lock"]
    assert list(tmp_path.iterdir()) == []
    take(path, told)
    assert told == []


def test_a_directory_that_was_there_stays(tmp_path, told):
    take(tmp_path, told)
    assert tmp_path.exists()
    with locked(tmp_path / "run", told.append):
        (tmp_path / "run" / "case.toml").write_text("")
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["case.toml"]


# -------------------------------------------------------------------------------------------- who is still there

def test_a_process_of_this_host_that_is_there(tmp_path, told):
    """Whatever the day is: its clock was set back, or on."""
    for since in ("1970-01-01T00:00:00+00:00", "2525-01-01T00:00:00+00:00"):
        before = write_lock(tmp_path, replace(ALIVE, since=since)).read_bytes()
        with pytest.raises(BadInput, match=f"process {ALIVE.process} on .* since {since[:4]}"):
            take(tmp_path, told)
        assert (tmp_path / "lock").read_bytes() == before
    assert told == []


@pytest.mark.parametrize("dead", [GONE, ANOTHER], ids=["killed", "its number was used again"])
def test_a_process_of_this_host_that_is_gone(tmp_path, told, dead, monkeypatch):
    monkeypatch.setattr(module, "SILENCE", 300.0)
    write_lock(tmp_path, dead)
    take(tmp_path, told)
    assert told == []
    assert not (tmp_path / "lock").exists()


def test_a_process_that_is_dead_and_not_buried(tmp_path, told):
    """A zombie computes nothing."""
    with subprocess.Popen(["sleep", "100"]) as child:
        write_lock(tmp_path, owner(child.pid))
        with pytest.raises(BadInput):
            take(tmp_path, told)
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        take(tmp_path, told)


SOMEWHERE = {
    "another host": ELSEWHERE,
    "another host of this name": replace(ALIVE, boot="another"),
    "this host, before it was started again": replace(GONE, boot="before"),
    "another container": replace(GONE, space="pid:[1]"),
    "a system that tells nothing": replace(GONE, boot="", space=""),
}


@pytest.mark.parametrize("where", SOMEWHERE)
def test_what_cannot_be_seen_is_watched(tmp_path, told, where):
    """As long as its number stays; then it is over."""
    write_lock(tmp_path, SOMEWHERE[where], beats=17)
    began = time.monotonic()
    take(tmp_path, told)
    assert time.monotonic() - began >= module.SILENCE
    assert len(told) == 1
    assert "is not visible from this host; its lock is watched for up to 0.3 s" in told[0]


@pytest.mark.parametrize("where", SOMEWHERE)
def test_what_moves_is_refused_at_once(tmp_path, told, where, monkeypatch):
    monkeypatch.setattr(module, "SILENCE", 300.0)
    path, ended = write_lock(tmp_path, SOMEWHERE[where]), threading.Event()
    line = path.read_bytes().partition(b"\n")[0]

    def beat():
        with path.open("r+b") as file:
            module._beat(os.dup(file.fileno()), len(line) + 1, ended)

    thread = threading.Thread(target=beat)
    thread.start()
    began = time.monotonic()
    try:
        with pytest.raises(BadInput, match="has been running there"):
            take(tmp_path, told)
        with pytest.raises(BadInput, match="is still running: stop it there"):
            unlock(tmp_path, told.append)
        assert time.monotonic() - began < SOON
    finally:
        ended.set()
        thread.join()
    assert path.read_bytes().startswith(line + b"\n0")
    assert Lock.read(tmp_path).beats > 0


def test_the_number_grows_whatever_happens(tmp_path, told, monkeypatch):
    """Also after the disk did not take it."""
    write, fails = os.pwrite, iter([True, True])
    monkeypatch.setattr(os, "pwrite", lambda *words: _failing(write, fails, *words))
    with locked(tmp_path, told.append):
        until = time.monotonic() + SOON
        while Lock.read(tmp_path).beats < 4:
            assert time.monotonic() < until
            time.sleep(0.01)
        assert next(fails, None) is None


def _failing(write, fails, *words):
    if next(fails, False):
        raise OSError("no disk")
    return write(*words)


# ---------------------------------------------------------------------------------------------- several at once

RACE = """
import os, random, sys, time
from contextlib import suppress
from pathlib import Path
from taskflow.common.errors import BadInput
from taskflow.runs.directory import lock
from taskflow.runs.directory.lock_file import make
from dataclasses import asdict
from tests.locks import GONE
import json
folder, chance, had = Path(sys.argv[1]), random.Random(int(sys.argv[2])), 0
until = time.monotonic() + 300
print("ready", flush=True); input()
while had < 60:
    assert time.monotonic() < until
    with suppress(BadInput), lock.locked(folder, print) as claim:
        alone = os.open(folder / "alone", os.O_CREAT | os.O_EXCL)  # fails where somebody else is here
        time.sleep(chance.uniform(0, 0.002))
        claim.check()
        os.close(alone)
        (folder / "alone").unlink()
        had += 1
    if chance.random() < 0.7:
        with suppress(FileExistsError):  # one that died
            line = json.dumps({"token": str(chance.random()), **asdict(GONE)}).encode()
            os.close(make(folder / "lock", line + b"\\n" + b"0" * 20))
"""


def test_of_many_that_take_it_and_leave_dead_ones_one_has_it(tmp_path):
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACE, str(tmp_path), str(seed)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for seed in range(3)
    ]  # fmt: skip
    for racer in racers:
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        racer.stdin.write("go\n")
        racer.stdin.flush()
    ended = [racer.communicate() for racer in racers]
    assert [(racer.returncode, err) for racer, (_, err) in zip(racers, ended, strict=True)] == [(0, "")] * 3


def test_whoever_removes_a_dead_one_removes_no_other(tmp_path, told, monkeypatch):
    """Also without locks of the system: what was moved by mistake is put back."""
    monkeypatch.setattr(fcntl, "flock", lambda *_: _raise(OSError("unknown here")))
    write_lock(tmp_path, GONE)
    dead = Lock.read(tmp_path).line
    read = os.read

    def late(file, most):  # another one takes it after this one has looked
        text = read(file, most)
        if text.startswith(dead):
            monkeypatch.setattr(os, "read", read)
            (tmp_path / "lock").unlink()
            write_lock(tmp_path, ALIVE)
            monkeypatch.setattr(os.path, "samestat", lambda *_: True)
        return text

    monkeypatch.setattr(os, "read", late)
    module.remove(tmp_path / "lock", dead)
    assert Lock.read(tmp_path).owner == ALIVE
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]


def _raise(error):
    raise error


def test_a_file_system_without_links(tmp_path, told, monkeypatch):
    monkeypatch.setattr(os, "link", lambda *_: _raise(PermissionError("no links here")))
    with locked(tmp_path / "run", told.append) as claim:
        claim.check()
        with pytest.raises(BadInput, match="has been running"):
            take(tmp_path / "run", told)
    assert list(tmp_path.iterdir()) == []


# -------------------------------------------------------------------------------------------------------- damage

DAMAGED = {
    "empty": b"", "torn": b'{"token": "a", "ho', "no number": b"{}\n", "words": b"\xff\xfe\n\n", "a list": b"[]\n1\n",
    "escapes": json.dumps(asdict(ELSEWHERE) | {"host": "\x1b[2J"}).encode() + b"\n1\n",
    "long": json.dumps(asdict(ELSEWHERE) | {"host": "a" * 5000}).encode() + b"\n1\n",
    "negative": json.dumps(asdict(ELSEWHERE) | {"process": -1}).encode() + b"\n1\n",
    "true": json.dumps(asdict(ELSEWHERE) | {"process": True}).encode() + b"\n1\n",
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_one_is_refused_until_it_is_removed(tmp_path, told, damage):
    (tmp_path / "lock").write_bytes(DAMAGED[damage])
    with pytest.raises(BadInput, match="damaged; if no run is active: taskflow unlock") as refused:
        take(tmp_path, told)
    assert "\x1b" not in str(refused.value)
    assert (tmp_path / "lock").read_bytes() == DAMAGED[damage]
    assert unlock(tmp_path, told.append)
    assert told == [f"{tmp_path / 'lock'}: damaged: it names no process"]
    take(tmp_path, told)


def test_a_pipe_makes_nobody_wait(tmp_path, told):
    os.mkfifo(tmp_path / "lock")
    with pytest.raises(BadInput, match="lock: it is not a regular file; remove it manually"):
        take(tmp_path, told)
    with pytest.raises(OSError, match="not a regular file"):
        unlock(tmp_path, told.append)


def test_unlock(tmp_path, told):
    assert not unlock(tmp_path, told.append)
    write_lock(tmp_path, ALIVE)
    with pytest.raises(BadInput, match=f"process {ALIVE.process} on .* is still running: stop it there"):
        unlock(tmp_path, told.append)
    assert Lock.read(tmp_path).owner == ALIVE
    for dead in (GONE, ELSEWHERE):
        write_lock(tmp_path, dead)
        assert unlock(tmp_path, told.append)
        assert not (tmp_path / "lock").exists()
    assert any("locked by process 1 on elsewhere, since" in words for words in told)


# ------------------------------------------------------------------------------------------ a run that lost it

def test_a_claim_that_is_lost(tmp_path, told):
    with locked(tmp_path, told.append) as claim:
        claim = pickle.loads(pickle.dumps(claim))
        claim.check()
        (tmp_path / "lock").unlink()
        with pytest.raises(RunFailed, match="lock: it has been removed"):
            claim.check()
        thief = write_lock(tmp_path, ELSEWHERE, beats=3)
        before = thief.read_bytes()
        with pytest.raises(RunFailed, match="process 1 on elsewhere has taken over"):
            claim.check()
        time.sleep(0.1)  # the heart of the first one beats on
    assert thief.read_bytes() == before
    (tmp_path / "lock").write_bytes(b"")
    with pytest.raises(RunFailed, match="it has been removed"):
        claim.check()


def tree(path):
    return {str(item): item.read_bytes() for item in path.rglob("*") if item.is_file()}


def settled(path):
    """All files, once none has changed for half a second: what was being written is written, or gone."""
    before, now = None, None
    while now is None or now != before:
        time.sleep(0.5)
        before, now = now, None
        with suppress(FileNotFoundError):  # a checkpoint that goes while it is read
            now = tree(path)
    return now


@pytest.mark.parametrize("blocks", [[1, 1, 1], pytest.param([1, 1, 2], marks=pytest.mark.slow)], ids=str)
@pytest.mark.parametrize("quiet", [True, False], ids=["at the end", "while it writes"])
def test_a_run_whose_directory_was_taken_over_touches_it_no_more(tmp_path, blocks, quiet):
    """Not by a snapshot, a line, a checkpoint or its report."""
    often = {} if quiet else {"output__every": {"steps": 20}, "monitor__every": {"steps": 5}}
    more = {**often, "checkpoint": {} if quiet else {"every": {"steps": 10}}}
    case = stirred(time={"steps": 300 if quiet else 100_000}, machine__blocks=blocks, **more)
    path, seen = tmp_path / "run", []

    def steal(told):
        if told.get("step", 0) >= 20 and not seen:
            (path / "lock").unlink()
            write_lock(path, ELSEWHERE)
            seen.append(settled(path))

    with pytest.raises(RunFailed, match=r"process 1 on elsewhere has taken over .*run while this run was suspended"):
        run(case, path, progress=steal)
    assert tree(path) == seen[0]


@pytest.mark.slow
def test_what_a_run_leaves(tmp_path, told):
    """No lock, in whichever way it ends; and while it goes on the same process is refused."""
    path, refused = tmp_path / "run", []

    def again(_):
        if not refused:
            for how in ({"force": True}, {"resume": True}, {}):
                with pytest.raises(BadInput, match=f"process {os.getpid()} .* has been running there"):
                    run(stirred(), path, **how)
            refused.append(True)

    run(stirred(time__steps=400), path, progress=again)
    assert refused
    assert not any(item.name.startswith((".", "lock")) for item in path.iterdir())
    with pytest.raises(RunFailed, match="diverged"), pytest.warns(UserWarning, match=r"time\.step = 2 is longer than"):
        run(stirred(time={"steps": 400, "step": 2.0}), tmp_path / "wild")
    assert not any(item.name.startswith((".", "lock")) for item in (tmp_path / "wild").iterdir())
    with pytest.raises(BadInput, match="not finite"):
        run(stirred(initial={"velocity": ["1/x", 0, 0]}), tmp_path / "none")
    with suppress(KeyboardInterrupt):
        run(stirred(), tmp_path / "none", progress=lambda _: _raise(KeyboardInterrupt()))
    assert not (tmp_path / "none" / "lock").exists()
