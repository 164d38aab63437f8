"""Capabilities of systems of equations, declared as dotted places of a case, and the refusal of everything else.

The places of a case are its tables ("heat"), their keys ("body.rotation"), the sides of a domain by their type
("boundaries.wall.temperature"), and kinds of values: a word ("time.scheme.rk3"), "nonzero", "timed" for a value that
may change in time and "timed.placed" for one that depends on x, y or z as well, "function" and "array" of Python.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args, get_origin

from taskflow.cases.formulas.expression import Expression
from taskflow.cases.language.problems import Key, Problem, numbered, shown, wrong
from taskflow.cases.language.table import Table, written
from taskflow.common.caching import cached_property

HEAT_ON_SIDES = frozenset((
    "boundaries.wall.temperature", "boundaries.wall.heat_flux", "boundaries.wall.heat_transfer",
    "boundaries.wall.outside_temperature", "boundaries.inflow.temperature", "boundaries.far-field.temperature",
))  # fmt: skip
PLANES_OF_CHARTS = frozenset(f"planes.{key}" for key in ("side", "chart", "i", "j", "k"))
FORCE_IN_PLACE = "body.force.timed.placed"
EVERYWHERE = frozenset((
    "title", "units", "method", "grid", "boundaries.x", "boundaries.y", "boundaries.z", "time", "output", "monitor",
    "checkpoint", "machine", "statistics", "spectra", "probes", "planes", "isosurfaces",
))  # fmt: skip
"""Places that every system supports unless it lists them in `lacks`."""
BY_NAME = HEAT_ON_SIDES | {
    "grid.stretching", "time.scheme", "time.implicit", "statistics.budget", "monitor.fields",
    "boundaries.wall.roughness", "boundaries.wall.contact_angle", "boundaries.inflow.phase",
    "boundaries.vent.phase", "machine.cuts",
    FORCE_IN_PLACE, *PLANES_OF_CHARTS,
}  # fmt: skip
"""Places that a system supports only if it names them, even if it supports the table that contains them."""
TIMED, PLACED = "timed", "timed.placed"
SORTS = {
    TIMED: "give a constant", PLACED: "give expressions of t alone", "nonzero": "give 0",
    "function": "give an expression in x, y, z", "array": "give an expression in x, y, z",
}  # fmt: skip
"""Remedies for unsupported kinds of values."""
WORD = re.compile(r"[\w-]+")


@dataclass(frozen=True)
class Supports:
    """Capabilities of a system.

    Parameters
    ----------
    places : collection of str
        Supported places in addition to `EVERYWHERE`. A place includes all places below it, except for `BY_NAME`.
    lacks : mapping
        Unsupported places within supported ones, and places that physics forbids. The value is the reason with a
        remedy, or None if the place is only missing.
    apart : mapping
        Pairs of places that are supported, but not together, with a remedy or None. A case that uses both is refused
        for the first. Two places in one list, or on the sides, conflict only within one item or side.
    """

    places: Collection[str] = frozenset()
    lacks: Mapping[str, str | None] = field(default_factory=dict)
    apart: Mapping[tuple[str, str], str | None] = field(default_factory=dict)

    @cached_property
    def _declared(self) -> dict[str, bool]:
        everywhere = dict.fromkeys(EVERYWHERE, True) | dict.fromkeys(BY_NAME, False)
        return everywhere | dict.fromkeys(self.places, True) | dict.fromkeys(self.lacks, False)

    def _nearest(self, place: str) -> str:
        while place not in self._declared and "." in place:
            place = place.rpartition(".")[0]
        return place

    def has(self, place: str) -> bool:
        """Return whether all of a place is supported, except for the places below it that are declared otherwise."""
        return self._declared.get(self._nearest(place), False)

    def reads(self, place: str) -> bool:
        """Return whether a place is supported, at least in part."""
        below = (supported for name, supported in self._declared.items() if name.startswith(f"{place}."))
        return self.has(place) or any(below)

    def allows(self, use: Demand) -> bool:
        """Return whether a demand of a case is supported, at least in part."""
        return self.reads(use.place) and (use.sort != TIMED or self.has(TIMED) or not _varies(use.value))

    def reason(self, place: str) -> str | None:
        """Return why physics forbids a place."""
        return self.lacks.get(self._nearest(place))

    def forbidden(self, words: Key) -> str | None:
        """Return why physics forbids a key that no table has; for a side by its name, for any type."""
        alike = (words[0], words[-1], len(words))
        parts = ((place.split("."), reason) for place, reason in self.lacks.items())
        return next((reason for of, reason in parts if reason and (of[0], of[-1], len(of)) == alike), None)

    def has_on_sides(self, key: str) -> bool:
        """Return whether a key is supported on sides of some type."""
        parts = ((place.split("."), supported) for place, supported in self._declared.items())
        declared = [supported for (table, *inner), supported in parts if table == "boundaries" and inner[1:] == [key]]
        return any(declared) if declared else self.has("boundaries") or bool(self.sides)

    @property
    def sides(self) -> list[str]:
        """The types of sides that are declared."""
        parts = (place.split(".") for place in self.places)
        return sorted(kind for table, *inner in parts if table == "boundaries" and len(inner) == 1 for kind in inner)


def _varies(value: Any) -> bool:
    return any(map(_varies, value)) if isinstance(value, tuple) else bool(getattr(value, "varies", False))


Others = Callable[[], Mapping[str, Supports]]


@dataclass(frozen=True)
class Demand:
    """A place that a case asks for: its key, its value, and the item of a list or the side to which it belongs."""

    place: str
    key: Key
    value: Any
    item: Key
    sort: str = ""  # the kind of the value, if the place is one
    choices: tuple[str, ...] = ()  # the words that the key may have

    def problem(self, message: str) -> Problem:
        return wrong(self.key, written(self.value), message)

    def __str__(self) -> str:
        problem = self.problem("")
        return str(problem if self.sort else replace(problem, value=None)).removesuffix(": ")


def used(tables: Mapping[str, Any]) -> Iterator[Demand]:
    """Yield every place that a case uses, each table before its keys. Values equal to their defaults do not count."""
    for name, value in tables.items():
        yield from _used(name, (name,), value, (name,))


def _used(place: str, key: Key, value: Any, item: Key, choices: tuple[str, ...] = ()) -> Iterator[Demand]:
    if value is None or value == ():
        return
    yield Demand(place, key, value, item)
    if isinstance(value, Table):
        yield from _within(place, key, value, item)
    elif isinstance(value, tuple) and all(isinstance(one, Table) for one in value):
        for at, one in numbered(**{place: value}):
            yield from _within(place, (*key, at[-1]), one, (*key, at[-1]))
    else:
        for sort in dict.fromkeys(sorts(value)):
            yield Demand(f"{place}.{sort}", key, value, item, sort, choices)


def _within(place: str, key: Key, table: Table, item: Key) -> Iterator[Demand]:
    for below, asking in table.implied.items():
        yield Demand(f"{place}.{below}", (*key, asking), getattr(table, asking), item, below.rpartition(".")[2])
    for name, value in table:
        known, at = type(table).model_fields.get(name), (*key, name)
        if value is None or (known is not None and value == known.get_default()):
            continue
        if isinstance(value, Table) and table.each is not None:  # a side
            kind = getattr(value, "type", None)
            if kind is not None:
                yield Demand(f"{place}.{kind}", at, kind, at)
            yield from _within(f"{place}.{kind}" if kind else place, at, value, at)
        elif name != "type" or not place.endswith(f".{value}"):
            yield from _used(f"{place}.{name}", at, value, item, words(known.annotation) if known else ())


def sorts(value: Any) -> Iterator[str]:
    """Yield the kinds of a value, by their names in places."""
    if isinstance(value, tuple):
        for part in value:
            yield from sorts(part)
    elif isinstance(value, Expression):
        yield from ((TIMED,) if value.uniform else (TIMED, PLACED)) if value.timed else ()
    elif isinstance(value, str):
        yield from (value,) if WORD.fullmatch(value) else ()
    elif isinstance(value, int | float):
        yield from ("nonzero",) if value and not isinstance(value, bool) else ()
    elif sort := getattr(value, "sort", None):
        yield sort


def words(annotation: Any) -> tuple[str, ...]:
    """Return the words that a key with this annotation accepts."""
    if get_origin(annotation) is Literal:
        return tuple(word for word in get_args(annotation) if isinstance(word, str))
    return tuple(word for part in get_args(annotation) for word in words(part))


def refusals(name: str, supports: Supports, tables: Mapping[str, Any], others: Others) -> Iterator[Problem]:
    """Yield a problem for everything that the tables of a case use and its system, called `name`, does not support.

    `others` returns the capabilities of each system by name. It is called only if something is refused.
    """
    uses, refused = [*used(tables)], set[Key]()
    for use in uses:
        if not supports.allows(use) and not any(use.key[:n] in refused for n in range(1, len(use.key) + 1)):
            refused.add(use.key)
            yield refusal(name, supports, use, others)
    found: dict[str, list[Demand]] = {}
    for use in uses:
        found.setdefault(use.place, []).append(use)
    for (first, second), remedy in supports.apart.items():
        for use in found.get(first, ()):
            rivals = (rival for rival in found.get(second, ()) if rival.item == use.item or rival.key[0] != use.key[0])
            if rival := next(rivals, None):
                yield use.problem(together(f"{rival}", remedy))


def together(other: str, remedy: str | None = None) -> str:
    """Return the message for a key that is not supported together with another key."""
    return f"not supported together with {other}; {remedy or 'omit one of them'}"


def refusal(name: str, supports: Supports, use: Demand, others: Others) -> Problem:
    """Return the problem for a place that a system does not support."""
    if reason := supports.reason(use.place):
        return use.problem(reason)
    above = use.place.removesuffix(f".{use.sort}")
    kinds = [word for word in use.choices if supports.has(f"{above}.{word}")]
    if use.key[0] == "boundaries" and use.place == f"boundaries.{use.value}":
        axis, kinds = use.key[1][0], supports.sides
        remedy = f'give {"".join(f"{shown(kind)}, or " for kind in kinds)}boundaries.{axis} = "periodic"'
    elif use.sort in SORTS:
        instead = {PLACED: TIMED, TIMED: "nonzero"}.get(use.sort, "")
        remedy = SORTS[use.sort] if not instead or supports.has(f"{above}.{instead}") else SORTS[instead]
    elif use.sort and kinds:
        remedy = f"give {' or '.join(map(shown, kinds))}"
    else:
        return use.problem(unsupported(name, [other for other, theirs in others().items() if theirs.reads(use.place)]))
    return use.problem(f"not supported by the model {shown(name)}; {remedy}")


def unsupported(name: str, others: Collection[str]) -> str:
    """Return the message for a key that one model does not support, but others do."""
    use = f", or use the model {' or '.join(map(shown, others))}" if others else ""
    return f"not supported by the model {shown(name)}; omit it{use}"
