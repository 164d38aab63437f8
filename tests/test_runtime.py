"""The runtime is useful alone: its tests run in a copy of the repository from which everything else was deleted."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BELOW = ("__init__.py", "accessor/__init__.py", "accessor/registration.py", "common", "py.typed")
SHARED = ("conftest.py", "speed.py", "test_errors.py")  # of the tests
FAST = "not slow and not gpu and not multigpu"
# Folders and files whose tests are quick, and what is not quick in them.
QUICK = "(regions or test_examples) and not (machine or session or random or atlas)"


@pytest.fixture
def alone(tmp_path):
    """Run pytest in the copy: returns what it printed, and its exit code."""
    kept = [*(f"taskflow/{name}" for name in (*BELOW, "runtime")), *(f"tests/{name}" for name in (*SHARED, "runtime"))]
    for name in (*kept, "deploy", "examples", "pyproject.toml"):
        source, target = ROOT / name, tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target)  # with compiled Python
        else:
            shutil.copy(source, target)

    def run(*words):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", FAST, *words]
        ours = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        environment = {**ours, "PYTHONPATH": str(tmp_path)}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr, done.returncode

    return run


def test_the_runtime_needs_nothing_else(alone):
    """All its tests are imported; those of rooms that begin few processes, and its examples, are run."""
    output, code = alone("-k", QUICK)
    assert code == 0, output[-4000:]
    assert "/taskflow/flow" not in output
    assert int(re.search(r"(\d+) passed", output)[1]) > 50


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_all_its_tests_pass_alone(alone):
    output, code = alone()
    assert code == 0, output[-4000:]
