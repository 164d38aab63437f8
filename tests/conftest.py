"""What every test shares: a test that needs GPUs says why it is skipped where there are none."""

import gc

import pytest
from hypothesis import HealthCheck, settings

# How long one example takes says more about the machine's load than about the code; pytest bounds each test.
# `make test` tries some examples of each property, `make test-all` many.
for name, most in (("taskflow", 40), ("thorough", 200)):
    settings.register_profile(name, deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=most)
settings.load_profile("taskflow")


def usable_gpus() -> tuple[int, str]:
    """Number of usable GPUs, and why there are none."""
    from taskflow.runtime.machine.device import gpu_problem

    problem = gpu_problem()
    if problem:
        return 0, problem
    import cupy

    return cupy.cuda.runtime.getDeviceCount(), ""


def pytest_collection_finish() -> None:
    """Thousands of tests stay until the end: whoever collects garbage need not go through them again and again."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    wanted = {item: 2 if item.get_closest_marker("multigpu") else 1
              for item in items if item.get_closest_marker("gpu") or item.get_closest_marker("multigpu")}
    if not wanted:
        return
    found, problem = usable_gpus()
    for item, number in wanted.items():
        if found < number:
            item.add_marker(pytest.mark.skip(reason=problem or f"needs {number} GPUs, found {found}"))
