"""On what kernels are tested by hand."""

import pytest

from taskflow.runtime.machine.device import gpu


@pytest.fixture(params=["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> dict:
    """The device of `ByHand`, where it is not its own."""
    return {"device": gpu()} if request.param == "gpu" else {}


@pytest.fixture(params=["f4", "f8"])
def real(request: pytest.FixtureRequest) -> str:
    """The precision of all fields."""
    return request.param
