"""Numbers of a case that change in time: expressions, tables of the time, and functions given in code."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from taskflow.cases.formulas.expression import COORDINATES, TIME, Expression, NamedFunction, compiled, field_values
from taskflow.cases.formulas.profile_table import BESIDE, TableFile
from taskflow.cases.formulas.values import number, saying, three
from taskflow.cases.language.capabilities import TIMED
from taskflow.common.caching import cached_property
from taskflow.common.errors import BadInput
from taskflow.flow.grid import Vector
from taskflow.runtime.regions import triple

CSV = ".csv"


@dataclass(frozen=True)
class TimeTable(TableFile):
    """A table of a number over time: two numbers in each line, the time and the value, and between them by linear
    interpolation. The first line may have names; lines that begin with # are comments. Raises BadInput where `text`,
    the content of the file at `path`, is something else.
    """

    varies = True
    sort = TIMED

    def __post_init__(self) -> None:
        assert self._columns

    @cached_property
    def _columns(self) -> tuple[np.ndarray, np.ndarray]:
        lines = [(n, line) for n, line in enumerate(self.text.splitlines(), start=1) if line.strip()]
        rows = [(n, line.split(",")) for n, line in lines if not line.lstrip().startswith("#")]
        if rows and not _is_number(rows[0][1][0]):
            rows = rows[1:]
        for n, row in rows:
            if len(row) != 2 or not all(map(_is_number, row)):
                raise self._wrong(f"line {n} is {','.join(row)[:40]!r}; give two finite numbers, time and value")
        times, values = (np.array([float(row[column]) for _, row in rows]) for column in (0, 1))
        if times.size < 2 or np.any(np.diff(times) <= 0):
            raise self._wrong("give two or more lines, with times that increase")
        return times, values

    def at(self, time: float) -> float:
        """The value of a time. Raises BadInput beyond the table."""
        times, values = self._columns
        beyond = BESIDE * (times[-1] - times[0])
        if not times[0] - beyond <= time <= times[-1] + beyond:
            raise self._wrong(
                f"a value is needed at time {time:g}, the table goes from {times[0]:g} to {times[-1]:g}; give lines"
                " that cover the run"
            )
        return float(np.interp(time, times, values))

    def clipped(self, times: np.ndarray) -> np.ndarray:
        """The values of times; beyond the table those at its ends."""
        return np.interp(times, *self._columns)

    def __call__(self, x: Any, y: Any, z: Any, t: float = 0.0) -> np.ndarray:
        """The value of a time at all places, to whose shape they broadcast."""
        return np.full(np.broadcast_shapes(np.shape(x), np.shape(y), np.shape(z)), self.at(t))


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


@dataclass(frozen=True)
class TimeFunction(NamedFunction):
    """A function f(t) of a number, at an inflow f(x, y, z, t) of arrays. It travels to the blocks by value."""

    varies = True
    sort = TIMED

    def __reduce__(self) -> tuple[Any, ...]:
        from taskflow.runtime.cluster.jobs import Pickled

        return _restored, (Pickled.of(self.call),)

    def at(self, time: float) -> float:
        """The value of a time. Raises BadInput where that is no finite number."""
        returned = self._called(time)
        try:  # of NumPy, and of what is like it, a number may be an array without a dimension
            return number(returned.item() if np.ndim(returned) == 0 and hasattr(returned, "item") else returned)
        except BadInput:
            what = f"an array of shape {returned.shape}" if np.ndim(returned) else f"{returned!r:.60}"
            words = f"the function {self.source} gives no number at time {time:g}: it returned {what}"
            raise BadInput(f"{words}; return a finite number") from None

    def __call__(self, x: Any, y: Any, z: Any, t: float = 0.0) -> np.ndarray:
        """Return values in float64, in the shape to which x, y, z broadcast. Raises BadInput if one is not finite."""
        return field_values(self._called(x, y, z, t), (x, y, z), f"the function {self.source}")

    def _called(self, *of: Any) -> Any:
        takes = "the time" if len(of) == 1 else "x, y, z and the time"
        return self.called(*of, takes=takes, when=f" at time {of[-1]:g}")


def _restored(pickled: Any) -> TimeFunction:
    return TimeFunction(pickled.open())


Timed = Expression | TimeTable | TimeFunction
Value = float | Timed
Values = tuple[Value, Value, Value]


class FormulaVector(ABC):
    """A vector of numbers and of values that vary in place and time."""

    @property
    @abstractmethod
    def vector(self) -> Values:
        """Its components."""

    @property
    def enters(self) -> bool:
        """Return True if functions are f(x, y, z, t) of arrays, as at an inflow, instead of f(t)."""
        return False

    @property
    def varies(self) -> bool:
        """True if the value depends on place or time."""
        return changes(*self.vector)

    @property
    def changes(self) -> bool:
        """Return True if a value changes in time."""
        return any(item.varies for item in self.vector if isinstance(item, Timed))

    @property
    def numbers(self) -> Vector:
        """The components, 0 for varying ones."""
        return triple(item if isinstance(item, float) else 0.0 for item in self.vector)

    def at(self, x: np.ndarray, y: np.ndarray, z: np.ndarray, t: float = 0.0) -> list[np.ndarray]:
        """Return the components at points and a time. Raises BadInput if one is not finite."""
        moments = (item.at(t) if isinstance(item, TimeFunction) and not self.enters else item for item in self.vector)
        return [np.full(x.shape, item) if isinstance(item, float) else item(x, y, z, t) for item in moments]


def value(raw: Any) -> Value:
    """A number, an expression in x, y, z and t, the name of a table of the time, or a function."""
    if isinstance(raw, Timed):
        return raw
    if isinstance(raw, str):
        return TimeTable.load(raw) if raw.endswith(CSV) else Expression(raw, timed=True)
    if callable(raw):
        return TimeFunction(raw)
    return float(saying(number, "give a finite number, an expression, or the name of a table (.csv)")(raw))


def of_time(raw: Any) -> Value:
    """A number, or what changes in time alone."""
    read = value(raw)
    if isinstance(read, Expression) and (places := sorted(read.names & {*COORDINATES})):
        without = f"give an expression of t, without {', '.join(places)}"
        raise BadInput(f"it is the same everywhere, in this version; {without}")
    return read


def three_values(raw: Any) -> Values:
    """Three numbers, where all are; else values."""
    plain = not isinstance(raw, list | tuple) or not any(isinstance(v, str | Timed) or callable(v) for v in raw)
    return three(number, "three numbers")(raw) if plain else three(value, "three numbers or expressions")(raw)


def three_of_time(raw: Any) -> Values:
    """Three numbers, where all are; else values of the time."""
    three_values(raw)
    return three(of_time, "three numbers or expressions of t")(raw)


def changes(*values: Value | None) -> bool:
    """Return whether one of these changes in time."""
    return any(isinstance(v, Timed) for v in values)


def placed(*values: Value | None) -> bool:
    """Return whether one of these depends on the place."""
    return any(isinstance(v, Expression) and bool(v.names & {*COORDINATES}) for v in values)


def at_times(of: Value, times: np.ndarray) -> np.ndarray:
    """The numbers that a value of the time is at several times: beyond a table its last ones, 0 where an expression is
    not finite. Raises BadInput where a function fails.
    """
    if isinstance(of, Expression) and isinstance(of.source, str):
        with np.errstate(all="ignore"):
            values = compiled(of.source, (*COORDINATES, TIME))({**dict.fromkeys(COORDINATES, 0.0), TIME: times})
        return np.nan_to_num(np.broadcast_to(values, times.shape), posinf=0.0, neginf=0.0)
    if isinstance(of, TimeTable):
        return of.clipped(times)
    return np.array([at_time(of, float(time)) for time in times])


def at_time(of: Value, time: float) -> float:
    """Return the number that a value of the time has. Raises BadInput if it is invalid."""
    if isinstance(of, Expression):
        with np.errstate(all="ignore"):
            try:
                return float(of(0.0, 0.0, 0.0, time))
            except BadInput:
                raise BadInput(f"{of.source!r} is not finite at time {time:g}; give an expression that is") from None
    return of if isinstance(of, float) else of.at(time)
