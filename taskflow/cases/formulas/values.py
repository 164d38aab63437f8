"""Strict readings of one value as a number, a vector or a choice. `BadInput` says what to give instead."""

import difflib
import math
import operator
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from taskflow.common.errors import BadInput

LARGEST_WHOLE = 2**31 - 1


def number(value: object) -> float:
    """A finite number; integers count, true and text do not."""
    return _real(value, "a number", "give a finite number", -math.inf)


def non_negative(value: object) -> float:
    return _real(value, "a number >= 0", "give a finite number >= 0", -math.ulp(0.0))


def positive(value: object) -> float:
    return _real(value, "a number > 0", "give a finite number > 0", 0.0)


def checked(kind: Callable[[object], Any], fits: Callable[[Any], bool], remedy: str) -> Callable[[object], Any]:
    """Reads a value of a `kind` that fits."""

    def read(value: object) -> Any:
        result = kind(value)
        if not fits(result):
            raise BadInput(remedy)
        return result

    return read


def saying(kind: Callable[[object], Any], remedy: str) -> Callable[[object], Any]:
    """Read a value of a `kind`; `remedy` is the advice for any invalid value."""

    def read(value: object) -> Any:
        try:
            return kind(value)
        except BadInput:
            raise BadInput(remedy) from None

    return read


def share(meaning: str) -> Callable[[object], float]:
    """Return the reader of a number > 0 and < 1, described by `meaning`."""
    return checked(positive, lambda value: value < 1, f"give a number < 1, {meaning}")


def tuple_of(kind: Callable[[object], Any], count: int, remedy: str) -> Callable[[object], tuple[Any, ...]]:
    """Read a list of a given number of values of one `kind`."""

    def read(value: object) -> tuple[Any, ...]:
        if not isinstance(value, (list, tuple)) or len(value) != count:
            raise BadInput(remedy)
        return tuple(kind(item) for item in value)

    return read


def _real(value: object, what: str, finite: str, above: float) -> float:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise BadInput(f"give {what}")
    try:
        result = float(value)
    except OverflowError:
        result = math.inf
    if not math.isfinite(result):
        raise BadInput(finite)
    if not result > above:
        raise BadInput(f"give {what}")
    return result


def whole(value: object) -> int:
    """Read an integer from 1 to 2^31 - 1."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral) or int(value) < 1:
        raise BadInput("give an integer >= 1")
    if int(value) > LARGEST_WHOLE:
        raise BadInput(f"give at most {LARGEST_WHOLE}")
    return int(value)


def natural(value: object) -> int:
    """Read an integer from 0 to 2^31 - 1."""
    try:
        return 0 if value == 0 and not isinstance(value, (bool, np.bool_, float)) else whole(value)
    except BadInput as error:
        raise BadInput(str(error).replace(">= 1", ">= 0")) from None


def three(kind: Callable[[object], Any], what: str) -> Callable[[object], tuple[Any, Any, Any]]:
    """Reads three values of one `kind`; `what` names them in the message."""

    def read(value: object) -> tuple[Any, Any, Any]:
        items = value.tolist() if isinstance(value, np.ndarray) else value
        if not isinstance(items, (list, tuple)) or len(items) != 3:
            raise BadInput(f"give {what}, in the order x, y, z")
        values = []
        for axis, item in zip("xyz", items, strict=True):
            try:
                values.append(kind(item))
            except BadInput as error:
                raise BadInput(f"give {what}, in the order x, y, z ({axis}: {error})") from None
        return values[0], values[1], values[2]

    return read


def corners(*, flat: bool) -> Callable[[object], Any]:
    """Read the lowest and the highest corner of a box. A `flat` box may have no extent along some directions."""
    example = "[[0, 0.4, 0.4], [0, 0.6, 0.6]]" if flat else "[[0, 0, 0], [1, 1, 1]]"
    higher = "the highest" if flat else "one that is higher in every direction"
    ends = tuple_of(three(number, "three numbers"), 2, f"give the lowest and the highest corner, as {example}")
    ordered = operator.le if flat else operator.lt
    return checked(ends, lambda two: all(map(ordered, *two)), f"give the lowest corner, then {higher}")


def text(value: object) -> str:
    """One line of printable text."""
    if not isinstance(value, str) or not value.isprintable() or not value.strip():
        raise BadInput("give one line of text")
    return value


def truth(value: object) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise BadInput("give true or false")
    return bool(value)


def word_or(word: str, kind: Callable[[object], Any], remedy: str | None = None) -> Callable[[object], Any]:
    """Reads this word, or else a value of a `kind`; `remedy` says what to give, if not what the kind says."""

    def read(value: object) -> Any:
        if isinstance(value, str) and value == word:
            return word
        try:
            return kind(value)
        except BadInput as error:
            raise BadInput(remedy or f'{error}; or "{word}"') from None

    return read


def unchosen(value: object, choices: Sequence[str]) -> str:
    """Return the remedy for a value that is not among `choices`."""
    quoted = [f'"{choice}"' for choice in choices]
    close = difflib.get_close_matches(value, choices, n=1) if isinstance(value, str) else []
    what = " or ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)
    return f"give {what}" + (f'; did you mean "{close[0]}"?' if close else "")
