"""Kernel texts: a `.cu` file or a string, with its headers and the declarations derived from its tasks.

A text begins with the C struct of every constant, and with a prototype per task. A kernel whose parameters differ from
the declared privileges of its task does not compile.

A text is compiled separately for constants of a class derived from the declared one. The struct then has the declared
name and the members of the derived class, and the names in its tuple `defines` become macros, so one text serves both
classes. The name of the class has no effect, and its subclasses define the same macros. A member whose class has no
members is a choice, such as a scheme. It is not in the struct, but if its class is a derived one with `defines`, these
become macros too. A constant without members is a choice as well, and no parameter of the kernel. The macros of sweeps
and of choices with `values` may decide about initial settings of the text. `VALUES_q` is the number of values per cell
of a field q.

A class may bring `functions`, a text or its file. They replace the header of the declared name, such as `Closure.h`, in
the text of a task: another package gives a kernel one function in this way.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

from taskflow.common.registry import named
from taskflow.runtime.machine.kernel.agreement import (
    SCALARS,
    VALUES,
    KernelError,
    check_signature,
    declared,
    definition,
    forbidden_write,
    of_any_precision,
    parameters,
)
from taskflow.runtime.machine.kernel.includes import REAL, expanded
from taskflow.runtime.tasks import FACES, LookupTable, Sweep, Task, frame, is_choice, siblings

SWEEP, STORED, FLAGS = '#include "sweep.h"\n', '#include "stored.h"\n', '#include "written_flags.h"\n'
ADDRESS = np.dtype(np.uint64)
LINKAGE = "@linkage"  # placeholder, not valid C++, for the text before `void`
SIBLING = "@sibling"  # the same for other tasks of the text
_DEFINED = re.compile(r"^#define (\w+)", re.MULTILINE)
_NUMBER = re.compile(
    r"^\s*#\s*define\s+(\w+)\s+(?:(\d+)|\(sizeof\(REAL\) == 4 \? (\d+) : (\d+)\))[^\S\n]*$", re.MULTILINE
)
_CHOICE = re.compile(r"^#ifdef (\w+)\n((?:#define .*\n)+)(?:#else\n((?:#define .*\n)+))?#endif\n", re.MULTILINE)


@cache
def settings(task: Task, real: np.dtype) -> Mapping[str, int]:
    """Return all macros that a task's text defines as numbers, `4` or `(sizeof(REAL) == 4 ? 4 : 8)`, by their first
    definition. Found in one pass: separate searches took longer than all other preparation of a launch. A number may
    depend on another macro by `#ifdef`, with nothing but macros inside, with or without `#else`.
    """
    text = _complete(task, real)
    known, single = set(_DEFINED.findall(text)), "#define REAL float\n" in text
    chosen = _CHOICE.sub(lambda match: (match[2] if match[1] in known else match[3]) or "", text)
    matches = reversed([*_NUMBER.finditer(chosen)])
    return {match[1]: int(match[2] or match[3 if single else 4]) for match in matches}


@cache
def struct_dtype(constant: type, real: np.dtype) -> np.dtype:
    """Return the memory layout of a constant as in C: int and bool as int, float as real, a table as the address of its
    entry 0, tuples of three as arrays.

    Raises KernelError for any other type.
    """
    return np.dtype([(name, base, (3,) if many else ()) for name, base, many in _members(constant, real)], align=True)


def packed(value: Any, real: np.dtype, table: Callable[[LookupTable], int]) -> np.ndarray:
    """Return a constant's value as bytes for a kernel: an array without dimensions, structured for a struct.

    `table` returns the address of the (possibly absent) entry 0 of a table.
    """
    if isinstance(value, float | int):
        return np.array(value, real if isinstance(value, float) else np.intc)
    kind: type = type(value)
    memory = np.zeros((), struct_dtype(kind, real))
    for name in memory.dtype.names or ():
        member = getattr(value, name)
        if memory.dtype[name].base == ADDRESS:
            member = [table(part) for part in member] if isinstance(member, tuple) else table(member)
        memory[name] = member
    return memory


def _members(constant: type, real: np.dtype) -> list[tuple[str, np.dtype, bool]]:
    if not is_dataclass(constant):
        raise KernelError(f"a kernel's constant has to be an int, bool, float or a dataclass, not {constant!r}")
    kinds = {int: np.dtype(np.intc), bool: np.dtype(np.intc), float: real, LookupTable: ADDRESS}
    members, hints = [], _hints(constant)
    for name, hint in ((field.name, hints[field.name]) for field in fields(constant)):
        if is_dataclass(hint) and not fields(hint):
            continue  # a choice that the text is compiled for
        many = get_origin(hint) is tuple and len(get_args(hint)) == 3 and len(set(get_args(hint))) == 1
        base = get_args(hint)[0] if many else hint
        if base not in kinds:
            possible = "int, bool, float, LookupTable or three of one of them"
            raise KernelError(f"{constant.__name__}.{name}: {hint} is not {possible}")
        members.append((name, kinds[base], many))
    return members


def _hints(constant: type) -> dict[str, Any]:
    """The types of the fields of a dataclass. Other annotations are left alone: in the process of a block the module of
    a class from a script or a notebook does not have the names in them, such as ClassVar.
    """
    names, hints = {field.name for field in fields(constant)}, dict[str, Any]()
    for kind in reversed(constant.__mro__):
        own = {name: hint for name, hint in vars(kind).get("__annotations__", {}).items() if name in names}
        module = sys.modules.get(kind.__module__)
        hints |= get_type_hints(SimpleNamespace(__annotations__=own), vars(module) if module else {})
    return hints


def _struct(constant: type, real: np.dtype) -> str:
    """Return the declaration of a constant's C struct, with a check that its layout matches `packed`."""
    kinds = {"i": "int", "f": "real", "u": "const real*"}
    members = "".join(
        f"  {kinds[base.kind]} {name}{'[3]' if many else ''};\n" for name, base, many in _members(constant, real)
    )
    size = struct_dtype(constant, real).itemsize
    name = declared(constant)
    macros = "".join(f"#define {macro}\n" for macro in _defines(constant))
    return f'{macros}struct {name} {{\n{members}}};\nstatic_assert(sizeof({name}) == {size}, "layout");\n'


