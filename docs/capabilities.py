"""Writes docs/reference/capabilities.md, what each system of equations supports, from their declarations, and the short
table of features in docs/index.md.

A row is a place of a case: a table, a key, a type of side or a kind of value. Keys without a row are supported wherever
their table is.
"""

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from taskflow.cases import Case
from taskflow.cases.language.capabilities import BY_NAME
from taskflow.cases.language.table import Table, table_in
from taskflow.cases.tables.boundaries import Boundary
from taskflow.cases.tables.charts.sides import ChartSide
from taskflow.cases.tables.kinds import SideTable
from taskflow.flow.boundaries.kinds import BOUNDARIES
from taskflow.systems.artificial_compressibility.system import CompressibilitySystem
from taskflow.systems.projection import Projection
from taskflow.systems.two_phase.system import TwoPhaseSystem

PAGE = Path(__file__).parent / "reference" / "capabilities.md"
INDEX, BEGIN, END = Path(__file__).parent / "index.md", "<!-- table of capabilities -->\n", "<!-- end -->"
FEATURES = {  # of the first page, by places
    "walls, inflows, outflows, periodic sides": "boundaries", "bodies in the grid": "obstacles",
    "bodies that move in the grid": "obstacles.motion", "grids of several blocks that follow a body": "grid.shape",
    "grids that move": "motion", "heat and buoyancy": "heat", "passive scalars": "scalars",
    "large-eddy models": "turbulence", "rotation": "body.rotation", "your own terms": "forcing",
    "particles": "particles", "means and covariances": "statistics", "spectra": "spectra",
    "probes and planes": "probes", "pictures during a run": "pictures", "checkpoints": "checkpoint",
}  # fmt: skip
SYSTEMS = {
    "projection": Projection, "two phases": TwoPhaseSystem, "artificial compressibility": CompressibilitySystem,
}  # fmt: skip
KINDS = {
    "timed": "that changes in time", "placed": "that differs from place to place", "nonzero": "other than 0",
    "function": "as a function of Python", "array": "as an array of Python",
}  # fmt: skip


def options(side: type[SideTable]) -> dict[str, list[str]]:
    """Return the keys of each kind of side that this package has for a table."""
    kinds = {name: kind for name in BOUNDARIES.own if (kind := side.offered({"type": name}))}
    return {name: sorted(kind.keys & side.model_fields.keys()) for name, kind in kinds.items()}


OPTIONS, ON_CHARTS = options(Boundary), options(ChartSide)
SIDES = {f"boundaries.{side}" for side in (*OPTIONS, *ON_CHARTS)}
STANDARD = {name: kind for name, field in Case.model_fields.items() if (kind := table_in(field.annotation))}
OWN = {name: {**system.tables, **system.lists} if name != "projection" else {} for name, system in SYSTEMS.items()}
HEAD = """# What each model supports

Written by `docs/capabilities.py` from what the systems of equations declare. Rows are tables and keys of the
[case file](case.md), types of sides, and kinds of values. A key without a row is supported wherever its table is.
*In part*: the rows below it tell which keys. *Not with*: not together in one case; among the keys of one side or one
obstacle, not together there. A case that asks for anything else than these is refused, with the key, its value and a
remedy. A [model of your own](../howto/own_model.md) declares its `supports` in the same way. The keys of an opening are
listed where they differ from the keys of a side.
"""


def keys_of(table: str, kind: type[Table]) -> Iterator[str]:
    """Yield the places of the keys of a table and of the tables in it; of sides by their types."""
    if table == "boundaries":
        for side, keys in (OPTIONS if kind is STANDARD[table] else ON_CHARTS).items():
            yield from (f"{table}.{side}", *(f"{table}.{side}.{key}" for key in keys))
        return
    for name, *more in kind.paths():
        yield f"{table}.{'.'.join((name, *more))}"
    for name, field in kind.model_fields.items():
        if (inner := table_in(field.annotation)) and inner.each:
            yield from keys_of(f"{table}.{name}", inner.each)


