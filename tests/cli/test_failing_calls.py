"""Each system call on the files of a run may fail: the run is resumed to the bit, or says in words why it cannot be."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from taskflow.runtime.machine.kernel.compile_host import compiler
from tests.cli.failing import MODELS

SOURCE = Path(__file__).with_name("failing.c")


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """The library that lets calls fail, preloaded into the processes of runs."""
    path = tmp_path_factory.mktemp("failing") / "failing.so"
    subprocess.run([*compiler().command, "-x", "c", "-O1", "-fPIC", "-shared", SOURCE, "-o", path, "-ldl"], check=True)
    return path


@pytest.mark.fast(*(f"*-{model}" for model in MODELS if model != "two blocks"))
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("number", [8, pytest.param(10**6, marks=[pytest.mark.slow, pytest.mark.timeout(10**5)])])
def test_a_call_that_fails_costs_no_result(library, model, number, tmp_path):
    """So many calls, evenly over all; the slow test has all of them, each in every way."""
    words = [sys.executable, "-m", "tests.cli.failing", str(library), model, str(number), str(tmp_path)]
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    done = subprocess.run(words, env=environment, cwd=SOURCE.parents[2], stdout=subprocess.PIPE, text=True, check=True)
    first, *lines = map(json.loads, done.stdout.splitlines())
    assert first["calls"] > 500
    assert len(lines) >= min(number, first["calls"])
    assert [line for line in lines if line["wrong"]] == []
