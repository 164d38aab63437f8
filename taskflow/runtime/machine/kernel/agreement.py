"""C types of a kernel's parameters, as a task declares them, and a check of the kernel text against them with clearer
messages than a compiler's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import is_dataclass
from functools import cache
from pathlib import Path

from taskflow.common.errors import TaskflowError
from taskflow.runtime.tasks import Privilege, Task, is_choice

SCALARS = {float: "real", int: "int", bool: "int"}  # constants that are plain numbers
DECLARED = {
    "In": "Read",
    "InByte": "ReadByte",
    "InShort": "ReadShort",
    "Out": "Write",
    "InOut": "ReadWrite",
    "In64": "Scalar",
    "Partial": "Reduce",
}
OUTSIDE = r",(?![^<]*>)"  # a comma outside template brackets
OPTIONAL = r"OPTIONAL\((\w+)\)"
VALUES = r"VALUES_(?<!\wVALUES_)(\w+)"  # \b in front would make the search slow
CHANGE = r"\s*\[[^\]]*\]\s*(?:=(?!=)|(?:[-+*/%&|^]|<<|>>)=|\+\+|--)"  # follows the name of an array


def declared(constant: type) -> str:
    """Return the name of a class of constants in kernel texts: the name of the first dataclass it derives from."""
    return [kind for kind in constant.__mro__ if is_dataclass(kind)][-1].__name__


def parameters(task: Task) -> list[tuple[str, str]]:
    """Return (C type, name) of a kernel's parameters after the range, in the order of the task's parameters."""
    free = of_any_precision(task)
    kinds = [(free.get(name) or _field_kind(privilege), name) for name, privilege in task.fields.items()]
    for name in task.keywords:
        if name in task.numbers:
            numbers = task.numbers[name]
            kind = "Partial" if numbers.reduced else "In64"
            kinds.append((f"{f'Exact{kind}' if numbers.exact else f'{kind}Of'}<{numbers.count}>", name))
        elif is_choice(task.constants.get(name)):
            continue
        elif name in task.constants:
            kinds.append((SCALARS.get(task.constants[name]) or declared(task.constants[name]), name))
        else:
            kinds.append(("In64" if name in task.scalars else "Partial", name))
    return kinds


def of_any_precision(task: Task) -> dict[str, str]:
    """Return the C types of the fields that are declared to be of any precision."""
    return {
        name: f"ForeignOf<Real_{name}>" if privilege.foreign else _own_kind(privilege, f"Real_{name}")
        for name, declared in task.base.fields.items()
        if declared.precision == "any"
        for privilege in [task.fields.get(name, declared)]
    }


def _own_kind(privilege: Privilege, number: str) -> str:
    """Return the C type of a field that is not foreign, with values of type `number`."""
    kind = _way(privilege)
    if privilege.unshared:
        return f"{kind}Private{'Rows' if privilege.in_rows else ''}<{privilege.values}, {number}>"
    return f"{kind}Of<{number}>" if privilege.values == 1 else f"{kind}ValuesOf<{privilege.values}, {number}>"


def _way(privilege: Privilege) -> str:
    return {(True, False): "In", (False, True): "Out", (True, True): "InOut"}[privilege.reads, privilege.writes]


def _field_kind(privilege: Privilege) -> str:
    if privilege.foreign:
        return "ForeignOf<unsigned char>" if privilege.precision == "u1" else "Foreign"
    if privilege.precision:
        return _way(privilege) + {"u1": "Byte", "u2": "Short"}[privilege.precision]
    kind = _way(privilege)
    return kind if privilege.values == 1 else f"{kind}Values<{privilege.values}>"


class KernelError(TaskflowError):
    """A kernel text that does not compile, or a task that a kernel text cannot express."""


def check_signature(task: Task, expected: Sequence[tuple[str, str]]) -> None:
    """Raises KernelError if the text defines the task with other parameters after the range than `expected` (C type,
    name). A text that defines its tasks by macros is not checked.
    """
    head = definition(task)
    if head is None:
        return
    kinds = {name: kind for kind, name in expected}  # of optional parameters, the present ones
    spelt_out = re.sub(OPTIONAL, lambda match: f", {kinds[match[1]]} {match[1]}" if match[1] in kinds else "", head[1])
    counts = {name: str(privilege.values) for name, privilege in task.fields.items()}
    spelt_out = re.sub(VALUES, lambda match: counts.get(match[1], match[0]), spelt_out)
    actual = [re.findall(r"\w+(?:<[^>]*>)?", parameter) for parameter in re.split(OUTSIDE, spelt_out)[1:]]
    if len(actual) != len(expected):
        raise KernelError(
            f"the kernel text of {task.name} has {len(actual)} parameters after the range and the task {len(expected)}:"
            f" it has to be TASK {task.symbol}({_signature(task, expected)})"
        )
    for (kind, name), words in zip(expected, actual, strict=True):
        if "".join(words[:1]).replace(" ", "") != kind.replace(" ", ""):
            free = "ForeignAny" if kind.startswith("ForeignOf") else kind
            annotated = task.constants[name].__name__ if name in task.constants else DECLARED.get(kind, free)
            was = task.numbers.get(name) or annotated
            raise KernelError(
                f"the kernel text of {task.name} takes its parameter {name} as {' '.join(words)}, but it was declared"
                f" {was}: make it {kind} {name} in the text, or declare what the text does with it"
            )


def _signature(task: Task, declared: Sequence[tuple[str, str]]) -> str:
    """Return the parameters of a task's text, including optional ones."""
    kinds, base = {name: kind for kind, name in declared}, task.base
    optional = {part for name in base.optional for part in base.parameters.get(name, (name,))}
    names = (*base.fields, *base.keywords)
    return "Range range" + "".join(f" OPTIONAL({n})" if n in optional else f", {kinds[n]} {n}" for n in names)


def forbidden_write(task: Task) -> str | None:
    """Return a message if the text writes a field that is declared Read, or None."""
    head = definition(task)
    if head is None:
        return None
    body = _body(head)
    for name, privilege in task.fields.items():
        if not privilege.writes and (write := re.search(rf"\b{name}{CHANGE}", body)):
            line = head.string[: head.end() + write.start()].count("\n") + 1
            return (
                f"line {line} of the kernel text of {task.name} writes {name}, which was declared Read:"
                " declare it Write or ReadWrite, or write another field"
            )
    return None


def definition(task: Task, text: str = "") -> re.Match[str] | None:
    """Return the head of the task in a text, by default its kernel, with the parameters as group 1, or None if a macro
    defines the task.
    """
    return _head(task, text) if text else _own_head(task)


@cache
def _own_head(task: Task) -> re.Match[str] | None:
    return _head(task, task.kernel.read_text(encoding="utf-8") if isinstance(task.kernel, Path) else task.kernel or "")


def _head(task: Task, text: str) -> re.Match[str] | None:
    return re.search(rf"^[ \t]*TASK\s+{task.symbol}\s*\(((?:[^()]|\([^()]*\))*)\)", text, re.MULTILINE)


def without(text: str, task: Task) -> str:
    """Return the text without the definition of a task. Line numbers are preserved."""
    head = definition(task, text)
    if head is None:
        return text
    end = head.end() + len(_body(head))
    return text[: head.start()] + "\n" * text.count("\n", head.start(), end) + text[end:]


def _body(head: re.Match[str]) -> str:
    """Return the text from the head of a task to its closing brace."""
    text, depth = head.string[head.end() :], 0
    for brace in re.finditer(r"[{}]", text):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return text[: brace.end()]
    return text
