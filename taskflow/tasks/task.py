"""Tasks and their launches: functions of cells that declare what they do with each field."""

from __future__ import annotations

import inspect
from collections import ChainMap
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, is_dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, get_type_hints, overload

from taskflow.regions import Box
from taskflow.tasks.privilege import Operator, Privilege, Scalar
from taskflow.tasks.source import check_source
from taskflow.tasks.stencil import Stencil

MOST_REDUCTIONS = 32  # of a task: blocks fold its numbers in one all-reduce, which has so many places on every device

Classes = frozenset[tuple[type, type]]  # of constants: those declared, each with the one in its place


@dataclass(frozen=True, eq=False)
class Task:
    """A function of cells, with the privileges it declared. Its kernel is a file, or a text, or None.

    `library` names what does the work of the body instead, on devices that have a library for it. A task that is
    `whole` is one for all cells that a block has of a launch, which may depend on each other there: it is never cut.
    `fields` are its positional parameters in order. Keyword-only parameters are `constants` (values fixed in the
    program), `scalars` (named numbers that change between steps) and `reductions` (named numbers it produces);
    `keywords` lists them all in order.

    A constant may be of a class derived from the declared one. The launch then is of a task `derived` from this one,
    whose kernel text is compiled for that class, with the macros that its class variable `defines` names: see
    `taskflow.machine.kernel.text`. Where the class has `stencils`, a mapping, that task reads the fields of these
    parameters with them instead. Classes derived from that one inherit both.
    """

    name: str
    body: Callable[..., None]
    kernel: Path | str | None
    library: str | None
    whole: bool
    fields: dict[str, Privilege]
    constants: dict[str, Any]
    scalars: tuple[str, ...]
    reductions: dict[str, Operator]
    keywords: tuple[str, ...]
    derived: tuple[Task, Classes] | None = None

    def __call__(self, *fields: str, over: Box, **values: Any) -> Launch:
        """Launch the task over the cells of `over`: for each block, on the cells it owns there.

        `fields` name one field per parameter, `values` give constants by value, scalars and reductions by name.
        Raises TypeError where an argument is missing, unknown or of the wrong kind.
        """
        if not isinstance(over, Box):
            raise TypeError(f"{self.name}: over={over!r} is no Box; launch it over region.cells, say, or Box(lo, hi)")
        for name, field in zip(self.fields, fields, strict=False):
            if not isinstance(field, str):
                raise TypeError(f"{self.name}: {name} is {field!r}; give the name of a field, such as roles.{name}")
        if len(fields) != len(self.fields):
            wanted = ", ".join(self.fields)
            raise TypeError(f"{self.name} takes {len(self.fields)} fields ({wanted}), not {len(fields)}")
        if set(values) != set(self.keywords):
            wanted = ", ".join(("over", *self.keywords))
            raise TypeError(f"{self.name} takes the keywords {wanted}; it was given {', '.join(('over', *values))}")
        for name in (*self.scalars, *self.reductions):
            if not isinstance(values[name], str):
                raise TypeError(f"{self.name}: {name}={values[name]!r} has to be the name of a scalar")
        for name, kind in self.constants.items():
            if isinstance(kind, type) and not isinstance(values[name], kind):
                raise TypeError(f"{self.name}: {name}={values[name]!r} is not a {kind.__name__}")
        produced = [values[name] for name in self.reductions]
        if len(set(produced)) < len(produced):
            raise TypeError(f"{self.name}: two reductions have the same result among {', '.join(produced)}")
        written = [f for f, p in zip(fields, self.fields.values(), strict=True) if p.writes]
        for name in written:
            if fields.count(name) > 1:
                raise TypeError(f"{self.name}: field {name!r} is written and bound to a second parameter")
        chosen = self.of(_derived(self.constants, values))
        return Launch(chosen, fields, tuple((name, values[name]) for name in self.keywords), over)

    def of(self, classes: Classes) -> Task:
        """This task for constants of derived classes, which stand for those declared: one object per process."""
        if not classes:
            return self
        instead = dict(classes)
        constants = {name: instead.get(kind, kind) for name, kind in self.constants.items()}
        stencils = ChainMap(*(getattr(kind, "stencils", {}) for kind in instead.values()))
        fields = {name: each[stencils[name]] if name in stencils else each for name, each in self.fields.items()}
        task = replace(self, fields=fields, constants=constants, derived=(self, classes))
        return _of_classes.setdefault((self, classes), task)


