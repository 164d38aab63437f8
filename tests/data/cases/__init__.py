"""Case files that tests of commands share."""

from pathlib import Path

FOLDER = Path(__file__).parent


def text(name: str) -> str:
    """The case file of this name, as it is written."""
    return (FOLDER / f"{name}.toml").read_text(encoding="utf-8")
