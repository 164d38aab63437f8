"""GMRES vectors in single precision, with the rest in double: they span a space, and need not be exact.

The same holds for the terms of the solution in powers of 1 - w A M^-1. Their sum, and its product with A before a
restart, are in double precision. Flow, metrics, swept volumes, b, nu_t and the pseudo-time term are also kept in single
precision: a product then moves half the bytes.
"""

from __future__ import annotations

from collections.abc import Iterator

from taskflow.flow.models.artificial_compressibility.bodies import FIELDS
from taskflow.flow.models.artificial_compressibility.flow_on_charts import SINGLE, STATE, CollocatedFlow
from taskflow.flow.models.artificial_compressibility.implicit import outer, scalar
from taskflow.flow.models.artificial_compressibility.implicit.vectors import AFTER, BEFORE, REST, fields
from taskflow.runtime.regions import Field
from taskflow.runtime.tasks import Launch, Roles


def single_fields(model: CollocatedFlow) -> tuple[Field, ...]:
    """Return the single-precision fields that programs write, if the model has `mixed_precision`."""
    return tuple(Field(name + SINGLE, "f4") for name in _written(model)) if model.mixed_precision else ()


def in_single(model: CollocatedFlow, f: Roles) -> Roles:
    """Return the roles with single-precision fields, if the model has them."""
    of_grid = (*([] if model.spacing else ["metrics"]), *(["swept"] if model.moves else []))
    constants = (*of_grid, *(FIELDS if model.bodies else ()))
    return f.copy(**{name: name + SINGLE for name in (*_written(model), *constants)}) if model.mixed_precision else f


def flow_in_single(model: CollocatedFlow, f: Roles) -> Iterator[Launch]:
    """Round the flow for products, with its ghost values at sides."""
    s, over = in_single(model, f), list(model.cells)
    for ghosts in (*(side.ghosts for side in model.sides), *(edge.ghosts for edge in model.edges)):
        over += ghosts
    yield outer.same(fields(s, STATE), fields(f, STATE), over=over)
    carried = (*(["T"] if model.heat else []), *(["nu_t"] if model.turbulence else []))
    yield from (scalar.value_same(s[name], f[name], over=over) for name in carried)
    if model.method.local:
        yield from model.compressibility(s)


def _written(model: CollocatedFlow) -> tuple[str, ...]:
    own = (*(["b"] if model.method.local else []), *(["nu_t"] if model.turbulence else []))
    heat = ("T", "T_new", "T_z", "T_rest") if model.heat else ()
    return (*STATE, *AFTER, *BEFORE, *REST, "pseudo", *own, *heat)