_of_classes: dict[tuple[Task, Classes], Task] = {}


def _derived(constants: Mapping[str, Any], values: Mapping[str, Any]) -> Classes:
    found = ((kind, type(values[name])) for name, kind in constants.items() if isinstance(kind, type))
    return frozenset((declared, given) for declared, given in found if is_dataclass(declared) and given is not declared)


@dataclass(frozen=True, eq=False)
class Launch:
    """A task bound to fields and values over a box: one object for the point tasks of all blocks.

    Where the partition lets them, blocks do it on `ghosts` layers of cells of others, too: these are then not received.
    """

    task: Task
    fields: tuple[str, ...]
    values: tuple[tuple[str, Any], ...]
    over: Box
    ghosts: int = 0

    def with_ghosts(self, layers: int) -> Launch:
        """The same on so many layers of ghost cells, too, computed redundantly (deep halos; C. Ding, Y. He 2001, Proc.
        Supercomputing). Whether that is done changes no bit. Raises TypeError for a task that reduces, where each cell
        counts once, or that is coloured, and ValueError for fewer than no layers.
        """
        if layers < 0:
            raise ValueError(f"{self}: {layers} layers of ghost cells; give 0 or more")
        if self.task.reductions or self.coloured:
            raise TypeError(f"{self}: a launch that reduces or is coloured does no ghost cells")
        return replace(self, ghosts=layers)

    @cached_property
    def requirements(self) -> tuple[tuple[str, Privilege], ...]:
        """Each field with the privilege that the task has on it."""
        return tuple(zip(self.fields, self.task.fields.values(), strict=True))

    @cached_property
    def own(self) -> str:
        """A field of the region that it is launched over."""
        return next(name for name, privilege in self.requirements if not privilege.foreign)

    @cached_property
    def foreign(self) -> dict[str, str]:
        """Parameters that are fields of other regions, with the fields."""
        fields = zip(self.task.fields.items(), self.fields, strict=True)
        return {parameter: name for (parameter, privilege), name in fields if privilege.foreign}

    @cached_property
    def written(self) -> tuple[str, ...]:
        """The fields that the task writes."""
        return tuple(name for name, privilege in self.requirements if privilege.writes)

    @cached_property
    def stencils(self) -> dict[str, Stencil]:
        """The fields of its own region that the task reads, each with all the neighbours it reads."""
        found: dict[str, Stencil] = {}
        for name, privilege in self.requirements:
            if privilege.reads and not privilege.foreign:
                found[name] = found[name] | privilege.stencil if name in found else privilege.stencil
        return found

    @cached_property
    def coloured(self) -> bool:
        """Whether it reads beside cells that it changes others that it was launched over, but does not change."""
        return any(privilege.coloured for privilege in self.task.fields.values())

    @cached_property
    def constants(self) -> dict[str, Any]:
        """Constant parameters with their values."""
        return {name: value for name, value in self.values if name in self.task.constants}

    @cached_property
    def scalars(self) -> dict[str, str]:
        """Scalar parameters with the names of the numbers they read."""
        return {name: value for name, value in self.values if name in self.task.scalars}

    @cached_property
    def reductions(self) -> dict[str, tuple[str, Operator]]:
        """Reduction parameters with the name of the number they produce, and the operator."""
        operators = self.task.reductions
        return {name: (value, operators[name]) for name, value in self.values if name in operators}

    @cached_property
    def kind(self) -> Hashable:
        """Equal for launches that touch the same fields and numbers in the same way."""
        numbers = tuple(value for name, value in self.values if name not in self.task.constants)
        return self.task, self.fields, numbers

    def __str__(self) -> str:
        return f"{self.task.name}({', '.join(self.fields)})"


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
    """Make a function a task: `@task`, or `@task(kernel=...)` where a kernel text holds the arithmetic.

    `kernel` is the text itself, a string, or the `Path` of a file with it. `whole`: what it does in a cell may depend
    on all others that a block has of a launch, so that it cannot be done in parts. With `library`, the name of an
    operation of `taskflow.machine.transform`, that does the work, whole; the body says what it is, in NumPy.

    Positional parameters are fields, annotated `Read`, `Read[stencil]`, `Write`, `ReadWrite`, `Coloured[stencil]` or,
    of other regions, `Foreign[stencil]`; keyword-only parameters are annotated `Scalar`, `Reduce[operator]` or with the
    type of a constant, MOST_REDUCTIONS of a task at most. Without a kernel the body runs on views of the fields (see
    `taskflow.tasks.body`); with one the body is only its docstring. Raises TypeError where these rules are broken.
    """

    if isinstance(kernel, Path):
        kernel = kernel.absolute()  # other processes may be in other folders

    def define(function: Callable[..., None]) -> Task:
        return _define(function, kernel, library, whole or library is not None)

    return define if body is None else define(body)


