"""Libraries that read files of shapes: each is imported when a file needs it."""

from taskflow.errors import BadInput

EXTRA = "geometry"


def missing(name: str, what: str) -> BadInput:
    """The error where a library is not installed; it names the extra that brings it."""
    return BadInput(f'{what} needs {name}, which is not installed: pip install "taskflow-cfd[{EXTRA}]"')
