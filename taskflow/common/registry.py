"""Values by name: of this package, registered in Python, or from entry points of other packages."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from taskflow.common.errors import BadInput

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Kind = TypeVar("Kind")
NOUNS = {"taskflow.models": "model", "taskflow.closures": "closure", "taskflow.boundaries": "boundary condition"}


class Unusable(BadInput):
    """A plug-in that cannot be loaded, or does not suit its group; the message names its package."""


class Registry(Generic[Kind]):
    """The values of one group of entry points, each loaded at its first use.

    Values of this package, `own`, are given as "module:attribute" by name. They need no entry point and cannot be
    replaced. `check` is called with each value of another package, and raises an exception if it cannot be used.
    """

    def __init__(
        self, group: str, own: Mapping[str, str] | None = None, check: Callable[[Any], object] = lambda value: None
    ) -> None:
        self.group, self.own, self._check = group, dict(own or {}), check
        self._loaded: dict[str, Kind] = {}  # or registered
        _registries.append(self)

    def register(self, name: str, value: Kind) -> None:
        """Add a value in this process, without an entry point.

        Raises BadInput if the name belongs to this package, or the value cannot be used.
        """
        if name in self.own:
            raise BadInput(f'name = "{name}": this name belongs to taskflow; give another name')
        try:
            self._checked(name, value)
        except Exception as error:
            raise Unusable(f"{named(value)} cannot be used ({_words(error)}); correct it") from error
        self._loaded[name] = value

    def __iter__(self) -> Iterator[str]:
        """Yield all names: of this package, registered ones, and of entry points."""
        return iter(dict.fromkeys((*self.own, *self._loaded, *(point.name for point in self._points()))))

    def __contains__(self, name: object) -> bool:
        return name in self.own or name in self._loaded or any(point.name == name for point in self._points())

    def __getitem__(self, name: str) -> Kind:
        """Return a value. Raises KeyError if the name is unknown, Unusable if its package is at fault."""
        if name not in self._loaded:
            self._loaded[name] = self._load_own(self.own[name]) if name in self.own else self._load(name)
        return self._loaded[name]

    def available(self) -> tuple[dict[str, Kind], dict[str, str]]:
        """Return all values that can be loaded, by name, and for each of the others why it cannot."""
        values, broken = dict[str, Kind](), dict[str, str]()
        for name in self:
            try:
                values[name] = self[name]
            except Unusable as error:
                broken[name] = str(error)
        return values, broken

    @property
    def loaded(self) -> Mapping[str, Kind]:
        """The values that were registered, or loaded so far."""
        return self._loaded

    def _load_own(self, place: str) -> Kind:
        module, _, attribute = place.partition(":")
        value: Kind = getattr(import_module(module), attribute)
        return value

    def _load(self, name: str) -> Kind:
        points = {point.value: point for point in self._points() if point.name == name}
        if not points:
            raise KeyError(name)
        point, *others = points.values()
        if others:
            rivals = " and ".join(map(_place, points.values()))
            raise Unusable(f"{rivals} have the same name; remove one of these packages")
        try:
            value: Kind = point.load()
            self._checked(name, value)
        except Exception as error:  # of another package
            remedy = "repair or reinstall its package"
            raise Unusable(f"{_place(point)} cannot be used ({_words(error)}); {remedy}") from error
        return value

    def _checked(self, name: str, value: Any) -> None:
        """Raise an exception unless a value can be used under a name, which is its own `name` if it has one."""
        self._check(value)
        if isinstance(own := getattr(value, "name", name), str) and own != name:
            raise ValueError(f'its name is "{own}", but it is registered as "{name}"; give both the same name')

    def _points(self) -> tuple[EntryPoint, ...]:
        from importlib.metadata import entry_points

        return tuple(entry_points(group=self.group))


_registries: list[Registry[Any]] = []


def require_dataclass(kind: object, base: type, noun: str, label: str) -> None:
    """Raise TypeError unless a value is a dataclass derived from `base`, with text as its class attribute `label`."""
    if not (isinstance(kind, type) and issubclass(kind, base) and "__dataclass_fields__" in vars(kind)):
        raise TypeError(f"a {noun} is a frozen dataclass derived from taskflow.extend.{base.__name__}")
    if not isinstance(getattr(kind, label, None), str):
        raise TypeError(f"{label} has to be text")


def author(trace: str) -> str | None:
    """Return the plug-in in whose code a traceback ends, such as `your model "burgers" (burgers.py, line 9)`.

    The result is None if no frame belongs to a value that another package or a script has registered.
    """
    homes = {}
    for registry in _registries:
        for name, value in registry.loaded.items():
            module = sys.modules.get(value.__module__)
            if name not in registry.own and module is not None and getattr(module, "__file__", None):
                file = Path(str(module.__file__))
                homes[file.parent if module.__package__ else file] = f'{NOUNS.get(registry.group, "plug-in")} "{name}"'
    for path, line in reversed(re.findall(r'File "([^"]+)", line (\d+)', trace)):
        for home, words in homes.items():
            if Path(path).is_relative_to(home):
                return f"your {words} ({Path(path).name}, line {line})"
    return None


def named(value: Any) -> str:
    """Return the name of a value for messages, with the package, if any, that installed its module."""
    from importlib.metadata import packages_distributions

    module = getattr(value, "__module__", None) or type(value).__module__
    name = f"{module}.{getattr(value, '__qualname__', type(value).__qualname__)}"
    packages = packages_distributions().get(module.partition(".")[0], ()) if module in sys.modules else ()
    return f"{name} of the package {packages[0]}" if packages else name


def _place(point: EntryPoint) -> str:
    return f"{point.value} of the package {point.dist.name}" if point.dist else point.value


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
