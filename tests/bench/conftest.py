"""Benchmarks are tested as commands, as in `tests/cli`; so are modules that are started by `python -m`."""

from importlib import import_module
from importlib.util import find_spec

import pytest
from typer.testing import CliRunner

from taskflow.bench import timing
from tests.cli.conftest import give, here, refused

__all__ = ["give", "here", "refused"]


@pytest.fixture
def start(monkeypatch):
    """Give the command of `python -m` and these words in this process. It must not let an exception out."""
    monkeypatch.setenv("COLUMNS", "100")

    def call(module, *words):
        package = find_spec(module).submodule_search_locations is not None
        app = import_module(f"{module}.__main__" if package else module).app
        result = CliRunner().invoke(app, [str(word) for word in words])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result

    return call


@pytest.fixture
def brief(monkeypatch):
    """Nothing is timed for long; call it where the bandwidth of a copy, 2e10 B/s, is not to be measured."""

    def call():
        monkeypatch.setattr(timing, "copy_bandwidth", lambda *_, **__: 2e10)

    monkeypatch.setattr(timing, "BUDGET", 0.01)
    monkeypatch.setattr(timing, "LENGTH", 1e-4)
    return call
