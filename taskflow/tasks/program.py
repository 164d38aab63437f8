"""Programs: launches in the order in which one processor with one memory would do them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from taskflow.errors import BadInput
from taskflow.tasks.task import Launch


class Roles:
    """Which field plays which part: `roles.p` is the name of the field that holds the pressure now.

    Double buffering is an exchange of parts, not of data: a sweep writes `p_new`, then `swap("p", "p_new")`. Raises
    BadInput for a part whose name stands for something else here.
    """

    def __init__(self, **fields: str) -> None:
        for name in fields:
            if hasattr(Roles, name):
                raise BadInput(f"a field cannot be called {name!r}, as roles.{name} is something else; rename it")
        self.__dict__.update(fields)

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

    def copy(self) -> Roles:
        """The same parts, to be changed on their own."""
        return Roles(**self.__dict__)

    def key(self) -> tuple[tuple[str, str], ...]:
        """All parts as a value that can be compared and hashed."""
        return tuple(self.__dict__.items())


Program = Callable[[Roles], Iterator[Launch]]


def record(program: Program, roles: Roles) -> tuple[tuple[Launch, ...], Roles]:
    """The launches of a program begun with these roles, and the roles when it ends; `roles` itself stays as it is.

    Raises BadInput where the program yields something else.
    """
    after = roles.copy()
    name, launches = getattr(program, "__name__", type(program).__name__), []
    found = program(after)
    if not isinstance(found, Iterable):
        raise BadInput(f"the program {name} returned {found!r}; it has to yield launches: yield a_task(..., over=box)")
    for launch in found:
        if not isinstance(launch, Launch):
            raise BadInput(f"the program {name} yielded {launch!r}, which is no launch: yield a_task(..., over=box)")
        launches.append(launch)
    return tuple(launches), after