def _define(body: Callable[..., None], kernel: Path | str | None, library: str | None, whole: bool) -> Task:
    name = getattr(body, "__name__", "task")
    fields: dict[str, Privilege] = {}
    constants: dict[str, Any] = {}
    reductions: dict[str, Operator] = {}
    scalars: list[str] = []
    keywords: list[str] = []
    for parameter in inspect.signature(body, eval_str=True).parameters.values():
        kind, annotation, where = parameter.kind, parameter.annotation, f"task {name}: parameter {parameter.name!r}"
        if parameter.default is not parameter.empty or kind in (kind.VAR_POSITIONAL, kind.VAR_KEYWORD):
            raise TypeError(f"{where} has a default or is variadic; name every parameter and pass every value")
        if annotation is parameter.empty:
            kinds = "Read, Write, ReadWrite, Scalar, Reduce or a constant's type"
            raise TypeError(f"{where} is not annotated; say {kinds}")
        if parameter.name == "over":
            raise TypeError(f"{where} has the name of the box that a launch is over; choose another one")
        if kind is not kind.KEYWORD_ONLY:
            if not isinstance(annotation, Privilege) or annotation.reduction:
                raise TypeError(
                    f"{where} is positional, so a field: annotate it Read, Read[width], Write, ReadWrite, Coloured or"
                    " Foreign"
                )
            fields[parameter.name] = annotation
            continue
        keywords.append(parameter.name)
        if isinstance(annotation, Privilege):
            if annotation.reduction is None:
                raise TypeError(f"{where} is a field: put it before the *")
            reductions[parameter.name] = annotation.reduction
        elif annotation is Scalar:
            scalars.append(parameter.name)
        else:
            constants[parameter.name] = annotation
            if is_dataclass(annotation):  # names in its annotations mean something here, elsewhere perhaps nothing
                annotation.__annotations__ = get_type_hints(annotation)
    if not fields:
        raise TypeError(f"task {name} has no field: there is nothing to visit; its positional parameters are fields")
    if all(p.foreign for p in fields.values()):
        raise TypeError(f"task {name} has foreign fields only: it needs one of the region that it is launched over")
    if not any(p.writes for p in fields.values()) and not reductions:
        raise TypeError(f"task {name} writes no field and reduces nothing: it has no effect")
    if isinstance(kernel, Path) and not kernel.is_file():
        raise TypeError(f"task {name}: there is no kernel text {kernel}")
    if isinstance(kernel, str) and "TASK" not in kernel and "#include" not in kernel:
        raise TypeError(f"task {name}: the kernel text {kernel!r} defines no TASK; a file is given as a Path")
    if len(reductions) > MOST_REDUCTIONS:
        raise TypeError(
            f"task {name} reduces {len(reductions)} numbers; at most {MOST_REDUCTIONS} can be: make it two tasks"
        )
    if library is not None and (kernel is not None or scalars or reductions):
        raise TypeError(f"task {name} is done by a library, which takes fields and constants: no kernel, no scalars")
    if kernel is None:
        check_source(name, body, fields)
    return Task(name, body, kernel, library, whole, fields, constants, tuple(scalars), reductions, (*keywords,))
