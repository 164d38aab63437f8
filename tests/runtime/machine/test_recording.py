"""Recordings of CUDA graphs that another thread spoils, on a driver of paper, and of one that it does not, on a GPU."""

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

from taskflow.common.errors import RunFailed
from taskflow.runtime.machine.device import driver, gpu, lane, lanes

LANE = SimpleNamespace(stream=SimpleNamespace(ptr=0))


@pytest.fixture
def paper(monkeypatch):
    """Put a driver in place of CUDA's that has these verdicts on recordings, one after the other, and notes in `made`
    what it makes of them.
    """

    def put(*verdicts):
        left, made = list(verdicts), []
        one = SimpleNamespace(
            cuStreamBeginCapture_v2=lambda stream, mode: 0,
            cuStreamEndCapture=lambda stream, graph: left.pop(0),
            cuGraphInstantiateWithFlags=lambda executable, graph, flags: made.append(graph) or 0,
            cuGraphDestroy=lambda graph: 0,
            cuGraphUpload=lambda executable, stream: 0,
            cuGraphExecDestroy=lambda executable: 0,
            cuGetErrorName=lambda error, text: 1,
        )
        for module in (lane, driver):
            monkeypatch.setattr(module, "library", lambda: one)
        return made

    return put


@pytest.mark.parametrize("error", [RuntimeError, RunFailed])
def test_a_recording_that_was_spoilt_is_tried_again(paper, error):
    """A call in a recording that is spoilt already fails, with an error of CuPy's or with ours."""
    made, calls = paper(lane.INVALIDATED, 0), []

    def call():
        calls.append(None)
        if len(calls) == 1:
            raise error("operation failed due to a previous error during capture")

    lane.captured(LANE, [call])
    assert (len(made), len(calls)) == (1, 2)


def test_a_recording_that_fails_each_time_tells_why(paper):
    def call():
        raise RuntimeError("a call that waits for the GPU")

    made = paper(*[lane.INVALIDATED] * lane.ATTEMPTS)
    with pytest.raises(RunFailed, match="record a CUDA graph") as told:
        lane.captured(LANE, [call])
    assert "waits for the GPU" in str(told.value.__cause__)
    assert not made


def test_what_fails_in_a_recording_that_was_not_spoilt_is_told(paper):
    def call():
        raise ValueError("no such field")

    made = paper(0)
    with pytest.raises(ValueError, match="no such field"):
        lane.captured(LANE, [call])
    assert not made


@pytest.mark.gpu
def test_values_are_uploaded_while_another_thread_records():
    device, values = gpu(), np.arange(5.0)
    uploaded = []

    def upload():
        device.activate()
        return device.upload(values)

    def call():
        with ThreadPoolExecutor(1) as pool:
            uploaded.append(pool.submit(upload).result())

    lane.captured(lanes(device)[0], [call])
    assert len(uploaded) == 1, "the recording was not spoilt"
    assert np.array_equal(device.to_host(uploaded[0]), values)
