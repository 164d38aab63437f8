"""A run has all of its kernels compiled together, before its first pass."""

from __future__ import annotations

import pytest

from taskflow.runtime.machine.kernel import kernel
from tests.cases.on_charts import LID, case, changed
from tests.runs.going_on import go
from tests.test_invariance import BOUNDARIES, stirred

IMPLICIT = changed(LID, method={"type": "artificial-compressibility", "march": "implicit"}, time__steps=2)


@pytest.mark.parametrize("full", [
    pytest.param(case(IMPLICIT), id="charts", marks=pytest.mark.slow),
    pytest.param(stirred(BOUNDARIES["box"]), id="box"),
])  # fmt: skip
def test_kernels_are_compiled_in_one_go(tmp_path, monkeypatch, full):
    goes, make = [], kernel.side_by_side
    monkeypatch.setattr(kernel, "_made", set())
    monkeypatch.setattr(kernel, "side_by_side", lambda *about: goes.append(len(about[1])) or make(*about))
    go(full, tmp_path / "run")
    assert len(goes) == 1
    assert goes[0] > 9
