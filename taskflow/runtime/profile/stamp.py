"""Stamps: times recorded by a device itself. Clocks of hosts and devices are mapped to one scale, nanoseconds since the
epoch, with an accuracy.

Host times of enqueuing are meaningless for a device. So a kernel of one thread records the device time before and after
each operation on a lane. It appends to a log of its lane. Lanes keep their order, so stamps need no number and also
work in a captured graph, which replays the same stamps.

Host times are from its monotonic clock, shifted once to the time of day. Blocks of one host agree to the stated
accuracy. Blocks of different hosts agree as well as their hosts' times of day (0.1 to 10 ms with NTP), which is not
measured here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from taskflow.runtime.machine.device import Device, Lane
from taskflow.runtime.machine.kernel import compile_cuda
from taskflow.runtime.machine.kernel.call import address, cuda_call

TRIES = 50  # readings of two clocks
CAPACITY = 1 << 20  # stamps of a lane: 8 MiB
HOLD = 2_000_000  # nanoseconds, enough for the host to enqueue many stamps
CUDA = """
__device__ unsigned long long now() {
  unsigned long long moment;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(moment));
  return moment;
}

extern "C" __global__ void stamp(unsigned long long* log, unsigned long long capacity) {
  const unsigned long long moment = now(), n = log[0];
  if (n < capacity) log[n + 1] = moment;
  log[0] = n + 1;
}

extern "C" __global__ void hold(unsigned long long nanoseconds) {
  const unsigned long long begin = now();
  while (now() - begin < nanoseconds) {}
}
"""


@dataclass(frozen=True)
class Offset:
    """Offset between two clocks and its accuracy, in nanoseconds."""

    add: int
    accuracy: int


def narrowest(windows: Iterable[tuple[int, int, int]]) -> Offset:
    """Return the offset from a clock to a reference. A window is reference before, clock in between, reference after.

    The clock was read within its window. The narrowest counts, with half of its width as accuracy.
    """
    before, between, after = min(windows, key=lambda window: window[2] - window[0])
    return Offset((before + after) // 2 - between, -(-(after - before) // 2))


def host_offset() -> Offset:
    """Return the offset from this process's monotonic clock to the time of day of its host."""
    offset = narrowest((time.perf_counter_ns(), time.time_ns(), time.perf_counter_ns()) for _ in range(TRIES))
    return Offset(-offset.add, offset.accuracy)


class Stamps:
    """The log of one lane of a GPU."""

    def __init__(self, device: Device, lane: Lane) -> None:
        self.device, self.lane = device, lane
        with lane.active():
            self._log = device.allocate((CAPACITY + 1,), "u8")
        self.stamp = self._kernel("stamp", address(device.pointer(self._log)), np.uint64(CAPACITY))

    def _kernel(self, name: str, *values: np.uint64) -> Callable[[], None]:
        """Return a launch of one thread on the lane."""
        function = compile_cuda.module(CUDA).get_function(name)
        return cuda_call(function, ((1, 1, 1), (1, 1, 1)), values, self.lane, self._log)

    def read(self) -> list[int]:
        """Return all stamps in the log, in the order of the lane, in nanoseconds of the device. At most CAPACITY are
        kept.
        """
        with self.lane.active():
            count = min(int(self.device.to_host(self._log[:1])[0]), CAPACITY)
            return [int(moment) for moment in self.device.to_host(self._log[1 : 1 + count])]

    def clear(self) -> None:
        with self.lane.active():
            self._log[:1] = 0

    def calibrate(self) -> tuple[Offset, int]:
        """Return the offset from the device's time to the host's monotonic clock, and the cost of a stamp on the lane.

        The cost is the median interval, in nanoseconds, between consecutive stamps that were enqueued while the lane
        was held. Clears the log.
        """
        self.clear()
        around = []
        for _ in range(TRIES):
            before = time.perf_counter_ns()
            self.stamp()
            self.lane.synchronize()
            around.append((before, time.perf_counter_ns()))
        offset = narrowest((before, at, after) for (before, after), at in zip(around, self.read(), strict=True))
        self.clear()
        self._kernel("hold", np.uint64(HOLD))()
        for _ in range(TRIES):
            self.stamp()
        cost = int(np.median(np.diff(np.array(self.read(), np.int64))))
        self.clear()
        return offset, cost
