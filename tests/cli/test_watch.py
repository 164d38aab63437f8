"""`taskflow watch`: runs that go on, that ended and that failed, in a terminal and as a page."""

import json
import shutil
import socket
import threading
import urllib.error
import urllib.request
from base64 import b64decode
from pathlib import Path

import numpy as np
import pytest

from taskflow.cases.timing.schedule import Clock
from taskflow.cli import follow, watch
from taskflow.cli.web import Answer, Page, _run
from taskflow.common.derived_names import WORDS
from taskflow.common.errors import BadInput
from taskflow.flow.stability import StepLimit
from taskflow.output import Tail, dataset
from tests.locks import ALIVE, write_lock


def line(step, **numbers):
    usual = {"time": step / 10, "dt": 0.1, "cfl": 0.5, "divergence": 1e-9, "residual": 1e-6, "kinetic_energy": 0.25}
    return json.dumps({"step": step, "wall": step / 10, **usual, **numbers}) + "\n"


@pytest.fixture
def going_on(run_directory, tmp_path):
    """A copy of the finished run that says that another process computes it, and a way to let it say something else."""
    directory = tmp_path / "run"
    shutil.copytree(run_directory, directory)
    (directory / "log.jsonl").write_text("".join(map(line, range(0, 21, 4))))

    def say(lines="", **changes):
        report = json.loads((directory / "report.json").read_text())
        (directory / "report.json").write_text(json.dumps(report | changes))
        with (directory / "log.jsonl").open("a") as log:
            log.write(lines)
        return directory

    say(ended="running")
    write_lock(directory, ALIVE)
    return say


def test_a_log_is_read_on_and_after_a_cut_anew(tmp_path):
    log = tmp_path / "log.jsonl"
    log.write_text(line(0) + line(1, residual=None) + '{"step": 2')
    tail = Tail(log)
    assert [item["step"] for item in tail.look()] == [0, 1]
    assert np.isnan(tail.look()[1]["residual"])
    log.write_text(line(0) + line(1) + line(2))
    assert [item["step"] for item in tail.look()] == [0, 1, 2]
    log.write_text(line(0) + line(1))  # the run went on from step 1
    assert [item["step"] for item in tail.look()] == [0, 1]
    log.write_text(line(0) + line(1) + line(2, dt=0.12345))
    tail.look()
    log.write_text(line(0) + line(1, time=0.100000001) + line(2) + line(3) + line(4))  # cut, and grown beyond that
    assert [item["step"] for item in tail.look()] == [0, 1, 2, 3, 4]


def test_a_finished_run(give, run_directory):
    result = give("watch", run_directory)
    assert (result.exit_code, result.stderr) == (0, "")
    for word in ("A small cavity: 16 x 2 x 16 cells, to 40 steps", "step 40  ", "energy ", "finished at time", "T_eff"):
        assert word in result.stdout


def test_a_run_is_watched_until_it_ends(give, going_on, monkeypatch):
    directory = going_on()
    moments = iter(
        [lambda: going_on(line(24) + line(28)), lambda: going_on(line(32), ended="failed", reason="the run diverged")]
    )
    monkeypatch.setattr(follow.time, "sleep", lambda _: next(moments)())
    monkeypatch.setattr(watch, "APART", 0.0)
    told = give("watch", directory).stdout
    assert [int(row.split()[1]) for row in told.splitlines() if row.startswith("step ")] == list(range(0, 33, 4))
    assert "10.0 kcell/s" not in told.splitlines()[1]
    assert "left" in told
    assert "state      failed" in told
    assert "reason     the run diverged" in told


def test_lines_are_some_seconds_apart(tmp_path, capsys):
    log = tmp_path / "log.jsonl"
    log.write_text("".join(line(step, wall=step / 50) for step in range(1476)))
    with watch.LogLines("heading", watch.ProgressMeter(1, Clock(StepLimit(), end=None, steps=1475)), log) as lines:
        lines({"step": 0})
    steps = [int(row.split()[1]) for row in capsys.readouterr().out.splitlines()[1:]]
    assert steps == [*range(0, 1476, 250), 1475]


def test_what_is_no_run(give, refused, tmp_path):
    for words in (["watch", tmp_path], ["watch", tmp_path, "--web", "--port=0"]):
        result = give(*words)
        refused(result.exit_code, result.stderr, "not a run directory")


def test_a_port_that_is_taken(give, refused, run_directory):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = give("watch", run_directory, "--web", f"--port={taken.getsockname()[1]}")
    refused(result.exit_code, result.stderr, "--port", "in use", "0 for any")


@pytest.fixture
def page(going_on):
    """The page of the run, served while a test lasts."""
    with Page(going_on(), 0) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}).start()
        yield server
        server.shutdown()


