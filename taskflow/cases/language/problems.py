"""Problems of a case, one line each: key, value, remedy."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import islice
from typing import Any

from taskflow.common.errors import BadInput
from taskflow.common.text import visible

Key = tuple[str, ...]  # names of tables from the outermost inwards, then the name of the value

BARE = re.compile(r"[A-Za-z0-9_-]+")  # keys that need no quotes
LONGEST = 60  # characters of a value that are shown
LISTED = 20  # problems that are printed, and unknown keys of a table that are explained
COMPARED = 200  # unknown keys of a case that are compared with known ones: each takes a millisecond
STORED = "another entry of the store has this name; give another name"
_REYNOLDS = "a Reynolds number follows from fluid.viscosity: give speed * length / Re there"
_RAYLEIGH = (
    "a Rayleigh number follows from body.gravity, heat.expansion, heat.diffusivity and fluid.viscosity: give"
    " gravity * expansion * difference * length**3 / (viscosity * diffusivity) = Ra"
)
_PRANDTL = "a Prandtl number follows from heat.diffusivity: give viscosity / Pr there"
ELSEWHERE = {  # words that people give, and the keys that say it
    **dict.fromkeys(("re", "reynolds", "reynolds_number"), _REYNOLDS),
    **dict.fromkeys(("ra", "rayleigh", "rayleigh_number"), _RAYLEIGH),
    **dict.fromkeys(("pr", "prandtl", "prandtl_number"), _PRANDTL),
    "scalars": "a side has the values of a scalar in its table [[scalars]]: boundaries = { x_min = { value = 1 } }",
}
NEEDS = {"T": "; T needs a [heat] table", "nu_t": "; nu_t needs a [turbulence] table"}


@dataclass(frozen=True)
class Problem:
    """One thing to correct: key from the outermost table inwards, what to do, and the value, if any, as text.

    `unknown`: unknown key; `message` then has no suggestion yet. `strange`: the table of
    its system lacks the key, another system may have it.
    """

    keys: Key
    message: str
    value: str | None = None
    unknown: bool = False
    strange: bool = False

    @property
    def is_missing(self) -> bool:
        return self.value is None and self.message.startswith("missing")

    def within(self, outer: Iterable[str]) -> "Problem":
        return replace(self, keys=(*outer, *self.keys))

    def __str__(self) -> str:
        words = (key if key.isidentifier() or key.startswith("[") else shown(key) for key in self.keys)
        key = ".".join(words).replace(".[", "[")
        return f"{key}: {self.message}" if self.value is None else f"{key} = {self.value}: {self.message}"


def wrong(key: Key | str, value: Any, message: str) -> Problem:
    """Return the problem with a key and its value; `message` says why and ends with a remedy."""
    return Problem((key,) if isinstance(key, str) else key, message, shown(value))


def missing(key: str, remedy: str) -> Problem:
    return Problem((key,), f"missing; {remedy}")


class CaseError(BadInput, ValueError):
    """All problems of a case or a table of it; the first ones are printed. (A ValueError, so that pydantic collects it
    among others.)
    """

    def __init__(self, *problems: Problem) -> None:
        super().__init__(*problems)
        self.problems = problems

    def __str__(self) -> str:
        lines = [str(problem) for problem in self.problems[:LISTED]]
        more = len(self.problems) - LISTED
        rest = [f"and {more} more problem{'s' * (more > 1)}, listed once these are corrected"] if more > 0 else []
        return visible("\n".join((*lines, *rest)))


def shown(value: object) -> str:
    """A value as in a case file, shortened."""
    try:
        text = inline(value)
    except TypeError:
        text = repr(value)
    except (RecursionError, ValueError):  # nested too deeply, or a number of thousands of digits
        text = f"({type(value).__name__})"
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def inline(value: Any) -> str:
    """A value on one line, an expression by its source; `TypeError` for what TOML does not have."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, (int, float)):
        return repr(float(value) if isinstance(value, float) else int(value))
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(inline(item) for item in value)}]"
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{quoted(str(key))} = {inline(item)}" for key, item in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if hasattr(value, "source"):
        return inline(value.source)
    raise TypeError(f"{value!r} has no place in TOML")


def quoted(name: str) -> str:
    """A key of TOML."""
    return name if BARE.fullmatch(name) else inline(name)


_compared: ContextVar[dict[tuple[Key, ...], Key | None] | None] = ContextVar("_compared", default=None)


