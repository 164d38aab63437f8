"""Scalars: the named numbers of a program, in the memory of a block's device, where kernels read and write them.

Rounds evaluate the conditions of a repetition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from taskflow.common.errors import BadInput, RunFailed
from taskflow.runtime.machine.device import Array, Device, Lane
from taskflow.runtime.machine.device.driver import launch
from taskflow.runtime.machine.kernel import compile_cuda
from taskflow.runtime.tasks import Launch, Repeat, ScalarMapping

MOST = 2048
NESTED = 4  # buffers made in advance: a later allocation could deadlock with a kernel that waits for this thread
# struct Numbers of scalars.cu
AT_ONCE = 16
NUMBERS = np.dtype([("value", np.float64, AT_ONCE), ("place", np.intc, AT_ONCE), ("count", np.intc)], align=True)


class ScalarsThen(Mapping[str, float]):
    """Snapshot of the scalars: the first `count` of the known ones. Lazy, as programs have a thousand and read ten."""

    def __init__(self, values: Mapping[str, float], known: Mapping[str, int], count: int) -> None:
        self._values, self._known, self._count = values, known, count

    def __getitem__(self, name: str) -> float:
        if self._known[name] >= self._count:
            raise KeyError(name)
        return float(self._values[name])

    def __iter__(self) -> Iterator[str]:
        return islice(self._known, self._count)

    def __len__(self) -> int:
        return self._count


class Scalars(ScalarMapping):
    """Values of the scalars that were set or reduced, by name. Reading waits for all enqueued work, except for values
    that were set last.

    Scalars that kernels read or write have a place on the device, where they are set on `lane`; `wait` waits for a
    condition there. All are read from the device together. Raises RunFailed if kernels use more than `MOST` scalars.
    """

    def __init__(self, device: Device, lane: Lane, wait: Callable[[Callable[[], bool]], None]) -> None:
        self._device, self._lane, self._wait = device, lane, wait
        self._pinned = _pinned(NESTED) if device.kind == "gpu" else []  # unused buffers
        self._memory = device.allocate((MOST,), "f8")
        self._places: dict[str, int] = {}  # in order of the places
        self._known: dict[str, int] = {}  # in order of their first value
        self._values: dict[str, float] = {}  # set or read, and unchanged on the device since
        self._setter: tuple[np.ndarray, Callable[[], None]] | None = None

    @property
    def nbytes(self) -> int:
        return int(self._memory.nbytes)

    def array(self, name: str) -> Array:
        """Return an array of one float64 on the device, with the value of a scalar."""
        place = self._places.get(name)
        if place is None:
            if len(self._places) == MOST:
                raise RunFailed(f"the programs of this run have more than {MOST} scalars; {name!r} has no place")
            place = self._places[name] = len(self._places)
            if name in self._values:
                self._put({place: self._values[name]})
        return self._memory[place : place + 1]

    def set(self, values: Mapping[str, float]) -> None:
        """Set scalars, in the order of enqueued work."""
        for name in values:
            self._known.setdefault(name, len(self._known))
        self._values.update(values)
        if placed := {self._places[name]: value for name, value in values.items() if name in self._places}:
            self._put(placed)

    def require(self, launches: Iterable[Launch]) -> None:
        """Raises BadInput if a launch reads a number that is neither set nor reduced before it."""
        made = set(self._known)
        for item in launches:
            if missing := [name for name in item.scalars.values() if name not in made]:
                raise BadInput(
                    f"{item.task.name} reads {missing[0]!r}, which has no value yet: give it one, run(...,"
                    f" {missing[0]}=value), or let a task, derive or repeat make it before"
                )
            made.update(name for name, _ in item.reductions.values())

    def changed(self, names: Iterable[str]) -> None:
        """Record that passes have changed these scalars on the device."""
        for name in names:
            if name not in self._known:
                self._known[name] = len(self._known)
            if name in self._values:
                del self._values[name]

    def later(self) -> Callable[[], Mapping[str, float]]:
        """Return a function, to be called once, that waits for all presently enqueued work and returns the scalars."""
        fetched, known, count = self._fetch(), self._values.copy(), len(self._known)
        return lambda: ScalarsThen(fetched() | known, self._known, count)

    def __getitem__(self, name: str) -> float:
        if name not in self._values:
            self._read((name,))
        return float(self._values[name])

    def together(self, names: Sequence[str]) -> list[float]:
        values = self._values
        if unread := [name for name in names if name not in values]:
            self._read(unread)
        return [float(values[name]) for name in names]

    def _read(self, names: Sequence[str]) -> None:
        """Read scalars from the device. Raises KeyError if one does not exist."""
        for name in names:
            if name not in self._known:
                raise KeyError(name)
        if self._device.kind == "gpu":
            self._values |= self._fetch()()
            return
        self._wait(self._lane.reached())
        for name in names:  # programs read ten of a thousand, hundreds of times per second
            self._values[name] = self._memory.item(self._places[name])

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def _fetch(self) -> Callable[[], dict[str, float]]:
        """Request the numbers on the device after all presently enqueued work. The result waits for them."""
        names = list(self._places)
        if self._device.kind == "cpu":
            self._wait(self._lane.reached())
            present = dict(zip(names, self._memory[: len(names)].tolist(), strict=True))
            return lambda: present
        buffer = (self._pinned or _pinned(1)).pop()
        self._memory.get(out=buffer, stream=self._lane.stream, blocking=False)
        reached = self._lane.reached()

        def fetched() -> dict[str, float]:
            self._wait(reached)
            values = buffer[: len(names)].tolist()
            self._pinned.append(buffer)
            return dict(zip(names, values, strict=True))

        return fetched

    def _put(self, values: Mapping[int, float]) -> None:
        """Set the numbers in these places of the device, in the order of enqueued work."""
        if self._device.kind == "cpu":
            for place, value in values.items():
                self._memory[place] = value
            return
        if self._setter is None:
            numbers = np.zeros(1, NUMBERS)
            text = Path(__file__).with_name("scalars.cu").read_text(encoding="utf-8")
            function = compile_cuda.module(text).get_function("set_numbers")
            arguments = [np.uint64(self._memory.data.ptr), numbers]
            self._setter = numbers, launch(function.kernel, (1, 1, 1), (32, 1, 1), arguments, None, self._memory)
        numbers, call = self._setter
        rest = iter(values.items())
        while some := dict(islice(rest, AT_ONCE)):  # a launch copies its arguments, so the buffer can be reused
            numbers["count"] = len(some)
            numbers["place"][0, : len(some)], numbers["value"][0, : len(some)] = list(some), list(some.values())
            call()


def _pinned(count: int) -> list[np.ndarray]:
    """Return `count` host buffers for all scalars, which a GPU fills asynchronously."""
    import cupyx

    return [cupyx.empty_pinned((MOST,), np.float64) for _ in range(count)]


class Rounds:
    """A repetition in progress on one block. `done` counts passes of its body."""

    def __init__(self, repeat: Repeat, scalars: Scalars) -> None:
        self._repeat, self._scalars = repeat, scalars
        self.done, self._enough = 0, False
        self._asked: Callable[[], Mapping[str, float]] | None = None
        self._seen: list[Mapping[str, float]] = []
        if repeat.further:
            self._ask()

    @property
    def over(self) -> bool:
        """Return True if the condition holds or the maximum number of passes is reached."""
        return self._enough or self.done == self._repeat.times

    def another(self) -> None:
        """Count an enqueued pass of the body, and evaluate the condition if it is scheduled."""
        self.done += 1
        self._ask()

    def _ask(self) -> None:
        repeat = self._repeat
        if repeat.until is None or self.done % repeat.every:
            return
        more = self.done + repeat.every <= repeat.times
        if not repeat.lag and (more or repeat.otherwise is not None):
            now = self._scalars if repeat.otherwise is None else self._scalars.later()()
            self._enough = repeat.until(now)
            if repeat.otherwise is not None:
                self._seen.append(now)
        elif repeat.lag:
            self._enough = self._asked is not None and repeat.until(self._asked())
            self._asked = self._scalars.later() if more and not self._enough else None

    def close(self) -> None:
        """End the repetition, and call `otherwise` if the condition does not hold. Raises its exceptions."""
        if self._repeat.count is not None:
            self._scalars.set({self._repeat.count: float(self.done)})
        if self._repeat.otherwise is not None and not self._enough:
            self._repeat.otherwise(self._seen)
