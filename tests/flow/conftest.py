"""On what kernels are tested by hand."""

import pytest

from tests.runtime.machine.devices import DEVICES, opened


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> dict:
    """The device of `ByHand`, where it is not its own."""
    return {} if request.param == "cpu" else {"device": opened(request.param)}


@pytest.fixture(params=["f4", "f8"])
def real(request: pytest.FixtureRequest) -> str:
    """The precision of all fields."""
    return request.param
