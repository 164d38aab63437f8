"""Tasks that fill the faces of a side and its layer of ghost cells.

The velocity normal to a boundary is stored on the boundary and imposed there. All other fields are stored half a cell
away: the ghost value is chosen such that its mean with the value inside, or its difference from it, is as prescribed.
The pressure needs no ghost cells.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.regions import Box, triple
from taskflow.runtime.tasks import Face, Launch, ReadWrite, Scalar, Write, facing, frame, task


@dataclass(frozen=True)
class Value:
    """A number to impose."""

    value: float


@dataclass(frozen=True)
class Mirror:
    """Ghost = factor inside + value."""

    factor: float
    value: float


AROUND = Mirror(-1.0, 2.0)  # the mean of ghost and inside is the given value
AS_INSIDE = Mirror(1.0, 0.0)


@dataclass(frozen=True)
class MirrorTwo:
    """Ghost = factor inside + value, for two fields with separate values."""

    factor: float
    first: float
    second: float


def timed(face: str, name: str, ending: str) -> str:
    """Return the scalar of a time-dependent value on a face: u, v, w, T, "heat" or a scalar, or p over a stage."""
    return f"side_{face}_{name}{ending}"


INSIDE = facing(n=(1, 1))  # from a ghost cell to the cell inside, from a face to the next one


@task(kernel=KERNELS / "boundaries" / "boundary.cu")
def impose(q: Write, *, value: Value) -> None:
    """q = value, on all cells of the launch."""


@task(kernel=KERNELS / "boundaries" / "boundary.cu")
def add(q: ReadWrite, *, value: Value) -> None:
    """q = q + value, on all cells of the launch."""


@task(kernel=KERNELS / "boundaries" / "boundary.cu")
def mirror(q: ReadWrite[INSIDE], *, on: Face, mirror: Mirror) -> None:
    """q[ghost] = factor q[inside] + value, over the layer of ghost cells at a face, or over the face itself."""


@task(kernel=KERNELS / "boundaries" / "boundary.cu")
def mirror_two(q: ReadWrite[INSIDE], r: ReadWrite[INSIDE], *, on: Face, mirror: MirrorTwo) -> None:
    """q[ghost] = factor q[inside] + first, r[ghost] = factor r[inside] + second, over ghost cells at a face."""


@task(kernel=KERNELS / "boundaries" / "boundary.cu")
def mirror_timed(q: ReadWrite[INSIDE], *, on: Face, number: Scalar, mirror: Mirror) -> None:
    """q[ghost] = factor q[inside] + value number, over the layer of ghost cells at a face."""


@task(kernel=KERNELS / "boundaries" / "boundary.cu")
def mirror_two_timed(
    q: ReadWrite[INSIDE], r: ReadWrite[INSIDE], *, on: Face, first: Scalar, second: Scalar, mirror: Mirror
) -> None:
    """`mirror_two` with the values `value first` and `value second`."""


def mirrored(
    fields: Sequence[str], values: Sequence[float], factor: float, *, over: tuple[Box, ...], on: str
) -> Launch:  # fmt: skip
    """Return the launch of `mirror` for a field, or of `mirror_two` for two fields with the same ghost cells."""
    if len(fields) == 1:
        return mirror(fields[0], over=over, on=on, mirror=Mirror(factor, values[0]))
    return mirror_two(*fields, over=over, on=on, mirror=MirrorTwo(factor, *values))


def mirrored_timed(
    fields: Sequence[str], numbers: Sequence[str], values: Mirror, *, over: tuple[Box, ...], on: str
) -> Launch:  # fmt: skip
    """Return the launch of `mirror_timed` for a field, of `mirror_two_timed` for two with the same ghost cells."""
    if len(fields) == 1:
        return mirror_timed(fields[0], over=over, on=on, number=numbers[0], mirror=values)
    return mirror_two_timed(*fields, over=over, on=on, first=numbers[0], second=numbers[1], mirror=values)


def beyond(face: str, grid: Grid, *, edges: bool = True) -> Box:
    """Return the layer of ghost cells at a face.

    With `edges` it includes the ghost cells of walls along earlier axes, so that edges and corners are filled from
    values filled before, and the cells whose low faces lie on the high walls of the other axes.
    """
    axis, side = frame(face)
    low = triple(int(edges and a < axis and grid.low[a]) for a in range(3))
    high = triple(int(edges and a != axis and grid.high[a]) for a in range(3))
    return Box.of(grid.cells).layer(axis, side, -1, 0).expand(low, high)
