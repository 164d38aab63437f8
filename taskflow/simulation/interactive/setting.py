"""Values of a case that somebody sets while its run goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from taskflow.errors import BadInput
from taskflow.runtime.machine import Control, Shard
from taskflow.simulation.case import Case
from taskflow.simulation.case.problems import shown
from taskflow.simulation.case.timed import TimeFunction, TimeTable, Value, at_time, of_time, placed
from taskflow.simulation.drive import Drive

AXES = (1, 2, 3)  # by which the components of a vector are numbered


@dataclass(frozen=True)
class SetJob:
    """Give numbers that change in time other values, by key; the next steps have them, and so have checkpoints."""

    values: Mapping[str, Value]

    def __call__(self, shard: Shard, control: Control) -> None:
        Drive.of(control).taken(control).timed.instead.update(self.values)


def settings(key: str, new: Any, case: Case, known: Mapping[str, Value], now: float) -> dict[str, Value]:
    """The values that follow from one of a key of a case, such as "boundaries.z_max.velocity", by the keys of what
    changes in time, `known` with its present values.

    Raises BadInput where nothing under the key changes in time, or the value is none.
    """
    parts = {number: f"{key}[{number}]" for number in AXES if f"{key}[{number}]" in known}
    if key not in known and not parts and _depends_on_place(key, case):
        raise BadInput(
            f"set({key!r}, ...): it is a field of x, y and z on faces, which blocks write of the case, and cannot be"
            " set in this version; give an expression of t alone in the case for what you want to set"
        )
    if key not in known and not parts:
        timed = ", ".join(dict.fromkeys(name.partition("[")[0] if name[-1] == "]" else name for name in known))
        raise BadInput(
            f"set({key!r}, ...): it does not change in time in this case; give it there as an expression of t, such as"
            f' "0*t", where it takes one; these do: {timed or "none"}'
        )
    if key in known:
        return {key: _value(key, new, now)}
    if not isinstance(new, list | tuple) or len(new) != len(AXES):
        raise BadInput(f"set({key!r}, {shown(new)}): give three values, in the order x, y, z")
    values = {number: _value(key, item, now) for number, item in zip(AXES, new, strict=True)}
    vector: Any = reduce(getattr, key.split("."), case)
    for (number, value), constant in zip(values.items(), vector, strict=True):
        if number not in parts and value != constant:
            what = f"give {constant:g} for it, or an expression of t in the case"
            raise BadInput(f"set({key!r}, {shown(new)}): component {number} does not change in time; {what}")
    return {parts[number]: value for number, value in values.items() if number in parts}


def _depends_on_place(key: str, case: Case) -> bool:
    """Whether the case gives something under a key that depends on the place."""
    try:
        value: Any = reduce(getattr, key.split("."), case)
    except AttributeError:
        return False
    return placed(*(value if isinstance(value, tuple) else (value,)))


def _value(key: str, new: Any, now: float) -> Value:
    """A value of the time. Raises BadInput where it is none, or is not finite now."""
    try:
        value = of_time(new)
        if isinstance(value, TimeFunction | TimeTable):  # of a table it would keep the name alone
            kind = "function" if isinstance(value, TimeFunction) else "table"
            raise BadInput(f"a checkpoint could not keep a {kind}; give a number, or an expression of t")
        at_time(value, now)
    except BadInput as error:
        raise BadInput(f"set({key!r}, {shown(new)}): {error}") from None
    return value
