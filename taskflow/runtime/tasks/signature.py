"""Signatures: the declared parameters of a task, and the binding of a launch's arguments to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, cast

from taskflow.runtime.tasks.constants import members
from taskflow.runtime.tasks.numbers import Operator, ScalarArray
from taskflow.runtime.tasks.privilege import Precision, Privilege
from taskflow.runtime.tasks.stencil import Axis, Face

Argument = str | tuple[str, ...] | None  # of a parameter: a field, several, or None


@dataclass(frozen=True, slots=True)
class Variant:
    """Differences of a launch from the declaration of its task, known before its kernel is compiled: `classes` of
    constants, as pairs of a declared and a derived one; `absent` parameters; the `orientation`, an axis or a face;
    `precisions` of fields declared to be of any.
    """

    classes: frozenset[tuple[type, type]] = frozenset()
    absent: frozenset[str] = frozenset()
    orientation: str | None = None
    precisions: frozenset[tuple[str, Precision]] = frozenset()


PLAIN = Variant()


@dataclass(frozen=True, eq=False)
class Signature:
    """The parameters of a task.

    `fields` are its positional parameters in order. Keyword-only parameters are `constants` (values fixed in the
    program), `scalars` (named numbers that change between steps) and `reductions` (named numbers that it produces),
    listed individually. `numbers` has the parameters with several numbers. `keywords` are all in declared order.
    `parameters` are the positional ones as declared, each with the names of its fields: one, or several components.
    `optional` ones may be omitted. `turns` is the keyword for the orientation, with its annotation.
    """

    name: str
    fields: dict[str, Privilege]
    constants: dict[str, Any]
    scalars: tuple[str, ...]
    reductions: dict[str, Operator]
    keywords: tuple[str, ...]
    parameters: dict[str, tuple[str, ...]]
    numbers: dict[str, ScalarArray]
    optional: frozenset[str]
    turns: tuple[str, type[Axis | Face]] | None

    def bind(
        self, fields: tuple[Argument, ...], values: Mapping[str, Any]
    ) -> tuple[tuple[str, ...], tuple[tuple[str, Any], ...], Variant]:
        """Return the fields of a launch individually, values by parameter and number, and the variant. Raises TypeError
        if an argument is missing, unknown or of the wrong kind.
        """
        arguments = self._arguments(fields, values)
        absent = frozenset(name for name in self.optional if arguments[name] is None)
        present = {name: values[name] for name in self.keywords if name not in absent}
        self._check_values(present)
        numbers = tuple(pair for name, value in present.items() for pair in self._one_by_one(name, value))
        results = [scalar for name, scalar in numbers if name in self.reductions]
        if len(set(results)) < len(results):
            raise TypeError(f"{self.name}: two reductions have the same result among {', '.join(results)}")
        declared = {name: kind for name, kind in self.constants.items() if name in present}
        classes = frozenset(pair for name, kind in declared.items() for pair in _derived(kind, present[name]))
        orientation = arguments[self.turns[0]] if self.turns else None
        return self._names(fields), numbers, Variant(classes, absent, orientation)

    def _arguments(self, fields: tuple[Argument, ...], values: Mapping[str, Any]) -> dict[str, Any]:
        """Return all arguments by parameter. Raises TypeError if one is missing or unknown."""
        for (name, parts), argument in zip(self.parameters.items(), fields, strict=False):
            self._check_field(name, parts, argument)
        if len(fields) != len(self.parameters):
            parameters = ", ".join(self.parameters)
            raise TypeError(f"{self.name} takes {len(self.parameters)} fields ({parameters}), not {len(fields)}")
        keywords = (*self.keywords, *(self.turns or ())[:1])
        if set(values) != set(keywords):
            expected, actual = ", ".join(("over", *keywords)), ", ".join(("over", *values))
            raise TypeError(f"{self.name} takes the keywords {expected}; it was given {actual}")
        if self.turns and values[self.turns[0]] not in self.turns[1].values:
            name, kind = self.turns
            raise TypeError(f"{self.name}: {name}={values[name]!r} is not one of {', '.join(kind.values)}")
        return {**dict(zip(self.parameters, fields, strict=True)), **values}

    def _check_field(self, name: str, parts: tuple[str, ...], argument: object) -> None:
        if argument is None and name in self.optional:
            return
        several = parts != (name,)
        names = argument if isinstance(argument, tuple) and several else (argument,)
        if several and (not isinstance(argument, tuple) or len(names) != len(parts)):
            raise TypeError(f"{self.name}: {name} is {argument!r}; give a tuple of fields, for {', '.join(parts)}")
        if not all(isinstance(field, str) for field in names):
            raise TypeError(f"{self.name}: {name} is {argument!r}; give the name of a field, such as roles.{parts[0]}")

    def _check_values(self, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            kind = self.constants.get(name)
            if name not in self.constants and not isinstance(value, str):
                raise TypeError(f"{self.name}: {name}={value!r} has to be the name of a scalar")
            if isinstance(kind, type) and not isinstance(value, kind):
                raise TypeError(f"{self.name}: {name}={value!r} is not a {kind.__name__}")

    def _names(self, arguments: tuple[Argument, ...]) -> tuple[str, ...]:
        """Return the fields individually. Raises TypeError if a written one occurs twice."""
        parts = zip(self.parameters.values(), arguments, strict=True)
        bound = [pair for names, argument in parts if argument for pair in zip(names, _tuple(argument), strict=True)]
        fields = tuple(field for _, field in bound)
        for parameter, field in bound:
            if self.fields[parameter].writes and fields.count(field) > 1:
                raise TypeError(f"{self.name}: field {field!r} is written and bound to a second parameter")
        return fields

    def _one_by_one(self, name: str, value: Any) -> Iterable[tuple[str, Any]]:
        """Return a keyword with its value, or each of its numbers with its scalar."""
        several = self.numbers.get(name)
        return zip(several.of(name), several.of(value), strict=True) if several else [(name, value)]


def is_choice(kind: Any) -> bool:
    """Return whether a class of constants has no members: kernels are compiled for it, and take no value of it."""
    return is_dataclass(kind) and not fields(kind)


def _tuple(argument: Argument) -> tuple[str, ...]:
    return argument if isinstance(argument, tuple) else (argument,) if argument else ()


def _derived(kind: Any, value: Any) -> Iterator[tuple[type, type]]:
    """Yield pairs of a declared class and the derived class of a constant: its own, and the classes of members without
    members, which are choices such as schemes.
    """
    if not is_dataclass(kind):
        return
    if (actual := type(value)) is not kind:
        yield cast(type, kind), actual
    for name in members(actual):
        chosen = type(getattr(value, name))
        if (declared := _declared(chosen)) is not chosen:
            yield declared, chosen


_bases: dict[type, type] = {}


def _declared(chosen: type) -> type:
    """Return the first base class of a choice that is a dataclass, and any other class itself."""
    if chosen not in _bases:
        bases = [base for base in chosen.__mro__ if is_dataclass(base)] if is_choice(chosen) else [chosen]
        _bases[chosen] = bases[-1]
    return _bases[chosen]