KEYS = {  # of each system
    name: {key for table, kind in {**STANDARD, **OWN[name]}.items() for key in keys_of(table, kind)} for name in SYSTEMS
}
ALL_KEYS = {key for keys in KEYS.values() for key in keys}
TABLES = [(table, kind) for own in OWN.values() for table, kind in {**STANDARD, **own}.items()]
LISTED = {f"{table}.{name}" for table, kind in TABLES for name in kind.model_fields}  # without the keys of shapes
LISTED |= {key for key in ALL_KEYS if key.startswith("boundaries.")}


def updated() -> str:
    """The page as it has to be; neighbours of one table that say the same share a row."""
    lines = [f"| | {' | '.join(SYSTEMS)} |", f"|---|{'---|' * len(SYSTEMS)}"]
    for (_, *cells), same in groupby(places(), row_of):
        lines.append(f"| {', '.join(map(label, same))} | {' | '.join(cells)} |")
    return "\n".join([HEAD, *lines, ""])


def features() -> str:
    """The first page with its table, as it has to be."""
    lines = [f"| | {' | '.join(SYSTEMS)} |", f"|---|{'---|' * len(SYSTEMS)}"]
    for words, place in FEATURES.items():
        cells = (re.split("[,:]", cell(name, place))[0].replace("no", "") for name in SYSTEMS)
        lines.append(f"| {words} | {' | '.join(cells)} |")
    text = INDEX.read_text(encoding="utf-8")
    before, after = text.partition(BEGIN)[0], text.rpartition(END)[2]
    return "\n".join([f"{before}{BEGIN}", *lines, "", f"{END}{after}"])


def places() -> Iterator[str]:
    """Yield each table, and below it the places whose support differs from the table's."""
    every = [system.supports for system in SYSTEMS.values()]
    declared = BY_NAME.union(*(one.places for one in every), *(one.lacks for one in every))
    declared |= {place for one in every for pair in one.apart for place in pair}
    known = {place for place in declared | LISTED if key_of(place).count(".") > 0}
    for table in (name for name in Case.model_fields if name not in ("title", "method")):
        yield table
        for place in sorted(place for place in known if place.startswith(f"{table}.")):
            above = place.rpartition(".")[0]
            differs = any(cell(name, place) != cell(name, above).partition(",")[0] for name in SYSTEMS)
            if differs and not as_on_a_side(place, known):
                yield place


def as_on_a_side(place: str, known: set[str]) -> bool:
    """Return True if a key of an opening is supported as the same key of a type of side."""
    table, _, key = place.partition(".")
    same = (one for one in known if table == "openings" and one.startswith("boundaries.") and one.endswith(f".{key}"))
    return any(row_of(place)[1:] == tuple(map(of_opening, row_of(one)[1:])) for one in same)


def of_opening(text: str) -> str:
    """Write the keys of sides in a cell as keys of an opening."""
    return re.sub(r"`boundaries\.[a-z-]+\.", "`openings.", text)


def key_of(place: str) -> str:
    """The key of which a place is a kind of value; "" of one that no system has."""
    above, _, last = place.rpartition(".")
    if place in ALL_KEYS or not above:
        return place
    return key_of(above) if last in KINDS or ("." in above and above not in SIDES) else ""


def row_of(place: str) -> tuple[str, ...]:
    """The table of a place, and its cells."""
    return place.partition(".")[0], *(cell(name, place) for name in SYSTEMS)


def cell(name: str, place: str) -> str:
    """Say whether a system supports a place, and what it does not go together with."""
    supports, key = SYSTEMS[name].supports, key_of(place)
    if ("." in key and key not in KEYS[name]) or not supports.reads(place):
        reason = supports.reason(place)
        return f"no: {reason.partition(';')[0].partition(',')[0]}" if reason else "no"
    others = {label(one if other == place else other) for one, other in supports.apart if place in (one, other)}
    return ("yes" if supports.has(place) else "in part") + (f", not with {', '.join(sorted(others))}" if others else "")


def label(place: str) -> str:
    """A place in words: a key, and the kind of its value."""
    key, last = key_of(place), place.rpartition(".")[2]
    if key == place:
        return f"`{place}`"
    return f"`{key}` {KINDS[last]}" if last in KINDS else f"`{key}` = `{last}`"


if __name__ == "__main__":
    PAGE.write_text(updated(), encoding="utf-8")
    INDEX.write_text(features(), encoding="utf-8")
