"""The base of all tables of a case: strict, frozen, and all problems reported together in our own messages."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from taskflow.cases.formulas.values import (
    natural,
    non_negative,
    number,
    positive,
    text,
    three,
    truth,
    unchosen,
    whole,
)
from taskflow.cases.language.problems import (
    LISTED,
    CaseError,
    Key,
    Problem,
    exclusive,
    explained,
    inline,
    meant,
    missing,
    quoted,
    shown,
    sparingly,
    wrong,
)
from taskflow.common.errors import BadInput

REMEDY, OTHERWISE = "remedy", "otherwise"  # what is said of a key besides its meaning


def reads(kind: Callable[[Any], Any]) -> BeforeValidator:
    """Annotate a key whose value `kind` reads. `kind` raises BadInput with a remedy for a value that it refuses."""

    def read(value: Any) -> Any:
        try:
            return kind(value)
        except BadInput as error:
            raise error if isinstance(error, ValueError) else ValueError(str(error)) from None

    return BeforeValidator(read)


def entry(meaning: str, default: Any = ..., *, remedy: str | None = None, otherwise: str | None = None) -> Any:
    """A key, with its `meaning` for the reference and for editors.

    `remedy` says what to give where it is required and missing, or is no list; `otherwise` describes the value
    without it, where that is not the `default` itself.
    """
    extra: dict[str, Any] = {REMEDY: remedy, OTHERWISE: otherwise}
    return Field(default, description=meaning, json_schema_extra={name: text for name, text in extra.items() if text})


def optional(meaning: str, *, remedy: str | None = None, otherwise: str | None = None) -> Any:
    """Return an optional key, None by default: see `entry`."""
    return entry(meaning, None, remedy=remedy, otherwise=otherwise)


# The bounds are those of the readers, for the schema.
Text = Annotated[str, reads(text)]
Whole = Annotated[int, Field(ge=1), reads(whole)]
Natural = Annotated[int, Field(ge=0), reads(natural)]
Number = Annotated[float, reads(number)]
NonNegative = Annotated[float, Field(ge=0), reads(non_negative)]
Positive = Annotated[float, Field(gt=0), reads(positive)]
Vector = Annotated[tuple[float, float, float], reads(three(number, "three numbers"))]
Truth = Annotated[bool, reads(truth)]
Precision = Literal["single", "double"]
WholeVector = Annotated[tuple[Whole, Whole, Whole], reads(three(whole, "three integers >= 1"))]

Rule = Callable[..., Iterator[Problem]]


class Table(BaseModel):
    """A table of the case file. Making one that is wrong raises `CaseError`, a `BadInput` with one line per problem.

    `conflicts` are problems within the table. `rules` yield those with other tables: the parameters of a rule are
    named after the tables that it is about, and it is skipped if one of them is missing or wrong.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True, defer_build=True)
    rules: ClassVar[tuple[Rule, ...]] = ()
    each: ClassVar[type["Table"] | None] = None  # the table under each name, in a table whose keys are names of sides
    within: ClassVar[str] = "table."  # how keys begin, seen from the case
    offers: ClassVar[tuple[str, ...]] = ()  # names for users besides the keys
    brief: ClassVar[str | None] = None  # the key whose value alone may stand for the table
    least: ClassVar[Problem | None] = None  # where no key is given
    alternatives: ClassVar[tuple[tuple[tuple[str, ...], Problem | None], ...]] = ()
    """Mutually exclusive keys, with the problem if none of them is given, or None."""

    @sparingly()
    def __init__(self, /, **values: Any) -> None:
        values = {name: plain_keys(value) for name, value in values.items()}
        problems: list[Problem] = []
        try:
            super().__init__(**self.filled(values))
        except ValidationError as error:
            problems += self._collected(error)
        known = self.paths()
        problems += (problem for problem in self.conflicts(values) if problem.value is not None)
        strange = [name for name in values if (name,) not in known][:LISTED]
        words = {name: key[-1] for name in strange if (key := meant((name,), known))}
        intended = {words.get(name, name): value for name, value in values.items()}
        problems += (problem for problem in self.conflicts(intended) if problem.value is None)
        if problems:
            raise CaseError(*explained(problems, known))

    def __hash__(self) -> int:
        """Equal tables have the same hash. Of a dictionary, such as `machine.cuts`, the keys count."""
        values = (self.__dict__[name] for name in type(self).model_fields)
        return hash(tuple(frozenset(value) if isinstance(value, dict) else value for value in values))

    def __setattr__(self, name: str, value: Any) -> None:
        """Raises BadInput: only names of the inside change."""
        if not name.startswith("_"):
            raise BadInput(f"{name} = {shown(value)}: {self._frozen(name)}")
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        raise BadInput(f"del {name}: {self._frozen(name)}")

    def _frozen(self, name: str) -> str:
        return f'a case is immutable; case.replace(**{{"{self.within}{name}": ...}}) returns a changed copy'

    def __dir__(self) -> list[str]:
        """The keys, and what a user may call; pydantic has many more names."""
        inner = (name for name in super().__dir__() if name.startswith("__"))
        return [*type(self).model_fields, *(self.model_extra or {}), *self.offers, *inner]

    @classmethod
    def filled(cls, values: dict[str, Any]) -> Mapping[str, Any]:
        """Return the given keys, with defaults that follow from other keys of the table."""
        return values

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield problems of keys that exclude or need each other, for any values: here the `alternatives`."""
        if cls.least and not values:
            yield cls.least
        for keys, needed in cls.alternatives:
            yield from exclusive(values, *keys, needed=needed)

    @classmethod
    def paths(cls) -> list[Key]:
        """The keys of this table and of the tables in it."""
        paths: list[Key] = []
        for name, field in cls.model_fields.items():
            inner = table_in(field.annotation)
            paths += [(name,), *((name, *path) for path in (inner.paths() if inner else []))]
        return paths

    @classmethod
    def as_schema(cls, made: dict[str, Any]) -> dict[str, Any]:
        """Return the JSON schema of the table, made of the schemas of its keys."""
        if cls.brief is None:
            return made
        key = made["properties"][cls.brief]
        alone = {name: key[name] for name in ("enum", "type", "exclusiveMinimum") if name in key}
        return {"anyOf": [alone, made]}

    @property
    def implied(self) -> Mapping[str, str]:
        """Places below the table that the value of a key asks for without naming them, with that key."""
        return {}

    def completed(self, tables: Mapping[str, Any]) -> Self:
        """The table with the defaults that depend on the other `tables` of a sound case, and on its `fields`."""
        return self

    def written(self) -> Any:
        """Return the table as in a case file, defaults included; keys without value and default are omitted."""
        values = {name: written(value) for name, value in self if value is not None}
        return values[self.brief] if self.brief and values.keys() == {self.brief} else values

    @classmethod
    def _declared(cls, key: str, about: str) -> str | None:
        extra = cls.model_fields[key].json_schema_extra
        return str(extra[about]) if isinstance(extra, dict) and about in extra else None

    @classmethod
    def _needed(cls, key: str) -> str:
        """Return the keys that a table below `key` must have, as part of a remedy."""
        table = table_in(cls.model_fields[key].annotation)
        keys = [name for name, field in table.model_fields.items() if field.is_required()] if table else []
        return f" with {' and '.join(keys)}" if keys else ""

    @classmethod
    def _collected(cls, error: ValidationError) -> Iterator[Problem]:
        for item in error.errors(include_url=False):
            key, *place = (f"[{step + 1}]" if isinstance(step, int) else step for step in item["loc"])
            value = item["input"]
            cause = item.get("ctx", {}).get("error")
            if isinstance(cause, CaseError):
                problems = (replace(problem, unknown=problem.unknown and not place) for problem in cause.problems)
                yield from (problem.within([key, *place]) for problem in problems)
            elif item["type"] == "missing":
                yield missing(key, cls._declared(key, REMEDY) or "give it")
            elif item["type"] == "extra_forbidden":
                yield Problem((key,), "unknown key", shown(value), unknown=True, strange=True)
            elif item["type"] == "literal_error":
                choices = re.findall(r"'(.*?)'", expected := item["ctx"]["expected"])
                yield wrong(key, value, unchosen(value, choices) if choices else f"give {expected}")
            elif item["type"] == "tuple_type":
                yield wrong(key, value, cls._declared(key, REMEDY) or f"give a list of tables, each under [[{key}]]")
            elif item["type"] in ("model_type", "dict_type"):
                yield wrong((key, *place), value, f"give a table{cls._needed(key)}")
            else:
                yield wrong((key, *place), value, str(cause or item["msg"]))


def table_in(annotation: Any) -> type[Table] | None:
    """The table that a field holds, if it holds one."""
    for candidate in (annotation, *get_args(annotation)):
        if isinstance(candidate, type) and issubclass(candidate, Table):
            return candidate
    return None


def written(value: Any) -> Any:
    """A value in the types of TOML."""
    if hasattr(value, "written"):
        return value.written()
    if isinstance(value, tuple):
        return [written(item) for item in value]
    return getattr(value, "source", value)


def plain_keys(value: Any) -> Any:
    """Return a mapping, also within a list, with text as keys; other values unchanged."""
    if isinstance(value, tuple) and all(isinstance(item, Table) for item in value):
        return value
    if isinstance(value, list | tuple):
        return [plain_keys(item) if is_mapping(item) else item for item in value]
    return {str(key): item for key, item in value.items()} if is_mapping(value) else value


def is_mapping(value: Any) -> bool:
    """Return whether a value can become a table; a dataset of xarray, though a mapping, cannot."""
    return isinstance(value, Mapping) and not hasattr(value, "data_vars")


def document(tables: Mapping[str, Any]) -> str:
    """`tables` as a TOML file: plain values first, then one table each, its own tables inline, and lists of tables."""
    plain = {name: value for name, value in tables.items() if not isinstance(value, Mapping) and not _tables(value)}
    lines = [f"{quoted(name)} = {inline(value)}" for name, value in plain.items()]
    for name, value in tables.items():
        if name not in plain:
            heading = f"[[{quoted(name)}]]" if _tables(value) else f"[{quoted(name)}]"
            for table in value if _tables(value) else [value]:
                lines += ["", heading, *(f"{quoted(key)} = {inline(item)}" for key, item in table.items())]
    return "\n".join(lines) + "\n"


def _tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)
