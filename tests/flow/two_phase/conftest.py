"""The precision of two phases by hand."""

import pytest


@pytest.fixture(params=[pytest.param("f4", marks=pytest.mark.slow), "f8"])
def real(request: pytest.FixtureRequest) -> str:
    """The precision of all fields. The texts are the longest that there are, and a compiler takes a minute for them."""
    return request.param
