"""What every test shares: a test that needs GPUs says why it is skipped where there are none."""

import gc
import os
import signal
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import partial
from importlib.util import find_spec

import pytest
from hypothesis import HealthCheck, settings

# How long one example takes says more about the machine's load than about the code; pytest bounds each test.
# `make test` tries a few examples of each property, `make test-all` many.
for name, most in (("taskflow", 16), ("thorough", 200)):
    settings.register_profile(name, deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=most)
settings.load_profile("taskflow")

# A shell that begins the tests in its background lets them ignore Ctrl-C, and all that they begin.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # and `nohup` lets them ignore the end of a terminal


def usable_gpus() -> tuple[int, str]:
    """Number of usable GPUs, and why there are none."""
    from taskflow.runtime.machine.device import gpu_problem

    problem = gpu_problem()
    if problem:
        return 0, problem
    import cupy

    return cupy.cuda.runtime.getDeviceCount(), ""


@pytest.fixture(scope="session", autouse=True)
def small_copies() -> Iterator[None]:
    """Checks of cases in this process time a copy of a mebibyte, not of hundreds, and keep nothing of it."""
    from taskflow.runtime.machine import copy_bandwidth

    with pytest.MonkeyPatch.context() as patch:
        if find_spec("taskflow.runs"):
            known = "taskflow.runs.estimate.estimate.known_copy_bandwidth"
            patch.setattr(known, partial(copy_bandwidth, mebibytes=1))
        yield


@pytest.fixture
def shared(tmp_path, monkeypatch):
    """A TMPDIR of a machine, where another user has made the folder that Dask looks for."""
    folder = tmp_path / "temporary"
    (folder / "dask-scratch-space").mkdir(parents=True)
    folder.chmod(0o1777)
    (folder / "dask-scratch-space").chmod(0o777)
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def pytest_collection_finish() -> None:
    """Thousands of tests stay until the end: whoever collects garbage need not go through them again and again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem(collector, name, obj):
    """Of a test marked `fast(*ids)` all parameters are slow but those whose ids match one of these patterns.

    On a GPU none is slow for that. A pattern that matches nothing is an error, not a test that is never run.
    """
    made = yield
    items = [item for item in made if isinstance(item, pytest.Function)] if isinstance(made, list) else []
    tests = [item for item in items if item.get_closest_marker("fast")]
    patterns = {pattern: False for item in tests for pattern in item.get_closest_marker("fast").args}
    for item in tests:
        matched = [pattern for pattern in patterns if fnmatchcase(item.callspec.id, pattern)]
        patterns |= dict.fromkeys(matched, True)
        if not matched and not item.get_closest_marker("gpu"):
            item.add_marker(pytest.mark.slow)
    if unmatched := [pattern for pattern, matched in patterns.items() if not matched]:
        raise pytest.UsageError(f"{name}: no parameters have the ids {unmatched}; correct the mark `fast`")
    return made


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--emulate", action="store_true", help="emulate a GPU in tests of its kernels")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--emulate"):
        os.environ["TASKFLOW_TESTS_EMULATE"] = "1"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    expected = {item: 2 if item.get_closest_marker("multigpu") else 1
              for item in items if item.get_closest_marker("gpu") or item.get_closest_marker("multigpu")}
    if config.getoption("--emulate"):
        expected = {item: number for item, number in expected.items() if not emulates(item)}
    if not expected:
        return
    result, problem = usable_gpus()
    for item, number in expected.items():
        if result < number:
            item.add_marker(pytest.mark.skip(reason=problem or f"needs {number} GPUs, found {result}"))


def emulates(item: pytest.Item) -> bool:
    """Whether a test is one of a GPU's kernels alone: it takes a `device`, or is marked `gpu(emulated=True)`."""
    marker = item.get_closest_marker("gpu")
    kernels = "device" in item.fixturenames or (marker and marker.kwargs.get("emulated"))
    return bool(kernels) and not item.get_closest_marker("multigpu")