@contextmanager
def sparingly() -> Iterator[None]:
    """Compare `COMPARED` unknown keys at most within the outermost of these contexts."""
    token = _compared.set({}) if _compared.get() is None else None
    try:
        yield
    finally:
        if token is not None:
            _compared.reset(token)


def explained(problems: Sequence[Problem], known: Sequence[Key]) -> Iterator[Problem]:
    """The same problems; an unknown key now names the one of `known` that was meant, and that one is not missed."""
    unknown = islice((problem.keys for problem in problems if problem.unknown), LISTED)
    intended = {keys: meant(keys, known) for keys in unknown}
    for problem in problems:
        if problem.keys in intended and problem.unknown:
            here = [path[-1] for path in known if path[:-1] == problem.keys[:-1]]
            advice = f"; known here: {', '.join(here)}" if here else ""
            if words := ELSEWHERE.get(problem.keys[-1].lower()):
                advice = f"; {words}"
            elif key := intended[problem.keys]:
                advice = f"; did you mean {'.'.join(key).replace('.[', '[')}?"
            yield replace(problem, message=f"unknown key{advice}")
        elif problem.unknown or problem.value is not None or problem.keys not in intended.values():
            yield problem


def meant(keys: Key, known: Sequence[Key]) -> Key | None:
    """Return the key of `known` that was probably meant, or None; also None after many problems: see `sparingly`."""
    if keys in known:
        return keys
    answers = _compared.get()
    if answers is None:
        return _similar(keys, known)
    question = (keys, *known)
    if question not in answers and len(answers) < COMPARED:
        answers[question] = _similar(keys, known)
    return answers.get(question)


def _similar(keys: Key, known: Sequence[Key]) -> Key | None:
    """Return the likely key of `known`: a misspelling in the same table, the same word in another table, a similar word
    in the same table, or a misspelling elsewhere.
    """
    *table, word = keys
    here = [path for path in known if list(path[:-1]) == table]
    same = next((path for path in known if path[-1] == word), None)
    return _closest(word, here, 0.8) or same or _closest(word, here, 0.6) or _closest(word, known, 0.8)


def _closest(word: str, among: Sequence[Key], similarity: float) -> Key | None:
    close = get_close_matches(word.lower(), [path[-1] for path in among], n=1, cutoff=similarity)
    return next((path for path in among if path[-1] in close), None)


def no_such_side(name: str, sides: Collection[str]) -> str:
    """Return the remedy for the name of a side that a grid does not have: the side that was probably meant, or all."""
    close = get_close_matches(name, sides, n=1)
    advice = f"did you mean {shown(close[0])}?" if close else f"it has {', '.join(sides)}"
    return f"unknown side of the grid; {advice}"


def present(values: Mapping[str, Any], *names: str) -> list[str]:
    """The `names` that have a value."""
    return [name for name in names if values.get(name) is not None]


def exclusive(values: Mapping[str, Any], *names: str, needed: Problem | None = None) -> Iterator[Problem]:
    """Yield a problem for each given name of `names` after the first, or `needed` if none is given."""
    keys = present(values, *names)
    if not keys and needed is not None:
        yield needed
    for key in keys[1:]:
        verb = "are" if keys[0] == "points" else "is"
        yield wrong(key, values[key], f"{keys[0]} {verb} given as well; give one of them")


def numbered(**lists: Iterable[Any]) -> Iterator[tuple[Key, Any]]:
    """Yield the tables of lists with their keys."""
    for name, tables in lists.items():
        yield from (((name, f"[{n}]"), table) for n, table in enumerate(tables, start=1))


def names_differ(
    used: set[str], tables: Iterable[tuple[Key, Any]], remedy: str = STORED
) -> Iterator[Problem]:  # fmt: skip
    """Yield problems with tables whose names are taken, also by earlier tables."""
    for key, table in tables:
        if table.name in used:
            yield wrong((*key, "name"), table.name, remedy)
        used.add(table.name)


def unknown_fields(key: Key, names: Collection[str] | None, fields: Collection[str]) -> Iterator[Problem]:
    """Yield a problem for each name under a key that is not a field of the case."""
    for name in names or ():
        if name not in fields:
            message = f"this case has no field {shown(name)}; it has {', '.join(fields)}{NEEDS.get(name, '')}"
            yield wrong(key, names, message)
