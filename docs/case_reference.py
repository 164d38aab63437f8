"""Writes the tables of keys into docs/reference/case.md and case_charts.md, from the models that read a case.

In a page a table stands between `<!-- keys of NAME -->` and `<!-- end -->`, NAME being that of the model.
"""

import re
from collections.abc import Sequence
from dataclasses import MISSING
from pathlib import Path
from typing import Any

from taskflow.cases.schema import described, own_tables
from taskflow.geometry.grids import SHAPES
from taskflow.systems.artificial_compressibility.system import CompressibilitySystem
from taskflow.systems.two_phase.system import TwoPhaseSystem

REFERENCE = Path(__file__).parent / "reference"
PAGES = {REFERENCE / "case.md": "", REFERENCE / "case_charts.md": "case.md"}  # and the page to which `(#name)` leads
PLACE = re.compile(r"(<!-- (?:keys of (\w+)(?:: ([\w ]+))?|shapes) -->\n\n).*?<!-- end -->", re.S)
NUMBERS = {2: "two", 3: "three", 4: "four"}
OWN = {  # what a file has for values of our own types
    "Every": "interval",
    "Expression": "number or expression",
    "Function": "number or expression",
    "ArrayValues": "number or expression",
    "GivenState": "text",
    "TimeFunction": "number or expression",
    "TimeTable": "number or expression",
    "ProfileTable": "name of a file",
}
PLURAL = {"number or expression": "numbers or expressions"}


def updated(page: str, home: str) -> str:
    """Return a page with its tables, whose links within a page lead to `home`."""
    models = {"Case": described(), **described()["$defs"]}
    for system in (TwoPhaseSystem, CompressibilitySystem):
        for table_of, kind in own_tables(system).items():
            models |= {table_of: kind, **kind.get("$defs", {})}

    def written(match: re.Match[str]) -> str:
        made = table(models[match[2]], models, (match[3] or "").split()) if match[2] else shapes()
        return f"{match[1]}{made.replace('](#', f']({home}#')}\n\n<!-- end -->"

    return PLACE.sub(written, page)


def shapes() -> str:
    """Return the keys of all shapes of grids: first those that several have, then those of each."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for name, kind in SHAPES.items():
        for entry in kind.entries():
            default = "" if entry.default in (None, MISSING) else as_toml(entry.default)
            otherwise = "required" if entry.default is MISSING else default
            meaning = entry.meaning.removesuffix(" (1 along the last in two dimensions)")
            rows.setdefault((f"`{entry.name}`", entry.kind.words, meaning, otherwise), []).append(f"`{name}`")
    lines, last = ["| shape | key | value | meaning | default |", "|---|---|---|---|---|"], ""
    for cells, names in sorted(rows.items(), key=lambda row: (len(row[1]) == 1, row[1] if len(row[1]) == 1 else [])):
        of = ", ".join(names)
        lines.append(f"| {' | '.join((of if of != last else '', *cells))} |")
        last = of
    return "\n".join(lines)


def as_toml(value: Any) -> str:
    """A value as a case file has it."""
    return f"`{written(list(value) if isinstance(value, tuple) else value)}`"


def table(model: dict[str, Any], models: dict[str, Any], some: Sequence[str] = ()) -> str:
    """A row per key, or for all of which the same is to be said; of `some` keys, where these are named. Of a grid on
    charts, which may be one of several shapes, those of a file, and the name of the shape.
    """
    kinds = [kind for kind in (model, *model.get("anyOf", ())) if "properties" in kind]
    model, properties = kinds[-1], dict(kinds[-1]["properties"])
    if len(kinds) > 1:
        shape = {**kinds[0]["properties"]["shape"], "anyOf": [{"enum": [*SHAPES]}]}
        model, properties = {}, {"shape": shape, **properties}
    rows: dict[tuple[str, str, str], list[str]] = {}
    for name, key in properties.items():
        if some and name not in some:
            continue
        said = value(key, models), key["description"], default(key, required=name in model.get("required", ()))
        rows.setdefault(said, []).append(f"`{name}`")
    lines = [f"| {', '.join(names)} | {' | '.join(said)} |" for said, names in rows.items()]
    return "\n".join(["| key | value | meaning | default |", "|---|---|---|---|", *lines])


def value(key: dict[str, Any], models: dict[str, Any]) -> str:
    """The values that a key may have, in words."""
    choices = [kind for kind in key.get("anyOf", ()) if kind.get("type") != "null"]
    if choices:
        return " or ".join(dict.fromkeys(" or ".join(value(kind, models) for kind in choices).split(" or ")))
    if "$ref" in key:
        name = key["$ref"].rpartition("/")[2]
        return OWN.get(name) or value(models[name], models)
    if "properties" in key or key.get("type") == "object":
        return "table"
    if "const" in key or "enum" in key:
        return ", ".join(f"`{written(choice)}`" for choice in key.get("enum", [key.get("const")]))
    if key["type"] == "array":
        items = [value(item, models) for item in key.get("prefixItems", [key.get("items", {})])]
        count = NUMBERS[len(items)] if "prefixItems" in key else "list of"
        return f"{count} {PLURAL.get(items[0]) or plural(items[0])}"
    return {"number": number, "integer": number, "string": lambda _: "text", "boolean": lambda _: "`true`, `false`"}[
        key["type"]
    ](key)


def plural(word: str) -> str:
    """As in "three numbers > 0"."""
    for one, more in (("number", "numbers"), ("integer", "integers"), ("table", "tables"), ("text", "names")):
        word = re.sub(rf"\b{one}\b", more, word, count=1)
    return {"three numbers": "points", "two names": "pairs of names"}.get(word, word)


def number(key: dict[str, Any]) -> str:
    """With its bounds."""
    kind = "integer" if key["type"] == "integer" else "number"
    low = next((f"{sign} {key[name]:g}" for name, sign in LOW if name in key), None)
    high = next((f"{sign} {key[name]:g}" for name, sign in HIGH if name in key), None)
    return " ".join(filter(None, (kind, low, "and" if low and high else None, high)))


LOW, HIGH = (("minimum", ">="), ("exclusiveMinimum", ">")), (("maximum", "<="), ("exclusiveMaximum", "<"))


def default(key: dict[str, Any], *, required: bool) -> str:
    """The value that holds without the key."""
    if "otherwise" in key:
        return str(key["otherwise"])
    if required:
        return "required"
    return f"`{written(key['default'])}`" if "default" in key else ""


def written(default: Any) -> str:
    """A value as a case file has it."""
    if isinstance(default, dict):
        return f"{{ {', '.join(f'{name} = {written(item)}' for name, item in default.items())} }}"
    if isinstance(default, list):
        return f"[{', '.join(map(written, default))}]"
    if isinstance(default, bool | str):
        return f'"{default}"' if isinstance(default, str) else str(default).lower()
    return f"{default:g}"


if __name__ == "__main__":
    for place, linked in PAGES.items():
        place.write_text(updated(place.read_text(encoding="utf-8"), linked), encoding="utf-8")
