"""A small case, and two ways to give a command: in this process, and as a process of its own."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from taskflow.cli.app import app
from tests.data.cases import text


class Shell:
    """Gives commands as processes that lead a group of their own, as a terminal does. They have to end themselves."""

    limit = 600.0  # seconds, against hangs
    command = (sys.executable, "-c", "from taskflow.cli import main; main()")

    def begin(self, *words: object, **options: Any) -> subprocess.Popen[str]:
        """A command that goes on."""
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen([*self.command, *map(str, words)], start_new_session=True, **streams | options)

    def end(self, running: subprocess.Popen[str], limit: float = limit) -> tuple[int, str, str]:
        """Exit code, standard output and standard error."""
        try:
            out, err = running.communicate(timeout=limit)
        except BaseException as error:  # the limit of the test, too
            os.killpg(running.pid, signal.SIGKILL)
            error.add_note("the command does not end: {}\n{}".format(*running.communicate()))
            raise
        return running.returncode, out, err

    def __call__(self, *words: object, **options: Any) -> tuple[int, str, str]:
        """A command from beginning to end."""
        return self.end(self.begin(*words, **options))

    def wait_for(self, running: subprocess.Popen[str], directory: Path, lines: int = 3) -> None:
        """Wait until a run has written some lines of its log."""
        log, end = directory / "log.jsonl", time.monotonic() + self.limit
        while not log.exists() or log.read_bytes().count(b"\n") < lines:
            assert running.poll() is None, running.communicate()
            assert time.monotonic() < end, "the run does not begin"
            time.sleep(0.05)


@pytest.fixture(scope="session")
def shell() -> Shell:
    return Shell()


@pytest.fixture
def give(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Give a command in this process. It must not let an exception out."""
    monkeypatch.setenv("COLUMNS", "100")

    def call(*words: object) -> Result:
        result = CliRunner().invoke(app, [str(word) for word in words], prog_name="taskflow")
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result

    return call


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder with a case."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cavity.toml").write_text(text("small_cavity"))
    return tmp_path


@pytest.fixture(scope="session")
def run_directory(tmp_path_factory: pytest.TempPathFactory, shell: Shell) -> Path:
    """A finished run with three snapshots."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "cavity.toml").write_text(text("small_cavity"))
    code, out, err = shell("run", "cavity.toml", "--quiet", "--set", "output.every={steps=20}", cwd=folder)
    assert (code, out, err) == (0, "", "")
    return folder / "cavity"


@pytest.fixture
def refused() -> Callable[..., None]:
    """Bad input: exit code 2, every line marked, what matters named, no traceback."""

    def check(code: int, err: str, *words: str) -> None:
        assert code == 2, err
        assert err
        assert [line for line in err.splitlines() if not line.startswith("Error: ")] == []
        assert [word for word in words if word not in err] == [], err

    return check


@pytest.fixture
def report_of() -> Callable[[Path], dict]:
    return lambda directory: json.loads((directory / "report.json").read_text())
