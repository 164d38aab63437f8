"""Kernel texts of the physics: a `.cu` file per family of operators, in folders as the modules that declare tasks."""

import sys
from pathlib import Path
from typing import Any, TypeVar

KERNELS = Path(__file__).parent
Constant = TypeVar("Constant")


def choice(base: type[Constant], name: str, **attributes: Any) -> type[Constant]:
    """Return a class of constants that texts are compiled for in place of `base`, with other `defines` and `stencils`.
    Its module has it under its name, by which it goes to other processes.
    """
    kind = type(name, (base,), {"__module__": base.__module__, **attributes})
    setattr(sys.modules[base.__module__], name, kind)
    return kind
