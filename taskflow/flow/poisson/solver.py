"""What a step knows of whatever solves its pressure equation."""

from collections.abc import Iterator, Mapping
from typing import Protocol

from taskflow.runtime.regions import Location, Partition
from taskflow.runtime.tasks import Launch, Repeat, Roles


class Solver(Protocol):
    """Solves Laplacian(p) = rhs, or div(b grad p) = rhs with b given on the faces of cells; an immutable value that can
    be pickled. What it says of fields and regions holds for one that needs none of its own.

    Without a face on which p is given the problem is singular: the sum of rhs is 0 up to rounding, and p is found up
    to a constant, which is whatever the iteration leaves. With coefficients its `fields` are b_x, b_y and b_z, too:
    `taskflow.flow.poisson.coefficients` says what they hold, and what is singular then.
    """

    @property
    def fields(self) -> dict[str, Location]:
        """Fields it needs beside p and rhs, by role, in the region of these."""
        return {}

    @property
    def ghost(self) -> int:
        """Layers of ghost cells that it needs there."""
        return 1

    def partitions(self, main: Partition) -> tuple[Partition, ...]:
        """Regions of its own, such as coarser levels, on the blocks of `main`, where p and rhs live."""
        return ()

    def prepare(self, f: Roles) -> Iterator[Launch | Repeat]:
        """To be done before the first solve, and again whenever coefficients have changed: makes of them, in the fields
        b_x, b_y and b_z, what `solve` needs. Nothing where there are none.
        """
        yield from ()

    def solve(self, f: Roles) -> Iterator[Launch | Repeat]:
        """From rhs and a first guess in p to p. rhs stays as it is.

        With a `Tolerance` it ends when that is reached, and raises NotConverged on all blocks where it is not.
        """

    def taken(self, scalars: Mapping[str, float]) -> int:
        """Iterations that the last solve took, from the scalars that it left."""
