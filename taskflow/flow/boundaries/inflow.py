"""Inflow: velocity and temperature are given on the faces, by values that live in regions of their own.

Such a region has the values of one side of the domain: of each velocity component, and of the temperature, where these
live on, or half a cell along, the faces. It has one layer of cells for each block across the side, of which the one
that belongs to the block at the side counts.
"""

from collections.abc import Iterator, Sequence

from taskflow.flow.boundaries.boundary import INSIDE, MIRROR, Boundaries, Inflow, Mirror, beyond, on_face, place
from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.regions import Box, Field, FieldSpace, Partition, Region, triple
from taskflow.tasks import Foreign, Launch, ReadWrite, Task, Write, offsets, task

FACE = {face: inside if face.endswith("min") else offsets() for face, inside in INSIDE.items()}  # from a ghost cell


@task(kernel=KERNELS / "boundaries" / "inflow.cu")
def impose_values(q: Write, values: Foreign) -> None:
    """q = values"""


def _reflect(face: str) -> Task:
    def reflect(q: ReadWrite[INSIDE[face]], values: Foreign[FACE[face]]) -> None:
        """q[ghost] = 2 values[face] - q[inside]"""

    reflect.__name__ = f"reflect_{face}"
    return task(kernel=KERNELS / "boundaries" / "inflow.cu")(reflect)


REFLECT = {face: _reflect(face) for face in INSIDE}
reflect_x_min, reflect_x_max, reflect_y_min, reflect_y_max, reflect_z_min, reflect_z_max = REFLECT.values()


def values(face: str, name: str, ending: str = "") -> str:
    """The field with the values of u, v, w or T on a face (x_min to z_max)."""
    return f"{face}_{name}{ending}"


def inflow_partitions(
    main: Partition, boundaries: Boundaries, names: Sequence[str], endings: Sequence[str]
) -> tuple[Partition, ...]:
    """For each inflow the region of its values of `names`, each with several `endings`, on the blocks of `main`."""
    found = []
    for face in inflows(boundaries):
        axis, high = place(face)
        blocks, cells = main.shape[axis], main.region.cells
        first = cells.hi[axis] - blocks + 1 if high else 0
        at = tuple(tuple(range(first, first + blocks + 1)) if a == axis else main.cuts[a] for a in range(3))
        box = Box(triple(cut[0] for cut in at), triple(cut[-1] for cut in at))
        dtype = main.region.fields["p"].dtype
        fields = FieldSpace(Field(values(face, name, ending), dtype) for name in names for ending in endings)
        found.append(Partition(Region(box, fields, ghost=0), main.shape, at=at))
    return tuple(found)


def inflows(boundaries: Boundaries) -> list[str]:
    """The faces where fluid enters."""
    return [face for face in INSIDE if isinstance(boundaries.get(face), Inflow)]


def entering(velocity: tuple[str, str, str], boundaries: Boundaries, grid: Grid, ending: str) -> Iterator[Launch]:
    """The normal velocity is what is given. One launch per inflow, over its faces."""
    for face in inflows(boundaries):
        axis, _ = place(face)
        yield impose_values(velocity[axis], values(face, "uvw"[axis], ending), over=on_face(face, grid))


def inflow_ghosts(
    velocity: tuple[str, str, str], temperature: str | None, boundaries: Boundaries, grid: Grid, ending: str
) -> Iterator[Launch]:
    """Ghost values 2 values - inside of the velocities along an inflow, and of the temperature: one launch for each."""
    for face in inflows(boundaries):
        axis, _ = place(face)
        along = [("uvw"[a], field) for a, field in enumerate(velocity) if a != axis]
        for name, field in [*along, *([("T", temperature)] if temperature else [])]:
            yield REFLECT[face](field, values(face, name, ending), over=beyond(face, grid, edges=False))


def inflow_edges(velocity: tuple[str, str, str], boundaries: Boundaries, grid: Grid) -> Iterator[Launch]:
    """Beyond inflows, whose values end with the cells: what is on the faces of high boundaries beside them. It is for
    gradients at inflows, which the momentum equation alone does not need.
    """
    for face in inflows(boundaries):
        for axis, name in enumerate(velocity):
            if axis != place(face)[0] and grid.high[axis]:
                edge = beyond(face, grid, edges=False).layer(axis, 1, -1, 0)
                yield MIRROR[face](name, over=edge, mirror=Mirror(1.0, 0.0))


def temperature_enters(temperature: str, boundaries: Boundaries, grid: Grid, ending: str) -> Iterator[Launch]:
    """Ghost values 2 values - inside of the temperature alone: one launch per inflow."""
    for face in inflows(boundaries):
        yield REFLECT[face](temperature, values(face, "T", ending), over=beyond(face, grid, edges=False))
