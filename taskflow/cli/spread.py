"""Options that several commands share: a dataclass of them is one parameter of a command."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """The command as typer has to see it: a parameter that is a dataclass is replaced by the fields of it, with their
    annotations and defaults. All parameters are keyword-only.
    """
    signature = inspect.signature(command, eval_str=True)
    own = signature.parameters
    kinds: dict[str, Any] = {name: each.annotation for name, each in own.items() if is_dataclass(each.annotation)}
    flat = [each for name, one in own.items() for each in (_options(kinds[name]) if name in kinds else [one])]

    @wraps(command)
    def call(**given: Any) -> None:
        groups = {
            name: kind(**{field.name: given.pop(field.name) for field in fields(kind)}) for name, kind in kinds.items()
        }
        command(**given, **groups)

    call.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
    call.__dict__["__signature__"] = signature.replace(parameters=flat)
    return call


def _options(kind: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=hints[each.name])
        for each in fields(kind)
    ]
