"""Velocity and temperature that are given on the faces of inflows, and of walls where they depend on the place, by
values that live in regions of their own.

Such a region has the values of one side of the domain: of each velocity component, and of the temperature, where these
live on, or half a cell along, the faces; of a wall those along it. It has one layer of cells for each block across the
side, of which the one that belongs to the block at the side counts, and reaches to the high ends of the side, where a
velocity along it has values as at the low ones.
"""

from collections.abc import Iterator, Mapping, Sequence

from taskflow.flow.boundaries.boundary import INSIDE, Boundaries, Inflow, Wall, beyond, sides_of
from taskflow.flow.grid import Grid, on_face
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region, Triple, triple
from taskflow.runtime.tasks import FACES, Face, Foreign, Launch, ReadWrite, Write, facing, frame, task


@task(kernel=KERNELS / "boundaries" / "inflow.cu")
def impose_values(q: Write, values: Foreign) -> None:
    """q = values, over the faces of a side of the domain."""


@task(kernel=KERNELS / "boundaries" / "inflow.cu")
def reflect(q: ReadWrite[INSIDE], values: Foreign[facing(n=(1, 1), high=(0, 0))], *, on: Face) -> None:
    """q[ghost] = 2 values[face] - q[inside], over ghost cells: the mean of both is the value on the face."""


def values(face: str, name: str, ending: str = "") -> str:
    """The field with the values of u, v, w or T on a face (x_min to z_max)."""
    return f"{face}_{name}{ending}"


def inflow_partitions(
    main: Partition, boundaries: Boundaries, names: Sequence[str], endings: Sequence[str]
) -> tuple[Partition, ...]:
    """For each inflow the region of its values of `names`, and for each wall of those that depend on the place, each
    with several `endings`, on the blocks of `main`.
    """
    partitions, entered = [], dict.fromkeys(sides_of(Inflow, boundaries), tuple(names))
    for face, prescribed in {**entered, **wall_fields(boundaries)}.items():
        axis, high = frame(face)
        blocks, cells = main.shape[axis], main.region.cells
        first = cells.hi[axis] - blocks + 1 if high else 0
        at = tuple(
            tuple(range(first, first + blocks + 1)) if a == axis
            else (*main.cuts[a][:-1], main.cuts[a][-1] + (f"{'xyz'[a]}_max" in boundaries))
            for a in range(3)
        )  # fmt: skip
        box = Box(triple(cut[0] for cut in at), triple(cut[-1] for cut in at))
        dtype = main.region.fields["p"].dtype
        fields = FieldSpace(Field(values(face, name, ending), dtype) for name in prescribed for ending in endings)
        partitions.append(Partition(Region(box, fields, ghost=0), main.shape, at=at))
    return tuple(partitions)


def apply_inflow(velocity: tuple[str, str, str], boundaries: Boundaries, grid: Grid, ending: str) -> Iterator[Launch]:
    """The prescribed normal velocity on inflows. One launch for each, over its faces."""
    for face in sides_of(Inflow, boundaries):
        axis, _ = frame(face)
        yield impose_values(velocity[axis], values(face, "uvw"[axis], ending), over=on_face(face, grid))


def inflow_ghosts(fields: Mapping[str, str], boundaries: Boundaries, grid: Grid, ending: str) -> Iterator[Launch]:
    """Ghost values 2 values - inside of `fields`, given by the names u, v, w and T: of the velocities along an inflow,
    and of the temperature. One launch for each.
    """
    for face in sides_of(Inflow, boundaries):
        normal = "uvw"[frame(face)[0]]
        for name, field in fields.items():
            if name != normal:
                yield _reflected(name, field, face, grid, ending)


def wall_fields(boundaries: Boundaries) -> dict[str, tuple[str, ...]]:
    """By face the names, among u, v, w and T, of what depends on the place on a wall."""
    prescribed: dict[str, tuple[str, ...]] = {}
    for face in FACES:
        wall = boundaries.get(face)
        if isinstance(wall, Wall) and wall.fields:
            along = tuple(name for name in "uvw" if name != "uvw"[frame(face)[0]])
            velocity = along if "velocity" in wall.fields else ()
            prescribed[face] = (*velocity, *("T" if "temperature" in wall.fields else ""))
    return prescribed


def wall_ghosts(fields: Mapping[str, str], boundaries: Boundaries, grid: Grid, ending: str) -> Iterator[Launch]:
    """Ghost values 2 values - inside of `fields`, given by the names u, v, w and T, beyond walls where they depend on
    the place. Needs the other ghosts before, for edges. One launch for each.
    """
    for face, prescribed in wall_fields(boundaries).items():
        for name, field in fields.items():
            if name in prescribed:
                yield _reflected(name, field, face, grid, ending)


def along(face: str, name: str, grid: Grid) -> Box:
    """The faces of a side on which u, v, w, or another quantity by its name, has values: of a velocity along the side
    those at its high end, too, which is a face of that velocity.
    """
    return on_face(face, grid).expand((0, 0, 0), _ends(face, name, grid))


def _reflected(name: str, field: str, face: str, grid: Grid, ending: str) -> Launch:
    """Ghost values beyond the faces `along` a side, which velocity gradients beside it read at both of its ends."""
    over = beyond(face, grid, edges=False).expand((0, 0, 0), _ends(face, name, grid))
    return reflect(field, values(face, name, ending), over=over, on=face)


def _ends(face: str, name: str, grid: Grid) -> Triple:
    return triple(int(name == "uvw"[a] and a != frame(face)[0] and grid.high[a]) for a in range(3))
