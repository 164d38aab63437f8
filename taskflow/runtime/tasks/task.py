"""Tasks and their launches: functions of cells with declared access to each field.

A task is one object per process, however it arrived: it identifies traces and compiled kernels.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from taskflow.common.caching import cached_property
from taskflow.common.errors import BadInput
from taskflow.runtime.regions import Box, hull
from taskflow.runtime.tasks.constants import WHOLE, key_of, too_large
from taskflow.runtime.tasks.numbers import Operator
from taskflow.runtime.tasks.privilege import Precision, Privilege
from taskflow.runtime.tasks.signature import PLAIN, Argument, Signature, Variant
from taskflow.runtime.tasks.stencil import Stencil
from taskflow.runtime.tasks.sweep import Direction, Sweep


@dataclass(frozen=True, eq=False)
class Task(Signature):
    """A function of cells, with its declared privileges. Its kernel is a file, a text, or None.

    `library` names an operation that replaces the body on devices with such a library. A `whole` task is executed once
    for all cells of a block, which may depend on each other, and is never cut.

    A launch can be of a task `derived` from this one, compiled separately from the same kernel text: see `Variant`. For
    a constant of a derived class, or a choice among its members (a value without members, such as a scheme), the names
    in the class variable `defines` become macros: see `machine.kernel.text`. If the class has `stencils`, a mapping,
    the derived task reads the fields of these names with them. If it has `values`, a mapping, it sets the number of
    values per cell of fields with several.
    """

    body: Callable[..., None]
    kernel: Path | str | None
    library: str | None
    whole: bool
    derived: tuple[Task, Variant] | None = None

    @property
    def base(self) -> Task:
        """The task as declared."""
        return self.derived[0] if self.derived else self

    @property
    def symbol(self) -> str:
        """Name of the function in the kernel text."""
        return self.base.name

    @property
    def orientation(self) -> str | None:
        """Axis or face to which the task is oriented."""
        return self.derived[1].orientation if self.derived else None

    def __call__(self, *fields: Argument, over: Box | Iterable[Box], **values: Any) -> Launch:
        """Launch the task over `over`, a box or several disjoint ones, such as `region.charts`. Each block does the
        cells that it owns.

        Parameters
        ----------
        *fields : str, tuple of str or None
            One field per parameter, or a tuple for several. None omits an optional parameter.
        over : Box or iterable of Box
        **values
            Constants by value, scalars and reductions by name, and the orientation. None omits an optional parameter.

        Returns
        -------
        Launch

        Raises
        ------
        TypeError
            If an argument is missing, unknown or of the wrong kind.
        BadInput
            If an integer exceeds the range of a kernel's int.
        """
        boxes = (over,) if isinstance(over, Box) else tuple(over) if isinstance(over, Iterable) else ()
        if not boxes or not all(isinstance(box, Box) for box in boxes):
            raise TypeError(f"{self.name}: over={over!r} is no Box; launch it over region.cells, say, or Box(lo, hi)")
        names, numbers, variant = self.bind(fields, values)
        for name in self.constants if self.kernel is not None else ():
            if found := too_large(values[name]):
                limits = f"an integer of a kernel lies between {WHOLE[0]} and {WHOLE[-1]}"
                part, number = found
                raise BadInput(f"{self.name}: {name}{part} = {number}; {limits}: declare it float, or make it two")
        return Launch(self.of(variant), names, numbers, boxes)

    def of(self, variant: Variant) -> Task:
        """Return a variant of this task: one object per process."""
        if variant == PLAIN:
            return self
        task = _variants.get((self, variant))
        return task or _variants.setdefault((self, variant), self._derive(variant))

    def precise(self, precisions: Mapping[str, Precision]) -> Task:
        """Return this task compiled for these precisions, by parameter, of fields that may have any."""
        base, variant = self.derived or (self, PLAIN)
        return base.of(replace(variant, precisions=frozenset(precisions.items())))

    def _derive(self, variant: Variant) -> Task:
        instead, absent, orientation = dict(variant.classes), variant.absent & self.optional, variant.orientation
        constants = {name: instead.get(kind, kind) for name, kind in self.constants.items() if name not in absent}
        stencils = ChainMap(*(getattr(kind, "stencils", {}) for kind in instead.values()))
        left_out = {field for name in absent for field in self.parameters.get(name, ())}
        fields = {name: field for name, field in self.fields.items() if name not in left_out}
        fields |= {name: fields[name][stencil] for name, stencil in stencils.items() if name in fields}
        counts = ChainMap(*(getattr(kind, "values", {}) for kind in instead.values()))
        several = {name: field for name, field in fields.items() if name in counts and field.values > 1}
        fields |= {name: replace(field, values=counts[name]) for name, field in several.items()}
        for name, precision in variant.precisions:
            if name in fields and fields[name].precision == "any":
                fields[name] = replace(fields[name], precision=precision)
        if orientation and self.turns:
            fields = {name: field.turned(orientation) for name, field in fields.items()}
        return replace(
            self,
            name=f"{self.name}_{orientation}" if orientation and self.turns else self.name,
            fields=fields,
            constants=constants,
            scalars=tuple(name for name in self.scalars if name not in absent),
            keywords=tuple(name for name in self.keywords if name not in absent),
            derived=(self, variant),
        )

    def arguments(self, fields: Mapping[str, Any]) -> list[Any]:
        """Return the positional arguments of the body, given a value per field: tuples for components, None for omitted
        ones.
        """
        several = {name: tuple(map(fields.get, parts)) for name, parts in self.parameters.items()}
        return [
            None if None in values else values[0] if self.parameters[name] == (name,) else values
            for name, values in several.items()
        ]

    def left_out(self) -> dict[str, str | None]:
        """Return the keyword arguments of the body without a value (None), and the orientation."""
        turned = {self.turns[0]: self.orientation} if self.turns else {}
        return turned | dict.fromkeys(set(self.base.keywords) - set(self.keywords))


_variants: dict[tuple[Task, Variant], Task] = {}


@dataclass(frozen=True, eq=False)
class Launch:
    """A task bound to fields and values over disjoint boxes: one object for the point tasks of all blocks.

    If the partition permits, blocks also do it on `ghosts` layers of ghost cells, which are then not received.
    """

    task: Task
    fields: tuple[str, ...]
    values: tuple[tuple[str, Any], ...]
    boxes: tuple[Box, ...]
    ghosts: int = 0

    def with_ghosts(self, layers: int) -> Launch:
        """Return the launch with redundant computation of `layers` layers of ghost cells (deep halos; C. Ding, Y. He
        2001, Proc. Supercomputing). Results are bitwise identical. Raises TypeError for a task that reduces, where
        each cell counts once, or that is coloured, and ValueError if `layers` is negative.
        """
        if layers < 0:
            raise ValueError(f"{self}: {layers} layers of ghost cells; give 0 or more")
        if self.task.reductions or self.coloured:
            raise TypeError(f"{self}: a launch that reduces or is coloured does no ghost cells")
        return replace(self, ghosts=layers)

    @cached_property
    def over(self) -> Box:
        """The box around the cells of the launch; exactly these if it is over one box."""
        return hull(self.boxes) if len(self.boxes) > 1 else self.boxes[0]

    @property
    def volume(self) -> int:
        """Number of cells."""
        return sum(box.volume for box in self.boxes)

    @cached_property
    def requirements(self) -> tuple[tuple[str, Privilege], ...]:
        """Each field with the task's privilege on it."""
        return tuple(zip(self.fields, self.task.fields.values(), strict=True))

    @cached_property
    def own(self) -> str:
        """A field of the region over which the task is launched."""
        return next(name for name, privilege in self.requirements if not privilege.foreign)

    @cached_property
    def foreign(self) -> dict[str, str]:
        """Parameters that are fields of other regions, with the fields."""
        return {name: field for name, field in self.apart.items() if self.task.fields[name].foreign}

    @cached_property
    def apart(self) -> dict[str, str]:
        """Parameters whose arrays cover different cells from most fields, with the fields: foreign and private."""
        fields = zip(self.task.fields.items(), self.fields, strict=True)
        return {name: field for (name, privilege), field in fields if privilege.foreign or privilege.unshared}

    @cached_property
    def usual(self) -> str:
        """A field of its region whose array covers ghost cells, or None."""
        apart = self.apart.values()
        return next((name for name in self.fields if name not in apart), self.own)

    @cached_property
    def written(self) -> tuple[str, ...]:
        """The fields that the task writes."""
        return tuple(name for name, privilege in self.requirements if privilege.writes)

    @cached_property
    def stencils(self) -> dict[str, Stencil]:
        """The fields of the task's region that it reads, with the union of the stencils of each."""
        joined: dict[str, Stencil] = {}
        for name, privilege in self.requirements:
            if privilege.reads and not privilege.foreign:
                joined[name] = joined[name] | privilege.stencil if name in joined else privilege.stencil
        return joined

    @cached_property
    def coloured(self) -> bool:
        """True if the launch changes some of its cells, and reads others of the same field."""
        return any(privilege.coloured for privilege in self.task.fields.values())

    @cached_property
    def swept(self) -> tuple[str, Direction, Sweep] | None:
        """Parameter, direction and value of the sweep, or None if the points of the launch are independent."""
        direction = next((privilege.swept for privilege in self.task.fields.values() if privilege.swept), None)
        sweeps = ((name, value) for name, value in self.values if isinstance(value, Sweep))
        return next(((name, direction, value) for name, value in sweeps if direction), None)

    def shuffled(self) -> Launch:
        """Return the same sweep in another order of its points. Raises ValueError if this is no sweep."""
        if self.swept is None:
            raise ValueError(f"{self} is no sweep")
        name, _, sweep = self.swept
        base, variant = self.task.derived or (self.task, PLAIN)
        other = sweep.shuffled()
        classes = {(declared, kind) for declared, kind in variant.classes if declared is not Sweep}
        task = base.of(replace(variant, classes=frozenset(classes | {(Sweep, type(other))})))
        return replace(self, task=task, values=tuple((n, other if n == name else value) for n, value in self.values))

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
        """Equal for launches that access the same fields and numbers in the same way."""
        constants = self.task.constants
        numbers = tuple(value for name, value in self.values if name not in constants or isinstance(value, Sweep))
        return self.task, self.fields, numbers

    @cached_property
    def same_constants(self) -> Hashable:
        """Equal for launches with bitwise identical constants, as long as both exist."""
        return tuple(map(key_of, self.constants.values()))

    @cached_property
    def same(self) -> Hashable:
        """Equal for launches with bitwise identical effects, as long as both exist: objects are equal by identity."""
        return self.kind, self.same_constants, self.boxes, self.ghosts

    def __str__(self) -> str:
        return f"{self.task.name}({', '.join(self.fields)})"
