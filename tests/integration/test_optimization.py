"""The bits of a flow do not depend on the optimization of its kernels, so that fast tests may compile them quickly."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.runs.going_on import contents

ROOT = Path(__file__).resolve().parents[2]
CASES = {
    "cavity": "tests/data/cases/small_cavity.toml", "eddies": "tests/data/cases/eddies.toml",
    "bodies": "tests/data/cases/bodies.toml", "two phases": "examples/rising_bubble.toml",
    "charts": "examples/cylinder_body_fitted.toml", "moving bodies": "examples/oscillating_cylinder_immersed.toml",
}  # fmt: skip


@pytest.mark.fast("cavity")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_optimization_of_kernels_changes_no_bit(tmp_path, case):
    for level in ("1", "3"):
        options = ["--quiet", "--set", "time.steps=4", "--set", "output.every={steps=4}", "-o", str(tmp_path / level)]
        subprocess.run(
            [sys.executable, "-m", "taskflow", "run", str(ROOT / case), *options], cwd=ROOT, check=True,
            env={**os.environ, "TASKFLOW_OPTIMIZATION": level},
        )  # fmt: skip
    (fields, log), (expected, lines) = contents(tmp_path / "1"), contents(tmp_path / "3")
    assert fields.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_array_equal(fields[name], values, err_msg=name)
    assert log == lines
