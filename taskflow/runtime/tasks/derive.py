"""Numbers that follow from others, found by the host between two launches of a program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from taskflow.errors import BadInput


@dataclass(frozen=True, eq=False)
class Derive:
    """Part of a program, yielded by it: of the scalars `names` those get a value for which `function(scalars)` returns
    one.

    The host waits until all launches before are done. Every block finds the same numbers, as `function` sees those
    that all blocks have reduced, and nothing else: small equations, of a Krylov method say, or the length of a next
    step. Launches that follow take the numbers as `Scalar`.

    Raises BadInput where `function` is none, or no names are given.
    """

    function: Callable[[Mapping[str, float]], Mapping[str, float]]
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise BadInput(f"derive({self.function!r}, ...): give a function of the scalars that returns a mapping")
        if not isinstance(self.names, tuple) or not self.names or not all(isinstance(n, str) for n in self.names):
            raise BadInput(f"derive(..., {self.names!r}): give a tuple with the names of the scalars that it finds")

    def __call__(self, scalars: Mapping[str, float]) -> dict[str, float]:
        """The new values. Raises BadInput where one is none of `names`."""
        values = {name: float(value) for name, value in self.function(scalars).items()}
        if others := values.keys() - set(self.names):
            raise BadInput(f"derive: the function returned {min(others)}; it was to find {', '.join(self.names)}")
        return values


derive = Derive
