"""Programs: launches in the order in which one processor with one memory would do them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass

from taskflow.common.caching import cached_property
from taskflow.common.errors import BadInput
from taskflow.runtime.tasks.task import Launch


@dataclass(frozen=True, eq=False)
class Derive:
    """Part of a program, yielded by it: of the scalars `names` those get a value for which `function(scalars)` returns
    one. The others keep theirs; a launch that reads one that never had any is refused.

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

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(self.names)

    def __call__(self, scalars: Mapping[str, float]) -> dict[str, float]:
        """The new values. Raises BadInput where one is none of `names`."""
        values = {name: float(value) for name, value in self.function(scalars).items()}
        if others := values.keys() - self._names:
            raise BadInput(f"derive: the function returned {min(others)}; it was to find {', '.join(self.names)}")
        return values


derive = Derive


class Roles:
    """The parts that fields play: `roles.p` is the name of the field that holds the pressure now.

    Double buffering is an exchange of parts, not of data: a sweep writes `p_new`, then `swap("p", "p_new")`. Scalars
    that a program makes it calls `scalar("residual")`: then it can be `owned`. Raises BadInput for a part whose name
    stands for something else here.
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
        """Every field in the part of its own name."""
        return cls(**{name: name for name in names})

    def __getattr__(self, role: str) -> str:
        raise AttributeError(f"no field plays {role!r}; there are {', '.join(self.__dict__)}")

    def __getitem__(self, role: str) -> str:
        return str(getattr(self, role))

    def swap(self, one: str, other: str) -> None:
        """Let two fields change parts."""
        self.__dict__[one], self.__dict__[other] = self[other], self[one]

    def copy(self, /, **instead: str) -> Roles:
        """The same parts, to be changed on their own; some are played by other fields `instead`."""
        mine = Roles(**self.__dict__ | instead)
        mine._owner = self._owner
        return mine

    def scalar(self, name: str) -> str:
        """The scalar that whoever runs now calls by this name: with its owner's name before it, if it has an owner."""
        return self._owner + name

    def scalars(self, *names: str) -> dict[str, str]:
        """Several by these names: `**f.scalars("residual", "mean")` in a launch of a task that calls them so."""
        return {name: self.scalar(name) for name in names}

    def owned(self, owner: str) -> Roles:
        """These very parts, for a program of which the scalars belong to an owner: see `owned`."""
        mine = Roles()
        mine.__dict__, mine._owner = self.__dict__, f"{self._owner}{owner}."
        return mine

    def key(self) -> tuple[tuple[str, str], ...]:
        """All parts as a value that can be compared and hashed."""
        return tuple(self.__dict__.items())


