"""The figures and tables of a paper: what each shows, its command, and the paper's value next to ours.

A folder of a paper has `items.toml`. `python examples/papers/FOLDER/run.py NAME...` runs the commands of items, and
`python -m examples.papers.items` writes the tables of all README pages from `items.toml` and the results that it names.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer

from taskflow.bench.app import start, study
from taskflow.bench.tables import where
from taskflow.common.units import plural
from taskflow.runtime.host import look
from taskflow.terminal.exit_codes import refuse
from taskflow.terminal.format import table

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "performance" / "results"
TABLE = re.compile(r"<!-- items -->\n.*?<!-- end -->", re.DOTALL)
KINDS = {"fig": "Figure", "table": "Table"}
LACKS = {False: "not reproduced", True: "Missing"}  # by whether there is a result
HEADER = "| in the paper | what it shows | the paper | command | here | source |\n|---|---|---|---|---|---|\n"


@dataclass(frozen=True)
class Item:
    """A figure or a table.

    Attributes
    ----------
    shows, paper : str
        What it is, and the paper's values, from its text; `read`: "figure" if they were read off a picture.
    command, small : str
        The command of the paper's size, and one that takes the same path on two cores in a minute; none if missing.
    gpus : int
        The GPUs that `command` needs.
    here : str
        Our result. A number in braces is one of `values`: the `key` of the `row` of a result `file`, or of the `whole`
        file, `times` a factor. It is divided into the number `paper`, or into another value, `of`, if one is given.
    picture : str
        Its file, relative to the root.
    missing : str
        Why it is not reproduced, or which part is not.
    """

    name: str
    shows: str
    paper: str = ""
    read: str = "text"
    command: str = ""
    small: str = ""
    gpus: int = 0
    here: str = ""
    missing: str = ""
    picture: str = ""
    pages: Sequence[str] = ()
    values: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """Return the name as the paper prints it."""
        kind = next((kind for kind in KINDS if self.name.startswith(kind)), None)
        return f"{KINDS[kind]} {self.name.removeprefix(kind)}" if kind else self.name.capitalize()

    def ours(self) -> str:
        """Return our result with its numbers, and what is missing."""
        text = self.here.format(**{name: _number(value) for name, value in self.values.items()})
        return ". ".join(part for part in (text, self.missing and f"{LACKS[bool(text)]}: {self.missing}") if part)

    def sources(self) -> str:
        """Return machine, date and commit of each result, with a link to it."""
        files = dict.fromkeys(value["file"] for value in self.values.values())
        pictures = [f"[picture](../../../{self.picture})"] if self.picture else []
        return "<br>".join([*map(_source, files), *self.pages, *pictures])

    def row(self) -> str:
        """Return the row of the README table."""
        paper = f"{self.paper} (read off the figure)" if self.read == "figure" else self.paper
        command = f"`{self.command}`" if self.command else ""
        return f"| {self.title} | {self.shows} | {paper} | {command} | {self.ours()} | {self.sources()} |\n"


def items(folder: Path) -> dict[str, Item]:
    """Return the items of a paper by name."""
    listed = tomllib.loads((folder / "items.toml").read_text(encoding="utf-8"))["item"]
    return {entry["name"]: Item(**entry) for entry in listed}


@cache
def _result(name: str) -> dict[str, Any]:
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def _number(value: Mapping[str, Any]) -> float:
    """Return a number of a result file, in the units of the text."""
    result = _result(value["file"])
    found = _flat(result if value.get("whole") else _row(result, value))[value["key"]] * value.get("times", 1)
    if "of" in value:  # another number of results, over this one
        return _number(value["of"]) / found
    return value["paper"] / found if "paper" in value else found


def _row(result: Mapping[str, Any], value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the only row of a result with these entries. Raises LookupError if there is none, or several."""
    asked = value.get("row", {})
    rows = [row for row in result["results"] if asked.items() <= _plain(row).items()]
    if len(rows) != 1:
        raise LookupError(f"{value['file']}.json: {plural(len(rows), 'row')} with {asked}; name one row")
    return rows[0]


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries that can be compared; cells as text."""
    texts = {key: "x".join(map(str, entry)) for key, entry in row.items() if key == "cells" and entry}
    return {key: entry for key, entry in row.items() if isinstance(entry, str | int | float)} | texts


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries of a row, and the entries of its tables, at any depth, as `TABLE.NAME`."""
    tables = {key: _flat(table) for key, table in row.items() if isinstance(table, dict)}
    return dict(row) | {f"{key}.{name}": value for key, table in tables.items() for name, value in table.items()}


def _source(name: str) -> str:
    result = _result(name)
    date, commit = (result["started"] or "date not recorded")[:17], (result["git_commit"] or "commit not recorded")[:19]
    short = date[:10] if date[0].isdigit() else date, commit[:8] if " " not in commit else commit
    return f"[{where(result)}, {', '.join(short)}](../../../docs/performance/results/{name}.json)"


def run(folder: Path) -> None:
    """Run items of a paper, by the words of the command line."""
    known = items(folder)

    def command(
        names: Annotated[list[str] | None, typer.Argument(metavar="NAME...", help="Items, or all.")] = None,
        *,
        listed: Annotated[bool, typer.Option("--list", help="List the items and do not run any.")] = False,
        small: Annotated[bool, typer.Option("--small", help="Take the same path on two cores in a minute.")] = False,
    ) -> None:
        """Run the command of a figure or a table of the paper."""
        if listed or not names:
            table(("GPUs", "what it shows"), ((i.name, (str(i.gpus or "-"), i.shows)) for i in known.values()))
            return
        everything = names == ["all"]
        chosen = [_known(known, name, folder) for name in (known if everything else names)]
        gpus = 0 if small else len(look("this machine").gpus)
        for item in chosen:
            if why := _obstacle(item, small=small, gpus=gpus):
                if not everything:
                    refuse(f"{item.name}: {why}")
                typer.echo(f"{item.name}: skipped: {why}")
                continue
            words = item.small if small else item.command
            typer.echo(f"{item.name}: {words}")
            if code := subprocess.run(_words(words), cwd=ROOT, check=False).returncode:
                refuse(f"{item.name}: the command ended with exit code {code}; its message is above")

    start(study(command), f"examples.papers.{folder.name}")


def _known(known: Mapping[str, Item], name: str, folder: Path) -> Item:
    if name not in known:
        refuse(f"{name}: is not an item of {folder.name}; choose one of {', '.join(known)}, or all")
    return known[name]


def _obstacle(item: Item, *, small: bool, gpus: int) -> str | None:
    """Return why the command of an item cannot run here; None if it can."""
    if not (item.small if small else item.command):
        return f"has no command: {item.missing}"
    if not small and item.gpus > gpus:
        return f"needs {plural(item.gpus, 'GPU')}, and this machine has {gpus}; use --small"
    return None


def _words(command: str) -> list[str]:
    """Return the command in the environment of this interpreter."""
    first, *words = shlex.split(command)
    return [sys.executable, *(["-m", "taskflow"] if first == "taskflow" else []), *words]


def updated(page: str, folder: Path) -> str:
    """Return a README page with the table of its items."""
    rows = "".join(item.row() for item in items(folder).values())
    return TABLE.sub(lambda _: f"<!-- items -->\n{HEADER}{rows}<!-- end -->", page)


def write() -> None:
    """Write the tables of the README pages of all papers."""
    for listed in sorted(Path(__file__).parent.glob("*/items.toml")):
        page = listed.with_name("README.md")
        page.write_text(updated(page.read_text(encoding="utf-8"), listed.parent), encoding="utf-8")


if __name__ == "__main__":
    write()
