"""The shipped example cases, and how one becomes a user's own."""

from __future__ import annotations

from pathlib import Path

import typer

import taskflow
from taskflow.cli.ending import refuse


def folder() -> Path:
    """Where the examples are: inside the package, or beside it in a checkout."""
    package = Path(taskflow.__file__).parent
    inside = package / "examples"
    return inside if inside.is_dir() else package.parent / "examples"


def names() -> list[str]:
    """Names of the examples."""
    return sorted(path.stem for path in folder().glob("*.toml"))


def write(path: Path, example: str) -> None:
    """Write an example to a new file and say what to do with it. Raises BadInput where that cannot be."""
    if example not in names():
        refuse(f"--example {example}: there is no such example; choose one of {', '.join(names())}")
    text = (folder() / f"{example}.toml").read_bytes()
    try:
        with path.open("xb") as file:
            file.write(text)
    except FileExistsError:
        refuse(f"{path} exists; choose another name")
    except (OSError, ValueError) as error:
        refuse(f"{path}: cannot be written ({getattr(error, 'strerror', None) or error}); choose another name")
    typer.echo(f"{path} is written. Next: taskflow check {path}, taskflow run {path}")
