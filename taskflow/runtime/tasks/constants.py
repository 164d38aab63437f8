"""Constants of launches: numbers, tuples, lookup tables, and dataclasses of these."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import fields, is_dataclass
from typing import Any

from taskflow.runtime.tasks.numbers import LookupTable
from taskflow.runtime.tasks.sweep import Sweep

WHOLE = range(-(2**31), 2**31)  # range of a kernel's int


_members: dict[type, tuple[str, ...]] = {}


def members(kind: type) -> tuple[str, ...]:
    """Return the names of the members of a dataclass that is no lookup table, () of any other class."""
    if kind not in _members:
        several = is_dataclass(kind) and not issubclass(kind, LookupTable)
        _members[kind] = tuple(field.name for field in fields(kind)) if several else ()
    return _members[kind]


def too_large(constant: Any) -> tuple[str, int] | None:
    """Return the first integer of a constant beyond the range of a kernel's int, with its place, or None."""
    if isinstance(constant, float):
        return None
    if isinstance(constant, int):
        return None if constant in WHOLE else ("", constant)
    if isinstance(constant, tuple):
        parts = [(f"[{n}]", part) for n, part in enumerate(constant)]
    else:
        parts = [(f".{name}", getattr(constant, name)) for name in members(type(constant))]
    for place, part in parts:
        if found := too_large(part):
            return place + found[0], found[1]
    return None


def key_of(constant: Any) -> Hashable:
    """Return a key that is equal for bitwise identical constants (0.0 and -0.0 differ), as long as both exist. Values
    that are not made of numbers are compared by identity.
    """
    if isinstance(constant, float):
        return constant.hex()
    if isinstance(constant, int | Sweep):
        return constant
    if isinstance(constant, tuple):
        return tuple(map(key_of, constant))
    if names := members(type(constant)):
        return type(constant), *(key_of(getattr(constant, name)) for name in names)
    return id(constant)
