"""Privileges: what a task may do with a field, written as the annotation of its parameter."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from taskflow.runtime.tasks.numbers import EXACT, OPERATORS, Operator, ScalarArray, several
from taskflow.runtime.tasks.stencil import POINT, Oriented, Stencil, star
from taskflow.runtime.tasks.sweep import Direction

Precision = Literal["u1", "u2", "any"]


@dataclass(frozen=True, slots=True)
class Privilege:
    """Reading with a stencil, writing, both, or folding values with an operator.

    A task reads neighbours but writes only its own cells; `Write` promises to overwrite every cell it is launched over,
    so what they held before is not needed. `foreign`: the field may be one of another region than the task is launched
    over; it is read around the cells that correspond. `precision`: the field has one of its own, where others have that
    of the kernel: flags, whole numbers of one byte or two, and "any", which is that of the field that a launch has.
    `unshared`: the field is private, `in_rows`: in rows. `coloured`: of the cells that a launch is over it changes some
    (those of one colour), and reads beside them only others. `swept`: it is coloured, and of the six neighbours a point
    reads those that come earlier in the launch's `Sweep`, which goes in this direction. `oriented`: the stencil of a
    task that is turned to an axis or a face, in its own frame. `optional`: a launch may leave the field out. `values`:
    so many numbers per cell.
    """

    reads: bool = False
    writes: bool = False
    stencil: Stencil = POINT
    reduction: Operator | None = None
    foreign: bool = False
    coloured: bool = False
    swept: Direction | None = None
    precision: Precision | None = None
    oriented: Oriented | None = None
    optional: bool = False
    values: int = 1
    unshared: bool = False
    in_rows: bool = False

    def __getitem__(self, stencil: int | Stencil | Oriented) -> Privilege:
        """The privilege with a stencil; a number means a star of that width. Raises TypeError where nothing is read."""
        if not self.reads or self.swept or self.unshared:
            raise TypeError("only Read, ReadWrite, Coloured and Foreign take a stencil: a task writes its own cells")
        if isinstance(stencil, Oriented):
            return replace(self, oriented=stencil)
        if isinstance(stencil, Stencil) and stencil.roams and not self.foreign:
            raise TypeError("anywhere(w): only a Foreign field can be read anywhere in the block")
        if not isinstance(stencil, int | Stencil) or (isinstance(stencil, int) and stencil < 0):
            raise TypeError(
                f"{stencil!r} is no stencil: give the width of a star, 0 or more, or star(w), box(w), offsets(...) or"
                " lines(...)"
            )
        return replace(self, stencil=star(stencil) if isinstance(stencil, int) else stencil)

    def __or__(self, nothing: None) -> Privilege:
        """`Read[1] | None`: the privilege of a field that a launch may leave out."""
        return replace(self, optional=True)

    def __mul__(self, values: int) -> Privilege:
        """`Read[1] * 16`: the privilege of a field with so many values per cell. Raises TypeError for less than two,
        and for fields that are foreign, of a precision of their own, coloured or reduced.
        """
        if not isinstance(values, int) or values < 2:
            raise TypeError(f"{values!r} is no number of values per cell; give 2 or more")
        own = self.precision not in (None, "any")
        if self.foreign or own or (self.coloured and not self.swept) or self.reduction:
            raise TypeError("only Read, Write, ReadWrite and Swept take several values per cell")
        return replace(self, values=values)

    @property
    def any(self) -> Privilege:
        """`Read[1].any`: the privilege of a field of single or double precision, whatever that of the kernel. Raises
        TypeError for fields of another precision, or foreign: these are `ForeignAny`.
        """
        if self.foreign or self.reduction or self.precision not in (None, "any"):
            raise TypeError("only Read, Write, ReadWrite, Coloured and Swept take fields of any precision")
        return replace(self, precision="any")

    @property
    def private(self) -> Privilege:
        """`Read.private * 16`: the privilege of a private field, of any precision. Raises TypeError where neighbours
        are read.
        """
        if self.foreign or self.coloured or self.stencil != POINT:
            raise TypeError("a private field is Read, Write or ReadWrite in a point's own cell: it has no neighbours")
        return replace(self.any, unshared=True)

    @property
    def rows(self) -> Privilege:
        """`Read.private.rows * 16`: the privilege of a private field in rows. Raises TypeError for others."""
        if not self.unshared:
            raise TypeError("only a private field is in rows or not: Read.private.rows")
        return replace(self, in_rows=True)

    @property
    def together(self) -> bool:
        """Whether the values of a cell lie behind each other in memory."""
        return self.unshared and not self.in_rows

    def turned(self, orientation: str) -> Privilege:
        """The privilege of a task that is turned to an axis or a face."""
        return replace(self, stencil=self.oriented.turned(orientation), oriented=None) if self.oriented else self

    @property
    def changes(self) -> bool:
        """Return whether the field may hold other values afterwards."""
        return self.writes or self.reduction is not None


class Components:
    """Several fields that are one argument: `Components(u=Read[U], v=Read[V], w=Read[W])` is a velocity, whose three
    components have stencils of their own. A launch gives a tuple of fields; a kernel text names them one by one.
    """

    def __init__(self, **privileges: Privilege) -> None:
        self.privileges = privileges

    def __or__(self, nothing: None) -> Components:
        """The same fields, which a launch may leave out all together."""
        return Components(**{name: privilege | nothing for name, privilege in self.privileges.items()})


class SweptFields:
    """`Swept["up"]`, `Swept["down"]`: both reading and writing, in a sweep."""

    def __getitem__(self, direction: Direction) -> Privilege:
        if direction not in get_args(Direction):
            raise TypeError(f'Swept[{direction!r}]: a sweep goes up or down, Swept["up"]')
        return Privilege(reads=True, writes=True, stencil=star(1), coloured=True, swept=direction)


class Reduction:
    """`Reduce[max]`, `Reduce[min]`, `Reduce[sum]`: the parameter is a scalar into which all values are folded.

    `Reduce["sum", n]` folds n numbers under one name, and `Reduce["exact sum", n]` sums of which the bits do not depend
    on the order, nor on how the cells are cut into blocks; without n it is one such sum.
    """

    def __getitem__(self, word: Any) -> Any:
        folded = several(word, reduced=True)
        if folded is None:
            raise TypeError(f"Reduce[{word!r}]: the operators are {', '.join(OPERATORS)} and {EXACT}")
        return folded if isinstance(folded, ScalarArray) else Privilege(reduction=folded)


class Scalar:
    """Annotation of a parameter that is a named number which changes between steps, such as the time step.

    What a task has reduced as `Reduce["exact sum", n]`, say, another one takes by its one name: `Scalar["exact sum",
    n]`.
    """

    def __class_getitem__(cls, word: Any) -> Any:
        """Several numbers. Raises TypeError for what `Reduce` does not know either."""
        numbers = several(word, reduced=False)
        if not isinstance(numbers, ScalarArray):
            raise TypeError(f'Scalar[{word!r}]: say as for Reduce how many numbers it has, Scalar["max", 3]')
        return numbers


Read = Privilege(reads=True)
Write = Privilege(writes=True)
ReadWrite = Privilege(reads=True, writes=True)
Foreign = Privilege(reads=True, foreign=True)
ForeignAny = Privilege(reads=True, foreign=True, precision="any")
ReadByte = Privilege(reads=True, precision="u1")
ReadShort = Privilege(reads=True, precision="u2")
Coloured = Privilege(reads=True, writes=True, coloured=True)
Swept = SweptFields()
Reduce = Reduction()
