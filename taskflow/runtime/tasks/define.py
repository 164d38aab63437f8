"""Definition of tasks: functions whose annotations declare the access to each field and number."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import is_dataclass
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_type_hints, overload
from weakref import WeakSet

from taskflow.common.text import parsed
from taskflow.runtime.tasks.numbers import Operator, ScalarArray
from taskflow.runtime.tasks.privilege import Components, Privilege, Scalar
from taskflow.runtime.tasks.stencil import Axis, Face
from taskflow.runtime.tasks.sweep import Sweep
from taskflow.runtime.tasks.task import Task

# Numbers of a task, three for each exact sum: blocks fold them in one all-reduce, which has so many places on every
# device.
MOST_REDUCTIONS = 32
_resolved = WeakSet[Any]()  # classes of constants whose annotations have been evaluated


@overload
def task(body: Callable[..., None], /) -> Task: ...
@overload
def task(*, kernel: Path | str, whole: bool = False) -> Callable[[Callable[..., None]], Task]: ...
@overload
def task(*, library: str) -> Callable[[Callable[..., None]], Task]: ...
def task(
    body: Callable[..., None] | None = None,
    /,
    *,
    kernel: Path | str | None = None,
    library: str | None = None,
    whole: bool = False,
) -> Any:
    """Define a task from an annotated function: `@task` or `@task(kernel=...)`.

    Positional parameters are fields, annotated `Read`, `Read[stencil]`, `Write`, `ReadWrite`, `Coloured[stencil]`,
    `Swept[direction]` or, for other regions, `Foreign[stencil]`, or several at once, `Components(u=Read[U],
    v=Read[V])`. Keyword-only parameters are annotated `Scalar`, `Reduce[operator]`, the type of a constant or, one of
    them, `Axis` or `Face`. A task with swept fields takes one `Sweep`. `Reduce[operator, n]` and `Scalar[operator, n]`
    are n numbers under one name; a task has at most 32 numbers, an exact sum counting as three. A field or constant
    annotated `... | None` is optional. Without a kernel the body runs on views of the fields (see
    `taskflow.runtime.tasks.body`); with a kernel it is a docstring alone.

    Parameters
    ----------
    kernel : Path or str, optional
        File of the kernel text, or the text itself.
    library : str, optional
        Operation of `taskflow.runtime.machine.kernel.transform` that does the work; the body documents it in NumPy.
    whole : bool
        The result in a cell may depend on all cells of the launch on a block, so a launch is never split.

    Returns
    -------
    Task, or a decorator that returns one

    Raises
    ------
    TypeError
        If the signature breaks these rules.
    """

    if isinstance(kernel, Path):
        kernel = kernel.absolute()  # other processes may be in other folders

    def define(function: Callable[..., None]) -> Task:
        return _define(function, kernel, library, whole or library is not None)

    return define if body is None else define(body)


def _define(body: Callable[..., None], kernel: Path | str | None, library: str | None, whole: bool) -> Task:
    name = getattr(body, "__name__", "task")
    annotations: dict[str, Any] = {}
    keywords: dict[str, Any] = {}
    for parameter in inspect.signature(body, eval_str=True).parameters.values():
        _check_parameter(f"task {name}: parameter {parameter.name!r}", parameter)
        (keywords if parameter.kind is parameter.KEYWORD_ONLY else annotations)[parameter.name] = parameter.annotation
    parts = {word: getattr(kind, "privileges", {word: kind}) for word, kind in annotations.items()}
    names = [field for privileges in parts.values() for field in privileges]
    if twice := {field for field in names if names.count(field) > 1}:
        raise TypeError(f"task {name}: two fields have the name {min(twice)!r}")
    fields = {field: kind for privileges in parts.values() for field, kind in privileges.items()}
    optional = {word for word, privileges in parts.items() if all(kind.optional for kind in privileges.values())}
    optional |= {word for word, kind in keywords.items() if _without_none(kind)[1]}
    keywords = {word: _without_none(kind)[0] for word, kind in keywords.items()}
    turns = [(word, kind) for word, kind in keywords.items() if kind in (Axis, Face)]
    reductions, scalars = _reductions(keywords), tuple(_scalars(keywords))
    numbers = {word: kind for word, kind in keywords.items() if isinstance(kind, ScalarArray)}
    others = {*reductions, *scalars, *numbers, *dict(turns)}
    constants = {word: kind for word, kind in keywords.items() if word not in others}
    for kind in (kind for kind in constants.values() if is_dataclass(kind) and kind not in _resolved):
        kind.__annotations__ = get_type_hints(kind)  # names in its annotations mean something here alone
        _resolved.add(kind)
    order = tuple(word for word in keywords if word not in dict(turns))
    parameters = {word: tuple(privileges) for word, privileges in parts.items()}
    signature = name, fields, constants, scalars, reductions, order, parameters, numbers
    whole = whole or any(kind.swept for kind in fields.values())
    made = Task(*signature, frozenset(optional), turns[0] if turns else None, body, kernel, library, whole)
    _check_task(made, len(turns))
    return made


def _reductions(keywords: Mapping[str, Any]) -> dict[str, Operator]:
    operators: dict[str, Operator] = {}
    for name, kind in keywords.items():
        if isinstance(kind, ScalarArray) and kind.reduced:
            operators |= dict.fromkeys(kind.of(name), kind.operator)
        elif isinstance(kind, Privilege) and kind.reduction:
            operators[name] = kind.reduction
    return operators


def _scalars(keywords: Mapping[str, Any]) -> Iterator[str]:
    for name, kind in keywords.items():
        if isinstance(kind, ScalarArray) and not kind.reduced:
            yield from kind.of(name)
        elif kind is Scalar:
            yield name


def _check_parameter(where: str, parameter: inspect.Parameter) -> None:
    kind, annotation = parameter.kind, parameter.annotation
    if parameter.default is not parameter.empty or kind in (kind.VAR_POSITIONAL, kind.VAR_KEYWORD):
        raise TypeError(f"{where} has a default or is variadic; name every parameter and pass every value")
    if annotation is parameter.empty:
        kinds = "Read, Write, ReadWrite, Scalar, Reduce or a constant's type"
        raise TypeError(f"{where} is not annotated; say {kinds}")
    if parameter.name == "over":
        raise TypeError(f"{where} has the name of the box that a launch is over; choose another name")
    if kind is not kind.KEYWORD_ONLY:
        if not isinstance(annotation, Privilege | Components) or getattr(annotation, "reduction", None):
            raise TypeError(
                f"{where} is positional, so a field: annotate it Read, Read[width], Write, ReadWrite, Coloured or"
                " Foreign"
            )
    elif isinstance(annotation, Components) or (isinstance(annotation, Privilege) and annotation.reduction is None):
        raise TypeError(f"{where} is a field: put it before the *")
    elif isinstance(annotation, Privilege) and annotation.optional:
        raise TypeError(f"{where} is always computed: only inputs of a task can be optional")


def _without_none(annotation: Any) -> tuple[Any, bool]:
    """Return an annotation without `| None`, and whether that was present."""
    if isinstance(annotation, Privilege):
        return annotation, annotation.optional
    kinds = get_args(annotation) if isinstance(annotation, UnionType) else ()
    return (kinds[0], True) if len(kinds) == 2 and kinds[1] is type(None) else (annotation, False)


def _check_task(made: Task, turns: int) -> None:
    """Raises TypeError for a declaration that no launch can serve."""
    where, kernel, needed = f"task {made.name}", made.kernel, [p for p in made.fields.values() if not p.optional]
    if not made.fields:
        raise TypeError(f"{where} has no field: there is nothing to visit; its positional parameters are fields")
    if all(p.foreign for p in needed):
        raise TypeError(f"{where} has foreign fields only: it needs one of the region that it is launched over")
    if not any(p.writes for p in needed) and not made.reductions:
        raise TypeError(f"{where} writes no field and reduces nothing: it has no effect")
    if turns > 1:
        raise TypeError(f"{where} is turned twice; give it one Axis or one Face")
    if not turns and any(p.oriented for p in made.fields.values()):
        raise TypeError(f"{where} reads in its own frame, but is not turned: give it a keyword Axis or Face")
    _check_sweep(where, made)
    if isinstance(kernel, Path) and not kernel.is_file():
        raise TypeError(f"{where}: there is no kernel text {kernel}")
    if isinstance(kernel, str) and "TASK" not in kernel and "#include" not in kernel:
        raise TypeError(f"{where}: the kernel text {kernel!r} defines no TASK; a file is given as a Path")
    if kernel is not None:
        _check_text(where, made.name, kernel)
        _check_constants(where, made.constants)
    if len(made.reductions) > MOST_REDUCTIONS:
        reduced = len(made.reductions)
        exact = any(kind.exact and kind.reduced for kind in made.numbers.values())
        counted = f"{reduced} numbers{', three for each exact sum' if exact else ''}"
        raise TypeError(f"{where} reduces {counted}; at most {MOST_REDUCTIONS} can be: make it two tasks")
    if made.library is not None and (kernel is not None or made.scalars or made.reductions):
        raise TypeError(f"{where} is done by a library, which takes fields and constants: no kernel, no scalars")
    if kernel is None:
        _check_source(made)


def _check_sweep(where: str, made: Task) -> None:
    """Raises TypeError where fields are swept in two directions, or without one `Sweep`, or numbers are reduced."""
    directions = {privilege.swept for privilege in made.fields.values() if privilege.swept}
    sweeps = [name for name, kind in made.constants.items() if kind is Sweep]
    if len(directions) > 1:
        raise TypeError(f"{where} sweeps both up and down; make it two tasks")
    if len(sweeps) != len(directions) or made.optional.intersection(sweeps):
        raise TypeError(f"{where} has {len(sweeps)} keywords of the type Sweep; a task with swept fields has one")
    if directions and made.reductions:
        raise TypeError(f"{where} sweeps and reduces: a sum has another order of points; make it two tasks")


def _check_text(where: str, name: str, kernel: Path | str) -> None:
    """Raises TypeError where a kernel text defines tasks, but none of this name. A text that includes adjacent files,
    or joins words with `##`, may define it in ways that only the compiler sees; taskflow's own headers define none.
    """
    text, folder = (kernel.read_text(encoding="utf-8"), kernel.parent) if isinstance(kernel, Path) else (kernel, Path())
    code, words = _code(text)
    if "TASK" not in code or "##" in code or name in words:
        return
    if not any((folder / header).is_file() for header in re.findall(r'#[ \t]*include[ \t]+"([^"]+)"', code)):
        defined = ", ".join(re.findall(r"^[ \t]*TASK\s+(\w+)", code, re.MULTILINE)) or "others, by macros"
        raise TypeError(f"{where}: its kernel text has no TASK {name}(...); it has {defined}: use one name for both")


@cache
def _code(text: str) -> tuple[str, frozenset[str]]:
    """Return a kernel text without comments, and its words. Most texts define several tasks."""
    code = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    return code, frozenset(re.findall(r"\w+", code))


def _check_constants(where: str, constants: Mapping[str, Any]) -> None:
    """Raises TypeError for a constant that no kernel can take."""
    for name, kind in constants.items():
        if kind not in (float, int, bool) and not is_dataclass(kind):
            annotated = f"constant {name!r} is annotated {inspect.formatannotation(kind)}"
            raise TypeError(f"{where}: {annotated}; a kernel takes float, int, bool or a frozen dataclass of them")


def _check_source(made: Task) -> None:
    """Raise TypeError if the body writes a Read parameter, reads a Write parameter, reads beyond the
    stencil, writes a neighbour, or never writes a Write parameter. A body without readable source is not
    looked at.

    Only obvious uses are examined: `p[...]` and `p[1, 0, 0]` of a parameter that is never rebound, and whether
    one that is to be written occurs at all, but as a name that is given to something else. Views refuse the rest when
    the task runs.
    """
    try:
        lines, first = inspect.getsourcelines(made.body)
        tree = parsed(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        return
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    used = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    rebound = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    for field, use, writes, reads in _uses(tree):
        if field not in made.fields or field in rebound:
            continue
        privilege, where = made.fields[field], f"task {made.name}, line {first + use.lineno - 1}: field {field!r}"
        offset = _offset(use.slice)
        if writes and not privilege.writes:
            raise TypeError(f"{where} was declared Read and is written; declare it Write or ReadWrite")
        if reads and not privilege.reads:
            raise TypeError(f"{where} was declared Write and is read; declare it ReadWrite")
        if writes and offset not in (None, ...):
            raise TypeError(f"{where} is written at the offset {offset}; a task writes no cells but its own: use [...]")
        if reads and isinstance(offset, tuple) and len(offset) == 3 and offset not in privilege.stencil:
            raise TypeError(f"{where} is read at the offset {offset}, outside its stencil; declare a wider one")
    for field, privilege in made.fields.items():
        unwritten = not privilege.reads and field not in used and made.parameters.get(field) == (field,)
        if unwritten and _does_something(tree):
            where = f"task {made.name}: field {field!r}"
            raise TypeError(f"{where} was declared Write and is never written: write {field}[...] = ...")


def _does_something(tree: ast.AST) -> bool:
    """Return whether a function is more than a docstring or a call of another function."""
    functions = (node.body for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    return any(not isinstance(line, ast.Expr | ast.Pass | ast.Raise) for body in functions for line in body)


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
