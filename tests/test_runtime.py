"""The runtime is useful alone: its tests run in a copy of the repository from which everything else was deleted."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BELOW = ("__init__.py", "errors.py", "files.py", "namesake.py", "py.typed", "release.py", "text.py", "units.py")
SHARED = ("conftest.py", "speed.py", "test_errors.py")  # of the tests
FAST = "not slow and not gpu and not multigpu"


@pytest.fixture
def alone(tmp_path):
    """A command of pytest in the copy; what it printed, and its exit code."""
    kept = [*(f"taskflow/{name}" for name in (*BELOW, "runtime")), *(f"tests/{name}" for name in (*SHARED, "runtime"))]
    for name in (*kept, "deploy", "examples", "pyproject.toml"):
        source, target = ROOT / name, tmp_path / name
        target.parent.mkdir(exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)

    def run(*words, seconds):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", FAST, *words]
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=seconds, check=False
        )
        return done.stdout + done.stderr, done.returncode

    return run


@pytest.mark.timeout(300)
def test_nothing_of_the_runtime_and_of_its_tests_imports_anything_else(alone):
    told, code = alone("--collect-only", seconds=280)
    assert code == 0, told[-4000:]
    assert "/taskflow/flow" not in told


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_its_tests_pass_alone(alone):
    told, code = alone(seconds=3500)
    assert code == 0, told[-4000:]