def ask(page, path, **headers):
    """Status and content of an answer."""
    request = urllib.request.Request(page.address + path, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_the_page_needs_nothing_from_elsewhere(page):
    status, text = ask(page, "")
    assert status == 200
    assert "//" not in text.replace("http://www.w3.org/2000/svg", "").replace("  // ", "").replace("\n// ", "\n")
    assert page.server_address[0] == "127.0.0.1"


def test_the_run_as_the_page_sees_it(page, going_on):
    result = json.loads(ask(page, "run")[1])
    assert result["heading"] == "A small cavity: 16 x 2 x 16 cells, to 40 steps"
    assert result["state"].startswith("running: process")
    assert (result["share"], result["over"], result["last"]["step"]) == (0.5, False, 20)
    assert result["rate"] == "5.12 kcell/s"
    assert result["left"] == "0:00:02 left"
    assert result["curves"]["kinetic_energy"] == [0.25] * 6
    assert result["curves"]["dt"] == [None, *[0.1] * 5], "there is no step before the first"
    assert result["times"] == dataset(going_on() / "fields.zarr")["time"].values.tolist()
    assert result["fields"] == [*WORDS, "p", "u", "v", "w"]
    going_on(
        line(24, residual=None), ended="failed", reason="no more", restarts=[{"step": 4, "reason": "a worker died"}]
    )
    result = json.loads(ask(page, "run")[1])
    assert (result["over"], result["reason"], result["restarts"]) == (True, "no more", ["from step 4: a worker died"])
    assert result["curves"]["residual"][-1] is None


def test_the_page_names_the_run_itself(run_directory, tmp_path, monkeypatch):
    """However it was named: without "..", and not by a link."""
    (tmp_path / "link").symlink_to(run_directory)
    monkeypatch.chdir(tmp_path)
    for name in (Path("link"), run_directory / ".." / run_directory.name):
        with Page(name, 0) as page:
            assert _run(page.followed(), {})["directory"] == str(run_directory.resolve())


def test_a_folder_of_runs(run_directory, tmp_path):
    """Runs are chosen by name. Each has its own curves, and the first is shown by default."""
    for n in (1, 0):
        shutil.copytree(run_directory, tmp_path / f"{n:04}")
    pushed = {"bodies": {"ball": {"force": [1.0, 0.0, -2.0]}}, "openings": {"slot": {"volume_flux": -0.5}}}
    (tmp_path / "0001" / "log.jsonl").write_text(line(0, **pushed))
    with Page(tmp_path, 0) as page:
        assert page.names == ["0000", "0001"]
        assert _run(page.followed(), {})["directory"] == str((tmp_path / "0000").resolve())
        assert _run(page.followed("0001"), {})["groups"] == {
            "force on ball": {"x": [1.0], "z": [-2.0]}, "flow rate out of openings": {"slot": [-0.5]},
        }  # fmt: skip
        with pytest.raises(BadInput, match="of = 0002: no such run; give one of 0000, 0001"):
            page.followed("0002")


def test_a_slice(page, going_on):
    result = json.loads(ask(page, "slice?field=w&plane=y&snapshot=2")[1])
    values = np.frombuffer(b64decode(result["values"]), "<f4").reshape(result["shape"])
    w = dataset(going_on() / "fields.zarr")["w"].isel(time=-1).values
    np.testing.assert_allclose(values, w[:, :, :].mean(axis=1)[:-1] / 2 + w.mean(axis=1)[1:] / 2, atol=1e-7)
    assert result["extents"] == [[0, 1], [0, 1]]


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("slice?field=q&plane=y&snapshot=0", 400, "unknown field"),
        ("slice?field=u&plane=y=9&snapshot=0", 400, "outside the domain"),
        ("slice?field=u&plane=y&snapshot=99", 400, "the run has 3"),
        ("slice?field=u", 400, "plane"),
        ("../../etc/passwd", 404, "there is nothing"),
    ],
)
def test_what_there_is_no_answer_to(page, path, status, words):
    result = ask(page, path)
    assert result[0] == status
    assert words in json.loads(result[1])["error"]


def test_a_page_from_elsewhere_cannot_ask(page):
    status, text = ask(page, "run", Host="example.org")
    assert status == 403
    assert "A small cavity" not in text


BAD = (
    "/slice?field=u&plane=y&snapshot=-1", "/slice?field=u&plane=y&snapshot=1e3", "/slice?field=u&plane=y&snapshot=99",
    "/slice?field=u&plane=y&snapshot=", "/slice?field=u&plane=y", "/slice", "/slice?field=none&plane=y&snapshot=0",
    "/slice?field=u&plane=q=q&snapshot=0", "/slice?field=u&plane=y=nan&snapshot=0",
    "/slice?field=u&plane=y&snapshot=" + "9" * 5000, "http://[bad/",
)  # fmt: skip


def raw(page, sent):
    """The first line of an answer to bytes, as they are."""
    with socket.create_connection(page.server_address, 30) as link:
        link.sendall(sent)
        link.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: link.recv(1 << 16), b""))
    return answer.partition(b"\r\n")[0].decode()


@pytest.mark.parametrize("path", BAD)
def test_a_bad_question_is_answered_by_400(page, path, capfd):
    host = f"Host: 127.0.0.1:{page.server_address[1]}"
    assert raw(page, f"GET {path} HTTP/1.0\r\n{host}\r\n\r\n".encode()).split()[1] == "400"
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("sent", [
    b"\0" * 100, b"GET / HTTP/9.9\r\n\r\n", b"GET " + b"a" * 70000, b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 200 + b"\r\n",
    b"PUT / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", b"GET / HTTP/1.1\r\nHost: \xff\xff\r\n\r\n", b"\r\n", b"", b"GET",
])  # fmt: skip
def test_no_question_prints_a_traceback(page, sent, capfd):
    line = raw(page, sent)
    assert line == "" or line.startswith("<!DOCTYPE") or int(line.split()[1]) >= 400
    assert capfd.readouterr().err == ""


def test_a_browser_that_hangs_up_prints_nothing(page, capfd):
    for _ in range(5):
        link = socket.create_connection(page.server_address, 30)
        link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # closed by a reset
        link.sendall(b"GET /run HTTP/1.0\r\nHost: 127.0.0.1:1\r\n\r\n")
        link.close()
    assert ask(page, "run")[0] == 200
    assert capfd.readouterr().err == ""


def test_a_connection_without_a_question_is_ended(page, monkeypatch):
    monkeypatch.setattr(Answer, "timeout", 0.2)
    with socket.create_connection(page.server_address, 30) as link:
        assert link.recv(1) == b""
    monkeypatch.undo()
    assert 0 < Answer.timeout <= 60
