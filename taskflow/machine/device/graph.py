"""CUDA graphs: launches recorded once and replayed as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from taskflow.machine.device.lane import Lane


def captured(lane: Lane, calls: Sequence[Callable[[], None]]) -> Callable[[], None]:
    """One launch on `lane` that does what the calls enqueue there, and on lanes that follow it and are followed by it.

    The calls must not wait on the host, nor allocate.
    """
    from cupy.cuda import runtime

    stream = lane.stream
    stream.begin_capture(runtime.streamCaptureModeThreadLocal)  # other threads may allocate meanwhile
    try:
        for call in calls:
            call()
    finally:
        graph = stream.end_capture()
    graph.upload(stream)

    def launch(_: object = calls) -> None:  # what the calls point to has to stay
        graph.launch(stream)

    return launch
