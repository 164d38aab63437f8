"""One run has its directory to itself: commands at once, as processes, on this host and as if on another one."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from taskflow.cli.app import app
from taskflow.output import read_log
from tests.cli.test_resume import assert_same_run, steps, words
from tests.data.cases import text
from tests.locks import ALIVE, ELSEWHERE, GONE, write_lock
from tests.speed import SOON

ENDLESS = words(1_000_000)
HOW = {"plain": (), "resume": ("--resume",), "force": ("--force",)}


def contents(folder):
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def stands_still(process):
    """Whether no thread of a process runs: SIGSTOP returns before the threads on other cores have stopped."""
    stats = [path.read_text() for path in Path(f"/proc/{process}/task").glob("*/stat")]
    return all(stat.rpartition(")")[2].split()[0] == "T" for stat in stats)


@pytest.fixture
def stopped(shell, here):
    """The directory of a run that stands still in its middle, amid its work, and whoever computes it."""
    running = shell.begin("run", *ENDLESS)
    shell.wait_for(running, here / "cavity")
    os.killpg(running.pid, signal.SIGSTOP)
    while not stands_still(running.pid):
        time.sleep(0.01)
    yield here / "cavity", running
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate()


def test_a_run_that_goes_on_is_left_alone(stopped, give, refused):
    """By whatever way of another one, and though it does not move: its process is there."""
    directory, running = stopped
    before = contents(directory)
    for how in HOW.values():
        result = give("run", *ENDLESS, *how)
        named = ["cavity: process ", "has been running there since", "wait until it ends", "taskflow unlock cavity"]
        refused(result.exit_code, result.stderr, f"process {running.pid} on ", *named)
    result = give("unlock", "cavity")
    refused(result.exit_code, result.stderr, f"process {running.pid} on ", "is still running: stop it there")
    assert contents(directory) == before
    assert "running: process" in give("info", "cavity").stdout
    os.killpg(running.pid, signal.SIGCONT)
    os.killpg(running.pid, signal.SIGINT)
    running.wait()
    assert not (directory / "lock").exists()
    log = [line["step"] for line in read_log(directory / "log.jsonl")]
    assert log == sorted(set(log))


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """What a run leaves that has no rival."""
    folder = tmp_path_factory.mktemp("alone")
    case, *options = words(2000)
    (folder / case).write_text(text("small_cavity"))
    command = ["run", str(folder / case), *options, "-o", str(folder / "run"), "--quiet"]
    assert CliRunner().invoke(app, command).exit_code == 0
    return folder / "run"


@pytest.mark.slow
@pytest.mark.parametrize("how", HOW)
def test_of_two_at_the_same_moment_one_runs(shell, here, give, how, alone):
    """And does what it does alone."""
    if how != "plain":
        assert give("run", *words(100), "-o", "two", "--quiet").exit_code == 0
    asked = [*words(2000), "-o", "two", *HOW[how]]
    for _ in range(3):  # on a busy machine one may have ended before the other begins
        both = [shell.begin("run", *asked, "--quiet") for _ in range(2)]
        ended = sorted(shell.end(item) for item in both)
        if how == "plain" and "two exists" in ended[1][2]:
            shutil.rmtree(here / "two")
        else:
            break
    assert [code for code, _, _ in ended] == [0, 2]
    assert ended[0][2] == ""
    assert "has been running there" in ended[1][2]
    assert not [path.name for path in (here / "two").iterdir() if path.name.startswith((".", "lock"))]
    assert_same_run(here / "two", alone)


def test_what_a_killed_run_leaves_is_no_obstacle(shell, here, give, report_of):
    """At once, and by the number of its process alone."""
    running = shell.begin("run", *ENDLESS)
    shell.wait_for(running, here / "cavity", 12)
    while not steps(here):
        assert running.poll() is None, running.communicate()
        time.sleep(0.01)
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate()
    assert (here / "cavity" / "lock").exists()
    assert f"process {running.pid} on" in give("info", "cavity").stdout
    assert "has exited" in give("info", "cavity").stdout
    began = time.monotonic()
    told = give("unlock", "cavity")
    assert time.monotonic() - began < SOON
    assert (told.exit_code, told.stdout.splitlines()[-1]) == (0, "unlocked")
    write_lock(here / "cavity", GONE)
    result = give("run", *words(100), "--resume", "--quiet")
    assert (result.exit_code, result.stderr) == (0, "")


def test_killed_before_it_has_begun_it_leaves_nothing_in_the_way(here, give):
    """The directory has the lock and a draft, or a part of them: the same command goes on."""
    write_lock(here / "cavity", GONE)
    (here / "cavity" / ".taskflow-new.partial").mkdir()
    (here / "cavity" / f".lock.{'0123' * 8}").write_text("")
    assert give("run", *words(10), "--quiet").exit_code == 0
    assert not [path.name for path in (here / "cavity").iterdir() if path.name.startswith((".", "lock"))]


def test_an_empty_directory(here, give, refused):
    """Is somebody's; --resume begins there."""
    (here / "cavity").mkdir()
    result = give("run", *words(10), "--quiet")
    refused(result.exit_code, result.stderr, "cavity exists; choose another directory")
    assert give("run", *words(10), "--resume", "--quiet").exit_code == 0


