"""What the shell may complete: keys of the case after --set."""

from __future__ import annotations

from taskflow.simulation.case import Case


def keys(given: str) -> list[str]:
    """The keys that begin with what is typed, ready for a value."""
    paths = [path for path in Case.paths() if len(path) > 1]
    found = (".".join(path) + "=" for path in paths)
    return [key for key in found if key.startswith(given)]