def _defines(constant: type) -> tuple[str, ...]:
    """Return the macros that a class of constants defines. Raises KernelError if they are not a tuple of names."""
    names = getattr(constant, "defines", ())
    if not isinstance(names, tuple) or not all(isinstance(name, str) and name.isidentifier() for name in names):
        raise KernelError(f"{constant.__name__}.defines = {names!r}; give a tuple of names of macros")
    return names


def _functions(task: Task) -> dict[str, tuple[type, str]]:
    """Return the classes of constants that bring functions, with the text of the functions, by the header's name.

    Raises KernelError for functions that are neither text nor a file.
    """
    found: dict[str, tuple[type, str]] = {}
    for kind in task.constants.values():
        text = getattr(kind, "functions", None)
        if isinstance(text, Path):
            try:
                text = text.read_text(encoding="utf-8")
            except (OSError, ValueError) as error:
                raise KernelError(f"functions of {named(kind)}: {text} cannot be read ({error})") from None
        if text is not None and not isinstance(text, str):
            raise KernelError(f"functions of {named(kind)} = {text!r}; give a kernel text, or the path of its file")
        if text is not None:
            found[f"{declared(kind)}.h"] = kind, text
    return found


def declarations(tasks: Iterable[Task], real: np.dtype, own: Task, text: Sequence[Task]) -> str:
    """Return the structs of a text, and the prototypes of its compiled tasks, among them the `own` one."""
    constants_of = ((task, task.base.constants | task.constants) for task in text)  # also types of absent ones
    structs = [(kind, task) for task, kinds in constants_of for kind in kinds.values() if kind not in SCALARS]
    sweeps = any(issubclass(kind, Sweep) for kind, _ in structs)
    structs = [(kind, task) for kind, task in structs if not issubclass(kind, Sweep) and not is_choice(kind)]
    constants = {declared(kind): kind for kind, _ in structs}
    for kind, task in structs:
        if constants[declared(kind)] is not kind:
            raise KernelError(f"two constants named {declared(kind)} are used with the kernel text of {task.name}")
    prototypes = [
        f"{LINKAGE if task is own else SIBLING} void {task.symbol}"
        f"({', '.join(['Range', *(kind for kind, _ in parameters(task))])});\n"
        for task in tasks
    ]
    axis, high = frame(next((task.orientation for task in text if task.orientation), FACES[0]))  # for FRAME of cell.h
    macros = [f"#define AXIS {axis}\n#define HIGH {int(high)}\n", *_precisions(text, real), *_optional(tasks)]
    macros += _chosen(text, constants.values())
    words = SWEEP if sweeps else ""
    privileges = [privilege for task in text for privilege in task.base.fields.values()]
    if any(privilege.precision == "any" and not privilege.foreign for privilege in privileges):
        words += STORED
    if any(field.precision in ("u1", "u2") and field.writes for task in text for field in task.base.fields.values()):
        words += FLAGS
    return "".join([*macros, words, *(_struct(kind, real) for kind in constants.values()), *prototypes])


def _chosen(tasks: Iterable[Task], constants: Collection[type]) -> Iterator[str]:
    """Yield the macros of classes of members of constants, if a launch has a class other than the declared one."""
    variants = (task.derived[1] for task in tasks if task.derived)
    classes = {kind for variant in variants for _, kind in variant.classes}
    others = (kind for kind in classes.difference(constants) if not issubclass(kind, Sweep))
    for macro in sorted({macro for kind in others for macro in _defines(kind)}):
        yield f"#define {macro}\n"


