"""The base of all tables of a case: strict, frozen, and every problem reported at once in words of our own."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from taskflow.errors import BadInput
from taskflow.simulation.case.problems import CaseError, Key, Problem, explained, meant, missing, shown, wrong
from taskflow.simulation.values import natural, non_negative, number, one_of, positive, text, three, whole

REMEDY, OTHERWISE = "remedy", "otherwise"  # what is said of a key besides its meaning


def reads(kind: Callable[[Any], Any]) -> BeforeValidator:
    """A field whose value is read by `kind`."""

    def read(value: Any) -> Any:
        try:
            return kind(value)
        except BadInput as error:
            raise error if isinstance(error, ValueError) else ValueError(str(error)) from None

    return BeforeValidator(read)


def entry(meaning: str, default: Any = ..., *, remedy: str | None = None, otherwise: str | None = None) -> Any:
    """A key, with its `meaning` for the reference and for editors.

    `remedy` says what to give where it is required and missing; `otherwise` in words what holds without it, where that
    is not the `default` itself.
    """
    said: dict[str, Any] = {REMEDY: remedy, OTHERWISE: otherwise}
    return Field(default, description=meaning, json_schema_extra={name: words for name, words in said.items() if words})


# The bounds are those of the readers, for the schema.
Text = Annotated[str, reads(text)]
Whole = Annotated[int, Field(ge=1), reads(whole)]
Natural = Annotated[int, Field(ge=0), reads(natural)]
Number = Annotated[float, reads(number)]
NonNegative = Annotated[float, Field(ge=0), reads(non_negative)]
Positive = Annotated[float, Field(gt=0), reads(positive)]
Vector = Annotated[tuple[float, float, float], reads(three(number, "three numbers"))]
Precision = Annotated[Literal["single", "double"], reads(one_of("single", "double"))]
WholeVector = Annotated[tuple[Whole, Whole, Whole], reads(three(whole, "three whole numbers >= 1"))]


T = TypeVar("T", bound="Table")


class Table(BaseModel):
    """A table of the case file. Making one that is wrong raises `CaseError`, a `BadInput` with one line per problem."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    def __init__(self, /, **values: Any) -> None:
        values = {name: plain_keys(value) for name, value in values.items()}
        problems: list[Problem] = []
        try:
            super().__init__(**values)
        except ValidationError as error:
            problems += self._collected(error)
        known = self.paths()
        problems += (problem for problem in self.conflicts(values) if problem.value is not None)
        intended = {(meant((name,), known) or (name,))[-1]: value for name, value in values.items()}
        problems += (problem for problem in self.conflicts(intended) if problem.value is None)
        if problems:
            raise CaseError(*explained(problems, known))

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        """Combinations of keys that exclude or need each other, whatever their values."""
        yield from ()

    @classmethod
    def paths(cls) -> list[Key]:
        """The keys of this table and of the tables in it."""
        paths: list[Key] = []
        for name, field in cls.model_fields.items():
            inner = table_in(field.annotation)
            paths += [(name,), *((name, *path) for path in (inner.paths() if inner else []))]
        return paths

    def written(self) -> dict[str, Any]:
        """As the case file has it, defaults included; what is not given and has no default is left out."""
        return {name: written(value) for name, value in self if value is not None}

    @classmethod
    def _said(cls, key: str, about: str) -> str | None:
        extra = cls.model_fields[key].json_schema_extra
        return str(extra[about]) if isinstance(extra, dict) and about in extra else None

    @classmethod
    def _collected(cls, error: ValidationError) -> Iterator[Problem]:
        for item in error.errors(include_url=False):
            key, value = str(item["loc"][0]), item["input"]
            cause = item.get("ctx", {}).get("error")
            if isinstance(cause, CaseError):
                yield from (problem.within([key]) for problem in cause.problems)
            elif item["type"] == "missing":
                yield missing(key, cls._said(key, REMEDY) or "give it")
            elif item["type"] == "extra_forbidden":
                yield Problem((key,), "there is no such key", shown(value), unknown=True)
            else:
                yield wrong(key, value, str(cause) if cause else "give a table")


def listed(kind: type[T], what: str) -> Callable[[Any], tuple[T, ...]]:
    """Reads a list of tables of one kind: all their problems at once, by their number. `wanted` says what to list."""

    def read(value: Any) -> tuple[T, ...]:
        if not isinstance(value, (list, tuple)):
            raise BadInput(f"give a list of {what}")
        tables: list[T] = []
        problems: list[Problem] = []
        for n, item in enumerate(value, start=1):
            try:
                if not isinstance(item, (Mapping, kind)):
                    raise CaseError(wrong((), item, "give a table"))
                tables.append(item if isinstance(item, kind) else kind(**plain_keys(item)))
            except CaseError as error:
                problems += [replace(problem, unknown=False).within((f"[{n}]",)) for problem in error.problems]
        if problems:
            raise CaseError(*problems)
        return tuple(tables)

    return read


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
    """A mapping with text as keys; anything else as it is."""
    return {str(key): item for key, item in value.items()} if isinstance(value, Mapping) else value
