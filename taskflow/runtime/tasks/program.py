"""Programs: launches in the order in which one processor with one memory would execute them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass

from taskflow.common.caching import cached_property
from taskflow.common.errors import BadInput
from taskflow.runtime.tasks.task import Launch


@dataclass(frozen=True, eq=False)
class Derive:
    """Part of a program that computes scalars on the host: `yield derive(function, names)`.

    The host waits for all earlier launches. Every block computes the same numbers, because `function` sees only numbers
    that all blocks have reduced: the small equations of a Krylov method, or the length of the next step. Later launches
    take the numbers as `Scalar`.

    Parameters
    ----------
    function : callable
        Called with the scalars by name. Returns new values by name; scalars that it omits are unchanged.
    names : tuple of str
        Scalars that `function` may return.

    Raises
    ------
    BadInput
        If `function` is not callable, or `names` is empty.
    """

    function: Callable[[Mapping[str, float]], Mapping[str, float]]
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise BadInput(f"derive({self.function!r}, ...): give a function of the scalars that returns a mapping")
        if not isinstance(self.names, tuple) or not self.names or not all(isinstance(n, str) for n in self.names):
            raise BadInput(f"derive(..., {self.names!r}): give a tuple with the names of the scalars that it finds")

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(self.names)

    def __call__(self, scalars: Mapping[str, float]) -> dict[str, float]:
        """Return the new values. Raises BadInput if one is not among `names`."""
        values = {name: float(value) for name, value in self.function(scalars).items()}
        if others := values.keys() - self._names:
            raise BadInput(f"derive: the function returned {min(others)}; it has to return {', '.join(self.names)}")
        return values


derive = Derive


class Roles:
    """Fields by role: `roles.p` is the name of the field that currently holds the pressure.

    Double buffering exchanges roles, not data: a sweep writes `p_new`, then `swap("p", "p_new")`. A program that names
    its scalars with `scalar("residual")` can be `owned`. Raises BadInput for a role whose name is an attribute of this
    class.
    """

    __slots__ = ("__dict__", "_owner")

    def __init__(self, /, **fields: str) -> None:
        for name in fields:
            if hasattr(Roles, name):
                raise BadInput(f"a field cannot be called {name!r}, as roles.{name} is something else; rename it")
        self.__dict__.update(fields)
        self._owner = ""

    @classmethod
    def of(cls, names: tuple[str, ...]) -> Roles:
        """Return roles in which every field has the role of its name."""
        return cls(**{name: name for name in names})

    def __getattr__(self, role: str) -> str:
        raise AttributeError(f"no field plays {role!r}; there are {', '.join(self.__dict__)}")

    def __getitem__(self, role: str) -> str:
        return str(getattr(self, role))

    def swap(self, one: str, other: str) -> None:
        """Exchange the roles of two fields."""
        self.__dict__[one], self.__dict__[other] = self[other], self[one]

    def copy(self, /, **instead: str) -> Roles:
        """Return a separate copy, with some roles assigned to other fields."""
        mine = Roles(**instead)
        mine.__dict__.update(self.__dict__ | instead)  # whose other names need no further check
        mine._owner = self._owner
        return mine

    def scalar(self, name: str) -> str:
        """Return the full name of a scalar, with the name of its owner as prefix if the program is owned."""
        return self._owner + name

    def scalars(self, *names: str) -> dict[str, str]:
        """Return several full names by their short ones: `**f.scalars("residual", "mean")` in a launch."""
        return {name: self.scalar(name) for name in names}

    def owned(self, owner: str) -> Roles:
        """Return the same roles for a program whose scalars belong to an owner (see `owned`)."""
        mine = Roles()
        mine.__dict__, mine._owner = self.__dict__, f"{self._owner}{owner}."
        return mine

    def key(self) -> tuple[tuple[str, str], ...]:
        """Return all roles as a value that can be compared and hashed."""
        return tuple(self.__dict__.items())


@dataclass(frozen=True, eq=False)
class Repeat:
    """Part of a program that is repeated: `yield repeat(body, times)`.

    The body has to leave every field in its role: two sweeps, from one field to another and back. The number of passes
    depends on scalars alone, so it is the same on all blocks and in every run.

    Parameters
    ----------
    body : program
    times : int
        Largest number of passes.
    until : callable, optional
        Called with the scalars after every `every` passes; True ends the loop.
    every : int
        Passes in a round.
    lag : bool
        `until` sees the scalars of the previous round. The host does not wait for the GPU, and up to `every` passes too
        many are done. Choose False if a round costs more than the wait.
    further : bool
        `until` is called before the first pass, too, because the program has already done a round. `times` may be 0.
    count : str, optional
        Scalar that receives the number of passes, known to the host without a transfer.
    otherwise : callable, optional
        Called with the scalars of every round, in order, if `times` passes were not enough. All blocks raise its error.

    Raises
    ------
    BadInput
        If a number is too small, a function is not callable, `further` has a lag, or `otherwise` would miss a round.
    """

    body: Program
    times: int
    _: KW_ONLY
    until: Until | None = None
    every: int = 1
    lag: bool = True
    further: bool = False
    count: str | None = None
    otherwise: Callable[[Sequence[Mapping[str, float]]], None] | None = None

    def __post_init__(self) -> None:
        if not callable(self.body):
            raise BadInput(f"repeat({self.body!r}, ...): give a program, a function of the roles that yields launches")
        if self.until is not None and not callable(self.until):
            raise BadInput(f"repeat(until={self.until!r}): give a function of the scalars that returns True to stop")
        for name, value, least in (("times", self.times, 0 if self.further else 1), ("every", self.every, 1)):
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise BadInput(f"repeat({name}={value!r}): give an integer, {least} or more")
        if self.further and self.until is not None and self.lag:
            raise BadInput("repeat(further=True): the condition needs the numbers of the current round; give lag=False")
        if self.count is not None and not isinstance(self.count, str):
            raise BadInput(f"repeat(count={self.count!r}): give the name of a scalar")
        if self.otherwise is not None:
            if not callable(self.otherwise):
                raise BadInput(f"repeat(otherwise={self.otherwise!r}): give a function of the scalars of all rounds")
            if self.until is None or self.lag or self.times % self.every:
                raise BadInput(
                    "repeat(otherwise=...): every round has to be asked about; give until=..., lag=False, and times"
                    " that are a multiple of every"
                )


repeat = Repeat


Until = Callable[[Mapping[str, float]], bool]
Program = Callable[[Roles], Iterator[Launch | Repeat | Derive]]


def called(program: Program) -> str:
    """Return the name of a program: its `__name__`, or the name of its class."""
    return getattr(program, "__name__", type(program).__name__)


@dataclass(frozen=True, eq=False)
class Stretch:
    """Launches without a decision between them, and the launches that are likely to follow."""

    launches: tuple[Launch, ...]
    following: tuple[Launch, ...]

    @property
    def same(self) -> Hashable:
        """Equal for stretches that do bitwise the same and are followed by launches on the same fields."""
        return tuple(launch.same for launch in self.launches), tuple(launch.same for launch in self.following)


@dataclass(frozen=True, eq=False)
class Loop:
    """Parts of a program that are repeated."""

    repeat: Repeat
    body: tuple[Part, ...]


Part = Stretch | Loop | Derive


def _all(parts: Iterable[Part]) -> Iterator[Part]:
    """Return all parts: the parts of a loop once, before it."""
    for part in parts:
        if isinstance(part, Loop):
            yield from _all(part.body)
        yield part


def stretches(parts: Iterable[Part]) -> Iterator[Stretch]:
    """Return the stretches of a program, repeated ones once."""
    return (part for part in _all(parts) if isinstance(part, Stretch))


def counts(parts: Iterable[Part]) -> Iterator[str]:
    """Return the scalars that count repetitions, set when these have ended."""
    return (part.repeat.count for part in _all(parts) if isinstance(part, Loop) and part.repeat.count is not None)


def derived(parts: Iterable[Part]) -> Iterator[str]:
    """The scalars that the host derives from others."""
    return (name for part in _all(parts) if isinstance(part, Derive) for name in part.names)
