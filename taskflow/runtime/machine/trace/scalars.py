"""Scalars: the named numbers of a program, in the memory of a block's device, where kernels read and write them.

Rounds are the questions of a repetition: after which round its numbers are looked at, and what follows from them.
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
NESTED = 4  # buffers made in advance: to allocate one later might wait for a kernel that waits for us
# struct Numbers of scalars.cu
AT_ONCE = 16
NUMBERS = np.dtype([("value", np.float64, AT_ONCE), ("place", np.intc, AT_ONCE), ("count", np.intc)], align=True)


class ScalarsThen(Mapping[str, float]):
    """The scalars at a moment: the first `count` of those that are known by now. Programs have a thousand and ask for
    ten.
    """

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
    """The values that were set, and that passes have reduced, by name. Reading waits until the device has done what is
    enqueued, and nothing waits for what was set last.

    Those that kernels read or write, and these alone, have a place on the device, where they are set on `lane`; `wait`
    waits until something there is true. All are read from the device at once. Raises RunFailed where kernels read and
    write more than `MOST`.
    """

    def __init__(self, device: Device, lane: Lane, wait: Callable[[Callable[[], bool]], None]) -> None:
        self._device, self._lane, self._wait = device, lane, wait
        self._pinned = _pinned(NESTED) if device.kind == "gpu" else []  # buffers that nobody waits for
        self._memory = device.allocate((MOST,), "f8")
        self._places: dict[str, int] = {}  # in their order
        self._known: dict[str, int] = {}  # in the order in which they came
        self._values: dict[str, float] = {}  # set or read, and not changed on the device since
        self._setter: tuple[np.ndarray, Callable[[], None]] | None = None

    @property
    def nbytes(self) -> int:
        """Bytes on the device."""
        return int(self._memory.nbytes)

    def array(self, name: str) -> Array:
        """An array of one float64, where kernels find a scalar."""
        place = self._places.get(name)
        if place is None:
            if len(self._places) == MOST:
                raise RunFailed(f"the programs of this run have more than {MOST} scalars; {name!r} has no place")
            place = self._places[name] = len(self._places)
            if name in self._values:
                self._put({place: self._values[name]})
        return self._memory[place : place + 1]

    def set(self, values: Mapping[str, float]) -> None:
        """Give scalars values, in the order of what is enqueued."""
        for name in values:
            self._known.setdefault(name, len(self._known))
        self._values.update(values)
        if placed := {self._places[name]: value for name, value in values.items() if name in self._places}:
            self._put(placed)

    def require(self, launches: Iterable[Launch]) -> None:
        """Raises BadInput where one of the launches reads a number that nobody has made by then."""
        made = set(self._known)
        for item in launches:
            if missing := [name for name in item.scalars.values() if name not in made]:
                raise BadInput(
                    f"{item.task.name} reads {missing[0]!r}, which has no value yet: give it one, run(...,"
                    f" {missing[0]}=value), or let a task, derive or repeat make it before"
                )
            made.update(name for name, _ in item.reductions.values())

    def changed(self, names: Iterable[str]) -> None:
        """Note that passes have produced new values of these scalars on the device."""
        for name in names:
            if name not in self._known:
                self._known[name] = len(self._known)
            if name in self._values:
                del self._values[name]

    def later(self) -> Callable[[], Mapping[str, float]]:
        """The scalars when all is done that is enqueued by now: the result waits for that; it is called once."""
        fetched, known, count = self._fetch(), self._values.copy(), len(self._known)
        return lambda: ScalarsThen(fetched() | known, self._known, count)

    def __getitem__(self, name: str) -> float:
        value = self._values.get(name)
        return self.together((name,))[0] if value is None else float(value)

    def together(self, names: Sequence[str]) -> list[float]:
        """The values of these scalars. Raises KeyError where there is no such scalar."""
        values = self._values
        try:
            return [float(values[name]) for name in names]
        except KeyError:
            for name in names:
                if name not in self._known:
                    raise KeyError(name) from None
        if self._device.kind == "cpu":  # a program asks for ten of a thousand, hundreds of times each second
            self._wait(self._lane.reached())
            number = self._memory.item
            values |= {name: number(self._places[name]) for name in names if name not in values}
        else:
            values |= self._fetch()()
        return [float(values[name]) for name in names]

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def _fetch(self) -> Callable[[], dict[str, float]]:
        """Ask for the numbers that the device has when all is done that is enqueued by now; the result waits."""
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
        """Set the numbers in these places of the device, in the order of what is enqueued."""
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
        while some := dict(islice(rest, AT_ONCE)):  # a launch copies its arguments, which may change then
            numbers["count"] = len(some)
            numbers["place"][0, : len(some)], numbers["value"][0, : len(some)] = list(some), list(some.values())
            call()


def _pinned(count: int) -> list[np.ndarray]:
    """Host memory for all scalars, so many times, which a GPU fills while the host goes on."""
    import cupyx

    return [cupyx.empty_pinned((MOST,), np.float64) for _ in range(count)]


class Rounds:
    """A repetition in progress on one block. `done` passes of its body; `over` when no more are to be done."""

    def __init__(self, repeat: Repeat, scalars: Scalars) -> None:
        self._repeat, self._scalars = repeat, scalars
        self.done, self._enough = 0, False
        self._asked: Callable[[], Mapping[str, float]] | None = None
        self._seen: list[Mapping[str, float]] = []
        if repeat.further:
            self._ask()

    @property
    def over(self) -> bool:
        """Whether it was enough, or as often as it may be."""
        return self._enough or self.done == self._repeat.times

    def another(self) -> None:
        """Note that a pass of the body has been enqueued, and ask what is to be asked after it."""
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
        """End the repetition. Raises what `otherwise` raises where it was not enough."""
        if self._repeat.count is not None:
            self._scalars.set({self._repeat.count: float(self.done)})
        if self._repeat.otherwise is not None and not self._enough:
            self._repeat.otherwise(self._seen)
