"""Closures: eddy viscosities as values, each with one kernel function of the velocity gradient in a cell."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

from taskflow.common.registry import Registry, require_dataclass


@dataclass(frozen=True)
class Closure:
    """An eddy viscosity nu_t as a function of the velocity gradient in a cell, for boxes and for body-fitted grids.

    A closure is a frozen dataclass derived from this class. Its numbers, each with a default, are the members of the C
    struct `Closure`. `functions` is the kernel text, or its file, which defines

        FN real viscosity(const Closure& model, const Local& q)

    The members of `q` are `gradient.of[i][j]` = du_i/dx_j; `change.of[i][j]`, the change of u_i over one cell along
    grid line j (on a box h_j du_i/dx_j); and, if the closure is `filtered`, `filter_square`, the 2/3 power of the cell
    volume.

    Parameters
    ----------
    constant : float
        The model constant: `turbulence.constant` of a case file.
    """

    constant: float

    title: ClassVar[str]
    """The name in reports."""
    functions: ClassVar[str | Path]
    """The kernel text, or the path of its file."""
    filtered: ClassVar[bool] = True
    """True if the viscosity depends on the filter width, `q.filter_square`."""
    damps: ClassVar[bool] = False
    """True if it needs van Driest damping at walls, which shortens the filter width on boxes."""
    dimensionless: ClassVar[bool] = False
    """True if all numbers are dimensionless. Kernels on body-fitted grids may then compute in units of the cell size,
    which keeps very small and very large cells within the range of single precision.
    """

    @classmethod
    def numbers(cls) -> dict[str, float | int]:
        """Return the defaults of the numbers other than `constant`, by name: `turbulence.constants` of a case file."""
        given = {field.name: field.default for field in fields(cls) if field.init and field.name != "constant"}
        numbers = ((name, value) for name, value in given.items() if isinstance(value, float | int))
        return {name: value for name, value in numbers if not isinstance(value, bool)}


def _usable(kind: type[Closure]) -> None:
    """Raise TypeError, or the error of reading its kernel text, unless a value is a complete class of closures."""
    require_dataclass(kind, Closure, "closure", "title")
    if not isinstance(getattr(kind, "functions", None), str | Path):
        raise TypeError("functions has to be a kernel text, or the path of its file")
    if isinstance(kind.functions, Path):
        kind.functions.read_text(encoding="utf-8")
    if kind.damps and not kind.filtered:
        raise TypeError("damping shortens the filter width; it has to be filtered, too")
    bare: Any = kind
    bare()  # every number of a closure has a default


CLOSURES: Registry[type[Closure]] = Registry(
    "taskflow.closures",
    {name.lower(): f"taskflow.flow.closures.eddy_viscosity:{name}" for name in ("Smagorinsky", "Wale", "Vreman")},
    _usable,
)
"""All closures by their names in `turbulence.model`."""


def register_closure(name: str, closure: type[Closure]) -> None:
    """Register a name for `turbulence.model` in this process, without an entry point.

    Parameters
    ----------
    name : str
    closure : type
        A class derived from `Closure`. Blocks in other processes receive it with the case. Its module has to be
        importable there, unless it is a script or notebook.

    Raises
    ------
    BadInput
        If the name belongs to taskflow, or the class is incomplete.
    """
    CLOSURES.register(name, closure)
