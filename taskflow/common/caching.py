"""Properties that are worked out once, for objects that threads share."""

from __future__ import annotations

import functools
from typing import Self, TypeVar, overload

T = TypeVar("T")


class cached_property(functools.cached_property[T]):  # noqa: N801
    """As that of `functools`, but one object for all threads: of those worked out side by side the first to be stored
    stays. Without that blocks that run as threads could see different objects for the same thing, as from Python 3.12
    on nothing is locked, and disagree on what they have recorded. Locks could wait for each other.
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
