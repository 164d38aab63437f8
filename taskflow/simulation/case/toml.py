"""Tables as TOML that people like to read: short arrays and options on one line."""

import json
import re
from collections.abc import Mapping
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def document(tables: Mapping[str, Any]) -> str:
    """`tables` as a TOML file: plain values first, then one table each, its own tables inline, and lists of tables."""
    plain = {name: value for name, value in tables.items() if not isinstance(value, Mapping) and not _tables(value)}
    lines = [f"{_key(name)} = {inline(value)}" for name, value in plain.items()]
    for name, value in tables.items():
        if name not in plain:
            heading = f"[[{_key(name)}]]" if _tables(value) else f"[{_key(name)}]"
            for table in value if _tables(value) else [value]:
                lines += ["", heading, *(f"{_key(key)} = {inline(item)}" for key, item in table.items())]
    return "\n".join(lines) + "\n"


def _tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)


def inline(value: Any) -> str:
    """A value on one line; `TypeError` for what TOML does not have."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, (int, float)):
        return repr(float(value) if isinstance(value, float) else int(value))
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(inline(item) for item in value)}]"
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{_key(str(key))} = {inline(item)}" for key, item in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    raise TypeError(f"{value!r} has no place in TOML")


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else inline(name)
