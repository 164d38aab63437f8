"""Tasks of the flow that are compiled together, and how they travel."""

import pickle
import subprocess
import sys

from taskflow.flow.boundaries.boundary import mirror
from taskflow.flow.operators.momentum import momentum
from taskflow.flow.poisson.relaxation import jacobi, jacobi_half
from taskflow.runtime.tasks import Variant, siblings


def test_siblings_share_module_and_text():
    assert siblings(momentum) == (momentum,)
    assert siblings(jacobi) == (jacobi, jacobi_half)


def test_a_task_of_a_package_travels_by_name():
    assert pickle.loads(pickle.dumps(momentum)) is momentum
    assert len(pickle.dumps(momentum)) < 200


def test_variants_travel_by_the_name_of_their_task():
    turned = mirror.of(Variant(orientation="y_max"))
    message = pickle.dumps(turned)
    assert pickle.loads(message) is turned
    present = "import pickle, sys; print(pickle.load(sys.stdin.buffer).name)"
    done = subprocess.run([sys.executable, "-c", present], input=message, capture_output=True, check=True)
    assert done.stdout.decode().strip() == "mirror_y_max"
