"""Formatted lines for terminals: a common style, without colour codes elsewhere."""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import typer

from taskflow.common.rows import Row
from taskflow.common.text import visible

LABEL = 13  # columns, two of them for the indent
NAME = 30  # columns of the first column of a table
COLUMN = 12


def style(text: str, **looks: Any) -> str:
    """Return styled text. typer removes the style outside of terminals. NO_COLOR is respected."""
    text = visible(text)
    return text if os.environ.get("NO_COLOR") else typer.style(text, **looks)


def tell(text: object, mark: str = "", *, err: bool = False) -> None:
    """Print a text of any origin, made visible, after a mark."""
    typer.echo(f"{mark}{visible(text)}", err=err)


def say(heading: str, rows: Iterable[Row | tuple[str, str]] = ()) -> None:
    """Print a heading and rows. On a terminal long rows are wrapped and indented."""
    typer.echo(style(heading, bold=True))
    wide = shutil.get_terminal_size().columns - LABEL if sys.stdout.isatty() else 0
    for row in rows:
        label, text = row[0], visible(Row(*row))
        lines = textwrap.wrap(text, max(wide, 20), break_long_words=False, break_on_hyphens=False) if wide else [text]
        typer.echo(style(f"  {label}".ljust(LABEL), dim=True) + f"\n{'':{LABEL}}".join(lines))


def report(heading: str, rows: Iterable[Row], *, as_json: bool = False, details: bool = True) -> None:
    """Print a heading and rows, with or without details, or an object with all as JSON."""
    if as_json:
        typer.echo(json.dumps({"heading": heading, "rows": [row._asdict() for row in rows]}, indent=2))
    else:
        say(heading, [row for row in rows if details or row.kind != "detail"])


def table(names: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]]) -> None:
    """Print rows of a label and a text per column, under the names of the columns."""
    typer.echo(f"{'':{NAME}}" + "".join(f"{name:>{COLUMN}}" for name in names))
    for label, columns in rows:
        typer.echo(f"  {label:{NAME - 2}}" + "".join(f"{text:>{COLUMN}}" for text in columns))
