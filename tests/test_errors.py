"""Errors say the same wherever they are read: here, and in the client of the process where they were raised."""

import pickle

import pytest

from taskflow.common.errors import BadArgument

REFUSED = [
    (("device", '"gpu"', ": no GPU", 'use {parameter} = "cpu"'), 'device = "gpu": no GPU; use device = "cpu"'),
    (("blocks", "(1, 2)", "", "give three numbers"), "blocks = (1, 2): give three numbers"),
    (("nvtx", None, ": it is not installed", "install it"), "nvtx: it is not installed; install it"),
    (("file", "a\x1b.json", ": is empty", "name another"), "file = a\\x1b.json: is empty; name another"),
]


@pytest.mark.parametrize(("refused", "text"), REFUSED)
def test_an_argument_that_travels(refused, text):
    error = pickle.loads(pickle.dumps(BadArgument(*refused)))
    assert str(error) == text
    assert (error.parameter, error.value, error.problem, error.remedy) == refused
