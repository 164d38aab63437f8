"""Kernels of the physics: a `.cu` file per family of operators, in folders like the modules that declare the tasks."""

import sys
from pathlib import Path
from typing import Any, TypeVar

KERNELS = Path(__file__).parent
Constant = TypeVar("Constant")


def choice(base: type[Constant], name: str, **attributes: Any) -> type[Constant]:
    """Return a subclass of constants for which kernels are compiled with other `defines` and `stencils` than `base`.

    It is an attribute of its module by its name, so that it can be pickled.
    """
    kind = type(name, (base,), {"__module__": base.__module__, **attributes})
    setattr(sys.modules[base.__module__], name, kind)
    return kind
