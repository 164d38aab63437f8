"""On what kernels are tested by hand."""

import pytest

from tests.runtime.machine.devices import DEVICES, opened


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> dict:
    """The device of `ByHand`, where it is not its own."""
    return {} if request.param == "cpu" else {"device": opened(request.param)}


@pytest.fixture(params=[pytest.param("f4", marks=pytest.mark.slow), "f8"])
def real(request: pytest.FixtureRequest) -> str:
    """The precision of all fields: double alone where time is short, as each text is compiled for either."""
    return request.param
