"""Tasks that differ from another one in one thing: declared once, and made of each other."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from taskflow.flow.grid.stencils import ACROSS_X, ACROSS_Y, ACROSS_Z
from taskflow.runtime.tasks import Privilege, Stencil, Task


def folded(plain: Task) -> Task:
    """The task that does the same where x or y has walls: `task`_folded, in the text of that name."""
    return replace(plain, name=f"{plain.name}_folded", kernel=_text(plain, "folded"))


def single(plain: Task, field: str) -> Task:
    """The task that does the same with a field of single precision: `task`_single."""
    fields = {**plain.fields, field: replace(plain.fields[field], precision="f4")}
    return replace(plain, name=f"{plain.name}_single", fields=fields)


def variable(
    plain: Task, read: Privilege, stencils: Sequence[Stencil] = (ACROSS_X, ACROSS_Y, ACROSS_Z), *, apart: bool = False
) -> Task:
    """The task that does the same for div(b grad) in place of the Laplacian: `task`_variable, `apart` in the text of
    that name. It reads b_x, b_y and b_z with these stencils, after all other fields that it reads.
    """
    kernel = _text(plain, "variable") if apart else plain.kernel
    b = {name: read[stencil] for name, stencil in zip(("b_x", "b_y", "b_z"), stencils, strict=True)}
    seen = {name: each for name, each in plain.fields.items() if each.reads}
    fields = {**seen, **b, **plain.fields}
    parameters: dict[str, tuple[str, ...]] = {name: (name,) for name in fields}
    return replace(plain, name=f"{plain.name}_variable", kernel=kernel, fields=fields, parameters=parameters)


def _text(plain: Task, ending: str) -> Path:
    kernel = Path(str(plain.kernel))
    return kernel.with_stem(f"{kernel.stem}_{ending}")
