"""A GPU as a device, and its lanes: copies to and from it, copies that it holds, and streams. It is played."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from taskflow.common.errors import RunFailed
from taskflow.runtime.machine.device import device as module
from taskflow.runtime.machine.device import driver, lanes
from taskflow.runtime.machine.device.device import Gpu
from tests.runtime.machine.driver import built
from tests.runtime.machine.played_gpu import GpuArray, Memory, played_cupy

DRIVER = r"""
extern "C" int cuEventQuery(void* event) { return event == (void*)1 ? 600 : 0; }
"""


class Stream:
    """A stream that notes its calls. One is the current stream."""

    current = None

    def __init__(self, **options):
        self.options, self.calls, self.ptr = options, [], id(self)

    def use(self):
        Stream.current = self

    def synchronize(self):
        self.calls.append("synchronize")

    def record(self, event):
        self.calls.append(("record", event))

    def wait_event(self, event):
        self.calls.append(("wait", event))


@pytest.fixture
def gpu(monkeypatch):
    """The second GPU of a process."""
    memory, cupyx = Memory(room=1 << 16), ModuleType("cupyx")
    cupyx.empty_pinned = np.empty
    played, used = played_cupy(memory), []
    monkeypatch.setattr(Stream, "current", Stream())
    played.cuda.Stream, played.cuda.get_current_stream = Stream, lambda: Stream.current
    played.cuda.Event = lambda **options: SimpleNamespace(ptr=1, **options)
    played.zeros = lambda shape, dtype: np.zeros(shape, dtype).view(GpuArray)
    played.asarray = lambda values: np.array(values).view(GpuArray)
    played.ascontiguousarray = lambda array: np.ascontiguousarray(array).view(GpuArray)
    device = played.cuda.Device

    class Used(device):
        def use(self):
            used.append(self.id)

        def synchronize(self):
            used.append("synchronized")

    played.cuda.Device = Used
    monkeypatch.setitem(sys.modules, "cupy", played)
    monkeypatch.setitem(sys.modules, "cupyx", cupyx)
    made = Gpu(1)
    made.used, made.memory = used, memory
    return made


def test_it_is_current_for_the_thread_that_opens_it(gpu):
    assert (gpu.used, gpu.name, gpu.kind) == ([1], "played", "gpu")
    gpu.activate()
    gpu.synchronize()
    assert gpu.used == [1, 1, "synchronized"]


@pytest.mark.parametrize("large", [False, True])
def test_values_go_there_and_come_back(large, gpu, monkeypatch):
    """Large ones through pinned memory, piece by piece. Parts of arrays are made compact before."""
    monkeypatch.setattr(module, "LARGE", 1 if large else 1 << 20)
    values = np.arange(24.0).reshape(2, 3, 4)
    array = gpu.upload(values)
    assert Stream.current.calls == ["synchronize"], "other lanes see it"
    assert gpu.pointer(array) == array.ctypes.data
    assert (gpu.to_host(array[:, 1:, ::2]) == values[:, 1:, ::2]).all()
    assert sum(gpu.memory.done) == (64 if large else 0)


@pytest.mark.parametrize("spare", [0, 1 << 17])
def test_a_held_copy_is_of_the_moment_that_asked(spare, gpu, monkeypatch):
    """On the GPU, as long as it has room: other work changes the array before the copy is fetched."""
    monkeypatch.setattr(module, "SPARE", spare)
    gpu.xp.get_default_memory_pool = lambda: SimpleNamespace(free_bytes=lambda: 100)
    array = gpu.upload(np.arange(6.0))
    held = gpu.hold(array)
    array[:] = -1.0
    fetched = len(gpu.memory.done)
    assert [*held()] == [0, 1, 2, 3, 4, 5]
    assert len(gpu.memory.done) - fetched == (0 if spare else 1), "it stayed on the GPU until then"


def test_bytes_move_on_a_stream(gpu):
    gpu.memory.memcpyDefault = 4
    source, target = np.arange(3.0), np.zeros(3)
    gpu.move(target.ctypes.data, source.ctypes.data, 16, Stream())
    assert [*target] == [0, 1, 0]


def test_lanes_are_streams_of_two_priorities(gpu):
    plain, urgent = lanes(gpu)
    assert plain.asynchronous
    assert [lane.stream.options for lane in (plain, urgent)] == [
        {"non_blocking": True, "priority": 0}, {"non_blocking": True, "priority": -5},
    ]  # fmt: skip


def test_the_stream_before_is_current_again(gpu):
    """Also after an error, and if lanes are nested."""
    before, (plain, urgent) = Stream.current, lanes(gpu)

    def fails():
        with urgent.active():
            assert Stream.current is urgent.stream
            raise ValueError("within")

    with plain.active():
        assert Stream.current is plain.stream
        with pytest.raises(ValueError, match="within"):
            fails()
        assert Stream.current is plain.stream
    assert Stream.current is before
    urgent.activate()
    assert Stream.current is urgent.stream


def test_a_lane_waits_for_an_event_of_the_other_on_the_device(gpu):
    plain, urgent = lanes(gpu)
    event = plain.event()
    plain.recorder(event)()
    urgent.waiter(event)()
    assert plain.stream.calls == [("record", event)]
    assert urgent.stream.calls == [("wait", event)]
    assert event.disable_timing
    plain.synchronize()
    assert plain.stream.calls[-1] == "synchronize"


def test_work_is_reached_when_its_event_is_and_no_kernel_raised_the_alarm(gpu, monkeypatch, tmp_path):
    library = built(DRIVER, tmp_path)
    monkeypatch.setattr(driver, "at_once", lambda: library)
    plain, _ = lanes(gpu)
    reached = plain.reached()
    ((kind, event),) = plain.stream.calls
    assert (kind, reached()) == ("record", False)
    event.ptr = 2
    assert reached()
    gpu.alarm._word[0] = 3
    with pytest.raises(RunFailed, match="thread block 3 timed out"):
        reached()
