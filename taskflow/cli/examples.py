"""The shipped example cases, and how one becomes a user's own; what editors need to help with it."""

from __future__ import annotations

import json
from pathlib import Path

import typer

import taskflow
from taskflow.cli.exit_codes import refuse, writing


def folder() -> Path:
    """Where the examples are: inside the package, or beside it in a checkout."""
    package = Path(taskflow.__file__).parent
    inside = package / "examples"
    return inside if inside.is_dir() else package.parent / "examples"


def names() -> list[str]:
    """Names of the examples."""
    return sorted(path.stem for path in folder().glob("*.toml"))


def data(example: str) -> list[Path]:
    """The files that the case of an example reads: those beside it with its name."""
    return sorted(path for path in folder().glob(f"{example}.*") if path.suffix != ".toml")


def write(path: Path, example: str) -> None:
    """Write an example to a new file, and beside it the data that it reads, and say what to do with it.

    Raises BadInput where that cannot be.
    """
    if example not in names():
        refuse(f"--example {example}: there is no such example; choose one of {', '.join(names())}")
    for file in data(example):
        copy = path.parent / file.name
        if not (copy.is_file() and copy.read_bytes() == file.read_bytes()):
            _write(copy, file.read_bytes(), "move it away: the example reads another file of this name")
            typer.echo(f"{copy} is written: {path.name} reads it")
    _write(path, (folder() / f"{example}.toml").read_bytes(), "choose another name")
    typer.echo(f"{path} is written. Next: taskflow check {path}, taskflow run {path}")


def _write(path: Path, content: bytes, remedy: str) -> None:
    try:
        with path.open("xb") as file:
            file.write(content)
    except FileExistsError:
        refuse(f"{path} exists; {remedy}")
    except (OSError, ValueError) as error:
        refuse(f"{path}: cannot be written ({getattr(error, 'strerror', None) or error}); choose another name")


def write_schema(path: Path | None) -> None:
    """Write the JSON schema of case files, to a file or to standard output. Raises BadInput where that cannot be."""
    from taskflow.simulation.case.schema import schema

    text = json.dumps(schema(), indent=2)
    if path is None:
        typer.echo(text)
        return
    with writing(path):
        path.write_text(f"{text}\n", encoding="utf-8")
    typer.echo(f"{path} is written")
