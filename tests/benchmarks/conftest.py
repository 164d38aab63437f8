"""Benchmarks are commands: they are given as those of `tests/cli` are."""

import pytest

from taskflow.bench import timing
from tests.cli.conftest import give, here, refused

__all__ = ["give", "here", "refused"]


@pytest.fixture
def brief(monkeypatch):
    """Nothing is timed for long; call it where the bandwidth of a copy, 2e10 B/s, is not to be measured."""

    def call():
        monkeypatch.setattr(timing, "copy_bandwidth", lambda *_, **__: 2e10)

    monkeypatch.setattr(timing, "BUDGET", 0.01)
    monkeypatch.setattr(timing, "LENGTH", 1e-4)
    return call
