"""Tasks of the flow that are compiled together, and how they travel."""

import pickle

from taskflow.flow.momentum import momentum
from taskflow.flow.poisson.jacobi import jacobi, jacobi_half
from taskflow.tasks import siblings


def test_siblings_share_module_and_text():
    assert siblings(momentum) == (momentum,)
    assert siblings(jacobi) == (jacobi, jacobi_half)


def test_a_task_of_a_package_travels_by_name():
    assert pickle.loads(pickle.dumps(momentum)) is momentum
    assert len(pickle.dumps(momentum)) < 200

