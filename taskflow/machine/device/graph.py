"""CUDA graphs: launches recorded once and replayed as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from taskflow.machine.device.lane import Lane


def captured(first: Lane, others: Sequence[Lane], calls: Sequence[Callable[[], None]]) -> Callable[[], None]:
    """One launch on `first` that does what the calls enqueue, on whichever of the lanes.

    The other lanes begin with what `first` had enqueued before, and `first` goes on when all of them are done. The
    calls must not wait on the host, nor allocate.
    """
    stream, relay = first.stream, [lane for lane in others if lane is not first]
    fork, joins = first.event(), [lane.event() for lane in relay]
    stream.begin_capture(_thread_local())
    try:
        first.recorder(fork)()
        for lane in relay:
            lane.waiter(fork)()
        for call in calls:
            call()
        for lane, join in zip(relay, joins, strict=True):
            lane.recorder(join)()
            first.waiter(join)()
    finally:
        graph = stream.end_capture()
    graph.upload(stream)

    def launch(_: object = calls) -> None:  # what the calls point to has to stay
        graph.launch(stream)

    return launch


def _thread_local() -> int:
    """Other threads of this process may allocate meanwhile."""
    from cupy.cuda import runtime

    return int(runtime.streamCaptureModeThreadLocal)
