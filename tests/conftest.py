"""What every test shares: tests that need a GPU say why they are skipped where there is none."""

import pytest


def _gpus() -> tuple[int, str]:
    """Number of usable GPUs, and why there are none."""
    from taskflow.machine.device import gpu_problem

    problem = gpu_problem()
    if problem is not None:
        return 0, problem
    import cupy

    return cupy.cuda.runtime.getDeviceCount(), ""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    needs = [(item, 2 if item.get_closest_marker("multigpu") else 1) for item in items
             if item.get_closest_marker("gpu") or item.get_closest_marker("multigpu")]
    if not needs:
        return
    found, problem = _gpus()
    for item, wanted in needs:
        if found < wanted:
            item.add_marker(pytest.mark.skip(reason=problem or f"needs {wanted} GPUs, found {found}"))
