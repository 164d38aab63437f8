"""What the source of a Python body does with its fields, against what they were declared: told at definition.

Only what is plain to see is looked at: `p[...]` and `p[1, 0, 0]` of a parameter that is never rebound. Views refuse the
rest when the task runs.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from taskflow.runtime.tasks.privilege import Privilege


def check_source(name: str, body: Callable[..., None], fields: Mapping[str, Privilege]) -> None:
    """Raises TypeError where the body writes what was declared Read, reads what was declared Write, reads beyond the
    stencil, or writes a neighbour. A body whose source is not at hand is not looked at.
    """
    try:
        lines, first = inspect.getsourcelines(body)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        return
    rebound = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    for field, use, writes, reads in _uses(tree):
        if field not in fields or field in rebound:
            continue
        privilege, where = fields[field], f"task {name}, line {first + use.lineno - 1}: field {field!r}"
        offset = _offset(use.slice)
        if writes and not privilege.writes:
            raise TypeError(f"{where} was declared Read and is written; declare it Write or ReadWrite")
        if reads and not privilege.reads:
            raise TypeError(f"{where} was declared Write and is read; declare it ReadWrite")
        if writes and offset not in (None, ...):
            raise TypeError(f"{where} is written at the offset {offset}; a task writes no cells but its own: use [...]")
        if reads and isinstance(offset, tuple) and len(offset) == 3 and offset not in privilege.stencil:
            raise TypeError(f"{where} is read at the offset {offset}, outside its stencil; declare a wider one")


def _uses(tree: ast.AST) -> Iterator[tuple[str, ast.Subscript, bool, bool]]:
    """Name and subscript of everything of the form `name[...]`, and whether it is written and read."""
    changed = {node.target for node in ast.walk(tree) if isinstance(node, ast.AugAssign)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            writes = not isinstance(node.ctx, ast.Load)
            yield node.value.id, node, writes, not writes or node in changed


def _offset(index: ast.expr) -> Any:
    """The value of an index that is written out; None where it is not."""
    try:
        return ast.literal_eval(index)
    except ValueError:
        return None
