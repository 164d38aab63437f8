"""Parameters of kernels: the C types that follow from what a task declares."""

from __future__ import annotations

from dataclasses import is_dataclass

from taskflow.runtime.tasks import Privilege, ScalarArray, Task

SCALARS = {float: "real", int: "int", bool: "int"}  # constants that are plain numbers


def declared(constant: type) -> str:
    """The name by which kernel texts know a class of constants: that of the first dataclass it derives from."""
    return [kind for kind in constant.__mro__ if is_dataclass(kind)][-1].__name__


def parameters(task: Task) -> list[tuple[str, str]]:
    """(C type, name) of a kernel's parameters after the range, in the order of the task's own."""
    free = of_any_precision(task)
    kinds = [(free.get(name) or _field_kind(privilege), name) for name, privilege in task.fields.items()]
    for name in task.keywords:
        if name in task.numbers:
            kinds.append((_numbers_kind(task.numbers[name]), name))
        elif name in task.constants:
            kinds.append((SCALARS.get(task.constants[name]) or declared(task.constants[name]), name))
        else:
            kinds.append(("In64" if name in task.scalars else "Partial", name))
    return kinds


def of_any_precision(task: Task) -> dict[str, str]:
    """The C types of the fields that are declared to be of any precision."""
    return {
        name: f"ForeignOf<Real_{name}>" if privilege.foreign else _own_kind(privilege, f"Real_{name}")
        for name, privilege in task.base.fields.items()
        if privilege.precision == "any"
    }


def _own_kind(privilege: Privilege, number: str) -> str:
    """The C type of a field that is not foreign, of these numbers."""
    kind = _way(privilege)
    if privilege.unshared:
        return f"{kind}Private<{privilege.values}, {number}>"
    return f"{kind}Of<{number}>" if privilege.values == 1 else f"{kind}ValuesOf<{privilege.values}, {number}>"


def _way(privilege: Privilege) -> str:
    return {(True, False): "In", (False, True): "Out", (True, True): "InOut"}[privilege.reads, privilege.writes]


def _numbers_kind(numbers: ScalarArray) -> str:
    kinds = ("ExactPartial", "PartialOf") if numbers.reduced else ("ExactIn64", "In64Of")
    return f"{kinds[0 if numbers.exact else 1]}<{numbers.count}>"


def _field_kind(privilege: Privilege) -> str:
    if privilege.foreign:
        return "ForeignOf<unsigned char>" if privilege.precision == "u1" else "Foreign"
    if privilege.precision:
        return _way(privilege) + {"u1": "Byte", "u2": "Short"}[privilege.precision]
    kind = _way(privilege)
    return kind if privilege.values == 1 else f"{kind}Values<{privilege.values}>"
