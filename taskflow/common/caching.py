"""Properties that are computed once, for objects shared by threads."""

from __future__ import annotations

import functools
from typing import Self, TypeVar, overload

T = TypeVar("T")


class cached_property(functools.cached_property[T]):  # noqa: N801
    """`functools.cached_property` with one object for all threads: of values computed concurrently, the first stored is
    kept.

    Without this, blocks that run as threads could see different objects for the same thing, because Python 3.12 and
    later do not lock, and disagree on recorded data. Locks could deadlock.
    """

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type | None = None) -> T: ...

    def __get__(self, instance: object | None, owner: type | None = None) -> Self | T:
        if instance is None:
            return self
        assert self.attrname is not None
        value: T = instance.__dict__.setdefault(self.attrname, self.func(instance))
        return value