def _precisions(tasks: Iterable[Task], real: np.dtype) -> Iterator[str]:
    """Yield a type for each field of any precision: its type in this launch, or the kernel's if it is absent."""
    types: dict[str, str] = {}
    for task in tasks:
        chosen = dict(task.derived[1].precisions) if task.derived else {}
        types |= {name: REAL[np.dtype(chosen.get(name, real)).name] for name in of_any_precision(task)}
    for name, number in types.items():
        yield f"typedef {number} Real_{name};\n"


def _optional(tasks: Iterable[Task]) -> Iterator[str]:
    """Yield a macro for each optional parameter: the parameter with a comma before it, or nothing. An absent one is
    declared as `ABSENT(name)`.
    """
    macros: dict[str, str] = {}
    for task in tasks:
        kinds = {name: kind for kind, name in parameters(task)}
        for name in sorted(task.optional):
            for part in task.parameters.get(name, (name,)):
                present = part in kinds
                text = f"#define OPTIONAL_{part} {f', {kinds[part]} {part}' if present else ''}\n"
                text += "" if present else f"ABSENT({part})\n"
                if macros.setdefault(part, text) != text:
                    raise KernelError(f"{task.name}: other tasks of the kernel text have another optional {part}")
    yield from macros.values()


def complete(task: Task, real: np.dtype, linkage: str, sibling: str = "") -> str:
    """Return the text to compile for a task; `linkage` precedes `void` in its prototype, `sibling` in others.
    Bodies of its siblings are omitted: a program often uses one or two of them, and optional parameters and
    precisions of this launch need not suit the others. Those in headers stay.
    """
    return _complete(task, real).replace(LINKAGE, linkage).replace(SIBLING, sibling or linkage)


@cache
def _complete(task: Task, real: np.dtype) -> str:
    if task.kernel is None:
        raise KernelError(f"task {task.name} has no kernel text; its Python body runs instead")
    together = siblings(task)
    apart = [other for other in together if other is not task and definition(other)]
    tasks = [other for other in together if other not in apart]
    for other in tasks:
        check_signature(other, parameters(other))
    declared = declarations(tasks, real, task, together)
    # Initial settings of a text may depend on present optional parameters, and on classes of sweeps and choices.
    optional = {part for other in tasks for name in other.optional for part in other.parameters.get(name, (name,))}
    present = sorted(f"HAS_{name}" for other in tasks for _, name in parameters(other) if name in optional)
    constants = {kind for other in together for kind in other.constants.values() if kind not in SCALARS}
    chosen = {kind for other in together if other.derived for _, kind in other.derived[1].classes}
    early = {kind for kind in constants | chosen if issubclass(kind, Sweep) or hasattr(kind, "values")}
    ways = sorted({macro for kind in early for macro in _defines(kind)})
    macros = "".join(f"#define {name}\n" for name in (*present, *ways))
    generated = {"declared.h": declared, **{header: text for header, (_, text) in _functions(task).items()}}
    text = expanded(task.kernel, real, generated, task.base.name, apart)
    values = {name: privilege.values for other in together for name, privilege in other.fields.items()}
    counts = (f"#define VALUES_{name} {values[name]}\n" for name in sorted({*re.findall(VALUES, text)} & {*values}))
    return "".join([macros, *counts, text])


@contextmanager
def explained(task: Task) -> Iterator[None]:
    """Extend a compiler's message by its likely cause: a written field declared Read, or a task that the text does not
    define. Also quotes the line, if the text was given as a string or a class of constants brings it.
    """
    try:
        yield
    except KernelError as error:
        together = siblings(task)
        place = re.search(rf"^{re.escape(task.base.name)}[:(](\d+)", str(error), re.MULTILINE)
        problems = [problem for other in together if (problem := forbidden_write(other))]
        if place is not None and isinstance(task.kernel, str):
            lines = dict(enumerate(task.kernel.split("\n"), start=1))  # lines added after it have other numbers
            if (line := lines.get(int(place[1]))) is not None:
                problems.append(f"line {place[1]} of the kernel text of {task.name}: {line.strip()}")
        problems += _foreign(task, str(error))
        if re.search(rf"undefined symbol: {task.symbol}\b", str(error)):
            problems.append(f"the kernel text of {task.name} has no TASK {task.symbol}(...): use one name for both")
        raise KernelError("\n".join([str(error), *problems])) from error


def _foreign(task: Task, message: str) -> Iterator[str]:
    """Name the classes of other packages that bring functions to a text that does not compile, with the first line of
    these that the message is about.
    """
    for header, (kind, text) in _functions(task).items():
        own = next(base for base in reversed(kind.__mro__) if is_dataclass(base))
        if kind.__module__.partition(".")[0] == own.__module__.partition(".")[0]:
            continue
        whose = f"your {own.__name__.lower()} {named(kind)}"
        place = re.search(rf"^{re.escape(header)}[:(](\d+)", message, re.MULTILINE)
        lines = dict(enumerate(text.split("\n"), start=1))
        if place is not None and (line := lines.get(int(place[1]))) is not None:
            yield f"line {place[1]} of the functions of {whose}: {line.strip()}"
        else:
            yield f"the kernel text of {task.name} includes the functions of {whose}"
