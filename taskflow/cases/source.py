"""The case file and the command line, read into plain tables."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from taskflow.cases.language.problems import Key, shown
from taskflow.cases.tables.timed import CSV
from taskflow.common import files
from taskflow.common.errors import BadInput, named

LARGEST = 1_000_000  # bytes
DOTS = 100  # in a key
SEPARATORS = re.compile(r"[,=\[\]{}\n#]")
FILES = (
    (("boundaries",), "table"), (("openings",), "table"), (("grid", "stretching"), "faces"), (("obstacles",), "file"),
    (("two_phase", "shapes"), "file"), ((), "file"), ((), "map"), ((), "section"),
    (("initial",), "source"),
)  # fmt: skip
KNOWN = ("section",)  # keys that name a file, where that has a suffix, or else something known
IN_TIME = ("boundaries", "openings", "body", "scalars")  # tables with what may change in time
DEEPEST = 5  # levels of tables and lists in them, as in scalars[1].boundaries.z_min.value
_OVERRIDE = re.compile(r"\s*([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)\s*=\s*(.*?)\s*", re.DOTALL)
_DECIMAL = re.compile(r"[+-]?(\d+\.|\.\d+)([eE][+-]?\d+)?")
_LINE = re.compile(r"at line (\d+)")


def read(path: Path) -> dict[str, Any]:
    """The tables of a TOML file; `BadInput` says why it cannot be read, and the line if it is not TOML."""
    with named(f"{path}"):
        text = files.text(path, LARGEST, "give a case file, in TOML", f"`taskflow new {path}` writes one to start from")
    if any(part.count(".") > DOTS for part in SEPARATORS.split(text)):  # which would take tomllib hours
        raise BadInput(f"{path}: not TOML of a case: a key has more than {DOTS} dots; give keys such as grid.cells")
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path}: not TOML: {_reason(error, text)}") from None


def override(tables: dict[str, Any], settings: Sequence[str]) -> None:
    """Write `table.key=VALUE` settings into `tables`. Raises BadInput if a setting has another form.

    VALUE is TOML, or a bare text. What a setting replaces by its nature (`time.steps` a `time.end`) is taken out.
    """
    problems, keys = [], []
    for setting in settings:
        try:
            key, value = _parsed(setting)
            _put(tables, key, value)
            keys.append(key)
        except BadInput as error:
            problems.append(f"override {str(setting)!r}: {error}")
    if problems:
        raise BadInput("\n".join(problems))
    _take_rivals(tables, keys)


def change(tables: dict[str, Any], values: Mapping[str, Any]) -> None:
    """Gives the keys `table.key` in `tables` other values; None takes a key out. `BadInput` where a key is in no table.
    What a value replaces by its nature is taken out.
    """
    new = {tuple(name.split(".")): value for name, value in values.items()}
    for key, value in new.items():
        if value is None:
            _take(tables, key)
        else:
            _put(tables, key, value)
    _take_rivals(tables, [key for key, value in new.items() if value is not None])


def _take_rivals(tables: dict[str, Any], keys: Sequence[Key]) -> None:
    """Remove the keys that exclude these keys."""
    for key in keys:
        for rival in _rivals(key):
            if rival not in keys:
                _take(tables, rival)


def locate(tables: dict[str, Any], folder: Path) -> None:
    """Makes the names of files in `tables` absolute: they are relative to the folder of the case file."""
    for path, key in FILES:
        node: Any = tables
        for step in path:
            node = node.get(step) if isinstance(node, dict) else None
        inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
        for table in (node, *inner):
            named = table.get(key) if isinstance(table, dict) else None
            if isinstance(named, str) and (key not in KNOWN or Path(named).suffix):
                table[key] = str((folder / table[key]).absolute())
    for key in IN_TIME:
        if key in tables:
            tables[key] = _located(tables[key], folder, DEEPEST)


def _located(value: Any, folder: Path, depth: int) -> Any:
    """Return the same with absolute names of tables of the time, down to a number of levels."""
    if isinstance(value, str) and value.endswith(CSV):
        return str((folder / value).absolute())
    if isinstance(value, dict) and depth:
        return {key: _located(inner, folder, depth - 1) for key, inner in value.items()}
    return [_located(inner, folder, depth - 1) for inner in value] if isinstance(value, list) and depth else value


def _parsed(setting: Any) -> tuple[Key, Any]:
    match = _OVERRIDE.fullmatch(setting) if isinstance(setting, str) else None
    if not match:
        raise BadInput("give table.key=VALUE, as time.end=10")
    key, value = match.groups()
    if not value:
        raise BadInput(f"give a value, as {key}=VALUE")
    return tuple(key.split(".")), _value(value)


def _value(text: str) -> Any:
    """A TOML value, a number like .5 or 5. , or else the text itself."""
    try:
        tables = tomllib.loads(f"value = {text}")
        if len(tables) == 1:
            return tables["value"]
    except (ValueError, RecursionError):
        if _DECIMAL.fullmatch(text):
            return float(text)
        if text[0] not in "[{\"'":
            return text
    raise BadInput(f"{shown(text)} is not a TOML value; texts inside it need quotes")


def _put(tables: dict[str, Any], key: Key, value: Any) -> None:
    *path, name = key
    for depth, step in enumerate(path, start=1):
        inner = tables.get(step, {})
        if key[0] == "boundaries" and isinstance(inner, str):
            inner = {"type": inner}
        if step == "every" and isinstance(inner, (int, float)):
            inner = {"time": inner}
        tables[step] = inner
        if not isinstance(inner, dict):
            outer = ".".join(path[:depth])
            raise BadInput(f"{outer} = {shown(inner)} is not a table; give {outer}={{ {name} = {shown(value)}, ... }}")
        tables = inner
    tables[name] = value


def _take(tables: dict[str, Any], key: Key) -> None:
    *path, name = key
    table: Any = tables
    for step in path:
        table = table.get(step) if isinstance(table, dict) else None
    if isinstance(table, dict):
        table.pop(name, None)


def _rivals(key: Key) -> Iterator[Key]:
    """Return the keys that `key` excludes."""
    for pair in (("end", "steps"), ("cfl", "step"), ("steps", "time"), ("temperature", "heat_flux")):
        if key[-1] in pair:
            yield (*key[:-1], pair[1 - pair.index(key[-1])])
    if key[0] == "boundaries" and len(key) > 1:
        axis, _, side = key[1].partition("_")
        yield from ((key[0], axis),) if side else ((key[0], f"{axis}_min"), (key[0], f"{axis}_max"))


def _reason(error: Exception, text: str) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    match = _LINE.search(str(error))
    line = text.splitlines()[int(match[1]) - 1].strip() if match and int(match[1]) <= len(text.splitlines()) else ""
    return f"{error}: {shown(line)}" if line else str(error)
