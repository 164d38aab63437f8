"""Names of a package whose module is loaded when they are first used (PEP 562)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any


def attributes(
    package: str, homes: Mapping[str, str], shown: Iterable[str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package, given the module of each name and the names that `dir` lists."""

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)  # which is found without this function from now on
        return value

    return load, lambda: sorted(shown)
