"""Privileges: the access of a task to a field, written as the annotation of its parameter."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from taskflow.runtime.tasks.numbers import EXACT, OPERATORS, Operator, ScalarArray, several
from taskflow.runtime.tasks.stencil import POINT, Oriented, Stencil, star
from taskflow.runtime.tasks.sweep import Direction

Precision = Literal["u1", "u2", "any"]


@dataclass(frozen=True, slots=True)
class Privilege:
    """Access of a task to a field: read with a stencil, write, both, or reduce.

    A task reads neighbours but writes only its own cells. `Write` promises to overwrite every cell of the launch, so
    earlier values are not needed. Use `Read`, `Write`, `ReadWrite`, `Coloured`, `Swept` or `Foreign`, with a stencil in
    brackets: `Read[1]`, `Read[offsets(x=(0, 1))]`.

    Parameters
    ----------
    reads, writes : bool
    stencil : Stencil
    reduction : str, optional
        Operator that folds values.
    foreign : bool
        The field may belong to another region than the launch, and is read around the corresponding cells.
    coloured : bool
        Of the cells of the launch some are changed (one colour), and only other neighbours are read.
    swept : {"up", "down"}, optional
        Coloured; of the six neighbours, a cell reads the earlier ones in the `Sweep` of the launch.
    precision : {"u1", "u2", "any"}, optional
        Flags of one or two bytes, or the precision of the field in the launch. Default: the precision of the kernel.
    oriented : Oriented, optional
        Stencil in the frame of a turned task.
    optional : bool
        A launch may omit the field.
    values : int
        Numbers per cell.
    unshared, in_rows : bool
        The field is private, or private in rows.
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
        """Return the privilege with a stencil; an integer is the width of a star. Raises TypeError if nothing is read.
        """
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
        """Return the privilege of an optional field: `Read[1] | None`."""
        return replace(self, optional=True)

    def __mul__(self, values: int) -> Privilege:
        """Return the privilege of a field with several values per cell: `Read[1] * 16`.

        Raises TypeError for fewer than two values, and for fields that are foreign, flags, coloured or reduced.
        """
        if not isinstance(values, int) or values < 2:
            raise TypeError(f"{values!r} is not a number of values per cell; give 2 or more")
        own = self.precision not in (None, "any")
        if self.foreign or own or (self.coloured and not self.swept) or self.reduction:
            raise TypeError("only Read, Write, ReadWrite and Swept take several values per cell")
        return replace(self, values=values)

    @property
    def any(self) -> Privilege:
        """Privilege of a field of single or double precision, independent of the kernel: `Read[1].any`.

        Raises TypeError for flags and for foreign fields, which have `ForeignAny`.
        """
        if self.foreign or self.reduction or self.precision not in (None, "any"):
            raise TypeError("only Read, Write, ReadWrite, Coloured and Swept take fields of any precision")
        return replace(self, precision="any")

    @property
    def private(self) -> Privilege:
        """Privilege of a private field, of any precision: `Read.private * 16`. Raises TypeError if neighbours are read.
        """
        if self.foreign or self.coloured or self.stencil != POINT:
            raise TypeError("a private field is Read, Write or ReadWrite in a point's own cell: it has no neighbours")
        return replace(self.any, unshared=True)

    @property
    def rows(self) -> Privilege:
        """Privilege of a private field in rows: `Read.private.rows * 16`. Raises TypeError for other fields."""
        if not self.unshared:
            raise TypeError("rows are an option of private fields: Read.private.rows")
        return replace(self, in_rows=True)

    @property
    def together(self) -> bool:
        """True if the values of a cell are adjacent in memory."""
        return self.unshared and not self.in_rows

    def turned(self, orientation: str) -> Privilege:
        """Return the privilege of a task that is turned to an axis or a face."""
        return replace(self, stencil=self.oriented.turned(orientation), oriented=None) if self.oriented else self

    @property
    def changes(self) -> bool:
        """True if the launch may change the field."""
        return self.writes or self.reduction is not None


class Components:
    """Several fields as one argument, with separate stencils: `Components(u=Read[U], v=Read[V], w=Read[W])`.

    A launch passes a tuple of fields. A kernel text names them one by one.
    """

    def __init__(self, **privileges: Privilege) -> None:
        self.privileges = privileges

    def __or__(self, nothing: None) -> Components:
        """Return the same fields as optional ones: a launch omits all of them or none."""
        return Components(**{name: privilege | nothing for name, privilege in self.privileges.items()})


class SweptFields:
    """`Swept["up"]`, `Swept["down"]`: read and write in the order of a sweep."""

    def __getitem__(self, direction: Direction) -> Privilege:
        if direction not in get_args(Direction):
            raise TypeError(f'Swept[{direction!r}]: a sweep goes up or down, Swept["up"]')
        return Privilege(reads=True, writes=True, stencil=star(1), coloured=True, swept=direction)


class Reduction:
    """`Reduce[max]`, `Reduce[min]`, `Reduce[sum]`: a scalar into which the values of all cells are folded.

    `Reduce["sum", n]` folds n numbers under one name. `Reduce["exact sum", n]` gives sums whose bits depend neither on
    the order nor on the blocks; without n it is one sum.
    """

    def __getitem__(self, word: Any) -> Any:
        folded = several(word, reduced=True)
        if folded is None:
            raise TypeError(f"Reduce[{word!r}]: the operators are {', '.join(OPERATORS)} and {EXACT}")
        return folded if isinstance(folded, ScalarArray) else Privilege(reduction=folded)


class Scalar:
    """Annotation of a named number that changes between steps, such as the time step.

    `Scalar["exact sum", n]` takes, under one name, the numbers that another task reduced as `Reduce["exact sum", n]`.
    """

    def __class_getitem__(cls, word: Any) -> Any:
        """Return the annotation of several numbers. Raises TypeError for operators that `Reduce` does not have."""
        numbers = several(word, reduced=False)
        if not isinstance(numbers, ScalarArray):
            raise TypeError(f'Scalar[{word!r}]: give the number of values, as for Reduce: Scalar["max", 3]')
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
