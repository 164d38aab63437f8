"""What cases of everyday use share: one cluster for the runs of a file, and the command."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import taskflow as tf
from taskflow.cli.app import app
from taskflow.runtime.cluster import embedded

Told = tuple[int, str]  # exit code, and all that was printed


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with embedded(1, gpu=False) as client:
        yield client


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


@pytest.fixture
def compute(client: Any, tmp_path: Path) -> Callable[..., tf.Run]:
    """Run a case of these tables, with snapshots in double precision unless they say otherwise."""

    def run(name: str = "run", **tables: Any) -> tf.Run:
        tables.setdefault("output", {"precision": "double"})
        tables["machine"] = {"device": "cpu", "threads": 1, **tables.get("machine", {})}
        return tf.run(tf.Case(title=name, **tables), tmp_path / name, client, force=True, progress=lambda _: None)

    return run


@pytest.fixture
def command(here: Path) -> Callable[..., Told]:
    """Give a command in this process, which lets no exception out."""

    def give(*words: object) -> Told:
        result = CliRunner().invoke(app, [str(word) for word in words], prog_name="taskflow")
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.exit_code, result.output

    return give


@pytest.fixture
def process(here: Path) -> Callable[..., Told]:
    """Give a command as a process of its own."""

    def give(*words: object, **environment: str) -> Told:
        done = subprocess.run(
            [sys.executable, "-m", "taskflow", *map(str, words)], env={**os.environ, **environment}, text=True,
            errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout

    return give
