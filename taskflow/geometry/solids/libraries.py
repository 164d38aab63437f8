"""Libraries that read shape files, imported when first needed."""

from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from taskflow.common.errors import BadInput, named, quiet
from taskflow.common.files import SHAPE, opened
from taskflow.common.foreign import SHAPE as SURFACE
from taskflow.common.foreign import foreign

EXTRA = "geometry"
LONGEST = 200  # characters of a reader's message


def library(name: str, what: str, extra: str = EXTRA) -> Any:
    """Return a library. Raises BadInput with the extra to install if it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        raise BadInput(f'{what} needs {name}, which is not installed: pip install "taskflow-cfd[{extra}]"') from None


@contextmanager
def user_file(path: Path, formats: Collection[str]) -> Iterator[IO[bytes]]:
    """Open the file of a shape.

    Raises BadInput if it has none of these suffixes, or is not a regular file of at most `SHAPE` bytes.
    """
    if path.suffix.lower() not in formats:
        if words := foreign(path, SURFACE):
            raise BadInput(f"{path.name}: {words}")
        raise BadInput(f"{path.name} is not one of {', '.join(formats)}; convert it to one of them")
    remedy, place = "give the file of a shape", "give an absolute path, or one relative to the case file"
    with ExitStack() as stack, quiet():
        with named(str(path)):
            file = stack.enter_context(opened(path, SHAPE, remedy, place))
        yield file


def unreadable(path: Path, error: Exception, remedy: str) -> BadInput:
    """Return the error for a file that its reader could not read."""
    reason = " ".join(str(error).split())
    reason = reason if len(reason) <= LONGEST else f"{reason[:LONGEST]}..."
    return BadInput(f"{path}: cannot be read ({type(error).__name__}: {reason}); {remedy}")