def test_unlock(here, give, refused):
    result = give("unlock", "nowhere")
    refused(result.exit_code, result.stderr, "nowhere: no such directory")
    (here / "cavity").mkdir()
    result = give("unlock", "cavity")
    assert (result.exit_code, result.stdout) == (0, "cavity: no run has locked it\n")
    write_lock(here / "cavity", ALIVE)
    result = give("unlock", "cavity")
    refused(result.exit_code, result.stderr, f"process {ALIVE.process} on {ALIVE.host} is still running")
    (here / "cavity" / "lock").write_bytes(b"\x1b[2J")
    result = give("run", "cavity.toml", "--resume")
    refused(result.exit_code, result.stderr, "cavity/lock: damaged", "taskflow unlock cavity")
    result = give("unlock", "cavity")
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (0, "unlocked")
    (here / "cavity" / "lock").mkdir()
    result = give("unlock", "cavity")
    refused(result.exit_code, result.stderr, "cavity/lock: it is not a regular file; remove it manually")


def test_a_user_is_told_of_the_wait(here, give, refused, monkeypatch):
    from taskflow.runs.directory import lock

    monkeypatch.setattr(lock, "SILENCE", 0.2)
    monkeypatch.setattr(lock, "LOOK", 0.05)
    write_lock(here / "cavity", ELSEWHERE)
    result = give("run", *words(10), "--quiet", "--resume")
    assert result.exit_code == 0
    waits = "cavity: process 1 on elsewhere is not visible from this host; its lock is watched for up to 0.2 s"
    assert result.stderr == f"Warning: {waits}\n"


DIES = """
import os, signal, sys
from taskflow.output import Store
Store.commit = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
from taskflow.cli import main
main()
"""


@pytest.mark.slow
def test_force_killed_before_its_first_state(here, give, refused):
    """What was there is still there, and is back with the next command of any kind."""
    assert give("run", *words(30), "--quiet").exit_code == 0
    before = contents(here / "cavity")
    for how in HOW:
        ran = subprocess.run([sys.executable, "-c", DIES, "run", *words(500), "--force"], check=False)
        assert ran.returncode == -signal.SIGKILL
        kept = contents(here / "cavity" / ".taskflow-old")
        assert {name.replace("/.taskflow-old/", "/"): text for name, text in kept.items()} == before
        back = "Warning: cavity: the run that replaced it wrote no state; the previous data are restored\n"
        result = give("run", *words(30), "--quiet", *HOW[how])
        if how == "plain":  # is refused before it looks
            refused(result.exit_code, result.stderr, "cavity exists")
            result = give("run", *words(30), "--quiet", "--resume")
        assert (result.exit_code, result.stderr) == (0, back)
        if how != "force":
            assert contents(here / "cavity") == before
    assert (here / "cavity" / "case.toml").read_text() == before[str(here / "cavity" / "case.toml")].decode()


# --------------------------------------------------------------------------------- as if on two hosts, for real

THIEF = """
import sys
from taskflow.runs.directory import lock
lock.SILENCE = 15.0
from taskflow.cli import main
main()
"""
APART = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]


@pytest.fixture
def apart():
    """Begins a command in a container: it sees no process of others. Whatever is begun does not outlive the test."""
    if shutil.which("unshare") is None or subprocess.run([*APART, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this system lets nobody make a container")

    begun = []

    def begin(*words, where=(*APART, sys.executable, "-c", THIEF)):
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        begun.append(subprocess.Popen([*where, *words], start_new_session=True, **streams))
        return begun[-1]

    yield begin
    for item in begun:
        if item.poll() is None:
            os.killpg(item.pid, signal.SIGKILL)
        item.communicate()


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [1, 2])
def test_a_run_that_stood_still_and_was_taken_over_ends(shell, here, give, apart, blocks):
    """While it moves it is left alone. The other one computes what a run alone does, and the first one touches none of
    it when it wakes up.
    """
    running = apart("run", *words(1_000_000, blocks), where=shell.command)
    shell.wait_for(running, here / "cavity", 6)
    code, _, err = shell.end(apart("run", *words(400, blocks), "--resume", "--quiet"))
    assert code == 2, err
    assert f"process {running.pid} on " in err
    os.killpg(running.pid, signal.SIGSTOP)
    other = apart("run", *words(100_000, blocks), "--resume", "--quiet")
    lines = len(read_log(here / "cavity" / "log.jsonl"))
    until = time.monotonic() + SOON
    while len(read_log(here / "cavity" / "log.jsonl")) < lines + 20:
        assert other.poll() is None, other.communicate()
        assert time.monotonic() < until
        time.sleep(0.1)
    os.killpg(running.pid, signal.SIGCONT)
    code, _, err = shell.end(running)
    assert code == 1, err
    assert f"has taken over {here / 'cavity'} while this run was suspended" in err
    os.killpg(other.pid, signal.SIGTERM)
    code, _, err = shell.end(other)
    assert code == 75, err
    last = read_log(here / "cavity" / "log.jsonl")[-1]["step"]
    last += 50 - last % 50 + 50
    again = give("run", *words(last, blocks), "--resume", "--quiet")
    assert again.exit_code == 0, again.stderr
    assert give("run", *words(last, blocks), "-o", "whole", "--quiet").exit_code == 0
    assert_same_run(here / "cavity", here / "whole")
