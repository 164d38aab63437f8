"""Several numbers under one name, exact sums, and tables of numbers that kernels look up by index.

An exact sum is bitwise identical in any order of its terms: each term is split into multiples of three quanta, whose
sums are exact (after J. Demmel, H. D. Nguyen 2013, Proc. 21st IEEE Symp. Comput. Arith., 163). For the machine every
number, and every part of an exact sum, is a separate scalar: `flux.0`, or `flux.0.total`, `.rest` and `.last`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from itertools import count
from typing import Any, Literal

from taskflow.common.caching import cached_property

Operator = Literal["sum", "min", "max"]
OPERATORS: tuple[Operator, ...] = ("sum", "min", "max")
EXACT = "exact sum"
PARTS = ("total", "rest", "last")  # of an exact sum, in order of size
FIRST, NEXT = 2.0**36, 2.0**-21  # quanta, see exact.h


@dataclass(frozen=True)
class ScalarArray:
    """Annotation of a parameter with `count` numbers under one name: `reduced` by the task, as `Reduce["max", 3]` or
    `Reduce["exact sum", 4]`, or read by it, as `Scalar["exact sum", 4]`.
    """

    operator: Operator
    count: int
    exact: bool
    reduced: bool

    def __post_init__(self) -> None:
        if not isinstance(self.count, int) or isinstance(self.count, bool) or self.count < 1:
            raise TypeError(f"{self} is of {self.count!r} numbers; give their number, 1 or more")

    def __str__(self) -> str:
        words = EXACT if self.exact else self.operator
        return f'{"Reduce" if self.reduced else "Scalar"}["{words}", {self.count}]'

    def __or__(self, nothing: None) -> Any:
        raise TypeError(f"{self} | None: numbers are never optional; only fields, constants and a Scalar can be")

    def of(self, name: str) -> tuple[str, ...]:
        """Return the scalars that hold the numbers of this name, in order."""
        return _parts(name, self.count) if self.exact else numbered(name, self.count)

    def values(self, scalars: Mapping[str, float], name: str) -> tuple[float, ...]:
        """Return the numbers of this name."""
        parts = together(scalars, self.of(name))
        if not self.exact:
            return tuple(parts)
        return tuple(_joined(*number) for number in zip(parts[::3], parts[1::3], parts[2::3], strict=True))


@cache
def numbered(name: str, count: int) -> tuple[str, ...]:
    """Return the scalars that hold `count` numbers of this name."""
    return tuple(f"{name}.{n}" for n in range(count))


@cache
def _parts(name: str, count: int) -> tuple[str, ...]:
    return tuple(f"{number}.{part}" for number in numbered(name, count) for part in PARTS)


class ScalarMapping(Mapping[str, float]):
    """Scalars by name, of which many can be read in one call."""

    @abstractmethod
    def together(self, names: Sequence[str]) -> list[float]:
        """Return the values of these scalars. Raises KeyError if one does not exist."""


def together(scalars: Mapping[str, float], names: Sequence[str]) -> list[float]:
    """Return the values of these scalars, in order, read in one call if possible: programs with small equations have
    hundreds. Raises KeyError if one does not exist.
    """
    return scalars.together(names) if isinstance(scalars, ScalarMapping) else [scalars[name] for name in names]


def several(word: Any, *, reduced: bool) -> ScalarArray | Operator | None:
    """Return the meaning of the brackets of `Reduce[...]` and `Scalar[...]`: several numbers, one operator, or None."""
    name, count = word if isinstance(word, tuple) and len(word) == 2 else (word, None)
    if name == EXACT:
        return ScalarArray("sum", 1 if count is None else count, True, reduced)
    for operator in OPERATORS:
        if operator in (name, getattr(name, "__name__", "")):
            return operator if count is None else ScalarArray(operator, count, False, reduced)
    return None


def reduced(scalars: Mapping[str, float], name: str) -> tuple[float, ...]:
    """Return the numbers that a task has reduced under one name. The parts of exact sums are added with rounding.
    Raises KeyError if no scalar belongs to that name.
    """
    numbers = (scalars[name],) if name in scalars else tuple(_reduced(scalars, name))
    if not numbers:
        raise KeyError(name)
    return numbers


def _reduced(scalars: Mapping[str, float], name: str) -> Iterator[float]:
    for n in count():
        if (number := f"{name}.{n}") in scalars:
            yield scalars[number]
        elif f"{number}.{PARTS[0]}" in scalars:
            yield _joined(*(scalars[f"{number}.{part}"] for part in PARTS))
        else:
            return


def _joined(total: float, rest: float, last: float) -> float:
    return total + (rest + last)


def cut(values: Any, bound: float) -> tuple[Any, Any, Any]:
    """Return numbers as sums of three: multiples of 2^-17 bound, of 2^-38 bound, and of 2^-59 bound, or of twice as
    much. Sums of fewer than 2^31 such multiples are exact for |values| < 16 bound.
    """
    coarse, parts = FIRST * float(bound), []
    for _ in PARTS:
        parts.append((values + coarse) - coarse)
        values, coarse = values - parts[-1], NEXT * coarse
    return parts[0], parts[1], parts[2]


@dataclass(frozen=True)
class LookupTable:
    """Numbers by index, beginning with number `first`. As a member of a constant it is a `const real*` in a kernel
    text.

    Every device has a copy in the precision of the kernel.
    """

    first: int
    values: tuple[float, ...]

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Cached, as there may be many numbers, and every binding of a launch looks tables up."""
        return hash((self.first, self.values))

    def __getitem__(self, index: int) -> float:
        """Return number `index`. Raises IndexError if it does not exist."""
        if index < self.first:
            raise IndexError(f"the table begins with number {self.first}; there is no number {index}")
        return self.values[index - self.first]


LookupTables = tuple[LookupTable, LookupTable, LookupTable]  # along x, y and z


def tables(constant: Any) -> Iterator[LookupTable]:
    """Yield the tables among the members of a constant, single or in threes."""
    members = [getattr(constant, field.name) for field in fields(constant)] if is_dataclass(constant) else []
    for member in members:
        several = member if isinstance(member, tuple) else (member,)
        yield from (table for table in several if isinstance(table, LookupTable))
