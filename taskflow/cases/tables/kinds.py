"""The keys of a side's table, by the kind of boundary condition that reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict

from taskflow.cases.formulas.values import unchosen, word_or
from taskflow.cases.language.problems import CaseError, Key, Problem, exclusive, missing, present, shown, wrong
from taskflow.cases.language.table import REMEDY, NonNegative, Table, entry, optional, reads, written
from taskflow.cases.tables.timed import Value, Values, changes, of_time, placed, three_values
from taskflow.cases.tables.timed import value as read
from taskflow.common.registry import Unusable
from taskflow.flow.boundaries.condition import BoundaryCondition
from taskflow.flow.boundaries.kinds import BOUNDARIES

Kind = type[BoundaryCondition]
WHERE = {"time": "in time", "place": "with the place"}


class SideTable(Table):
    """One side, with the keys that several kinds read. Further keys of a kind are in its own table."""

    model_config = ConfigDict(extra="allow")
    brief: ClassVar[str | None] = "type"
    charts: ClassVar[bool]
    """The side is of a body-fitted grid."""
    placing: ClassVar[frozenset[str]] = frozenset(("type",))
    """Keys that all kinds have."""
    type: Any = entry("see above")
    velocity: Annotated[Values | None, reads(three_values)] = optional(
        "of a `wall`, in its plane, and of an `inflow`: numbers, [functions of"
        " time](#values-that-change-in-time) or [expressions](#initial) of x, y, z and t. Of the `far-field`:"
        " numbers",
        otherwise="0 at a wall, otherwise required",
    )
    temperature: Annotated[Value | None, reads(read)] = optional(
        "with heat, of a `wall` and of entering fluid: a number, on a box also a [function of"
        " time](#values-that-change-in-time) or an expression of x, y and z",
        otherwise="insulated at a wall, `heat.reference` in entering fluid",
    )
    heat_flux: Annotated[Value | None, reads(of_time)] = optional(
        "with heat, of a `wall`, instead of `temperature`: kinematic (flux / density / heat capacity), positive into"
        " the fluid. On a box it may [change in time](#values-that-change-in-time)",
        otherwise="0: insulated",
    )
    heat_transfer: NonNegative | None = optional(
        "with heat, of a `wall`, instead of `temperature`: kinematic coefficient h, a velocity. The flux into"
        " the fluid is h (`outside_temperature` - T), T being its temperature on the wall"
    )
    outside_temperature: Annotated[Value | None, reads(of_time)] = optional(
        "with `heat_transfer`. On a box it may [change in time](#values-that-change-in-time)"
    )
    pressure: Annotated[Value | Literal["advected"] | None, reads(word_or("advected", of_time))] = optional(
        "over density. Of an `outflow`: on a box a number or a [function of"
        " time](#values-that-change-in-time), see [outflow](#outflow), on a body-fitted grid a number,"
        " required. Of the `far-field`: a number. Of a `vent`: outside, a number or a function of time",
        otherwise="on a box convective outflow, of a `far-field` and a `vent` 0",
    )

    @property
    def kind(self) -> Kind:
        """The class of the boundary condition."""
        return BOUNDARIES[self.type].chosen(dict(self))

    @classmethod
    def kinds(cls) -> list[str]:
        """Return the types that a side can have and that can be loaded."""
        return [name for name in BOUNDARIES if isinstance(found := _found(name), type) and cls._offers(found)]

    @classmethod
    def offered(cls, side: Any) -> Kind | None:
        """Return the kind of a side given as text, mapping or table; None if it is unknown."""
        name = kind_of(side)
        found = _found(name) if name is not None else None
        return found if isinstance(found, type) and cls._offers(found) else None

    @classmethod
    def unknown(cls, name: Any) -> str:
        """Return the remedy for an unknown type."""
        found = _found(name) if isinstance(name, str) else None
        return found if isinstance(found, str) else unchosen(name, cls.kinds())

    @classmethod
    def _offers(cls, kind: Kind) -> bool:
        return kind.flux is not None if cls.charts else kind.on_boxes

    @classmethod
    def paths(cls) -> list[Key]:
        """Return the keys of this table, and of all kinds loaded so far."""
        return [*super().paths(), *((key,) for kind in BOUNDARIES.loaded.values() for key in own_keys(kind))]

    @classmethod
    def filled(cls, values: dict[str, Any]) -> Mapping[str, Any]:
        """Return the given keys, with the kind's own table read. A solid side stands still without another
        velocity.
        """
        kind = cls.offered(values)
        if kind is None:
            return values
        given = {key: value for key, value in values.items() if key in cls.model_fields}
        if kind.solid and not present(values, "velocity"):
            given["velocity"] = (0.0, 0.0, 0.0)
        with suppress(CaseError):  # `conflicts` reports it
            given |= {key: value for key, value in own_table(kind, values) or () if value is not None}
        return given

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        kind = cls.offered(values)
        own = own_keys(kind)
        broken = kind is None and isinstance(name := values.get("type"), str) and isinstance(_found(name), str)
        strange = {key: value for key, value in values.items() if key not in cls.model_fields and key not in own}
        others = BOUNDARIES.available()[0] if strange else {}
        for key, value in strange.items():
            homes = [f'"{name}"' for name, other in others.items() if key in own_keys(other)]
            if kind is not None and homes:
                remedy = f"{cls.called(kind)} has none; omit it, or give type = {' or '.join(homes)}"
                yield wrong(key, value, remedy)
            elif not homes and not broken:  # else the type alone is at fault
                yield Problem((key,), "unknown key", shown(value), unknown=True, strange=True)
        if kind is None:
            if (name := values.get("type")) is not None:
                yield wrong("type", name, cls.unknown(name))
            return
        try:
            own_table(kind, values)
        except CaseError as error:
            yield from error.problems
        yield from cls._keys_fit(values, kind)
        if kind.solid:
            yield from heat_of_wall(values)

    @classmethod
    def _keys_fit(cls, values: Mapping[str, Any], kind: Kind) -> Iterator[Problem]:
        """Yield the problems with keys that only other kinds read."""
        for key in present(values, *cls.model_fields):
            if key not in kind.keys | cls.placing:
                homes = " or ".join(f'"{name}"' for name in cls.kinds() if key in BOUNDARIES[name].keys)
                yield wrong(key, values[key], f"{cls.called(kind)} has none; omit it, or give type = {homes}")

    @classmethod
    def wanted(cls) -> str:
        """Return the remedy for a missing type."""
        *names, last = [f'"{name}"' for name in cls.kinds()]
        return f"give it a type, {', '.join(names)} or {last}"

    @classmethod
    def _declared(cls, key: str, about: str) -> str | None:
        return cls.wanted() if (key, about) == ("type", REMEDY) else super()._declared(key, about)

    @classmethod
    def called(cls, kind: Kind) -> str:
        """Return what a side of a kind is called in messages."""
        return f"a side of the type {kind.name}"

    @classmethod
    def as_schema(cls, made: dict[str, Any]) -> dict[str, Any]:
        """The JSON schema of the table, with the types and keys of all kinds that are installed."""
        made["additionalProperties"] = False
        made["properties"]["type"] = {**made["properties"]["type"], "enum": cls.kinds()}
        for table in (BOUNDARIES[name].table for name in cls.kinds()):
            made["properties"] |= table.model_json_schema()["properties"] if table is not None else {}
        return super().as_schema(made)

    def varying(self) -> Iterator[Problem]:
        """Yield the problems with values that vary in time or space where the kind does not support it."""
        for key, value in self:
            parts = value if isinstance(value, tuple) else (value,)
            for way, varies in (("place", placed), ("time", _in_time)):
                if value is not None and key != "type" and way not in self.kind.varies and varies(*parts):
                    remedy = "give three numbers" if isinstance(value, tuple) else "give a number"
                    remedy = f"on a side of the type {self.type} it may not change {WHERE[way]}; {remedy}"
                    yield wrong(key, written(value), remedy)
                    break


def own_keys(kind: Kind | None) -> Iterable[str]:
    """Return the keys of the own table of a kind."""
    return kind.table.model_fields if kind is not None and kind.table is not None else ()


def own_table(kind: Kind, values: Mapping[str, Any]) -> Table | None:
    """Return the own table of a kind, read from the values of a side. Raises CaseError if it is invalid."""
    return kind.table(**{key: values[key] for key in own_keys(kind) if key in values}) if kind.table else None


def kind_of(side: Any) -> str | None:
    """Return the type of a side given as text, mapping or table."""
    kind = side.get("type") if isinstance(side, Mapping) else getattr(side, "type", side)
    return kind if isinstance(kind, str) else None


def heat_of_wall(values: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the problems with the thermal keys of a wall."""
    yield from exclusive(values, "temperature", "heat_flux", "heat_transfer")
    for one, other in (("heat_transfer", "outside_temperature"), ("outside_temperature", "heat_transfer")):
        if present(values, one, other) == [one]:
            yield missing(other, f"{one} is given; heat passes by heat_transfer (outside_temperature - T)")


def _in_time(*values: Any) -> bool:
    return any(changes(value) and getattr(value, "varies", True) for value in values)


def _found(name: str) -> Kind | str | None:
    """Return a kind by its name, or why it cannot be loaded; None if it is unknown."""
    try:
        return BOUNDARIES[name]
    except KeyError:
        return None
    except Unusable as error:
        return str(error)