@dataclass(frozen=True, eq=False)
class Repeat:
    """Part of a program that is done several times, yielded by a program: `body`, itself a program, `times` times, or
    until its scalars are as they should be. The body has to leave every field in the part in which it found it: two
    sweeps from one field to another and back.

    After every `every` passes of `body`, `until(scalars)` is asked whether that was enough. With `lag` it sees the
    scalars as they were one such round ago: nothing waits for a number to come back from a GPU, and up to `every`
    passes more than needed are done. Without, it sees those of the passes just done: right where a round costs more
    than the host's waiting for its numbers. With `further` it is asked before the first pass, too: the program has done
    a round already, in its own way, and these are further ones, perhaps none. How many are done depends on the numbers
    alone: it is the same on all blocks, and in every run. The scalar called `count` then says how many; the host knows
    it without asking the device.

    Where `times` passes were not enough, `otherwise` is called with the scalars of every round, in order; it may raise
    an error, and all blocks then raise it.

    Raises BadInput for numbers below 1 (`times`, of further passes: 0), where `body`, `until` or `otherwise` is no
    function, for further passes that are asked about with a lag, and for an `otherwise` that would not see every round.
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
            raise BadInput(f"repeat(until={self.until!r}): give a function of the scalars that tells if it is enough")
        for name, value, least in (("times", self.times, 0 if self.further else 1), ("every", self.every, 1)):
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise BadInput(f"repeat({name}={value!r}): give a whole number, {least} or more")
        if self.further and self.until is not None and self.lag:
            raise BadInput("repeat(further=True): what was done before is asked about at once; give lag=False")
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
    """Return the name of a program: its `__name__`, or that of its class."""
    return getattr(program, "__name__", type(program).__name__)


@dataclass(frozen=True, eq=False)
class Stretch:
    """Launches without a decision between them, and the launches that will probably follow."""

    launches: tuple[Launch, ...]
    following: tuple[Launch, ...]

    @property
    def same(self) -> Hashable:
        """Equal for stretches that do the same to the bit, and are followed by what touches the same."""
        return tuple(launch.same for launch in self.launches), tuple(launch.same for launch in self.following)


@dataclass(frozen=True, eq=False)
class Loop:
    """Parts of a program that are repeated."""

    repeat: Repeat
    body: tuple[Part, ...]


Part = Stretch | Loop | Derive
_Items = list["list[Launch] | tuple[Repeat, _Items] | Derive"]


def plan(program: Program, roles: Roles) -> tuple[tuple[Part, ...], Roles]:
    """The parts of a program begun with these roles, and the roles when it ends; `roles` itself stays as it is.

    It is taken to be followed by itself. Stretches that are the same are one object, which is recorded once. Raises
    BadInput where the program yields something else than launches and repetitions, or what is repeated leaves fields in
    other parts.
    """
    after = roles.copy()
    items = _items(program, after)
    then = items if after.key() == roles.key() else _items(program, after.copy())
    return _parts(items, _head(then), {}), after


def record(program: Program, roles: Roles) -> tuple[tuple[Launch, ...], Roles]:
    """The launches of a program begun with these roles, what is repeated once, and the roles when it ends.

    Raises BadInput as `plan` does.
    """
    after = roles.copy()
    return tuple(_flat(_items(program, after))), after


def _items(program: Program, roles: Roles) -> _Items:
    """Collect what a program yields, launches that follow each other as one list; `roles` become those at its end."""
    name, items = called(program), _Items()
    yields = program(roles)
    if not isinstance(yields, Iterable):
        raise BadInput(f"the program {name} returned {yields!r}; it has to yield launches: yield a_task(..., over=box)")
    for item in yields:
        if isinstance(item, Repeat):
            before = dict(roles.key())
            items.append((item, _items(item.body, roles)))
            if moved := [role for role, field in roles.key() if before[role] != field]:
                raise BadInput(
                    f"the program {name} repeats something that leaves {', '.join(moved)} with exchanged fields:"
                    " let it exchange them back, say by a second sweep"
                )
        elif isinstance(item, Derive):
            items.append(item)
        elif not isinstance(item, Launch):
            raise BadInput(f"the program {name} yielded {item!r}, which is no launch: yield a_task(..., over=box)")
        elif items and isinstance(items[-1], list):
            items[-1].append(item)
        else:
            items.append([item])
    return items


def _parts(items: _Items, following: tuple[Launch, ...], known: dict[Hashable, Stretch]) -> tuple[Part, ...]:
    parts: list[Part] = []
    for n, item in enumerate(items):
        if isinstance(item, list):
            after = items[n + 1 :]
            stretch = Stretch(tuple(item), _head(after) if after else following)
            parts.append(known.setdefault(stretch.same, stretch))
        elif isinstance(item, Derive):
            parts.append(item)
        else:
            parts.append(Loop(item[0], _parts(item[1], () if _awaited(item[0]) else _head(item[1]), known)))
    return tuple(parts)


def _awaited(repeat: Repeat) -> bool:
    """Return whether the host waits for the numbers of each round: what a round needs then travels in it, so that
    nobody waits for it in vain, nor longer for the numbers.
    """
    return repeat.until is not None and not repeat.lag


def _head(items: _Items) -> tuple[Launch, ...]:
    """The launches with which they begin, as far as these are certain to come."""
    first = next((item for item in items if not isinstance(item, Derive)), [])
    if isinstance(first, list):
        return tuple(first)
    repeat, body = first
    return () if repeat.further and _awaited(repeat) else _head(body)


def _flat(items: _Items) -> Iterator[Launch]:
    for item in items:
        if not isinstance(item, Derive):
            yield from item if isinstance(item, list) else _flat(item[1])


def _all(parts: Iterable[Part]) -> Iterator[Part]:
    """All parts: those of a loop once, before it."""
    for part in parts:
        if isinstance(part, Loop):
            yield from _all(part.body)
        yield part


def stretches(parts: Iterable[Part]) -> Iterator[Stretch]:
    """The stretches of a program, those that are repeated once."""
    return (part for part in _all(parts) if isinstance(part, Stretch))


def counts(parts: Iterable[Part]) -> Iterator[str]:
    """The scalars that say how often repetitions were done, once they are over."""
    return (part.repeat.count for part in _all(parts) if isinstance(part, Loop) and part.repeat.count is not None)


def derived(parts: Iterable[Part]) -> Iterator[str]:
    """The scalars that the host derives from others."""
    return (name for part in _all(parts) if isinstance(part, Derive) for name in part.names)
