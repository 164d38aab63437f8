"""The functions of time of a case, sampled over the planned step: a step may not skip the onset of a wall, an inflow or
a force.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from taskflow.cases.tables.timed import FormulaVector, Value, at_times
from taskflow.common.errors import BadInput
from taskflow.systems.base.expressions import InitialForce
from taskflow.systems.initial.inflow import Inflows

FINE = 1024  # samples of a step that nothing else bounds
STEPS, SAMPLES = 64, 4  # steps that are sampled at once, and samples of each
ROUNDING = 1e-9
NEAR = 0.01  # of the distance of samples, or of the time in which a jump carries a fluid at rest over its CFL number
LARGE = 0.1  # CFL number by a change within a step that shows
MOSTLY = 0.8  # share of all change in a step that a jump has, between two samples
PLACES = 9  # at most, along each direction of a side


@dataclass(frozen=True, eq=False)
class Signal(ABC):
    """A value that changes in time. A change of 1 adds `factor` t^power / power! to the advective rate, after the time
    t: `power` = 0 for speeds, 1 for accelerations, 2 for heating.
    """

    factor: float
    power: int

    def adds(self, change: np.ndarray, after: np.ndarray | float) -> np.ndarray:
        """Return the largest increase of the advective rate by changes [time, place], the time `after` them."""
        largest = np.nan_to_num(np.abs(change)).max(axis=1)
        return np.asarray(self.factor * largest * after**self.power / math.factorial(self.power))

    @abstractmethod
    def at(self, times: np.ndarray, instead: Mapping[str, Value]) -> np.ndarray:
        """Return the values [time, place]. `instead`: values set by the user, by key."""


@dataclass(frozen=True, eq=False)
class NumberSignal(Signal):
    """A number of the case by its `key`."""

    key: str
    value: Value

    def at(self, times: np.ndarray, instead: Mapping[str, Value]) -> np.ndarray:
        return at_times(instead.get(self.key, self.value), times)[:, None]


@dataclass(frozen=True, eq=False)
class ProfileSignal(Signal):
    """A quantity on a side as a function of place and time, sampled in space."""

    inflows: Inflows
    key: str
    name: str

    def at(self, times: np.ndarray, instead: Mapping[str, Value]) -> np.ndarray:
        inflows = self.inflows.following(instead)
        return np.array([inflows.all_at(self.key, self.name, float(t), PLACES) for t in times])


@dataclass(frozen=True, eq=False)
class ForceSignal(Signal):
    """A force given by an expression, with the initial fields in it, sampled in space."""

    force: InitialForce

    def at(self, times: np.ndarray, instead: Mapping[str, Value]) -> np.ndarray:
        return np.array([np.ravel(self.force.of(float(t))) for t in times])


@dataclass(frozen=True, eq=False)
class FormulaSignal(Signal):
    """A vector of formulas of place and time, at points [axis, number]."""

    vector: FormulaVector
    points: np.ndarray

    def at(self, times: np.ndarray, instead: Mapping[str, Value]) -> np.ndarray:
        x, y, z = self.points
        return np.array([np.ravel(self.vector.at(x, y, z, float(t))) for t in times])


@dataclass(eq=False)
class Foresight:
    """All signals of a case, and the end of the run, if known. Identical on all blocks."""

    signals: tuple[Signal, ...]
    end: float | None
    _times: np.ndarray = field(default_factory=lambda: np.zeros(0), init=False)
    _values: list[np.ndarray] = field(default_factory=list, init=False)
    _instead: Mapping[str, Value] = field(default_factory=dict, init=False)

    def longest(
        self, instead: Mapping[str, Value], time: float, dt: float, rate: float, cfl: float, *, slow: float = 1.0
    ) -> tuple[float, float]:
        """Return the longest step from `time`, at most dt, with dt (rate + increase by changes) <= cfl, and that
        increase.

        A step ends before a jump, or soon after one at its start. A fluid that starts to move, `slow` > 1, follows
        growing forces in steps shorter by that factor, and misses little of the motion due to a jump.
        """
        self._sample(instead, time, dt)
        apart = self._times[1] - self._times[0]  # of samples: one that is as good as now is no step away
        passed = int(np.searchsorted(self._times, time + NEAR * apart, side="right")) - 1
        now = min(max(0, passed), self._times.size - 2)
        end = min(self._times.size - 1, int(np.searchsorted(self._times, time + dt)))
        times = np.minimum(self._times[now + 1 : end + 1] - time, dt)
        more, jumps, (seen, least) = np.zeros(times.size), np.zeros(times.size), _visible(dt, cfl, slow > 1)
        for signal, values in zip(self.signals, self._values, strict=True):
            change = values[now + 1 : end + 1] - values[now]
            by = slow if signal.power else 1.0  # speeds are met exactly
            more += by * signal.adds(by * change, by * times)
            jumps += signal.adds(np.diff(values[now : end + 1], axis=0), seen)
        more = np.maximum.accumulate(more)
        if jumps.size and jumps.max() * seen > least and jumps.max() > MOSTLY * jumps.sum():
            jump = int(jumps.argmax())
            if slow > 1:
                early, late = time + (times[jump - 1] if jump else 0.0), time + times[jump]
                early, late = (moment - time for moment in self._around(instead, early, late, cfl))
                dt = float(early if early > late - early else late)
            else:
                dt, jump = float(times[max(jump - 1, 0)]), max(jump, 1)
            times, more = times[:jump], more[:jump]
        long = np.flatnonzero(times * (rate + more) > cfl)
        if not long.size:
            return dt, float(more[-1]) if more.size else 0.0
        first = int(long[0])
        before = times[first - 1] if first else 0.0
        return float(max(before, min(times[first], cfl / (rate + more[first])))), float(more[first])

    def jumped(
        self, instead: Mapping[str, Value], start: float, end: float, dt: float, cfl: float, *, resting: bool = False
    ) -> bool:
        """Return True if values change between two times by an amount that shows in a step of dt."""
        times, (seen, least) = np.array([start, end]), _visible(dt, cfl, resting)
        return any(
            float(signal.adds(np.diff(_tried(signal, times, instead), axis=0), seen).max()) * seen > least
            for signal in self.signals
        )

    def _around(self, instead: Mapping[str, Value], early: float, late: float, cfl: float) -> tuple[float, float]:
        """Return times around a jump, so close that a fluid at rest misses little of the motion due to it."""
        while True:
            middle, (seen, least) = (early + late) / 2, _visible(late - early, cfl, resting=True)
            moments = np.array([early, middle, late])
            adds = sum(signal.adds(np.diff(_tried(signal, moments, instead), axis=0), seen) for signal in self.signals)
            first, second = np.asarray(adds) * seen
            if max(first, second) <= least or not early < middle < late:
                return early, late
            early, late = (early, middle) if first >= second else (middle, late)

    def _sample(self, instead: Mapping[str, Value], time: float, dt: float) -> None:
        """Sample the values of all signals from a time over dt, finely enough."""
        known, end = self._times, math.inf if self.end is None else self.end
        covered = known.size and known[0] <= time and min(time + dt, end) <= known[-1] and instead == self._instead
        if covered and SAMPLES * (known[1] - known[0]) <= dt * (1 + ROUNDING):
            return
        stop = min(time + STEPS * dt, end)
        count = SAMPLES * math.ceil((stop - time) / dt) if stop - time > SAMPLES * dt else FINE
        self._times, self._instead = np.linspace(time, stop, count + 1), dict(instead)
        self._values = [_tried(signal, self._times, self._instead) for signal in self.signals]


def _visible(dt: float, cfl: float, resting: bool) -> tuple[float, float]:
    """Return the time after a change within dt, and the CFL number by then above which it shows."""
    return (dt / NEAR, cfl) if resting else (dt, LARGE * cfl)


def _tried(signal: Signal, times: np.ndarray, instead: Mapping[str, Value]) -> np.ndarray:
    """Return the values. Invalid ones, for example outside a table, do not change."""
    try:
        return signal.at(times, instead)
    except BadInput:
        rows = []
        for time in times:
            with suppress(BadInput):
                rows.append(signal.at(np.array([time]), instead)[0])
                continue
            rows.append(rows[-1] if rows else np.zeros(1))
        return np.array([np.resize(row, rows[-1].size) for row in rows])
