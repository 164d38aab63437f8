"""Benchmarks are commands: they are given as those of `tests/cli` are."""

from tests.cli.conftest import give, here, refused

__all__ = ["give", "here", "refused"]
